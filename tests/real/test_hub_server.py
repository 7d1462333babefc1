"""Models and corpora of the hub, loaded by the ordinary code and commands from a hub that runs on this machine."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hub_server import files_of, running_hub
from model_folders import change, rewrite
from tiny_lms import save_lm

from conftest import ROOT, save_toy_tagger, write_toy_construction, write_toy_corpus

pytestmark = pytest.mark.slow

TOKEN = "hf_MayReadThePrivateModel"
TEXT = "the red cat runs."
# Prints what `load` says of each model, by name and revision.
LOAD = f"""
import json, sys, time
import cxprobe
from cxprobe.errors import ModelError
if "IMPATIENT" in sys.argv:  # the client waits half a minute for a hub that does not answer
    time.sleep = lambda seconds: None
def load(name, revision):
    try:
        model = cxprobe.load(name, revision=revision)
    except ModelError as error:
        return {{"refused": str(error)}}
    return {{"fingerprint": model._loaded.fingerprint, "score": model.score([{TEXT!r}])["sum"][0]}}
print(json.dumps([load(*name) for name in json.load(sys.stdin)]))
"""
MINE = """
import sys
from pathlib import Path
from cxprobe.corpora.collecting import collect, collect_corpus
from cxprobe.corpora.engine import make_job, run_shards
from cxprobe.corpora.params import Corpus, Mining
from cxprobe.corpora.pattern import load_wanted
from cxprobe.corpora.readers import list_corpus, open_corpus
from cxprobe.errors import DataError
def mine(folder, into):
    corpus = Corpus(folder=folder, glob=None, format="jsonl", text="text", url="url")
    duplicates = {"shingle": 5, "permutations": 64, "threshold": 0.9}
    settings = Mining(
        constructions={"toy": "web"}, watched=[], tagger="tagger", parser="", most_words=100, longest_line=1 << 20,
        most_faults=0.1, duplicates=duplicates, engine={"kind": "local", "arguments": {"workers": 1}})
    wanted = load_wanted("toy")
    print(list_corpus(corpus).to_json(orient="records"))
    job = make_job(open_corpus(corpus), settings, {"toy": wanted.pattern}, Path("scratch"))
    run_shards(job, settings.engine)
    Path(into).mkdir()
    collect_corpus(job, Path(into))
    found = collect(job, "toy", wanted, settings.duplicates)
    found.sentences.to_csv(f"{into}/sentences.csv")
if __name__ == "__main__":
    try:
        mine(*sys.argv[1:])
    except DataError as error:
        sys.exit(f"{error}")
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Three models' files: as they were first, after more training, and a masked model."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("first", "second"):
        save_lm(folder / name, "gpt2")
    rewrite(folder / "second", lambda weights: weights["transformer.ln_f.weight"].mul_(2))
    save_lm(folder / "masked", "bert")
    return {name.name: files_of(name) for name in folder.iterdir()}


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    """A hub, and the environment of somebody who uses it."""
    home = tmp_path_factory.mktemp("home")
    with running_hub() as hub:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
        own |= {"HF_ENDPOINT": hub.address, "HF_HOME": str(home / "cache"), "HOME": str(home), "OMP_NUM_THREADS": "1"}
        yield hub, own | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{own['PATH']}"}


@pytest.fixture
def cache(user):
    """The user's cache, empty at first."""
    folder = Path(user[1]["HF_HOME"])
    shutil.rmtree(folder, ignore_errors=True)
    return folder


@pytest.fixture
def hub(user, cache):
    """The hub, without repositories."""
    user[0].__init__(user[0].address, user[0].storage)
    return user[0]


@pytest.fixture
def python(user, cache, tmp_path):
    """Run a program of this environment as a user of the hub."""

    def run_as_user(*command: str, **changed: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=user[1] | changed, capture_output=True, text=True, check=False)

    return run_as_user


