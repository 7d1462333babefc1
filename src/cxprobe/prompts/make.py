"""The material of the questions about a construction: its own items, and those of imported files."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import pandas as pd
from pydantic import Field, model_validator

from cxprobe.errors import PromptError
from cxprobe.files.schema import Closed, suggest
from cxprobe.lm.prompts import (
    ORDERS,
    PAPER,
    PROMPTS_FOLDER,
    InferencePrompts,
    Name,
    ReasoningPrompts,
    ask_inference,
    ask_reasoning,
    read_prompts,
    shown_letter,
    shown_options,
)
from cxprobe.lm.texts import Choice
from cxprobe.prompts.cxnli import Repair, read_inference_file
from cxprobe.prompts.items import (
    RELATIONS,
    Inference,
    Reasoning,
    Relation,
    load_items,
    render_inferences,
    render_reasonings,
)
from cxprobe.prompts.params import OWN, BuildPrompts, Shots
from cxprobe.prompts.reasoning_files import ReasoningFile, read_reasoning_file
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.seeding import generator_for
from cxprobe.stats import CLUSTER


class Material(NamedTuple):
    """The items that the questions about a construction are made of.

    Attributes:
        inferences: Name of a set -> its items about the construction.
        reasonings: The multiple-choice items about the construction: its own, then those of each imported set.
        sources: Name of a source of examples, as the parameters give it -> its items.
        repairs: Name of an imported set or source -> the repairs of its file; a set of multiple choice, which has a
            file for each construction, is named "<set>/<construction>".
    """

    inferences: Mapping[str, Sequence[Inference]]
    reasonings: Sequence[Reasoning]
    sources: Mapping[str, Sequence[Inference]]
    repairs: Mapping[str, Sequence[Repair]]


def pool_files(construction: str, settings: BuildPrompts) -> list[Path]:
    """Return the files that `load_pool` reads: the construction's own items, or those of all constructions."""
    if set(OWN) & _sources(settings, anywhere=True):
        return sorted(CONSTRUCTIONS_FOLDER.glob("*/items.yaml"))
    return [CONSTRUCTIONS_FOLDER / construction / "items.yaml"]


def load_pool(construction: str, settings: BuildPrompts) -> list[Inference]:
    """Return the items of the project from which examples for questions about a construction are drawn.

    These are the construction's own items and, where an entry of shots has ``of_the_construction: false``, those of
    all folders of ``constructions/``, whatever the grid contains: adding a construction to the grid changes no other
    construction's examples.

    Args:
        construction: Its name.
        settings: The sources of each number of shots.

    Raises:
        ConstructionError: Items cannot be read.
    """
    named, anywhere = _sources(settings), _sources(settings, anywhere=True)
    return [
        item
        for path in pool_files(construction, settings)
        for item in render_inferences(load_items(path.parent.name), path.parent.name)
        if item.set in anywhere or (item.set in named and item.construction == construction)
    ]


def material_files(construction: str, settings: BuildPrompts) -> list[Path]:
    """Return the files that `load_material` reads."""
    imported = [*_files(settings).values(), *_reasoning_files(construction, settings)]
    return [CONSTRUCTIONS_FOLDER / construction / "items.yaml", *imported]


def load_material(construction: str, settings: BuildPrompts, pool: Sequence[Inference], *, seed: int) -> Material:
    """Read the items to ask about a construction, and those to show as examples.

    Args:
        construction: Its name.
        settings: Which sets and files.
        pool: What `load_pool` returns.
        seed: The project's seed; it determines the order of the options, and that of the frames of imported sets.

    Raises:
        ConstructionError: Its items cannot be read.
        DataError: An imported file cannot be read.
        PromptError: The parameters have a file of multiple choice for a construction that there is not.
    """
    _require_constructions(settings)
    items = load_items(construction)
    rendered = render_inferences(items, construction)
    sets, pools = ({of: [item for item in items if item.set == of] for of in OWN} for items in (rendered, pool))
    files = {of: read_inference_file(path, of) for of, path in _files(settings).items()}
    wanted: set[str] = set(settings.sets)
    asked = {
        of: [item for item in files[of].items if item.construction == construction] for of in settings.inference_files
    }
    multiple = _read_reasonings(construction, settings)
    own = render_reasonings(items, construction, seed=seed) if "reasoning" in settings.sets else []
    return Material(
        inferences={of: some for of, some in sets.items() if of in wanted} | asked,
        reasonings=[*own, *(item for of, file in multiple.items() for item in _in_drawn_order(file.items, of, seed))],
        sources=pools | {of: file.items for of, file in files.items()},
        repairs={of: file.repairs for of, file in files.items()}
        | {f"{of}/{construction}": file.repairs for of, file in multiple.items()},
    )


