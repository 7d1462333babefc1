"""How far what models get right on minimal pairs goes with frequency.

That of the words in which the two texts differ, and that of the verb in the construction.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import expit, stdtrit

from cxprobe.constructions.people import Row
from cxprobe.lm.ngrams import words_of
from cxprobe.pairs.frames import VERB
from cxprobe.stats import CLUSTER, LEVEL

FRAMES_NEEDED, WORDS_NEEDED = 12, 20  # with fewer, intervals hold the true value too rarely: see `frequency_by`
VERBS_NEEDED = 6  # verbs that corpora have in the construction; with fewer, single verbs would decide
NUMBERS = ["slope", "slope_low", "slope_high", "at_zero", "at_zero_low", "at_zero_high"]
_FRAME = f"{CLUSTER}frame"
_TEXTS = ["good", "bad"]


def with_frequencies(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs with what tells their two texts apart.

    Args:
        pairs: The columns good and bad, English texts.

    Returns:
        The pairs with the columns good_words and bad_words, the words in lower case that only this text has, or has
        more often, in the order of the alphabet; zipf, the mean Zipf frequency of the first less that of the second
        (NaN where a text has no word of its own, or one that wordfreq does not list); and longer, how many words the
        good text has more.

    Source:
        van Heuven et al. 2014: the Zipf frequency is the decimal logarithm of how often a word comes among 10**9.
    """
    from wordfreq import zipf_frequency  # slow to import

    def mean(words: Counter[str]) -> float:
        frequencies = [zipf_frequency(word, "en") for word in words.elements()]
        return float(np.mean(frequencies)) if frequencies and all(frequencies) else np.nan

    texts, rows = pairs[_TEXTS].drop_duplicates(), []
    for both in texts.itertuples(index=False):
        good, bad = (Counter(word.text.lower() for word in words_of(text)) for text in both)
        differing = (good - bad, bad - good)
        names = (" ".join(sorted(words.elements())) for words in differing)
        rows.append((*names, mean(differing[0]) - mean(differing[1]), good.total() - bad.total()))
    texts[["good_words", "bad_words", "zipf", "longer"]] = pd.DataFrame(rows, index=texts.index)
    return pairs.merge(texts, "left", _TEXTS, validate="many_to_one")


def verbs_in_corpora(mined: Mapping[str, tuple[Sequence[Row], pd.DataFrame]]) -> pd.DataFrame:
    """Return how often the verb of each frame is in its construction.

    Args:
        mined: Name of the pairs -> the frames of a pairs.yaml, and what fills the slots of the construction in a
            corpus (`cxprobe.corpora.association.fillers_of`); of frames without the slot `VERB` nothing is returned.

    Returns:
        One row a frame: cluster_frame; verb, its lemma; and together, the decimal logarithm of 1 + how often this verb
        fills the slot `VERB`.
    """
    rows = []
    for name, (frames, fillers) in mined.items():
        counts = Counter(fillers.loc[fillers["slot"] == VERB, "word"])
        verbs = [(number, lemma_of(frame[VERB])) for number, frame in enumerate(frames) if VERB in frame]
        rows += [(f"{name} {number}", lemma, float(np.log10(1 + counts[lemma]))) for number, lemma in verbs]
    return pd.DataFrame(rows, columns=[_FRAME, VERB, "together"])


def lemma_of(verb: str) -> str:
    """Return the lemma of a verb's first word; of a form of two verbs, such as "found", the more frequent one."""
    from lemminflect import getLemma  # slow to import
    from wordfreq import zipf_frequency

    return str(max(getLemma(verb.split(" ")[0].lower(), upos="VERB"), key=lambda lemma: zipf_frequency(lemma, "en")))


