"""An evaluated run, from whose record it can be written into any MLflow server; its context and experiment."""

import getpass
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML

from cxprobe.errors import DataError
from cxprobe.files.writing import RESULTS, project_folder, read_json, write_json

STAGE_TAG = "dvc.stage"  # the tag of a run in MLflow that names its evaluating stage
RUNS = "runs"  # the folder within a stage's results that has those of each run

DECISIVE = ("src", "pipelines", "constructions", "lexicon", "prompts", "models", "published", "params.yaml")
PACKAGES = ("cxprobe", "torch", "transformers", "pytorch-lightning", "scikit-learn", "numpy", "nltk", "spacy")
_FACTS = "model.json"
Experiments = Mapping[str, str]
"""Name of an experiment -> the paragraphs above the table of its runs, as Markdown."""
ModelKind = Literal["encoder", "masked", "causal", "instructed", "file", "series", "baseline"]
WeightsState = Literal["trained", "random", "none"]


@dataclass(frozen=True)
class ModelFacts:
    """The facts about a measured model; every measuring stage writes them beside the raw answers.

    Attributes:
        name: The name under which the model was loaded or asked, such as a name on the Hugging Face hub.
        kind: "encoder" (hidden states were read), "masked", "causal", "instructed" (prompted), "file" (a table of
            answers), "series" (several models that differ in one quantity), or "baseline" (cannot know the
            construction).
        parameters: The number of its weights; None where it is not known.
        weights: The version of its weights, or of a file of answers: a commit on the hub, or a SHA-256.
        state: "random" for a random-weights control of a trained model, "none" for a baseline.
        precision: The precision of its computations, such as "float32", "bfloat16", "float32, load ..." or "Q4_1,
            de-quantised to float32"; "" where that is not known, or means nothing.
        attention: The implementation of attention in transformers, such as "sdpa"; "" where that is not known, or
            means nothing.
    """

    name: str
    kind: ModelKind
    parameters: int | None
    weights: str
    state: WeightsState = "trained"
    precision: str = ""
    attention: str = ""


def write_model_facts(facts: ModelFacts, folder: Path) -> None:
    """Write the facts about a model to ``model.json`` in the folder of its answers."""
    write_json(asdict(facts), folder / _FACTS)


def read_model_facts(folder: Path) -> ModelFacts:
    """Read the facts about a model from ``model.json`` in the folder of its answers.

    Raises:
        DataError: The folder has no ``model.json``.
    """
    path = folder / _FACTS
    if not path.is_file():
        raise DataError(f"{path} is missing; the measuring stage writes it: run `dvc repro`, or `dvc pull`")
    return ModelFacts(**read_json(path))


def label_of(slug: str, state: WeightsState) -> str:
    """Return a model's name for people, which marks a baseline and weights that are not the trained ones."""
    added = {"trained": "", "none": " (baseline)"}
    return slug + added.get(state, f" ({state} weights)")


@dataclass(frozen=True)
class Trial:
    """One setting that a search has tried; a child run of the evaluated run in MLflow.

    Attributes:
        name: Names the trial within its search.
        metrics: Name -> number.
        params: Name -> the value that was tried.
    """

    name: str
    metrics: Mapping[str, float]
    params: Mapping[str, str]


@dataclass(frozen=True)
class Dataset:
    """The data that a run was evaluated on.

    Attributes:
        name: The path in the project.
        digest: The MD5, as DVC computes it.
        items: The number of items that were evaluated.
    """

    name: str
    digest: str
    items: int


