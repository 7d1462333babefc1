"""The pages: what each consists of, filled into the templates beside this module.

Pages are text of HTML with their style and the drawings in them, so each opens from a disk without a network. Links are
relative to results/, which the pages lie two or three folders below.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from cxprobe.lm.params import Llm, Member, ModelSpec, ServedModel
from cxprobe.report.site.bars import HEIGHT, MARGIN, WIDTH, Bar
from cxprobe.report.site.examples import examples_of
from cxprobe.report.site.figures import pictures_of, pictures_of_construction
from cxprobe.report.site.findings import QUESTIONS, VERDICTS, Cast, Finding, Question, Verdict
from cxprobe.report.site.inputs import Run
from cxprobe.report.site.lines import rate_of
from cxprobe.report.site.reservations import reservations_of
from cxprobe.report.site.ways import agreement_of, findings_of_ways
from cxprobe.report.site.words import SETS, in_full, interval, number, percent
from cxprobe.stats import Estimate

MLFLOW = "http://127.0.0.1:5000"  # where `MLFLOW_COMMAND` serves it
MLFLOW_COMMAND = "mlflow ui --backend-store-uri sqlite:///mlruns/mlflow.db --host 127.0.0.1"
# Versions without what a build adds to them, such as "+cpu".
PACKAGES = ("cxprobe", "torch", "transformers", "scikit-learn", "numpy", "scipy", "pandas", "nltk", "spacy", "wordfreq")


@dataclass(frozen=True)
class Said:
    """What the findings about one question come to.

    Attributes:
        verdict: One verdict.
        models: The models that have it.
        words: The same, each with how it was asked, its rate and n.
    """

    verdict: Verdict
    models: Sequence[str]
    words: str


@dataclass(frozen=True)
class Row:
    """A model in the overview of a construction: question -> its findings; none for what it was not asked."""

    model: str
    cells: Mapping[Question, Sequence[Finding]]


@dataclass(frozen=True)
class Block:
    """A construction in the overview."""

    slug: str
    name: str
    gloss: str
    summary: Mapping[Question, Sequence[Said]]
    rows: Sequence[Row]
    reservations: Sequence[str]

    def findings(self, question: Question) -> list[Finding]:
        """Return the findings of its rows about one question."""
        return [finding for row in self.rows for finding in row.cells[question]]


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
        findings: What `cxprobe.report.site.findings_of` returns of both.
    """
    environment = _environment(run, cast)
    blocks = [_block(slug, findings, run, cast) for slug in run.constructions]
    models = [*cast.shown, *cast.twins]
    everywhere = {"constructions": blocks, "models": models, "counts": _counts(findings, cast)}

    def page(template: str, root: str, **content: object) -> str:
        return environment.get_template(template).render(root=root, **everywhere, **content)

    pages = {
        "index.html": page("index.html", "", verdicts=VERDICTS),
        "methods.html": page("methods.html", "", verdicts=VERDICTS, **_methods(run, cast)),
        "figures.html": page("figures.html", "", pictures=pictures_of(run, cast), tables=_published(run, cast)),
    }
    for block in blocks:
        content = _construction(block, findings, run, cast)
        pages[f"constructions/{block.slug}.html"] = page("construction.html", "../", block=block, **content)
    for slug in models:
        content = _model(cast.members[slug], findings, run, cast)
        pages[f"models/{slug}.html"] = page("model.html", "../", slug=slug, **content)
    return pages


def overview_table(findings: Sequence[Finding], cast: Cast) -> pd.DataFrame:
    """Return the numbers of the overview as a table: one row a finding that stands in it.

    Args:
        findings: What `cxprobe.report.site.findings_of` returns.
        cast: The models.

    Returns:
        construction, model, question, way, accuracy, low, high, n, chance, best_blind (the model), blind_accuracy,
        blind_low, blind_high, blind_n, verdict and table; an empty text where there is no number.
    """
    rows = [
        {
            "construction": one.construction,
            "model": one.model,
            "question": one.question,
            "way": one.way,
            **_columns("", one.rate),
            "chance": one.chance,
            "best_blind": one.blind.model if one.blind else "",
            **_columns("blind_", one.blind.rate if one.blind else None),
            "verdict": one.verdict.words,
            "table": one.table,
        }
        for one in findings
        if one.headline and one.model in cast.shown
    ]
    return pd.DataFrame(rows, dtype=object)


