"""The questions about a construction, made of its own items and of imported ones."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
from pydantic import Field, StringConstraints

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import PromptError
from cxprobe.files.schema import Closed, suggest
from cxprobe.files.tables import write_table
from cxprobe.models.replies import PROMPTS_FOLDER, PromptName, named, read_prompt_file, with_fields
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.tasks.prompts.items import (
    Item,
    load_items,
    read_inference_file,
    read_reasoning_file,
    render_inferences,
    render_reasonings,
)
from cxprobe.tasks.prompts.params import CONTROL, OWN, PAPER, RELATION_OF, MakePrompts, PromptsStage
from cxprobe.text import Template, fill

ORDERS: Mapping[Literal["paper", "rotated"], tuple[str, ...]] = {"paper": (PAPER,), "rotated": (PAPER, "BCA", "CAB")}
NO_EXAMPLES = "none"


class Prompt(Closed):
    """The text before the item."""

    text: Annotated[str, StringConstraints(min_length=1)]
    """The text, used as it is. In one before a multiple-choice item, {unsure} stands for the letter of the option that
    there is not enough information."""


class _Prompts(Closed):
    """What both files of prompts contain."""

    prompts: Annotated[dict[PromptName, Prompt], Field(min_length=1)]
    """Name -> the text before the item."""
    direct: str
    """How to answer at once; "" if the prompts say so themselves."""
    reasoned: Annotated[str, StringConstraints(min_length=1)]
    """How to answer after a chain of thought."""


class InferencePrompts(_Prompts):
    """How models are asked about a premise and a hypothesis."""

    heading: str
    """The line above the examples."""
    example: Annotated[Template, with_fields("premise", "hypothesis", "answer")]
    """An example with its answer."""
    item: Annotated[Template, with_fields("premise", "hypothesis")]
    """What is asked about."""


class ReasoningPrompts(_Prompts):
    """How models are asked a multiple-choice question."""

    item: Annotated[Template, with_fields("text", "question", "a", "b", "c")]
    """What is asked about, with what stands as option A, B and C."""
    neither: str
    """The option that there is not enough information."""


class Wording(NamedTuple):
    """The contents of the two files of prompts of this task."""

    inference: InferencePrompts
    reasoning: ReasoningPrompts


def load_wording(folder: Path = PROMPTS_FOLDER) -> Wording:
    """Read and check the files of prompts.

    Raises:
        PromptError: One line for every fault of the first file that has any.
    """
    files = Wording.__annotations__.items()
    return Wording(*(read_prompt_file(model, folder / f"{name}.yaml") for name, model in files))


def shown_letter(letter: str, order: str) -> str:
    """Return the letter with which the item's option ``letter`` is shown in an order, see `PAPER`."""
    return PAPER[order.index(letter)]


def ask_item(
    item: Item,
    name: str,
    wording: Wording,
    examples: Sequence[Item] = (),
    *,
    chain_of_thought: bool,
    order: str = PAPER,
) -> tuple[str, dict[str, Any]]:
    """Return the question about a premise and a hypothesis, or the multiple-choice question, and the fields in it.

    The fields are those of the item, of which a and b, and c, are the options as the order shows them.

    Args:
        item: What is asked about.
        name: Which prompt.
        wording: All prompts.
        examples: Inferences about other premises, shown with their answers before this one; none for zero shots.
        chain_of_thought: Whether the model is asked to reason first.
        order: The order in which options are shown; see `PAPER`.

    Raises:
        PromptError: There is no such prompt.

    Source:
        Scivetti et al. 2025, experiments 1 to 3; the words are this project's own.
    """
    prompts: InferencePrompts | ReasoningPrompts = getattr(wording, item.kind)
    before = named(prompts.prompts, name, f"prompts.make.{item.kind}_prompts").text
    options, parts = {"A": item.a, "B": item.b, "C": ""}, list[str]()
    if item.kind == "reasoning":
        options["C"] = wording.reasoning.neither
        before = before.replace("{unsure}", shown_letter("C", order))
    if examples:
        parts.append(wording.inference.heading)
        parts += (fill(wording.inference.example, one._asdict() | {"answer": one.gold}) for one in examples)
    fields = item._asdict() | {letter: options[meant] for letter, meant in zip("abc", order, strict=True)}
    after = prompts.reasoned if chain_of_thought else prompts.direct
    return "\n\n".join(filter(None, [before, *parts, fill(prompts.item, fields), after])), fields


class Material(NamedTuple):
    """The items that the questions about a construction are made of.

    Attributes:
        items: All items to ask about, those of a set together: inferences, its own multiple choice, and imported ones.
        sources: Name of a source of examples, as the parameters give it -> its items.
    """

    items: Sequence[Item]
    sources: Mapping[str, Sequence[Item]]


