"""A corpus of many small files, as C4 has 1,024 of them, and a project that mines it."""

import gzip
import json
import shutil
from pathlib import Path

from ruamel.yaml import YAML

CORPUS, CONSTRUCTION = "shards", "comparative-correlative"
TEXTS = (
    "The more you read, the better you write. Nothing else was said about it.",
    "It rained all day, and the children stayed at home.",
    "The longer they waited, the colder the soup became, and nobody complained.",
)


def make_corpus_project(source: Path, folder: Path, shards: int) -> None:
    """Make a project whose grid mines a corpus of so many files, of three short texts each.

    Args:
        source: The project whose constructions, tagger and scripts are taken.
        folder: The new project.
        shards: The number of files.
    """
    folder.mkdir(parents=True)
    for name in ("constructions", "models/tagger", "pipelines"):
        shutil.copytree(source / name, folder / name)
    shutil.copyfile(source / "dvc.yaml", folder / "dvc.yaml")
    corpus = folder / "corpus"
    corpus.mkdir()
    for shard in range(shards):
        with gzip.open(corpus / f"{shard:05d}.json.gz", "wt", encoding="utf-8") as file:
            for place, text in enumerate(TEXTS):  # a number makes each text another one, so that none is a duplicate
                line = {"text": f"{text} Number {shard * len(TEXTS) + place}.", "url": f"u{shard}-{place}"}
                file.write(json.dumps(line) + "\n")
    params = YAML(typ="safe").load(source / "params.yaml")
    kinds = {
        "kind": "files",
        "folder": str(corpus),
        "glob": "*.json.gz",
        "format": "jsonl",
        "text": "text",
        "url": "url",
    }
    params["corpora"][CORPUS] = kinds
    params["grid"]["mining"] = {CONSTRUCTION: CORPUS}
    YAML(typ="safe").dump(params, folder / "params.yaml")