class Run(BaseModel):
    """One model, evaluated in one task: what a run of MLflow shows, which people compare with others.

    Nothing that is stored of it changes if the same stage runs again on the same machine, so DVC can compare it. Runs
    of one task have the same names of metrics, settings, tables and figures, as far as they apply.

    Attributes:
        stage: The evaluating stage.
        model: The model's slug.
        facts: The facts about the model.
        dataset: The data that was evaluated; None if no single file or folder holds it.
        part: Of a child run: what it is of, such as {"construction": "let-alone", "source": "mined"}.
        about: What the run says and how it is read, as Markdown; MLflow shows it above the run.
        metrics: Name -> number, the most important first.
        settings: The parameters that decided on the numbers, usually from `cxprobe.run.stage.Stage.settings`.
        series: Name -> (step, number) pairs; the step is a layer, a number of shots or the tokens of a training.
        trials: The settings that a search over hyperparameters has tried: child runs.
        tags: Tag of MLflow -> its value, such as the verdict.
        children: Runs of parts of it, such as the probes of a construction: child runs of this one.
        artifacts: Paths of the tables and figures, relative to `folder`; known once they are written.
        tables: Path below the run's folder, without suffix -> a table, written as .csv.
        figures: Path below the run's folder, without suffix -> a figure, written as .png.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    stage: str
    model: str
    facts: ModelFacts
    dataset: Dataset | None
    part: Mapping[str, str] = {}
    about: str = ""
    metrics: Mapping[str, float]
    settings: Mapping[str, str]
    series: Mapping[str, Sequence[tuple[int, float]]] = {}
    trials: Sequence[Trial] = ()
    tags: Mapping[str, str] = {}
    children: Sequence["Run"] = ()
    artifacts: Sequence[str] = ()
    tables: Mapping[str, Any] = Field(default={}, exclude=True)
    figures: Mapping[str, Any] = Field(default={}, exclude=True)

    @property
    def experiment(self) -> str:
        """The MLflow experiment, which has the name of the task."""
        return self.stage.rpartition("_")[2]

    @property
    def folder(self) -> Path:
        """The folder of its record and artifacts, relative to the project."""
        below = (value.replace("/", "_") for value in self.part.values())
        return RESULTS.joinpath(self.stage, RUNS, self.model, *below)

    @property
    def role(self) -> str:
        """What MLflow can filter by: model, baseline, random weights, series, or part of a run."""
        if self.part:
            return "part"
        if self.facts.kind == "series":
            return "series"
        return {"trained": "model", "random": "random weights", "none": "baseline"}[self.facts.state]

    @property
    def digest(self) -> str:
        """SHA-256 of what is stored of it, by which it is known in every store, and a changed file is noticed."""
        return hashlib.sha256(json.dumps(self.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class RunContext:
    """The time, place, code and user of a run, in which two runs with the same results differ.

    Attributes:
        started: Milliseconds since the epoch, 0 where it is not known; ``finished`` likewise.
        commit: The git commit when the stage began, or "unknown" outside a repository.
        dirty: Whether code, constructions or parameters differed from that commit.
        environment: The versions of Python and of the packages that make the numbers, and the platform.
        dvc_experiment: The name of the DVC experiment; "" outside of one.
        user: The name that git has of the user, else that of the account.
    """

    started: int
    finished: int
    commit: str
    dirty: bool
    environment: Mapping[str, str]
    dvc_experiment: str
    user: str = ""


def begin() -> RunContext:
    """Return the context of a run that begins now, with the code that begins it."""
    started = milliseconds()

    def git(*arguments: str) -> str:
        try:
            done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):  # no git, no repository, or nobody has told it a name
            return ""
        return done.stdout.strip()

    commit = git("rev-parse", "HEAD") or "unknown"
    dirty = commit == "unknown" or bool(git("status", "--porcelain", "--", *DECISIVE))
    user = git("config", "user.name") or getpass.getuser()
    versions = {name: version(name) for name in PACKAGES}
    environment = {"python": platform.python_version(), "platform": platform.platform(), "host": platform.node()}
    experiment = os.environ.get("DVC_EXP_NAME", "")
    return RunContext(started, started, commit, dirty, environment | versions, experiment, user)


def context_file(run: Run) -> Path:
    """Return the file in which this machine keeps the context of a run; others lack it."""
    return project_folder() / "mlruns" / "context" / f"{run.digest}.json"


def context_of(run: Run) -> RunContext:
    """Return the context of a run that this machine has kept; of others nothing is known."""
    path = context_file(run)
    return RunContext(**read_json(path)) if path.is_file() else RunContext(0, 0, "", False, {}, "")


def keep_context(runs: Sequence[Run], context: RunContext) -> None:
    """Keep the context of new runs on this machine, since it must change no output; a fault is only a warning."""
    try:
        for number, run in enumerate(runs):
            # With times of start that differ, since MLflow's UI shows the newest runs first.
            write_json(asdict(replace(context, started=context.started + number)), context_file(run))
    except OSError as fault:
        print(f"{fault}: MLflow will not know when and by which commit the runs were made", file=sys.stderr)


def milliseconds() -> int:
    """Return the time now, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


@cache
def load_experiments(path: Path) -> Experiments:
    """Read the experiments of a file, whose anchors may be those of shared_experiments.yaml."""
    shared = Path(__file__).with_name("shared_experiments.yaml")
    content = YAML(typ="safe").load(shared.read_text(encoding="utf-8") + path.read_text(encoding="utf-8"))
    content.pop("shared")
    return {name: "\n\n".join(paragraphs) for name, paragraphs in content.items()}
