"""The questions about a construction, in words and as texts to continue, made of its own items and of imported ones."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import PromptError
from cxprobe.files.schema import suggest
from cxprobe.files.tables import write_table
from cxprobe.models.prompts import PROMPTS_FOLDER, named
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.stats import CLUSTER
from cxprobe.tasks.prompts.items import (
    RELATIONS,
    Inference,
    Reasoning,
    load_items,
    read_inference_file,
    read_reasoning_file,
    render_inferences,
    render_reasonings,
)
from cxprobe.tasks.prompts.params import CONTROL, OWN, AskedOf, MakePrompts, PromptsStage, Shots
from cxprobe.tasks.prompts.wording import (
    ORDERS,
    PAPER,
    Continuations,
    InferencePrompts,
    ReasoningPrompts,
    ask_item,
    continue_item,
    load_continuations,
    load_prompts,
    shown_letter,
    shown_options,
)

NO_EXAMPLES = "none"


class Material(NamedTuple):
    """The items that the questions about a construction are made of.

    Attributes:
        inferences: Name of a set -> its items about the construction.
        reasonings: The multiple-choice items about the construction: its own, then those of each imported set.
        sources: Name of a source of examples, as the parameters give it -> its items.
    """

    inferences: Mapping[str, Sequence[Inference]]
    reasonings: Sequence[Reasoning]
    sources: Mapping[str, Sequence[Inference]]

    @property
    def items(self) -> list[Inference | Reasoning]:
        """All items to ask about."""
        return [*chain.from_iterable(self.inferences.values()), *self.reasonings]


def material_files(construction: str, settings: MakePrompts) -> list[Path]:
    """Return the files that `load_material` reads: the first is the construction's own."""
    paths = [CONSTRUCTIONS_FOLDER / construction / "items.yaml"]
    if _own_sets_of_all(settings):
        paths += sorted(CONSTRUCTIONS_FOLDER.glob("*/items.yaml"))
    paths += map(Path, _inference_files(settings).values())
    for files in settings.reasoning_files.values():
        if construction in files:
            paths.append(Path(files[construction]))
    return list(dict.fromkeys(paths))


def load_material(construction: str, settings: MakePrompts, *, seed: int) -> Material:
    """Read the items to ask about a construction, and those to show as examples.

    Examples of the project's own are drawn from the construction's items or, where an entry of shots has
    ``of_the_construction: false``, from those of all folders of ``constructions/``, whatever is asked about: adding a
    construction to those that are asked about changes no other construction's examples.

    Args:
        construction: Its name.
        settings: Which sets and files.
        seed: The project's seed; it determines the order of the options, and that of the frames of imported sets.

    Raises:
        ConstructionError: Its items cannot be read.
        DataError: An imported file cannot be read.
        PromptError: The parameters have a file of multiple choice for a construction that there is not.
    """
    known = sorted(path.parent.name for path in CONSTRUCTIONS_FOLDER.glob("*/items.yaml"))
    for of, paths in settings.reasoning_files.items():
        if unknown := [name for name in paths if name not in known]:
            raise PromptError(
                f"prompts.make.files.{of}: '{unknown[0]}' is not a construction with items{suggest(unknown[0], known)}"
            )
    items = load_items(construction)
    pool = render_inferences(items, construction)
    anywhere = _own_sets_of_all(settings)
    for name in known if anywhere else ():
        if name != construction:
            pool += [item for item in render_inferences(load_items(name), name) if item.set in anywhere]
    files = {of: read_inference_file(Path(path), of) for of, path in _inference_files(settings).items()}
    own = {of: [item for item in pool if item.set.removesuffix(CONTROL) == of] for of in OWN}
    sources = own | files
    asked = [*(of for of in OWN if of in settings.sets), *settings.inference_files]
    inferences = {of: [item for item in sources[of] if item.construction == construction] for of in asked}
    reasonings = render_reasonings(items, construction, seed=seed) if "reasoning" in settings.sets else []
    for of, paths in settings.reasoning_files.items():
        if construction in paths:
            file = read_reasoning_file(Path(paths[construction]), of, construction)
            frames = sorted({item.frame_id for item in file})
            for index in generator_for(seed, "frames", of).permutation(len(frames)):  # so that the first are a draw too
                reasonings += [item for item in file if item.frame_id == frames[index]]
    return Material(inferences, reasonings, sources)


