"""Items of prompts: inferences and multiple-choice items, our own and those of the CxNLI release.

A file of inferences in the shape of the release has three rows an item, one of multiple choice a row an item.

Source:
    Scivetti et al. 2025; github.com/melissatorgbi/beyond-memorization, folder data/; of multiple choice (experiment 3),
    commit b1ddce8b42e8, folder data/QA_constructional_reasoning.
"""

import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import pandas as pd
from pydantic import Field, StringConstraints, model_validator

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import ConstructionError, DataError, raise_faults
from cxprobe.files.reading import check_separator, kind_of, read_text
from cxprobe.files.schema import Closed, distinct, read_checked, suggest
from cxprobe.seeding import generator_for
from cxprobe.tasks.prompts.params import CONTROL, RELATION_OF, RELATIONS, Kind, Relation
from cxprobe.text import Filler, SlotName, Template, Words, filler_words, render


class Item(NamedTuple):
    """An inference or a multiple-choice item; its fields are columns of items.parquet.

    An inference asks how a hypothesis is related to a premise. In multiple choice A and B are opposing readings, and C
    is that nothing can be told; the letters are those of this order, the paper's, and a question may show the options
    in another.

    Attributes:
        id: Names the item by what it asks, so that it is the same in every run: by set, premise and hypothesis, or by
            test and frame.
        set: "templatic", "challenge" (the same surface, another construction) or "reasoning" for the project's own
            items, with "-control" if they are those of a control; for a file from elsewhere, what params.yaml calls it.
        construction: The construction that the item asks about.
        kind: "inference" or "reasoning".
        test: One of the tests that are built from a frame; "" for an inference.
        template: The name of the template that the hypothesis was made from, or "" if there is none.
        reading: What kind of premise it is, such as "asserted" or "denied", or "" if that is not known.
        answerable: Whether the text decides between A and B; if not, C is right. True for an inference.
        gold: The right answer: the place of the relation in `RELATIONS` as a digit, or "A", "B" or "C".
        cluster_premise: The name of the premise or of the frame; items with one are a cluster.
        cluster_wording: The construction and the template of an inference, or the item itself.
        premise: A sentence, most often with the construction; "" in multiple choice, as is the hypothesis.
        hypothesis: What may follow from it.
        text: What is known; "" for an inference, as are the question, the options and the facts.
        question: What is asked about it.
        a: The first option.
        b: The second option.
        facts: The text without the construction, and with the question; "" if that is not known.
    """

    id: str
    set: str
    construction: str
    kind: Kind
    test: str
    template: str
    reading: str
    answerable: bool
    gold: str
    cluster_premise: str
    cluster_wording: str
    premise: str = ""
    hypothesis: str = ""
    text: str = ""
    question: str = ""
    a: str = ""
    b: str = ""
    facts: str = ""


def inference(
    premise: str, hypothesis: str, relation: Relation, construction: str, of: str, template: str = "", reading: str = ""
) -> Item:
    """Return the item about a premise and a hypothesis that are related so; ``of`` is the name of its set."""
    premise_id = f"{construction}-{_digest(premise)}"
    id_ = f"{of}-{premise_id}-{_digest(hypothesis)}"
    about = ("", template, reading, True, str(RELATIONS.index(relation)))
    wording = f"{construction} {template}" if template else id_
    return Item(id_, of, construction, "inference", *about, premise_id, wording, premise, hypothesis)


def multiple_choice(frame: str, test: str, construction: str, of: str, gold: str, *texts: str) -> Item:
    """Return the item that a test makes of a frame; ``texts`` are text, question, a, b and, if known, facts."""
    id_ = f"{test}-{frame}"
    return Item(id_, of, construction, "reasoning", test, "", "", gold != "C", gold, frame, id_, "", "", *texts)


ItemKey = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$")]
TESTS_OF_REASONING = {
    "base": "rule, then facts",
    "recency": "facts, then rule; the answer stays",
    "vocabulary": "the parts of the rule exchanged; the other answer",
    "name": "the two exchanged; the answer follows",
    "short": "no rule; nothing follows",
    "other-names": "about two others; nothing follows",
    "other-property": "the facts are about something else; nothing follows",
    "nonce": "the facts have a made-up word; nothing follows",
}
"""Test of a reasoning frame -> what is changed in it."""
Pronoun = Literal["I", "you", "he", "she", "it", "we", "they"]


