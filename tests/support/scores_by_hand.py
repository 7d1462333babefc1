"""The scores of one text, and of the part of it that follows a context, by their definitions: an oracle."""

import numpy as np

from cxprobe.models.texts import TokenScores


def total(scores: TokenScores) -> float:
    return float(np.sum(scores.log_probs[~np.isnan(scores.log_probs)]))


def per_token(scores: TokenScores) -> float:
    return total(scores) / int((~np.isnan(scores.log_probs)).sum())


def per_character(scores: TokenScores) -> float:
    """Count each character of a scored token once, however many tokens have it, and no space."""
    spans = scores.spans[~np.isnan(scores.log_probs)]
    covered = {place for start, stop in spans for place in range(start, stop) if not scores.text[place].isspace()}
    return total(scores) / len(covered)


def given_context(context: str, end: str, texts: dict[str, TokenScores]) -> float:
    """Sum over the tokens whose last character is in what follows the context and its space."""
    whole = texts[context + end]
    inside = whole.spans[:, 1] > len(whole.text) - len(end.lstrip())
    return float(np.sum(whole.log_probs[inside]))


def pmi(context: str, end: str, texts: dict[str, TokenScores], elsewhere: str = "") -> float:
    alone = given_context(elsewhere, end if elsewhere else end.lstrip(), texts)
    return given_context(context, end, texts) - alone
