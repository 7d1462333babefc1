"""Runs of MLflow, and the metric file of DVC, as views of the rates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cxprobe.models.params import Series
from cxprobe.results.findings import estimate_of, findings_in, lead_findings
from cxprobe.results.plots import Mark, dots, overview
from cxprobe.results.rates import ALL, Facet
from cxprobe.results.schema import MEASURES, facet_columns
from cxprobe.results.words import with_blanks
from cxprobe.run.record import Dataset, ModelFacts, Run, Trial
from cxprobe.run.stage import Stage

if TYPE_CHECKING:
    from cxprobe.results.evaluate import EvaluatedModels, Evaluation

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


@dataclass(frozen=True)
class RunExtras:
    """The contents of a run beside its rates; the attributes are those of `cxprobe.run.record.Run`."""

    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    trials: Sequence[Trial] = ()


def runs_of(rates: pd.DataFrame, stage: Stage[Any], task: "Evaluation", evaluated: "EvaluatedModels") -> Iterator[Run]:
    """Yield a run for each model, construction and source that has a rate which decides.

    Where all constructions together have rates, the runs of single ones have no figures of their own: the report draws
    them with all models. Baselines have no runs of single ones then, since the best one's rate is in those of models.

    Args:
        rates: The rates of a task.
        stage: The evaluating stage.
        task: The evaluation of the task.
        evaluated: The models.
    """
    has_all = (rates["construction"] == ALL).any()
    written = with_blanks(rates)
    curved = [facet for facet in task.facets if facet.steps]
    found = list(findings_in(rates, stage.params.construction_of))
    for (model, construction, source), rows in rates.groupby(["model", "construction", "source"], sort=False):
        of_run = rows.reset_index(drop=True)
        deciding, member = of_run[of_run["decides"]], evaluated.members[str(model)]
        is_own = construction == ALL or not has_all
        if deciding.empty or (member.is_baseline and not is_own):
            continue
        first, extras = deciding.iloc[0], task.extras(of_run)
        is_curve = pd.Series(False, of_run.index)
        curves = dict[str, list[tuple[int, float]]]()
        for facet in curved:
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
        yield Run(
            stage=stage.name,
            model=str(model),
            facts=evaluated.facts[str(model)],
            construction=str(construction),
            source=str(source),
            dataset=_dataset(stage, task.dataset(str(construction), str(source)), int(first["n"])),
            metrics=dict([*metrics.items()][: MOST_METRICS - len(series)]),
            series=series,
            settings=stage.settings(*task.settings(str(source))),
            tags={
                "verdict": str(first["verdict"]) or "none",
                "baseline": str(first["baseline"]) or "none",
                "model.about": about or "unknown",
            },
            tables={"rates": written.loc[rows.index], **extras.tables},
            figures=figures,
            trials=extras.trials,
        )


def series_runs(
    rates: pd.DataFrame, stage: Stage[Any], task: "Evaluation", series: Mapping[str, Series]
) -> Iterator[Run]:
    """Yield a run for each curve over the models of a series, such as the checkpoints of a training.

    Args:
        rates: The rates of a task.
        stage: The evaluating stage.
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
                stage=stage.name,
                model=name,
                facts=ModelFacts(name, "series", None, ", ".join(steps["model"])),
                construction=str(construction),
                source=str(source),
                dataset=_dataset(stage, task.dataset(ALL, str(source)), n),
                metrics={"n": n},
                settings=stage.settings(*task.settings(str(source))),
                series=curves,
                tables={"rates": with_blanks(steps)},
            )


def _dataset(stage: Stage[Any], path: Path | None, items: int) -> Dataset | None:
    return None if path is None else Dataset(path.as_posix(), stage.inputs[str(path)], items)


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
