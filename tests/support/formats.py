"""The formats of files that the project reads: a small sound file of each, and how it is read."""

import gzip
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from mutations import Kind

from conftest import ROOT, TOY_PROJECT, change_params, shrink
from cxprobe.constructions.construction import grammar_file, load_construction, load_sound_parts
from cxprobe.constructions.people import load_people
from cxprobe.corpora.pattern import load_pattern
from cxprobe.corpora.readers import Unreadable, read_shard
from cxprobe.corpora.sources import CorpusFiles, find_packages
from cxprobe.errors import DataError
from cxprobe.lm.texts import Pair
from cxprobe.pairs.asking import load_preference_prompts
from cxprobe.pairs.benchmarks import read_blimp, read_generic, read_paired_focus
from cxprobe.pairs.frames import load_pairs
from cxprobe.people.labels import read_labels
from cxprobe.people.ratings import read_ratings
from cxprobe.project.params import load_params
from cxprobe.prompts.cxnli import read_inference_file
from cxprobe.prompts.items import load_items
from cxprobe.prompts.reasoning_files import read_reasoning_file
from cxprobe.prompts.report import load_published_prompts
from cxprobe.prompts.wording import InferencePrompts, ReasoningPrompts, load_continuations, load_prompts
from cxprobe.recognition.sentences import load_grammars
from cxprobe.scenarios.rules import load_scenarios


class Format(NamedTuple):
    """A format of files.

    Attributes:
        path: Where its file is in a project.
        kind: How it is mutated.
        read: Reads the file of the project in a folder.
    """

    path: str
    kind: Kind
    read: Callable[[Path], Any]


def _construction(project: Path) -> Any:
    load_sound_parts("toy", project / "constructions")
    return load_construction("toy", project / "constructions")


def _pattern(project: Path) -> Any:
    return load_pattern("toy", load_construction("toy", project / "constructions"), project / "constructions")


def _grammars(project: Path) -> Any:
    construction = load_construction("toy", project / "constructions")
    grammars = load_grammars("toy", construction, project / "constructions")
    return {split: grammar.productions() for split, grammar in grammars.items()}


def _pairs(project: Path) -> Any:
    return load_pairs("toy", load_people(project / "lexicon" / "people.yaml"), project / "constructions")


