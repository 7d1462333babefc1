"""Scenarios: both candidates' log-probabilities in every text of every construction, by one masked model."""

import re
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from cxprobe.files.tables import write_table
from cxprobe.models.masked import CandidateQuestions, MaskedLM, drop_items, load_masked_lm
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.ngrams import baseline_facts, places_of, words_of
from cxprobe.models.params import Member, Rule
from cxprobe.run.record import write_model_facts
from cxprobe.run.stage import Stage
from cxprobe.tagging import sentence_spans
from cxprobe.tasks.scenarios.params import ScenariosStage
from cxprobe.text import WORD_MASK

_ASKED = ["text", "first", "second"]
NONE_DROPPED = pd.DataFrame(columns=["word", "reason", "items", "construction"]).astype({"construction": str})


def fill_masks(
    model: MeasuredModel[MaskedLM], texts: Mapping[str, pd.DataFrame], token_budget: int
) -> tuple[pd.DataFrame, dict[str, float]] | None:
    """Ask a masked model about the texts of all constructions; every answer is kept in the model's store at once.

    Args:
        model: The model.
        texts: Construction -> the texts that the model can be asked: text, with one "[MASK]", and the two candidates,
            first and second. Batches are formed within a construction.
        token_budget: The most tokens in a batch.

    Returns:
        All texts with the columns construction, log_p_first and log_p_second, natural logarithms over the whole
        vocabulary; and the share of unknown tokens, with the result of the check of precision. None if this process
        writes no files.

    Raises:
        ModelError: See `MeasuredModel.check`.
        DataError: See `CandidateQuestions`; or a number is not finite.
    """
    every = pd.concat([table.assign(construction=name) for name, table in texts.items()], ignore_index=True)
    asked = every[["construction", *_ASKED]].drop_duplicates(ignore_index=True)
    checked = model.check(asked["text"].tolist())

    def ask() -> Iterator[CandidateQuestions]:
        for _, rows in asked.groupby("construction", sort=False):
            candidates = rows[["first", "second"]].to_numpy().tolist()
            yield CandidateQuestions(model.described, rows["text"].tolist(), candidates, token_budget)

    numbers = model.answer(ask, len(asked))
    if numbers is None:
        return None
    asked[["log_p_first", "log_p_second"]] = np.stack(numbers)  # (texts, 2)
    return every.merge(asked, on=["construction", *_ASKED], validate="many_to_one"), checked


CHOSEN = 0.75  # the pseudo-probability of a word that is chosen; without a choice both have 0.5
_POSSESSIVE = re.compile(r"[’']s$")


def baseline_scores(kind: str, texts: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of a baseline for texts with a mask, in the form of those of masked models.

    Args:
        kind: "fixed_word" (the alphabetically first candidate, whatever the text says); "last_rule" (the candidate that
            is named last before the mask, which is that of the last rule); or "copier" (the candidate that follows, in
            the rules, the word that the fact states).
        texts: One row a text: text, which contains "[MASK]" once, and the two candidates, first and second. No other
            column is read, so the answer cannot follow from which one is right.

    Returns:
        The texts with the columns log_p_first and log_p_second, natural logarithms of pseudo-probabilities: 0.75 for
        the candidate that is chosen and 0.25 for the other, or 0.5 for both where the rule prefers none (a text
        without the candidates, or with both alike).
    """
    rows = texts[_ASKED].to_numpy().tolist()
    margins = np.array([_margin(kind, text, (first, second)) for text, first, second in rows])  # (texts,)
    first = np.select([margins > 0, margins < 0], [CHOSEN, 1 - CHOSEN], 0.5)
    return texts.assign(log_p_first=np.log(first), log_p_second=np.log(1 - first))


def _margin(kind: str, text: str, candidates: tuple[str, str]) -> int:
    """Return a number above 0 if a rule chooses the first candidate, below 0 for the second, and 0 for none."""
    if kind == "fixed_word":
        first, second = map(str.lower, candidates)
        return int(first < second) - int(second < first)
    if kind == "last_rule":
        before = text.partition(WORD_MASK)[0]
        positions = [max(places_of(before, candidate), default=-1) for candidate in candidates]
        return positions[0] - positions[1]
    return _votes(text, candidates)


def _votes(text: str, candidates: tuple[str, str]) -> int:
    """Return the votes for the first candidate less those for the second one.

    Each word of the fact votes, wherever a rule has it, for the candidate that comes next there.

    The rules are the sentences that name a candidate. The fact is what the sentences say that name none and have no
    mask; where every sentence names one, it is the sentence with the mask.
    """
    every = [text[start:end] for start, end in sentence_spans(text)]
    unmasked = [sentence for sentence in every if WORD_MASK not in sentence]
    rules = [sentence for sentence in unmasked if any(places_of(sentence, candidate) for candidate in candidates)]
    facts = [sentence for sentence in unmasked if sentence not in rules] or every
    stated = {word for sentence in facts if sentence not in rules for word, _ in _words(sentence)}
    votes = 0
    for rule in rules:
        named = [(place, 1) for place in places_of(rule, candidates[0])]
        named = sorted(named + [(place, -1) for place in places_of(rule, candidates[1])])
        for _, position in (word for word in _words(rule) if word[0] in stated):
            votes += next((sign for place, sign in named if place > position), 0)
    return votes


def _words(sentence: str) -> list[tuple[str, int]]:
    """Return the words of a sentence in lower case and without a possessive ending, each with its position."""
    plain = sentence.replace(WORD_MASK, " " * len(WORD_MASK))
    return [(_POSSESSIVE.sub("", word.text).lower(), word.start) for word in words_of(plain)]


def measure(stage: Stage[ScenariosStage], member: Member) -> Mapping[str, float] | None:
    """Measure how probable a model finds each candidate word: ``scores.parquet``, ``dropped.parquet``, model.json."""
    made, folder = stage.params.scenarios.texts(stage.use), stage.data / member.inside
    if isinstance(member.spec, Rule):
        scores, dropped, counts = baseline_scores(member.spec.kind, made), NONE_DROPPED, dict[str, float]()
        facts = baseline_facts(member.spec.kind)
    else:
        model = MeasuredModel.of(stage, member.slug, member.spec, load_masked_lm)
        texts, words = {}, list[pd.DataFrame]()
        for name, of_construction in made.groupby("construction", sort=False):
            place = f"models.{member.slug}, {name}"
            texts[str(name)], unknown = drop_items(model.described, of_construction, place=place)
            words.append(unknown.assign(construction=name))
        dropped = pd.concat(words, ignore_index=True)
        filled = fill_masks(model, texts, stage.params.scenarios.score.token_budget)
        if filled is None:
            return None
        scores, counts = filled
        facts = model.facts
    write_table(scores, folder / "scores.parquet")
    write_table(dropped, folder / "dropped.parquet")
    write_model_facts(facts, folder)
    every, items = (int(table.groupby("construction")["item"].nunique().sum()) for table in (made, scores))
    counted = {"items": items, "dropped_items": every - items, "texts": len(scores)}
    return counted | {"distinct_texts": scores["text"].nunique()} | counts