class TemplatedSentence(Closed):
    """A sentence with what fills its slots, and those of the hypotheses about it."""

    text: Template
    """The sentence, as a template: "{SBJ} {V} {OBJ} {AP}.\""""
    slots: dict[SlotName, Filler] = Field(default_factory=dict)
    """Slot -> the words that fill it, here and in hypotheses: {SBJ: {she: Maria}, V: wiped, OBJ: {it: the counter},
    AP: clean}. A note says what the words do not: the pronoun of a noun phrase, or the lemma of a verb."""

    def sentence(self) -> str:
        """Return the sentence with its slots filled."""
        return render(self.text, self.slots)


class Premise(TemplatedSentence):
    """A sentence about which the hypotheses are asked that its reading or itself has a relation to."""

    reading: ItemKey
    """Which of the readings it has."""
    gold: dict[ItemKey, Relation] = Field(default_factory=dict)
    """Hypothesis -> its relation to this premise, where the reading has another or none; absent for none."""


class Challenge(TemplatedSentence):
    """A sentence with the surface of the construction, but with another construction."""

    reading: ClassVar[str] = ""
    gold: Annotated[dict[ItemKey, Relation], Field(min_length=1)]
    """Hypothesis -> how it is related to this premise, as a person judged it; what is not here is not asked."""


class InferenceItems(Closed):
    """Premises and the hypotheses that are asked about each of them."""

    slots: dict[SlotName, str]
    """Slot -> what fills it."""
    hypotheses: Annotated[dict[ItemKey, Template], Field(min_length=1)]
    """The templates: {SLOT} for the words of a slot, {SLOT:form} for another form of them."""
    readings: Annotated[dict[ItemKey, dict[ItemKey, Relation]], Field(min_length=1)]
    """Kinds of premises, such as "asserted" and "denied" -> how hypotheses are related to premises of this kind; what
    is not here is asked only about a premise whose ``gold`` has it. The first is that of the asserted construction."""
    premises: Annotated[list[Premise], Field(min_length=1)]
    """Sentences with the construction, or with its rivals."""
    challenge: list[Challenge] = Field(default_factory=list)
    """Sentences that only look like it; absent for a construction that has no such rival."""

    @property
    def all_premises(self) -> dict[tuple[str, int], Premise | Challenge]:
        """All premises by their places: ("premises", 0) and so on, then ("challenge", 0) and so on."""
        parts: dict[str, Sequence[Premise | Challenge]] = {"premises": self.premises, "challenge": self.challenge}
        return {(part, number): premise for part, of in parts.items() for number, premise in enumerate(of)}

    @model_validator(mode="after")
    def _can_be_rendered(self) -> "InferenceItems":
        faults, named = list[str](), list[tuple[str, Collection[str], Collection[str]]]()
        # A place, what it names, and what there is.
        named += [(f"readings.{reading}", golds, self.hypotheses) for reading, golds in self.readings.items()]
        for (part, number), premise in self.all_premises.items():
            path = f"{part}[{number}]"
            named.append((f"{path}.gold", premise.gold, self.hypotheses))
            named.append((f"{path}.reading", [premise.reading] * bool(premise.reading), self.readings))
            asked = [name for name in self.golds(premise) if name in self.hypotheses]
            texts = {path: premise.text} | {f"{path}, {name}": self.hypotheses[name] for name in asked}
            for place, text in texts.items():
                try:
                    render(text, premise.slots)
                except ValueError as fault:
                    faults.append(f"{place}: {fault}")
        for place, names, known in named:
            faults += (f"{place}: '{name}' is unknown{suggest(name, known)}" for name in names if name not in known)
        raise_faults(ValueError, faults)
        return self

    def hypothesis(self, name: str, premise: TemplatedSentence) -> str:
        """Return a template's sentence about a premise."""
        return render(self.hypotheses[name], premise.slots)

    def golds(self, premise: Premise | Challenge) -> dict[str, Relation]:
        """Return the relation of each hypothesis to a premise."""
        return self.readings.get(premise.reading, {}) | premise.gold


