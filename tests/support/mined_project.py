"""A small project whose corpus has several shards, one of which takes seconds, for the tests of clusters."""

import json
import re
import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from conftest import ROOT, change_params, commit, make_project, run, write_toy_corpus

PAGE = (ROOT / "docs/tutorials/corpus.md").read_text()
SHARDS = 6
LONG = 1  # the shard that takes seconds


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which nothing has run."""
    folder = tmp_path_factory.mktemp("begun") / "project"
    make_project(folder)
    shutil.rmtree(folder / "corpus")
    write_shards(folder / "corpus")
    commit(folder)
    return folder


@pytest.fixture(scope="module")
def mined_here(begun: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """DVC's digests of all that mining on this machine writes."""
    folder = copied(begun, tmp_path_factory.mktemp("here") / "project")
    mine(folder)
    return mined(folder)


def copied(project: Path, into: Path) -> Path:
    shutil.copytree(project, into, symlinks=True)
    return into


def write_shards(folder: Path) -> None:
    """Write the toy corpus, whose sentences have labels, and further shards."""
    write_toy_corpus(folder)
    nouns = ("cat", "dog", "horse", "bird", "fox")
    for shard in range(SHARDS):
        texts = [f"Now the red {noun} runs, the old {nouns[shard % 5]} sings." for noun in nouns if shard > 1]
        if shard == LONG:  # whose sentences are tagged, but do not match
            texts += [f"The cat number {number} runs, the dog sings." for number in range(6000)]
        lines = [json.dumps({"text": text, "url": f"{shard}/{number}"}) for number, text in enumerate(texts)]
        with (folder / f"{shard}.jsonl").open("a") as file:
            file.writelines(f"{line}\n" for line in lines)


def engine_of_page(kind: str) -> dict:
    """Return the engine for a cluster as the page on corpora shows it."""
    (engine,) = re.findall(rf"engine: (\{{kind: {kind}.*?\}})(?=    #|\n)", PAGE, re.DOTALL)
    return YAML(typ="safe").load(engine)


def use_engine(project: Path, engine: dict) -> None:
    change_params(project, project / "params.yaml", lambda params: params["mining"].update(engine=engine))


def mine(project: Path, check: bool = True, **environment: str):
    """Run the page's command."""
    (command,) = re.findall(r"^    (dvc repro mine_sentences)$", PAGE, re.MULTILINE)
    return run(project, *command.split(), check=check, **environment)


def mined(project: Path, stage: str = "mine_sentences@toys") -> dict[str, str]:
    """Return DVC's digests of what a stage has written."""
    outs = YAML(typ="safe").load(project / "dvc.lock")["stages"][stage]["outs"]
    return {out["path"]: out["md5"] for out in outs}


def finished_shards(project: Path) -> set[int]:
    """Return the shards that are marked as finished, while the mining goes on or after it has failed."""
    return {int(path.name) for path in project.glob("data/.scratch/mine_sentences/*/datatrove/completions/*")}
