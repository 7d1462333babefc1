"""The figures of prompts: all models side by side, drawn from the rates."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cxprobe.models.params import Member
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.plots import dots, marks_of
from cxprobe.results.rates import ALL
from cxprobe.tasks.prompts.evaluate import BY_TEST_AND_PROMPT, accuracies_by_setting

_SETTING = ["set", "shots", "examples", "chain_of_thought"]


def prompt_figures(rates: pd.DataFrame, members: Sequence[Member], score: str) -> dict[str, Figure]:
    """Draw the rates of all models, by name: by construction, and by test and prompt.

    By construction, those of the best prompt of each model and set are drawn, in the setting in which it is the best.
    Baselines are not drawn one by one: the best of them in each cell is. A mock model says the same to everything and
    is drawn only where no other model has run.

    Args:
        rates: See `accuracies_by_setting`.
        members: The models.
        score: The score that decides for models that are not prompted for replies.

    Source:
        Scivetti et al. 2025, Figures 1 and 2.
    """
    accuracies = accuracies_by_setting(rates)
    is_baseline = accuracies["model"].isin([one.slug for one in members if one.is_baseline])
    baselines = accuracies[is_baseline & (accuracies["prompt"] == "")]
    of_construction = best_baseline(baselines, ["construction", "set"], members)
    mocks = [one.slug for one in members if one.is_mock]
    names = {one.slug: one.label if one.is_asked else f"{one.label}, {score}" for one in members}
    shown = accuracies[~is_baseline & (accuracies["prompt"] != "")]
    real = shown[~shown["model"].isin(mocks)]
    drawn = real if len(real) else shown
    drawn = drawn.assign(label=drawn["model"].map(names) + np.where(drawn["chain_of_thought"], ", reasoned", ""))
    inference = drawn[~drawn["is_multiple"]]
    over_all = inference[inference["construction"] == ALL]
    figures = {}
    if len(over_all):
        ranked = over_all.sort_values("accuracy", ascending=False, kind="stable")
        best = ranked.drop_duplicates(["model", "set"]).sort_index()[["model", *_SETTING, "prompt"]]
        by_construction = inference[inference["construction"] != ALL].merge(best)
        title = "Inference by construction, with each model's best prompt and examples"
        marks = marks_of(by_construction, row="construction", panel="set", kind="label", best=of_construction)
        figures["best_by_construction"] = dots(marks, title=title)
    tests = tests_by_prompt(rates, dict(zip(drawn["model"], drawn["label"], strict=True)))
    if len(tests):
        title = "Reasoning by test, with the two prompts that differ most where nothing follows (C)"
        figures["tests_by_prompt"] = dots(marks_of(tests, row="row", panel="panel", kind="label"), title=title)
    return figures


def tests_by_prompt(rates: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return accuracies by test, with the two prompts that differ most where nothing follows, of all constructions.

    Args:
        rates: See `accuracies_by_setting`.
        labels: Model -> its name in the figure, of those that are drawn.

    Returns:
        The rates, those in which something follows first, with accuracy, label, row (the test) and panel (the prompt,
        and the set where there are several); of sets that were asked with several prompts.
    """
    tests = rates[BY_TEST_AND_PROMPT.among(rates) & (rates["construction"] == ALL) & rates["model"].isin(labels.keys())]
    tests = tests.rename(columns={"value": "accuracy"}).reset_index(drop=True)
    tests = tests[tests.groupby("source")["prompt"].transform("nunique") > 1]
    uncertain = tests[tests["answerable"] == "False"].groupby("prompt")["accuracy"].mean()
    if uncertain.empty:
        return uncertain.to_frame()
    tests = tests[tests["prompt"].isin([uncertain.idxmin(), uncertain.idxmax()])]
    tests = tests.sort_values("answerable", ascending=False, kind="stable")
    sets = ", " + tests["source"] if tests["source"].nunique() > 1 else ""
    thought = tests["chain_of_thought"].map({"True": ", reasoned", "False": ""})
    return tests.assign(
        label=tests["model"].map(labels) + thought,
        row=tests["test"].where(tests["answerable"] == "True", tests["test"] + " (C)"),
        panel=tests["prompt"] + sets,
    )
