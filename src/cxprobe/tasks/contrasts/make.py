"""Contrasts made: ``constructions/<name>/contrasts.yaml``, read, checked, and turned into pairs.

A contrast is the sum of the margins of several pairs, so that a preference for a name, for the person who is named
first or for the usual answer to a question has both signs and cancels. What is left depends on the context and the
question together: the meaning that the context gives. Each frame is put into several conditions, which share the
questions.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os.path import commonprefix
from pathlib import Path
from string import ascii_lowercase
from typing import Annotated, Literal, NamedTuple, TypeAlias
from unicodedata import category

import numpy as np
from pydantic import Field

from cxprobe.constructions.checking import Fault, with_lines
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, PEOPLE_FILE, People, Row, load_people
from cxprobe.errors import ConstructionError, raise_faults
from cxprobe.files.schema import Closed, Slug, Two, read_checked, suggest
from cxprobe.files.tables import write_table
from cxprobe.models.texts import Pair, pair_table
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.tasks.contrasts.params import ContrastsStage, MakeContrasts
from cxprobe.text import SlotName, Template, faults_of_text, render, slots_of

CONTRASTS_FILE = "contrasts.yaml"
ANSWER = "answer"
"""The slot of a question that its answers fill."""
PEOPLE = ("N1", "N2")
"""The slots of the two people: given names that are borne by one gender."""
SHUFFLED = "shuffled"
"""The condition that no file declares: the words of the construction's contexts in random order."""
FUNCTION_WORDS = {"a", "an", "the", "some", "it", "them", "his", "her", "its", "their"}
"""Fillers that are no cluster: frames that share an article share no meaning."""
WORDINGS_OF_FRAME = 2
"""In how many wordings a frame is asked, where there are more."""
_NO_MARKS = str.maketrans("", "", ".,")
NAMES = ("female-name", "male-name")
"""The noun types of lexicon/people.yaml that have the given names; frames take turns with them."""


class Question(Closed):
    """What follows a context, with two answers."""

    text: Template
    """The text; it has the slot {answer}."""
    right: Template
    """The answer that is right after a context, and after the first of two contexts."""
    wrong: Template
    """The other answer, which is right after the second of two contexts."""
    wording: Slug | None = None
    """The name of the way of asking, which the questions that are asked together share; null where there is one way."""


Context: TypeAlias = Template | Two[Template]
"""One template, which is also asked with the two people exchanged; or two that differ in the construction alone, of
which the second makes the wrong answers right."""


class OwnQuestions(Closed):
    """A condition with questions of its own, in the wordings of the file's questions or in none."""

    contexts: Annotated[list[Context], Field(min_length=1)]
    questions: Annotated[list[Question], Field(min_length=1)]


Contexts: TypeAlias = Annotated[list[Context], Field(min_length=1)] | OwnQuestions


