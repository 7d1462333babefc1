"""The task Prompts: its interface to checks, pages and exports, and what must hold of its items."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.constructions.checking import Fault, FoundFaults, is_there, normalised, repeated
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.models.params import Member
from cxprobe.models.replies import PROMPTS_FOLDER, read_prompt_file
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.params import ReportParams, task_members
from cxprobe.results.published import Beside
from cxprobe.results.rates import ALL
from cxprobe.results.task import Demand, Example, ExportedItems, ReportInputs, Shown, Task, replied_demand
from cxprobe.stats import CLUSTER
from cxprobe.tasks.prompts.evaluate import BY_TEST_AND_PROMPT, accuracies_by_setting
from cxprobe.tasks.prompts.items import (
    TESTS_OF_REASONING,
    ConstructionItems,
    InferenceItems,
    ReasoningFrame,
    load_items,
)
from cxprobe.tasks.prompts.make import Wording, build_tables, check_sets, load_material, load_wording
from cxprobe.tasks.prompts.params import CONTROL, RELATIONS, PromptsParams, PromptsStage
from cxprobe.text import faults_of_text

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
    """Inference and multiple choice, by prompts."""

    params = PromptsStage
    title = "Prompts"
    asks = ()
    caveat = "A reply without an answer counts as wrong, and chance is what the best constant answer gets."
    items_file = "items.yaml"
    beside = Beside("Prompts: percent beside published values (*: differs from the published rate)", of_both=True)

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
            answers = {"R1": frame.option(0), "R2": frame.option(1), "": "not enough information"}
            for test, text, question, answer in frame.variants():
                others = ", ".join(option for key, option in answers.items() if key != answer)
                kind = f"multiple choice, {test}: {TESTS_OF_REASONING[test]}"
                yield Example(kind, f"{text} {question}", answers[answer], others)

    # ---- checks

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check items.yaml."""
        faults.read(folder / self.items_file, lambda: load_items(folder.name), lint_items)

    def check(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the files of prompts, and every question that is asked for."""
        super().check(params, faults)
        section, before = params.section(PromptsParams) if params else None, len(faults.lines)
        needed, contents = section is None or bool(section.constructions), list[Any]()
        for name, model in Wording.__annotations__.items():
            path = PROMPTS_FOLDER / f"{name}.yaml"
            contents.append(faults.attempt(read_prompt_file, model, path) if needed or is_there(path) else None)
        if params is not None and needed and len(faults.lines) == before:
            _check_questions(params, Wording(*contents), faults)

    # ---- plans

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield the prompts that each model gets."""
        section = params.section(PromptsParams)
        questions = section.made("questions")
        for name, part in section.llms.items():
            yield from replied_demand(params.llms, "ask_prompts", [name], part.part_of(questions)["question"].tolist())

    # ---- reports

    def shown(self, row: Mapping[Any, Any], rates: pd.DataFrame, items: Any) -> Shown | None:
        """Return the set of a row and its number of examples.

        The baseline is the rate that decides of it: it answers an item once, whatever the setting.
        """
        if not row["shots"] or row["prompt"]:
            return None
        shots = f"{row['shots']} shot{'' if row['shots'] == '1' else 's'}"
        reasoned = ", reasoned" if row["chain_of_thought"] == "True" else ""
        way = f"{SETS.get(row['source'], row['source'])}, {shots}{reasoned}"
        place = [row["baseline"], row["construction"], row["source"], row["measure"]]
        same = (rates[["model", "construction", "source", "measure"]] == place).all(axis=1)
        baseline = next(iter(rates[rates["decides"] & same].to_dict("records")), None)
        return Shown(way, baseline=baseline)

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return the rates by construction, and by test and prompt."""
        return prompt_figures(inputs.rates(self.name), task_members(inputs.sections[self.name]))

    # ---- exports

    def export(self, params: ReportParams) -> ExportedItems:
        """Return the inferences and the multiple-choice items; those of others are not exported."""
        section = params.section(PromptsParams)
        items = section.made("items")
        items = items[items["set"].isin(SETS)]
        shared = items[f"{CLUSTER}premise"].astype(str)
        nli = items.assign(premise_id=shared)[items["kind"] == "inference"]
        nli = nli.assign(label=[RELATIONS[int(gold)] for gold in nli["gold"]])
        reasoning = items.assign(frame_id=shared, label=items["gold"])[items["kind"] == "reasoning"]
        neither = load_wording().reasoning.neither
        options = [[a, b, neither] for a, b in zip(reasoning["a"], reasoning["b"], strict=True)]
        listed = pd.Series(options, reasoning.index, dtype=object)
        names = ", ".join(section.make.files)
        left_out = [f"Items from other people's files ({names}) are not exported."] * bool(names)
        return ExportedItems({"nli": nli, "reasoning": reasoning.assign(options=listed)}, left_out)


def prompt_figures(rates: pd.DataFrame, members: Sequence[Member]) -> "dict[str, Figure]":
    """Draw the rates of all models, by name: by construction, and by test and prompt.

    By construction, those of the best prompt of each model and set are drawn, in the setting in which it is the best.
    Baselines are not drawn one by one: the best of them in each cell is.

    Args:
        rates: See `accuracies_by_setting`.
        members: The models.

    Source:
        Scivetti et al. 2025, Figures 1 and 2.
    """
    from cxprobe.results.plots import dots, marks_of  # matplotlib takes a second to import

    def draw(table: pd.DataFrame, title: str, row: str, panel: str, best: pd.DataFrame | None = None) -> "Figure":
        reasoned = table["chain_of_thought"].astype(str).map({"True": ", reasoned", "False": ""})
        table = table.assign(label=table["model"].map(names) + reasoned)
        return dots(marks_of(table, row=row, panel=panel, kind="label", best=best), title=title)

    names = {one.slug: one.label for one in members}
    accuracies = accuracies_by_setting(rates)
    is_baseline = accuracies["model"].isin([one.slug for one in members if one.is_baseline])
    over_prompts = accuracies["prompt"] == ""
    of_baselines = best_baseline(accuracies[is_baseline & over_prompts], ["construction", "set"], members)
    drawn = accuracies[~is_baseline & ~over_prompts]
    figures, inference = {}, drawn[~drawn["is_multiple"]]
    ranked = inference[inference["construction"] == ALL].sort_values("accuracy", ascending=False, kind="stable")
    if len(ranked):
        setting = ["model", "set", "shots", "examples", "chain_of_thought", "prompt"]
        best = ranked.drop_duplicates(["model", "set"]).sort_index()[setting]
        by_construction = inference[inference["construction"] != ALL].merge(best)
        title = "Inference by construction, with each model's best prompt and examples"
        figures["best_by_construction"] = draw(by_construction, title, "construction", "set", of_baselines)
    tests = rates[BY_TEST_AND_PROMPT.among(rates) & (rates["construction"] == ALL)]
    tests = tests[tests["model"].isin(drawn["model"])].rename(columns={"value": "accuracy"}).reset_index(drop=True)
    tests = tests[tests.groupby("source")["prompt"].transform("nunique") > 1]
    unanswerable = tests[tests["answerable"] == "False"].groupby("prompt")["accuracy"].mean()
    if len(unanswerable):
        tests = tests[tests["prompt"].isin([unanswerable.idxmin(), unanswerable.idxmax()])]
        tests = tests.sort_values("answerable", ascending=False, kind="stable")
        rows = tests["test"] + tests["answerable"].map({"True": "", "False": " (C)"})
        sources = ", " + tests["source"] if tests["source"].nunique() > 1 else ""
        tests = tests.assign(row=rows, panel=tests["prompt"] + sources)
        title = "Reasoning by test, with the two prompts that differ most where nothing follows (C)"
        figures["tests_by_prompt"] = draw(tests, title, "row", "panel")
    return figures


def _check_questions(params: ReportParams, wording: Wording, faults: FoundFaults) -> None:
    """Build every question that params.yaml asks for, as far as what it is built of has no fault."""
    section = params.section(PromptsParams)
    settings, seed, prefix = section.make, params.seed, "params.yaml: "
    of_constructions = [path for name in section.constructions for path in settings.reasoning_files(name).values()]
    paths = dict.fromkeys([*settings.inferences.values(), *of_constructions])
    if absent := [path for path in paths if not Path(path).is_file()]:
        what = "there is no such file; `dvc import` brings it (docs: Repeat Scivetti et al. 2025)"
        faults.lines += [f"{path}: {what}" for path in absent]
        return
    present, before = set[str](), len(faults.lines)
    for name in section.constructions:
        if (CONSTRUCTIONS_FOLDER / name / "items.yaml").is_file():  # `Task.check` reports others
            material = faults.attempt(load_material, name, settings, seed=seed)
            if material is not None:
                present |= {item.set for item in material.items}
                faults.attempt(build_tables, name, material, wording, settings, seed=seed, prefix=prefix)
    if len(faults.lines) == before:
        faults.attempt(check_sets, present, settings, prefix=prefix)


def _inferences(asked: InferenceItems) -> Iterator[Example]:
    """Yield the first premise with each hypothesis, and the first one of each other reading and of the look-alikes."""
    shown: set[str] = set()
    for premise in asked.all_premises.values():
        if premise.reading not in shown:
            golds = [*asked.golds(premise).items()][: 1 if shown else None]
            shown.add(premise.reading)
            for name, gold in golds:
                question = f"{premise.sentence()} Does it follow: {asked.hypothesis(name, premise)}"
                yield Example(f"inference, {premise.reading or 'look-alike'}, {name}", question, gold, "")


def lint_inference(asked: InferenceItems) -> Iterator[Fault]:
    """Find what is wrong with the inferences of a construction.

    Args:
        asked: The premises and hypotheses.

    Returns:
        Faults: hypotheses that tell their relation; what is wrong with a text (`faults_of_text`); the same sentence as
        a premise and its hypothesis, or as two premises.
    """
    for name in asked.hypotheses:
        golds = [gold[name] for gold in map(asked.golds, asked.premises) if name in gold]
        for relation, share in _too_often(golds, MOST_OF_A_RELATION):
            what = f"the hypothesis '{name}' tells the answer: its relation is {relation} to {share}"
            yield Fault(("hypotheses", name), f"{what}; write premises to which it has another")
    for keys, premise in asked.all_premises.items():
        said = [premise.sentence(), *(asked.hypothesis(name, premise) for name in asked.golds(premise))]
        yield from (Fault(keys, f"{text!r}: {what}") for text in said for what in faults_of_text(text))
        for *_, text in repeated(enumerate(said)):
            yield Fault(keys, f"{text!r} says the same as its premise or another hypothesis; replace it")
    premises = ((keys, premise.sentence()) for keys, premise in asked.all_premises.items())
    for keys, (part, number), text in repeated(premises):
        yield Fault(keys, f"{text!r} is {part}[{number}] (counted from 0) too; replace one of them")


def lint_reasoning(frames: Sequence[ReasoningFrame]) -> Iterator[Fault]:
    """Find what is wrong with the reasoning frames of a construction.

    Args:
        frames: The frames.

    Returns:
        Faults: what is wrong with a text (`faults_of_text`); parts that say the same as another part; facts or a
        question that do not name both; referents that are alike, or that are written out where a slot should be; and
        facts that name the right option first too often, or too seldom.
    """
    for number, frame in enumerate(frames):
        yield from (fault.below(number) for fault in dict.fromkeys(_faults_of_frame(frame)))
    firsts = [match[1] for frame in frames if (match := _REFERENT.search(frame.facts))]
    for referent, share in _too_often(firsts, MOST_NAMED_FIRST):
        yield Fault((), f"{referent} is named first by the facts of {share}; let every second frame name R2 first")


def _too_often(values: Sequence[str], most: float) -> Iterator[tuple[str, str]]:
    """Yield the most frequent value, and its share in words, if it is more than ``most`` of many values."""
    for value, number in Counter(values).most_common(1) if len(values) >= FEWEST_FOR_SHARES else ():
        if number > most * len(values):
            share = f"{number} of {len(values)} ({number / len(values):.0%}), and at most {most:.0%} are allowed"
            yield value, share


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