def _files(settings: BuildPrompts) -> dict[str, Path]:
    """Return the imported inferences: those asked about by the names of their sets, examples by their paths."""
    sources = sorted(_sources(settings) - set(OWN))
    return {of: Path(of) for of in sources} | {of: Path(path) for of, path in settings.inference_files.items()}


def _reasoning_files(construction: str, settings: BuildPrompts) -> list[Path]:
    """Return the imported files of multiple choice about a construction, and those that choose among their rows."""
    sets = [own for own in settings.reasoning_files.values() if construction in own.constructions]
    paths = [path for own in sets for path in (own.constructions[construction], own.rows) if path is not None]
    return [Path(path) for path in dict.fromkeys(paths)]


def _read_reasonings(construction: str, settings: BuildPrompts) -> dict[str, ReasoningFile]:
    """Return name of a set -> its multiple-choice items about a construction."""
    return {
        of: read_reasoning_file(
            Path(own.constructions[construction]),
            of,
            construction,
            keep_doubtful=own.doubtful == "keep",
            rows=None if own.rows is None else Path(own.rows),
        )
        for of, own in settings.reasoning_files.items()
        if construction in own.constructions
    }


def _in_drawn_order(items: Sequence[Reasoning], of: str, seed: int) -> list[Reasoning]:
    """Return items in an order of their frames that is drawn, so that the first of them are a draw too."""
    frames = sorted({item.frame_id for item in items})
    order = generator_for(seed, "frames", of).permutation(len(frames))
    return [item for place in order for item in items if item.frame_id == frames[place]]


def _require_constructions(settings: BuildPrompts) -> None:
    """Refuse files for a construction that there is not: nothing would ever be asked about them."""
    known = sorted(path.parent.name for path in CONSTRUCTIONS_FOLDER.glob("*/items.yaml"))
    faults = [
        f"build_prompts.files.{of}.constructions: '{name}' is not a construction with items{suggest(name, known)}"
        for of, own in settings.reasoning_files.items()
        for name in own.constructions
        if name not in known
    ]
    if faults:
        raise PromptError("\n".join(faults))


def _sources(settings: BuildPrompts, *, anywhere: bool = False) -> set[str]:
    """Return the sources of examples; with ``anywhere``, those from which examples of any construction are drawn."""
    return {
        source for shots in settings.shots if not (anywhere and shots.of_the_construction) for source in shots.sources
    }


def choose_examples(
    sources: Sequence[Sequence[Inference]], construction: str | None, shots: int, *, seed: int
) -> list[Inference]:
    """Draw the examples of a few-shot question.

    A shot is one example of each relation. Premises are drawn in random order; each gives at most one example of a
    relation, so that where a source has three hypotheses for every premise, as CxNLI does, a shot is one premise. The
    examples of all sources together are shown in random order.

    Args:
        sources: The items of each source; ``shots`` are drawn from each.
        construction: Draw only items of this construction; None for all items.
        shots: Examples of each relation, from each source; 0 for none.
        seed: The project's seed.

    Raises:
        PromptError: A source has too few examples of a relation.

    Source:
        Scivetti et al. 2025: 0, 1 and 3 shots; the release has three relations to a premise.
    """
    drawn = [
        example
        for number, source in enumerate(sources)
        for example in _draw(
            [item for item in source if construction in (None, item.construction)], number, construction, shots, seed
        )
    ]
    order = generator_for(seed, "order of examples", construction, shots, len(sources)).permutation(len(drawn))
    return [drawn[place] for place in order]


