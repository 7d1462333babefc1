"""The record of a run, and the circumstances of the run that must not be in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Trial:
    """One setting that a search has tried; a child run of the search in MLflow.

    Attributes:
        name: Names the trial within its search.
        metrics: Name -> number.
        params: Name -> the value that was tried.
        status: "FAILED" for a trial that gave no number.
    """

    name: str
    metrics: Mapping[str, float]
    params: Mapping[str, str]
    status: Literal["FINISHED", "FAILED"]


@dataclass(frozen=True)
class Dataset:
    """The data that a run was evaluated on.

    Attributes:
        name: The file's path in the project.
        digest: The file's MD5, as DVC computes it.
        items: The number of items that were judged.
    """

    name: str
    digest: str
    items: int


@dataclass(frozen=True)
class RunRecord:
    """Everything about a run that follows from its inputs: enough to write it into any MLflow server again.

    Nothing in it changes if the same stage runs again on the same machine, so it can be an output that DVC compares.

    Attributes:
        experiment: The MLflow experiment.
        name: The name of the run in MLflow.
        stage: The stage that has written the record.
        item: The stage's arguments: "model", "construction" ... -> slug.
        dvc_stage: The name under which DVC ran the stage; "" if it was run by hand.
        params: Parameter -> value, as MLflow shows it.
        metrics: Name -> number, the most important first.
        series: Name -> (step, number) pairs; the step is a layer, a number of shots, or the tokens of a training.
        dataset: The data that the metrics are about; None for a run that judges nothing.
        inputs: Path of each file or folder that was read -> MD5, as DVC computes it.
        facts: What the stage found out about its inputs, such as the hash of the weights.
        folder: The folder of the run's artifacts, relative to the project.
        artifacts: Paths of tables and figures, relative to ``folder``.
        trials: What a search has tried.
    """

    experiment: str
    name: str
    stage: str
    item: Mapping[str, str]
    dvc_stage: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    series: Mapping[str, Sequence[tuple[int, float]]]
    dataset: Dataset | None
    inputs: Mapping[str, str]
    facts: Mapping[str, str]
    folder: Path
    artifacts: Sequence[Path]
    trials: Sequence[Trial]


@dataclass(frozen=True)
class Circumstances:
    """What differs between two runs that give the same results: when, where and by which code.

    Attributes:
        started: Milliseconds since the epoch; ``finished`` likewise.
        commit: The git commit when the stage began, or "unknown" outside a repository.
        dirty: Whether code, constructions or parameters differed from that commit.
        environment: The versions of Python and of the packages that make the numbers, and the platform.
        placement: The parameters that only say where the work runs, such as ``score_pairs.accelerator``.
        dvc_experiment: The name of the DVC experiment; "" outside of one.
    """

    started: int
    finished: int
    commit: str
    dirty: bool
    environment: Mapping[str, str]
    placement: Mapping[str, str]
    dvc_experiment: str


Kind = Literal["make", "measure", "judge", "report"]

KINDS: dict[str, Kind] = {
    "generate": "make",
    "list": "make",
    "mine": "make",
    "label": "make",
    "build": "make",
    "write": "make",
    "trim": "make",
    "extract": "measure",
    "tune": "measure",
    "fit": "measure",
    "score": "measure",
    "fill": "measure",
    "ask": "measure",
    "pretrain": "measure",
    "evaluate": "measure",
    "judge": "judge",
    "report": "report",
}
STAGES = "stages"  # the experiment of the runs of make, measure and report
# Where what is judged has another name than the line of work that it belongs to.
_LINES = {
    "probes": "recognition",
    "replies": "prompts",
    "answers": "prompts",
    "pair_replies": "pairs",
    "benchmark_replies": "benchmarks",
}


def kind_of(stage: str) -> Kind:
    """Return the kind of a stage, by the verb that its name begins with.

    Raises:
        ValueError: The verb is none of those that are known.
    """
    verb = stage.partition("_")[0]
    if verb not in KINDS:
        raise ValueError(f"{stage}: the name of a stage begins with one of {', '.join(KINDS)}, not with '{verb}'")
    return KINDS[verb]


def line_of_work(stage: str) -> str:
    """Return the line of work that a judging or reporting stage belongs to: the experiment of its judged runs."""
    subject = stage.partition("_")[2]
    return _LINES.get(subject, subject)


def is_tracked(stage: str) -> bool:
    """Return whether a stage has a record and a run; one that only lists files runs at every `dvc repro`."""
    return not stage.startswith("list_")