def check_sets(materials: Iterable[Material], settings: MakePrompts) -> None:
    """Refuse imported sets that no construction has an item of, so that they would be read and never asked.

    Args:
        materials: Those of all constructions that are asked about.
        settings: Which sets there are.

    Raises:
        PromptError: The message has the names of these sets.
    """
    present = {item.set for material in materials for item in material.items}
    if absent := sorted(settings.files.keys() - present):
        raise PromptError(
            f"prompts.make.files.{', '.join(absent)}: has no item about any of prompts.constructions; add a "
            "construction there that it is about, or take the set out"
        )


def _inference_files(settings: MakePrompts) -> dict[str, str]:
    """Return the imported inferences: those asked about by the names of their sets, examples by their paths."""
    sources = sorted({source for shots in settings.shots for source in shots.sources} - set(OWN))
    return {of: of for of in sources} | settings.inference_files


def _own_sets_of_all(settings: MakePrompts) -> set[str]:
    """Return the project's own sets from which examples are drawn whatever construction they are of."""
    return {source for shots in settings.shots if not shots.of_the_construction for source in shots.sources} & set(OWN)


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
    drawn: list[Inference] = []
    for number, source in enumerate(sources):
        by_premise: dict[str, list[Inference]] = {}
        for item in sorted(source, key=lambda item: item.id):
            if construction in (None, item.construction):
                by_premise.setdefault(item.premise, []).append(item)
        of_premises = list(by_premise.values())
        generator = generator_for(seed, "examples", number, construction)
        chosen: dict[str, list[Inference]] = {relation: [] for relation in RELATIONS}
        for index in generator.permutation(len(of_premises)):
            for relation, items in chosen.items():
                fitting = [item for item in of_premises[index] if item.gold == relation]
                if fitting and len(items) < shots:
                    items.append(fitting[generator.integers(len(fitting))])
        if too_few := [f"{len(items)} of {relation}" for relation, items in chosen.items() if len(items) < shots]:
            raise PromptError(
                f"{shots} examples of each relation were asked for{f' of {construction}' if construction else ''}, but "
                f"a source has {', '.join(too_few)}; ask for fewer shots, name a larger source, or let them be of any "
                "construction (of_the_construction: false)"
            )
        drawn += [item for items in chosen.values() for item in items]
    order = generator_for(seed, "order of examples", construction, shots, len(sources)).permutation(len(drawn))
    return [drawn[index] for index in order]


class _Question(NamedTuple):
    """An item with one prompt and setting; ``order`` is that of its options, "" for an inference."""

    item: Inference | Reasoning
    prompt: str
    chain_of_thought: bool
    shots: int = 0
    sources: str = NO_EXAMPLES
    examples: Sequence[Inference] = ()
    order: str = ""

    def row(self) -> dict[str, object]:
        """Return the columns that questions in words and texts to continue have alike."""
        item, order = self.item, self.order
        parts = [item.id, self.prompt, str(self.shots), self.sources, "reasoned" if self.chain_of_thought else "direct"]
        if order not in ("", PAPER):  # in the paper's order the id does not depend on whether other orders are asked
            parts.append(order)
        row = {"id": "/".join(parts), "item": item.id} | _about(item)
        if order:
            row["gold"] = shown_letter(item.gold, order)
        row |= {"prompt": self.prompt, "shots": self.shots, "examples": self.sources}
        return row | {"chain_of_thought": self.chain_of_thought, "order": order}


class _Selection(NamedTuple):
    """The items that are asked about, and the examples for each number of shots."""

    inferences: Sequence[Inference]
    reasonings: Sequence[Reasoning]
    by_shots: Sequence[tuple[Shots, Sequence[Inference]]]

    def questions(
        self, prompts: Sequence[str], orders: Mapping[str, Sequence[str]], thoughts: Sequence[bool]
    ) -> Iterator[_Question]:
        """Yield what is asked; ``orders`` has, for each prompt of multiple choice, the orders of the options."""
        for prompt, (shots, examples), thought, item in product(prompts, self.by_shots, thoughts, self.inferences):
            yield _Question(item, prompt, thought, shots.number, "+".join(shots.sources) or NO_EXAMPLES, examples)
        for prompt, thought, reasoning in product(orders, thoughts, self.reasonings):
            for order in orders[prompt]:
                yield _Question(reasoning, prompt, thought, order=order)


