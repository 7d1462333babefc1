"""The task Prompts: its interface to checks, pages and exports."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from ruamel.yaml import YAML

from cxprobe.constructions.checking import FoundFaults
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import PromptError
from cxprobe.files.schema import validate
from cxprobe.files.tables import read_made_table
from cxprobe.files.writing import DATA, replacing
from cxprobe.models.prompts import PROMPTS_FOLDER
from cxprobe.results.findings import ReportModels
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.params import ReportParams, task_members
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
from cxprobe.tasks.prompts.checks import lint_items, lint_premises
from cxprobe.tasks.prompts.items import (
    RELATIONS,
    TESTS_OF_REASONING,
    ConstructionItems,
    InferenceItems,
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
    VERBATIM,
    InferencePrompts,
    ReasoningPrompts,
    Verbatim,
    load_continuations,
    load_prompts,
)

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


class PromptsTask(Task):
    """Inference and multiple choice, asked in words or by the likelihood of the answers."""

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

    def import_prompts(self, files: Sequence[Path]) -> dict[Path, list[str]]:
        """Write prompts/verbatim.yaml, see `cxprobe.tasks.prompts.verbatim.verbatim_prompts`."""
        from cxprobe.tasks.prompts.verbatim import verbatim_prompts

        path = PROMPTS_FOLDER / VERBATIM
        if path.exists():
            raise PromptError(f"{path}: there is one already, perhaps with changes; remove it first")
        sections = verbatim_prompts(files)
        validate(Verbatim, sections, path, PromptError)
        yaml: Any = YAML(typ="safe")
        yaml.width = 120
        with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
            yaml.dump(sections, file)
        return {path: [name for section in sections.values() for name in section["prompts"]]}

    def check_shared_files(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check premises of several constructions, the files of prompts, and every question that is asked for."""
        paths = sorted(CONSTRUCTIONS_FOLDER.glob(f"*/{self.items_file}"))
        # check_construction reports their faults.
        read = {path: FoundFaults().attempt(load_items, path.parent.name) for path in paths}
        for path, of_file in lint_premises({path: items for path, items in read.items() if items}).items():
            faults.lint(path, of_file)
        section = params.section(PromptsParams) if params else None
        needed = section is None or bool(section.constructions)
        wording = section.make.wording if section else "own"
        named = _named_prompts(section.make if section else None)
        before = len(faults.lines)
        loaders: dict[str, Callable[[], Any]] = {
            "inference": lambda: load_prompts(InferencePrompts, wording=wording),
            "reasoning": lambda: load_prompts(ReasoningPrompts, wording=wording),
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
        """Yield the questions that models are asked in words, and the texts that others read."""
        section = params.section(PromptsParams)
        if section.llms:
            questions = read_question_tables(section, "questions", others=True)
            for name in section.llms:
                asked = questions_for(questions, name, section)["question"].tolist()
                yield from replied_demand(params.llms, "ask_prompts", [name], asked)
        choices, answers = (read_question_tables(section, table, others=True) for table in ("choices", "answers"))
        both = answers[["id", "text"]].merge(choices[["id", "question", "anywhere"]], on="id")
        texts = [*(both["question"] + both["text"]), *(both["anywhere"] + both["text"])]
        yield from read_demand(params.models, "measure_prompts", section.models, set(texts))

    # ---- reports

    def part_name(self, part: str) -> str:
        """Return the name of a set in words."""
        return SETS.get(part, part)

    def row_label(self, row: Mapping[Any, Any], items: Any) -> str:
        """Return the set of a row and its number of examples."""
        if row["facet"] != "setting":
            return ""
        shots, thought, _ = row["level"].split(".", 2)
        reasoned = ", reasoned" if thought == "True" else ""
        return f"{self.part_name(row['source'])}, {shots} shot{'' if shots == '1' else 's'}{reasoned}"

    def baseline(self, row: Mapping[Any, Any], rates: pd.DataFrame) -> Mapping[Any, Any] | None:
        """Return the deciding rate of the baseline of a row: it answers an item once, whatever the setting."""
        place = [row["baseline"], row["construction"], row["source"], row["measure"]]
        same = (rates[["model", "construction", "source", "measure"]] == place).all(axis=1)
        return next(iter(rates[rates["decides"] & same].to_dict("records")), None)

    def figures(self, inputs: ReportInputs) -> "dict[str, Figure]":
        """Return the rates by construction, and by test and prompt."""
        from cxprobe.tasks.prompts.report import prompt_figures

        score = inputs.stage.params.section(PromptsParams).evaluate.score
        return prompt_figures(inputs.rates(self.name), task_members(inputs.sections[self.name]), score)

    def published(self, construction: str | None, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield multiple choice of a construction, or inferences of all, beside published values."""
        path = f"evaluate_prompts/tables/{'reasoning' if construction else 'inference'}_beside_published"
        table = inputs.table(path)
        if construction is None:
            yield published_table(table, "Inference beside published values", path, models)
        elif len(table):
            rows = table[table["construction"] == construction]
            yield published_table(rows, "Multiple choice beside published values", path, models)

    # ---- exports

    def dataset(self, params: ReportParams) -> dict[str, pd.DataFrame]:
        """Return the inferences and the multiple-choice items."""
        items = read_question_tables(params.section(PromptsParams), "items")
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
        what = f"Items from other people's files ({names}), and questions that show them, are not exported."
        return [what] if names else []

    def choices(self, params: ReportParams) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the questions as texts to continue, and the answers."""
        section = params.section(PromptsParams)
        return read_question_tables(section, "choices"), read_question_tables(section, "answers")


def read_question_tables(section: PromptsParams, table: str, *, others: bool = False) -> pd.DataFrame:
    """Read what models are asked about constructions.

    Args:
        section: The section prompts of params.yaml.
        table: "items", "questions", "choices" or "answers".
        others: Whether questions and choices from other people's files, or that show examples from such, are returned
            too; of answers, those to other people's items always are.
    """
    names = section.constructions
    rows = pd.concat([read_made_table(DATA / "make_prompts" / name / f"{table}.parquet") for name in names])
    if "set" in rows and not others:
        rows = rows[rows["set"].isin(SETS)]
    if "examples" in rows and not others:
        rows = rows[[set(names.split("+")) <= {"none", *SETS} for names in rows["examples"]]]
    return rows.reset_index(drop=True)


def _named_prompts(make: MakePrompts | None) -> dict[str, dict[str, tuple[str, str]]]:
    """Return file of prompts -> key of params.yaml -> the section of the file, and the name of the prompt."""
    named: dict[str, dict[str, tuple[str, str]]] = {"inference": {}, "reasoning": {}, "continuations": {}}
    for kind in ("inference", "reasoning"):
        for part, settings in {"": make, ".variation": make and make.variation}.items():
            for number, name in enumerate(getattr(settings, f"{kind}_prompts", [])):
                named[kind][f"prompts.make{part}.{kind}_prompts[{number}]"] = ("prompts", name)
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
