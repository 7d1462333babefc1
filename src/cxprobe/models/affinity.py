"""Affinities of the words of a sentence: how much a word follows from all others, and from each (Rozner et al. 2025).

Nothing is asked, so that any language model can be measured. A masked model hides words behind masks. A causal one has
no masks: there a word is hidden by summing over substitutes for it, weighted by how probable the model finds them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.special import logsumexp, rel_entr, softmax

from cxprobe.models.causal import CausalLM
from cxprobe.models.masked import MaskedLM, logits_at_masks
from cxprobe.models.texts import Encoded, check_length, encode, encode_inputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Affinity:
    """How much each word of a sentence follows from the others.

    Attributes:
        of_words: The global affinity of each word or punctuation mark: its probability given all others, in [0, 1].
        between: The local affinities: one row a hidden word, one column a word whose distribution that changes; the
            Jensen-Shannon divergence in nats, in [0, ln 2], or NaN where there is none.
    """

    of_words: "pd.Series[float]"
    between: pd.DataFrame

    def heat_map(self) -> "Figure":
        """Draw the local affinities, a row for each hidden word; beside each word is its global affinity."""
        from matplotlib.figure import Figure  # here, since most programs draw nothing

        number = len(self.between)
        figure = Figure((3 + 0.4 * number, 2 + 0.4 * number), layout="constrained")
        axes = figure.add_subplot(xlabel="word whose distribution changes", ylabel="hidden word (global affinity)")
        axes.set_xticks(range(number), self.between.columns, rotation=90, parse_math=False)
        hidden = [f"{word} ({value:.2f})" for word, value in self.of_words.items()]
        axes.set_yticks(range(number), hidden, parse_math=False)
        image = axes.imshow(self.between.to_numpy(), vmin=0, vmax=log(2))
        figure.colorbar(image, label="local affinity (nats)")
        return figure


def masked_affinity(model: MaskedLM, text: str) -> Affinity:
    """Return the affinity that a masked model shows; words of several tokens are hidden, and have none themselves.

    Raises:
        DataError: The text has no token, or more than the model takes.
    """
    [encoded] = encode_inputs(model, [text])
    result, tokens = _start(encoded)
    for measured, (at, *others) in enumerate(tokens):
        if others:
            continue
        copies = np.repeat(encoded.ids[None], len(tokens), axis=0)
        for copy, hidden in zip(copies, tokens, strict=True):
            copy[encoded.first + np.array([at, *hidden])] = model.tokenizer.mask_token_id
        measured_at = torch.full((len(tokens),), encoded.first + at)
        logits = logits_at_masks(model, torch.from_numpy(copies).long(), measured_at)
        found = softmax(logits.double().cpu().numpy(), axis=-1)  # (hidden, vocabulary)
        result.of_words.iloc[measured] = found[measured, encoded.text_ids[at]]
        result.between.iloc[:, measured] = [_divergence(found[measured], one) for one in found]
        result.between.iloc[measured, measured] = np.nan
    return result


def causal_affinity(model: CausalLM, text: str, substitutes: int) -> Affinity:
    """Return the affinity that a causal model shows.

    A word is hidden by substitutes: the tokens that the model finds the most probable there, and the word itself. Its
    probability given all others is that of the text divided by that of all texts with substitutes. The distribution
    of a later word (of its first token) is the mean over these texts, weighted by how probable each is up to there; of
    an earlier word there is none. With all tokens of the vocabulary as substitutes this is exact.

    Args:
        model: The model.
        text: The text.
        substitutes: How many there are for each word.

    Raises:
        DataError: The text has no token, or more than the model takes.
    """
    [encoded] = encode(model.tokenizer, [text], special_tokens=False)
    before = len(model.ids_before)
    ids = [*model.ids_before, *encoded.text_ids.tolist()]
    check_length(text, len(ids), model.max_tokens)
    result, tokens = _start(encoded)
    [own] = _next_tokens(model, [ids])  # (length, vocabulary)
    for hidden, inside in enumerate(tokens):
        first, after = before + inside[0], before + inside[-1] + 1
        if first == 0:  # nothing stands before it, so that nothing says what could
            continue
        likely = [token for token in np.argsort(-own[first - 1], kind="stable") if [token] != ids[first:after]]
        others, behind = likely[:substitutes], np.array(ids[after:], dtype=np.int64)
        tables = _next_tokens(model, [[*ids[:first], other, *behind] for other in others])
        # How probable each text is from the hidden word on, by the number of tokens behind it: (texts, 1 + behind).
        steps = np.column_stack([own[first - 1, others], tables[:, first + np.arange(len(behind)), behind]])
        known = own[np.arange(first, len(ids)) - 1, ids[first:]].cumsum(dtype=np.float64)[after - first - 1 :]
        weights = np.vstack([known, steps.cumsum(axis=1, dtype=np.float64)])
        result.of_words.iloc[hidden] = np.exp(known[-1] - logsumexp(weights[:, -1]))
        for measured in range(hidden + 1, len(tokens)):
            distance = before + tokens[measured][0] - after
            nexts = np.exp([own[after + distance - 1], *tables[:, first + distance]])
            mean = softmax(weights[:, distance]) @ nexts
            result.between.iloc[hidden, measured] = _divergence(nexts[0], mean)
    return result


def _divergence(first: Array, second: Array) -> float:
    """Return the Jensen-Shannon divergence of two distributions in nats."""
    mean = (first + second) / 2
    return float(rel_entr(first, mean).sum() + rel_entr(second, mean).sum()) / 2


def _next_tokens(model: CausalLM, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return the log probabilities of the token after each position, (rows, length, vocabulary)."""
    ids = torch.tensor(rows, device=model.model.device)
    batches = torch.split(ids, len(ids) if model.batched else 1)
    with torch.inference_mode():
        logits = torch.cat([model.model.eval()(input_ids=some).logits for some in batches])
    found: NDArray[np.float32] = logits.float().log_softmax(dim=-1).cpu().numpy()
    return found


def _start(encoded: Encoded) -> tuple[Affinity, list[list[int]]]:
    """Return the affinity of a text before anything is known, and the tokens of each of its words."""
    tokens = [np.flatnonzero(encoded.words == word).tolist() for word in np.unique(encoded.words)]
    words = pd.Index([encoded.text[encoded.spans[of[0], 0] : encoded.spans[of[-1], 1]].strip() for of in tokens])
    return Affinity(pd.Series(np.nan, words), pd.DataFrame(np.nan, words, words)), tokens
