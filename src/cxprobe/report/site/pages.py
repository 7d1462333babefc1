"""The pages: what each consists of, filled into the templates beside this module.

Pages are text of HTML with their style and the drawings in them, so each opens from a disk without a network. Links are
relative to results/, which the pages lie two or three folders below.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from math import log10
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from cxprobe.lm.params import Llm, Member, ModelSpec, ServedModel, series_of
from cxprobe.pairs.params import called_pairs, construction_of_pairs
from cxprobe.report.comparisons import COMPARISON
from cxprobe.report.site.examples import examples_of
from cxprobe.report.site.findings import (
    ABOVE_BLIND,
    ASKED,
    NO_RATE,
    QUESTIONS,
    SMOKE_TEST,
    VERDICTS,
    Cast,
    Finding,
    Question,
    findings_of_variants,
    findings_of_ways,
    groups_of,
    rate_of,
)
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.reservations import reservations_of
from cxprobe.report.site.words import SETS, in_full, interval, number, percent
from cxprobe.report.tables import cell
from cxprobe.run.params import LINES
from cxprobe.run.record import STAGE_TAG

MLFLOW = "http://127.0.0.1:5000"  # where `MLFLOW_COMMAND` serves it
MLFLOW_COMMAND = "cxprobe ui"
# Versions without what a build adds to them, such as "+cpu".
PACKAGES = (
    *("cxprobe", "torch", "transformers", "scikit-learn", "numpy", "scipy", "pandas"),
    *("nltk", "spacy", "statsmodels", "wordfreq"),
)
WIDTH, HEIGHT, MARGIN = 200.0, 20.0, 8.0  # of the bars
_DIFFERENCE = ("first", "second", "difference in points", "interval", "n", "p in its family (Holm)", "detectable")
_OF: Mapping[Question, str] = {"form": "of form", "meaning": "of meaning", "words": "in words"}
_BY = {
    "recognition": "by a probe",
    "scenarios": "by scenarios",
    "pairs": "by minimal pairs",
    "prompts": "by questions",
}
_COUNTS = ("both_right", "first_alone", "second_alone", "both_wrong")


@dataclass(frozen=True)
class Grid:
    """A table of the overview: what models get on constructions in one way of asking.

    Attributes:
        question: What is asked.
        by: In which way.
        models: Its columns.
        rows: A construction and the kind of its items -> model -> finding; none for what it was not asked.
    """

    question: Question
    by: str
    models: Sequence[str]
    rows: Mapping[tuple[str, str], Mapping[str, Finding]]


@dataclass(frozen=True)
class Table:
    """A table for reading: its title, the file that it is taken from, relative to results/, and its cells."""

    title: str
    source: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def render_pages(run: Run, cast: Cast, findings: Sequence[Finding]) -> dict[str, str]:
    """Return path relative to results/report/ -> the HTML of every page.

    Args:
        run: What the run has left.
        cast: Its models.
        findings: What `cxprobe.report.site.findings.findings_of` returns of both.
    """
    environment = _environment(run, cast)
    pictures = run.pictures()

    def page(template: str, root: str, **content: object) -> str:
        return environment.get_template(template).render(root=root, **content)

    of_several = [picture for picture in pictures if not picture.construction]
    grids = _grids(_of_overview(findings, cast))
    pages = {
        "index.html": page("index.html", "", found=_found(grids), grids=grids),
        "figures.html": page("figures.html", "", pictures=of_several, tables=_filled(_published_of_all(run, cast))),
    }
    for slug in run.constructions:
        content = _construction(slug, [finding for finding in findings if finding.construction == slug], run, cast)
        content["slots"] = run.slots[slug].as_posix() if slug in run.slots else ""
        content["pictures"] = [picture for picture in pictures if picture.construction == slug]
        pages[f"constructions/{slug}.html"] = page("construction.html", "../", slug=slug, **content)
    for slug in cast.with_pages:
        of_model = [finding for finding in findings if finding.model == slug]
        pages[f"models/{slug}.html"] = page("model.html", "../", slug=slug, **_model(slug, of_model, run, cast))
    known = {slug: _facts(member) for slug, member in cast.members.items()}
    versions = {name: version(name).partition("+")[0] for name in PACKAGES}
    pages["methods.html"] = page("methods.html", "", run=run, cast=cast, versions=versions, facts=known)
    return pages


def _of_overview(findings: Sequence[Finding], cast: Cast) -> list[Finding]:
    return [finding for finding in findings if finding.headline and finding.model in cast.shown]


def _found(grids: Sequence[Grid]) -> str:
    """Return what was found as one sentence: how many rates are above the best blind model."""
    counted, few = [], []
    for grid in grids:
        verdicts = [one.verdict for cells in grid.rows.values() for one in cells.values()]
        rates = [verdict for verdict in verdicts if verdict not in (SMOKE_TEST, NO_RATE)]
        what = f"{_OF[grid.question]} {grid.by}"
        if rates:
            counted.append(f"{rates.count(ABOVE_BLIND) or 'none'} of {len(rates)} rate{'s' * (len(rates) > 1)} {what}")
        else:
            few.append(f"the items {what} are too few for a rate")
    asked = {grid.question for grid in grids}
    few += [f"no model was asked {about}" for question, about in ASKED.items() if question not in asked]
    found = f"Above chance and above the best blind model: {', '.join(counted)}" if counted else "There is no rate"
    return "; ".join([found, *few]) + "."


def _grids(findings: Sequence[Finding]) -> list[Grid]:
    """Return the tables of the overview."""
    rows: dict[tuple[Question, str], dict[tuple[str, str], dict[str, Finding]]] = {
        (question, line): {} for question in QUESTIONS for line in LINES
    }
    for finding in findings:
        cells = rows[finding.question, finding.line].setdefault((finding.construction, finding.way), {})
        cells[finding.model] = finding
    return [
        Grid(question, _BY[line], list(dict.fromkeys(model for cells in of_grid.values() for model in cells)), of_grid)
        for (question, line), of_grid in rows.items()
        if of_grid
    ]


def overview_table(findings: Sequence[Finding], cast: Cast) -> pd.DataFrame:
    """Return the numbers of the overview as a table: one row a finding that stands in it.

    Args:
        findings: What `cxprobe.report.site.findings.findings_of` returns.
        cast: The models.

    Returns:
        construction, model, question, way, accuracy, low, high, n, chance, best_blind (the model), blind_accuracy,
        blind_low, blind_high, blind_n, verdict and table; an empty text where there is no number.
    """
    rows = []
    for finding in _of_overview(findings, cast):
        rate, blind = (
            (estimate.value, estimate.low, estimate.high, estimate.n) if estimate else ("",) * 4
            for estimate in (finding.rate, finding.blind and finding.blind.rate)
        )
        names = (finding.construction, finding.model, finding.question, finding.way)
        best = finding.blind.model if finding.blind else ""
        rows.append((*names, *rate, finding.chance, best, *blind, finding.verdict.words, f"{finding.table}.csv"))
    rates = ("accuracy", "low", "high", "n")
    columns = ["construction", "model", "question", "way", *rates, "chance", "best_blind"]
    columns += [*(f"blind_{name}" for name in rates), "verdict", "table"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def runs_in_mlflow(finding: Finding, lines: Sequence[str]) -> str:
    """Return the address at which MLflow shows the run of a finding.

    The run is searched by what it is, in all experiments, since the numbers of experiments depend on what ran first.

    Args:
        finding: The finding.
        lines: The lines of work that ran; each has an experiment, beside those of benchmarks and of the three ways.
    """
    source = "" if finding.line == "scenarios" else finding.source
    sought = {"model": finding.model, "construction": finding.run or finding.construction, "source": source}
    said = [f"params.{name} = '{value}'" for name, value in sought.items() if value]
    said.append(f"tags.\"{STAGE_TAG}\" = 'judge_{finding.line}'")
    experiments = json.dumps([str(number + 1) for number in range(len(lines) + 2)])
    search = f"experiments={quote(experiments)}&searchFilter={quote(' and '.join(said))}"
    return f"{MLFLOW}/#/compare-experiments/s?{search}"


def _environment(run: Run, cast: Cast) -> Environment:
    environment = Environment(
        loader=PackageLoader("cxprobe.report.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "n": number, "in_full": in_full, "label": cast.label}
    # Where a rate stands in a bar, from the left; how heavy a mark for n items is, 1 for a thousand and more.
    environment.filters["x"] = lambda rate: round(MARGIN + rate * (WIDTH - 2 * MARGIN), 2)
    environment.filters["weight"] = lambda n: round(min(1.0, 0.25 + 0.25 * log10(max(n, 1))), 3)
    environment.globals |= {
        "QUESTIONS": QUESTIONS,
        "VERDICTS": VERDICTS,
        "MLFLOW": MLFLOW,
        "MLFLOW_COMMAND": MLFLOW_COMMAND,
        "names": {slug: about.construction.name for slug, about in run.constructions.items()},
        "PIXELS": {"width": WIDTH, "height": HEIGHT},
        "run_of": lambda finding: runs_in_mlflow(finding, run.lines),
        "mocks": cast.mocks,
        "blind": cast.blind,
        "with_pages": cast.with_pages,
    }
    return environment


def _construction(slug: str, findings: Sequence[Finding], run: Run, cast: Cast) -> dict[str, object]:
    about = run.constructions[slug]
    return {
        "about": about.construction,
        "reserved": list(reservations_of(slug, findings, run, cast)),
        "examples": examples_of(about, run.people),
        "by_question": {question: [one for one in findings if one.question == question] for question in QUESTIONS},
        "ways": list(findings_of_ways(slug, run, cast)),
        "agreement": _filled(_agreement(slug, run, cast)),
        "variants": list(findings_of_variants(slug, run, cast)),
        "tables": _filled(
            [
                *_blind(slug, run, cast),
                *_frequency(run, "construction", slug, cast),
                *_compared(run, "construction", slug, cast),
            ]
        ),
        "published": _filled(_published(slug, run, cast)),
    }


def _agreement(construction: str, run: Run, cast: Cast) -> Iterator[Table]:
    """Yield how far the verdicts of every two ways agree on the same pairs."""
    head = ["model", "first", "second", "kappa", "pairs", "both right", "first alone", "second alone", "both wrong"]
    title = "Agreement of the ways, pair by pair: Cohen's kappa, 0 for none beyond what the rates give and 1 for all"
    for model, name in product(cast.with_pages, run.constructions[construction].pairs):
        path, rows = run.path_of_ways(model, name, "agreement"), []
        for _, row in run.table(path).iterrows():
            known = pd.notna(row["kappa"]) and pd.notna(row["low"])
            kappa = f"{row['kappa']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" if known else "not defined"
            counts = [str(int(row[name])) for name in _COUNTS]
            rows.append([cast.label(model), row["first"], row["second"], kappa, number(row["n"]), *counts])
        yield Table(f"{title} ({called_pairs(name)})", path, head, rows)


def _blind(construction: str, run: Run, cast: Cast) -> Iterator[Table]:
    """Give what every blind model gets on the items of a construction."""
    divided = {"recognition": ["source"], "scenarios": ["scenario"], "prompts": ["set"], "pairs": ["tests", "words"]}
    for line, columns in divided.items():
        path = "report_recognition/tables/recognition" if line == "recognition" else f"report_{line}/accuracy"
        table = run.table(path)
        if table.empty:
            continue
        rows = []
        of_it = table["construction"].map(construction_of_pairs) == construction
        for _, row in table[of_it & table["model"].isin(cast.blind)].iterrows():
            rate, parts = rate_of(row), [SETS.get(str(part), str(part)) for part in row[columns]]
            rows.append([row["model"], *parts, percent(rate.value), interval(rate), f"{rate.n:,}"])
        head = ["blind model", *columns, "accuracy", "interval", "n"]
        yield Table(f"What blind models get: {line}", path, head, rows)


def _compared(run: Run, column: str, value: str, cast: Cast) -> Iterator[Table]:
    """Give the paired differences about a construction or a model, without mock models."""
    for line in run.lines:
        path = f"report_{line}/tables/comparisons"
        table = run.table(path)
        if table.empty:
            continue
        named = [column] if column == "construction" else ["first", "second"]
        told = table.assign(construction=table["construction"].map(construction_of_pairs))
        own = table[(told[named] == value).any(axis=1) & ~table[["first", "second"]].isin(cast.mocks).any(axis=1)]
        numbers = ["difference", "low", "high", "p_holm", "detectable"]
        own = own.assign(**{name: pd.to_numeric(own[name], errors="coerce") for name in numbers})
        tested = own["p_holm"].notna()
        title = f"Paired differences on the same items: {line}"
        if tested.any() and own.loc[tested, "detectable"].isna().all():
            title += "; too few clusters for any tested one to be significant"
        by = [str(name) for name in own.columns if name not in COMPARISON and (own[name] != value).any()]
        rows = []
        for _, row in own[own["difference"].notna()].iterrows():
            points = {name: f"{100 * row[name]:+.0f}" for name in numbers[:3]}
            rows.append(
                [
                    *(SETS.get(str(row[name]), str(row[name])) for name in by),
                    *(cast.label(str(row[name])) for name in ("first", "second")),
                    points["difference"],
                    f"[{points['low']}, {points['high']}]",
                    f"{int(row['n']):,}",
                    "" if pd.isna(row["p_holm"]) else f"{row['p_holm']:.3f}",
                    "" if pd.isna(row["detectable"]) else f"{100 * row['detectable']:.0f}",
                ]
            )
        yield Table(title, path, [*by, *_DIFFERENCE], rows)


_FREQUENCY = {
    "words": (
        "Frequency of words: how much the log odds of being right rise with each Zipf unit by which the right text's "
        "words are more frequent, and the accuracy in percent where both are equally frequent",
        ["per Zipf unit", "accuracy at no difference", "n", "frames", "words"],
    ),
    "verb": (
        "Frequency of the verb in the construction: how much the log odds of being right rise where a corpus has the "
        "verb in it ten times as often",
        ["per factor of ten", "n", "frames", "verbs"],
    ),
}


def _frequency(run: Run, column: str, value: str, cast: Cast) -> Iterator[Table]:
    """Give how far being right on pairs goes with frequency, for a construction or a model."""
    path = "report_pairs/tables/frequency"
    for (covariate,), table in groups_of(run.table(path), "covariate"):
        rows, (title, head) = [], _FREQUENCY[covariate]
        for _, row in table.iterrows():
            named = {"construction": construction_of_pairs(row["construction"]), "model": row["model"]}
            if named[column] == value and row["model"] in cast.with_pages:
                slope, at_zero = (row[[name, f"{name}_low", f"{name}_high"]] for name in ("slope", "at_zero"))
                told = ["{:+.2f} ({:+.2f} to {:+.2f})".format(*slope), cell(*at_zero)]
                if pd.notna(row["absent"]):
                    told = [f"none: {row['absent']}", ""]
                counts = row[["n", "frames", "words"]].astype(str)
                rows.append([row["construction"], cast.label(row["model"]), *told[: len(head) - 3], *counts])
        yield Table(title, path, ["pairs", "model", *head], rows)


_PAIRS_BESIDE = "Minimal pairs beside published values, which are about other items"


def _published(construction: str, run: Run, cast: Cast) -> Iterator[Table]:
    """Give the published values about a construction beside those of the run."""
    for path, title in (
        ("report_pairs/tables/beside_published", _PAIRS_BESIDE),
        ("report_prompts/tables/reasoning_beside_published", "Multiple choice beside published values"),
    ):
        table = run.table(path)
        if len(table):
            yield _as_read(table[table["construction"] == construction], title, path, cast)
    scenarios = run.constructions[construction].scenarios
    for kind in ("accuracy", "flips") if scenarios is not None and scenarios.published is not None else ():
        path = f"report_scenarios/tables/{construction}/{kind}_beside_published"
        title = f"Scenarios: {kind} in percent beside published values (*: differs from the published rate)"
        yield _as_read(run.table(path), title, path, cast)


def _published_of_all(run: Run, cast: Cast) -> Iterator[Table]:
    """Give the published values that are about all constructions together."""
    path = "report_prompts/tables/inference_beside_published"
    yield _as_read(run.table(path), "Inference beside published values", path, cast)
    path = "report_pairs/tables/beside_published"
    pairs = run.table(path)
    if len(pairs):
        every = pairs[~pairs["construction"].isin(list(run.constructions))]
        yield _as_read(every, _PAIRS_BESIDE, path, cast)


def _as_read(table: pd.DataFrame, title: str, path: str, cast: Cast) -> Table:
    """Return a table that is already made for reading, without mock models and earlier checkpoints."""
    kept = table if table.empty else table[~table["model"].isin([*cast.mocks, *cast.earlier])]
    rows = kept.astype(object).where(kept.notna(), "").astype(str).to_numpy().tolist()
    return Table(title, path, [str(name).replace("_", " ") for name in kept.columns], rows)


def _filled(tables: Iterable[Table]) -> list[Table]:
    """Return the tables that have rows; of the others the pages say nothing."""
    return [table for table in tables if table.rows]


def _model(slug: str, findings: Sequence[Finding], run: Run, cast: Cast) -> dict[str, object]:
    benchmarks = []
    for name in run.params.pairs.benchmarks:
        path = f"report_pairs/tables/benchmarks/{name}/accuracy"
        rows = [(row["group"], rate_of(row)) for _, row in run.table(path).iterrows() if row["model"] == slug]
        benchmarks += [(name, path, rows)] if rows else []
    series = series_of(run.params.models, run.params.models)
    return {
        "facts": _facts(cast.members[slug]),
        "findings": findings,
        "benchmarks": benchmarks,
        "tables": _filled([*_frequency(run, "model", slug, cast), *_compared(run, "model", slug, cast)]),
        "series": [name for name, one in series.items() if slug in one.models],
    }


def _facts(member: Member) -> dict[str, str]:
    match member.spec:
        case Llm() as spec:
            return {"asked in words": spec.name}
        case ModelSpec() as spec:
            weights = {"trained": "as trained", "random": "drawn at random: a twin", "shuffled": "shuffled: a twin"}
            known = {"revision": spec.revision, "SHA-256": spec.sha256}
            said = {name: value for name, value in known.items() if value}
            return {"checkpoint": spec.name, "weights": weights[spec.weights], "precision": spec.precision, **said}
        case ServedModel() as spec:
            return {"checkpoint": spec.name, "weights": spec.weights, "precision": "as served", "server": spec.url}
        case spec:
            return {"blind model": spec.kind}
