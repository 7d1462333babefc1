"""Evaluate a task: the raw answers of all models -> responses, rates, comparisons, verdicts and runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pandas as pd

from cxprobe.errors import CxprobeError, DataError
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA
from cxprobe.models.language_models import read_model_facts
from cxprobe.models.params import Member, series_of
from cxprobe.results.comparisons import compare, with_baselines
from cxprobe.results.findings import estimate_of
from cxprobe.results.params import TaskParams, task_members
from cxprobe.results.rates import ALL, Facet, columns_of, rates_of, with_all
from cxprobe.results.runs import RunExtras, headline_of, part_names, runs_of, series_runs
from cxprobe.results.schema import HAS_VERDICT, MEASURES, facet_columns, write_rates, write_responses
from cxprobe.results.verdict import with_verdicts
from cxprobe.results.words import cell, in_full, with_blanks
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import Outcome, Stage

P = TypeVar("P", bound=TaskParams)
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
