"""The runs of judged pairs: of each model on each construction, on all of them, and of series of models.

Pairs of this project and benchmarks of others alike; the runs are those of the experiments pairs, benchmarks and ways.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pandas as pd

from cxprobe.errors import CxprobeError
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import Member, Series, series_of
from cxprobe.lm.texts import read_pair_answers
from cxprobe.pairs.balance import pooled, with_balance
from cxprobe.pairs.controls import with_verdicts
from cxprobe.pairs.figures import ways_figure
from cxprobe.pairs.judge import (
    BY_RUN,
    HowToJudge,
    JudgedPairs,
    Metrics,
    accuracy_by_group,
    accuracy_metrics,
    add_scores,
    both_orders,
    decide_pairs,
    groups_of_runs,
    pair_tables,
    pairs_for,
    run_metrics,
    several,
    with_answered_by_words,
    with_benchmark_runs,
    with_pair_runs,
)
from cxprobe.pairs.params import AskPairs, PairsStage, ProbePairs
from cxprobe.pairs.replies import asked_metrics, asked_rates, asked_settings, judge_replies, read_replies
from cxprobe.pairs.report import compare_pairs, pairs_in_groups, with_series
from cxprobe.pairs.sources import MADE, OWN_PAIRS, folder_of
from cxprobe.pairs.ways import (
    agreement_of_ways,
    rates_of_layers,
    rates_of_ways,
    verdict_table,
    verdicts,
    ways_headline,
    ways_metrics,
)
from cxprobe.report.dots import dots_of_run
from cxprobe.report.findings import against_blind
from cxprobe.report.judging import RATE, Judging, judge_members
from cxprobe.report.tables import with_blanks
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import JudgedRun, Stage
from cxprobe.stats import rate_by, with_tie_rate

OF_REPLIES = ("consistency", "position_bias", "unparsed", "failed")
"""Metrics of replies in metrics.json."""

Headline = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class JudgedSource:
    """The decisions of all models on the pairs of one source.

    Attributes:
        stage: The judging stage.
        name: `OWN_PAIRS`, or the name of a benchmark.
        judging: What became of each model; at least one could be judged.
        judged: The pairs of all models, with the column model.
    """

    stage: Stage[PairsStage]
    name: str
    judging: Judging[JudgedPairs]
    judged: JudgedPairs

    @property
    def is_own(self) -> bool:
        """Whether the pairs are this project's."""
        return self.name == OWN_PAIRS

    @property
    def experiment(self) -> str:
        """The MLflow experiment of the runs; "" for that of the line."""
        return "" if self.is_own else "benchmarks"

    @property
    def series(self) -> Mapping[str, Series]:
        """The series of models."""
        params = self.stage.params
        return series_of(params.models, params.pairs.models)

    def dataset(self, run: str) -> Path:
        """Return the file of the pairs of a run, or the folder of all of them."""
        if not self.is_own:
            return MADE / folder_of(self.name).with_suffix(".parquet")
        return self.stage.use(MADE if run == "all" else MADE / f"{run}.parquet")

    def settings(self, member: Member | None = None) -> dict[str, str]:
        """Return what decides on the numbers of a model, or of a series."""
        of_pairs = "pairs.make" if self.is_own else f"pairs.benchmarks.{self.name}"
        settings = self.stage.settings("pairs.score", "pairs.judge", of_pairs)
        if member is None or not member.is_asked:
            return settings
        return asked_settings(settings, cast(AskPairs, self.stage.params.pairs.ask).prompt)


@dataclass(frozen=True)
class RunParts:
    """What the runs of a source consist of.

    Attributes:
        sizes: (model, run) -> the number of pairs.
        metrics: (model, run) -> the numbers.
        items: The judged pairs that the accuracies of the runs are of.
        groups: The rates that the figure of each run shows.
        tables: Name -> table of all runs.
        along: The rates of `groups` "all" along series, with the column run.
        verdicts: (model, run) -> the verdict on it beside its control.
    """

    sizes: "pd.Series[int]"
    metrics: Metrics
    items: pd.DataFrame
    groups: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    along: pd.DataFrame
    verdicts: Mapping[Any, str] = field(default_factory=dict)


