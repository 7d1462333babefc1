"""The runs of judged pairs: of each model on each construction, on all of them, and of series of models.

Pairs of this project and benchmarks of others alike; the runs are those of the experiments pairs, benchmarks and ways.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import pandas as pd

from cxprobe.errors import CxprobeError
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import Member, series_of
from cxprobe.lm.texts import read_pair_answers
from cxprobe.pairs.balance import pooled, with_balance
from cxprobe.pairs.figures import ways_figure
from cxprobe.pairs.judge import (
    BY_RUN,
    HowToJudge,
    JudgedPairs,
    accuracy_by_group,
    accuracy_metrics,
    both_orders,
    decide_pairs,
    groups_of_runs,
    join_models,
    pair_tables,
    pairs_for,
    run_metrics,
    score_metrics,
    with_benchmark_runs,
    with_pair_runs,
)
from cxprobe.pairs.params import AskPairs, PairsStage, ProbePairs
from cxprobe.pairs.replies import asked_metrics, asked_rates, asked_settings, judge_replies, read_replies
from cxprobe.pairs.report import pairs_along_series, with_series
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
from cxprobe.report.dots import curves, dots_of_run
from cxprobe.report.judging import judge_members
from cxprobe.report.tables import with_blanks
from cxprobe.run.record import ModelFacts
from cxprobe.run.stage import JudgedRun, Stage
from cxprobe.stats import rate_by

SETTINGS = ("pairs.make", "pairs.score", "pairs.judge")
KEPT = ("consistency", "position_bias", "unparsed", "failed")  # of the metrics of replies, in metrics.json

Headline = dict[str, dict[str, Any]]


class Answered(NamedTuple):
    """What one model answered about the pairs of a source.

    Attributes:
        judged: The pairs with the decisions.
        replies: The replies in words; None for a model that was not asked in words.
    """

    judged: JudgedPairs
    replies: pd.DataFrame | None


class SourceRuns:
    """The runs of all models on the pairs of one source.

    Attributes:
        faults: Model -> why it could not be judged.
        judged: The pairs of all models, with the column model; None where no model could be judged.
        replies: The replies in words, with the column model; None where nobody was asked.
    """

    def __init__(self, stage: Stage[PairsStage], source: str, pairs: pd.DataFrame) -> None:
        """Judge what all models answered.

        Args:
            stage: The judging stage.
            source: This project's pairs, or a benchmark.
            pairs: Its pairs.
        """
        self.stage, self.source, self.section = stage, source, stage.params.pairs
        section, how = self.section, HowToJudge.of(self.section, source)
        balanced = with_balance(pairs, how.cell)

        def judge(member: Member, folder: Path) -> Answered | None:
            shown = pairs_for(member, pairs, section.score.fewer if source == OWN_PAIRS else {})
            if shown.empty:
                return None
            shown = balanced if len(shown) == len(pairs) else with_balance(shown, how.cell)
            if not member.is_asked:
                return Answered(decide_pairs(shown, read_pair_answers(folder), how), None)
            replies = read_replies(shown, read_table(folder / "replies.parquet"), how)
            return Answered(judge_replies(shown, replies, how), replies)

        self.judging = judge_members(stage, judge, inside=folder_of(source))
        self.faults = self.judging.faults
        order = section.constructions if source == OWN_PAIRS else ()
        answered = self.judging.judged
        replies = {slug: one.replies for slug, one in answered.items() if one.replies is not None}
        self.replies = join_models(replies, order) if replies else None
        if answered:
            self.judged = JudgedPairs.joined({slug: one.judged for slug, one in answered.items()}, order)

    def write(self) -> None:
        """Write the judged pairs and replies."""
        folder = self.stage.data / folder_of(self.source)
        write_table(self.judged.items, folder / "items.parquet")
        write_table(self.judged.scores, folder / "scores.parquet")
        if self.replies is not None:
            write_table(self.replies, folder / "replies.parquet")

    def runs(self, headline: Headline) -> Iterator[JudgedRun]:
        """Write the rates of this project's pairs, and yield a run for each model and construction, and for all."""
        items = self.judged.items
        meaning = items.loc[items["tests"] == "meaning", "construction"].unique().tolist()
        tables = pair_tables(self.judged)
        for name, table in tables.items():
            write_table(table, self.stage.data / "rates" / f"{name}.parquet")
        runs = JudgedPairs(with_pair_runs(items, meaning), with_pair_runs(self.judged.scores, meaning))
        metrics = run_metrics(runs)
        of_runs = {name: with_pair_runs(table, meaning) for name, table in tables.items()}
        if self.replies is not None:
            real = with_pair_runs(self.replies[self.replies["words"] == "real"], meaning)
            for row in asked_rates(real, BY_RUN).to_dict("records"):
                metrics.setdefault((row["model"], row["run"]), {}).update(asked_metrics(row))
            of_runs["asked"] = with_pair_runs(asked_rates(self.replies, ["model", "construction", "words"]), meaning)
        real = items[items["words"] == "real"]
        by_kind = accuracy_metrics(real, ["model", "tests"])
        for (slug, kind), own in sorted(by_kind.items(), key=lambda entry: entry[0][1] != "meaning"):
            if self.judging.members[
                slug
            ].is_blind:  # of several in one panel: the pairs of meaning, where there are any
                headline.setdefault(slug, {name: own[name] for name in ("accuracy", "n")})
            else:
                headline.setdefault(slug, {})[kind] = {name: own[name] for name in ("accuracy", "low", "high", "n")}
        for row in both_orders(pooled(real), ["model"])["both"].to_dict("records"):
            own = {"accuracy": row["both"], **{name: row[name] for name in ("low", "high", "n")}}
            headline[row["model"]]["both_orders"] = own
        if self.replies is not None:
            for row in asked_rates(self.replies[self.replies["words"] == "real"], ["model"]).to_dict("records"):
                own = asked_metrics(row)
                headline.setdefault(row["model"], {}).update({name: own[name] for name in KEPT if name in own})
        groups, n = accuracy_by_group(runs.items, BY_RUN), runs.items.groupby(BY_RUN, sort=False).size()
        yield from self._runs("", n, metrics, groups, of_runs)
        yield from self._series(
            "", pairs_along_series(items, tables["constructions"], self._series_of_line()), "construction"
        )

    def benchmark_runs(self, headline: Headline) -> Iterator[JudgedRun]:
        """Yield a run for each model and group of a benchmark, and for all."""
        benchmark = self.section.benchmarks[self.source]
        runs = JudgedPairs(*(with_benchmark_runs(table, benchmark) for table in vars(self.judged).values()))
        metrics = accuracy_metrics(runs.items)
        for key, scores in score_metrics(runs).items():
            metrics[key] |= scores
        groups = rate_by(groups_of_runs(self.judged.items, benchmark), "accuracy", [*BY_RUN, "group"])
        groups["tie_rate"] = groups["ties"] / groups["n"]
        tables = {"accuracy": groups}
        for slug in self.judging.facts:
            every = metrics[slug, "all"]
            kept = (
                ("accuracy", "n")
                if self.judging.members[slug].is_blind
                else ("accuracy", "low", "high", "n", "tie_rate")
            )
            if numbers := {name: every[name] for name in kept if name in every}:
                headline.setdefault(slug, {})[self.source] = numbers
        if self.replies is not None:
            for row in asked_rates(with_benchmark_runs(self.replies, benchmark), BY_RUN).to_dict("records"):
                own = asked_metrics(row)
                metrics[row["model"], row["run"]] |= own
                if row["run"] == "all":
                    numbers = headline.setdefault(row["model"], {}).setdefault(self.source, {})
                    numbers |= {name: own[name] for name in KEPT if name in own}
            tables["asked"] = asked_rates(groups_of_runs(self.replies, benchmark), [*BY_RUN, "group"])
        # Where one answer is right in all pairs of a run, no rate is left, and there is no run.
        n = pooled(runs.items).groupby(BY_RUN, sort=False).size()
        yield from self._runs("benchmarks", n, metrics, groups, tables)
        along = with_series(groups[groups["group"] == "all"].drop(columns="group"), self._series_of_line())
        yield from self._series("benchmarks", along.rename(columns={"run": "group"}), "group")

    def _series_of_line(self) -> Mapping[str, Any]:
        return series_of(self.stage.params.models, self.section.models)

    def _settings(self, member: Member | None = None) -> dict[str, str]:
        names = SETTINGS if self.source == OWN_PAIRS else (*SETTINGS[1:], f"pairs.benchmarks.{self.source}")
        settings = self.stage.settings(*names)
        if member is None or not member.is_asked:
            return settings
        return asked_settings(settings, cast(AskPairs, self.section.ask).prompt)

    def _dataset(self, run: str) -> Any:
        if self.source != OWN_PAIRS:
            return MADE / folder_of(self.source).with_suffix(".parquet")
        return self.stage.use(MADE if run == "all" else MADE / f"{run}.parquet")

    def _runs(
        self,
        experiment: str,
        sizes: "pd.Series[int]",
        metrics: Mapping[tuple[str, ...], Mapping[str, float]],
        groups: pd.DataFrame,
        tables: Mapping[str, pd.DataFrame],
    ) -> Iterator[JudgedRun]:
        """Yield a run for each model and run of the tables."""
        parts = {name: dict(iter(table.groupby(BY_RUN, sort=False))) for name, table in tables.items()}
        drawn = dict(iter(groups.groupby(BY_RUN, sort=False)))
        for slug, run in sorted(sizes.index, key=lambda key: list(self.judging.facts).index(key[0])):
            member, score = self.judging.members[slug], ""
            if self.source == OWN_PAIRS and not member.is_asked:
                score = f", {self.judged.items.loc[self.judged.items['model'] == slug, 'score'].iloc[0]}"
            where = run if self.source == OWN_PAIRS else f"{self.source}: {run}"
            title = f"{member.label}, {where}{score.replace('_', ' ')}"
            yield self.judging.run(
                slug,
                construction=run,
                source=self.source,
                dataset=self._dataset(run),
                items=int(sizes[slug, run]),
                metrics=metrics.get((slug, run), {}),
                settings=self._settings(member),
                tables={
                    name: parts[name].get((slug, run), table.head(0)).drop(columns=BY_RUN)
                    for name, table in tables.items()
                    if name != "asked" or member.is_asked
                },
                figures={"accuracy": dots_of_run(drawn[slug, run], title)},
                experiment=experiment,
            )

    def _series(self, experiment: str, along: pd.DataFrame, by: str) -> Iterator[JudgedRun]:
        """Yield a run for each curve: a series on a construction."""
        for (name, construction), own in along.groupby(["series", by], sort=False):
            name, construction = str(name), str(construction)
            ordered, axis = own.sort_values("quantity", kind="stable"), str(own["axis"].iloc[0])
            steps, n = ordered["quantity"].round().astype(int).tolist(), int(ordered["n"].iloc[0])
            yield JudgedRun(
                model=name,
                facts=ModelFacts(name, "series", None, ", ".join(ordered["model"])),
                construction=construction,
                source=self.source,
                dataset=self._dataset("all"),
                items=n,
                metrics={"n": n},
                settings=self._settings(),
                series={
                    f"by_{axis}.{rate}": list(zip(steps, ordered[rate].tolist(), strict=True))
                    for rate in ("accuracy", "low", "high")
                },
                tables={"accuracy": own},
                figures={"accuracy": curves(own.rename(columns={"quantity": axis}), name, x=axis, panels=by)},
                experiment=experiment,
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
    probe, probes = cast(ProbePairs, stage.params.pairs.probe), DATA / "probe_pairs"  # not null where models are probed
    written: dict[str, list[pd.DataFrame]] = {"verdicts": [], "ways": [], "layers": []}
    for slug in (slug for slug in stage.params.pairs.probed if slug not in faults):
        try:
            folder = stage.use(probes / slug)
            predicted = {name: read_table(folder / f"{name}.parquet") for name in probe.constructions}
            facts = read_model_facts(folder)
        except CxprobeError as fault:
            faults[slug] = str(fault)
            continue
        said = items.loc[items["model"] == probe.asked.get(slug)]
        of_model = items[items["model"] == slug].drop(columns="model")
        by_name = {
            name: verdicts(own, of_model[of_model["construction"] == name], said if len(said) else None)
            for name, own in predicted.items()
        }
        every = pd.concat(by_name.values(), ignore_index=True)
        by_name["all"] = every[every["tests"] == "meaning"].assign(construction="all")
        predicted["all"] = pd.concat(predicted.values())
        headline.setdefault(slug, {})["ways"] = ways_headline(rates_of_ways(every, ["tests"]))
        for name, own in by_name.items():
            if own.empty:
                continue
            ways = rates_of_ways(own, ["construction"])
            layers = rates_of_layers(predicted[name], own, ["construction"])
            agreement = agreement_of_ways(own, "construction")
            for table, part in (("verdicts", verdict_table(own)), ("ways", ways), ("layers", layers)):
                written[table].append(part.assign(model=slug))
            yield JudgedRun(
                model=slug,
                facts=facts,
                construction=name,
                source=OWN_PAIRS,
                dataset=stage.use(MADE if name == "all" else MADE / f"{name}.parquet"),
                items=len(own),
                metrics=ways_metrics(ways, agreement),
                series={
                    "by_layer.accuracy": list(zip(layers["layer"].tolist(), layers["accuracy"].tolist(), strict=True))
                },
                settings=stage.settings("pairs.make", "pairs.probe", "pairs.judge"),
                tables={"ways": ways, "layers": layers, "agreement": with_blanks(agreement)},
                figures={"ways": ways_figure(ways, f"{slug}, the same pairs asked in several ways")},
                experiment="ways",
            )
    for name, parts in written.items():
        if parts:
            write_table(pd.concat(parts, ignore_index=True), stage.data / f"{name}.parquet")