def load_material(
    construction: str, settings: MakePrompts, *, seed: int, use: Callable[[Path], Path] = Path
) -> Material:
    """Read the items to ask about a construction, and those to show as examples.

    Args:
        construction: Its name.
        settings: Which sets and files.
        seed: The project's seed; it determines the order of the options, and that of the frames of imported sets.
        use: Notes a file before it is read, and returns it.

    Raises:
        ConstructionError: Its items cannot be read.
        DataError: An imported file cannot be read.
    """
    use(CONSTRUCTIONS_FOLDER / construction / "items.yaml")
    own = load_items(construction)
    inferences = render_inferences(own, construction)
    sources = {of: [item for item in inferences if item.set.removesuffix(CONTROL) == of] for of in OWN}
    sources |= {of: read_inference_file(use(Path(path)), of) for of, path in settings.inferences.items()}
    asked = [*(of for of in OWN if of in settings.sets), *settings.inference_files]
    items = [item for of in asked for item in sources[of] if item.construction == construction]
    if "reasoning" in settings.sets:
        items += render_reasonings(own, construction, seed=seed)
    for of, file in settings.reasoning_files(construction).items():
        read = read_reasoning_file(use(Path(file)), of, construction)
        frames = sorted({item.cluster_premise for item in read})
        for index in generator_for(seed, "frames", of).permutation(len(frames)):  # so that the first are a draw too
            items += [item for item in read if item.cluster_premise == frames[index]]
    return Material(items, sources)


def check_sets(present: Collection[str], settings: MakePrompts) -> None:
    """Refuse imported items that are about no construction, or no one that is asked about: they would not be asked.

    Args:
        present: The sets of the items of all constructions that are asked about.
        settings: Which sets there are.

    Raises:
        PromptError: The message has the name of the construction, or the names of these sets.
    """
    known = sorted(path.parent.name for path in CONSTRUCTIONS_FOLDER.glob("*/items.yaml"))
    for of, files in settings.files.items():
        for name in () if isinstance(files, str) else files:
            if name not in known:
                what = f"'{name}' is not a construction with items{suggest(name, known)}"
                raise PromptError(f"prompts.make.files.{of}: {what}")
    if absent := sorted(settings.files.keys() - present):
        raise PromptError(
            f"prompts.make.files.{', '.join(absent)}: has no item about any of prompts.constructions; add a "
            "construction there that it is about, or take the set out"
        )


def choose_examples(
    sources: Sequence[Sequence[Item]], construction: str | None, shots: int, *, seed: int
) -> list[Item]:
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
    drawn: list[Item] = []
    for number, source in enumerate(sources):
        by_premise: dict[str, list[Item]] = {}
        for item in sorted(source, key=lambda item: item.id):
            if construction in (None, item.construction):
                by_premise.setdefault(item.premise, []).append(item)
        of_premises = list(by_premise.values())
        generator = generator_for(seed, "examples", number, construction)
        chosen: dict[str, list[Item]] = {gold: [] for gold in RELATION_OF}
        for index in generator.permutation(len(of_premises)):
            for gold, items in chosen.items():
                fitting = [item for item in of_premises[index] if item.gold == gold]
                if fitting and len(items) < shots:
                    items.append(fitting[generator.integers(len(fitting))])
        if too_few := [f"{len(items)} of {RELATION_OF[gold]}" for gold, items in chosen.items() if len(items) < shots]:
            raise PromptError(
                f"prompts.make.shots: a source of {shots} examples of each relation of {construction or 'anything'} "
                f"has {', '.join(too_few)}; ask for fewer, or name a larger source"
            )
        drawn += [item for items in chosen.values() for item in items]
    order = generator_for(seed, "order of examples", construction, shots, len(sources)).permutation(len(drawn))
    return [drawn[index] for index in order]


def _draw_items(construction: str, items: Sequence[Item], settings: MakePrompts, seed: int) -> list[Item]:
    """Return the items of so many premises or frames of each set, so that what is asked about one stays together.

    The readings of premises take turns, so that no relation is asked for more often because of the draw.
    """
    drawn, sets = list[Item](), dict[str, list[Item]]()
    for item in items:
        sets.setdefault(item.set, []).append(item)
    for of, of_set in sets.items():
        number = settings.control_premises if of.endswith(CONTROL) else settings.premises
        readings = {item.cluster_premise: item.reading for item in of_set}
        order = [*readings]  # of frames: they come in a drawn order in which A and B take turns
        if of_set[0].kind == "inference":
            generator = generator_for(seed, "questions", construction, of.removesuffix(CONTROL))
            shuffled = pd.Series(readings)[generator.permutation(sorted(readings))]
            order = shuffled.groupby(shuffled).cumcount().sort_values(kind="stable").index.tolist()
        kept = {*order[:number]}
        drawn += [item for item in of_set if item.cluster_premise in kept]
    if not drawn:
        raise PromptError(
            f"{construction}: nothing to ask; neither prompts.make.sets nor prompts.make.files has an item about it"
        )
    return drawn


