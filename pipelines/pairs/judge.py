"""judge_pairs: what all models answered, replied, and what their probes took for right -> rates, biases, runs.

Own pairs and benchmarks of others alike; the runs are those of the experiments pairs, benchmarks and ways.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import pandas as pd

from cxprobe.errors import CxprobeError
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import Member, ModelFacts, members_of, series_of
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
from cxprobe.pairs.params import AskPairs, ProbePairs
from cxprobe.pairs.replies import asked_metrics, asked_rates, asked_settings, judge_replies, read_replies
from cxprobe.pairs.report import pairs_along_series, with_series
from cxprobe.pairs.sources import MADE, OWN_PAIRS, folder_of, made_files, read_made
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
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import JudgedRun, Outcome, Stage
from cxprobe.stats import rate_by

SETTINGS = ("pairs.make", "pairs.score", "pairs.judge")
KEPT = ("consistency", "position_bias", "unparsed", "failed")  # of the metrics of replies, in metrics.json

Headline = dict[str, dict[str, Any]]


def judge_pairs(stage: Stage) -> Outcome:
    headline: Headline = {}
    faults: dict[str, str] = {}
    runs: list[JudgedRun] = []
    for source, files in made_files(stage.params.pairs).items():
        pairs = read_made([stage.use(path) for path in files])
        answered = Answered(stage, source, pairs, faults)
        if not answered.facts:
            continue
        answered.write()
        runs += answered.own_runs(headline) if source == OWN_PAIRS else answered.benchmark_runs(headline)
        if source == OWN_PAIRS and stage.params.pairs.probed:
            runs += _ways(stage, answered.judged.items, headline, faults)
    return Outcome(headline=headline, runs=runs, faults=faults)


class Answered:
    """What all models answered about the pairs of a source, judged.

    Attributes:
        judged: The pairs, with the column model.
        replies: The replies in words, with the column model; None where nobody was asked.
        facts: Model -> what it is; those that were judged.
    """

    def __init__(self, stage: Stage, source: str, pairs: pd.DataFrame, faults: dict[str, str]) -> None:
        params, section = stage.params, stage.params.pairs
        self.stage, self.source, self.section = stage, source, section
        self.members = {one.slug: one for one in members_of(params.models, section.models, params.llms, section.llms)}
        self.facts: dict[str, ModelFacts] = {}
        how, judged, replies = HowToJudge.of(section, source), {}, {}
        balanced = with_balance(pairs, how.cell)
        for slug, member in self.members.items():
            shown = pairs_for(member, pairs, section.score.fewer if source == OWN_PAIRS else {})
            if shown.empty:
                continue
            shown = balanced if len(shown) == len(pairs) else with_balance(shown, how.cell)
            entry = DATA / ("ask_pairs" if member.is_asked else "score_pairs") / member.entry
            try:
                stage.use(entry)
                folder = entry / member.inside / folder_of(source)
                facts = read_model_facts(folder)
                if member.is_asked:
                    replies[slug] = read_replies(shown, read_table(folder / "replies.parquet"), how)
                    judged[slug] = judge_replies(shown, replies[slug], how)
                else:
                    judged[slug] = decide_pairs(shown, read_pair_answers(folder), how)
                self.facts[slug] = facts
            except CxprobeError as fault:
                faults[slug] = str(fault)
        order = section.constructions if source == OWN_PAIRS else ()
        if judged:
            self.judged = JudgedPairs.joined(judged, order)
        self.replies = join_models(replies, order) if replies else None

    def write(self) -> None:
        """Write the judged pairs and replies."""
        folder = self.stage.data / folder_of(self.source)
        write_table(self.judged.items, folder / "items.parquet")
        write_table(self.judged.scores, folder / "scores.parquet")
        if self.replies is not None:
            write_table(self.replies, folder / "replies.parquet")

    def own_runs(self, headline: Headline) -> Iterator[JudgedRun]:
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
            if self.members[slug].is_blind:  # of several in one panel: the pairs of meaning, where there are any
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
        yield from self._series("", pairs_along_series(items, tables["constructions"], self._along()), "construction")

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
        for slug in self.facts:
            every = metrics[slug, "all"]
            kept = ("accuracy", "n") if self.members[slug].is_blind else ("accuracy", "low", "high", "n", "tie_rate")
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
        along = with_series(groups[groups["group"] == "all"].drop(columns="group"), self._along())
        yield from self._series("benchmarks", along.rename(columns={"run": "group"}), "group")

    def _along(self) -> Mapping[str, Any]:
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
        for slug, run in sorted(sizes.index, key=lambda key: list(self.facts).index(key[0])):
            member, score = self.members[slug], ""
            if self.source == OWN_PAIRS and not member.is_asked:
                score = f", {self.judged.items.loc[self.judged.items['model'] == slug, 'score'].iloc[0]}"
            where = run if self.source == OWN_PAIRS else f"{self.source}: {run}"
            title = f"{member.label}, {where}{score.replace('_', ' ')}"
            yield JudgedRun(
                model=slug,
                facts=self.facts[slug],
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


def _ways(stage: Stage, items: pd.DataFrame, headline: Headline, faults: dict[str, str]) -> Iterator[JudgedRun]:
    """Write the verdicts of the models whose vectors are probed, and yield a run for each and construction."""
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


if __name__ == "__main__":
    run_stage(judge_pairs)
