"""The task Prompts: its interface to checks, pages and exports, and what must hold of its items."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.constructions.checking import Fault, FoundFaults, Keys, normalised, repeated
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.constructions.people import OTHER_GENDER, gender_of
from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA
from cxprobe.models.prompts import PROMPTS_FOLDER
from cxprobe.results.findings import ReportModels
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.params import ReportParams, task_members
from cxprobe.results.rates import ALL
from cxprobe.results.task import (
    Demand,
    Example,
    PageTable,
    Task,
    published_table,
    read_demand,
    replied_demand,
)
from cxprobe.stats import CLUSTER
from cxprobe.tasks.prompts.items import (
    RELATIONS,
    TESTS_OF_REASONING,
    ConstructionItems,
    InferenceItems,
    ReasoningFrame,
    load_items,
)
from cxprobe.tasks.prompts.make import (
    build_choices,
    build_questions,
    check_sets,
    load_material,
    material_files,
    questions_for,
)
from cxprobe.tasks.prompts.params import CONTROL, MakePrompts, PromptsParams, PromptsStage
from cxprobe.tasks.prompts.wording import (
    InferencePrompts,
    ReasoningPrompts,
    load_continuations,
    load_prompts,
)
from cxprobe.text import Filled, faults_of_text, filler_note, filler_words, slots_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETS: Mapping[str, str] = {
    "templatic": "inference",
    "challenge": "inference, look-alikes",
    "reasoning": "multiple choice",
    f"templatic{CONTROL}": "inference from plain sentences",
    f"reasoning{CONTROL}": "multiple choice about plain sentences",
}
"""Our own sets of questions -> what they are; sets of others have their own names."""
NOTHING_FOLLOWS = "not enough information"
MOST_OF_A_RELATION = 0.45
"""The share of premises to which a hypothesis may be related in the same way. The relation of a hypothesis alone is
then guessed in 45 % of items at most, where chance is 33 %."""
FEWEST_FOR_SHARES = 10
"""Of fewer premises or frames, shares say little."""
MOST_NAMED_FIRST = 0.6
"""The share of frames whose facts may name the same referent first: the right one, or the wrong one."""
_REFERENT = re.compile(r"\{(R[1-4])(?::[A-Za-z]+)?\}")
_FACTS = ("facts", "other_facts", "nonce_facts")


class PromptsTask(Task):
    """Inference and multiple choice, by prompts or by the likelihood of the answers."""

    params = PromptsStage
    title = "Prompts"
    steps = ("make", "score", "evaluate")
    caveat = "A reply without an answer counts as wrong, and chance is what the best constant answer gets."
    items_file = "items.yaml"

    # ---- constructions

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> ConstructionItems:
        """Read the items of a construction."""
        use(CONSTRUCTIONS_FOLDER / entries[0] / self.items_file)
        return load_items(entries[0])

    def examples(self, items: ConstructionItems) -> Iterator[Example]:
        """Yield inferences from the first premise and from others, and each test of the first reasoning frame."""
        if items.inference is not None:
            yield from _inferences(items.inference)
        for frame in items.reasoning[:1]:
            answers = {"R1": frame.option(0), "R2": frame.option(1), "": NOTHING_FOLLOWS}
            for test, text, question, answer in frame.variants():
                others = ", ".join(option for key, option in answers.items() if key != answer)
                kind = f"multiple choice, {test}: {TESTS_OF_REASONING[test]}"
                yield Example(kind, f"{text} {question}", answers[answer], others)

    # ---- checks

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check items.yaml."""
        faults.read(folder / self.items_file, lambda: load_items(folder.name), lint_items)

    def check_shared_files(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check premises of several constructions, the files of prompts, and every question that is asked for."""
        paths = sorted(CONSTRUCTIONS_FOLDER.glob(f"*/{self.items_file}"))
        # check_construction reports their faults.
        read = {path: FoundFaults().attempt(load_items, path.parent.name) for path in paths}
        for path, of_file in lint_premises({path: items for path, items in read.items() if items}).items():
            faults.lint(path, of_file)
        section = params.section(PromptsParams) if params else None
        needed = section is None or bool(section.constructions)
        named = _named_prompts(section.make if section else None)
        before = len(faults.lines)
        loaders: dict[str, Callable[[], Any]] = {
            "inference": lambda: load_prompts(InferencePrompts),
            "reasoning": lambda: load_prompts(ReasoningPrompts),
            "continuations": load_continuations,
        }
        prompts = {
            name: faults.check_prompts(PROMPTS_FOLDER / f"{name}.yaml", load, needed=needed, named=named[name])
            for name, load in loaders.items()
        }
        if params is not None and len(faults.lines) == before:
            _check_questions(params, prompts, faults)

    # ---- plans

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield the prompts that some models get, and the texts that others read."""
        section = params.section(PromptsParams)
        if section.llms:
            questions = read_question_tables(section, "questions")
            for name, part in section.llms.items():
                asked = questions_for(questions, part)["question"].tolist()
                yield from replied_demand(params.llms, "ask_prompts", [name], asked)
        choices, answers = (read_question_tables(section, table) for table in ("choices", "answers"))
        both = answers[["id", "text"]].merge(choices[["id", "question", "anywhere"]], on="id")
        texts = [*(both["question"] + both["text"]), *(both["anywhere"] + both["text"])]
        yield from read_demand(params.models, "measure_prompts", section.models, set(texts))

    # ---- reports

    def part_name(self, part: str) -> str:
        """Return the name of a set in words."""
        return SETS.get(part, part)

    def row_label(self, row: Mapping[Any, Any], items: Any) -> str:
        """Return the set of a row and its number of examples."""
        if not row["shots"] or row["prompt"]:
            return ""
        shots = row["shots"]
        reasoned = ", reasoned" if row["chain_of_thought"] == "True" else ""
        return f"{self.part_name(row['source'])}, {shots} shot{'' if shots == '1' else 's'}{reasoned}"

    def baseline(self, row: Mapping[Any, Any], rates: pd.DataFrame) -> Mapping[Any, Any] | None:
        """Return the deciding rate of the baseline of a row: it answers an item once, whatever the setting."""
        place = [row["baseline"], row["construction"], row["source"], row["measure"]]
        same = (rates[["model", "construction", "source", "measure"]] == place).all(axis=1)
        return next(iter(rates[rates["decides"] & same].to_dict("records")), None)

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return the rates by construction, and by test and prompt."""
        from cxprobe.tasks.prompts.figures import prompt_figures

        score = inputs.stage.params.section(PromptsParams).evaluate.score
        return prompt_figures(inputs.rates(self.name), task_members(inputs.sections[self.name]), score)

    def published(self, construction: str | None, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield published accuracies of a construction, or of all together, beside those of the same models here."""
        path = "evaluate_prompts/tables/beside_published"
        table = inputs.table(path)
        if len(table):
            rows = table[(table["construction"] == (construction or ALL)) & (table["this_run"] != "")]
            yield published_table(rows, "Beside published values", path, models)

    # ---- exports

    def dataset(self, params: ReportParams) -> dict[str, pd.DataFrame]:
        """Return the inferences and the multiple-choice items."""
        items = read_question_tables(params.section(PromptsParams), "items")
        items = items[items["set"].isin(SETS)]
        shared = items[f"{CLUSTER}premise"].astype(str)
        nli = items.assign(premise_id=shared)[items["kind"] == "inference"]
        nli = nli.assign(label=[RELATIONS[int(gold)] for gold in nli["gold"]])
        reasoning = items.assign(frame_id=shared, label=items["gold"])[items["kind"] == "reasoning"]
        neither = load_prompts(ReasoningPrompts).neither
        options = [[a, b, neither] for a, b in zip(reasoning["a"], reasoning["b"], strict=True)]
        listed = pd.Series(options, reasoning.index, dtype=object)
        return {"nli": nli, "reasoning": reasoning.assign(options=listed)}

    def left_out(self, params: ReportParams) -> list[str]:
        """Return a sentence about the items of others, which are not exported, if there are any."""
        names = ", ".join(params.section(PromptsParams).make.files)
        what = f"Items from other people's files ({names}) are not exported."
        return [what] if names else []


def read_question_tables(section: PromptsParams, table: str) -> pd.DataFrame:
    """Read a table of all constructions: "items", "questions", "choices" or "answers"."""
    paths = [DATA / "make_prompts" / name / f"{table}.parquet" for name in section.constructions]
    return pd.concat([read_made_table(path) for path in paths], ignore_index=True)


def _named_prompts(make: MakePrompts | None) -> dict[str, dict[str, tuple[str, str]]]:
    """Return file of prompts -> key of params.yaml -> the section of the file, and the name of the prompt."""
    named: dict[str, dict[str, tuple[str, str]]] = {"inference": {}, "reasoning": {}, "continuations": {}}
    for kind in ("inference", "reasoning"):
        for number, name in enumerate(getattr(make, f"{kind}_prompts", [])):
            named[kind][f"prompts.make.{kind}_prompts[{number}]"] = ("prompts", name)
        for number, name in enumerate(getattr(make and make.continuations, kind, [])):
            named["continuations"][f"prompts.make.continuations.{kind}[{number}]"] = (kind, name)
    return named


def _check_questions(params: ReportParams, prompts: Mapping[str, Any], faults: FoundFaults) -> None:
    """Build every question that params.yaml asks for, as far as what it is built of has no fault."""
    section = params.section(PromptsParams)
    settings, seed, prefix = section.make, params.seed, "params.yaml: "
    inference, reasoning, continuations = prompts.values()
    materials = []
    for name in section.constructions:
        absent = [path for path in material_files(name, settings) if not path.is_file()]
        for path in absent:
            if CONSTRUCTIONS_FOLDER not in path.parents:
                what = "there is no such file; `dvc import` brings it (docs: Repeat Scivetti et al. 2025)"
                faults.lines.append(f"{path}: {what}")
        material = None if absent else faults.attempt(load_material, name, settings, seed=seed)
        if material is None:
            continue
        materials.append(material)
        if inference is not None and reasoning is not None:
            asked = (name, material, inference, reasoning, settings)
            faults.attempt(build_questions, *asked, seed=seed, prefix=prefix)
        if continuations is not None:
            faults.attempt(build_choices, name, material, continuations, settings, seed=seed, prefix=prefix)
    if len(materials) == len(section.constructions):
        faults.attempt(check_sets, materials, settings, prefix=prefix)


def _inferences(asked: InferenceItems) -> Iterator[Example]:
    """Yield the first premise with each hypothesis, and the first one of each other reading and of the look-alikes."""
    first = asked.premises[0]
    shown = [(first.reading, first, asked.golds(first))]
    for reading in asked.readings:
        others = [premise for premise in asked.premises if premise.reading == reading != first.reading]
        shown += [(reading, premise, dict([*asked.golds(premise).items()][:1])) for premise in others[:1]]
    look_alikes = [("look-alike", one, one.gold) for one in asked.challenge[:1]]
    for called, sentence, golds in (*shown, *look_alikes):
        for name, gold in golds.items():
            question = f"{sentence.sentence()} Does it follow: {asked.hypothesis(name, sentence)}"
            yield Example(f"inference, {called}, {name}", question, gold, "")


def lint_inference(asked: InferenceItems) -> Iterator[Fault]:
    """Find what is wrong with the inferences of a construction.

    Args:
        asked: The premises and hypotheses.

    Returns:
        Faults: hypotheses that tell their relation; what is wrong with a text (`faults_of_text`); the same sentence as
        a premise and its hypothesis, or as a hypothesis about two premises; and pronouns that do not agree.
    """
    for name in asked.hypotheses:
        golds = [gold[name] for gold in map(asked.golds, asked.premises) if name in gold]
        relation, number = Counter(golds).most_common(1)[0]
        if len(golds) >= FEWEST_FOR_SHARES and number > MOST_OF_A_RELATION * len(golds):
            share = f"{number} of {len(golds)} premises ({number / len(golds):.0%})"
            yield Fault(
                ("hypotheses", name),
                f"the hypothesis '{name}' has the relation {relation} to {share}, so that it tells the answer; at most "
                f"{MOST_OF_A_RELATION:.0%} are allowed: write premises to which it has another",
            )
    asked_about = list[tuple[Keys, str]]()
    keys: Keys
    for keys, premise in asked.all_premises.items():
        sentence = premise.sentence()
        hypotheses = {name: asked.hypothesis(name, premise) for name in asked.golds(premise)}
        for text in (sentence, *hypotheses.values()):
            yield from (Fault(keys, f"{text!r}: {what}") for what in faults_of_text(text))
        for name, _, text in repeated([("", sentence), *hypotheses.items()]):
            yield Fault(keys, f"{name}: {text!r} says the same as its premise or another hypothesis; replace it")
        for slot, filler in premise.slots.items():
            yield from _disagreeing(keys, filler, f"{slot}: ")
        for name, text in hypotheses.items():
            if keys[0] == "premises" and slots_of(asked.hypotheses[name]):  # others are alike about all premises
                asked_about.append((keys, f"{name}: {text}"))
    for keys, known, text in repeated(asked_about):
        where = f"{known[0]}[{known[1]}] (counted from 0)"
        yield Fault(keys, f"{text!r} is asked about {where} too; replace one of the premises")


def _disagreeing(keys: Keys, filler: Filled, place: str = "") -> Iterator[Fault]:
    """Yield a fault of a noun phrase whose pronoun does not agree with it."""
    gender = gender_of(filler_words(filler))
    if gender is not None and filler_note(filler) == OTHER_GENDER[gender]:
        yield Fault(keys, f"{place}'{filler_words(filler)}' does not agree with its pronoun; write {gender}")


def lint_reasoning(frames: Sequence[ReasoningFrame]) -> Iterator[Fault]:
    """Find what is wrong with the reasoning frames of a construction.

    Args:
        frames: The frames.

    Returns:
        Faults: what is wrong with a text (`faults_of_text`); parts that say the same as another part or frame; facts or
        a question that do not name both; referents that are alike, or that are written out where a slot should be; and
        facts that name the right option first too often, or too seldom.
    """
    for number, frame in enumerate(frames):
        yield from (fault.below(number) for fault in dict.fromkeys(_faults_of_frame(frame)))
    for part in ("rule", *_FACTS):
        for number, known, text in repeated((number, _in_words(frame, part)) for number, frame in enumerate(frames)):
            yield Fault((number, part), f"{part}: {text!r} is in frame {known} (counted from 0) too; replace it")
    # R1 is right in the base test.
    firsts = [match[1] for frame in frames if (match := _REFERENT.search(frame.facts))]
    for referent, answer in (("R1", "right"), ("R2", "wrong")):
        if len(firsts) >= FEWEST_FOR_SHARES and (number := firsts.count(referent)) > MOST_NAMED_FIRST * len(firsts):
            yield Fault(
                (),
                f"the facts of {number} of {len(firsts)} frames name {referent} first, who is {answer}; at most "
                f"{MOST_NAMED_FIRST:.0%} are allowed: let every second frame name R2 first",
            )


def _in_words(frame: ReasoningFrame, part: str) -> str:
    """Return a part with its referents' words."""
    text: str = getattr(frame, part)
    return _REFERENT.sub(lambda match: frame.option(int(match[1][1]) - 1), text)


def _faults_of_frame(frame: ReasoningFrame) -> Iterator[Fault]:
    rules = ["rule"] if frame.swapped is None else ["rule", "swapped"]
    parts: dict[str, str] = {part: getattr(frame, part) for part in (*rules, "question", *_FACTS)}
    for exchanged in (rules, _FACTS):  # by a test
        for part, known, text in repeated((part, parts[part]) for part in exchanged):
            what = f"{part}: {text!r} says the same as {known}, so that a test changes nothing; rewrite it"
            yield Fault((part,), what)
    for rule in rules:
        if normalised(frame.beside or "") not in normalised(parts[rule]):
            yield Fault(("beside",), f"beside: {frame.beside!r} is no part of {rule}; take it from there")
    for part in ("question", *_FACTS):
        if (named := {*_REFERENT.findall(parts[part])}) != {"R1", "R2"}:
            names = ", ".join(sorted(named)) or "nobody"
            yield Fault((part,), f"{part}: {parts[part]!r} names {names}; name R1 and R2, and no other")
    options = [normalised(frame.option(number)) for number in range(4)]
    for number, name in enumerate(options):
        for other in options[:number] + options[number + 1 :]:
            if f" {name} " in f" {other} ":
                yield Fault(("referents", number), f"'{name}' is also in '{other}'; give referents different names")
        yield from _disagreeing(("referents", number), frame.referents[number])
        for part, text in parts.items():
            if f" {name} " in f" {normalised(_REFERENT.sub('|', text))} ":
                what = f"{part}: {text!r} has '{name}' in words, which no test can exchange; write {{R{number + 1}}}"
                yield Fault((part,), what)
    for test, *texts, _ in frame.variants():
        yield from (Fault((), f"{test}: {text!r}: {what}") for text in texts for what in faults_of_text(text))


def lint_items(items: ConstructionItems) -> Iterator[Fault]:
    """Find what is wrong with the inferences and the reasoning items of a construction.

    Args:
        items: Its items.yaml.
    """
    if items.inference is not None:
        yield from (fault.below("inference") for fault in lint_inference(items.inference))
    yield from (fault.below("reasoning") for fault in lint_reasoning(items.reasoning))


def lint_premises(items: Mapping[Path, ConstructionItems]) -> dict[Path, list[Fault]]:
    """Find premises that are there twice, in one file or in two.

    Args:
        items: File -> its content.

    Returns:
        File -> its faults; without the files that have none.
    """
    texts = []
    for path, content in items.items():
        if content.inference is not None:
            every = content.inference.all_premises
            texts += [((path, *keys), premise.sentence()) for keys, premise in every.items()]
    faults: dict[Path, list[Fault]] = {}
    for (path, part, number), (earlier, _, _), text in repeated(texts):
        what = f"the premise {text!r} is in {earlier} too; replace one of them"
        faults.setdefault(path, []).append(Fault(("inference", part, number), what))
    return faults