def without_examples(items: Sequence[Inference], examples: Sequence[Inference]) -> list[Inference]:
    """Return the items whose premise is not shown in an example: what is shown with its answer is not asked."""
    shown = {example.premise for example in examples}
    return [item for item in items if item.premise not in shown]


def _draw(items: list[Inference], source: int, construction: str | None, shots: int, seed: int) -> list[Inference]:
    by_premise: dict[str, list[Inference]] = {}
    for item in sorted(items, key=lambda one: one.id):
        by_premise.setdefault(item.premise, []).append(item)
    premises = list(by_premise)
    generator = generator_for(seed, "examples", source, construction)
    found: dict[str, list[Inference]] = {relation: [] for relation in RELATIONS}
    for place in generator.permutation(len(premises)):
        hypotheses = by_premise[premises[place]]
        for relation in RELATIONS:
            fitting = [item for item in hypotheses if item.gold == relation]
            if fitting and len(found[relation]) < shots:
                found[relation].append(fitting[int(generator.integers(len(fitting)))])
    too_few = [f"{len(some)} of {relation}" for relation, some in found.items() if len(some) < shots]
    if too_few:
        raise PromptError(
            f"{shots} examples of each relation were asked for{f' of {construction}' if construction else ''}, but a "
            f"source has {', '.join(too_few)}; ask for fewer shots, or name a larger source"
            + (", or let them be of any construction (of_the_construction: false)" if construction else "")
        )
    return [item for some in found.values() for item in some]


class _Continuation(Closed):
    """A text and its continuation for each answer."""

    text: str
    """The text before the answer."""
    anywhere: Annotated[str, Field(min_length=1)]
    """A text before the answers that says nothing about the item."""

    def check(self, answers: Mapping[Any, str], fields: set[str]) -> None:
        """Refuse texts that cannot be joined, or that leave out a part of the item.

        Raises:
            ValueError: The message has the text and what is wrong with it.
        """
        taken = _fields(self.text)
        for name, answer in answers.items():
            if not answer.startswith(" ") or not answer.strip():
                raise ValueError(f"answers.{name}: {answer!r} must begin with a space, followed by a word")
            taken |= _fields(answer)
        for key, text in (("text", self.text), ("anywhere", self.anywhere)):
            if not text.strip() or text != text.rstrip():
                raise ValueError(f"{key}: {text!r} must not be empty or end in a space; the answers begin with one")
        if taken != fields or _fields(self.anywhere):
            wanted = ", ".join(f"{{{name}}}" for name in sorted(fields))
            raise ValueError(
                f"text and answers together must have exactly the fields {wanted}, and anywhere must have none; "
                f"found {sorted(taken)} and {sorted(_fields(self.anywhere))}"
            )


class InferenceContinuation(_Continuation):
    """A text about a premise and a hypothesis."""

    answers: dict[Relation, str]
    """Relation -> how the text continues."""

    @model_validator(mode="after")
    def _can_be_filled(self) -> "InferenceContinuation":
        if set(self.answers) != set(RELATIONS):
            raise ValueError(f"answers has {', '.join(self.answers)}; give {', '.join(RELATIONS)}")
        self.check(self.answers, {"premise", "hypothesis"})
        if len(set(self.answers.values())) < len(self.answers):
            raise ValueError("two answers are the same")
        return self


