"""What a stage's name says of it: its kind, and the MLflow experiment of its runs."""

from typing import Literal

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
