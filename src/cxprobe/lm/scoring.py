"""What a model answers to all questions of a stage: found in its store, or computed and kept there.

`answer` plans, asks the store, computes batches and keeps them, for every kind of question; `measure_texts` scores the
tokens of texts by it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from typing_extensions import TypeVar as TypeVarWithDefault

from cxprobe.errors import DataError, ModelError
from cxprobe.files.tables import read_table
from cxprobe.files.writing import read_json, write_json
from cxprobe.lm.causal import CausalQuestions
from cxprobe.lm.checkpoints import Source
from cxprobe.lm.checks import check_known
from cxprobe.lm.language_models import CausalLM, LanguageModel, MaskedLM
from cxprobe.lm.loading import open_source
from cxprobe.lm.masked import PORTION, PllQuestions, encode_inputs
from cxprobe.lm.params import Bos, ModelFacts, ModelSpec, Precision, ServedModel
from cxprobe.lm.served import ServedLM
from cxprobe.lm.store import Answers, AnswerStore, Numbers, Questions, answers_folder
from cxprobe.lm.texts import TOKENS_FILE, Scheme, TokenScores, token_scores_of, write_token_scores
from cxprobe.run.processes import WHOLE, Count, Processes, Share
from cxprobe.run.progress import progress as show_progress
from cxprobe.run.provenance import earlier_files
from cxprobe.seeding import draw_places

if TYPE_CHECKING:
    from cxprobe.run.stage import Stage

M = TypeVarWithDefault("M", bound=LanguageModel, default=Any)
R = TypeVar("R")
T = TypeVar("T")
Progress = Callable[..., object]
"""Is called with the number of texts that have been finished since the last call; known=True if none was computed."""


def answer(
    ask: Callable[[], Iterable[Questions[R]]],
    model: Callable[[], LanguageModel],
    store: AnswerStore | None = None,
    processes: Processes | None = None,
    progress: Progress | None = None,
    recall: Callable[[], object] | None = None,
) -> list[R] | None:
    """Return what becomes of a model's answers to questions, and let it answer those whose answers are not known.

    Batches are planned from all questions, whatever is known, and of each what is missing is computed as a whole by one
    process. So numbers do not depend on how many processes there are, or on which of them were killed, and a question
    that is new costs only itself.

    Args:
        ask: Returns the questions, in portions that are planned apart; called again where several processes answer.
        model: Returns the model with its weights; only called if an answer is missing.
        store: Where earlier answers are looked up and new ones kept; None to compute all.
        processes: Which of the processes this is that answer together; None for one that answers all.
        progress: Is told the texts that have been finished, known ones first; of several processes each estimates
            those of the others by its own.
        recall: Is called once, if an answer is missing, before anything is computed: it may fill the store.

    Returns:
        What `Questions.read` makes of the answers; None if this process only helps to fill the store.

    Raises:
        DataError: A number is not finite.
    """
    store = AnswerStore() if store is None else store

    def work(share: Share) -> Iterator[R]:
        nonlocal recall
        for number, questions in enumerate(ask()):
            keys = list(questions.text_of)
            known = store.find(keys)
            if recall and len(known) < len(keys):
                recall()
                recall, known = None, store.find(keys)
            answers = known
            report = _in_proportion(progress, len(questions.texts), len(keys))
            report(len(known), known=True)
            new = [key for key in keys if key not in store.asked]
            store.asked.update(new)
            if any(key not in known for key in new):
                # The first batches of the portions go to different processes.
                for place, batch in enumerate(questions.batches(new), start=number):
                    wanted = [key for key in batch.keys if key not in known] if share.has(place) else []
                    for computed in batch.compute(model(), wanted) if wanted else ():
                        for key in store.add(computed):
                            raise DataError(
                                f"{questions.text_of[key]!r}: the model gave a number that is not finite; try dtype: "
                                "float32"
                            )
                        report(len(computed) * share.of)
                answers = store.find(keys)
            if share == WHOLE:
                yield from questions.read(answers)

    if processes is not None and not processes.alone:
        list(work(processes.share))
        store.write()
        processes.wait()
        if not processes.writes:
            return None
        store.look_again()
        progress = None
    return list(work(WHOLE))


def _in_proportion(progress: Progress | None, texts: int, parts: int) -> Progress:
    """Return a function that is called with finished questions and reports the same share of the texts."""
    finished, parts = 0, max(parts, 1)

    def report(n: int, **known: bool) -> None:
        nonlocal finished
        before, finished = texts * finished // parts, min(finished + n, parts)
        if progress is not None and (step := texts * finished // parts - before):
            progress(step, **known)

    return report


class Record(NamedTuple):
    """What a stage writes of a model's answers, from which they can be read back.

    Attributes:
        folder: Where it is written.
        how: How the model is asked, as far as neither its store nor the texts tell, such as "bos: add".
        read: Reads from a folder with the files that an earlier run wrote, if it asked in this way, answers by their
            keys.
    """

    folder: Path
    how: str
    read: Callable[[Path], Iterable[Answers]]


ASKED_FILE = "asked.json"


@dataclass(frozen=True, eq=False)
class MeasuredModel(Generic[M]):
    """A model that a stage measures. Its weights are loaded when the first answer is not in its store.

    Attributes:
        slug: Its key in params.yaml.
        spec: Where it comes from.
        load: Loads it: `load_encoder`, `load_masked_lm` or `load_language_model`.
        processes: Which of the processes this is that measure it together.
        precision: How it is compared with float32, if it runs in another precision.
        seed: The project's seed.
        what: Names the work in the lines about its progress.
    """

    slug: str
    spec: ModelSpec | ServedModel
    load: Callable[..., M]
    processes: Processes
    precision: Precision
    seed: int
    what: str

    @classmethod
    def of(cls, stage: "Stage", slug: str, spec: object, load: Callable[..., M]) -> "MeasuredModel[M]":
        """Return a model of a stage.

        Args:
            stage: The stage; its other processes are started here.
            slug: The model's key in params.yaml.
            spec: Its entry: a checkpoint, or a model on a server.
            load: See `MeasuredModel`.
        """
        if not isinstance(spec, ModelSpec | ServedModel):
            raise TypeError(f"models.{slug} is no checkpoint: {spec}")
        compute = stage.params.compute
        processes = stage.job.start(compute.for_model(spec))
        what = f"{stage.name} {slug}"
        return cls(slug, spec, load, processes, compute.precision, stage.params.seed, what)

    @cached_property
    def _source(self) -> Source:
        return open_source(self.slug, self.spec, self.processes.device)

    @cached_property
    def described(self) -> M:
        """The model without weights: with its tokenizer, configuration and fingerprint."""
        return self.load(self.slug, self.spec, "meta", self._source)

    @cached_property
    def loaded(self) -> M:
        """The model with its weights."""
        return self.load(self.slug, self.spec, self.processes.device, self._source)

    @property
    def facts(self) -> ModelFacts:
        """What the model is, for the record."""
        return (self.loaded if "loaded" in vars(self) else self.described).facts

    @cached_property
    def store(self) -> AnswerStore:
        """The store of its answers."""
        return open_answers(self.slug, self.described, self.processes.kind_of_device)

    def check(
        self, texts: Sequence[str], items: Sequence[T], measure: Callable[[M, Sequence[T]], Iterable[Numbers]]
    ) -> dict[str, float]:
        """Refuse a model that does not know the words of texts, or whose precision is too low.

        The raw answers to a sample are compared with those in the precision that ``spec.compared`` names, without
        quantisation. A model for which it is None says so in its `precision`, which every record has.

        Args:
            texts: All texts that will be measured.
            items: All that will be measured.
            measure: Computes a model's raw answers to some of the items, in one or more parts, such as one a layer.
                Parts are compared separately, so that large numbers in one do not hide differences in another.

        Returns:
            The share of unknown tokens; and "difference_from_float32" (or from what it was compared with): the
            `relative_difference` of the part that differs most. Nothing where answers are only counted.

        Raises:
            ModelError: The model does not know too many tokens; or the difference is larger than accepted.
        """
        if self.processes.counts:
            return {}
        unknown = {"unknown": check_known(self.described, texts, f"the texts of {self.what}")}
        spec = self.spec
        if isinstance(spec, ServedModel) or spec.compared is None or spec.precision == "float32":
            return unknown
        other, own_limit = spec.compared.dtype, spec.compared.largest_difference
        limit = own_limit or self.precision.largest_difference
        exact = spec.model_copy(update={"dtype": other, "quantisation": None})
        reference = self.load(self.slug, exact, self.processes.device)
        sample = [items[place] for place in draw_places(len(items), self.precision.items, self.seed, "precision")]
        parts = zip(measure(self.loaded, sample), measure(reference, sample), strict=True)
        difference = float(np.max([relative_difference(numbers, expected) for numbers, expected in parts]))
        if not difference <= limit:
            key = f"models.{self.slug}"
            place = f"{key}.compared" if own_limit else "compute.precision"
            instead = f"leave out {key}.quantisation" if spec.quantisation else f"set {key}.dtype: {other}"
            raise ModelError(
                f"{key}: in {spec.precision} the difference of the raw answers from {other} is {difference:.4f} of "
                f"their size, more than {place}.largest_difference ({limit}); {instead}, or raise the limit if you "
                "accept the difference"
            )
        return {**unknown, f"difference_from_{other}": difference}

    def answer(
        self, ask: Callable[[], Iterable[Questions[R]]], total: int, record: Record, unit: str = "texts"
    ) -> list[R] | None:
        """Return what becomes of the model's answers, as `answer` does, with its store and lines about its progress.

        Answers that the store does not have are first looked for in what an earlier run wrote, on whatever machine: DVC
        carries outputs, but no store.

        Args:
            ask: Returns the questions, in portions.
            total: How many texts they are about.
            record: What is written of the answers; how they were asked is written there here.
            unit: What the texts are called.

        Returns:
            None if this process only helps to fill the store, or if answers are only counted.
        """
        asked = {"answers": str(self.store.folder).rpartition("-")[2], "how": record.how}

        def recall() -> None:
            with earlier_files(record.folder) as earlier:
                if (earlier / ASKED_FILE).is_file() and read_json(earlier / ASKED_FILE) == asked:
                    for answers in record.read(earlier):
                        known = self.store.find(list(answers))
                        self.store.add({key: numbers for key, numbers in answers.items() if key not in known})
                    self.store.write()

        if self.processes.counts:
            keys = list({key for questions in ask() for key in questions.text_of})
            if len(self.store.find(keys)) < len(keys):
                recall()
            self.processes.job.counted.append(Count("answers", len(self.store.find(keys)), len(keys)))
            return None
        with (
            self.store as store,
            show_progress(total, unit, self.what, kept=f"kept in {store.folder}") as shown,
        ):
            found = answer(ask, lambda: self.loaded, store, self.processes, shown.update, recall)
        if found is not None:
            write_json(asked, record.folder / ASKED_FILE)
        return found


def open_answers(slug: str, model: LanguageModel, kind_of_device: str) -> AnswerStore:
    """Open the store of a model's answers.

    Its folder is named by everything that decides on a number beside what is asked: weights, configuration, precision,
    the kind of device, and the versions of PyTorch and transformers; for a model on a server by what params say of it.

    Args:
        slug: The model's key in params.yaml.
        model: The model; its weights are not needed.
        kind_of_device: What computes.
    """
    if isinstance(model, ServedLM):
        return AnswerStore(answers_folder(slug, model.kind, model.fingerprint, model.spec.likelihoods))
    config: dict[str, Any] = model.model.config.to_dict()
    # Where the model is stored, which of DeBERTa's heads its weights are, and what the fingerprint tells.
    for name in ("_name_or_path", "legacy", "quantization_config"):
        config.pop(name, None)
    settings = sorted((name, repr(value)) for name, value in config.items())
    computed = (str(model.model.dtype), kind_of_device, torch.__version__, transformers.__version__)
    return AnswerStore(answers_folder(slug, model.kind, model.fingerprint, settings, computed))


def relative_difference(numbers: Numbers, expected: Numbers) -> float:
    """Return the norm of the difference of two arrays of one shape over the norm of the second."""
    size = float(np.linalg.norm(expected))
    difference = float(np.linalg.norm(np.asarray(numbers, dtype=np.float64) - expected))
    return difference / size if size else float(np.inf if difference else 0.0)


Texts = Mapping[str, int]
"""Texts, each with the place of its first character that matters: a masked model scores the tokens from there on, a
causal one all."""


class HowToScore(NamedTuple):
    """How a model is asked.

    Attributes:
        schemes: For a masked model, each of which gives every text a record; a causal one has the scheme "causal" only.
        bos: What a causal model reads before a text (see `CausalQuestions`).
        token_budget: The most tokens in a batch.
    """

    schemes: Sequence[Scheme]
    bos: Bos
    token_budget: int


def distinct_texts(portions: Iterable[Texts]) -> list[dict[str, int]]:
    """Return portions in which every text occurs once: in the first that has it, with its earliest place."""
    portions = list(portions)
    places: dict[str, int] = {}
    for portion in portions:
        places |= {text: min(place, places.get(text, place)) for text, place in portion.items()}
    return [{text: places.pop(text) for text in portion if text in places} for portion in portions]


def measure_texts(
    model: MeasuredModel[MaskedLM | CausalLM], portions: Sequence[Texts], how: HowToScore, folder: Path
) -> dict[str, float] | None:
    """Score the tokens of texts under each scheme that fits the model, and write ``tokens.parquet`` and ``model.json``.

    Args:
        model: The model.
        portions: Distinct texts; batches are formed within a portion, such as the texts of one construction, so that
            its numbers do not depend on the others in the last digit. The table has one row a text and scheme: for each
            portion all texts under the first scheme, then all under the next.
        how: How the model is asked.
        folder: Where the files are written.

    Returns:
        The number of distinct texts, the number of scores that their tokens have, the share of tokens that the model
        does not know, and for a model in low precision the difference from float32. None if this process writes no
        files.

    Raises:
        ModelError: See `MeasuredModel.check`.
        DataError: Before anything of a portion is computed: a text cannot be scored (see `PllQuestions` and
            `CausalQuestions`). Afterwards: a number is not finite.
    """
    described = model.described
    checked = model.check(
        [text for texts in portions for text in texts],
        [item for texts in portions for item in texts.items()],
        lambda loaded, sample: [_scores(score_texts(loaded, [dict(sample)], how))],
    )
    total = sum(map(len, portions)) * (1 if isinstance(described, CausalLM) else len(how.schemes))
    bos = f"bos: {how.bos}" if isinstance(described, CausalLM) else ""
    record = Record(folder, bos, lambda earlier: _answers_in(earlier, described, how))
    tokens = model.answer(lambda: _ask(described, portions, how), total, record)
    if tokens is None:
        return None
    write_token_scores(tokens, model.facts, folder)
    texts = len({scores.text for scores in tokens})
    return {"texts": texts, "token_scores": len(_scores(tokens)), **checked}


def score_texts(
    model: MaskedLM | CausalLM,
    portions: Sequence[Texts],
    how: HowToScore,
    *,
    store: AnswerStore | None = None,
    progress: Progress | None = None,
) -> list[TokenScores]:
    """Return the scores of texts' tokens, as `measure_texts` writes them, by a loaded model in this process.

    Args:
        model: The model.
        portions: See `measure_texts`.
        how: How the model is asked.
        store: Where earlier answers are looked up and new ones kept; None to compute all.
        progress: Is told the texts that have been finished; each counts once a scheme.
    """
    return answer(lambda: _ask(model, portions, how), lambda: model, store, progress=progress) or []


def _ask(
    model: MaskedLM | CausalLM, portions: Sequence[Texts], how: HowToScore
) -> Iterator[CausalQuestions | PllQuestions]:
    """Yield what a model is asked to score texts."""
    for texts in portions:
        if isinstance(model, CausalLM):
            yield CausalQuestions(model, list(texts), how.bos, how.token_budget)
            continue
        encoded = encode_inputs(model, list(texts))
        spans = [(place, len(text)) for text, place in texts.items()]
        for scheme in how.schemes:
            for start in range(0, len(texts), PORTION):
                part = slice(start, start + PORTION)
                yield PllQuestions(model, encoded[part], scheme, how.token_budget, spans[part])


def _answers_in(folder: Path, model: MaskedLM | CausalLM, how: HowToScore) -> Iterator[Answers]:
    """Yield the answers from which an earlier run wrote ``tokens.parquet``, if it asked in the same way."""
    of_schemes: dict[Scheme, dict[str, TokenScores]] = {}
    for scores in token_scores_of(read_table(folder / TOKENS_FILE)):
        if not scores.spans[0, 0]:  # else it is the end of a text, as `put_behind_contexts` writes it
            of_schemes.setdefault(scores.scheme, {})[scores.text] = scores
    for scheme, scored in of_schemes.items():
        firsts = {text: int(scores.spans[~np.isnan(scores.log_probs)][0, 1]) - 1 for text, scores in scored.items()}
        for questions in _ask(model, [firsts], how._replace(schemes=[scheme])):
            yield questions.unread([scored[text] for text in questions.texts])


def _scores(tokens: Sequence[TokenScores]) -> NDArray[np.float64]:
    """Return the scores of all tokens that have one, text by text: shape (tokens,)."""
    numbers: NDArray[np.float64] = np.concatenate([np.empty(0), *(scores.log_probs for scores in tokens)])
    scored: NDArray[np.float64] = numbers[~np.isnan(numbers)]
    return scored