class ReasoningContinuation(_Continuation):
    """A text about a multiple-choice item. Either the answers name the options, or the text lists them.

    Where the text does not list them they have no order, and A, B and C are the item's own. Where it does, A, B and C
    are what is shown first, second and last.
    """

    answers: dict[Literal["A", "B", "C"], str]
    """Option -> how the text continues."""
    neither: str | None = None
    """In a text that lists the options, the one that there is not enough information; absent in others."""

    @property
    def lists_options(self) -> bool:
        """Whether the text shows the options, so that they have an order."""
        return bool(_fields(self.text) & {"a", "b", "c"})

    @model_validator(mode="after")
    def _can_be_filled(self) -> "ReasoningContinuation":
        if len(self.answers) != 3:
            raise ValueError(f"answers has {', '.join(self.answers)}; give A, B, C")
        if self.lists_options:
            if _fields(self.text) != {"text", "question", "a", "b", "c"} or self.neither is None:
                raise ValueError(
                    "a text that lists the options must have {text}, {question}, {a}, {b} and {c}; give neither"
                )
            self.check(self.answers, _fields(self.text))
            for letter, answer in self.answers.items():
                if _fields(answer) - {letter.lower()}:
                    raise ValueError(f"answer {letter} may have no field but {{{letter.lower()}}}")
            return self
        if self.neither is not None:
            raise ValueError(
                "neither is the third option of a text that lists them; list {a}, {b} and {c}, or remove it"
            )
        self.check(self.answers, {"text", "question", "a", "b"})
        if _fields(self.answers["A"]) != {"a"} or _fields(self.answers["B"]) != {"b"} or _fields(self.answers["C"]):
            raise ValueError("answer A must have the field {a}, B the field {b} and C none")
        return self


C = TypeVar("C", bound=_Continuation)


class Continuations(Closed):
    """How language models are asked by the likelihood of the answers."""

    inference: Annotated[dict[Name, InferenceContinuation], Field(min_length=1)]
    """Name -> a text about a premise and a hypothesis."""
    reasoning: Annotated[dict[Name, ReasoningContinuation], Field(min_length=1)]
    """Name -> a text about a multiple-choice item."""


def load_continuations(folder: Path = PROMPTS_FOLDER) -> Continuations:
    """Read and check ``prompts/continuations.yaml``.

    Raises:
        PromptError: One line for every fault of the file.
    """
    return read_prompts(Continuations, folder / "continuations.yaml")


def continue_inference(
    id_: str, item: Inference, name: str, continuations: Continuations, examples: Sequence[Inference]
) -> Choice:
    """Return the text about a premise and a hypothesis, and its continuation for each digit.

    Args:
        id_: The id of the question.
        item: What is asked about.
        name: Which text.
        continuations: All texts.
        examples: Items that are shown before it with their right answers; none for zero shots.

    Raises:
        PromptError: There is no such text.
    """
    continuation = _named(continuations.inference, name)
    shown = [
        _filled(continuation.text, example) + _filled(continuation.answers[example.gold], example)
        for example in examples
    ]
    answers = {str(digit): _filled(continuation.answers[gold], item) for digit, gold in enumerate(RELATIONS)}
    return Choice(id_, "\n\n".join([*shown, _filled(continuation.text, item)]), answers, continuation.anywhere)


def continue_reasoning(
    id_: str, item: Reasoning, name: str, continuations: Continuations, order: str = PAPER
) -> Choice:
    """Return the text about a multiple-choice item, and its continuation for each letter.

    Args:
        id_: The id of the question.
        item: What is asked about.
        name: Which text.
        continuations: All texts.
        order: The order in which a text that lists the options shows them; for others, the paper's.

    Raises:
        PromptError: There is no such text.
    """
    continuation = _named(continuations.reasoning, name)
    shown = shown_options(item.a, item.b, continuation.neither or "", order)
    parts = {"text": item.text, "question": item.question} | {letter.lower(): shown[letter] for letter in shown}
    answers = {str(letter): answer.format(**parts) for letter, answer in continuation.answers.items()}
    return Choice(id_, continuation.text.format(**parts), answers, continuation.anywhere)


def orders_of(name: str, continuations: Continuations, orders: Sequence[str]) -> Sequence[str]:
    """Return the orders in which a text is asked: all of them if it lists the options, else the paper's alone.

    Raises:
        PromptError: There is no such text.
    """
    return orders if _named(continuations.reasoning, name).lists_options else (PAPER,)


def _filled(text: str, item: Inference) -> str:
    return text.format(premise=item.premise, hypothesis=item.hypothesis)


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def _named(continuations: Mapping[str, C], name: str) -> C:
    if name not in continuations:
        raise PromptError(f"continuation '{name}' is unknown{suggest(name, list(continuations))}")
    return continuations[name]


