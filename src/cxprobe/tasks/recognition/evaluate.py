"""Responses of probes to test sentences; rates of what stands beside them, such as selectivity; and figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cxprobe.constructions.construction import load_construction
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.params import Member
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.evaluate import PICTURE, Evaluation, RunExtras
from cxprobe.results.params import task_members
from cxprobe.results.plots import curves
from cxprobe.results.rates import Facet, divided_by, rates_of, with_further
from cxprobe.results.schema import HALF, KEYS, other_where_wrong
from cxprobe.results.words import percent
from cxprobe.run.record import Trial
from cxprobe.run.stage import Stage
from cxprobe.stats import credit, difference_by, rate_by
from cxprobe.tasks.recognition.params import RecognitionStage

_BY_LAYER = ("accuracy", "accuracy_on_folds", "probe_selectivity")
BY_FEATURE = Facet(["feature", "layer"], _BY_LAYER, steps=True, in_git=False)
BY_VALUE = Facet(["feature", "feature_value", "layer"], steps=True, in_git=False)
FACETS = (Facet(where="decides", has_verdicts=True), Facet(["layer"], _BY_LAYER, steps=True), BY_FEATURE, BY_VALUE)
_LAYER = "layer (0 = embeddings)"
TOGETHER = ""  # in a feature's place: all features
_RUN = KEYS[1:]  # predictions on folds have a column task of their own
MOST_TRIALS = 20  # of a search in MLflow
_OF_TRIAL = ("feature", "layer", "C", "standardise")


def recognition_responses(probes: pd.DataFrame) -> pd.DataFrame:
    """Return the responses of one model's probes on one source of sentences; the middle layer decides.

    The middle layer has the number ``layers // 2``, where layer 0 is the embeddings. It is fixed in advance.

    Args:
        probes: Of `cxprobe.tasks.recognition.measure.Predictions`.

    Returns:
        Columns of `cxprobe.results.schema.RESPONSES` but task, model, construction and source; layer, feature and
        feature_value; and clusters. A sentence is a cluster, since it may be in the subsets of several features.
    """
    credited = _credited(probes).rename(columns={"value": "feature_value", "label": "gold", "accuracy": "value"})
    other = credited["gold"].map({"positive": "negative", "negative": "positive"})
    chosen = other_where_wrong(credited["value"], credited["gold"], other)
    decides = credited["layer"] == credited["layer"].nunique() // 2
    items = credited["feature"] + " " + credited["id"]
    named = credited.assign(item=items, chosen=chosen, decides=decides, cluster_sentence=credited["id"])
    return named.drop(columns="id").assign(measure="accuracy", chance=HALF, question="form")


def rates_on_folds(folds: pd.DataFrame) -> pd.DataFrame:
    """Return the rates on the folds of the training part, by layer, of each feature and of all together.

    Selectivity is the accuracy on the real labels less that on random labels of words. Both are learnt on the
    same folds from the same sentences, so the difference is paired. Sentences with the same word have one control label
    and are a cluster, as those of one template are.

    Args:
        folds: Of `cxprobe.tasks.recognition.measure.Predictions`, with the columns model, construction and source.

    Returns:
        The measures accuracy_on_folds, whose control is the accuracy of random labels of words; probe_selectivity; and
        known: the share of sentences whose word is in other folds too, since others cannot be known by heart.

    Source:
        Hewitt & Liang 2019, §2.
    """
    by, credited = [*_RUN, "feature", "layer"], _with_together(_credited(folds))
    real, random = (credited[credited["task"] == task] for task in ("real", "control"))
    means = real.groupby(by, sort=False).agg(value=("accuracy", "mean"), n=("id", "size"), known=("known", "mean"))
    control = random.groupby(by, sort=False)["accuracy"].agg(control="mean", control_n="size")
    learnt = means.join(control).reset_index()
    known = learnt[[*_RUN, "feature", "n"]].assign(value=learnt["known"], layer=0)[learnt["layer"] == 0]
    parts = {"accuracy_on_folds": learnt.drop(columns="known"), "known": known}
    if len(random):
        key = [*by, "id"]
        both = real.merge(random[[*key, "accuracy"]], on=key, suffixes=("", "_random"), validate="one_to_one")
        differences = difference_by(both, "accuracy", "accuracy_random", by)
        parts["probe_selectivity"] = differences.rename(columns={"difference": "value"})
    rates = pd.concat([part.assign(measure=measure) for measure, part in parts.items()], ignore_index=True)
    rates = rates.reindex(columns=[*by, "measure", "value", "low", "high", "n", "control", "control_n"])
    middle = rates.groupby([*_RUN])["layer"].transform("nunique") // 2
    decides = (rates["measure"] == "probe_selectivity") & (rates["feature"] == TOGETHER) & (rates["layer"] == middle)
    layers = rates["layer"].astype(str).where(rates["measure"] != "known", "")
    return rates.assign(layer=layers, decides=decides, ties=0, chance=np.nan, task="recognition")


def _with_together(items: pd.DataFrame) -> pd.DataFrame:
    """Return items followed by themselves as those of one feature, in which a sentence can be several times."""
    clustered = items.assign(cluster_sentence=items["id"])
    together = clustered.assign(id=items["feature"] + " " + items["id"], feature=TOGETHER)
    return pd.concat([clustered, together], ignore_index=True)


def _credited(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return predictions with their credits in place of the probabilities."""
    positive = (predictions["label"] == "positive").to_numpy()
    accuracy = credit(predictions["probability"].to_numpy(dtype=np.float64), positive)
    return predictions.drop(columns="probability").assign(accuracy=accuracy)


