"""The scores of the tokens of texts, by a masked or a causal model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cxprobe.models.causal import CausalLM, load_causal_lm
from cxprobe.models.checkpoints import Source
from cxprobe.models.loading import kind_of, open_source
from cxprobe.models.masked import MaskedLM, load_masked_lm
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.params import ModelSpec
from cxprobe.models.store import OnProgress, answer
from cxprobe.models.texts import ScoringConfig, Texts, TokenScores, write_token_scores


def load_language_model(
    slug: str, spec: ModelSpec, device: str = "cpu", source: Source | None = None
) -> MaskedLM | CausalLM:
    """Load a model that fills masks, or one that reads from left to right; its configuration decides which it is.

    Code of a checkpoint is never run.

    Arguments are those of `cxprobe.models.embedding.load_encoder`.

    Raises:
        ModelError: As for `cxprobe.models.embedding.load_encoder` and `load_masked_lm`; or it is no language model.
    """
    source = source or open_source(slug, spec)
    if kind_of(source.config) == "masked":
        return load_masked_lm(slug, spec, device, source)
    return load_causal_lm(source, device)


def measure_texts(
    model: MeasuredModel[MaskedLM | CausalLM], portions: Sequence[Texts], how: ScoringConfig, folder: Path
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
        The number of distinct texts, the number of scores that their tokens have, and the share of tokens that the
        model does not know. None if this process writes no files.

    Raises:
        ModelError: See `MeasuredModel.check`.
        DataError: Before anything of a portion is computed: a text cannot be scored, see
            `cxprobe.models.masked.PllQuestions` and `cxprobe.models.causal.CausalQuestions`. Afterwards: a number is
            not finite.
    """
    described = model.described
    checked = model.check([text for texts in portions for text in texts])
    schemes = len(how.schemes) if isinstance(described, MaskedLM) else 1
    tokens = model.answer(lambda: described.questions(portions, how), schemes * sum(map(len, portions)))
    if tokens is None:
        return None
    write_token_scores(tokens, model.facts, folder)
    scored = sum(int(np.isfinite(scores.log_probs).sum()) for scores in tokens)
    return {"texts": len({scores.text for scores in tokens}), "token_scores": scored, **checked}


def score_texts(
    model: MaskedLM | CausalLM, portions: Sequence[Texts], how: ScoringConfig, *, progress: OnProgress | None = None
) -> list[TokenScores]:
    """Return the scores of texts' tokens, as `measure_texts` writes them, by a loaded model in this process.

    Args:
        model: The model.
        portions: See `measure_texts`.
        how: How the model is asked.
        progress: Is called with the number of texts that have been finished; each counts once a scheme.
    """
    return answer(lambda: model.questions(portions, how), lambda: model, progress=progress)
