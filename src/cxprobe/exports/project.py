"""What a finished run of a project has, read as the grid of params.yaml names it."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.exports.configurations import (
    Configuration,
    inference_configuration,
    pairs_configuration,
    reasoning_configuration,
    scenarios_configuration,
    sentences_configuration,
)
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member, members_of
from cxprobe.lm.prompts import load_reasoning_prompts
from cxprobe.people.ratings import RATINGS_FILE, read_ratings
from cxprobe.prompts.params import OWN
from cxprobe.run.params import CONSTRUCTIONS_FOLDER, Params
from cxprobe.scenarios.rules import Scenarios, load_scenarios
from cxprobe.stats import rate_by

OWN_SETS = (*OWN, "reasoning")  # of what models are asked in words; others were read from files of other people
MADE_HERE = ("generated", "balanced")  # sources of sentences; mined ones are quotations of other people's texts
UNCALIBRATED = "none"


class Made(NamedTuple):
    """How the data were made.

    Attributes:
        version: The version of cxprobe.
        seed: The project's seed.
        settings: The sections of params.yaml that made the data.
        commit: The git commit; "unknown" outside of a repository.
        changed: Whether tracked files differ from that commit.
    """

    version: str
    seed: int
    settings: Mapping[str, object]
    commit: str
    changed: bool


class People(NamedTuple):
    """What people have said about the items.

    Attributes:
        ratings: How many ratings there are.
        items: Of how many items.
        raters: By how many people, in each construction counted anew.
    """

    ratings: int
    items: int
    raters: int


class Found(NamedTuple):
    """What a project has that can be exported.

    Attributes:
        configurations: The parts of the data set, at least one.
        left_out: What is not in it, and why: a sentence each.
    """

    configurations: Sequence[Configuration]
    left_out: Sequence[str]


def read_configurations(params: Params) -> Found:
    """Read the project's own data as configurations, as far as they have been made.

    Raises:
        DataError: Nothing has been made yet, or a file of what has been made is missing.
    """
    found: list[Configuration] = []
    left_out = []
    for stage, names, read in (
        ("build_pairs", "pairs", _pairs),
        ("build_prompts", "nli, reasoning", _prompts),
        ("build_recognition", "sentences", _sentences),
        ("build_scenarios", "scenarios", _scenarios),
    ):
        why = why_not(params, stage)
        if why:
            left_out.append(f"{names}: {why}.")
        else:
            found += [one for one in read(params) if len(one)]
    if not found:
        raise DataError(f"there is nothing to export; run `dvc repro` in the project's folder ({' '.join(left_out)})")
    if any("mined" in sources for sources in params.grid.recognition.constructions.values()):
        left_out.append("Mined sentences are quotations of other people's texts and are not in the data set.")
    return Found(found, [*left_out, *others_items(params)])


def why_not(params: Params, stage: str) -> str:
    """Return why the data of a making stage cannot be exported, or "" if they can."""
    line = getattr(params.grid, stage.removeprefix("build_"))
    if not line.constructions:
        return f"grid.{stage.removeprefix('build_')} of params.yaml names no construction"
    return "" if (DATA / stage).is_dir() else f"{DATA / stage} is missing, since `dvc repro {stage}` has not run"


def others_items(params: Params) -> list[str]:
    """Return a sentence that says which items of other people are not exported, if there are any."""
    if params.build_prompts is None or not params.build_prompts.files:
        return []
    names = ", ".join(params.build_prompts.files)
    return [
        f"Items that were read from other people's files ({names}), and questions that show them, are not exported."
    ]


def _pairs(params: Params) -> list[Configuration]:
    return [pairs_configuration(pd.concat(read_pairs(params).values(), ignore_index=True))]


def _prompts(params: Params) -> list[Configuration]:
    items = read_prompts(params, "items")
    inferences, reasonings = (items[items["kind"] == kind] for kind in ("inference", "reasoning"))
    neither = load_reasoning_prompts().neither
    return [inference_configuration(inferences), reasoning_configuration(reasonings, neither)]


def _sentences(params: Params) -> list[Configuration]:
    sentences = read_sentences(params)
    return [sentences_configuration(sentences)] if sentences else []


def _scenarios(params: Params) -> list[Configuration]:
    return [scenarios_configuration(*read_scenarios(params))]


def read_pairs(params: Params) -> dict[str, pd.DataFrame]:
    """Read the minimal pairs: construction -> its pairs."""
    return {name: read_made_table(DATA / "build_pairs" / f"{name}.parquet") for name in params.grid.pairs.constructions}


def read_prompts(params: Params, table: str) -> pd.DataFrame:
    """Read what models are asked about constructions, of the project's own sets alone.

    Args:
        params: The parameters.
        table: "items", "questions", "choices" or "answers".

    Returns:
        The rows of all constructions. Of questions and choices, those that show examples from other people's files are
        left out; of answers, those to other people's items are not.
    """
    tables = [
        read_made_table(DATA / "build_prompts" / name / f"{table}.parquet")
        for name in params.grid.prompts.constructions
    ]
    every = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    if "set" in every:
        every = every[every["set"].isin(OWN_SETS)]
    if "examples" in every:
        shown = every["examples"].map(lambda names: set(names.split("+")) <= {"none", *OWN_SETS})
        every = every[shown.astype(bool)]
    return every.reset_index(drop=True)


def read_sentences(params: Params) -> dict[tuple[str, str], pd.DataFrame]:
    """Read the sentences that grammars made: construction and source -> its sentences."""
    return {
        (name, source): read_made_table(DATA / "build_recognition" / name / source / "sentences.parquet")
        for name, sources in params.grid.recognition.constructions.items()
        for source in sources
        if source in MADE_HERE
    }


def read_scenarios(params: Params) -> tuple[pd.DataFrame, dict[str, Scenarios]]:
    """Read the texts with a mask, with the column construction, and construction -> its scenarios.yaml."""
    names = params.grid.scenarios.constructions
    texts = [
        read_made_table(DATA / "build_scenarios" / name / "texts.parquet").assign(construction=name) for name in names
    ]
    every = pd.concat(texts, ignore_index=True) if texts else pd.DataFrame()
    return every, {name: load_scenarios(name) for name in names}


def read_made(params: Params) -> Made:
    """Return how the project's data were made."""
    sections = ("generate_sentences", "build_recognition", "build_scenarios", "build_pairs", "build_prompts")
    settings = {
        name: own.model_dump(mode="json") for name in sections if (own := getattr(params, name, None)) is not None
    }
    commit, changed = _git_state()
    return Made(version("cxprobe"), params.seed, settings, commit, changed)


