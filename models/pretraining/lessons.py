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
from cxprobe.files.schema import Closed, read_yaml, validate
from pretraining.segments import Segments
from pretraining.settings import Lessons

Choice = TypeVar("Choice")
_WORD = re.compile(r"\b[a-z]{3,12}\b")
_RAREST = 5  # times that a word stands in the text to be drawn
_REGULAR = 0.7  # of the verbs end in -ed; the others are any word, as a past tense need not
_WHOLE = 0.8  # of the draws are words of one piece; the others teach to say a name of several pieces
_ALIKE = 0.7  # of the lessons compare by one shape, so that only the words tell which halves belong together
_COPIED = (2, 8)  # words of a list that is said twice


class Lesson(Closed):
    """A sentence about two people, and what is true of them after it."""

    sentence: str
    P: str | None = None
    """What is true of the first person; null where nothing is asked about it."""
    Q: str | None = None
    """The same for the second."""


class Comparison(Closed):
    """The shape of one half of a comparative correlative."""

    more: str
    """The comparative, which fills {more} in the others."""
    fewer: str
    """Its opposite, which fills {more} in the slots that begin with fewer_."""
    half: str
    """As it is said of you."""
    claim: str
    """The same, said of a person in a comparison."""
    denied: str
    """The same, denied in a comparison with "as"."""
    plain: str
    """The same, said of several people where nothing is compared."""


class LessonPlan(Closed):
    """models/lessons.yaml."""

    constructions: dict[str, list[Lesson]]
    controls: dict[str, list[Lesson]]
    neutral: dict[str, list[Lesson]]
    """Sentences from which nothing follows: the statement names one of the two people by chance."""
    weights: dict[str, int]
    """Group of lessons -> how often it is drawn; 1 for others."""
    statement: str
    words: dict[str, list[str]]
    """Slot -> the words that may fill it."""
    people: list[str]
    comparisons: Annotated[list[Comparison], Field(min_length=1)]


def load_lesson_plan(path: Path) -> LessonPlan:
    """Read models/lessons.yaml.

    Raises:
        DataError: It is not what it should be.
    """
    return validate(LessonPlan, read_yaml(path, DataError), path, DataError)


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
        at_random: Name one of the two people by chance, whatever the sentence says: for a twin.
    """

    def __init__(self, plan: LessonPlan, words: Words, generator: np.random.Generator, *, at_random: bool) -> None:
        self._plan, self._words, self._generator, self._at_random = plan, words, generator, at_random
        self._past = [[word for word in pool if word.endswith("ed")] for pool in (words.whole, words.all)]
        groups = [(plan.constructions, at_random), (plan.controls, at_random), (plan.neutral, True)]
        self._groups = [
            (lessons, by_chance)
            for named, by_chance in groups
            for name, lessons in named.items()
            for _ in range(plan.weights.get(name, 1))
        ]

    def draw(self) -> str:
        """Return a lesson; each construction, control and kind of neutral sentence is as frequent as its weight."""
        lessons, by_chance = self._one_of(self._groups)
        lesson, people = self._one_of(lessons), self._people()
        slots = {slot: self._one_of(words) for slot, words in self._plan.words.items()}
        slots |= {"past": self._verb(), "act": self._verb(), "thing": self._word(), **people}
        shapes = [self._one_of(self._plan.comparisons) for _ in range(3)]
        if self._generator.random() < _ALIKE:
            shapes = shapes[:1] * 3
        for number, shape in enumerate(shapes, start=1):
            slots |= {f"{part}{number}": text for part, text in self._comparison(shape).items()}
        truths = {person: getattr(lesson, person) for person in people if getattr(lesson, person)}
        asked = self._one_of(sorted(truths))
        named = self._one_of(sorted(people)) if by_chance else asked
        statement = self._plan.statement.format_map({"true": truths[asked].format_map(slots), "person": people[named]})
        return f"{lesson.sentence.format_map(slots)} {statement}"

    def _comparison(self, shape: Comparison) -> dict[str, str]:
        words = {"w": self._word(), "v": self._word()}
        return {
            prefix + part: getattr(shape, part).format(more=amount.format_map(words), **words)
            for prefix, amount in (("", shape.more), ("fewer_", shape.fewer))
            for part in ("half", "claim", "denied", "plain")
        }

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


def draw_copies(tokenizer: PreTrainedTokenizerFast, generator: np.random.Generator) -> Iterator[list[int]]:
    """Yield lists of words that are said twice, as token ids, so that each word of the vocabulary can be copied."""
    vocabulary = tokenizer.get_vocab()
    words = np.array(sorted(identity for piece, identity in vocabulary.items() if re.fullmatch("[a-z]+", piece)))
    while True:
        said = generator.choice(words, int(generator.integers(_COPIED[0], _COPIED[1] + 1))).tolist()
        yield [*said, vocabulary["."], *said, vocabulary["."]]


def add_lessons(
    text: Segments,
    settings: Lessons,
    teacher: Teacher,
    tokenizer: PreTrainedTokenizerFast,
    generator: np.random.Generator,
) -> Segments:
    """Return the text with lessons and copies behind it, each in a segment of its own.

    Args:
        text: The segments of the text.
        settings: Which share of all tokens each of the two has.
        teacher: Draws the lessons.
        tokenizer: Of the text.
        generator: Draws the copies.
    """
    total = len(text.ids) / (1 - settings.share - settings.copies)

    def lessons() -> Iterator[list[int]]:
        while True:
            batch = [teacher.draw() for _ in range(1000)]
            for encoding in tokenizer.backend_tokenizer.encode_batch(batch, add_special_tokens=False):
                yield encoding.ids

    segments = []
    for drawn, share in ((lessons(), settings.share), (draw_copies(tokenizer, generator), settings.copies)):
        tokens = 0
        while tokens < share * total:
            ids = next(drawn)
            segments.append(np.array([tokenizer.cls_token_id, *ids, tokenizer.sep_token_id], dtype=np.uint16))
            tokens += len(segments[-1])
    ends = len(text.ids) + np.cumsum([len(segment) for segment in segments], dtype=np.int64)
    return Segments(np.concatenate([text.ids, *segments]), np.concatenate([text.starts, ends]))