def figures_by_layer(rates: pd.DataFrame, members: Sequence[Member]) -> dict[str, Figure]:
    """Draw accuracy by layer: a figure for each construction, a panel for each feature and source.

    Models that are no baselines have a line each, and the best baseline of a panel is drawn across it.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of recognition.
        members: What the models are.

    Source:
        Weissweiler et al. 2022, Figure 1.
    """
    labels = {member.slug: member.label for member in members if not member.is_baseline}
    of_features = rates[BY_FEATURE.among(rates) & (rates["measure"] == "accuracy")]
    drawn = of_features.rename(columns={"value": "accuracy"})
    drawn = drawn.assign(panel=drawn["feature"] + ", " + drawn["source"], label=drawn["model"].map(labels))
    drawn[_LAYER] = drawn["layer"].astype(int)
    figures = {}
    for name, rows in drawn.groupby("construction", sort=False):
        seeing, best = rows[rows["label"].notna()], best_baseline(rows, ["panel"], members)
        if len(seeing):
            title = f"{name}: probes by layer"
            figures[str(name)] = curves(
                seeing, title, x=_LAYER, panels="panel", colours="label", best=best, linear=True
            )
    return figures


def figure_by_value(rates: pd.DataFrame, splits: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracies of one model on one source of sentences by value, a panel for each feature.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`.
        splits: Columns feature, split and value of its sentences.
        title: Of the figure.

    Source:
        Weissweiler et al. 2022, Figures 2 to 7.
    """
    of_values = rates[BY_VALUE.among(rates)]
    trained = splits[splits["split"] == "train"].groupby("feature")["value"].agg(["min", "max"]).to_dict("index")
    panels = {name: f"{name}, trained on {ends['min']} to {ends['max']}" for name, ends in trained.items()}
    half_width = 50 * float((of_values["high"] - of_values["low"]).median())
    note = f"the 95 % interval of a value is about ± {half_width:.0f} points"
    accuracy = of_values["value"]  # intervals of all layers would hide the lines
    shown = of_values[["feature", "layer", "n"]].assign(value=of_values["feature_value"])
    shown = shown.assign(panel=shown["feature"].map(panels), accuracy=accuracy, low=accuracy, high=accuracy)
    shown = shown.astype({"value": int, "layer": int})
    return curves(shown, f"{title}\n{note}", x="value", panels="panel", colours="layer", linear=True)


def search_curves(trials: pd.DataFrame, best: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracy over C of the trials of a search, a panel for each feature.

    Args:
        trials: Of `cxprobe.tasks.recognition.measure.tune_subset`.
        best: The best of each feature and layer.
        title: Of the figure.
    """
    shown = trials.dropna(subset="accuracy").sort_values(["feature", "layer", "C"])
    shown = shown.assign(low=shown["accuracy"], high=shown["accuracy"])
    least, most = best["C"].min(), best["C"].max()
    note = f"the best C of a layer lies between {least:.2g} and {most:.2g}; accuracy on held-out folds"
    return curves(shown, f"{title}\n{note}", x="C", panels="feature", colours="layer")


def best_trials(trials: pd.DataFrame) -> list[Trial]:
    """Return the best trials of the middle layer, as many of each feature, as child runs of MLflow.

    Args:
        trials: Of `cxprobe.tasks.recognition.measure.tune_subset`; those that did not converge are left out.
    """
    of_middle = trials[(trials["layer"] == trials["layer"].nunique() // 2) & trials["accuracy"].notna()]
    ranked = of_middle.sort_values("accuracy", ascending=False, kind="stable").groupby("feature", sort=False)
    kept = ranked.head(max(1, MOST_TRIALS // ranked.ngroups)) if len(of_middle) else of_middle
    searched = [name for name in ("C", "standardise") if trials[name].nunique() > 1]
    runs = []
    for row in kept.head(MOST_TRIALS).to_dict("records"):
        setting = ", ".join(f"{name}={row[name]:.2g}" for name in searched)
        name, params = f"{setting} · {row['feature']}", {key: str(row[key]) for key in _OF_TRIAL}
        # MLflow has no logarithmic axis for a parameter.
        runs.append(Trial(name, {"accuracy": row["accuracy"], "log10_C": float(np.log10(row["C"]))}, params))
    return runs


class RecognitionEvaluation(Evaluation[RecognitionStage]):
    """What the probes of models predict."""

    facets = FACETS
    says = (
        "`recognition/<construction>`: test sentences whose label the probe of the middle layer finds; chance is 50. "
        "The probes of each construction and source of sentences are a child run, with their curves over layers."
    )
    parts = ("construction", "source")

    def __init__(self, stage: Stage[RecognitionStage]) -> None:
        """Note the models, and which constructions are placebos."""
        super().__init__(stage)
        self.members = {member.slug: member for member in task_members(stage.params)}
        self.placebos = [name for name in stage.params.recognition.constructions if load_construction(name).placebo]

    def _measured(self, member: Member, construction: str, source: str) -> Path:
        return DATA / "measure_recognition" / member.entry / member.inside / construction / source

    def _predictions(self, member: Member, name: str) -> Iterator[pd.DataFrame]:
        for construction, source in self.stage.params.recognition.sources:
            table = read_table(self.stage.use(self._measured(member, construction, source) / f"{name}.parquet"))
            yield table.assign(model=member.slug, construction=construction, source=source)

    def responses(self, member: Member, folder: Path) -> pd.DataFrame:
        """Return the responses of the probes of all layers."""
        of_probes = pd.concat(map(recognition_responses, self._predictions(member, "probes")), ignore_index=True)
        of_probes["question"] = of_probes["question"].mask(of_probes["construction"].isin(self.placebos), "")
        return of_probes

    def pooled(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the responses alone: a rate of several constructions would say nothing."""
        return responses

    def rates(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the rates of the probes, and of those on the folds of the training part."""
        models = [self.members[slug] for slug in responses["model"].unique()]
        folds = pd.concat([table for one in models for table in self._predictions(one, "folds")], ignore_index=True)
        return with_further(rates_of(responses, self.facets), rates_on_folds(folds))

    def extras(self, rates: pd.DataFrame) -> RunExtras:
        """Return the rates by value of a feature as a picture, and the search over regularisation."""
        model, *place = rates[["model", "construction", "source"]].iloc[0]
        file = self.stage.use(DATA.joinpath("make_recognition", *place, "splits.parquet"))
        member, measured = self.members[model], self._measured(self.members[model], *place)
        title = f"{member.label}: {place[0]}, {place[1]} sentences"
        by_layer = pd.concat([divided_by(rates, "layer"), divided_by(rates, "feature", "layer")])
        drawn = by_layer[by_layer["measure"] == "accuracy"].rename(columns={"value": "accuracy"})
        drawn[_LAYER] = drawn["layer"].astype(int)
        drawn["feature"] = drawn["feature"].replace({TOGETHER: "all features"})
        how: Any = {"x": _LAYER, "panels": "feature", "colours": "source", "linear": True}
        figures = {PICTURE: curves(drawn, title, **how)}
        figures["accuracy_per_value"] = figure_by_value(rates, read_table(file), title)
        if not (measured / "trials.parquet").is_file():
            return RunExtras(figures=figures)
        read = (read_table(measured / f"{stem}.parquet") for stem in ("trials", "tuned", "untuned", "probes"))
        trials, best, untuned, tuned = read
        figures["search"] = search_curves(trials, best, title)
        both = pd.concat([untuned.assign(setting="default"), tuned.assign(setting="best")])
        of_middle = both[both["layer"] == both["layer"].nunique() // 2]
        settings = rate_by(_with_together(_credited(of_middle)), "accuracy", ["setting", "feature"])
        reached = settings[settings["feature"] == TOGETHER].set_index("setting")["accuracy"]
        about = (
            f"On the test part the probe of the middle layer finds {percent(reached['default'])} of the labels by the "
            f"default C = {self.stage.params.recognition.probe.C:g}, and {percent(reached['best'])} by the best "
            "settings of the search. Below are the best settings of that layer; `trials.csv` has all."
        )
        metrics = {f"search/{name}": float(value) for name, value in reached.items()}
        tables = {"settings": settings, "tuned": best, "trials": trials}
        return RunExtras(tables, figures, best_trials(trials), metrics, about)
