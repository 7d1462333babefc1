"""What the run of a model on scenarios has: its numbers, tables and figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.lm.params import Member
from cxprobe.report.dots import dots_of_run
from cxprobe.scenarios.judge import UNCALIBRATED, item_of_text, scenario_metrics, scenario_rates, uncalibrated
from cxprobe.stats import rate_by


class ScenarioRun(NamedTuple):
    """One model on one construction, or on all of them ("all")."""

    model: str
    construction: str
    metrics: Mapping[str, float]
    credits: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    figures: Mapping[str, Figure]


def scenario_runs(
    decisions: pd.DataFrame, flips: pd.DataFrame, members: Iterable[Member], constructions: Sequence[str]
) -> Iterator[ScenarioRun]:
    """Yield the runs of all models, on each construction and on all.

    Args:
        decisions: What `cxprobe.scenarios.judge.decide_tests` returns, with the columns model and construction.
        flips: What `cxprobe.scenarios.judge.flips_from_base` returns of them.
        members: The models.
        constructions: Their order.
    """
    decisions, flips = (pd.concat([table, table.assign(construction="all")]) for table in (decisions, flips))
    rates = {"accuracy": scenario_rates(decisions, "accuracy"), "flips": scenario_rates(flips, "flips")}
    base = uncalibrated(decisions[decisions["base"]])
    overall = rate_by(base, "accuracy", ["model", "construction"]).set_index(["model", "construction"]).to_dict("index")
    credits = dict(
        iter(base.assign(id=base["scenario"] + ", " + item_of_text(base)).groupby(["model", "construction"]))
    )
    for member in members:
        for name in (*constructions, "all"):
            tables, figures = {}, {}
            for kind, table in rates.items():
                of_run = table[(table["model"] == member.slug) & (table["construction"] == name)]
                tables[kind] = of_run.drop(columns="construction")
                group = of_run["scenario"] + ", " + of_run["calibration"].replace(UNCALIBRATED, "plain")
                title = f"{member.label}: {name}, {kind}"
                figures[kind] = dots_of_run(tables[kind].assign(group=group), title, value=kind)
            metrics = scenario_metrics(overall[member.slug, name], tables["accuracy"], tables["flips"])
            yield ScenarioRun(member.slug, name, metrics, credits[member.slug, name], tables, figures)