REASONING = "reasoning"
NO_EXAMPLES = "none"


class _Asked(NamedTuple):
    """An item with one prompt and setting, its options in one order; ``id`` identifies the combination."""

    id: str
    item: Inference | Reasoning
    prompt: str
    shots: int
    sources: str
    examples: Sequence[Inference]
    thought: bool
    order: str


class _Selection(NamedTuple):
    """The items that are asked about, and the examples for each number of shots."""

    inferences: Sequence[Inference]
    reasonings: Sequence[Reasoning]
    by_shots: Sequence[tuple[Shots, Sequence[Inference]]]


def build_questions(
    construction: str,
    material: Material,
    inference_prompts: InferencePrompts,
    reasoning_prompts: ReasoningPrompts,
    settings: BuildPrompts,
    *,
    seed: int,
) -> pd.DataFrame:
    """Return every question in words: each item with each prompt, number of shots, chain of thought and order.

    No premise that is an example in any setting is asked about, so all settings are compared on the same items.

    Args:
        construction: Its name.
        material: The items and the sources of examples.
        inference_prompts: The prompts for inferences.
        reasoning_prompts: The prompts for multiple-choice items.
        settings: Which prompts, shots and chains of thought, and how many premises.
        seed: The project's seed.

    Returns:
        One row per question: id; item, which is asked about; kind ("inference" or "reasoning"); set; construction; test
        (of reasoning, else ""); template and reading (of inference, else ""); answerable; prompt; shots; examples
        (their sources, or "none"); chain_of_thought; order (of the options, see `cxprobe.lm.prompts`; ""
        for inference); gold (the digit, or the letter in this order); cluster_premise (the premise or frame);
        cluster_wording (the item itself where there is no template); question; and option_a, option_b and option_c,
        what is shown with each letter ("" for inference). The questions with the same item, prompt, shots, examples and
        chain_of_thought differ in the order alone.

    Raises:
        PromptError: A prompt or a source of examples is unknown, a source is too small, or there is nothing to ask.
    """
    selection = _select(construction, material, settings, seed)
    orders = ORDERS[settings.option_orders]
    prompts = dict.fromkeys(settings.reasoning_prompts, orders)
    rows = []
    for asked in _asked(selection, settings.inference_prompts, prompts, settings.chain_of_thought):
        item, thought = asked.item, asked.thought
        if isinstance(item, Inference):
            text = ask_inference(item, asked.prompt, inference_prompts, asked.examples, chain_of_thought=thought)
            shown = dict.fromkeys(PAPER, "")
        else:
            order = asked.order
            text = ask_reasoning(item, asked.prompt, reasoning_prompts, chain_of_thought=thought, order=order)
            shown = shown_options(item.a, item.b, reasoning_prompts.neither, order)
        options = {f"option_{letter.lower()}": option for letter, option in shown.items()}
        rows.append(_row(asked) | {"question": text} | options)
    return pd.DataFrame(rows)


