"""The sections of params.yaml that every task reads beside its own: the models, and ``report``."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, StringConstraints

from cxprobe.files.schema import Closed, Slug, suggest
from cxprobe.models.params import AnswersFile, BaselineSet, Member, ModelParams, empty_names, members_of


class Everything(Closed):
    """All items of a task: {}."""


class TaskSection(Closed):
    """The section of a task. Each model is a key, and its value names the items that it scores; {} for all."""


class Report(Closed):
    """The limit for baselines, the models that are not on the first page, and MLflow's address."""

    limit: Annotated[float, Field(gt=0.5, le=1)]
    """The share of frames of a set of contrasts above which a baseline solves it, so that it has no verdict."""
    under_methods: list[Slug] = Field(default_factory=list)
    """Entries of models that try the methods, such as one that was taught the constructions: the report has them
    under Methods, and not on its first page."""
    mlflow: Annotated[str, StringConstraints(pattern=r"^https?://[^@\s]*[^@\s/]$")]
    """Where the report's links to runs lead, and `cxprobe ui` listens: this machine, or the team's server."""


class ReportParams(ModelParams):
    """The sections of params.yaml that all tasks share."""

    report: Report
    """The limit for baselines, the models that are not on the first page, and MLflow's address."""

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield the unknown models in report.under_methods."""
        yield from super().faults_between(constructions)
        entries = [*self.models, *self.llms]
        for number, name in enumerate(self.report.under_methods):
            if name not in entries:
                yield f"report.under_methods[{number}]: '{name}' is not in models or llms{suggest(name, entries)}"


_ASKED = ("models", "llms", "constructions", "benchmarks")
"""The keys of a task's section that say what is asked, and which models; the others say how."""


class TaskParams(ReportParams):
    """The sections of params.yaml that the stages of a task read. A subclass adds the section of its task.

    Attributes:
        task: The name of the task and of its section. The section has ``models`` and ``constructions``; it may have
            ``llms`` (models that are prompted) and ``benchmarks`` (published items).
        baseline_kinds: The kinds of baselines that the task can ask.
        kinds_of_answers: The kinds of files of answers that it can evaluate.
    """

    task: ClassVar[str]
    baseline_kinds: ClassVar[Collection[str]] = ()
    kinds_of_answers: ClassVar[Collection[str]] = ()

    @property
    def of_task(self) -> Any:
        """The section of the task."""
        return getattr(self, self.task)

    @property
    def benchmarks(self) -> Collection[str]:
        """The benchmarks that the task asks about."""
        return getattr(self.of_task, "benchmarks", ())

    @property
    def settings(self) -> list[str]:
        """The dotted names of what says how the task works, such as "pairs.make"."""
        return [f"{self.task}.{key}" for key in type(self.of_task).model_fields if key not in _ASKED]

    @property
    def nothing_to_do(self) -> str:
        """Why a stage that runs once has nothing to do; "" if it has."""
        if self.of_task.constructions or self.benchmarks:
            return ""
        return f"{self.task}.constructions in params.yaml is empty"

    @staticmethod
    def construction_of(name: str) -> str:
        """Return the folder of an entry of ``constructions``; a folder may have several sets of items."""
        return name

    def faults_between(self, constructions: Collection[str]) -> Iterator[str]:
        """Yield unknown names in the section, and models that the task cannot ask."""
        yield from super().faults_between(constructions)
        yield from self._unknown_names(constructions)
        section, task = self.of_task, self.task
        asked = [key for key in ("models", "llms") if hasattr(section, key)]
        has_models = any(getattr(section, key) for key in asked)
        if has_models and self.nothing_to_do:
            yield (
                f"{task}.constructions: must not be empty, since {' or '.join(asked)} is not; name some, or empty both"
            )
        if not has_models and not self.nothing_to_do:
            empty = f"{task}.{' and '.join(asked)}"
            yield f"{empty}: must not be empty, since constructions is not; name some, or empty both"
        yield from self._unfit_models()

    def _unknown_names(self, constructions: Collection[str]) -> Iterator[str]:
        allowed: Mapping[str, Collection[str]] = {
            "models": self.models,
            "llms": self.llms,
            "constructions": constructions,
        }
        for key, known in allowed.items():
            where = "constructions/" if key == "constructions" else key
            entries = getattr(self.of_task, key, ())
            for number, name in enumerate(entries):
                if self.construction_of(name) in known:
                    continue
                path = f"{self.task}.{key}[{number}]" if isinstance(entries, list) else f"{self.task}.{key}.{name}"
                yield f"{path}: '{name}' is not in {where}{suggest(name, list(known))}"

    def _unfit_models(self) -> Iterator[str]:
        for slug in self.of_task.models:
            entry, path = self.models.get(slug), f"{self.task}.models.{slug}"
            if entry is None:
                continue
            for key in empty_names(self.models, [slug]):
                yield (
                    f"{key}: is empty, and {path} names '{slug}'; write a Hugging Face name or a folder, or take it out"
                )
            if isinstance(entry, AnswersFile) and entry.kind not in self.kinds_of_answers:
                takes = f"takes {' or '.join(self.kinds_of_answers)}" if self.kinds_of_answers else "takes no file"
                yield f"{path}: '{slug}' is a file of {entry.kind}, and {self.task} {takes}; take it out"
            if isinstance(entry, BaselineSet):
                for name, member in entry.members.items():
                    if member.kind not in self.baseline_kinds:
                        yield (
                            f"{path}: '{slug}' has {name}, and {member.kind} cannot be asked here; {self.task} asks "
                            f"{', '.join(self.baseline_kinds)}"
                        )


def task_members(params: TaskParams) -> list[Member]:
    """Return all models of a task: those of its list ``models``, then those that are prompted."""
    section = params.of_task
    return members_of(params.models, section.models, params.llms, getattr(section, "llms", ()))