def source_runs(
    stage: Stage[PairsStage], source: str, pairs: pd.DataFrame, headline: Headline, faults: dict[str, str]
) -> Iterator[JudgedRun]:
    """Judge all models on the pairs of a source, write the judged pairs and rates, and yield the runs.

    Args:
        stage: The judging stage.
        source: `OWN_PAIRS`, or the name of a benchmark.
        pairs: The pairs.
        headline: Gets the headlines of each model.
        faults: Gets the models that could not be judged.
    """
    section, how = stage.params.pairs, HowToJudge.of(stage.params.pairs, source)
    balanced = with_balance(pairs, how.cell)

    def judge(member: Member, folder: Path) -> JudgedPairs | None:
        shown = pairs_for(member, pairs, section.models if source == OWN_PAIRS else {})
        if shown.empty:
            return None
        shown = balanced if len(shown) == len(pairs) else with_balance(shown, how.cell)
        if not member.is_asked:
            return decide_pairs(shown, read_pair_answers(folder), how)
        replies = read_replies(shown, read_table(folder / "replies.parquet"), how)
        return judge_replies(shown, replies, how)

    judging = judge_members(stage, judge, inside=folder_of(source))
    faults |= judging.faults
    if not judging.judged:
        return
    judged = JudgedPairs.joined(judging.judged, section.constructions if source == OWN_PAIRS else ())
    if source == OWN_PAIRS:
        judged = with_answered_by_words(judged, [*judging.members.values()], stage.params.report.limit)
    for name, table in vars(judged).items():
        if table is not None:
            write_table(table, stage.data / folder_of(source) / f"{name}.parquet")
    of_all = JudgedSource(stage, source, judging, judged)
    parts = _parts_of_pairs(of_all, headline) if of_all.is_own else _parts_of_benchmark(of_all, headline)
    yield from _model_runs(of_all, parts)
    yield from _series_runs(of_all, parts.along)


def _parts_of_pairs(source: JudgedSource, headline: Headline) -> RunParts:
    """Write the rates of this project's pairs, and return what the runs consist of."""
    items, replies = source.judged.items, source.judged.replies
    meaning = items.loc[items["tests"] == "meaning", "construction"].unique().tolist()
    tables = pair_tables(source.judged)
    for name, table in tables.items():
        write_table(table, source.stage.data / "rates" / f"{name}.parquet")
    against = against_blind(compare_pairs(source.stage.params, items), "construction")
    settled = with_verdicts(tables["constructions"], tables["controls"], against)
    settled = settled[settled["words"] == "real"].set_index(["model", "construction"])
    in_runs = with_pair_runs(items, meaning)
    metrics = run_metrics(in_runs, with_pair_runs(source.judged.scores, meaning))
    real = several(items[items["words"] == "real"])
    by_kind = accuracy_metrics(real, ["model", "tests"])
    for (slug, kind), numbers in sorted(by_kind.items(), key=lambda entry: entry[0][1] != "meaning"):
        if source.judging.members[slug].is_blind:  # pairs of meaning alone, where there are any
            headline.setdefault(slug, _part(numbers, ("accuracy", "n")))
        else:
            headline.setdefault(slug, {})[kind] = _part(numbers, RATE)
    both = both_orders(pooled(real[real["tests"] != "control"]), ["model"])["both"].rename(columns={"both": "accuracy"})
    for row in both.to_dict("records"):
        headline[row["model"]]["both_orders"] = _part(row, RATE)
    of_kinds = pd.DataFrame({"model": slug, "part": kind, **numbers} for (slug, kind), numbers in by_kind.items())
    source.judging.show(pd.concat([of_kinds, both.assign(part="meaning, both orders")]))
    of_runs = {name: with_pair_runs(table, meaning) for name, table in tables.items()}
    if replies is not None:
        of_real = replies[replies["words"] == "real"]
        for row in asked_rates(with_pair_runs(of_real, meaning), BY_RUN).to_dict("records"):
            metrics[row["model"], row["run"]] |= asked_metrics(row)
        of_runs["asked"] = with_pair_runs(asked_rates(replies, ["model", "construction", "words"]), meaning)
        for row in asked_rates(of_real, ["model"]).to_dict("records"):
            headline.setdefault(row["model"], {}).update(_part(asked_metrics(row), OF_REPLIES))
    series = source.series
    along = items[items["model"].isin(set[str]().union(*(one.models for one in series.values())))]
    along = with_tie_rate(rate_by(pairs_in_groups(along, "run", {"all": "meaning"}), "accuracy", BY_RUN))
    return RunParts(
        in_runs.groupby(BY_RUN, sort=False).size(),
        metrics,
        pooled(in_runs[in_runs["words"] == "real"]),
        accuracy_by_group(in_runs),
        of_runs,
        with_series(along, series),
        settled["verdict"].to_dict(),
    )