class ContrastsFile(Closed):
    """The contrasts of a construction."""

    slots: dict[SlotName, str]
    """Slot -> what it is: every slot of the templates except the people, their pronouns and the answers."""
    questions: Annotated[list[Question], Field(min_length=1)]
    """What each context is followed by."""
    conditions: dict[Literal["construction", "control", "neutral", "rival"], Contexts]
    """What comes first. construction: a sentence with the construction; control: its meaning in plain words; neutral:
    the same syntax with a word that says nothing of what is asked; rival: the same words without the construction."""
    rivals: dict[SlotName, Contexts] = Field(default_factory=dict)
    """Name -> further rivals: minimal edits, each with the same verb, people and order and without the construction.
    Each is the condition rival_<name>. The nearest of them, the rival and the neutral condition counts."""
    frames: Annotated[list[Row], Field(min_length=1)]
    """The rows by which the conditions and questions were tried."""
    held_out: Annotated[list[Row], Field(min_length=1)]
    """Rows that were written before anything was measured, and that no model was tried on."""

    @property
    def declared(self) -> dict[str, OwnQuestions]:
        """All conditions with their questions: those of ``conditions``, and the rivals by their names in tables."""
        every: dict[str, Contexts] = {str(name): contexts for name, contexts in self.conditions.items()}
        every |= {f"rival_{name}": contexts for name, contexts in self.rivals.items()}
        return {
            name: one
            if isinstance(one, OwnQuestions)
            else OwnQuestions.model_construct(contexts=one, questions=self.questions)
            for name, one in every.items()
        }

    def wordings_of(self, frame: int) -> set[str | None]:
        """Return the wordings in which a frame is asked: `WORDINGS_OF_FRAME` in turn, so that all are asked as often.

        Args:
            frame: The number of the frame, from 0 on.
        """
        names = list(dict.fromkeys(question.wording for question in self.questions))
        if len(names) <= WORDINGS_OF_FRAME:
            return {*names, None}
        rounds, first = divmod(frame, len(names))
        return {names[first], names[(first + 1 + rounds % (len(names) - 1)) % len(names)], None}

    def cells(self, condition: str, wordings: Collection[str | None] | None = None) -> Iterator[tuple[str, "Cell"]]:
        """Yield the contexts of a condition with each question of some wordings, all of them for None; and a name."""
        declared = self.declared["construction" if condition == SHUFFLED else condition]
        for number, context in enumerate(declared.contexts, start=1):
            for letter, question in zip(ascii_lowercase, declared.questions, strict=False):
                if wordings is not None and question.wording not in wordings:
                    continue
                name, answers = f"{number}{letter}", (question.right, question.wrong)
                wording = question.wording or ""
                if isinstance(context, str):
                    yield name, Cell(context, question.text, *answers, wording)
                    continue
                for half, (one, of_half) in enumerate(zip(context, (answers, answers[::-1]), strict=True), start=1):
                    yield f"{name}{half}", Cell(one, question.text, *of_half, wording, is_half=True)


class Cell(NamedTuple):
    """A context with a question: a pair as templates."""

    context: str
    text: str
    right: str
    wrong: str
    wording: str = ""
    is_half: bool = False
    """Whether it is one of a pair of pairs, in whose other half the answers are exchanged."""

    @property
    def texts(self) -> list[str]:
        """The question with the right answer, and with the wrong one."""
        return [self.text.replace(f"{{{ANSWER}}}", answer) for answer in (self.right, self.wrong)]

    @property
    def slots(self) -> set[str]:
        """The slots of all templates but that of the answer."""
        return {slot for template in self[:4] for slot in slots_of(template)} - {ANSWER}