def build_choices(
    construction: str, material: Material, continuations: Continuations, settings: BuildPrompts, *, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the same items as `build_questions` as texts to continue: with each continuation and number of shots.

    Args:
        construction: Its name.
        material: The items and the sources of examples.
        continuations: The texts.
        settings: What is asked in words; the items and the examples are the same. ``settings.continuations`` says
            which texts are used, and how many shots at most.
        seed: The project's seed.

    Returns:
        One row per question, with the columns of `build_questions` but the options, where question is the text before
        the answer, and anywhere, a text before the answers that says nothing about the item. A text that does not list
        the options is asked once, with the letters of the paper's order. And one row per question and answer: id
        (of the question); answer (the digit or letter); text, the continuation of the question with its leading space.

    Raises:
        PromptError: A text or a source of examples is unknown, a source is too small, or there is nothing to ask.
    """
    own = settings.continuations
    selection = _select(construction, material, settings, seed)
    few = [(shots, examples) for shots, examples in selection.by_shots if shots.number <= own.most_shots]
    if not few:
        raise PromptError(
            f"build_prompts.continuations.most_shots is {own.most_shots}, but each entry of build_prompts.shots has "
            "more; raise the first, or add an entry with fewer shots"
        )
    orders = {name: orders_of(name, continuations, ORDERS[settings.option_orders]) for name in own.reasoning}
    rows, answers = [], []
    for asked in _asked(selection._replace(by_shots=few), own.inference, orders, [False]):
        if isinstance(asked.item, Inference):
            choice = continue_inference(asked.id, asked.item, asked.prompt, continuations, asked.examples)
        else:
            choice = continue_reasoning(asked.id, asked.item, asked.prompt, continuations, asked.order)
        rows.append(_row(asked) | {"question": choice.context, "anywhere": choice.anywhere})
        answers += [(asked.id, symbol, text) for symbol, text in choice.answers.items()]
    return pd.DataFrame(rows), pd.DataFrame(answers, columns=["id", "answer", "text"])


def template_cluster(item: Inference | Reasoning) -> str:
    """Return the cluster of an item's template, "<construction> <template>"; the item's id if it has no template."""
    if isinstance(item, Inference) and item.template:
        return f"{item.construction} {item.template}"
    return item.id


def _select(construction: str, material: Material, settings: BuildPrompts, seed: int) -> _Selection:
    by_shots = [(shots, _examples(shots, construction, material.sources, seed)) for shots in settings.shots]
    every_example = [example for _, examples in by_shots for example in examples]
    inferences = [
        item
        for name, items in material.inferences.items()
        for item in _draw_of_questions(
            without_examples(items, every_example), settings.premises, (construction, name), seed
        )
    ]
    sets = dict.fromkeys(item.set for item in material.reasonings)
    by_set = [[item for item in material.reasonings if item.set == name] for name in sets]
    reasonings = [item for own in by_set for item in _first_frames(own, settings.premises)]
    if not inferences and not reasonings:
        raise PromptError(f"{construction}: nothing to ask; its items.yaml has none of the sets in build_prompts.sets")
    return _Selection(inferences, reasonings, by_shots)


def _examples(
    shots: Shots, construction: str, sources: Mapping[str, Sequence[Inference]], seed: int
) -> list[Inference]:
    only = construction if shots.of_the_construction else None
    return choose_examples([sources[name] for name in shots.sources], only, shots.number, seed=seed)


def _draw_of_questions(
    items: Sequence[Inference], number: int | None, of: tuple[str, str], seed: int
) -> list[Inference]:
    """Return the items of so many premises, so that what is asked about one stays together.

    The readings take turns, so that no relation is asked for more often because of the draw.
    """
    readings = {_cluster(item): item.reading for item in items}
    if number is None or number >= len(readings):
        return list(items)
    drawn = generator_for(seed, "questions", *of).permutation(sorted(readings))
    turns: Counter[str] = Counter()
    order = []
    for premise in drawn:
        turns[readings[premise]] += 1
        order.append((turns[readings[premise]], premise))
    chosen = {premise for _, premise in sorted(order, key=lambda one: one[0])[:number]}
    return [item for item in items if _cluster(item) in chosen]


def _first_frames(items: Sequence[Reasoning], number: int | None) -> list[Reasoning]:
    """Return the items of so many frames, the first: they come in a drawn order in which A and B take turns."""
    frames = list(dict.fromkeys(item.frame_id for item in items))[:number]
    return [item for item in items if item.frame_id in frames]


def _cluster(item: Inference | Reasoning) -> str:
    return item.premise_id if isinstance(item, Inference) else item.frame_id


def _asked(
    selection: _Selection,
    inference_prompts: Sequence[str],
    reasoning_prompts: Mapping[str, Sequence[str]],
    thoughts: Sequence[bool],
) -> Iterator[_Asked]:
    """Yield what is asked; ``reasoning_prompts`` has the orders in which each prompt shows the options."""
    for prompt in inference_prompts:
        for shots, examples in selection.by_shots:
            sources = "+".join(shots.sources) or NO_EXAMPLES
            for thought in thoughts:
                for item in selection.inferences:
                    id_ = _id(item, prompt, shots.number, sources, thought)
                    yield _Asked(id_, item, prompt, shots.number, sources, examples, thought, "")
    for prompt, orders in reasoning_prompts.items():
        for thought in thoughts:
            for frame in selection.reasonings:
                for order in orders:
                    id_ = _id(frame, prompt, 0, NO_EXAMPLES, thought, order)
                    yield _Asked(id_, frame, prompt, 0, NO_EXAMPLES, [], thought, order)


def _id(item: Inference | Reasoning, prompt: str, shots: int, sources: str, thought: bool, order: str = PAPER) -> str:
    """Return the id of a question; in the paper's order it does not depend on whether others are asked."""
    how = "reasoned" if thought else "direct"
    return "/".join((item.id, prompt, str(shots), sources, how, *([] if order == PAPER else [order])))


def _row(asked: _Asked) -> dict[str, object]:
    item = asked.item
    of = {"id": asked.id, "item": item.id, "construction": item.construction, f"{CLUSTER}premise": _cluster(item)}
    how = {"prompt": asked.prompt, "shots": asked.shots, "examples": asked.sources, "chain_of_thought": asked.thought}
    own: dict[str, object]
    if isinstance(item, Inference):
        own = {"kind": "inference", "set": item.set, "test": "", "template": item.template, "reading": item.reading}
        own |= {"answerable": True, "order": "", "gold": str(RELATIONS.index(item.gold))}
    else:
        own = {"kind": REASONING, "set": item.set, "test": item.test, "template": "", "reading": ""}
        own |= {"answerable": item.answerable, "order": asked.order, "gold": shown_letter(item.gold, asked.order)}
    return of | how | own | {f"{CLUSTER}wording": template_cluster(item)}


_COLUMNS = [
    *("id", "kind", "set", "construction", "test", "template", "reading", "answerable", "gold"),
    *("premise", "hypothesis", "text", "question", "a", "b", f"{CLUSTER}premise", f"{CLUSTER}wording"),
]


def item_table(material: Material, questions: pd.DataFrame) -> pd.DataFrame:
    """Return every item of the material once, whether or not it is among those that are drawn to be asked.

    Args:
        material: The items.
        questions: What `build_questions` returns of this material, with the column item.

    Returns:
        One row per item: id; kind ("inference" or "reasoning"), set, construction, test, template, reading, answerable,
        cluster_premise and cluster_wording as questions have them; gold (the digit, or the letter in the order of
        options a, b and "not enough information"); premise and hypothesis (of inference, else ""); text, question, a
        and b (of reasoning, else ""); and drawn, whether any question is about it.
    """
    drawn = set(questions["item"])
    inferences = [_of_inference(item) for own in material.inferences.values() for item in own]
    rows = [*inferences, *(_of_reasoning(item) for item in material.reasonings)]
    table = pd.DataFrame(rows, columns=_COLUMNS).drop_duplicates("id", ignore_index=True)
    return table.assign(drawn=table["id"].isin(drawn))


def _of_inference(item: Inference) -> dict[str, object]:
    template = template_cluster(item)
    return {
        **{"id": item.id, "kind": "inference", "set": item.set, "construction": item.construction},
        **{
            "test": "",
            "template": item.template,
            "reading": item.reading,
            "answerable": True,
            "gold": str(RELATIONS.index(item.gold)),
        },
        **{"premise": item.premise, "hypothesis": item.hypothesis, "text": "", "question": "", "a": "", "b": ""},
        **{f"{CLUSTER}premise": item.premise_id, f"{CLUSTER}wording": template},
    }


def _of_reasoning(item: Reasoning) -> dict[str, object]:
    return {
        **{"id": item.id, "kind": "reasoning", "set": item.set, "construction": item.construction},
        **{"test": item.test, "template": "", "reading": "", "answerable": item.answerable, "gold": item.gold},
        **{"premise": "", "hypothesis": "", "text": item.text, "question": item.question, "a": item.a, "b": item.b},
        **{f"{CLUSTER}premise": item.frame_id, f"{CLUSTER}wording": template_cluster(item)},
    }
