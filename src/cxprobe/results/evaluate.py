"""Evaluate a task: the raw answers of all models -> responses, rates, comparisons, verdicts and runs.

Runs of MLflow and the metrics of DVC are views of the rates.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pandas as pd

from cxprobe.errors import CxprobeError, DataError
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import Llm, Member, Series, series_of
from cxprobe.results.comparisons import compare, with_baselines
from cxprobe.results.findings import QUESTIONS, estimate_of, findings_in, lead_findings
from cxprobe.results.params import TaskParams, task_members
from cxprobe.results.published import BESIDE, PUBLISHED, beside_published, read_published
from cxprobe.results.rates import ALL, Facet, columns_of, rates_of, with_all
from cxprobe.results.schema import are_shares, facet_columns, write_rates, write_responses
from cxprobe.results.sentences import in_sum
from cxprobe.results.verdict import with_verdicts
from cxprobe.results.words import in_full, with_blanks
from cxprobe.run.record import Dataset, ModelFacts, Run, Trial, read_model_facts
from cxprobe.run.stage import Outcome, Stage
from cxprobe.stats import WIDEST

P = TypeVar("P", bound=TaskParams)
MOST_CURVES = 20  # of a child run
MOST_METRICS = 40  # of a run; MLflow's UI draws about 100 charts and drops the others without a word
_REFUSED = re.compile(r"[^\w.\- :/]")  # characters that MLflow refuses in the name of a metric
PICTURE = "1_overview"  # so that it stands first among the artifacts
_ABOUT: Mapping[str, str] = {
    "baseline": "A baseline: it cannot know a construction, so what it reaches the items give away.",
    "random weights": "A random-weights control: its weights know nothing.",
    "series": "Models that differ in one quantity, which is the step of each metric.",
}
_READ = (
    "Each metric is called by its question and a construction, in percent; `<question>/mean` is their mean. Rates of "
    "too few items have none. Intervals, baselines and verdicts are in the artifact `rates.csv`, and drawn in "
    "`1_overview.png`; the report is `results/report/index.html`."
)


class EvaluatedModel(NamedTuple):
    """A model of a task with the facts about it, and with its responses."""

    member: Member
    facts: ModelFacts
    responses: pd.DataFrame


class RunExtras(NamedTuple):
    """The contents of a run beside its rates; the attributes are those of `cxprobe.run.record.Run`."""

    tables: Mapping[str, pd.DataFrame] = MappingProxyType({})
    figures: Mapping[str, Any] = MappingProxyType({})
    trials: Sequence[Trial] = ()
    metrics: Mapping[str, float] = MappingProxyType({})
    about: str = ""


class Evaluation(Generic[P]):
    """The evaluation of a task, which a subclass gives. An object evaluates in one stage.

    Attributes:
        facets: How responses are divided.
        kept: Columns of the responses that are written beside those of facets.
        sections: Question -> the section of MLflow's charts that has its rates, where this is not the task's name.
        says: What the numbers of the sections are, as a sentence of Markdown.
        parts: Columns of the rates; their values are what has child runs.
        stage: The stage evaluate_<task>; its params have report.limit and the section of the task.
    """

    facets: ClassVar[Sequence[Facet]]
    kept: ClassVar[Sequence[str]] = ()
    sections: ClassVar[Mapping[str, str]] = {}
    says: ClassVar[str] = ""
    parts: ClassVar[Sequence[str]] = ()

    def __init__(self, stage: Stage[P]) -> None:
        """Read what the answers of all models are about."""
        self.stage = stage

    def responses(self, member: Member, folder: Path) -> pd.DataFrame | None:
        """Return the responses of a model; None if it has none.

        Args:
            member: The model.
            folder: The folder with its raw answers.

        Returns:
            Columns of `cxprobe.results.schema.RESPONSES` but task and model, of facets, and clusters.
        """
        raise NotImplementedError

    def pooled(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return responses, and those of all constructions together, as of `cxprobe.results.rates.ALL`."""
        return with_all(responses)

    def comparisons(
        self, responses: pd.DataFrame, members: Sequence[Member], series: Mapping[str, Series]
    ) -> pd.DataFrame:
        """Return the paired differences of models on the same items of what `pooled` returns."""
        return compare(responses, self.facets, members, series)

    def rates(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the rates, as of `cxprobe.results.rates.rates_of`, of what `pooled` returns."""
        return rates_of(responses, self.facets)

    def decided(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return rates with their chance, controls and verdicts as far as the task decides them.

        See `cxprobe.results.verdict.with_verdicts`.
        """
        return rates

    def tables(self, rates: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """Return further tables."""
        return {}

    def summed_up(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return the rates that sum up models on constructions, a row each, with number, in percent.

        Rates of too few items are left out.
        """
        baselines = [member.slug for member in task_members(self.stage.params) if member.is_baseline]
        is_baseline = rates["model"].isin(baselines) & rates["chance"].notna()
        is_one = rates["decides"] & (rates["question"] != "") & (rates["construction"] != ALL)
        is_wide = (rates["verdict"] == "smoke_test") | (rates["high"] - rates["low"] > WIDEST)
        found = rates[is_one & ((rates["verdict"] != "") | is_baseline) & ~is_wide]
        return found.assign(number=100 * found["value"])

    def extras(self, rates: pd.DataFrame) -> RunExtras:
        """Return the further contents of a child run, given its rates."""
        return RunExtras()


def evaluate_task(task: Evaluation[Any]) -> Outcome:
    """Evaluate all models of a task; a model that cannot be evaluated does not stop the others."""
    stage = task.stage
    evaluated, faults = evaluate_members(task)
    if not evaluated:
        return Outcome(faults=faults)
    members = [one.member for one in evaluated.values()]
    responses = pd.concat([one.responses for one in evaluated.values()], ignore_index=True)
    if responses.empty:
        raise DataError(f"{stage.task}: no model has answered an item; make more items, or name other models")
    write_responses(responses, [*columns_of(task.facets), *task.kept], stage.data / "responses.parquet")
    divided = task.pooled(responses)
    series = series_of(stage.params.models, stage.params.of_task.models)
    comparisons = task.comparisons(divided, members, series)
    write_table(comparisons, stage.data / "comparisons.parquet", optional=["difference", "low", "high", "p", "p_holm"])
    rates = task.decided(with_baselines(task.rates(divided), comparisons))
    order = {member.slug: number for number, member in enumerate(members)}
    rates = rates.sort_values("construction", key=lambda names: names == ALL, kind="stable")
    rates = rates.sort_values("model", key=lambda slugs: slugs.map(order), kind="stable", ignore_index=True)
    rates = with_verdicts(rates, members)
    write_rates(rates, stage.data / "rates.parquet")
    _print_rates(rates[~rates["model"].isin([member.slug for member in members if member.is_baseline])])
    in_git = rates
    for facet in task.facets:
        if not facet.in_git:
            in_git = in_git[~facet.among(in_git)]
    tables = {"rates": with_blanks(in_git), "comparisons": with_blanks(comparisons), **task.tables(rates)}
    published = PUBLISHED / f"{stage.task}.tsv"
    if stage.params.of_task.constructions and published.is_file():
        tables[BESIDE] = beside_published(rates, read_published(stage.use(published)))
    runs = [*runs_of(rates, task, evaluated), *series_runs(rates, task, series)]
    return Outcome(headline=headline_of(rates), runs=runs, tables=tables, faults=faults)


def evaluate_members(task: Evaluation[Any]) -> tuple[dict[str, EvaluatedModel], dict[str, str]]:
    """Return slug -> a model of a task that could be evaluated; and slug -> why another one could not be."""
    evaluated, faults, stage = dict[str, EvaluatedModel](), dict[str, str](), task.stage
    for member in task_members(stage.params):
        step = "ask" if isinstance(member.spec, Llm) else "measure"
        entry = DATA / f"{step}_{stage.task}" / member.entry
        folder = entry / member.inside
        try:
            stage.use(entry)
            responses = task.responses(member, folder)
            if responses is None:
                continue
            facts = read_model_facts(folder)
            if facts.state != member.state:
                raise DataError(
                    f"{folder}: model.json says that the weights of {member.slug} are '{facts.state}', and params.yaml "
                    f"that they are '{member.state}'; run `dvc repro`"
                )
        except CxprobeError as fault:
            faults[member.slug] = str(fault)
            continue
        named = responses.assign(task=stage.task, model=member.slug)
        evaluated[member.slug] = EvaluatedModel(member, facts, named)
    return evaluated, faults


def _print_rates(rates: pd.DataFrame) -> None:
    """Print the deciding shares of single constructions, so that they are known before the report is made."""
    shown = rates[rates["decides"] & are_shares(rates) & (rates["construction"] != ALL)]
    rows = [in_full(estimate_of(row)) for row in shown.to_dict("records")]
    shown = shown.assign(rate=rows).replace({"source": {"own": ""}, "measure": {"accuracy": ""}})
    columns = ["model", "construction", "source", "measure", "rate", "baseline", "verdict"]
    print(shown[columns].to_string(index=False, justify="left").replace("\u00a0", " "), flush=True)


def named_answers(rates: pd.DataFrame, task: Evaluation[Any]) -> pd.DataFrame:
    """Return what `Evaluation.summed_up` returns, with section, and with the name of each as a metric.

    Args:
        rates: The rates of a task, of all models: an item's source is named where there are several.
        task: The evaluation of the task.
    """
    answers = task.summed_up(rates)
    sections = {name: task.sections.get(name, task.stage.task) for name in QUESTIONS}
    sections |= {name: name for name in answers["question"] if name not in QUESTIONS}  # a benchmark
    answers = answers.assign(section=answers["question"].map(sections))
    sources = answers.groupby("section")["source"].transform("nunique")
    of = answers["construction"].map(task.stage.params.construction_of)
    named = of + (" " + answers["source"]).where((sources > 1) & (answers["source"] != answers["section"]), "")
    names = (answers["section"] + "/" + named).str.replace(_REFUSED, "_", regex=True)
    is_later = ~answers["section"].isin([*task.sections.values()])
    return answers.assign(name=names, construction=of, is_later=is_later).sort_values("is_later", kind="stable")


def metrics_of(answers: pd.DataFrame) -> dict[str, float]:
    """Return the metrics of a run: the mean of each section, then <section>/<construction>.

    Args:
        answers: What `named_answers` returns, of one model.
    """
    means = answers.groupby("section", sort=False)["number"].mean()
    each = zip(answers["name"], answers["number"], strict=True)
    return {f"{section}/mean": float(mean) for section, mean in means.items()} | dict(each)


def metrics_of_part(rates: pd.DataFrame, named: Sequence[str] = ()) -> dict[str, float]:
    """Return the metrics of a child run: <measure>, of what decides, then <measure>/<facet>.<value>.

    Args:
        rates: The rates of a part that are no points of curves.
        named: Columns that the part does not fix, such as the construction, whose values are named too.
    """
    metrics, facets = dict[str, float](), facet_columns(rates)
    for row in rates.sort_values("decides", ascending=False, kind="stable").to_dict("records"):
        values = [*(row[name] for name in named), *(() if row["decides"] else _levels(row, facets))]
        name = "/".join(filter(None, [row["measure"], ".".join(values)]))
        metrics.setdefault(_REFUSED.sub("_", name), float(row["value"]))
    return metrics


def curves_of(rates: pd.DataFrame, facet: Facet) -> dict[str, list[tuple[int, float]]]:
    """Return the curves of a child run: <measure>/by_<facet>.<other facet>.<value> -> (step, value) pairs.

    Args:
        rates: The rates of a part of a run.
        facet: Has steps: the last of its columns is a quantity.
    """
    *others, steps = facet.columns
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in rates[facet.among(rates)].to_dict("records"):
        name = _REFUSED.sub("_", ".".join([f"{row['measure']}/by_{steps}", *_levels(row, others)]))
        curves.setdefault(name, []).append((int(row[steps]), float(row["value"])))
    return {name: sorted(points) for name, points in curves.items()}


def _levels(row: Mapping[Any, Any], facets: Sequence[str]) -> Iterator[str]:
    """Yield the names of facets and their values, in turn, where they divide."""
    for name in facets:
        if row[name]:
            yield from (name, row[name])


def runs_of(rates: pd.DataFrame, task: Evaluation[Any], models: Mapping[str, EvaluatedModel]) -> Iterator[Run]:
    """Yield a run for each model, with child runs of its parts.

    Args:
        rates: The rates of a task.
        task: The evaluation of the task.
        models: Slug -> a model.
    """
    from cxprobe.results.plots import OKABE_ITO, overview  # matplotlib takes a second to import

    # MLflow draws a colour from the run's id, by which two models may have the same.
    colours = dict(zip((slug for slug, one in models.items() if not one.member.is_baseline), cycle(OKABE_ITO)))
    answers, found = named_answers(rates, task), list(findings_in(rates, task.stage.params.construction_of))
    for model, rows in rates.groupby("model", sort=False):
        slug, own = str(model), answers[answers["model"] == model]
        member, facts, _ = models[slug]
        shown = lead_findings(found, [slug])
        names = {one.construction: one.construction for one in shown}
        of_run = rows[rows["decides"]] if rows["decides"].any() else rows
        run = _run(
            task,
            slug,
            facts,
            int(own["n"].sum()),
            metrics=dict([*metrics_of(own).items()][:MOST_METRICS]),
            tables={"rates": with_blanks(rows)},
            figures={PICTURE: overview(shown, names)} if shown else _pictured(own if len(own) else of_run),
            children=[] if member.is_baseline else [*_parts_of(rows, task, slug, facts)],
        )
        # The entry of a random-weights control has the keys of its model, and this one is not true of it.
        about = getattr(member.spec, "about", "") if member.state == "trained" else ""
        decided = [one for one in shown if one.row["verdict"] != "no_control"]
        said = _ABOUT.get(run.role) or in_sum(decided, names) or "No rate decides here; `rates.csv` has the verdicts."
        tags = {"model.about": about or "unknown"}
        if slug in colours:
            tags["mlflow.runColor"] = colours[slug]
        yield run.model_copy(update={"about": f"{said}\n\n{task.says} {_READ}", "tags": tags})


def _parts_of(rates: pd.DataFrame, task: Evaluation[Any], model: str, facts: ModelFacts) -> Iterator[Run]:
    """Yield the child runs of a model's run."""
    parts = [*task.parts]
    if not parts:
        return
    has_all = (rates[parts] != "").all(axis=1) & ~rates[parts].isin([ALL]).any(axis=1)
    for values, rows in rates[has_all].groupby(parts, sort=False):
        of_part = rows.reset_index(drop=True)
        extras, is_curve = task.extras(of_part), pd.Series(False, of_part.index)
        curves = dict[str, list[tuple[int, float]]]()
        for facet in task.facets:
            if facet.steps:
                is_curve |= facet.among(of_part)
                curves |= curves_of(of_part, facet)
        series = dict([*curves.items()][:MOST_CURVES])
        others = [name for name in ("construction", "source") if name not in parts and of_part[name].nunique() > 1]
        metrics = metrics_of_part(of_part[~is_curve | of_part["decides"]].drop(columns=parts), others)
        yield _run(
            task,
            model,
            facts,
            0,
            part=dict(zip(parts, map(str, values), strict=True)),
            metrics=dict([*{**extras.metrics, **metrics}.items()][: MOST_METRICS - len(series)]),
            series=series,
            tables={"rates": with_blanks(of_part), **extras.tables},
            figures=extras.figures or _pictured(of_part[~is_curve]),
            trials=extras.trials,
            about=extras.about,
        )


def series_runs(rates: pd.DataFrame, task: Evaluation[Any], series: Mapping[str, Series]) -> Iterator[Run]:
    """Yield a run for each series of models, such as the checkpoints of a training: its metrics are curves.

    Args:
        rates: The rates of a task.
        task: The evaluation of the task.
        series: Name -> models that differ in one quantity.
    """
    from cxprobe.results.plots import curves  # matplotlib takes a second to import

    answers = named_answers(rates, task)
    for name, one in series.items():
        rows = answers[answers["model"].isin(one.models)]
        if rows.empty:
            continue
        steps = rows.assign(step=rows["model"].map(one.models).round().astype(int)).sort_values("step")
        values: dict[str, list[tuple[int, float]]] = {}
        for step, of_step in steps.groupby("step"):
            for metric, value in metrics_of(of_step).items():
                values.setdefault(metric, []).append((int(str(step)), value))
        drawn = steps.assign(low=steps["number"], high=steps["number"])
        how: Any = {"x": "step", "panels": "section", "colours": "construction", "value": "number"}
        yield _run(
            task,
            name,
            ModelFacts(name, "series", None, ", ".join(steps["model"].unique())),
            int(rows["n"].sum()),
            metrics={},
            series=dict([*values.items()][:MOST_METRICS]),
            tables={"rates": with_blanks(steps)},
            figures={PICTURE: curves(drawn, f"{name}: percent by {one.axis}", **how, chance=None, shares=False)},
            about=f"{_ABOUT['series']}\n\n{task.says} {_READ}",
        )


def _run(task: Evaluation[Any], model: str, facts: ModelFacts, items: int, **more: Any) -> Run:
    """Return a run of a stage under its settings; one without a number of items is a part of another."""
    stage, path = task.stage, DATA / f"make_{task.stage.task}"
    data = Dataset(path.as_posix(), stage.inputs[str(stage.use(path))], items) if items else None
    benchmarks = [f"{stage.task}.benchmarks"] if stage.params.benchmarks else []
    settings = stage.settings(*stage.params.settings, *benchmarks)
    return Run(stage=stage.name, model=model, facts=facts, dataset=data, settings=settings, **more)


def _pictured(rates: pd.DataFrame) -> dict[str, Any]:
    """Return the picture of rates that are shares, by measure; none where none is, or has an interval."""
    from cxprobe.results.plots import Mark, dots  # matplotlib takes a second to import

    named = ["name"] if "name" in rates else ["construction", "source", *facet_columns(rates)]
    marks = []
    for row in rates[are_shares(rates) & rates["low"].notna()].to_dict("records"):
        name = " ".join(row[name] for name in named if row[name] not in ("", "own")).replace("_", " ")
        marks.append(Mark(name, str(row["measure"]), estimate_of(row), row["chance"]))
    return {PICTURE: dots(marks)} if marks else {}


def headline_of(rates: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the metrics of a task for DVC: model -> question, control and n -> number.

    Args:
        rates: The rates of a task.

    Returns:
        For each question the mean of the rates that answer it, each construction and source counting once; control,
        the mean of their controls, if they have some; and n, the number of items. Rates are in percent. Those of too
        few items count in none of these, and a model that has no others has n = 0. Baselines have no verdicts,
        and so no metrics.
    """
    judged = rates[rates["decides"] & (rates["verdict"] != "") & (rates["construction"] != ALL)]
    headline: dict[str, dict[str, float]] = {}
    for model, of_model in judged[judged["question"] != ""].groupby("model", sort=False):
        rows = of_model[of_model["verdict"] != "smoke_test"]
        means = {**rows.groupby("question")["value"].mean(), "control": rows["control"].mean()}
        known = {name: round(100 * float(value), 1) for name, value in means.items() if not pd.isna(value)}
        headline[str(model)] = known | {"n": int(rows["n"].sum())}
    return headline