def build_questions(
    construction: str,
    material: Material,
    inference_prompts: InferencePrompts,
    reasoning_prompts: ReasoningPrompts,
    settings: MakePrompts,
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
        One row per question: id; item, which is asked about; kind ("inference" or "reasoning"); set; construction;
        control, whether it is of a control of the format; test (of reasoning, else ""); template and reading (of
        inference, else ""); answerable; prompt; shots; examples (their sources, or "none"); chain_of_thought; order (of
        the options, see `cxprobe.tasks.prompts.wording.PAPER`; "" for inference); gold (the digit, or the letter in
        this order); cluster_premise (the premise or frame); cluster_wording (the item itself where there is no
        template); question; and option_a, option_b and option_c, what is shown with each letter ("" for inference). The
        questions with the same item, prompt, shots, examples and chain_of_thought differ in the order alone.

    Raises:
        PromptError: A prompt or a source of examples is unknown, a source is too small, or there is nothing to ask.
    """
    selection = _select(construction, material, settings, seed)
    orders = dict.fromkeys(settings.reasoning_prompts, ORDERS[settings.option_orders])
    rows = []
    for asked in selection.questions(settings.inference_prompts, orders, settings.chain_of_thought):
        item, order = asked.item, asked.order or PAPER
        prompts, thought = (inference_prompts, reasoning_prompts), asked.chain_of_thought
        question = ask_item(item, asked.prompt, *prompts, asked.examples, chain_of_thought=thought, order=order)
        shown = dict.fromkeys("abc", "")
        if isinstance(item, Reasoning):
            shown = shown_options(item, reasoning_prompts.neither, order)
        options = {f"option_{letter}": option for letter, option in shown.items()}
        rows.append(asked.row() | {"question": question} | options)
    return pd.DataFrame(rows)


def questions_for(questions: pd.DataFrame, asked: AskedOf) -> pd.DataFrame:
    """Return the prompts that a model gets, of what `build_questions` returns."""
    if asked.sets is not None:
        questions = questions[questions["set"].isin(asked.sets)]
    if asked.shots is not None:
        questions = questions[questions["shots"].isin(asked.shots) | (questions["kind"] == "reasoning")]
    if asked.chain_of_thought is not None:
        questions = questions[questions["chain_of_thought"].isin(asked.chain_of_thought)]
    return questions.reset_index(drop=True)


def build_choices(
    construction: str, material: Material, continuations: Continuations, settings: MakePrompts, *, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the same items as `build_questions` as texts to continue: with each continuation and number of shots.

    Args:
        construction: Its name.
        material: The items and the sources of examples.
        continuations: The texts.
        settings: The prompts; the items and the examples are the same. ``settings.continuations`` says
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
    texts = settings.continuations
    selection = _select(construction, material, settings, seed)
    few = [(shots, examples) for shots, examples in selection.by_shots if shots.number <= texts.most_shots]
    if not few:
        raise PromptError(
            f"prompts.make.continuations.most_shots is {texts.most_shots}, but each entry of prompts.make.shots has "
            "more; raise the first, or add an entry with fewer shots"
        )
    orders = dict.fromkeys(texts.reasoning, ORDERS["paper"])
    for name in texts.reasoning:
        if named(continuations.reasoning, name, "continuation").lists_options:
            orders[name] = ORDERS[settings.option_orders]
    rows, answers = [], []
    for asked in selection._replace(by_shots=few).questions(texts.inference, orders, [False]):
        choice = continue_item(asked.item, asked.prompt, continuations, asked.examples, asked.order or PAPER)
        row = asked.row() | {"question": choice.context, "anywhere": choice.anywhere}
        rows.append(row)
        answers += [(row["id"], symbol, text) for symbol, text in choice.answers.items()]
    return pd.DataFrame(rows), pd.DataFrame(answers, columns=["id", "answer", "text"])


def item_table(material: Material, questions: pd.DataFrame) -> pd.DataFrame:
    """Return every item of the material once, whether or not it is among those that are drawn to be asked.

    Args:
        material: The items.
        questions: What `build_questions` returns of this material, with the column item.

    Returns:
        One row per item: id; kind ("inference" or "reasoning"), set, construction, control, test, template, reading,
        answerable, cluster_premise and cluster_wording as questions have them; gold (the digit, or the letter in the
        order of options a, b and "not enough information"); premise and hypothesis (of inference, else ""); text,
        question, a, b and facts (of reasoning, else ""); and drawn, whether any question is about it.
    """
    texts = ("premise", "hypothesis", "text", "question", "a", "b", "facts")
    rows = []
    for item in material.items:
        rows.append({"id": item.id} | _about(item) | {name: getattr(item, name, "") for name in texts})
    table = pd.DataFrame(rows).drop_duplicates("id", ignore_index=True)
    return table.assign(drawn=table["id"].isin(set(questions["item"])))


def _about(item: Inference | Reasoning) -> dict[str, object]:
    """Return the columns that every table about an item has."""
    row = {"set": item.set, "construction": item.construction, "control": item.control}
    if isinstance(item, Reasoning):
        row |= {"kind": "reasoning", "test": item.test, "template": "", "reading": "", "answerable": item.answerable}
        return row | {"gold": item.gold, f"{CLUSTER}premise": item.frame_id, f"{CLUSTER}wording": item.id}
    row |= {"kind": "inference", "test": "", "template": item.template, "reading": item.reading, "answerable": True}
    wording = f"{item.construction} {item.template}" if item.template else item.id
    gold = str(RELATIONS.index(item.gold))
    return row | {"gold": gold, f"{CLUSTER}premise": item.premise_id, f"{CLUSTER}wording": wording}


def _select(construction: str, material: Material, settings: MakePrompts, seed: int) -> _Selection:
    by_shots = []
    for shots in settings.shots:
        sources = [material.sources[name] for name in shots.sources]
        only = construction if shots.of_the_construction else None
        by_shots.append((shots, choose_examples(sources, only, shots.number, seed=seed)))
    shown = {example.premise for _, examples in by_shots for example in examples}
    inferences: list[Inference] = []
    for name, items in material.inferences.items():
        unseen = [item for item in items if item.premise not in shown]
        number = settings.control_premises if items and items[0].control else settings.premises
        inferences += _of_drawn_premises(unseen, number, (construction, name), seed)
    reasonings: list[Reasoning] = []
    for name in dict.fromkeys(item.set for item in material.reasonings):
        # The first frames: they come in a drawn order in which A and B take turns.
        of_set = [item for item in material.reasonings if item.set == name]
        number = settings.control_premises if of_set[0].control else settings.premises
        first = set(list(dict.fromkeys(item.frame_id for item in of_set))[:number])
        reasonings += [item for item in of_set if item.frame_id in first]
    if not inferences and not reasonings:
        raise PromptError(
            f"{construction}: nothing to ask; neither prompts.make.sets nor prompts.make.files has an item about it"
        )
    return _Selection(inferences, reasonings, by_shots)


def _of_drawn_premises(
    items: Sequence[Inference], number: int | None, of: tuple[str, str], seed: int
) -> Sequence[Inference]:
    """Return the items of so many premises, so that what is asked about one stays together.

    The readings take turns, so that no relation is asked for more often because of the draw.
    """
    readings = {item.premise_id: item.reading for item in items}
    if number is None or number >= len(readings):
        return items
    order = generator_for(seed, "questions", *of).permutation(sorted(readings))
    shuffled = pd.Series(readings)[order]
    turns = shuffled.groupby(shuffled).cumcount().sort_values(kind="stable")
    drawn = set(turns.index[:number])
    return [item for item in items if item.premise_id in drawn]


_COUNTED = ["construction", "kind", "set", "prompt", "shots", "examples", "chain_of_thought"]


def make(stage: Stage[PromptsStage]) -> Outcome:
    """Make every question about every construction, in words and as texts to continue."""
    settings, seed = stage.params.prompts.make, stage.params.seed
    for stem in ("inference", "reasoning", "continuations"):
        stage.use(PROMPTS_FOLDER / f"{stem}.yaml")
    inference, reasoning = load_prompts(InferencePrompts), load_prompts(ReasoningPrompts)
    continuations = load_continuations()
    materials, asked = {}, []
    for name in stage.params.prompts.constructions:
        for path in material_files(name, settings):
            stage.use(path)
        materials[name] = load_material(name, settings, seed=seed)
    check_sets(materials.values(), settings)
    for name, material in materials.items():
        questions = build_questions(name, material, inference, reasoning, settings, seed=seed)
        choices, answers = build_choices(name, material, continuations, settings, seed=seed)
        items = item_table(material, questions)
        made = {"questions": questions, "choices": choices, "answers": answers, "items": items}
        for stem, table in made.items():
            write_table(table, stage.data / name / f"{stem}.parquet")
        asked += [questions, choices]
    counted = pd.concat(asked).groupby(_COUNTED, sort=False).size().reset_index(name="questions")
    counts = {"questions": int(counted["questions"].sum())}
    return Outcome(counts=counts, tables={"questions": counted})
