"""Measure a model: load it when an answer is missing, check it, and let all processes compute its answers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import nan
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from cxprobe.errors import ModelError
from cxprobe.models.checkpoints import Source
from cxprobe.models.loading import LoadedModel, open_source
from cxprobe.models.params import Member, ModelParams, ModelSpec, members_of
from cxprobe.models.store import AnswerStore, Questions, answer, answers_folder
from cxprobe.run.processes import Processes, start_processes
from cxprobe.run.progress import progress as show_progress
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import Outcome

if TYPE_CHECKING:
    from cxprobe.run.stage import Stage

# Share of tokens: far above what English with a few rare words gives, far below what another model's tokenizer gives.
MOST_UNKNOWN = 0.2
M = TypeVar("M", bound=LoadedModel)
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class MeasuredModel(Generic[M]):
    """A model that a stage measures. Its weights are loaded only when an answer is not in its store.

    Attributes:
        slug: Its key in params.yaml.
        spec: Its entry in params.yaml.
        load: The function that loads it: ``load_encoder``, ``load_masked_lm`` or ``load_language_model``.
        processes: The processes that measure it together, and which of them this is.
        what: The name of the work in the progress bar.
    """

    slug: str
    spec: ModelSpec
    load: Callable[[Source, str], M]
    processes: Processes
    what: str

    @classmethod
    def of(
        cls, stage: "Stage[ModelParams]", slug: str, spec: object, load: Callable[[Source, str], M]
    ) -> "MeasuredModel[M]":
        """Return a model of a stage.

        Args:
            stage: The stage; its other processes are started here.
            slug: The model's key in params.yaml.
            spec: Its entry, a checkpoint.
            load: The function that loads it, see `MeasuredModel`.
        """
        return cls(slug, cast(ModelSpec, spec), load, start_processes(stage.params.compute), f"{stage.name} {slug}")

    @cached_property
    def _source(self) -> Source:
        return open_source(self.slug, self.spec)

    @cached_property
    def described(self) -> M:
        """The model without weights: its tokenizer, configuration and fingerprint."""
        return self.load(self._source, "meta")

    @cached_property
    def loaded(self) -> M:
        """The model with its weights."""
        return self.load(self._source, self.processes.device)

    @property
    def facts(self) -> ModelFacts:
        """The facts about the model, for the record of a run."""
        return (self.loaded if "loaded" in vars(self) else self.described).facts

    @cached_property
    def store(self) -> AnswerStore:
        """The store of its answers."""
        return AnswerStore(answers_folder(self.slug, self.described, self.processes.kind_of_device))

    def check(self, texts: Sequence[str]) -> dict[str, float]:
        """Return the share of tokens that the model does not know, as "unknown".

        Args:
            texts: All texts that will be measured.

        Raises:
            ModelError: Too many tokens are unknown to the model.
        """
        share, lost = unknown_tokens(self.described.tokenizer, texts)
        if share > MOST_UNKNOWN:
            words = ", ".join(map(repr, lost[:5]))
            what = f"{share:.1%} of the tokens of the texts of {self.what} are unknown to it, such as {words}"
            advice = "its tokenizer is another model's, or of another language: take another checkpoint"
            raise ModelError(f"'{self.described.name}': {what}, and at most {MOST_UNKNOWN:.0%} may be; {advice}")
        return {"unknown": share}

    def answer(self, ask: Callable[[], Iterable[Questions[R]]], total: int, unit: str = "texts") -> list[R] | None:
        """Return the results of the model's answers, see `cxprobe.models.store.answer`, with a progress bar.

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
    counts = dict[str, float]()
    members = members_of(stage.params.models, [stage.item])
    for member, counted in [(member, measure(member)) for member in members]:
        if counted is None:
            return None
        prefix = f"{member.slug}." if member.inside.parts else ""
        counts |= {prefix + name: number for name, number in counted.items()}
    return Outcome(counts=counts)


def unknown_tokens(tokenizer: Any, texts: Sequence[str]) -> tuple[float, list[str]]:
    """Return the share of unknown tokens in texts, and some of the words that they are in.

    A byte-level tokenizer knows everything.

    Args:
        tokenizer: A fast tokenizer.
        texts: All texts of a stage, or a sample; one that is given twice counts twice.

    Returns:
        The share, 0 to 1, special tokens not counted, NaN if there is no token; and words of the first texts.
    """
    tokens, unknown, words = 0, 0, dict.fromkeys(word for text in texts[:1000] for word in text.split())
    tokenise = partial(tokenizer, add_special_tokens=False, verbose=False)
    for start in range(0, len(texts), 1000):
        for ids in tokenise(list(texts[start : start + 1000]))["input_ids"]:
            tokens += len(ids)
            unknown += ids.count(tokenizer.unk_token_id)
    if not unknown:
        return (0.0 if tokens else nan), []
    read = zip(words, tokenise([*words])["input_ids"], strict=True)
    return unknown / tokens, [word for word, ids in read if tokenizer.unk_token_id in ids]