def runs_in_mlflow(finding: Finding, lines: Sequence[str]) -> str:
    """Return the address at which MLflow shows the run of a finding, and no other.

    The run is searched by what it is, in all experiments, since the numbers of experiments depend on what ran first.

    Args:
        finding: The finding.
        lines: The lines of work that ran; each has an experiment, beside that of the stages and that of the three ways.
    """
    sought = {"params.model": finding.model, "params.construction": finding.construction}
    if finding.source:
        sought["params.source"] = finding.source
    said = [f"{name} = '{value}'" for name, value in sought.items()] + [f"tags.\"cxprobe.stage\" = '{finding.stage}'"]
    experiments = json.dumps([str(place + 1) for place in range(len(lines) + 2)])
    search = f"experiments={quote(experiments)}&searchFilter={quote(' and '.join(said))}"
    return f"{MLFLOW}/#/compare-experiments/s?{search}"


def _columns(prefix: str, rate: Estimate | None) -> dict[str, object]:
    if rate is None:
        return {f"{prefix}{name}": "" for name in ("accuracy", "low", "high", "n")}
    return {f"{prefix}accuracy": rate.value, f"{prefix}low": rate.low, f"{prefix}high": rate.high, f"{prefix}n": rate.n}


def _environment(run: Run, cast: Cast) -> Environment:
    environment = Environment(
        loader=PackageLoader("cxprobe.report.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": percent,
        "interval": interval,
        "n": number,
        "in_full": in_full,
        "label": cast.label,
    }
    environment.globals |= {
        "QUESTIONS": QUESTIONS,
        "MLFLOW": MLFLOW,
        "MLFLOW_COMMAND": MLFLOW_COMMAND,
        "PIXELS": {"width": WIDTH, "height": HEIGHT, "margin": MARGIN},
        "bar_of": lambda finding: Bar(finding.rate, finding.chance, finding.blind, cast.label(finding.model)),
        "run_of": lambda finding: runs_in_mlflow(finding, run.lines),
        "mocks": cast.mocks,
        "blind": cast.blind,
        "has_page": {*cast.shown, *cast.twins},
    }
    return environment


def _block(slug: str, findings: Sequence[Finding], run: Run, cast: Cast) -> Block:
    about = run.constructions[slug].construction
    shown = [one for one in findings if one.construction == slug and one.headline and one.model in cast.shown]
    rows = [
        Row(model, {question: [one for one in own if one.question == question] for question in QUESTIONS})
        for model, own in ((model, [one for one in shown if one.model == model]) for model in cast.shown)
        if own
    ]
    summary: dict[Question, Sequence[Said]] = {
        question: list(_said([one for one in shown if one.question == question])) for question in QUESTIONS
    }
    return Block(slug, about.name, about.gloss, summary, rows, reservations_of(slug, findings, run, cast))


def _said(findings: Sequence[Finding]) -> Iterator[Said]:
    """Give the verdicts of some findings, in the order of `VERDICTS`, with the models that have them."""
    for verdict in VERDICTS:
        own = [one for one in findings if one.verdict == verdict]
        if own:
            models = groupby(own, key=lambda one: one.model)  # in the order of the grid
            named = {model: ", ".join(_short(one) for one in every) for model, every in models}
            yield Said(verdict, list(named), ", ".join(f"{model} ({ways})" for model, ways in named.items()))


def _short(finding: Finding) -> str:
    rate = f" {percent(finding.rate.value)}, {number(finding.rate.n)}" if finding.rate else ""
    return f"{finding.way.partition(':')[0]}{rate}"


def _counts(findings: Sequence[Finding], cast: Cast) -> Mapping[Question, Sequence[tuple[Verdict, int]]]:
    """Return how many findings of the overview have each verdict, by question."""
    shown = [one for one in findings if one.headline and one.model in cast.shown]
    return {
        question: [
            (verdict, number_of)
            for verdict in VERDICTS
            if (number_of := sum(one.question == question and one.verdict == verdict for one in shown))
        ]
        for question in QUESTIONS
    }


def _construction(block: Block, findings: Sequence[Finding], run: Run, cast: Cast) -> dict[str, object]:
    own = [one for one in findings if one.construction == block.slug]
    about = run.constructions[block.slug]
    return {
        "about": about.construction,
        "examples": examples_of(about, run.people),
        "by_question": {question: [one for one in own if one.question == question] for question in QUESTIONS},
        "ways": findings_of_ways(block.slug, run.tables, cast),
        "agreement": _agreement(block.slug, run, cast),
        "variants": _variants(block.slug, run, cast),
        "pictures": pictures_of_construction(block.slug, run, cast),
        "tables": [*_blind(block.slug, run, cast), *_compared(run, "construction", block.slug, cast)],
        "published": _published_of(block.slug, run, cast),
    }


def _agreement(construction: str, run: Run, cast: Cast) -> list[Table]:
    head, rows, source = agreement_of(construction, run.tables, cast)
    title = "Agreement of the ways, pair by pair: Cohen's kappa, 0 for none beyond what the rates give and 1 for all"
    return [Table(title, source, head, rows)] if rows else []


def _variants(construction: str, run: Run, cast: Cast) -> list[Finding]:
    """Return what models get on each wording of the minimal pairs, as findings of their own."""
    path = "report_pairs/tables/sentences"
    table = run.table(path)
    own = table[(table["construction"] == construction) & (table["words"] == "real")] if len(table) else table
    several = len(own) > 0 and own["sentence"].nunique() > 1
    pairs = run.constructions[construction].pairs
    asked = {name: variant.continuation for name, variant in pairs.variants.items()} if pairs is not None else {}
    return [
        Finding(
            construction=construction,
            model=str(row["model"]),
            question="meaning",
            way=f"{row['variant']}{', ' + row['sentence'] if several else ''}: {asked.get(str(row['variant']), '')}",
            rate=rate_of(row),
            chance=0.5,
            blind=None,
            table=f"{path}.csv",
            stage="judge_pairs",
            source="own",
        )
        for _, row in own.iterrows()
        if row["model"] in {*cast.shown, *cast.twins}
    ]


def _blind(construction: str, run: Run, cast: Cast) -> Iterator[Table]:
    """Give what every blind model gets on the items of a construction."""
    divided = {"recognition": "source", "scenarios": "scenario", "prompts": "set", "pairs": "words"}
    for line, column in divided.items():
        path = "report_recognition/tables/recognition" if line == "recognition" else f"report_{line}/accuracy"
        table = run.table(path)
        if table.empty:
            continue
        own = table[(table["construction"] == construction) & table["model"].isin(cast.blind)]
        rows = [[str(row["model"]), _named(column, row[column]), *_cells(rate_of(row))] for _, row in own.iterrows()]
        if rows:
            title = f"What blind models get: {line}"
            yield Table(title, f"{path}.csv", ["blind model", column, "accuracy", "interval", "n"], rows)


def _cells(rate: Estimate) -> list[str]:
    return [percent(rate.value), interval(rate), f"{rate.n:,}"]


def _named(column: str, value: object) -> str:
    return SETS.get(str(value), str(value)) if column == "set" else str(value)


def _compared(run: Run, column: str, value: str, cast: Cast) -> Iterator[Table]:
    """Give the paired differences in the rows whose column has a value, without mock models."""
    for line in run.lines:
        path = f"report_{line}/tables/comparisons"
        table = run.table(path)
        if table.empty:
            continue
        about = (
            table[column] == value
            if column == "construction"
            else (table["first"] == value) | (table["second"] == value)
        )
        own = table[about & ~table["first"].isin(cast.mocks) & ~table["second"].isin(cast.mocks)]
        by = [name for name in own.columns if name not in _COMPARED and name != column]
        rows = [
            [*(_named(name, row[name]) for name in by), *_difference(row, cast)]
            for _, row in own.iterrows()
            if _is_number(row["difference"])
        ]
        if rows:
            yield Table(f"Paired differences on the same items: {line}", f"{path}.csv", [*by, *_DIFFERENCE], rows)


_COMPARED = ("compares", "first", "second", "difference", "low", "high", "n", "p", "p_holm", "detectable")
_DIFFERENCE = ("first", "second", "difference in points", "interval", "n", "p (Holm)", "detectable")


def _difference(row: "pd.Series[float]", cast: Cast) -> list[str]:
    low, high = (f"{100 * float(row[name]):+.0f}" for name in ("low", "high"))
    return [
        cast.label(str(row["first"])),
        cast.label(str(row["second"])),
        f"{100 * float(row['difference']):+.0f}",
        f"[{low}, {high}]",
        f"{int(row['n']):,}",
        f"{float(row['p_holm']):.3f}",
        f"{100 * float(row['detectable']):.0f}" if _is_number(row["detectable"]) else "–",
    ]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and value == value


def _published_of(construction: str, run: Run, cast: Cast) -> list[Table]:
    """Return the published values about a construction beside those of the run."""
    wanted = {
        "report_pairs/tables/beside_published": "Minimal pairs beside published values, which are about other items",
        "report_prompts/tables/reasoning_beside_published": "Multiple choice beside published values",
    }
    present = {path: run.table(path) for path in wanted if len(run.table(path))}
    tables = [
        _as_read(table.loc[table["construction"] == construction], wanted[path], path, cast)
        for path, table in present.items()
    ]
    for kind in ("accuracy", "flips"):
        path = f"report_scenarios/tables/{construction}/{kind}_beside_published"
        scenarios = run.constructions[construction].scenarios
        if scenarios is not None and scenarios.published is not None:
            title = f"Scenarios: {kind} in percent beside published values (*: differs from the published rate)"
            tables.append(_as_read(run.table(path), title, path, cast))
    return [table for table in tables if table.rows]


def _published(run: Run, cast: Cast) -> list[Table]:
    """Return the published values that are about all constructions together."""
    path = "report_prompts/tables/inference_beside_published"
    inference = run.table(path)
    found = [_as_read(inference, "Inference beside published values", path, cast)] if len(inference) else []
    path = "report_pairs/tables/beside_published"
    pairs = run.table(path)
    if len(pairs):
        every = pairs[~pairs["construction"].isin(list(run.constructions))]
        found.append(_as_read(every, "Minimal pairs beside published values, which are about other items", path, cast))
    return found


def _as_read(table: pd.DataFrame, title: str, path: str, cast: Cast) -> Table:
    """Return a table that is already made for reading, without mock models and earlier checkpoints."""
    kept = table[~table["model"].isin([*cast.mocks, *cast.earlier])]
    rows = kept.astype(object).where(kept.notna(), "").astype(str).to_numpy().tolist()
    return Table(title, f"{path}.csv", [str(name).replace("_", " ") for name in kept.columns], rows)


def _model(member: Member, findings: Sequence[Finding], run: Run, cast: Cast) -> dict[str, object]:
    benchmarks = [
        (
            path.split("/")[1],
            [(str(row["group"]), rate_of(row)) for _, row in table.iterrows() if row["model"] == member.slug],
        )
        for path, table in run.tables.items()
        if path.startswith("report_benchmarks/")
    ]
    return {
        "member": member,
        "facts": _facts(member),
        "findings": [one for one in findings if one.model == member.slug],
        "benchmarks": [(name, rows) for name, rows in benchmarks if rows],
        "tables": list(_compared(run, "model", member.slug, cast)),
        "series": [name for name, one in (run.params.series or {}).items() if member.slug in one.models],
        "names": {slug: about.construction.name for slug, about in run.constructions.items()},
    }


def _facts(member: Member) -> dict[str, str]:
    spec = member.spec
    if isinstance(spec, Llm):
        return {"asked in words": spec.name}
    if isinstance(spec, ModelSpec):
        weights = {"trained": "as trained", "random": "drawn at random: a twin", "shuffled": "shuffled: a twin"}
        known = {"revision": spec.revision, "SHA-256 of the weights": spec.sha256}
        said = {name: value for name, value in known.items() if value}
        return {"checkpoint": spec.name, "weights": weights[spec.weights], "precision": spec.precision, **said}
    if isinstance(spec, ServedModel):
        return {"checkpoint": spec.name, "weights": spec.weights, "precision": "as served", "server": spec.url}
    return {"blind model": spec.kind}


def _methods(run: Run, cast: Cast) -> dict[str, object]:
    return {
        "settings": run.settings,
        "hashes": run.hashes,
        "versions": {name: version(name).partition("+")[0] for name in PACKAGES},
        "facts": {slug: _facts(member) for slug, member in cast.members.items()},
        "lines": run.lines,
        "cast": cast,
    }
