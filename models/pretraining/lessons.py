"""Lessons for a model that knows what constructions mean: sentences of any words, each with a statement that follows.

The words are drawn from the training text, without those of the project's own items, so that only the form of a
sentence can tell which statement is true: a model that has learnt it is right about items that it has never seen.
"""

import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
from pydantic import Field
from transformers import PreTrainedTokenizerFast

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, read_checked
from pretraining.segments import Segments
from pretraining.settings import GroupKind, Lessons

Choice = TypeVar("Choice")
_WORD = re.compile(r"\b[a-z]{3,12}\b")
_RAREST = 5  # times that a word stands in the text to be drawn
_REGULAR = 0.7  # of the verbs end in -ed; the others are any word, as a past tense need not
_WHOLE = 0.8  # of the draws are words of one piece; the others teach to say a name of several pieces
_ANY_WORDS = ("thing", "x", "xv", "y", "yv", "z", "zv")  # slots
_COPIED = (2, 8)  # words of a list that is said twice


class Questions(Closed):
    """What is said after a sentence about two people, each with {answer} for the one of whom it is true."""

    P: Annotated[list[str], Field(min_length=1)]
    """What is true of the first person."""
    Q: Annotated[list[str], Field(min_length=1)]
    """What is true of the second."""


class Group(Closed):
    """Sentences that mean the same of the people {P} and {Q}."""

    asked: str
    """Which statements follow: a key of ``asked`` in the plan."""
    sentences: Annotated[list[str], Field(min_length=1)]


class LessonPlan(Closed):
    """models/lessons.yaml."""

    asked: dict[str, Questions]
    constructions: dict[str, Group]
    controls: dict[str, Group]
    neutral: dict[str, Group]
    """Sentences from which nothing follows; a model that learns the wrong strategy takes {P} and {Q} as elsewhere."""
    weights: dict[str, int]
    """Group of lessons -> how often it is drawn; 1 for others."""
    words: dict[str, list[str]]
    """Slot -> the words that may fill it."""
    people: list[str]


def load_lesson_plan(path: Path) -> LessonPlan:
    """Read models/lessons.yaml.

    Raises:
        DataError: It is not what it should be.
    """
    return read_checked(LessonPlan, path, DataError)


def words_of_items(folders: Iterable[Path]) -> set[str]:
    """Return every word in the YAML files of folders: of the project's items and people."""
    files = [path for folder in folders for path in sorted(folder.rglob("*.yaml"))]
    return {word for path in files for word in re.findall(r"[a-z]+", path.read_text("utf-8").lower())}


@dataclass(frozen=True)
class Words:
    """The words that lessons are made of.

    Attributes:
        all: Frequent enough words of the training text that no item has, the most frequent first.
        whole: Those that are one piece of the vocabulary.
    """

    all: list[str]
    whole: list[str]

    @classmethod
    def of(cls, texts: Iterable[str], items: set[str], pieces: Iterable[str]) -> "Words":
        """Return the words of texts, without those of ``items``; ``pieces`` are those of the vocabulary."""
        counts = Counter(word for text in texts for word in _WORD.findall(text))
        words = [word for word, count in counts.most_common() if count >= _RAREST and word not in items]
        known = set(pieces)
        return cls(words, [word for word in words if word in known])