def frequency_by(items: pd.DataFrame, verbs: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return logistic regressions of right or wrong on frequency, for each group of pairs.

    There are two covariates, each in a regression of its own: "words", the difference in Zipf frequency between the
    words in which the two texts differ; and "verb", how often a corpus has the verb in the construction. The number
    of words by which the good text is longer is one more covariate where it varies. Pairs in which one text has all
    the words of the other, such as the same words in another order, are left out of "words".

    Pairs depend on one another if they share a frame, or one of the words that tell their texts apart: a model that
    likes a name likes it in all frames, and a coefficient for frequency must hold for other words too. In "verb" they
    do if they share a frame or a verb; names cross the verbs, so a preference for names changes the accuracy and not
    the slope, and no accuracy is given. The standard error is robust to both; where it comes out below that of frames
    alone, of words (or verbs) alone or of independent pairs, the larger counts. The t quantile has the degrees of
    freedom of the frames or of the words, whichever are fewer. In simulations of "words" with 12 to 200 frames, 20 to
    150 words, and likings for single words of any strength, the intervals hold the true coefficient in 89 to 99 % of
    the samples; with frames as the only clusters in 45 to 97 %.

    Args:
        items: Judged pairs: good, bad, accuracy, cluster_frame and the columns of ``by``.
        verbs: What `verbs_in_corpora` returns for the constructions that were mined.
        by: The columns that make the groups.

    Returns:
        One row a covariate and group, those of "verb" for groups with mined frames alone: covariate; the columns of
        ``by``; pairs, how many there are; n, frames and words, those of the pairs that have the covariate (words are
        those that tell the texts apart, or several together, as in "a different", or the verbs); slope, the change in
        the log odds of being right for each unit of the covariate, and, of "words", at_zero, the accuracy where it is 0
        and the texts are equally long, with 95 % intervals _low to _high; and absent, why these are NaN, or "". They
        are NaN if there are fewer than `FRAMES_NEEDED` frames, `WORDS_NEEDED` words or `VERBS_NEEDED` verbs that the
        corpus has, or if no finite coefficients fit.

    Source:
        Cameron, Gelbach & Miller 2011 and Aronow, Samii & Assenova 2015 for the standard error.
    """
    table = with_frequencies(items).merge(verbs, "left", _FRAME, validate="many_to_one")
    table["row"] = [f"row {number}" for number in range(len(table))]  # instead of a second verb: no two pairs share it
    rows = []
    for covariate, column, shared in (
        ("words", "zipf", ["good_words", "bad_words"]),
        ("verb", "together", [VERB, "row"]),
    ):
        for key, pairs in table.groupby([*by], sort=False):
            used = pairs[pairs[column].notna()]
            if covariate == "verb" and used.empty:  # the construction was not mined
                continue
            codes = pd.factorize(used[shared].to_numpy().ravel())[0].reshape(-1, 2)
            n_frames = used[_FRAME].nunique()
            n_words = used[VERB].nunique() if covariate == "verb" else len(np.unique(codes))
            attested = used.loc[used["together"] > 0, VERB].nunique()
            numbers, absent = [np.nan] * len(NUMBERS), ""
            if n_frames < FRAMES_NEEDED or n_words < WORDS_NEEDED:
                kind = "verbs" if covariate == "verb" else "words"
                absent = (
                    f"{n_frames} frames and {n_words} {kind} in {len(used)} pairs are too few; a regression needs "
                    f"{FRAMES_NEEDED} and {WORDS_NEEDED}"
                )
            elif covariate == "verb" and attested < VERBS_NEEDED:
                absent = (
                    f"the corpus has {attested} of the verbs in the construction; a regression needs {VERBS_NEEDED}"
                )
            else:
                fit = _regression(used, column, pd.factorize(used[_FRAME])[0], codes, min(n_frames, n_words))
                numbers, absent = (numbers, fit) if isinstance(fit, str) else (fit, "")
            if covariate == "verb":
                numbers = [*numbers[:3], np.nan, np.nan, np.nan]
            rows.append((covariate, *key, len(pairs), len(used), n_frames, n_words, *numbers, absent))
    return pd.DataFrame(rows, columns=["covariate", *by, "pairs", "n", "frames", "words", *NUMBERS, "absent"])


def _regression(
    pairs: pd.DataFrame, column: str, frames: NDArray[np.int64], words: NDArray[np.int64], fewest: int
) -> list[float] | str:
    """Return the `NUMBERS` of a group of n pairs, or why there are none.

    Args:
        pairs: accuracy, longer and the covariate.
        column: The name of the covariate.
        frames: See `_variances`.
        words: Likewise.
        fewest: How many frames or words there are, whichever are fewer.
    """
    from statsmodels.genmod.families import Binomial  # slow to import
    from statsmodels.genmod.generalized_linear_model import GLM

    right, longer = pairs["accuracy"].to_numpy(np.float64), pairs["longer"].to_numpy(np.float64)
    columns = [np.ones(len(pairs)), pairs[column].to_numpy(np.float64), *([longer] if np.ptp(longer) else [])]
    design = np.column_stack(columns)  # (n, 2 or 3)
    if np.ptp(right) == 0:
        return f"all pairs have the same credit, {right[0]:g}"
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return "the frequency is always the same, or changes only with the difference in length"
    if _separated(right, design):
        return "frequency, or length, decides without fail which pairs are right, so that no finite coefficients fit"
    fit = GLM(right, design, family=Binomial()).fit()
    influence = design * (right - fit.fittedvalues)[:, None] @ fit.cov_params()  # of pairs on coefficients, (n, 2 or 3)
    n, k = design.shape
    few = fewest / (fewest - 1) * (n - 1) / (n - k)  # the correction that statsmodels makes
    error = np.sqrt(np.maximum(np.diag(fit.cov_params()), few * _variances(influence, frames, words)))
    half = stdtrit(fewest - 1, (1 + LEVEL) / 2) * error
    (at_zero, slope), (half_at_zero, half_of_slope) = fit.params[:2], half[:2]
    rates = expit([at_zero, at_zero - half_at_zero, at_zero + half_at_zero])
    return [float(number) for number in (slope, slope - half_of_slope, slope + half_of_slope, *rates)]


def _separated(right: NDArray[np.float64], design: NDArray[np.float64]) -> bool:
    """Return whether some line through the covariates has no right pair below it, no wrong one above, and one off it.

    Then the likelihood has no maximum at finite coefficients.

    Args:
        right: Shape (n,), in [0, 1]; a tie counts as one right and one wrong pair.
        design: Shape (n, k), of full rank.

    Source:
        Konis 2007: a linear programme.
    """
    sides = np.unique(np.concatenate([design[right > 0], -design[right < 1]]), axis=0)
    programme = linprog(-sides.sum(axis=0), A_ub=-sides, b_ub=np.zeros(len(sides)), bounds=(-1, 1))
    return bool(programme.fun < -1e-4)  # far below what one step of a frequency makes


def _variances(
    influence: NDArray[np.float64], frames: NDArray[np.int64], words: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the variance of each coefficient with pairs that share a frame or a word, of both or one: the largest.

    Args:
        influence: Shape (n, k), of each pair on each coefficient.
        frames: Shape (n,), the frame of each pair.
        words: Shape (n, 2), the two that tell its texts apart.
    """

    def sharing(rows: NDArray[np.float64], *keys: NDArray[np.int64]) -> NDArray[np.float64]:
        squares: NDArray[np.float64] = (pd.DataFrame(rows).groupby([*keys]).sum() ** 2).sum().to_numpy(np.float64)
        return squares

    def sharing_words(*within: NDArray[np.int64]) -> NDArray[np.float64]:
        both = sharing(np.repeat(influence, 2, axis=0), *(np.repeat(codes, 2) for codes in within), words.ravel())
        # Two pairs that have both words in common were counted twice.
        return both - sharing(influence, *within, words.min(axis=1), words.max(axis=1))

    of_frames, of_words = sharing(influence, frames), sharing_words()
    return np.maximum(np.maximum(of_frames, of_words), of_frames + of_words - sharing_words(frames))
