"""The experiments of MLflow (``experiments.yaml`` of each line of work): their descriptions, and views of their runs.

MLflow 3.15 and later shows the views of an experiment in the menu *Views* of its page of runs. A view is a tag of the
experiment with the state of that page: which runs, their order, the columns of the table, and the charts.

Source:
    MLflow's page of runs, as it writes a view that a person saves: the tag ``mlflow.sharedViewState.<id>``.
"""

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from cxprobe.run.record import RunRecord

VIEW_TAG = "mlflow.sharedViewState."
_COLUMNS = ("accuracy", "low", "high", "n")  # that every table begins with
_MOST_CONSTRUCTIONS = 8  # that have a view each; of more, all together and the first have one


@dataclass(frozen=True)
class View:
    """A ready view. Names of columns and charts are those of metrics, and of parameters where "params." is before them.

    Attributes:
        id: Names the view in its address; it stays as it is.
        name: What the menu shows.
        search: Which runs are shown, as one types it above the table.
        columns: Of the table, beside the accuracy.
        bars: Metrics that have a chart of bars each, a bar for a run.
        lines: Series that have a chart each, a line for a run.
        points: The x and the y of a chart with a point for each run.
    """

    id: str
    name: str
    search: str
    columns: Sequence[str]
    bars: Sequence[str] = ()
    lines: Sequence[str] = ()
    points: Sequence[str] = ()

    @property
    def has_charts(self) -> bool:
        """Whether the view is one of charts, and not of the table alone."""
        return bool(self.bars or self.lines or self.points)


@dataclass(frozen=True)
class Experiment:
    """An experiment of MLflow.

    Attributes:
        name: Its name.
        description: The paragraphs above the table of its runs, as Markdown.
        views: Its views, as they are written: ``*`` in names of metrics is anything, texts have fields in braces.
        source: The source of items whose runs the views show; None for the first one.
    """

    name: str
    description: str
    views: Sequence[View]
    source: str | None


Experiments = Mapping[str, Experiment]
"""Experiments by their names."""


@cache
def load_experiments(path: Path) -> Experiments:
    """Return the experiments of a file by their names; shared_experiments.yaml has what several of them say."""
    shared = Path(__file__).with_name("shared_experiments.yaml")
    content = YAML(typ="safe").load(shared.read_text(encoding="utf-8") + path.read_text(encoding="utf-8"))
    content.pop("shared")
    experiments = {}
    for name, written in content.items():
        views = [View(**view) for view in written["views"]]
        experiments[name] = Experiment(name, "\n\n".join(written["description"]), views, written.get("source"))
    return experiments


def views_of(experiment: Experiment, records: Sequence[RunRecord]) -> Iterator[View]:
    """Yield the views of an experiment that have something to show.

    Args:
        experiment: The experiment.
        records: All its runs, the first model's first. The views name what is in them: the constructions, a source of
            items that these have, and the first trained model.
    """
    sources: dict[str, set[str]] = {}  # construction -> those of its items
    for record in records:
        sources.setdefault(record.params["construction"], set()).add(record.params["source"])
    constructions = sorted(sources, key=lambda name: (name != "all", name))
    all_sources = set().union(*sources.values())
    source = experiment.source if experiment.source in all_sources else min(all_sources)
    overall = next(name for name in constructions if source in sources[name])
    judged = [record for record in records if "accuracy" in record.metrics]
    trained = [record for record in judged if record.params["model_weights"] == "trained"]
    names = {"overall": overall, "model": (trained or records)[0].params["model"]}
    known = dict[str, None]()
    for record in records:
        params = [*record.params, *(name for trial in record.trials for name in trial.params)]
        known |= dict.fromkeys([*record.metrics, *record.series, *(f"params.{name}" for name in params)])
    for view in experiment.views:
        columns, bars, lines, points = (
            [name for pattern in patterns for name in known if _stands_for(pattern, name)]
            for patterns in (view.columns, view.bars, view.lines, view.points)
        )
        if view.has_charts and not (bars or lines or len(points) == len(view.points) > 0):
            continue
        several = constructions if len(constructions) <= _MOST_CONSTRUCTIONS else constructions[:2]
        for construction in several if "{construction}" in view.id else [overall]:
            shown = "all constructions" if construction == "all" else construction
            shown_source = source if source in sources[construction] else min(sources[construction])
            names |= {"construction": construction, "shown": shown, "source": shown_source}
            texts = {key: getattr(view, key).format(**names) for key in ("id", "name", "search")}
            yield replace(view, columns=columns, bars=bars, lines=lines, points=points, **texts)


def _stands_for(pattern: str, name: str) -> bool:
    """Return whether a column is meant; a star does not stand for the ends of intervals."""
    return pattern == name or (fnmatch(name, pattern) and not name.endswith(("_low", "_high")))


def view_tag(view: View, before: str | None, now: int) -> str | None:
    """Return the value of a view's tag; None if it has it, or if a person has changed the view.

    Args:
        view: The view.
        before: The value that the tag has, if there is one. The page leaves out who has made the view that it writes.
        now: Milliseconds since the epoch.
    """
    state = "deflate;" + base64.b64encode(zlib.compress(json.dumps(state_of(view)).encode())).decode()
    tag = {"name": view.name, "createdAt": now, "updatedAt": now, "state": state, "madeBy": "cxprobe"}
    if before is not None:
        known = json.loads(before)
        if known.get("madeBy") != tag["madeBy"] or (known["name"], known["state"]) == (view.name, state):
            return None
        tag["createdAt"] = known["createdAt"]
    return json.dumps(tag)


def state_of(view: View) -> dict[str, Any]:
    """Return the state of MLflow's page of runs that shows a view; what it does not name is as the page has it."""
    columns = [_key(name) for name in (*_COLUMNS, *view.columns)]
    state: dict[str, Any] = {
        "searchFilter": view.search,
        "orderByKey": _key("accuracy"),
        "orderByAsc": False,
        "selectedColumns": columns,
        "columnOrder": columns,
        "runsHiddenMode": "SHOW_ALL",
    }
    if not view.has_charts:
        return state
    charts: list[dict[str, Any]] = [{"type": "BAR", "metricKey": name} for name in view.bars]
    charts += [{"type": "LINE", "metricKey": name, "xAxisKey": "step"} for name in view.lines]
    if view.points:
        x, y = (
            {"key": name.removeprefix("params."), "type": "PARAM" if name.startswith("params.") else "METRIC"}
            for name in view.points
        )
        charts.append({"type": "SCATTER", "xaxis": x, "yaxis": y})
    common = {"runsCountToCompare": 100, "metricSectionId": view.id, "deleted": False, "isGenerated": False}
    state["compareRunCharts"] = [
        {"uuid": f"{view.id}-{number}", "displayName": chart.get("metricKey"), **common, **chart}
        for number, chart in enumerate(charts)
    ]
    # The page adds a chart for each other metric, in sections of these names, which are folded.
    sections = {view.id: view.name, "model": "Model metrics", "system": "System metrics"}
    size = {"columns": min(len(charts), 2), "cardHeight": 440}
    state["compareRunSections"] = [
        {"uuid": key, "name": name, "display": key == view.id, "isReordered": True, "deleted": False, **size}
        for key, name in sections.items()
    ]
    return state | {"isAccordionReordered": True}


def _key(name: str) -> str:
    """Return how the page calls a column."""
    return f"params.`{name.removeprefix('params.')}`" if name.startswith("params.") else f"metrics.`{name}`"
