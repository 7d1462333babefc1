"""Measure a model: load it when an answer is missing, check it, and let all processes compute its answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from typing_extensions import TypeVar as TypeVarWithDefault

from cxprobe.errors import ModelError
from cxprobe.models.answering import answer
from cxprobe.models.checkpoints import Source
from cxprobe.models.checks import check_known
from cxprobe.models.language_models import LoadedModel
from cxprobe.models.loading import open_source
from cxprobe.models.params import Member, ModelParams, ModelSpec, members_of
from cxprobe.models.store import AnswerStore, Numbers, Questions, answers_folder
from cxprobe.models.trials import relative_difference
from cxprobe.run.params import Precision
from cxprobe.run.processes import Processes, start_processes
from cxprobe.run.progress import progress as show_progress
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import Outcome
from cxprobe.seeding import draw_places

if TYPE_CHECKING:
    from cxprobe.run.stage import Stage

M = TypeVarWithDefault("M", bound=LoadedModel, default=Any)
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class MeasuredModel(Generic[M]):
    """A model that a stage measures. Its weights are loaded only when an answer is not in its store.

    Attributes:
        slug: Its key in params.yaml.
        spec: Its entry in params.yaml.
        load: The function that loads it: ``load_encoder``, ``load_masked_lm`` or ``load_language_model``.
        processes: The processes that measure it together, and which of them this is.
        precision: How it is compared with float32, if it runs in another precision; None for not at all.
        seed: The project's seed.
        what: The name of the work in the progress bar.
    """

    slug: str
    spec: ModelSpec
    load: Callable[..., M]
    processes: Processes
    precision: Precision | None
    seed: int
    what: str

    @classmethod
    def of(cls, stage: "Stage[ModelParams]", slug: str, spec: object, load: Callable[..., M]) -> "MeasuredModel[M]":
        """Return a model of a stage.

        Args:
            stage: The stage; its other processes are started here.
            slug: The model's key in params.yaml.
            spec: Its entry, a checkpoint.
            load: The function that loads it, see `MeasuredModel`.
        """
        if not isinstance(spec, ModelSpec):
            raise TypeError(f"models.{slug} is no checkpoint: {spec}")
        compute, what = stage.params.compute, f"{stage.name} {slug}"
        return cls(slug, spec, load, start_processes(compute), compute.precision, stage.params.seed, what)

    @cached_property
    def _source(self) -> Source:
        return open_source(self.slug, self.spec)

    @cached_property
    def described(self) -> M:
        """The model without weights: its tokenizer, configuration and fingerprint."""
        return self.load(self.slug, self.spec, "meta", self._source)

    @cached_property
    def loaded(self) -> M:
        """The model with its weights."""
        return self.load(self.slug, self.spec, self.processes.device, self._source)

    @property
    def facts(self) -> ModelFacts:
        """The facts about the model, for the record of a run."""
        return (self.loaded if "loaded" in vars(self) else self.described).facts

    @cached_property
    def store(self) -> AnswerStore:
        """The store of its answers."""
        return AnswerStore(answers_folder(self.slug, self.described, self.processes.kind_of_device))

    def check(
        self, texts: Sequence[str], items: Sequence[T], measure: Callable[[M, Sequence[T]], Iterable[Numbers]]
    ) -> dict[str, float]:
        """Refuse a model that does not know the words of the texts, or whose precision is too low.

        For a sample of the items, the raw answers of a model in low precision are compared with those in float32,
        without quantisation. Where ``precision`` is None, nothing is compared.

        Args:
            texts: All texts that will be measured.
            items: All items that will be measured.
            measure: Computes a model's raw answers to some items, in one or more parts, such as one per layer. Parts
                are compared separately, so that large numbers in one part do not hide differences in another.

        Returns:
            unknown: the share of unknown tokens. difference_from_float32: the largest `relative_difference` of the
            parts, for a model that was compared.

        Raises:
            ModelError: Too many tokens are unknown to the model, or the difference is larger than accepted.
        """
        unknown = {"unknown": check_known(self.described, texts, f"the texts of {self.what}")}
        spec = self.spec
        is_quantised = spec.load is not None and spec.load.quantization_config is not None
        if self.precision is None or (spec.dtype == "float32" and not is_quantised):
            return unknown
        in_full = spec.load and spec.load.model_copy(update={"quantization_config": None})
        exact = spec.model_copy(update={"dtype": "float32", "load": in_full})
        reference = self.load(self.slug, exact, self.processes.device)
        places = draw_places(len(items), self.precision.items, self.seed, "precision")
        sample = [items[place] for place in places]
        parts = zip(measure(self.loaded, sample), measure(reference, sample), strict=True)
        difference = float(np.max([relative_difference(numbers, expected) for numbers, expected in parts]))
        limit = self.precision.largest_difference
        if not difference <= limit:
            raise ModelError(
                f"models.{self.slug}: in {spec.precision} the difference of the raw answers from float32 is "
                f"{difference:.4f} of their size, more than compute.precision.largest_difference ({limit}); set dtype: "
                "float32 and leave out quantization_config, or raise the limit if you accept the difference"
            )
        return {**unknown, "difference_from_float32": difference}

    def answer(self, ask: Callable[[], Iterable[Questions[R]]], total: int, unit: str = "texts") -> list[R] | None:
        """Return the results of the model's answers, see `cxprobe.models.answering.answer`, with a progress bar.

        Args:
            ask: Returns the questions, in portions.
            total: The number of texts.
            unit: The name of the texts in the progress bar.

        Returns:
            The results; None if this process only helps to fill the store.
        """
        with self.store as store, show_progress(total, unit, self.what, kept=f"kept in {store.folder}") as shown:
            results = answer(ask, lambda: self.loaded, store, processes=self.processes, progress=shown.update)
        return None if self.processes.number else results


def measure_members(
    stage: "Stage[ModelParams]", measure: Callable[[Member], Mapping[str, float] | None]
) -> Outcome | None:
    """Measure each model of the stage's item: one checkpoint, or the models of a series or set of baselines.

    Args:
        stage: The stage, whose item is an entry of the section models.
        measure: Measures a model, writes its answers, and returns counts; None if this process only helps to fill the
            model's store.

    Returns:
        The counts, with the slug of the model before their names if there are several; None if this process only
        helps.
    """
    counts: dict[str, float] = {}
    writes = True
    for member in members_of(stage.params.models, [stage.item]):
        counted = measure(member)
        if counted is None:
            writes = False
            continue
        prefix = f"{member.slug}." if member.inside.parts else ""
        counts |= {prefix + name: number for name, number in counted.items()}
    return Outcome(counts=counts) if writes else None
