"""`cxprobe download`: what params.yaml or a preset names is fetched from a hub that runs on this machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hub_server import running_hub
from servers import free_ports
from toy_files import write_toy_files
from whole_project import change

pytest_plugins = ["small_disks"]
pytestmark = pytest.mark.pipeline

ENTRY = {"sha256": None, "dtype": "float32"}
SETTINGS = {"config.json": b'{"model_type": "gpt2"}', "tokenizer.json": b"{}", "vocab.txt": b"a"}
WEIGHTS = b"w" * 50_000
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
    hub.commit("team/old", SETTINGS | {"pytorch_model.bin": b"b" * 1000})
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
        for line in ("recognition", "scenarios", "prompts"):
            params[line] |= {"models": [], "constructions": {} if line == "recognition" else []}
        params["prompts"]["llms"] = []
        params["pairs"] |= {"models": ["along", "twin", "old", "here", "rules"], "probed": []}

    change(tmp_path, add)
    return tmp_path


@pytest.fixture
def download(hub, folder):
    """Run the command in a process of its own: the hub's client reads its environment when it is imported."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    own |= {"HF_ENDPOINT": hub.address, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_XET": "1"}

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from cxprobe.cli import app; app()", "download", *words]
        env = own | environment
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)

    return run


def cached(folder: Path, name: str) -> list[dict[str, bytes]]:
    """Return the files of each commit of a repository that is in the cache."""
    snapshots = (folder / "home" / "hub" / f"models--{name.replace('/', '--')}" / "snapshots").iterdir()
    commits = ({path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*")} for top in snapshots)
    return sorted(commits, key=lambda files: files.get("model.safetensors", b""))


def test_sizes_are_said_first_and_each_repository_is_downloaded_once_at_its_revision(hub, folder, download):
    shown = download("--show")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[0] == "early: team/along step1: 50.0 kB to download, 0 bytes are there"
    assert "3 models, 101.1 kB to download" in shown.stdout
    assert hub.sent("model.safetensors") == []
    done = download()
    assert done.returncode == 0, done.stderr
    commits = [SETTINGS | {"model.safetensors": WEIGHTS + step} for step in (b"step1", b"step2")]
    assert cached(folder, "team/along") == commits
    assert cached(folder, "team/old") == [SETTINGS | {"pytorch_model.bin": b"b" * 1000}]
    before = len(hub.sent("model.safetensors"))
    again = download()
    assert "3 models, 0 bytes to download" in again.stdout
    assert len(hub.sent("model.safetensors")) == before


def test_the_same_command_downloads_what_is_missing_after_a_break_and_nothing_else(hub, folder, download):
    hub.breaks["pytorch_model.bin"] = [10] * 6  # the client tries a file six times
    broken = download("--model", "old")
    assert broken.returncode == 2
    assert "models.old: team/old: the hub does not give it: peer closed connection" in broken.stderr
    assert "the same command downloads what is missing" in broken.stderr
    before = len(hub.sent("config.json"))
    done = download("--model", "old")
    assert done.returncode == 0, done.stderr
    assert "1.0 kB to download, 25 bytes are there" in done.stdout
    assert len(hub.sent("config.json")) == before
    assert cached(folder, "team/old") == [SETTINGS | {"pytorch_model.bin": b"b" * 1000}]


def test_what_the_hub_does_not_give_is_named_and_the_rest_is_downloaded(folder, download):
    change(folder, lambda params: params["models"]["old"].update(revision="v9"))
    done = download()
    assert done.returncode == 2
    assert "models.old: team/old v9: the hub does not give it" in done.stderr
    assert "HF_TOKEN" in done.stderr
    assert "early is there" in done.stdout
    assert "Traceback" not in done.stderr


def test_a_hub_that_cannot_be_reached_is_said_once(download):
    (port,) = free_ports(1)
    away = download("--show", HF_ENDPOINT=f"http://127.0.0.1:{port}")
    assert away.returncode == 2
    assert f"http://127.0.0.1:{port} cannot be reached: [Errno 111] Connection refused" in away.stderr
    assert len(away.stderr.splitlines()) == 1
    offline = download("--show", HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE is set" in offline.stderr
    assert len(offline.stderr.splitlines()) == 1


def test_what_the_hub_says_of_a_repository_is_told(folder, download):
    change(folder, lambda params: params["models"]["old"].update(name="team/missing"))
    assert "models.old: team/missing: the hub does not give it: 401 Client Error" in download("--show").stderr


def test_a_disk_that_becomes_full_is_not_a_fault_of_the_name(hub, folder, download, small_disk):
    hub.commit("team/old", SETTINGS | {"pytorch_model.bin": b"b" * 60_000})
    home = small_disk(folder / "small", "64k")  # room for the bytes, but not for the ends of blocks
    full = download("--model", "old", HF_HOME=str(home))
    assert full.returncode == 2
    assert "models.old: team/old: cannot be kept: [Errno 28] No space left on device" in full.stderr
    assert "HF_TOKEN" not in full.stderr


def test_no_bar_is_drawn_before_the_sizes(download):
    assert download("--show").stderr == ""


def test_a_preset_takes_the_place_of_params_yaml(folder, download):
    (folder / "presets").mkdir()
    (folder / "presets" / "base.yaml").write_text((folder / "params.yaml").read_text())
    (folder / "presets" / "small.yaml").write_text("pairs:\n  models: [old]\n")
    shown = download("--preset", "small", "--show")
    assert shown.returncode == 0, shown.stderr
    assert "1 models, 1.0 kB to download" in shown.stdout
    (folder / "presets" / "wrong.yaml").write_text("pairs:\n  models: [odl]\n")
    assert download("--preset", "wrong").stderr.startswith("presets/wrong.yaml: pairs.models")
    assert "did you mean 'small'" in download("--preset", "smal").stderr
    assert "models has no 'odl'; did you mean 'old'?" in download("--model", "odl").stderr