def build_tables(
    construction: str, material: Material, wording: Wording, settings: MakePrompts, *, seed: int
) -> dict[str, pd.DataFrame]:
    """Return every question, and all items.

    No premise that is an example in any setting is asked about, so all settings are compared on the same items.

    Args:
        construction: Its name.
        material: The items and the sources of examples.
        wording: The prompts.
        settings: Which prompts, shots and chains of thought, and how many premises.
        seed: The project's seed.

    Returns:
        questions: Each item with each prompt, number of shots, chain of thought and order: id; item, which is asked
            about; what `Item` says of it, but its texts; prompt; shots; examples (their sources, or "none");
            chain_of_thought; order (of the options, see `PAPER`; "" for inference); question; and option_a, option_b
            and option_c, what is shown with each letter ("" for inference). gold is the letter in this order. The
            questions with the same item, prompt, shots, examples and chain_of_thought differ in the order alone.
        items: See `item_table`.

    Raises:
        PromptError: A prompt is unknown, a source of examples is too small, or there is nothing to ask.
    """
    shown = list[tuple[int, str, Sequence[Item]]]()  # the number of shots, where their examples come from, and these
    for one in settings.shots:
        of = [material.sources[name] for name in one.sources]
        only = construction if one.of_the_construction else None
        drawn_of = choose_examples(of, only, one.number, seed=seed)
        shown.append((one.number, "+".join(one.sources) or NO_EXAMPLES, drawn_of))
    seen = {example.premise for *_, examples in shown for example in examples}
    unseen = [item for item in material.items if item.kind == "reasoning" or item.premise not in seen]
    drawn = _draw_items(construction, unseen, settings, seed)
    inferences = [item for item in drawn if item.kind == "inference"]
    reasonings = [item for item in drawn if item.kind == "reasoning"]
    prompts, thoughts = settings.reasoning_prompts, settings.chain_of_thought
    asked = chain(
        product(settings.inference_prompts, shown, thoughts, inferences, [""]),
        product(prompts, [(0, NO_EXAMPLES, [])], thoughts, reasonings, ORDERS[settings.option_orders]),
    )
    questions = []
    for prompt, (shots, sources, examples), thought, item, order in asked:
        ordered = order or PAPER
        question, fields = ask_item(item, prompt, wording, examples, chain_of_thought=thought, order=ordered)
        parts = [item.id, prompt, str(shots), sources, "reasoned" if thought else "direct"]
        if ordered != PAPER:  # with the paper's order the id is the same whichever others are asked
            parts.append(order)
        row = {"id": "/".join(parts), "item": item.id} | {name: fields[name] for name in _ABOUT}
        row |= {"prompt": prompt, "shots": shots, "examples": sources, "chain_of_thought": thought, "order": order}
        row["gold"] = shown_letter(item.gold, order) if order else item.gold
        questions.append(row | {"question": question} | {f"option_{letter}": fields[letter] for letter in "abc"})
    items = item_table(material.items, {item.id for item in drawn})
    return {"questions": pd.DataFrame(questions), "items": items}


_ABOUT = Item._fields[1:11]  # without texts


def item_table(items: Sequence[Item], drawn: Collection[str]) -> pd.DataFrame:
    """Return every item once: a column for each field of `Item`; and drawn, whether any question is about it."""
    table = pd.DataFrame(items, columns=Item._fields).drop_duplicates("id", ignore_index=True)
    return table.assign(drawn=table["id"].isin(drawn))


_COUNTED = ["construction", "kind", "set", "prompt", "shots", "examples", "chain_of_thought"]


def make(stage: Stage[PromptsStage]) -> Outcome:
    """Make every question about every construction."""
    settings, seed = stage.params.prompts.make, stage.params.seed
    for stem in Wording._fields:
        stage.use(PROMPTS_FOLDER / f"{stem}.yaml")
    wording, asked = load_wording(), []
    names = stage.params.prompts.constructions
    materials = {name: load_material(name, settings, seed=seed, use=stage.use) for name in names}
    check_sets({item.set for material in materials.values() for item in material.items}, settings)
    for name, material in materials.items():
        made = build_tables(name, material, wording, settings, seed=seed)
        for stem, table in made.items():
            write_table(table, stage.data / name / f"{stem}.parquet")
        asked.append(made["questions"])
    counted = pd.concat(asked).groupby(_COUNTED, sort=False).size().reset_index(name="questions")
    counts = {"questions": int(counted["questions"].sum())}
    return Outcome(counts=counts, tables={"questions": counted})