@pytest.fixture
def load(user, cache):
    """Load models by name and revision, one after the other, in a new process: the hub's client reads its environment
    when it is imported."""

    def load_in_process(*models: tuple[str, str | None], options: tuple[str, ...] = (), **changed: str) -> list[dict]:
        done = subprocess.run(
            (sys.executable, "-c", LOAD, *options),
            env=user[1] | changed,
            input=json.dumps(models),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return load_in_process


def written_with(text: str, *folders: Path) -> list[Path]:
    """Return the files below some folders that have a text in them."""
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return [file for file in files if text.encode() in file.read_bytes()]


# Revisions


def test_a_branch_a_tag_and_a_commit_are_loaded_and_the_commit_is_recorded(hub, load, models):
    first = hub.commit("team/model", models["first"])
    second = hub.commit("team/model", models["second"])
    other = hub.commit("team/model", models["masked"], branch="masked")
    hub.repositories["models", "team/model"].tags["v1"] = first
    revisions = (None, "main", "v1", first, second, "masked")
    found = load(*(("team/model", revision) for revision in revisions))
    commits = (second, second, first, first, second, other)
    assert [one["fingerprint"] for one in found] == [f"commit {commit}" for commit in commits]
    scores = dict(zip(commits, (one["score"] for one in found), strict=True))
    assert [one["score"] for one in found] == [scores[commit] for commit in commits]
    assert len(set(scores.values())) == 3


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_branch_that_moves_while_a_model_is_loaded_does_not_mix_two_commits(hub, load, models, file):
    first = hub.commit("team/model", models["first"])
    second = hub.commit("team/model", models["second"])
    repository = hub.repositories["models", "team/model"]
    repository.branches["main"] = first
    hub.moves[file] = (repository, "main", second)
    moved, unmoved = load(("team/model", None), ("team/model", first))
    assert repository.branches["main"] == second
    assert moved == unmoved


# Private models


def test_a_private_model_needs_a_token_which_is_sent_to_the_hub_alone_and_written_nowhere(
    hub, load, python, models, cache, tmp_path
):
    commit = hub.commit("team/private", models["first"], token=TOKEN)
    [without] = load(("team/private", None))
    assert "a private or gated model needs a token in the environment variable HF_TOKEN" in without["refused"]
    [wrong] = load(("team/private", None), HF_TOKEN="hf_ThisIsNotTheToken")
    assert "Invalid credentials" in wrong["refused"]
    assert "hf_ThisIsNotTheToken" not in wrong["refused"]
    hub.asked.clear()
    [found] = load(("team/private", None), HF_TOKEN=TOKEN)
    assert found["fingerprint"] == f"commit {commit}"
    assert {one.token for one in hub.asked if one.place == "storage"} == {""}
    assert {one.token for one in hub.asked if "team/private" in one.path and one.place == "hub"} == {TOKEN}
    (tmp_path / "sentences.txt").write_text(f"{TEXT}\n")
    done = python("cxprobe", "score", "sentences.txt", "--model", "team/private", HF_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    assert TOKEN not in done.stdout + done.stderr
    assert written_with(TOKEN, tmp_path, cache.parent) == []


# No network


@pytest.mark.parametrize("said", [True, False], ids=["HF_HUB_OFFLINE", "no hub"])
def test_without_a_network_a_model_of_the_cache_is_loaded_and_any_other_refused_with_what_to_do(
    hub, load, models, said
):
    first = hub.commit("team/model", models["first"])
    hub.repositories["models", "team/model"].tags["v1"] = first
    online = load(("team/model", None), ("team/model", "v1"))
    hub.asked.clear()
    names = (("team/model", None), ("team/model", "v1"), ("team/model", first), ("team/other", None))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens
        nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
        changed = {"HF_HUB_OFFLINE": "1"} if said else {"HF_ENDPOINT": nowhere}
        *cached, other = load(*names, options=() if said else ("IMPATIENT",), **changed)
    assert cached == [*online, online[0]]
    assert "'team/other' cannot be loaded: We couldn't connect to 'http://127.0.0.1:" in other["refused"]
    assert "give its path; or copy the cache (HF_HOME) of a machine that has loaded it, and set " in (other["refused"])
    assert hub.asked == []


# What a repository holds


def test_code_of_a_repository_is_neither_run_nor_downloaded(hub, load, models, tmp_path):
    (tmp_path / "config.json").write_bytes(models["first"]["config.json"])
    change(tmp_path / "config.json", auto_map={"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"})
    code = f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n".encode()
    known = models["first"] | {"config.json": (tmp_path / "config.json").read_bytes(), "own.py": code}
    change(tmp_path / "config.json", model_type="of-our-own")
    unknown = known | {"config.json": (tmp_path / "config.json").read_bytes()}
    commit = hub.commit("team/known", known)
    hub.commit("team/unknown", unknown)
    found, refused = load(("team/known", None), ("team/unknown", None))
    assert found["fingerprint"] == f"commit {commit}"
    assert "'team/unknown' cannot be loaded: " in refused["refused"]
    assert hub.sent("own.py") == []
    assert not (tmp_path / "ran").exists()


# Corpora


@pytest.fixture
def corpus(tmp_path):
    """The files of a corpus, in a folder where it can be mined."""
    write_toy_construction(tmp_path / "constructions")
    save_toy_tagger(tmp_path / "tagger")
    write_toy_corpus(tmp_path / "corpus")
    (tmp_path / "mine.py").write_text(MINE)
    return {f"en/{name}": content for name, content in files_of(tmp_path / "corpus").items()}


def test_a_data_set_of_the_hub_is_mined_like_a_folder(hub, python, corpus, tmp_path):
    commit = hub.commit("team/corpus", corpus, kind="datasets")
    hub.commit("team/corpus", {"en/0.jsonl": b"another"}, kind="datasets")
    remote = python(sys.executable, "mine.py", f"hf://datasets/team/corpus@{commit}/en", "remote")
    assert remote.returncode == 0, remote.stderr
    listed = json.loads(remote.stdout.splitlines()[0])
    assert [(one["name"], one["size"]) for one in listed] == [
        (name.removeprefix("en/"), len(content)) for name, content in sorted(corpus.items())
    ]
    local = python(sys.executable, "mine.py", "corpus", "local")
    assert local.returncode == 0, local.stderr
    for name in ("sentences.csv", "faults.parquet"):
        assert (tmp_path / "remote" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    assert len((tmp_path / "remote" / "sentences.csv").read_text().splitlines()) == 81


# The page


def test_the_commands_of_the_page_run_one_after_the_other(hub, python, models, corpus, tmp_path):
    tutorials = ROOT / "docs" / "tutorials"
    model = (tutorials / "model.md").read_text().partition("## Models of the hub")[2].partition("## Large models")[0]
    page = model + (tutorials / "corpus.md").read_text().partition("## A data set of the hub")[2]
    commands = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    first = hub.commit("team/model", models["first"])
    hub.repositories["models", "team/model"].tags["v1"] = first
    hub.commit("team/private", models["second"], token=TOKEN)
    hub.commit("team/corpus", corpus, kind="datasets")
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "sentences.txt").write_text(f"{TEXT}\n")
    assert len(commands) == 2
    printed = []
    for command in commands:
        done = python("bash", "-e", "-c", command)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        printed.append(done.stdout)
    assert f"snapshots/{first}" in printed[0]