def _parts_of_benchmark(source: JudgedSource, headline: Headline) -> RunParts:
    """Return what the runs on a benchmark consist of: a run for each group, and for all."""
    benchmark = source.stage.params.pairs.benchmarks[source.name]
    judged, replies = source.judged, source.judged.replies
    in_runs = with_benchmark_runs(judged.items, benchmark)
    metrics = accuracy_metrics(in_runs)
    add_scores(metrics, in_runs, with_benchmark_runs(judged.scores, benchmark))
    groups = with_tie_rate(rate_by(groups_of_runs(judged.items, benchmark), "accuracy", [*BY_RUN, "group"]))
    tables = {"accuracy": groups}
    for slug, member in source.judging.members.items():
        names = ("accuracy", "n") if member.is_blind else (*RATE, "tie_rate")
        if numbers := _part(metrics[slug, "all"], names):
            headline.setdefault(slug, {})[source.name] = numbers
    if replies is not None:
        for row in asked_rates(with_benchmark_runs(replies, benchmark), BY_RUN).to_dict("records"):
            slug, numbers = row["model"], asked_metrics(row)
            metrics[slug, row["run"]] |= numbers
            if row["run"] == "all":
                headline.setdefault(slug, {}).setdefault(source.name, {}).update(_part(numbers, OF_REPLIES))
        tables["asked"] = asked_rates(groups_of_runs(replies, benchmark), [*BY_RUN, "group"])
    # Where one answer is right in all pairs of a run, no rate is left, and there is no run.
    counted = pooled(in_runs)
    of_all = groups[groups["group"] == "all"]
    source.judging.show(of_all[of_all["run"] == "all"].assign(part=source.name))
    along = with_series(of_all.drop(columns="group"), source.series)
    return RunParts(counted.groupby(BY_RUN, sort=False).size(), metrics, counted, groups, tables, along)