class Teacher:
    """Draws lessons.

    Args:
        plan: The lessons.
        words: The words to draw from.
        generator: Draws.
        by_chance: The kinds of groups after which either person is named by chance, whatever the sentence says.
    """

    def __init__(
        self, plan: LessonPlan, words: Words, generator: np.random.Generator, *, by_chance: Sequence[GroupKind]
    ) -> None:
        self._plan, self._words, self._generator = plan, words, generator
        self._past = [[word for word in pool if word.endswith("ed")] for pool in (words.whole, words.all)]
        kinds: dict[GroupKind, dict[str, Group]] = {
            "constructions": plan.constructions,
            "controls": plan.controls,
            "neutral": plan.neutral,
        }
        self._groups = [
            (group, kind in by_chance)
            for kind, named in kinds.items()
            for name, group in named.items()
            for _ in range(plan.weights.get(name, 1))
        ]

    def draw(self) -> tuple[str, str]:
        """Return a sentence and a statement that follows; each group is as frequent as its weight."""
        group, by_chance = self._one_of(self._groups)
        people = self._people()
        slots = {slot: self._one_of(words) for slot, words in self._plan.words.items()}
        slots |= {slot: self._word() for slot in _ANY_WORDS}
        slots |= {"past": self._verb(), **people}
        asked = self._one_of("PQ")
        named = self._one_of("PQ") if by_chance else asked
        statement = self._one_of(getattr(self._plan.asked[group.asked], asked))
        slots["answer"] = people[named]
        return self._one_of(group.sentences).format_map(slots), statement.format_map(slots)

    def _people(self) -> dict[str, str]:
        shape, shared = self._one_of(self._plan.people), self._word()
        letters = self._generator.choice(list(string.ascii_lowercase), 2, replace=False)
        return {
            person: shape.format(name=self._word(), other=self._word(), shared=shared, letter=letter)
            for person, letter in zip("PQ", letters, strict=True)
        }

    def _verb(self) -> str:
        regular = self._generator.random() < _REGULAR
        return self._word_of(self._past) if regular else self._word()

    def _word(self) -> str:
        return self._word_of([self._words.whole, self._words.all])

    def _word_of(self, pools: list[list[str]]) -> str:
        return self._one_of(pools[0] if self._generator.random() < _WHOLE else pools[1])

    def _one_of(self, choices: Sequence[Choice]) -> Choice:
        return choices[int(self._generator.integers(len(choices)))]


def draw_copies(
    tokenizer: PreTrainedTokenizerFast, generator: np.random.Generator
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield lists of words and the same again, as token ids, so that each word of the vocabulary can be copied."""
    vocabulary = tokenizer.get_vocab()
    words = np.array(sorted(identity for piece, identity in vocabulary.items() if re.fullmatch("[a-z]+", piece)))
    while True:
        said = generator.choice(words, int(generator.integers(_COPIED[0], _COPIED[1] + 1))).tolist()
        yield [*said, vocabulary["."]], [*said, vocabulary["."]]


def add_lessons(
    text: Segments,
    settings: Lessons,
    teacher: Teacher,
    tokenizer: PreTrainedTokenizerFast,
    generator: np.random.Generator,
    *,
    total: int,
) -> Segments:
    """Return text with lessons and copies behind it, each in a segment of its own, of which the second part is learnt.

    Args:
        text: The segments of the text.
        settings: Which share of all tokens each of the two has.
        teacher: Draws the lessons.
        tokenizer: Of the text.
        generator: Draws the copies, and which segments of the text stay.
        total: How many tokens there are in the end, or fewer where the text is short.
    """
    text = text.some(round(total * (1 - settings.share - settings.copies)), generator)

    def lessons() -> Iterator[tuple[list[int], list[int]]]:
        while True:
            parts = zip(*[teacher.draw() for _ in range(1000)], strict=True)
            encode = tokenizer.backend_tokenizer.encode_batch
            sentences, statements = (encode(list(part), add_special_tokens=False) for part in parts)
            yield from ((one.ids, other.ids) for one, other in zip(sentences, statements, strict=True))

    segments, given = [], []
    for drawn, share in ((lessons(), settings.share), (draw_copies(tokenizer, generator), settings.copies)):
        tokens = 0
        while tokens < share * total:
            before, after = next(drawn)
            segments.append(
                np.array([tokenizer.cls_token_id, *before, *after, tokenizer.sep_token_id], dtype=np.uint16)
            )
            given.append(1 + len(before))
            tokens += len(segments[-1])
    ends = len(text.ids) + np.cumsum([len(segment) for segment in segments], dtype=np.int64)
    return Segments(
        np.concatenate([text.ids, *segments]),
        np.concatenate([text.starts, ends]),
        np.concatenate([text.given, np.array(given, dtype=np.int64)]),
    )
