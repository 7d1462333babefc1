"""`cxprobe download`: what params.yaml names is fetched from a hub that runs on this machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hub_server import running_hub
from servers import free_ports
from toy_files import write_toy_files
from whole_project import change

pytestmark = pytest.mark.pipeline

ENTRY = {"sha256": None, "dtype": "float32"}
SETTINGS = {"config.json": b'{"model_type": "gpt2"}', "tokenizer.json": b"{}", "vocab.txt": b"a"}
WEIGHTS = b"w" * 1_500_000
OTHERS = {"pytorch_model.bin": b"old", "tf_model.h5": b"x", "onnx/model.onnx": b"x", "onnx/config.json": b"x"}


@pytest.fixture(scope="module")
def hub():
    with running_hub() as hub:
        yield hub


@pytest.fixture
def folder(hub, tmp_path, monkeypatch):
    """A project that names a series and its twin on the hub, beside a folder and blind models."""
    hub.__init__(hub.address, hub.storage)
    hub.asked.clear()
    hub.commit("team/along", SETTINGS | OTHERS | {"model.safetensors": b"the main branch"})
    for branch in ("step1", "step2"):
        hub.commit("team/along", SETTINGS | OTHERS | {"model.safetensors": WEIGHTS + branch.encode()}, branch=branch)
    hub.commit("team/old", SETTINGS | {"pytorch_model.bin": b"b" * 300_000})
    hub.commit("team/chat", {"model.safetensors": b"c" * 300_000})
    write_toy_files(tmp_path)

    def add(params):
        early, late = ({"name": "team/along", "revision": f"step{step}", **ENTRY} for step in (1, 2))
        params["models"] = {
            "along": {"kind": "series", "axis": "training_tokens", "checkpoints": {}},
            "twin": early | {"weights": "random", "seed": 1},
            "old": {"name": "team/old", "revision": None, **ENTRY},
            "here": {"name": "prompts", "revision": None, **ENTRY},
            "rules": {"kind": "blind", "members": {"first-mentioned": {"kind": "first_mentioned"}}},
        }
        params["models"]["along"]["checkpoints"] = {"early": early | {"at": 1.0}, "late": late | {"at": 2.0}}
        for line in ("recognition", "scenarios", "interventions"):
            params[line] |= {"models": {}, "constructions": {} if line == "recognition" else []}
        params["llms"]["chat"] = params["llms"]["mock"] | {"name": "hf/team/chat"}
        params["prompts"] |= {"models": {"old": {}}, "llms": {"chat": {}, "mock": {}}, "constructions": ["toy"]}
        params["pairs"] |= {"models": {"along": {}, "twin": {}, "old": {}, "here": {}, "rules": {}}, "probed": {}}

    change(tmp_path, add)
    return tmp_path


@pytest.fixture
def download(hub, folder):
    """Run the command in a process of its own: the hub's client reads its environment when it is imported."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    kept |= {"HF_ENDPOINT": hub.address, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_XET": "1"}

    def run(**environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from cxprobe.cli import app; app()", "download"]
        env = kept | environment
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)

    return run


def cached(folder: Path, name: str) -> list[dict[str, bytes]]:
    """Return the files of each commit of a repository that is in the cache."""
    snapshots = (folder / "home" / "hub" / f"models--{name.replace('/', '--')}" / "snapshots").iterdir()
    commits = ({path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*")} for top in snapshots)
    return sorted(commits, key=lambda files: files.get("model.safetensors", b""))


def test_each_repository_is_downloaded_once_at_its_revision_and_nothing_that_is_there(hub, folder, download):
    done = download()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "models.early: team/along: 0.0 MB were there, 1.5 MB fetched",
        "models.late: team/along: 0.0 MB were there, 1.5 MB fetched",
        "models.old: team/old: 0.0 MB were there, 0.3 MB fetched",
        "llms.chat: team/chat: 0.0 MB were there, 0.3 MB fetched",
    ]
    commits = [SETTINGS | {"model.safetensors": WEIGHTS + step} for step in (b"step1", b"step2")]
    assert cached(folder, "team/along") == commits
    assert cached(folder, "team/old") == [SETTINGS | {"pytorch_model.bin": b"b" * 300_000}]
    before = len(hub.sent("model.safetensors"))
    assert "models.late: team/along: 1.5 MB were there, 0.0 MB fetched" in download().stdout
    assert len(hub.sent("model.safetensors")) == before


def test_the_same_command_goes_on_after_a_break(hub, folder, download):
    hub.breaks["pytorch_model.bin"] = [10] * 6  # the client tries a file six times
    broken = download()
    assert broken.returncode == 2
    assert "does not give team/old: peer closed connection" in broken.stderr
    before = len(hub.sent("config.json"))
    done = download()
    assert "old: team/old: 0.0 MB were there, 0.3 MB fetched" in done.stdout
    assert len(hub.sent("config.json")) == before
    assert cached(folder, "team/old") == [SETTINGS | {"pytorch_model.bin": b"b" * 300_000}]


def test_what_the_hub_does_not_give_is_named_in_one_message(folder, download):
    (port,) = free_ports(1)
    away = download(HF_ENDPOINT=f"http://127.0.0.1:{port}")
    offline = download(HF_HUB_OFFLINE="1")
    change(folder, lambda params: params["models"]["old"].update(revision="v9"))
    absent = download()
    for done, told in (
        (away, f"models.early: http://127.0.0.1:{port} does not give team/along: [Errno 111] Connection refused"),
        (offline, "HF_HUB_OFFLINE"),
        (absent, "does not give team/old: "),
    ):
        assert done.returncode == 2
        assert told in done.stderr
        assert "Traceback" not in done.stderr
    assert len(away.stderr.splitlines()) == 1