def contrasts_file(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Path:
    """Return the file of the contrasts of a construction."""
    return constructions / name / CONTRASTS_FILE


def load_contrasts(name: str, people: People, constructions: Path = CONSTRUCTIONS_FOLDER) -> ContrastsFile:
    """Read and check the contrasts of a construction.

    Args:
        name: The construction.
        people: The nouns and pronouns.
        constructions: The folder of all constructions.

    Raises:
        ConstructionError: One line for every fault, or the file does not fit the schema. Faults of the templates are a
            condition that is missing; slots that nothing fills or no template uses; questions without {answer}; and
            conditions in which one person is named first in more contexts than the other. Where there are none, the
            rows are looked at: they fill other slots than the declared ones, are twice, or give a wrong article.
    """
    path = contrasts_file(name, constructions)
    content = read_checked(ContrastsFile, path, ConstructionError)
    faults = [*_faults_of_templates(content, people)] or [*_faults_of_rows(content, people)]
    raise_faults(ConstructionError, with_lines(path, faults))
    return content


def _faults_of_templates(content: ContrastsFile, people: People) -> Iterator[Fault]:
    filled = {*content.slots, *PEOPLE, *(slot for row in people.pronouns.values() for slot in row)}
    for needed in ("construction", "control", "neutral"):
        if needed not in content.conditions:
            yield Fault(("conditions",), f"conditions: '{needed}' is missing; a verdict needs it")
    named = _people_of(content, "construction")
    wordings = {question.wording or "" for question in content.questions}
    used, unfilled = set[str](), set[str]()
    for condition, declared in content.declared.items():
        place = _place(condition)
        for context, times in Counter(declared.contexts).items():
            if times > 1:
                yield Fault(place, f"{condition}: the context {context!r} is there twice; keep one")
            if not isinstance(context, str) and context[0] == context[1]:
                what = f"the context {context[0]!r} is both halves; let them differ in the construction"
                yield Fault(place, f"{condition}: {what}")
        asked_at = ("questions",) if declared.questions is content.questions else place
        for asked, times in Counter(f"{one.text} ({one.right})" for one in declared.questions).items():
            if times > 1:
                yield Fault(asked_at, f"the question {asked!r} is there twice; keep one")
        if (people_named := _people_of(content, condition)) != named:
            what = f"its contexts name the people {people_named}, and those of the construction {named}; let all name"
            yield Fault(place, f"{condition}: {what} the same people, each as often")
        if condition != "control" and {cell.wording for _, cell in content.cells(condition)} != wordings:
            yield Fault(place, f"{condition}: its questions have other wordings than {', '.join(sorted(wordings))}")
        for _, cell in content.cells(condition):
            used |= cell.slots
            for slot in sorted(cell.slots - filled - unfilled):
                yield Fault(place, f"{condition}: nothing fills the slot '{slot}'{suggest(slot, filled)}")
            unfilled |= cell.slots - filled
            if ANSWER not in slots_of(cell.text):
                yield Fault(place, f"{condition}: {cell.text!r} has no slot {{{ANSWER}}}")
    for slot in sorted({*content.slots} - used):
        yield Fault(("slots", slot), f"the slot '{slot}' is declared, and no template uses it")


def _place(condition: str) -> tuple[str, ...]:
    """Return the way to a condition from the top of its file."""
    return ("rivals", condition.removeprefix("rival_")) if condition.startswith("rival_") else ("conditions", condition)


def _people_of(content: ContrastsFile, condition: str) -> list[str]:
    """Return which people each context of a condition names, as often as it does."""
    named = (sorted(slot for slot in slots_of(cell.context) if slot in PEOPLE) for _, cell in content.cells(condition))
    return sorted({" and ".join(people) for people in named})


def _faults_of_rows(content: ContrastsFile, people: People) -> Iterator[Fault]:
    pronouns, names = next(iter(people.pronouns.values())), ("Ann", "Beth")
    known, seen = set[frozenset[tuple[str, str]]](), set[object]()
    cells = []  # in which each context and each question stands once: all of them would be thousands of texts a row
    for condition in content.declared:
        for _, cell in content.cells(condition):
            parts = {cell.context, (cell.text, cell.right, cell.wrong)}
            if not parts <= seen:
                cells.append((condition, cell))
                seen |= parts
    for part, rows in (("frames", content.frames), ("held_out", content.held_out)):
        for number, row in enumerate(rows):
            same = frozenset((slot, _seen(words)) for slot, words in row.items())
            if row.keys() != content.slots.keys():
                what = f"this row fills {', '.join(row)}; let it fill {', '.join(content.slots)}"
                yield Fault((part, number), what)
                continue
            if same in known:
                yield Fault((part, number), "this row is there twice; keep one")
            known.add(same)
            values = {**row, **pronouns, **dict(zip(PEOPLE, names, strict=True))}
            for condition, cell in cells:
                asked = (f"{cell.context} {text}".strip() for text in cell.texts)
                right, wrong = (render(text, values) for text in asked)
                for what in chain(faults_of_text(right), faults_of_text(wrong)):
                    yield Fault((part, number), f"{condition}: {what}")
                if _seen(right) == _seen(wrong):
                    yield Fault((part, number), f"{condition}: {right!r} is right and wrong; let the answers differ")
            if known == {same}:  # what cancels in one row does in all
                yield from _faults_of_preferences(content, [*pairs_of_frame("", content, row, names, pronouns)])


def _seen(words: str) -> str:
    """Return words without capitals and without letters that nobody sees."""
    folded = words.casefold()
    return folded if folded.isascii() else "".join(letter for letter in folded if category(letter) != "Cf")


def _faults_of_preferences(content: ContrastsFile, pairs: Sequence[Pair]) -> Iterator[Fault]:
    """Yield what does not cancel: preferences that make a contrast, whatever the context means.

    They are preferences for an answer, for the place at which the context names it, and for who acts, each for any
    question, and their products. One cancels if what it prefers is right as often as it is wrong. A control may say the
    meaning in the answers of its own questions, which differ in nothing else: these have nothing to cancel with.

    Args:
        content: The contrasts, whose templates have no fault.
        pairs: Those of one row.
    """
    plain = set[str]()
    if isinstance(content.conditions["control"], OwnQuestions):
        for name, cell in content.cells("control"):
            if not cell.is_half and not {*PEOPLE} & {*slots_of(cell.right + cell.wrong)}:
                plain.add(name)
    preferences: dict[str, Counter[str]] = {condition: Counter() for condition in content.declared}
    for condition, counts in preferences.items():
        for name, cell in content.cells(condition):
            if condition == "control" and name in plain:
                continue
            wording = f" in the wording {cell.wording}" if cell.wording else ""
            counts[f"the answer {cell.right!r}{wording}"] += 1
            counts[f"the answer {cell.wrong!r}{wording}"] -= 1
    for pair in pairs:
        if pair.groups["condition"] == "control" and pair.groups["cell"] in plain:
            continue
        start, *ends = _different_words(pair.good, pair.bad)
        answers = [text[start:end].rstrip(".") for text, end in zip((pair.good, pair.bad), ends, strict=True)]
        places = [pair.context.lower().find(answer.lower()) for answer in answers]
        for answer, place, other, sign in zip(answers, places, places[::-1], (1, -1), strict=True):
            is_first = other < 0 or place < other
            named = "do not name it" if place < 0 else f"name it {'first' if is_first else 'second'}"
            counts = preferences[pair.groups["condition"]]
            counts[f"{answer!r} after {pair.good[:start].strip()!r}, in contexts that {named}"] += sign
    contexts: dict[str, str] = {}
    for condition, counts in preferences.items():
        for preferred, number in [one for one in counts.items() if one[1]][:1]:
            times = "once" if abs(number) == 1 else f"{abs(number)} times"
            often = f"{times} more often {'right' if number > 0 else 'wrong'}"
            what = f"{preferred}, is {often} than not, so that a preference for it does not cancel"
            how = "; let each answer be right as often as it is wrong"
            if any(cell.is_half for _, cell in content.cells(condition)):
                how += "; name an answer in both contexts of a pair, or in neither"
            yield Fault(_place(condition), f"{condition}: {what}{how}")
        told = "".join(pair.context + pair.good for pair in pairs if pair.groups["condition"] == condition)
        if told in contexts:
            what = f"{condition}: says the same as {contexts[told]}; write contexts of its own"
            yield Fault(_place(condition), what)
        contexts[told] = condition


def loose_parts(content: ContrastsFile) -> Iterator[str]:
    """Yield what leaves a verdict open to doubt: rivals of other words, and frames that share their words.

    The lengths of right and wrong answers are no such thing, since each answer is right as often as it is wrong.
    """
    contexts = {condition: [cell.context for _, cell in content.cells(condition)] for condition in content.declared}
    words = {name: Counter(" ".join(texts).translate(_NO_MARKS).lower().split()) for name, texts in contexts.items()}
    needed = words["construction"]
    for condition in words:
        shared = (needed & words[condition]).total() / max(needed.total(), 1)
        if shared < 0.5 and condition != "control":
            what = f"{condition} has {100 * shared:.0f} % of the words of the construction's contexts"
            yield f"{what}; a rival is near if it changes one or two"
    for slot in content.slots:
        different = {row[slot].lower() for row in content.held_out}
        if len(different) < len(content.held_out) / 2 and not different <= FUNCTION_WORDS:
            what = f"held_out: different words of {{{slot}}}: {len(different)} in {len(content.held_out)} rows"
            yield f"{what}; frames that share their words are few frames, whatever their number"


def _different_words(first: str, second: str) -> tuple[int, int, int]:
    """Return where the words in which two texts differ begin in both, and where they end in each."""
    shared = len(commonprefix([first, second]))  # noqa: RUF071  # of characters, not of parts of paths
    same = min(len(commonprefix([first[::-1], second[::-1]])), len(first) - shared, len(second) - shared)  # noqa: RUF071
    ends = (text.find(" ", len(text) - same) for text in (first, second))
    one, other = (len(text) if end < 0 else end for text, end in zip((first, second), ends, strict=True))
    return first.rfind(" ", 0, shared) + 1, one, other


def contrast_pairs(
    name: str,
    content: ContrastsFile,
    people: People,
    wanted: MakeContrasts,
    seed: int,
    part: Literal["frames", "held_out"] = "held_out",
) -> list[Pair]:
    """Return the pairs of the contrasts of a construction.

    Each frame has two given names of one gender, drawn so that all names are used equally often.

    Args:
        name: The construction.
        content: Its contrasts.
        people: The nouns and pronouns.
        wanted: How many frames, and how many of these have a shuffled condition.
        seed: The project's seed.
        part: Which frames are asked: those that are held out, or those on which the wording is tried.
    """
    pairs: list[Pair] = []
    rng = generator_for(seed, name, "contrasts", part)
    turns = {kind: rng.permutation(people.types[kind].nouns).tolist() for kind in NAMES}
    for number, row in enumerate(getattr(content, part)[: wanted.frames]):
        kind = NAMES[number % 2]
        drawn = [turns[kind][(number - number % 2 + seat) % len(turns[kind])] for seat in (0, 1)]
        pronouns = people.pronouns[people.types[kind].pronouns[0]]
        seed_of_words = int(rng.integers(2**32)) if number < wanted.shuffled else None
        frame, wordings = f"{name} contrasts {part} {number}", content.wordings_of(number)
        pairs += pairs_of_frame(frame, content, row, drawn, pronouns, seed_of_words, wordings)
    return [replace(pair, groups={"construction": name, **pair.groups}) for pair in pairs]


def pairs_of_frame(
    frame: str,
    content: ContrastsFile,
    row: Mapping[str, str],
    people: Sequence[str],
    pronouns: Mapping[str, str],
    seed_of_words: int | None = None,
    wordings: Collection[str | None] | None = None,
) -> Iterator[Pair]:
    """Yield the pairs of a row with two people; one that names both comes once more with them exchanged.

    Args:
        frame: The name of the row.
        content: The contrasts.
        row: Slot -> words.
        people: The two people.
        pronouns: Slot -> the form of their pronoun.
        seed_of_words: The seed by which the words of shuffled contexts are ordered, the same for both orders of the
            people; None leaves the shuffled condition out.
        wordings: The wordings in which the row is asked; None for all.
    """
    conditions = [*content.declared]
    if seed_of_words is not None and any(cell.context for _, cell in content.cells("construction")):
        conditions.append(SHUFFLED)
    for condition in conditions:
        for name, cell in content.cells(condition, wordings):
            context = cell.context
            if condition == SHUFFLED:  # but for the full stop at its end
                words = np.random.default_rng(seed_of_words).permutation(context.removesuffix(".").split(" "))
                context = " ".join(words) + "." * context.endswith(".")
            clusters = {slot: row[slot] for slot in row if slot in cell.slots and row[slot] not in FUNCTION_WORDS}
            clusters["frame"] = frame
            orders = {"original": people}
            if {*PEOPLE} <= cell.slots:
                orders["switched"] = people[::-1]
            for order, persons in orders.items():
                values = {**row, **pronouns, **dict(zip(PEOPLE, persons, strict=True))}
                first = render(context, values)
                good, bad = (render(f"{context} {text}".strip(), values).removeprefix(first) for text in cell.texts)
                groups = {"condition": condition, "cell": name, "order": order}
                id_ = "-".join([frame.replace(" ", "-"), *groups.values()])
                yield Pair(id_, frame, first, good, bad, groups | {"wording": cell.wording}, clusters)


def make(stage: Stage[ContrastsStage]) -> Outcome:
    """Make ``<construction>.parquet``: one row a pair, see `contrast_pairs`."""
    section, people = stage.params.contrasts, load_people(stage.use(PEOPLE_FILE))
    counts = Counter[str](constructions=len(section.constructions))
    for name in section.constructions:
        stage.use(contrasts_file(name))
        pairs = contrast_pairs(name, load_contrasts(name, people), people, section.make, stage.params.seed)
        write_table(pair_table(pairs), stage.data / f"{name}.parquet")
        counts["pairs"] += len(pairs)
    return Outcome(counts=counts)