class ReasoningFrame(Closed):
    """A small story of which the tests are variants. Its referents are {R1} to {R4}; {R1:their} gives a form.

    The tests are made from ``rule`` (what the construction says) and ``facts``; asked is ``question``, and the options
    are R1 and R2. The rule as it is makes R1 the answer.
    """

    referents: Annotated[list[dict[Pronoun, Words]], Field(min_length=4, max_length=4)]
    """Four that the story can be about, each as {pronoun: words}."""
    rule: Template
    """The sentence with the construction."""
    facts: Template
    """What, together with the rule, decides between R1 and R2, and does not without it."""
    question: Template
    """What is asked, with both options named, since facts may be about others: "of {R1} and {R2}, who ...?\""""
    other_facts: Template
    """Facts about another property, with which the rule decides nothing."""
    nonce_facts: Template
    """Facts with a made-up word that stands for nothing in the rule or the question, so that nothing can be guessed."""
    swapped: Template | None = None
    """The rule with its parts exchanged, so that R2 is the answer; absent if the construction cannot say the
    opposite."""
    beside: Template | None = None
    """What the rule, and ``swapped``, say beside the construction, as a sentence; absent if they say nothing else."""

    @model_validator(mode="after")
    def _can_be_rendered(self) -> "ReasoningFrame":
        words = [word for referent in self.referents for word in referent.values()]
        if any(len(referent) != 1 for referent in self.referents) or len(set(words)) != 4:
            raise ValueError("referents must be four different ones, each as {pronoun: words}")
        list(self.variants())
        return self

    def variants(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield each test's name, its text, its question and the answer, "R1", "R2" or "" where nothing follows."""
        rule, facts, question = self.rule, self.facts, self.words(self.question)
        yield "base", self.words(rule, facts), question, "R1"
        yield "recency", self.words(facts, rule), question, "R1"
        if self.swapped is not None:
            yield "vocabulary", self.words(self.swapped, facts), question, "R2"
        yield "name", self.words(rule, facts, order=(1, 0, 2, 3)), question, "R2"
        yield "short", self.words(facts), question, ""
        # The options are named too, with the facts that decide nothing: else their absence tells the answer.
        others = f"{self.words(rule, facts, order=(2, 3, 0, 1))} {self.words(self.other_facts)}"
        yield "other-names", others, question, ""
        yield "other-property", self.words(rule, self.other_facts), question, ""
        yield "nonce", self.words(rule, self.nonce_facts), question, ""

    def without_construction(self) -> "ReasoningFrame":
        """Return the frame with rules that say only what stands beside the construction."""
        beside = self.beside or ""
        return self.model_copy(update={"rule": beside, "swapped": None if self.swapped is None else beside})

    def option(self, number: int) -> str:
        """Return the words of a referent, from 0."""
        return filler_words(self.referents[number])

    def words(self, *parts: str, order: Sequence[int] = (0, 1, 2, 3)) -> str:
        """Return the parts as a text in which R1 to R4 are the referents in this order."""
        referents = {f"R{number}": self.referents[index] for number, index in enumerate(order, 1)}
        return " ".join(render(part, referents) for part in parts if part)


class ConstructionItems(Closed):
    """All that models are asked about a construction."""

    sources: Annotated[list[str], Field(min_length=1)]
    """Where the design comes from, and who wrote the sentences."""
    control: bool = False
    """Whether this is a control of the format: what is asked stands in plain words, and no construction is needed."""
    inference: InferenceItems | None = None
    """Premises and hypotheses; absent for a construction that has none."""
    reasoning: list[ReasoningFrame] = Field(default_factory=list)
    """Frames of the reasoning tests; absent for a construction that has none."""

    @model_validator(mode="after")
    def _something_to_ask(self) -> "ConstructionItems":
        if self.inference is None and not self.reasoning:
            raise ValueError("inference and reasoning are both absent, so there is nothing to ask; give one of them")
        distinct([frame.rule for frame in self.reasoning])
        return self


def load_items(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> ConstructionItems:
    """Read and check ``constructions/<name>/items.yaml``; all its sentences are rendered once.

    Raises:
        ConstructionError: One line for every place of the file that has faults.
    """
    path = constructions / name / "items.yaml"
    return read_checked(ConstructionItems, path, ConstructionError)


def render_inferences(items: ConstructionItems, construction: str) -> list[Item]:
    """Return every premise with every hypothesis that is asked about it.

    Source:
        Scivetti et al. 2025, experiments 1 (templatic) and 2 (challenge). There a hypothesis has the same relation to
        every premise; here it depends on the reading of the premise.
    """
    rendered, asked = list[Item](), items.inference
    if asked is None:
        return rendered
    for (part, _), premise in asked.all_premises.items():
        of = ("challenge" if part == "challenge" else "templatic") + CONTROL * items.control
        for name, gold in asked.golds(premise).items():
            sentences = premise.sentence(), asked.hypothesis(name, premise)
            rendered.append(inference(*sentences, gold, construction, of, name, premise.reading))
    return rendered


def render_reasonings(items: ConstructionItems, construction: str, *, seed: int) -> list[Item]:
    """Return the tests of every frame, A and B in an order that is counterbalanced.

    The tests, after the rule and the facts: "base"; "recency" (facts first, same answer); "vocabulary" (the parts of
    the rule exchanged, opposite answer); "name" (referents exchanged, the answer follows); and four in which
    nothing follows, so that C is right: "short" (facts alone), "other-names" (the facts are about others, and
    the other facts about the two),
    "other-property" (they are about something else) and "nonce" (they have a made-up word). In the last three the rule
    stays whole.

    The frames come in an order that is drawn. In each test A and B take turns at being right from one frame to the
    next, and so do they from one test to the next, so that of any number of frames from the first on, A is right in
    half of the items of each test and of all tests, exactly or within one. Where C is right, the two options take
    turns in the same way at standing first.

    Args:
        items: The construction's items.
        construction: Its name.
        seed: The project's seed; it decides the order of the frames.

    Source:
        Scivetti et al. 2025, experiment 3, after Weissweiler et al. 2022, §4.
    """
    tests = list(TESTS_OF_REASONING)
    order = generator_for(seed, "options", construction).permutation(len(items.reasoning))
    frames = sorted(items.reasoning, key=lambda frame: _digest(frame.rule))
    rendered, of = [], "reasoning" + CONTROL * items.control
    for turn, index in enumerate(order):
        frame, frame_id = frames[index], f"{construction}-{_digest(frames[index].rule)}"
        baseline = frame.without_construction().variants()
        for (test, text, question, answer), (_, facts, *_) in zip(frame.variants(), baseline, strict=True):
            a_first = (turn + tests.index(test)) % 2 == 0  # whether A is right or, where nothing follows, R1
            a, b = frame.option(0), frame.option(1)
            if a_first == (answer == "R2"):
                a, b = b, a
            gold = ("A" if a_first else "B") if answer else "C"
            texts = text, question, a, b, f"{facts} {question}"
            rendered.append(multiple_choice(frame_id, test, construction, of, gold, *texts))
    return rendered


TEST_NAMES: Mapping[str, str] = {
    "Base": "base",
    "Recency Bias": "recency",
    "Recency": "recency",
    "Vocabulary Bias": "vocabulary",
    "Name Bias": "name",
    "Short Calibration": "short",
    "Name Calibration": "other-names",
    "Adjective Calibration": "other-property",
    "Nonce Calibration": "nonce",
}
"""Name of a test in the release -> ours."""
_INFERENCE = ("CxN Type", "P/H/R", "Annotation Targets")
_REASONING = ("Ex Num", "Type", "Text", "Option A", "Option B", "Option C", "Target")
_RELATIONS = {**RELATION_OF, **{f"{digit} ({relation})": relation for digit, relation in RELATION_OF.items()}}
_NOTHING = "not enough info"
# The end of a sentence, unless it is that of a title or of an initial.
_END = re.compile(r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\b[A-Z]\.)(?<=[.!?])[\"'”’)]*\s+")


def read_inference_file(path: Path, of: str) -> list[Item]:
    """Read a .tsv or .csv file of inferences in the shape of the CxNLI release.

    An item is a row for its premise, one for its hypothesis and one for its relation. The first row of an item may name
    its construction, else it is that of the item before.

    Args:
        path: The file; fields are separated by tabs if it ends in .tsv, by commas otherwise.
        of: The name of the set of these items.

    Raises:
        DataError: The file cannot be read, rows do not belong to an item, or a relation is unknown.
    """
    rows, items, construction = _rows(path, _INFERENCE), list[Item](), ""
    for start in range(0, len(rows), 3):
        (line, name), *_ = ((line, cells[0]) for line, cells in rows[start : start + 3])
        labels, texts = ([cells[column] for _, cells in rows[start : start + 3]] for column in (1, 2))
        construction = name.removesuffix("-CxN") or construction
        # The first letters: a heading of the release is cut short.
        if [label[:1].lower() for label in labels] != ["p", "h", "r"] or not all((*texts, construction)):
            raise DataError(
                f"{path}, line {line}: expected a construction, and rows premise, hypothesis, relation; found "
                f"'{construction}', and {', '.join(labels)}"
            )
        premise, hypothesis, relation = texts
        if relation not in _RELATIONS:
            raise DataError(f"{path}, line {line}: relation '{relation}' is unknown{suggest(relation, _RELATIONS)}")
        items.append(inference(premise, hypothesis, _RELATIONS[relation], construction, of))
    return items


def read_reasoning_file(path: Path, of: str, construction: str) -> list[Item]:
    """Read a .tsv or .csv file of multiple choice in the shape of the CxNLI release.

    A row is an item: a text that ends in a question, the options and the letter of the right one. The rows with the
    same number are the tests of one frame; where a number has a test twice, the second is of another frame. The last
    sentence of the text is the question. The third option must say that there is not enough information; it is shown in
    the words of the project's prompts.

    Args:
        path: The file; fields are separated by tabs if it ends in .tsv, by commas otherwise.
        of: The name of the set of these items.
        construction: What the file is about; it does not say so itself.

    Raises:
        DataError: The file cannot be read, a cell is empty, or a test, an option C or a target is unknown.
    """
    items, times = list[Item](), Counter[tuple[str, str]]()
    for line, cells in _rows(path, _REASONING):
        for column, cell in zip(_REASONING, cells, strict=True):
            allowed = {"Type": [*TEST_NAMES], "Target": [*"ABC"]}.get(column, [cell or "a text"])
            if cell not in allowed:
                raise DataError(f"{path}, line {line}: {column} is '{cell}' (allowed: {', '.join(allowed)})")
        number, test, text, a, b, c, target = cells
        if not c.lower().startswith(_NOTHING):
            raise DataError(f"{path}, line {line}: option C '{c}' does not say that there is {_NOTHING}rmation")
        begins = max((end.end() for end in _END.finditer(text)), default=0)
        question = text[begins:]
        if question.endswith("?."):
            question = question.removesuffix(".")
        frame, test = f"{of}-{construction}-{number.removesuffix('.0')}", TEST_NAMES[test]
        times[frame, test] += 1
        if times[frame, test] > 1:
            frame += f"-{times[frame, test]}"
        texts = text[:begins].rstrip(), question, a, b
        items.append(multiple_choice(frame, test, construction, of, target, *texts))
    return items


def _rows(path: Path, columns: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Return the line of each row that is not empty, and its cells in the order of the columns.

    A name in the file may go on after that of the column. Further columns are not read.
    """
    text, separator = read_text(path, DataError), "\t" if kind_of(path) == "tsv" else ","
    check_separator(text, separator, DataError, path)
    how: Any = {"header": None, "dtype": str, "keep_default_na": False, "skip_blank_lines": False}
    try:
        table = pd.read_csv(io.StringIO(text), sep=separator, **how).fillna("").apply(lambda cells: cells.str.strip())
    except ValueError as fault:
        raise DataError(f"{path}: {fault}") from fault
    places = list[int]()
    for column in columns:
        named = [place for place, name in table.iloc[0].items() if f"{name} ".lower().startswith(f"{column} ".lower())]
        if len(named) != 1:
            raise DataError(f"{path}, line 1: the column {column} is not there once; write it once into the first line")
        places += named
    rows = table[places].to_numpy().tolist()
    return [(line, cells) for line, cells in enumerate(rows[1:], start=2) if any(cells)]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]
