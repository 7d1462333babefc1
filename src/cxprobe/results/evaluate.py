"""Evaluate a task: the raw answers of all models -> responses, rates, comparisons, verdicts and runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.files.tables import write_table
from cxprobe.models.params import Member, series_of
from cxprobe.results.baseline_report import baseline_table
from cxprobe.results.compare import compare, with_baselines
from cxprobe.results.members import evaluate_members
from cxprobe.results.rates import ALL, Estimator, Facet, rates_of, with_all
from cxprobe.results.runs import RunExtras, RunInputs, headline_of, part_names, runs_of, series_runs, shown_rates
from cxprobe.results.schema import RATES, write_rates, write_responses
from cxprobe.results.tables import with_blanks
from cxprobe.results.verdict import with_verdicts
from cxprobe.run.stage import Outcome, Stage

COMPARED = ("difference", "low", "high", "p", "p_holm", "detectable")  # columns that may have empty cells


@dataclass(frozen=True)
class Evaluation:
    """What a task says about its evaluation.

    Attributes:
        responses: Returns the responses of a model, given it and the folder with its raw answers: columns of
            `cxprobe.results.schema.RESPONSES` but task and model, facets, and clusters.
        facets: How responses are divided.
        settings: Names of the parts of params.yaml that decide on the numbers of a source.
        dataset: Returns the file or folder with the items of a construction and source.
        pool: Returns responses, and those of all constructions together, as of `cxprobe.results.rates.ALL`.
        estimate: How shares are estimated, see `cxprobe.results.rates.rates_of`.
        further: Returns rates that no facet gives, such as the agreement of draws, given what ``pool`` returns: all
            columns up to chance, and decides.
        override: Returns rates with what the task knows of their chance, controls and verdicts, see
            `cxprobe.results.verdict.with_verdicts`.
        tables: Returns further tables, such as rates beside published values, given the rates and
            what ``pool`` returns.
        extras: Returns what a run has beside its rates, given these.
        kept: Columns of the responses that are written beside those of facets.
        inside: The subfolder of a model's folder that has its answers and its model.json.
    """

    responses: Callable[[Member, Path], pd.DataFrame | None]
    facets: Sequence[Facet]
    settings: Callable[[str], Sequence[str]]
    dataset: Callable[[str, str], Path | None]
    pool: Callable[[pd.DataFrame], pd.DataFrame] = with_all
    estimate: Estimator | None = None
    further: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    override: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    tables: Callable[[pd.DataFrame, pd.DataFrame], Mapping[str, pd.DataFrame]] | None = None
    extras: Callable[[pd.DataFrame], RunExtras] = lambda _rates: RunExtras()
    kept: Sequence[str] = ()
    inside: Path = Path()


def evaluate(stage: Stage[Any], task: Evaluation) -> Outcome:
    """Evaluate all models of a task; a model that cannot be evaluated does not stop the others.

    Args:
        stage: The stage evaluate_<task>; its params have report.limit, report.tested and the section of the task.
        task: The task.
    """

    def responses_of(member: Member, folder: Path) -> pd.DataFrame | None:
        responses = task.responses(member, folder)
        return None if responses is None else responses.assign(task=stage.task, model=member.slug)

    judging = evaluate_members(stage, responses_of, task.inside)
    if not judging.judged:
        return Outcome(faults=judging.faults)
    members, report = [*judging.members.values()], stage.params.report
    responses = pd.concat(judging.judged.values(), ignore_index=True)
    columns = dict.fromkeys([*(column for facet in task.facets for column in facet.columns), *task.kept])
    write_responses(responses, [*columns], stage.data / "responses.parquet")
    divided = task.pool(responses)
    series = series_of(stage.params.models, stage.params.of_task.models)
    comparisons = compare(divided, task.facets, members, series, report.tested)
    write_table(comparisons, stage.data / "comparisons.parquet", optional=COMPARED)
    rates = rates_of(divided, task.facets, task.estimate)
    if task.further:
        rates = pd.concat([rates, task.further(divided)], ignore_index=True)
    rates = with_baselines(rates, comparisons)
    if task.override:
        rates = task.override(rates)
    rates = in_order(_with_verdicts(rates, task.facets, members), members)
    write_rates(rates, stage.data / "rates.parquet")
    inputs = RunInputs(
        judging, task.facets, lambda source: stage.settings(*task.settings(source)), task.dataset, task.extras
    )
    left_out = [facet.name for facet in task.facets if not facet.in_git]
    judging.show(shown_rates(rates))
    return Outcome(
        headline=headline_of(rates),
        runs=[*runs_of(rates, inputs), *series_runs(rates, series, inputs)],
        tables={
            "rates": with_blanks(rates[~rates["facet"].isin(left_out)]),
            "comparisons": with_blanks(comparisons),
            "tables/baselines": baseline_report(rates, task.facets, report.limit, members),
            **(task.tables(rates, divided) if task.tables else {}),
        },
        faults=judging.faults,
    )


def _with_verdicts(rates: pd.DataFrame, facets: Sequence[Facet], members: Sequence[Member]) -> pd.DataFrame:
    """Return all columns of `cxprobe.results.schema.RATES`; baselines have no verdict."""
    baselines = [member.slug for member in members if member.is_baseline]
    has_verdict = rates["facet"].isin([facet.name for facet in facets if facet.has_verdicts])
    has_verdict &= rates["chance"].notna() & ~rates["model"].isin(baselines) & rates.get("has_verdict", True)
    return with_verdicts(rates.assign(has_verdict=has_verdict)).reindex(columns=list(RATES))


def baseline_report(
    rates: pd.DataFrame, facets: Sequence[Facet], limit: float, members: Sequence[Member]
) -> pd.DataFrame:
    """Return what every baseline gets on the items of each construction, see `baseline_table`."""
    compared = [facet.name for facet in facets if facet.has_verdicts]
    each = rates[(rates["construction"] != ALL) & rates["facet"].isin(compared) & rates["chance"].notna()]
    named = each.assign(dataset=part_names(each, ["construction", "source", "level", "measure"]))
    renamed = named.rename(columns={"value": "accuracy"})
    chance = dict(zip(named["dataset"], named["chance"], strict=True))
    return baseline_table(renamed, chance=chance, limit=limit, members=members)


def in_order(rates: pd.DataFrame, members: Sequence[Member]) -> pd.DataFrame:
    """Return rates by model, construction and source, all constructions together last, each in the order of facets."""
    models = {member.slug: number for number, member in enumerate(members)}
    return (
        rates.assign(_model=rates["model"].map(models), _all=rates["construction"] == ALL)
        .sort_values(["_model", "_all"], kind="stable", ignore_index=True)
        .drop(columns=["_model", "_all"])
    )
