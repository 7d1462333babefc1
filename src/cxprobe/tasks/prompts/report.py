"""The rates of prompts beside published ones, and their figures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, read_yaml, validate
from cxprobe.models.params import Llm, Member
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.plots import dots, marks_of
from cxprobe.results.rates import ALL
from cxprobe.results.words import cell, with_blanks
from cxprobe.tasks.prompts.evaluate import BY_PROMPT, BY_SETTING, BY_TEST, BY_TEST_AND_PROMPT

PUBLISHED = Path("published/prompts.yaml")
REASONING = "reasoning"  # the set of the project's own multiple-choice items
_SETTING = ["set", "shots", "examples", "chain_of_thought"]


class PublishedPrompts(Closed):
    """The file of published accuracies, and the names in it for what this project names differently."""

    source: str
    """The paper."""
    accuracies: str
    """The table: table, set, construction ("all"), shots, examples, chain_of_thought, prompt ("best"), model and
    accuracy."""
    sets: dict[str, str]
    """Our name of a set -> theirs."""
    examples: dict[str, str]
    """Our name of a source of examples (of a file: without its ending) -> theirs."""
    prompts: dict[str, str]
    """Our name of a prompt, "" for all that are asked -> theirs of one with these contents."""


def accuracies_by_setting(rates: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies by setting, and by prompt and setting.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of prompts.

    Returns:
        The rates with accuracy and set (for value and source), shots and chain_of_thought as a number and a truth
        value, and whether the set is_multiple choice. prompt is "" where the rate is over all prompts.
    """
    accuracies = rates[rates["measure"] == "accuracy"]
    multiple = [REASONING, *accuracies.loc[BY_TEST.among(accuracies), "source"].unique()]
    kept = accuracies[BY_SETTING.among(accuracies) | BY_PROMPT.among(accuracies)].reset_index(drop=True)
    kept = kept.rename(columns={"value": "accuracy", "source": "set"})
    return kept.assign(
        is_multiple=kept["set"].isin(multiple),
        shots=kept["shots"].astype(int),
        chain_of_thought=kept["chain_of_thought"] == "True",
    )


def prompts_beside_published(
    rates: pd.DataFrame, members: Sequence[Member], use: Callable[[Path], Path]
) -> pd.DataFrame:
    """Return a row for each published accuracy, with the one of this run by the same model in the same setting.

    Args:
        rates: See `accuracies_by_setting`.
        members: The models. One is a published model if the name by which it is asked ends in that model's name.
        use: Notes a file before it is read, and returns it.

    Returns:
        The columns of the published table, with the accuracy in percent; then items (the set of this run, of which
        there may be several), this_run, with its 95 % interval, and n. What did not run, and what is not published, is
        an empty text.

    Raises:
        DataError: One line for every fault of ``published/prompts.yaml``.

    Source:
        Scivetti et al. 2025, footnote 6: most rates are those of the best prompts; the paper does not say whether a
        prompt is chosen for a model or for a setting.
    """
    names = validate(PublishedPrompts, read_yaml(use(PUBLISHED), DataError), PUBLISHED, DataError)
    theirs = pd.read_csv(use(Path(names.accuracies)), sep="\t", keep_default_na=False)
    theirs = theirs.assign(
        accuracy=(100 * theirs["accuracy"]).map("{:.1f}".format),
        source=names.source + ", Table " + theirs["table"].astype(str),
    )
    served = {one.slug: one.spec.name.lower() for one in members if isinstance(one.spec, Llm)}
    published_name = {slug: known for slug, name in served.items() for known in theirs["model"] if name.endswith(known)}
    ours = accuracies_by_setting(rates)
    ours = ours[ours["model"].isin(published_name)]
    sources = [[Path(source).stem for source in examples.split("+")] for examples in ours["examples"]]
    ours = ours.assign(
        items=ours["set"],
        set=ours["set"].replace(names.sets),
        examples=["+".join(sorted(names.examples.get(stem, stem) for stem in several)) for several in sources],
        prompt=ours["prompt"].replace(names.prompts),
        model=ours["model"].map(published_name),
        this_run=[cell(*row) for row in ours[["accuracy", "low", "high"]].to_numpy()],
        n=ours["n"].astype(str),
    )
    setting = ["set", "construction", "shots", "examples", "chain_of_thought", "prompt", "model"]
    table = theirs.merge(ours[[*setting, "items", "this_run", "n"]], on=setting, how="left")
    return with_blanks(table[["source", *setting, "accuracy", "items", "this_run", "n"]])


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
