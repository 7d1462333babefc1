"""What the name of a model stands for, against a server that answers as the hub does."""

import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import huggingface_hub.constants
import pytest

import cxprobe
from cxprobe.errors import ModelError
from cxprobe.project.carried import carried_files

pytestmark = pytest.mark.pipeline


class _Hub(BaseHTTPRequestHandler):
    """A hub that has no model; it keeps what it was asked."""

    asked: ClassVar[list[str]] = []

    def do_HEAD(self):
        self.asked.append(self.path)
        self.send_response(404)
        self.send_header("X-Error-Code", "RepoNotFound")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def asked(monkeypatch, tmp_path) -> Iterator[list[str]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.chdir(tmp_path)
    _Hub.asked.clear()
    yield _Hub.asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["./nowhere", "../nowhere", "/nowhere/at/all", "~/nowhere-at-all"])
def test_a_path_without_a_folder_is_said_so_and_the_hub_is_not_asked(asked, name):
    for load in (cxprobe.load, cxprobe.load_encoder):
        with pytest.raises(ModelError, match=f"'{name}': there is no such folder"):
            load(name)
    assert not asked


def test_a_carried_model_and_a_folder_need_no_hub(asked, tmp_path, monkeypatch):
    shutil.copytree(carried_files() / "models" / "mini-clm", tmp_path / "own")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("mini-clm", "own", "./own", "~/own", str(tmp_path / "own")):
        assert cxprobe.load(name, device="cpu").name == name
    assert not asked
