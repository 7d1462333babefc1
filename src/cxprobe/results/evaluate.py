"""Evaluate a task: the raw answers of all models -> responses, rates, comparisons, verdicts and runs.

Runs of MLflow and the metrics of DVC are views of the rates.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pandas as pd

from cxprobe.errors import CxprobeError, DataError
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA
from cxprobe.models.language_models import read_model_facts
from cxprobe.models.params import Member, Series, series_of
from cxprobe.results.comparisons import compare, with_baselines
from cxprobe.results.findings import estimate_of, findings_in, lead_findings
from cxprobe.results.params import TaskParams, task_members
from cxprobe.results.plots import Mark, dots, overview
from cxprobe.results.rates import ALL, Facet, columns_of, rates_of, with_all
from cxprobe.results.schema import HAS_VERDICT, MEASURES, facet_columns, write_rates, write_responses
from cxprobe.results.verdict import with_verdicts
from cxprobe.results.words import cell, in_full, with_blanks
from cxprobe.run.record import Dataset, ModelFacts, Run, Trial
from cxprobe.run.stage import Outcome, Stage

P = TypeVar("P", bound=TaskParams)
MOST_CURVES = 20  # of a run
MOST_METRICS = 50  # of a run; MLflow's UI draws about 100 charts and drops the others without a word
_REFUSED = re.compile(r"[^\w.\- :/]")  # characters that MLflow refuses in the name of a metric
# Column of the rates -> how the metric is called, after the name of the measure, of the row that decides.
_OF_DECIDING: Mapping[str, str] = {
    "value": "",
    "low": ".low",
    "high": ".high",
    "of_baseline": ".baseline",
    "control": ".control",
    "control_low": ".control.low",
    "control_high": ".control.high",
    "difference": ".difference",
    "diff_low": ".difference.low",
    "diff_high": ".difference.high",
}
COMPARED = ("difference", "low", "high", "p", "p_holm", "detectable")  # columns that may have empty cells


@dataclass
class EvaluatedModels:
    """The evaluated models of a task.

    Attributes:
        members: Slug -> a model that could be evaluated.
        facts: Slug -> the facts about it.
        responses: Slug -> its responses.
        faults: Slug -> why a model could not be evaluated. Such a model is in no other mapping.
    """

    members: dict[str, Member] = field(default_factory=dict)
    facts: dict[str, ModelFacts] = field(default_factory=dict)
    responses: dict[str, pd.DataFrame] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunExtras:
    """The contents of a run beside its rates; the attributes are those of `cxprobe.run.record.Run`."""

    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    trials: Sequence[Trial] = ()


class Evaluation(Generic[P]):
    """The evaluation of a task, which a subclass gives. An object evaluates in one stage.

    Attributes:
        facets: How responses are divided.
        kept: Columns of the responses that are written beside those of facets.
        stage: The stage evaluate_<task>; its params have report.limit, report.tested and the section of the task.
    """

    facets: ClassVar[Sequence[Facet]]
    kept: ClassVar[Sequence[str]] = ()

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

    def settings(self, source: str) -> Sequence[str]:
        """Return the names of the parts of params.yaml that decide on the numbers of a source."""
        raise NotImplementedError

    def dataset(self, construction: str, source: str) -> Path:
        """Return the file or folder with the items of a construction, or of `ALL` of them, and a source."""
        raise NotImplementedError

    def pooled(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return responses, and those of all constructions together, as of `cxprobe.results.rates.ALL`."""
        return with_all(responses)

    def rates(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the rates, as of `cxprobe.results.rates.rates_of`, of what `pooled` returns."""
        return rates_of(responses, self.facets)

    def decided(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return rates with their chance, controls and verdicts as far as the task decides them.

        See `cxprobe.results.verdict.with_verdicts`.
        """
        return rates

    def tables(self, rates: pd.DataFrame) -> Mapping[str, pd.DataFrame]:
        """Return further tables, such as rates beside published values."""
        return {}

    def extras(self, rates: pd.DataFrame) -> RunExtras:
        """Return the further contents of a run, given its rates."""
        return RunExtras()


def evaluate_task(task: Evaluation[Any]) -> Outcome:
    """Evaluate all models of a task; a model that cannot be evaluated does not stop the others."""
    stage = task.stage
    evaluated = evaluate_members(task)
    if not evaluated.members:
        return Outcome(faults=evaluated.faults)
    members, report = [*evaluated.members.values()], stage.params.report
    responses = pd.concat(evaluated.responses.values(), ignore_index=True)
    write_responses(responses, [*columns_of(task.facets), *task.kept], stage.data / "responses.parquet")
    divided = task.pooled(responses)
    series = series_of(stage.params.models, stage.params.of_task.models)
    comparisons = compare(divided, task.facets, members, series, report.tested)
    write_table(comparisons, stage.data / "comparisons.parquet", optional=COMPARED)
    rates = with_baselines(task.rates(divided), comparisons)
    ordered = _in_order(task.decided(rates), members)
    rates = with_verdicts(ordered, members)
    write_rates(rates, stage.data / "rates.parquet")
    _print_rates(rates[~rates["model"].isin([member.slug for member in members if member.is_baseline])])
    in_git = rates
    for facet in task.facets:
        if not facet.in_git:
            in_git = in_git[~facet.among(in_git)]
    return Outcome(
        headline=headline_of(rates),
        runs=[*runs_of(rates, task, evaluated), *series_runs(rates, task, series)],
        tables={
            "rates": with_blanks(in_git),
            "comparisons": with_blanks(comparisons),
            "tables/baselines": baseline_table(ordered, task.facets, limit=report.limit, members=members),
            **task.tables(rates),
        },
        faults=evaluated.faults,
    )


def evaluate_members(task: Evaluation[Any]) -> EvaluatedModels:
    """Evaluate the answers of all models of a task."""
    evaluated, stage = EvaluatedModels(), task.stage
    for member in task_members(stage.params):
        step = "ask" if member.is_asked else "measure"
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
            evaluated.faults[member.slug] = str(fault)
            continue
        evaluated.members[member.slug] = member
        evaluated.facts[member.slug] = facts
        evaluated.responses[member.slug] = responses.assign(task=stage.task, model=member.slug)
    return evaluated


def _in_order(rates: pd.DataFrame, members: Sequence[Member]) -> pd.DataFrame:
    """Return rates by model, construction and source, all constructions together last, each in the order of facets."""
    models = {member.slug: number for number, member in enumerate(members)}
    return (
        rates.assign(_model=rates["model"].map(models), _all=rates["construction"] == ALL)
        .sort_values(["_model", "_all"], kind="stable", ignore_index=True)
        .drop(columns=["_model", "_all"])
    )


def _print_rates(rates: pd.DataFrame) -> None:
    """Print the deciding shares of single constructions, so that they are known before the report is made."""
    is_share = rates["measure"].map(lambda name: MEASURES[name].is_share)
    shown = rates[rates["decides"] & is_share & (rates["construction"] != ALL)]
    shown = shown.assign(
        items=part_names(shown, ["construction", "source", "measure"]),
        rate=[in_full(estimate_of(row)) for row in shown.to_dict("records")],
    )
    columns = ["model", "items", "rate", "baseline", "verdict"]
    print(shown[columns].to_string(index=False, justify="left").replace("\u00a0", " "), flush=True)


def baseline_table(
    rates: pd.DataFrame, facets: Sequence[Facet], *, limit: float, members: Sequence[Member]
) -> pd.DataFrame:
    """Return the rate of every baseline on the items of each construction, with a sentence on each that it solves.

    Args:
        rates: The columns of `cxprobe.results.schema.RATES`, of all models.
        facets: Those of the task; the table has the rates of those that are of baselines, or else of those with
            verdicts.
        limit: The accuracy above which a data set is solved where chance is 0.5 (report.limit of params.yaml); where
            chance is c, the limit is c + (limit - 0.5) / 0.5 * (1 - c).
        members: The models.

    Returns:
        dataset, model, accuracy, low, high, n; chance, the greatest one of the data set; limit; solved, whether the
        accuracy is above the limit and its interval above chance, since a few items say nothing; and says, such as "is
        answered above chance without the construction by character-ngrams: 97.7 % (95.0 to 99.0)", or an empty text.
    """
    of_baselines = [facet.among(rates) for facet in facets if facet.of_baselines]
    is_shown = pd.concat(of_baselines or [rates[HAS_VERDICT]], axis=1).any(axis=1)
    each = rates[(rates["construction"] != ALL) & is_shown & rates["chance"].notna()]
    columns = ["construction", "source", *facet_columns(rates), "measure"]
    each = each.assign(dataset=part_names(each, columns), accuracy=each["value"])
    each["chance"] = each.groupby("dataset")["chance"].transform("max")
    baselines = [member.slug for member in members if member.is_baseline]
    table = each[each["model"].isin(baselines)].reset_index(drop=True)
    limits = table["chance"] + (limit - 0.5) / 0.5 * (1 - table["chance"])
    solved = ((table["accuracy"] > limits) & (table["low"] > table["chance"])).astype(bool)
    said, says = "is answered above chance without the construction by", []
    for is_solved, row in zip(solved, table.to_dict("records"), strict=True):
        percent, interval = cell(row["accuracy"], row["low"], row["high"]).split(" ", 1)
        says.append(f"{said} {row['model']}: {percent} % {interval}" if is_solved else "")
    columns = ["dataset", "model", "accuracy", "low", "high", "n", "chance", "limit", "solved", "says"]
    return table.assign(limit=limits, solved=solved, says=says)[columns]


def metrics_of(rates: pd.DataFrame) -> dict[str, float]:
    """Return the metrics of a run, the most important first.

    Args:
        rates: The rates of one model on one construction and source that are no points of curves.

    Returns:
        Of the rows that decide <measure>, <measure>.low, <measure>.high, n, and as far as there are such numbers
        <measure>.baseline (the best one), <measure>.control, <measure>.difference (from the baseline) and their limits;
        of the others <measure>.<facet>.<value> and further facets; and <measure>.all of undivided responses where
        some of them decide. rates.csv has all of them.
    """
    metrics = dict[str, Any]()
    for row in rates[rates["decides"]].assign(of_baseline=rates["value"] - rates["difference"]).to_dict("records"):
        metrics |= {f"{row['measure']}{name}": row[column] for column, name in _OF_DECIDING.items()}
        metrics.setdefault("n", row["n"])
    facets = facet_columns(rates)
    for row in rates[~rates["decides"]].to_dict("records"):
        name = ".".join([row["measure"], *_levels(row, facets)])
        metrics[f"{name}.all" if name in metrics else name] = row["value"]
    return {_REFUSED.sub("_", name): float(value) for name, value in metrics.items() if not pd.isna(value)}


def curves_of(rates: pd.DataFrame, facet: Facet) -> dict[str, list[tuple[int, float]]]:
    """Return the curves of a run: <measure>.by_<facet>.<other facet>.<value> -> (step, value) pairs.

    Args:
        rates: The rates of one model on one construction and source.
        facet: Has steps: the last of its columns is a quantity.
    """
    *others, steps = facet.columns
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in rates[facet.among(rates)].to_dict("records"):
        name = _REFUSED.sub("_", ".".join([row["measure"], f"by_{steps}", *_levels(row, others)]))
        curves.setdefault(name, []).append((int(row[steps]), float(row["value"])))
    return {name: sorted(points) for name, points in curves.items()}


def _levels(row: Mapping[Any, Any], facets: Sequence[str]) -> Iterator[str]:
    """Yield the names of facets and their values, in turn, where they divide."""
    for name in facets:
        if row[name]:
            yield from (name, row[name])


def runs_of(rates: pd.DataFrame, task: Evaluation[Any], models: EvaluatedModels) -> Iterator[Run]:
    """Yield a run for each model, construction and source that has a rate which decides.

    Where all constructions together have rates, the runs of single ones have no figures of their own: the report draws
    them with all models. Baselines have no runs of single ones then, since the best one's rate is in those of models.

    Args:
        rates: The rates of a task.
        task: The evaluation of the task.
        models: The models.
    """
    has_all = (rates["construction"] == ALL).any()
    written = with_blanks(rates)
    found = list(findings_in(rates, task.stage.params.construction_of))
    for (model, construction, source), rows in rates.groupby(["model", "construction", "source"], sort=False):
        of_run = rows.reset_index(drop=True)
        deciding, member = of_run[of_run["decides"]], models.members[str(model)]
        is_own = construction == ALL or not has_all
        if deciding.empty or (member.is_baseline and not is_own):
            continue
        first, extras = deciding.iloc[0], task.extras(of_run)
        is_curve = pd.Series(False, of_run.index)
        curves = dict[str, list[tuple[int, float]]]()
        for facet in task.facets:
            if facet.steps:
                is_curve |= facet.among(of_run)
                curves |= curves_of(of_run, facet)
        series = dict([*curves.items()][:MOST_CURVES])
        metrics = metrics_of(of_run[~is_curve | of_run["decides"]])
        figures = dict(extras.figures)
        shown = lead_findings(found, [str(model)]) if construction == ALL else []
        if shown:
            figures["1_overview"] = overview(shown, {one.construction: one.construction for one in shown})
        if is_own and not member.is_baseline:
            figures |= dict(_figures(of_run[~is_curve]))
        # The entry of a random-weights control has the keys of its model, and this one is not true of it.
        about = getattr(member.spec, "about", "") if member.state == "trained" else ""
        tags = {"verdict": first["verdict"] or "none", "baseline": first["baseline"] or "none"}
        yield Run(
            facts=models.facts[str(model)],
            metrics=dict([*metrics.items()][: MOST_METRICS - len(series)]),
            series=series,
            tags={**tags, "model.about": about or "unknown"},
            tables={"rates": written.loc[rows.index], **extras.tables},
            figures=figures,
            trials=extras.trials,
            **_about(task, str(model), str(construction), str(source), int(first["n"])),
        )


def series_runs(rates: pd.DataFrame, task: Evaluation[Any], series: Mapping[str, Series]) -> Iterator[Run]:
    """Yield a run for each curve over the models of a series, such as the checkpoints of a training.

    Args:
        rates: The rates of a task.
        task: The evaluation of the task.
        series: Name -> models that differ in one quantity.
    """
    deciding = rates[rates["decides"]]
    for name, one in series.items():
        of_series = deciding[deciding["model"].isin(one.models)]
        for (construction, source), rows in of_series.groupby(["construction", "source"], sort=False):
            steps = rows.assign(step=rows["model"].map(one.models).round().astype(int)).sort_values("step")
            curves = {
                f"{measure}.by_{one.axis}{end}": list(zip(of_it["step"], of_it[column], strict=True))
                for measure, of_it in steps.groupby("measure", sort=False)
                for column, end in (("value", ""), ("low", ".low"), ("high", ".high"))
                if of_it[column].notna().all()
            }
            n = int(rows["n"].iloc[0])
            yield Run(
                facts=ModelFacts(name, "series", None, ", ".join(steps["model"])),
                metrics={"n": n},
                series=curves,
                tables={"rates": with_blanks(steps)},
                **_about(task, name, str(construction), str(source), n),
            )


def _about(task: Evaluation[Any], model: str, construction: str, source: str, items: int) -> dict[str, Any]:
    """Return what says of which model and items a run is, and under which settings."""
    stage, path = task.stage, task.dataset(construction, source)
    return {
        "stage": stage.name,
        "model": model,
        "construction": construction,
        "source": source,
        "dataset": Dataset(path.as_posix(), stage.inputs[str(path)], items),
        "settings": stage.settings(*task.settings(source)),
    }


def _figures(rates: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    is_share = rates["measure"].map(lambda name: MEASURES[name].is_share)  # the axis is one of shares
    facets = facet_columns(rates)
    is_divided = (rates[facets] != "").any(axis=1)
    drawn = is_share & is_divided & rates["low"].notna()  # dots without intervals say little
    for measure, rows in rates[drawn].groupby("measure", sort=False):
        marks = []
        for row in rows.to_dict("records"):
            name = f"{' '.join(_levels(row, facets))} ({row['n']:,})".replace("_", " ")
            marks.append(Mark(name, str(measure), estimate_of(row), row["chance"]))
        yield str(measure), dots(marks)


def part_names(rates: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return a name for the items of each rate, such as "let-alone, mined": own items and accuracy are not named."""
    named = rates[[*columns]].replace({"source": {"own": ""}, "measure": {"accuracy": ""}})
    return [", ".join(filter(None, names)) for names in named.to_numpy().tolist()]


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
