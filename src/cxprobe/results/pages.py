"""The pages: what each consists of, filled into the templates beside this module.

Pages are text of HTML with their style and the drawings in them, so each opens from a disk without a network. Links are
relative to results/, which the pages lie two or three folders below.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.checkpoints import is_gguf
from cxprobe.models.params import AnswersFile, Llm, Member, ModelSpec, series_of
from cxprobe.results.comparisons import COMPARISON, MODELS
from cxprobe.results.findings import QUESTIONS, Finding, ReportModels, estimate_of, lead_findings
from cxprobe.results.params import Report
from cxprobe.results.plots import PANELS, as_svg, dots, mark_of, overview, row_names
from cxprobe.results.published import BESIDE
from cxprobe.results.rates import ALL, divided_by
from cxprobe.results.sentences import by_model, headline, in_sum, sentence
from cxprobe.results.task import Example, PageTable, ReportInputs
from cxprobe.results.verdict import BESIDE_CONTROL, CONDITION, VERDICTS
from cxprobe.results.words import in_full, percent, with_blanks, with_interval
from cxprobe.run.record import STAGE_TAG
from cxprobe.stats import LEVEL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MLFLOW_COMMAND = "cxprobe ui"
# Versions without what a build adds to them, such as "+cpu".
_SHOWN = ["cxprobe", "torch", "transformers", "scikit-learn", "numpy", "scipy", "pandas", "nltk", "spacy", "wordfreq"]
_FRAMES = 3  # the strongest and the weakest
_DIFFERENCE = ["items", "first", "second", "difference in points", "interval", "n", "p in its family (Holm)"]


def shown_first(findings: Sequence[Finding], models: ReportModels) -> list[Finding]:
    """Return the findings of the first page; where every model stands under Methods, those of these."""
    return lead_findings(findings, models.shown) or lead_findings(findings, models.under_methods)


def figure_path(task: str, name: str) -> str:
    """Return the path of a figure below the results of the report, without suffix."""
    return f"figures/{task}_{name}"


def render_pages(
    inputs: ReportInputs,
    models: ReportModels,
    findings: Sequence[Finding],
    drawn: "Mapping[str, Mapping[str, Figure]]",
) -> dict[str, str]:
    """Return path relative to results/report/ -> the text of every page, and of the picture of the first one.

    Args:
        inputs: What the run has left.
        models: Its models.
        findings: What `cxprobe.results.task.findings_of` returns of both.
        drawn: Task -> what `cxprobe.results.task.Task.figures` returns.
    """
    environment = _environment(inputs, models)
    pictures: dict[str, list[dict[str, str]]] = {}  # construction, "" for several -> its figures
    for task, figures in drawn.items():
        for name, figure in figures.items():
            about = "".join(slug for slug in name.split("_") if slug in inputs.constructions)
            title = figure.get_suptitle().replace("\n", " ")
            picture = {"path": f"report/{figure_path(task, name)}.png", "title": title, "task": task}
            pictures.setdefault(about, []).append(picture)

    def page(template: str, root: str, **content: object) -> str:
        return environment.get_template(template).render(root=root, **content)

    known = {slug: _facts(member) for slug, member in models.members.items()}
    first = shown_first(findings, models)
    names = cast("dict[str, str]", environment.globals["names"])
    rows = row_names(inputs.constructions)
    pages = dict[str, str]()
    of_first = ""
    if first:
        figure = overview(first, rows, labels=models.label, link="constructions/{0.construction}.html".format)
        pages["overview.svg"] = as_svg(figure)
        of_first = as_svg(figure, of_page=True)
    pages |= {
        "index.html": page(
            "index.html",
            "",
            overview=of_first,
            headline=headline(first, models.label),
            better=_better(findings, inputs, models),
            said={slug: in_sum(of_model, names) for slug, of_model in by_model(first).items()},
            example=_example(first, inputs),
            first=first,
            facts=known,
        ),
        "figures.html": page(
            "figures.html", "", pictures=pictures.get("", []), tables=[*_published(ALL, inputs, models)]
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
    tried = lead_findings(findings, [*models.under_methods, *models.random_controls])
    pages["methods.html"] = page(
        "methods.html", "", inputs=inputs, models=models, versions=versions, facts=known, tried=tried
    )
    return pages


def _better(findings: Sequence[Finding], inputs: ReportInputs, models: ReportModels) -> list[str]:
    """Return for each two models of the first page a sentence on what one is better at, by Holm's correction.

    A last sentence names the questions that only some of these models were asked.
    """
    shown = [one for one in findings if one.headline and one.model in models.shown]
    asked = {(one.task, one.row["construction"], one.row["source"]): one for one in shown}
    better: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name in inputs.tasks:
        table = inputs.table(f"evaluate_{name}/comparisons")
        for row in table[table["compares"] == MODELS].to_dict("records") if len(table) else ():
            about = asked.get((name, row["construction"], row["source"]))
            if about is None or pd.isna(row["p_holm"]) or not {row["first"], row["second"]} <= {*models.shown}:
                continue
            pair = (row["first"], row["second"])
            for side in (pair, pair[::-1]):
                better.setdefault(side, {})
            if row["p_holm"] < 1 - LEVEL:
                winner = pair if row["difference"] > 0 else pair[::-1]
                size = abs(row["difference"])
                difference = f"{size:.2f} nats" if about.effects else f"{100 * size:.0f} points"
                what = inputs.constructions[about.construction].construction.name
                better[winner].setdefault(f"{PANELS[about.question]} ({name})", []).append(f"{what} ({difference})")
    said = []
    for (one, other), at in better.items():
        named = "; ".join(f"{question} of {' · '.join(names)}" for question, names in at.items())
        what = f"better than {models.label(other)} at the {named}"
        if not at:
            what = f"not shown to be better than {models.label(other)} at anything that both were asked"
        said.append(f"{models.label(one)} is {what}.")
    for question, panel in PANELS.items():
        only = [models.label(slug) for slug in by_model([one for one in shown if one.question == question])]
        if better and 0 < len(only) < len(by_model(shown)):
            said.append(f"Only {' and '.join(only)} {'was' if len(only) == 1 else 'were'} asked about {panel}.")
    return said


def _example(first: Sequence[Finding], inputs: ReportInputs) -> dict[str, object]:
    """Return the most certain finding of the first page that has contrasts, with its strongest frame; else nothing."""
    contrasts = [one for one in first if one.effects]
    if not contrasts:
        return {}
    best = min(contrasts, key=lambda one: (one.verdict.style != "found", -one.rate.value))
    example, _ = next(_rated_frames(best, inputs))
    return {"finding": best, "examples": [example]}


def _rated_frames(finding: Finding, inputs: ReportInputs) -> Iterator[tuple[Example, float]]:
    """Yield the frames of a contrast, by a context and question of each, with their contrasts in nats.

    The one with the greatest contrast is first.
    """
    responses = inputs.responses(finding.task)
    of_it = responses[(responses["model"] == finding.model) & (responses["construction"] == finding.construction)]
    of_it = of_it[(of_it["measure"] == "contrast") & (of_it[CONDITION] == "construction")]
    of_frames = of_it.groupby("item", sort=False)["value"].mean().sort_values(ascending=False)
    pairs = read_table(inputs.stage.use(DATA / f"make_{finding.task}" / f"{finding.construction}.parquet"))
    first = pairs[pairs[CONDITION] == "construction"].drop_duplicates("item")
    texts = {pair["item"]: pair for pair in first.to_dict("records")}
    for item, value in of_frames.to_dict().items():
        pair = texts[item]
        yield Example("contrast", pair["context"], pair["good"].strip(), pair["bad"].strip()), float(value)


def runs_in_mlflow(finding: Finding, experiments: int, server: str) -> str:
    """Return the address at which MLflow shows the run of a finding.

    The run is searched by what it is, in all experiments, since the numbers of experiments depend on what ran first.

    Args:
        finding: The finding.
        experiments: How many experiments there may be.
        server: The address of MLflow's server.
    """
    conditions = [f"params.model = '{finding.model}'", f"tags.\"{STAGE_TAG}\" = 'evaluate_{finding.task}'"]
    conditions.append("tags.role != 'part'")
    listed = json.dumps([str(number + 1) for number in range(experiments)])
    search = f"experiments={quote(listed)}&searchFilter={quote(' and '.join(conditions))}"
    return f"{server}/#/compare-experiments/s?{search}"


def _environment(inputs: ReportInputs, models: ReportModels) -> Environment:
    how: Any = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=PackageLoader("cxprobe.results"), autoescape=True, **how)
    server = inputs.stage.params.section(Report).mlflow
    experiments = sum(len(task.experiments) for task in inputs.tasks.values())
    environment.filters |= {"percent": percent, "in_full": in_full, "label": models.label}
    environment.filters["sentence"] = lambda one: sentence(
        one, models.label(one.model), inputs.constructions[one.construction].construction
    )
    environment.globals |= {
        "QUESTIONS": QUESTIONS,
        "VERDICTS": VERDICTS.values(),
        "BESIDE_CONTROL": BESIDE_CONTROL.values(),
        "MLFLOW": server,
        "MLFLOW_COMMAND": MLFLOW_COMMAND,
        "names": {slug: files.construction.name for slug, files in inputs.constructions.items()},
        "run_of": lambda finding: runs_in_mlflow(finding, experiments, server),
        "mocks": models.mocks,
        "baseline": models.baseline,
        "with_pages": models.with_pages,
    }
    return environment


def _construction(
    slug: str, findings: Sequence[Finding], inputs: ReportInputs, models: ReportModels
) -> dict[str, object]:
    files, tasks = inputs.constructions[slug], inputs.tasks
    first = sorted(findings, key=lambda one: not one.effects)  # contrasts first
    shown = models.shown or models.under_methods
    contrasts = [one for one in lead_findings(findings, shown) if one.effects]
    marks = [mark_of(one, models.label(one.model), "meaning") for one in contrasts]
    rated = [*_rated_frames(contrasts[0], inputs)] if contrasts else []
    return {
        "about": files.construction,
        "caveats": [*filter(None, (tasks[name].caveat for name in dict.fromkeys(one.task for one in findings)))],
        "examples": [example for name, items in files.items.items() for example in tasks[name].examples(items)],
        "findings": [one for one in first if one.model in shown],
        "tried": [one for one in first if one.model not in shown],
        "conditions": as_svg(dots(marks), of_page=True) if marks else "",
        "strongest": rated[:_FRAMES],
        "weakest": rated[_FRAMES:][-_FRAMES:],
        "rated_by": contrasts[0].model if contrasts else "",
        "tables": [*_compared("construction", slug, inputs, models)],
        "published": [*_published(slug, inputs, models)],
    }


def _compared(column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
    """Yield the tested paired differences about a construction or a model, without mock models."""
    for name in inputs.tasks:
        path = f"evaluate_{name}/comparisons"
        table = inputs.table(path)
        if table.empty:
            continue
        if column == "construction":  # groups of a benchmark may have the name of one
            table = table[~table["source"].isin([*inputs.sections[name].benchmarks])]
        named = [column] if column == "construction" else ["first", "second"]
        folders = table.assign(construction=table["construction"].map(inputs.sections[name].construction_of))
        is_mock = table[["first", "second"]].isin(models.mocks).any(axis=1)
        tested = table[(folders[named] == value).any(axis=1) & ~is_mock & table["p_holm"].notna()]
        rows = []
        divided = [column for column in table if column not in COMPARISON and column != "task"]
        for row in tested.to_dict("records"):
            items = [row[column] for column in divided if row[column] not in ("own", "", "construction", value)]
            about = ", ".join(item for item in items if isinstance(item, str))
            in_nats = bool(row.get(CONDITION))
            how: Any = {"digits": "+.2f", "factor": 1} if in_nats else {"digits": "+.0f"}
            number, interval = with_interval(estimate_of(row, "difference"), "{} [{}, {}]", **how).split(" ", 1)
            numbers = [number + " nats" * in_nats, interval, f"{row['n']:,}", f"{row['p_holm']:.3f}"]
            rows.append([about, models.label(row["first"]), models.label(row["second"]), *numbers])
        if rows:
            yield PageTable(f"Tested paired differences on the same items: {name}", path, _DIFFERENCE, rows)


def _on_benchmarks(model: str, inputs: ReportInputs) -> Iterator[PageTable]:
    """Yield the rates of a model on each benchmark, and what they leave out."""
    for task in inputs.tasks:
        for name in inputs.sections[task].benchmarks:
            rates = inputs.rates(task)
            of_it = rates[(rates["source"] == name) & (rates["model"] == model) & (rates["measure"] == "accuracy")]
            rows = [
                [", ".join(part for part in (row["construction"], row["group"]) if part), in_full(estimate_of(row))]
                for row in pd.concat([divided_by(of_it), divided_by(of_it, "group")]).to_dict("records")
            ]
            cells = inputs.table(f"evaluate_{task}/tables/left_out").query("source == @name")
            rows += [
                [row["construction"], f"leaves out {row['n']:,}: {row['reason']}"] for row in cells.to_dict("records")
            ]
            if rows:
                head = ["group", "rate [95 % interval], n"]
                yield PageTable(f"Benchmark {name}", f"evaluate_{task}/rates", head, rows)


def _published(construction: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
    """Yield the published values about a construction, or about all together, beside those of the run.

    Mock models and earlier checkpoints are left out.
    """
    for name, task in inputs.tasks.items():
        path = f"evaluate_{name}/{BESIDE}"
        table = inputs.table(path)
        if table.empty:
            continue
        shown = task.beside.rows_about(construction, table[~table["model"].isin([*models.mocks, *models.earlier])])
        # A number of items is whole, also in a column with gaps.
        rows = with_blanks(shown.convert_dtypes()).astype(str).to_numpy().tolist()
        if rows:
            yield PageTable(task.beside.title, path, [str(column).replace("_", " ") for column in shown], rows)


def _model(slug: str, findings: Sequence[Finding], inputs: ReportInputs, models: ReportModels) -> dict[str, object]:
    entries = inputs.stage.params.models
    return {
        "facts": _facts(models.members[slug]),
        "findings": findings,
        "tables": [*_on_benchmarks(slug, inputs), *_compared("model", slug, inputs, models)],
        "series": [name for name, one in series_of(entries, entries).items() if slug in one.models],
    }


def _facts(member: Member) -> dict[str, str]:
    spec = member.spec
    if isinstance(spec, AnswersFile):
        return {"what it is": spec.about, f"file of {spec.kind}": spec.answers, "SHA-256": spec.sha256 or "not pinned"}
    if not isinstance(spec, ModelSpec):
        return {"model of the server": spec.name} if isinstance(spec, Llm) else {"baseline": spec.kind}
    facts = {
        "what it is": spec.about,
        "checkpoint": spec.name,
        "weights": {"trained": "as trained", "random": "drawn at random: a control"}[spec.weights],
        "precision": ("rounded in its GGUF file, de-quantised to " if is_gguf(spec.name) else "") + spec.precision,
        "revision": spec.revision,
        "SHA-256": spec.sha256,
    }
    return {name: fact for name, fact in facts.items() if fact}