def _part(numbers: Mapping[Any, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: numbers[name] for name in names if name in numbers}


def _model_runs(source: JudgedSource, parts: RunParts) -> Iterator[JudgedRun]:
    """Yield a run for each model and run, with the tables that have rows of it."""
    of_runs = {}  # name -> (model, run) -> its rows
    for name, table in parts.tables.items():
        without_run = table.drop(columns=BY_RUN)
        of_runs[name] = dict(iter(without_run.groupby([table[column] for column in BY_RUN], sort=False)))
    drawn = dict(iter(parts.groups.groupby(BY_RUN, sort=False)))
    credits = dict(iter(parts.items.groupby(BY_RUN, sort=False)))
    items, models = source.judged.items, list(source.judging.facts)
    scores = dict(zip(items["model"], items["score"], strict=True))
    tests = dict(zip(items["construction"], items["tests"], strict=True)) if source.is_own else {}
    for slug, run in sorted(parts.sizes.index, key=lambda key: models.index(key[0])):
        member = source.judging.members[slug]
        title, settings = f"{member.label}, {source.name}: {run}", source.settings(member)
        if source.is_own:
            title = f"{member.label}, {run}"
            if not member.is_asked:
                title += f", {scores[slug].replace('_', ' ')}"
            settings["tests"] = tests.get(run, "meaning")
            settings["verdict"] = parts.verdicts.get((slug, run)) or "no control"
        yield source.judging.run(
            slug,
            construction=run,
            source=source.name,
            dataset=source.dataset(run),
            items=int(parts.sizes[slug, run]),
            metrics=parts.metrics.get((slug, run), {}),
            settings=settings,
            tables={name: of_run[slug, run] for name, of_run in of_runs.items() if (slug, run) in of_run},
            # The report draws each construction with all models side by side.
            figures={"accuracy": dots_of_run(drawn[slug, run], title)} if run == "all" else {},
            credits=credits.get((slug, run)),
            experiment=source.experiment,
        )


def _series_runs(source: JudgedSource, along: pd.DataFrame) -> Iterator[JudgedRun]:
    """Yield a run for each curve: a series on a construction."""
    along = along.rename(columns={"run": "construction"})
    for (name, construction), rates in along.groupby(["series", "construction"], sort=False):
        name, ordered = str(name), rates.sort_values("quantity", kind="stable")
        axis, n = str(rates["axis"].iloc[0]), int(ordered["n"].iloc[0])
        steps = ordered["quantity"].round().astype(int)
        series = {
            f"by_{axis}.{rate}": list(zip(steps, ordered[rate], strict=True)) for rate in ("accuracy", "low", "high")
        }
        yield JudgedRun(
            model=name,
            facts=ModelFacts(name, "series", None, ", ".join(ordered["model"])),
            construction=str(construction),
            source=source.name,
            dataset=source.dataset("all"),
            items=n,
            metrics={"n": n},
            settings=source.settings(),
            series=series,
            tables={"accuracy": rates},
            experiment=source.experiment,
        )


def ways_runs(
    stage: Stage[PairsStage], items: pd.DataFrame, headline: Headline, faults: dict[str, str]
) -> Iterator[JudgedRun]:
    """Write the verdicts of the models whose vectors are probed, and yield a run for each and construction.

    Args:
        stage: The judging stage.
        items: The judged pairs of all models.
        headline: Gets the headlines of each model.
        faults: Gets the models that cannot be judged; those that it has are left out.
    """
    probe = cast(ProbePairs, stage.params.pairs.probe)  # not null where models are probed
    written: list[pd.DataFrame] = []
    for slug, probed in stage.params.pairs.probed.items():
        if slug in faults:
            continue
        try:
            folder = stage.use(DATA / "probe_pairs" / slug)
            predicted = {name: read_table(folder / f"{name}.parquet") for name in probe.constructions}
            facts = read_model_facts(folder)
        except CxprobeError as fault:
            faults[slug] = str(fault)
            continue
        said = items[items["model"] == probed.asked]
        of_model = items[items["model"] == slug].drop(columns="model")
        by_name = {
            name: verdicts(table, of_model[of_model["construction"] == name], said if len(said) else None)
            for name, table in predicted.items()
        }
        every = pd.concat(by_name.values(), ignore_index=True)
        by_name["all"] = several(every[every["tests"] == "meaning"]).assign(construction="all")
        predicted["all"] = pd.concat(predicted.values())
        headline.setdefault(slug, {})["ways"] = ways_headline(rates_of_ways(every, ["tests"]))
        of_names: list[pd.DataFrame] = []  # the rates of each way
        for name, pairs in by_name.items():
            if pairs.empty:
                continue
            ways = rates_of_ways(pairs, ["construction"])
            layers = rates_of_layers(predicted[name], pairs, ["construction"])
            agreement = agreement_of_ways(pairs, "construction")
            written.append(verdict_table(pairs).assign(model=slug))
            of_names.append(ways)
            figures = {}
            if name == "all":  # the last one
                title = f"{slug}, the same pairs asked in several ways"
                figures["ways"] = ways_figure(pd.concat(of_names), title)
            by_layer = list(zip(layers["layer"], layers["accuracy"], strict=True))
            yield JudgedRun(
                model=slug,
                facts=facts,
                construction=name,
                source=OWN_PAIRS,
                dataset=stage.use(MADE if name == "all" else MADE / f"{name}.parquet"),
                items=len(pairs),
                metrics=ways_metrics(ways, agreement),
                series={"by_layer.accuracy": by_layer},
                settings=stage.settings("pairs.make", "pairs.probe", "pairs.judge"),
                tables={"ways": ways, "layers": layers, "agreement": with_blanks(agreement)},
                figures=figures,
                experiment="ways",
            )
    if written:
        write_table(pd.concat(written, ignore_index=True), stage.data / "verdicts.parquet")
