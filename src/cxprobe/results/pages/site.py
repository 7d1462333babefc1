"""The pages: what each consists of, filled into the templates beside this module.

Pages are text of HTML with their style and the drawings in them, so each opens from a disk without a network. Links are
relative to results/, which the pages lie two or three folders below.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from importlib.metadata import version
from itertools import product
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from cxprobe.models.checkpoints import is_gguf
from cxprobe.models.params import Llm, Member, ModelSpec, series_of
from cxprobe.results.comparisons import COMPARISON
from cxprobe.results.findings import (
    CANNOT_BE_TOLD,
    FOUND,
    NO_RATE,
    QUESTIONS,
    SMOKE_TEST,
    Finding,
    Question,
    ReportModels,
    estimate_of,
)
from cxprobe.results.inputs import ReportInputs
from cxprobe.results.pages.reservations import reservations_of
from cxprobe.results.params import Report
from cxprobe.results.rates import ALL
from cxprobe.results.task import PageTable, Task
from cxprobe.results.verdict import BESIDE_CONTROL, VERDICTS
from cxprobe.results.words import in_full, interval, number, percent
from cxprobe.run.record import STAGE_TAG

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MLFLOW_COMMAND = "cxprobe ui"
# Versions without what a build adds to them, such as "+cpu".
_SHOWN = ["cxprobe", "torch", "transformers", "scikit-learn", "numpy", "scipy", "pandas", "nltk", "spacy", "wordfreq"]
WIDTH, HEIGHT, MARGIN = 200.0, 20.0, 8.0  # of the bars
_DIFFERENCE = ("first", "second", "difference in points", "interval", "n", "p in its family (Holm)", "detectable")
_KNOWS: Mapping[Question, str] = {
    "form": "knows the form",
    "meaning": "expects the meaning",
    "words": "says so",
    "used": "uses one direction of its vectors",
}


@dataclass(frozen=True)
class Grid:
    """A table of the overview: what models get on constructions in one way of asking.

    Attributes:
        question: The question.
        by: In which way.
        models: Its columns.
        rows: A construction and the kind of its items -> model -> finding; none for what it was not asked.
    """

    question: Question
    by: str
    models: Sequence[str]
    rows: Mapping[tuple[str, str], Mapping[str, Finding]]


def findings_of(inputs: ReportInputs, models: ReportModels) -> list[Finding]:
    """Return the findings of every model that has a page, on all items of all constructions."""
    findings = [finding for task in inputs.tasks.values() for finding in task.findings(inputs, models)]
    order = {slug: number for number, slug in enumerate(models.with_pages)}
    return sorted((one for one in findings if one.model in order), key=lambda one: order[one.model])


def render_pages(
    inputs: ReportInputs, models: ReportModels, findings: Sequence[Finding], drawn: "Mapping[str, Figure]"
) -> dict[str, str]:
    """Return path relative to results/report/ -> the HTML of every page.

    Args:
        inputs: What the run has left.
        models: Its models.
        findings: What `findings_of` returns of both.
        drawn: Path below the results of the report, without suffix -> a figure; one whose name has the folder of a
            construction is about it.
    """
    environment = _environment(inputs, models)
    pictures: dict[str, list[dict[str, str]]] = {}  # construction, "" for several -> its figures
    for path, figure in drawn.items():
        about = "".join(slug for slug in Path(path).stem.split("_") if slug in inputs.constructions)
        picture = {"path": f"report/{path}.png", "title": figure.get_suptitle().replace("\n", " ")}
        pictures.setdefault(about, []).append(picture)

    def page(template: str, root: str, **content: object) -> str:
        return environment.get_template(template).render(root=root, **content)

    known = {slug: _facts(member) for slug, member in models.members.items()}
    grids = _grids(_of_overview(findings, models), inputs.tasks)
    pages = {
        "index.html": page("index.html", "", headline=_headline(grids), grids=grids, facts=known),
        "figures.html": page(
            "figures.html", "", pictures=pictures.get("", []), tables=_published(None, inputs, models)
        ),
    }
    for slug in inputs.constructions:
        content = _construction(slug, [finding for finding in findings if finding.construction == slug], inputs, models)
        content["pictures"] = pictures.get(slug, [])
        pages[f"constructions/{slug}.html"] = page("construction.html", "../", slug=slug, **content)
    for slug in models.with_pages:
        of_model = [finding for finding in findings if finding.model == slug]
        pages[f"models/{slug}.html"] = page("model.html", "../", slug=slug, **_model(slug, of_model, inputs, models))
    versions = {name: version(name).partition("+")[0] for name in _SHOWN}
    pages["methods.html"] = page("methods.html", "", inputs=inputs, models=models, versions=versions, facts=known)
    return pages


def _of_overview(findings: Sequence[Finding], models: ReportModels) -> list[Finding]:
    return [finding for finding in findings if finding.headline and finding.model in models.shown]


def _headline(grids: Sequence[Grid]) -> dict[str, str]:
    """Return a summary of the findings, a sentence for each model."""
    said: dict[str, list[str]] = {model: [] for grid in grids for model in grid.models}
    for grid in grids:
        knows = _KNOWS[grid.question]
        for model in grid.models:
            findings = [cells[model] for cells in grid.rows.values() if model in cells]
            verdicts = [one.verdict for one in findings if one.counted and one.verdict not in (SMOKE_TEST, NO_RATE)]
            of = f"of {len(verdicts)} {grid.by}"
            found = sum(verdict in FOUND for verdict in verdicts)
            failed = verdicts.count(CANNOT_BE_TOLD)
            if failed and failed == len(verdicts):
                said[model].append(f"whether it {knows} cannot be told in any {of}, since it fails the controls")
            elif failed:
                untold = f"({failed} cannot be told, since it fails the control)"
                said[model].append(f"{knows} in {found or 'none'} {of} {untold}")
            elif verdicts:
                said[model].append(f"{knows} in {found or 'none'} {of}")
    return {model: f"{'; '.join(parts) or 'too few items for a rate'}." for model, parts in said.items()}


def _grids(findings: Sequence[Finding], tasks: Mapping[str, Task]) -> list[Grid]:
    """Return the tables of the overview."""
    grids = []
    for question, (name, task) in product(QUESTIONS, tasks.items()):
        rows: dict[tuple[str, str], dict[str, Finding]] = {}
        for one in findings:
            if (one.question, one.task) == (question, name):
                rows.setdefault((one.construction, one.way), {})[one.model] = one
        if rows:
            models = list(dict.fromkeys(model for cells in rows.values() for model in cells))
            grids.append(Grid(question, task.asked_by, models, rows))
    return grids


def overview_table(findings: Sequence[Finding], models: ReportModels) -> pd.DataFrame:
    """Return the numbers of the overview as a table: one row a finding that stands in it.

    Args:
        findings: What `findings_of` returns.
        models: The models.

    Returns:
        construction, model, question, way, accuracy, low, high, n, chance, best_baseline (the model),
        baseline_accuracy, baseline_low, baseline_high, baseline_n, control, control_low, control_high, control_n,
        detectable (see `cxprobe.results.findings.AgainstBaseline`), verdict and table; an empty text where there is no
        number.
    """
    rows = []
    for finding in _of_overview(findings, models):
        rate, baseline, control = (
            astuple(estimate) if estimate else ("",) * 4
            for estimate in (finding.rate, finding.baseline and finding.baseline.rate, finding.control)
        )
        names = (finding.construction, finding.model, finding.question, finding.way)
        best = finding.baseline.model if finding.baseline else ""
        detectable = finding.detectable
        power = "" if detectable is None or pd.isna(detectable) else detectable
        numbers = (*rate, finding.chance, best, *baseline, *control, power)
        rows.append((*names, *numbers, finding.verdict.words, f"{finding.table}.csv"))
    rates = ("accuracy", "low", "high", "n")
    columns = ["construction", "model", "question", "way", *rates, "chance", "best_baseline"]
    columns += [*(f"baseline_{name}" for name in rates), "control", *(f"control_{name}" for name in rates[1:])]
    columns += ["detectable", "verdict", "table"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def runs_in_mlflow(finding: Finding, experiments: int, server: str) -> str:
    """Return the address at which MLflow shows the run of a finding.

    The run is searched by what it is, in all experiments, since the numbers of experiments depend on what ran first.

    Args:
        finding: The finding.
        experiments: How many experiments there may be.
        server: The address of MLflow's server.
    """
    sought = {"model": finding.model, "construction": finding.run or finding.construction, "source": finding.source}
    conditions = [f"params.{name} = '{value}'" for name, value in sought.items()]
    conditions.append(f"tags.\"{STAGE_TAG}\" = 'evaluate_{finding.task}'")
    listed = json.dumps([str(number + 1) for number in range(experiments)])
    search = f"experiments={quote(listed)}&searchFilter={quote(' and '.join(conditions))}"
    return f"{server}/#/compare-experiments/s?{search}"


def _environment(inputs: ReportInputs, models: ReportModels) -> Environment:
    environment = Environment(
        loader=PackageLoader("cxprobe.results.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    server = inputs.stage.params.section(Report).mlflow
    experiments = sum(len(task.experiments) for task in inputs.tasks.values())
    environment.filters |= {"percent": percent, "n": number, "in_full": in_full, "label": models.label}
    # Where a rate stands in a bar, from the left; how heavy a mark for n items is, 1 for a thousand and more.
    environment.filters["x"] = lambda rate: round(MARGIN + rate * (WIDTH - 2 * MARGIN), 2)
    environment.filters["weight"] = lambda n: round(min(1.0, 0.25 + 0.25 * log10(max(n, 1))), 3)
    environment.globals |= {
        "QUESTIONS": QUESTIONS,
        "VERDICTS": VERDICTS.values(),
        "BESIDE_CONTROL": BESIDE_CONTROL.values(),
        "MLFLOW": server,
        "MLFLOW_COMMAND": MLFLOW_COMMAND,
        "names": {slug: files.construction.name for slug, files in inputs.constructions.items()},
        "PIXELS": {"width": WIDTH, "height": HEIGHT},
        "run_of": lambda finding: runs_in_mlflow(finding, experiments, server),
        "mocks": models.mocks,
        "baseline": models.baseline,
        "with_pages": models.with_pages,
    }
    return environment


def _construction(
    slug: str, findings: Sequence[Finding], inputs: ReportInputs, models: ReportModels
) -> dict[str, object]:
    files, tasks = inputs.constructions[slug], inputs.tasks.values()
    of_lines = [table for task in tasks for table in task.tables("construction", slug, inputs, models)]
    compared = _compared("construction", slug, inputs, models)
    sections = [section for task in tasks for section in task.sections(slug, inputs, models)]
    return {
        "about": files.construction,
        "reserved": list(reservations_of(slug, findings, inputs, models)),
        "examples": [example for name, items in files.items.items() for example in inputs.tasks[name].examples(items)],
        "by_question": {question: [one for one in findings if one.question == question] for question in QUESTIONS},
        "sections": [replace(section, tables=_filled(section.tables)) for section in sections],
        "tables": _filled([*_baseline(slug, inputs, models), *of_lines, *compared]),
        "published": _published(slug, inputs, models),
    }


def _baseline(construction: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
    """Yield the rates of every baseline on the items of a construction."""
    for name, task in inputs.tasks.items():
        rates = inputs.rates(name)
        of_baseline = rates[(rates["measure"] == "accuracy") & rates["model"].isin(models.baseline)]
        of_it = of_baseline["construction"].map(inputs.sections[name].construction_of) == construction
        rows = []
        for row in of_baseline[of_it & (of_baseline["construction"] != ALL)].to_dict("records"):
            rate, label = estimate_of(row), task.row_label(row, inputs.items_of(construction, name))
            if label:
                rows.append([row["model"], label, percent(rate.value), interval(rate), f"{rate.n:,}"])
        head = ["baseline", "items", "accuracy", "interval", "n"]
        yield PageTable(f"Rates of baselines: {name}", task.accuracy, head, rows)


def _compared(column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
    """Yield the paired differences about a construction or a model, without mock models."""
    for name, task in inputs.tasks.items():
        path = task.comparisons
        table = inputs.table(path)
        if table.empty:
            continue
        named = [column] if column == "construction" else ["first", "second"]
        folders = table.assign(construction=table["construction"].map(inputs.sections[name].construction_of))
        is_mock = table[["first", "second"]].isin(models.mocks).any(axis=1)
        texts = {key: "" for key in ("level",) if key in table}
        compared = table[(folders[named] == value).any(axis=1) & ~is_mock].fillna(texts)
        numbers = ["difference", "low", "high", "p_holm", "detectable"]
        compared = compared.assign(**{key: pd.to_numeric(compared[key], errors="coerce") for key in numbers})
        tested = compared["p_holm"].notna()
        title = f"Paired differences on the same items: {name}"
        if tested.any() and compared.loc[tested, "detectable"].isna().all():
            title += "; too few clusters for any tested one to be significant"
        constant = {"task": name, "source": "own", "level": "", column: value}
        by = [str(key) for key in compared.columns if key not in (*COMPARISON, "facet")]
        by = [key for key in by if (compared[key].astype(object).fillna("") != constant.get(key)).any()]
        rows = []
        for _, row in compared[compared["difference"].notna()].iterrows():
            rows.append(
                [
                    *(task.part_name(str(row[key])) for key in by),
                    models.label(str(row["first"])),
                    models.label(str(row["second"])),
                    f"{100 * row['difference']:+.0f}",
                    f"[{100 * row['low']:+.0f}, {100 * row['high']:+.0f}]",
                    f"{int(row['n']):,}",
                    "" if pd.isna(row["p_holm"]) else f"{row['p_holm']:.3f}",
                    "" if pd.isna(row["detectable"]) else f"{100 * row['detectable']:.0f}",
                ]
            )
        yield PageTable(title, path, [*by, *_DIFFERENCE], rows)


def _published(construction: str | None, inputs: ReportInputs, models: ReportModels) -> list[PageTable]:
    """Return the published values about a construction, or about all, beside those of the inputs."""
    return _filled(table for task in inputs.tasks.values() for table in task.published(construction, inputs, models))


def _filled(tables: Iterable[PageTable]) -> list[PageTable]:
    """Return the tables that have rows; of the others the pages say nothing."""
    return [table for table in tables if table.rows]


def _model(slug: str, findings: Sequence[Finding], inputs: ReportInputs, models: ReportModels) -> dict[str, object]:
    tables = [table for task in inputs.tasks.values() for table in task.tables("model", slug, inputs, models)]
    entries = inputs.stage.params.models
    return {
        "facts": _facts(models.members[slug]),
        "findings": findings,
        "tables": _filled([*tables, *_compared("model", slug, inputs, models)]),
        "series": [name for name, one in series_of(entries, entries).items() if slug in one.models],
    }


def _facts(member: Member) -> dict[str, str]:
    match member.spec:
        case Llm() as spec:
            return {"asked in words": spec.name}
        case ModelSpec() as spec:
            weights = {"trained": "as trained", "random": "drawn at random: a control"}
            rounded = "rounded in its GGUF file, de-quantised to " if is_gguf(spec.name) else ""
            facts = {
                "what it is": spec.about,
                "checkpoint": spec.name,
                "weights": weights[spec.weights],
                "precision": rounded + spec.precision,
                "revision": spec.revision,
                "SHA-256": spec.sha256,
            }
            return {name: fact for name, fact in facts.items() if fact}
        case spec:
            return {"baseline": spec.kind}