def _prompts(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    return lambda project: read(project / "prompts")


def _others(read: Callable[[Path], list[Pair]], path: str) -> Callable[[Path], list[Pair]]:
    """Return a reader of a benchmark that also looks at what it accepts: no text that no model can be asked."""

    def checked(project: Path) -> list[Pair]:
        pairs = read(project / path)
        assert len({pair.id for pair in pairs}) == len(pairs) > 0
        for pair in pairs:
            texts = (pair.context, pair.good, pair.bad, pair.item, *pair.groups.values(), *pair.clusters.values())
            assert all(isinstance(text, str) and "\0" not in text for text in texts), pair
            assert all((pair.id.strip(), pair.item.strip(), pair.good.strip(), pair.bad.strip())), pair
            "".join((pair.id, *texts)).encode()  # no half of a surrogate pair
        return pairs

    return checked


def _corpus(kind: str, path: str) -> Callable[[Path], list[tuple[str, str]]]:
    """Return a reader of a corpus that takes no faults; it gives each document and where that comes from."""

    def read(project: Path) -> list[tuple[str, str]]:
        file, documents = project / path, []
        corpus = CorpusFiles(str(file.parent), (file.name,), kind, "text", "url", digest="")
        for record in read_shard(corpus, file.name, 4_000_000):
            if isinstance(record, Unreadable):
                raise DataError(f"{record.shard}, line {record.line}: {record.fault}")
            documents.append((record.text, record.url))
        if not documents:
            raise DataError(f"{file.name}: has no document")
        assert all(text and isinstance(text, str) for text, _ in documents)
        return [(" ".join(text.split()), url) for text, url in documents]

    return read


def _packages(project: Path) -> list[str]:
    return [package.source for package in find_packages(project / "corpora" / "packages.txt")]


TOY = "constructions/toy"
FORMATS = {
    "params": Format(
        "params.yaml", "yaml", lambda project: load_params(project / "params.yaml", project / "constructions")
    ),
    "construction": Format(f"{TOY}/construction.yaml", "yaml", _construction),
    "pattern": Format(f"{TOY}/pattern.yaml", "yaml", _pattern),
    "pairs": Format(f"{TOY}/pairs.yaml", "yaml", _pairs),
    "scenarios": Format(
        f"{TOY}/scenarios.yaml", "yaml", lambda project: load_scenarios("toy", project / "constructions")
    ),
    "items": Format(f"{TOY}/items.yaml", "yaml", lambda project: load_items("toy", project / "constructions")),
    "people": Format("lexicon/people.yaml", "yaml", lambda project: load_people(project / "lexicon" / "people.yaml")),
    "labels": Format(f"{TOY}/labels.tsv", "tsv", lambda project: read_labels(project / TOY / "labels.tsv")),
    "grammar": Format(f"{TOY}/{grammar_file('generated', 'train')}", "cfg", _grammars),
    **{
        f"prompts of {name}": Format(f"prompts/{name}.yaml", "yaml", _prompts(read))
        for name, read in (
            ("inference", partial(load_prompts, InferencePrompts)),
            ("reasoning", partial(load_prompts, ReasoningPrompts)),
            ("continuations", load_continuations),
            ("preferences", load_preference_prompts),
        )
    },
    "published": Format(
        "published/prompts.yaml", "yaml", lambda project: load_published_prompts(project / "published" / "prompts.yaml")
    ),
    "ratings": Format(f"{TOY}/ratings.tsv", "tsv", lambda project: read_ratings(project / TOY / "ratings.tsv")),
    "packages": Format("corpora/packages.txt", "cfg", _packages),
    **{
        path.partition("/")[2]: Format(path, kind, _others(read, path))
        for path, kind, read in (
            ("others/blimp.jsonl", "jsonl", read_blimp),
            ("others/blimp.jsonl.gz", "jsonl", read_blimp),
            ("others/pairs.tsv", "tsv", read_generic),
            ("others/pairs.csv", "csv", read_generic),
            ("others/pairs.jsonl", "jsonl", read_generic),
            ("others/focus.tsv", "tsv", read_paired_focus),
        )
    },
    **{
        f"inference{suffix}": Format(
            f"others/inference{suffix}",
            kind,
            lambda project, suffix=suffix: read_inference_file(project / f"others/inference{suffix}", "toys").items,
        )
        for suffix, kind in ((".tsv", "tsv"), (".csv", "csv"))
    },
    "reasoning.tsv": Format(
        "others/reasoning.tsv",
        "tsv",
        lambda project: read_reasoning_file(project / "others/reasoning.tsv", "toys", "toy", keep_doubtful=True).items,
    ),
    **{
        f"corpus, {path.partition('.')[2]}": Format(path, kind, _corpus(name, path))
        for path, kind, name in (
            ("corpus/shard.jsonl", "jsonl", "jsonl"),
            ("corpus/shard.jsonl.gz", "jsonl", "jsonl"),
            ("corpus/shard.txt", "cfg", "text"),
            ("corpus/shard.parquet", "bytes", "parquet"),
        )
    },
}


def make_sound_project(folder: Path) -> None:
    """Write a sound file of every format into a folder."""
    shutil.copytree(TOY_PROJECT, folder, dirs_exist_ok=True)
    for name in ("prompts", "published"):
        shutil.copytree(ROOT / name, folder / name)
    change_params(folder, ROOT / "params.yaml", shrink)
    for name in ("tagger", "parser"):  # which `cxprobe check` asks for
        (folder / "models" / name / "en_ewt_cxprobe").mkdir(parents=True)
    for name in ("others/blimp.jsonl", "corpus/shard.jsonl"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes(), mtime=0))
    pd.read_json(folder / "corpus" / "shard.jsonl", lines=True).to_parquet(folder / "corpus" / "shard.parquet")