def read_people(params: Params) -> People:
    """Return how many ratings of people the constructions of the grid have."""
    grid = params.grid
    names = dict.fromkeys([*grid.pairs.constructions, *grid.prompts.constructions])
    ratings = {name: read_ratings(CONSTRUCTIONS_FOLDER / name / RATINGS_FILE) for name in names}
    return People(
        sum(map(len, ratings.values())),
        len({(name, one.kind, one.item) for name, own in ratings.items() for one in own}),
        len({(name, one.rater) for name, own in ratings.items() for one in own}),
    )


def read_blind_rates(params: Params) -> pd.DataFrame:
    """Return what blind models get on the project's own data.

    Returns:
        One row a data set and blind model: configuration, construction, part (the words of pairs, the source of
        sentences, the scenario, or the set), model, accuracy, low, high (95 %) and n. Pairs in cells where one answer
        is always right are left out. A configuration whose blind models are not in the grid, or have not been judged,
        has no row.
    """
    rates = [
        *_blind_pairs(params),
        *_blind_sentences(params),
        *_blind_scenarios(params),
        *_blind_prompts(params),
    ]
    columns = ["configuration", "construction", "part", "model", "accuracy", "low", "high", "n"]
    return pd.concat(rates, ignore_index=True)[columns] if rates else pd.DataFrame(columns=columns)


def blind_members(params: Params, slugs: list[str]) -> list[Member]:
    """Return the blind models that a part of the grid names."""
    return [member for member in members_of(params.models or {}, slugs) if member.is_blind]


def _blind_pairs(params: Params) -> Iterator[pd.DataFrame]:
    for member in blind_members(params, params.grid.pairs.models):
        for name in params.grid.pairs.constructions:
            path = DATA / "judge_pairs" / member.entry / member.inside / name / "items.parquet"
            if path.is_file():  # a model that sees the continuation alone has no pairs without a context
                items = read_table(path)
                own = items[items["balanced"]].rename(columns={"words": "part"})
                if len(own):
                    rates = rate_by(own, "accuracy", ["construction", "part"])
                    yield rates.assign(configuration="pairs", model=member.slug)


def _blind_sentences(params: Params) -> Iterator[pd.DataFrame]:
    for member in blind_members(params, params.grid.recognition.models):
        for name, sources in params.grid.recognition.constructions.items():
            for source in (one for one in sources if one in MADE_HERE):
                folder = DATA / "judge_probes" / member.entry / member.inside / name / source
                if (folder / "recognition.parquet").is_file():
                    rates = read_table(folder / "recognition.parquet")
                    yield rates.assign(configuration="sentences", construction=name, part=source, model=member.slug)


def _blind_scenarios(params: Params) -> Iterator[pd.DataFrame]:
    for member in blind_members(params, params.grid.scenarios.models):
        for name in params.grid.scenarios.constructions:
            path = DATA / "judge_scenarios" / member.entry / member.inside / name / "accuracy.parquet"
            if path.is_file():
                own = read_table(path)
                own = own[own["calibration"] == UNCALIBRATED].assign(construction=name, part=own["scenario"])
                rates = rate_by(own, "accuracy", ["construction", "part"])
                yield rates.assign(configuration="scenarios", model=member.slug)


def _blind_prompts(params: Params) -> Iterator[pd.DataFrame]:
    kinds = {"inference": "nli", "reasoning": "reasoning"}
    for member in blind_members(params, params.grid.prompts.models):
        for name in params.grid.prompts.constructions:
            path = DATA / "judge_answers" / member.entry / member.inside / name / "judged.parquet"
            if path.is_file():
                own = read_table(path)
                own = own[own["set"].isin(OWN_SETS)]
                if len(own):
                    named = own.assign(
                        configuration=own["kind"].map(kinds), part=own["set"], accuracy=own["credit"], model=member.slug
                    )
                    yield rate_by(named, "accuracy", ["configuration", "construction", "part", "model"])


def read_made_table(path: Path) -> pd.DataFrame:
    """Read a table of the project's data.

    Raises:
        DataError: It is missing.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing; run `dvc repro`, or `dvc pull`, in the project's folder, and export again")
    return read_table(path)


def _git_state() -> tuple[str, bool]:
    """Return the commit, and whether tracked files differ from it."""
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        status = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):  # no git, or no repository
        return "unknown", False
    return commit.stdout.strip(), bool(status.stdout.strip())
