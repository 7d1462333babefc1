"""Tables and figures of the rates of prompts beside published results."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, read_yaml, validate
from cxprobe.models.params import Member
from cxprobe.models.replies import REPLY
from cxprobe.results.comparisons import best_baseline
from cxprobe.results.dots import BEST_BASELINE, CONSTANT, dots
from cxprobe.results.rates import ALL
from cxprobe.results.words import cell
from cxprobe.tasks.prompts.evaluate import RULE, settings_in

PUBLISHED = Path("published/prompts.yaml")
REASONING = "reasoning"  # the set of the project's own multiple-choice items
# The prompts that a rate is of, where a setting has several. Published rates are of the best one.
BEST, MEAN, ONLY, EACH = "best prompt", "mean over prompts", "only prompt", "one prompt"
_SETTING = ["set", "shots", "examples", "chain_of_thought"]
_WHO = ["model", "asked"]


class PublishedPrompts(Closed):
    """The files of published results, and the names in them for what this project names differently."""

    source: str
    """The paper."""
    inference: str
    """A table of accuracies of inference."""
    reasoning: str
    """A table of accuracies of reasoning."""
    prompts: str
    """A table of accuracies by prompt."""
    sets: dict[str, str]
    """Our name of a set -> theirs; a set that is not listed has the same name."""
    examples: dict[str, str]
    """Our name of a source of examples (of a file: without its ending) -> theirs."""
    variations: dict[str, str]
    """Their name of a prompt -> our prompt with these contents."""
    all_constructions: list[str]
    """The values of the column construction that mean all constructions."""
    free_form: dict[str, str]
    """Their name of a set of templatic hypotheses -> theirs of free-form ones about the same premises."""


class PublishedResults(NamedTuple):
    """Published accuracies, in [0, 1], with our names of columns; values that are not reported are empty texts.

    Attributes:
        names: What ``published/prompts.yaml`` says.
        inference: set, shots, examples, chain_of_thought, model, over_prompts ("best prompt"), prompt (""), accuracy
            and source. A number that the paper has in two tables is listed once, with the first.
        reasoning: construction (or "all"), chain_of_thought, and from model on the same columns.
        prompts: set, shots, examples (""), chain_of_thought (""), prompt (our name of its contents, or the paper's),
            over_prompts ("one prompt"), model, accuracy and source.
    """

    names: PublishedPrompts
    inference: pd.DataFrame
    reasoning: pd.DataFrame
    prompts: pd.DataFrame


def read_published_results(use: Callable[[Path], Path]) -> PublishedResults:
    """Read ``published/prompts.yaml`` and the tables that it names.

    Args:
        use: Notes a file before it is read, and returns it.

    Raises:
        DataError: One line for every fault of the file.

    Source:
        Scivetti et al. 2025, footnote 6: the rates are those of the best prompts; the paper does not say whether a
        prompt is chosen for a model or for a setting.
    """
    names = validate(PublishedPrompts, read_yaml(use(PUBLISHED), DataError), PUBLISHED, DataError)
    tables = []
    for name in (names.inference, names.reasoning, names.prompts):
        table = pd.read_csv(use(Path(name)), sep="\t")
        table = table.rename(columns={"test_set": "set", "in_context_data": "examples"})
        table["source"] = names.source + ", Table " + table["table"].astype(str)
        tables.append(table.assign(over_prompts=BEST, prompt=table.get("prompt", "")))
    inference, reasoning, prompts = tables
    rate = ["model", "over_prompts", "prompt", "accuracy", "source"]
    for table in (inference, reasoning):
        table["chain_of_thought"] = table["chain_of_thought"].astype(bool)
    inference["examples"] = ["+".join(sorted(sources.split("+"))) for sources in inference["examples"]]
    reasoning = reasoning.replace({"construction": dict.fromkeys(names.all_constructions, ALL)})
    prompts = prompts.replace({"prompt": names.variations})
    prompts = prompts.assign(examples="", chain_of_thought="", over_prompts=EACH)
    return PublishedResults(
        names,
        inference[[*_SETTING, *rate]].drop_duplicates([*_SETTING, "model", "accuracy"]).reset_index(drop=True),
        reasoning[["construction", "chain_of_thought", *rate]],
        prompts[[*_SETTING, *rate]],
    )


def with_published_names(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of ours with the names of the paper, and the column items with our own name of the set.

    Args:
        names: The paper.
        table: Columns set and examples, the latter joined by "+" where there are several sources.
    """
    sources = [[Path(source).stem for source in examples.split("+")] for examples in table["examples"]]
    return table.assign(
        items=table["set"],
        set=table["set"].replace(names.sets),
        examples=["+".join(sorted(names.examples.get(stem, stem) for stem in several)) for several in sources],
    )


def accuracies_by_setting(rates: pd.DataFrame, members: Sequence[Member], score: str) -> pd.DataFrame:
    """Return the accuracies of the facets setting and prompt, with the parts of their levels in columns.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of prompts.
        members: The models.
        score: The score that decides for models that are not prompted for replies.

    Returns:
        The rates with accuracy and set (for value and source), asked (reply, rule or the score), prompt ("" where the
        rate is over all prompts), shots, chain_of_thought, examples, and whether the set is_multiple choice.
    """
    ways = {one.slug: REPLY if one.is_asked else RULE if one.is_baseline else score for one in members}
    accuracies = rates[rates["measure"] == "accuracy"].rename(columns={"value": "accuracy", "source": "set"})
    multiple = [REASONING, *accuracies.loc[accuracies["facet"] == "test", "set"].unique()]
    kept = accuracies[accuracies["facet"].isin(["setting", "prompt"])].reset_index(drop=True)
    kept = kept.assign(asked=kept["model"].map(ways), is_multiple=kept["set"].isin(multiple))
    return kept.join(settings_in(kept["level"]))


def best_and_mean(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of the best prompt of each model and setting, and those over all prompts.

    The prompt is chosen over all constructions, on the items on which its accuracy is reported, as in the paper, so the
    number is a little too high, and the more so the more prompts there are. The paper's is that of each model, too:
    what its Tables 2 and 4 have for three shots is the highest number of each model in Tables 9 and 10.

    Args:
        accuracies: See `accuracies_by_setting`.

    Returns:
        The rows of the best prompts (of several, the first in the table) and then those over all, with the columns
        over_prompts ("best prompt" or "mean over prompts"; where there is one prompt, a row alone with "only prompt")
        and prompt (its name, or "all 6").
    """
    group = [*_WHO, *_SETTING]
    pooled, by_prompt = (accuracies[accuracies["facet"] == facet] for facet in ("setting", "prompt"))
    over_all = by_prompt[by_prompt["construction"] == ALL]
    numbers = over_all.groupby(group, as_index=False).agg(prompts=("prompt", "nunique"))
    best = by_prompt.merge(_best_prompts(over_all, group)[[*group, "prompt"]]).merge(numbers)
    best["over_prompts"] = np.where(best["prompts"] > 1, BEST, ONLY)
    mean = pooled.merge(numbers).query("prompts > 1")
    mean = mean.assign(over_prompts=MEAN, prompt="all " + mean["prompts"].astype(str))
    return pd.concat([best, mean], ignore_index=True).drop(columns="prompts")


def _best_prompts(by_prompt: pd.DataFrame, group: Sequence[str]) -> pd.DataFrame:
    ranked = by_prompt.sort_values("accuracy", ascending=False, kind="stable")
    return ranked.drop_duplicates(list(group)).sort_index()


def prompts_beside_published(
    rates: pd.DataFrame, members: Sequence[Member], score: str, published: PublishedResults
) -> dict[str, pd.DataFrame]:
    """Return the tables of all models beside published results, by path.

    Published rates are those of the best prompts. Of ours, those of the best prompt stand above them, and
    those over all prompts below.

    Args:
        rates: See `accuracies_by_setting`.
        members: Likewise.
        score: Likewise.
        published: The published results.

    Returns:
        inference_beside_published and reasoning_beside_published (`settings_beside_published`);
        every_prompt_beside_published, the same with a row for each prompt; free_form_beside_templatic, the rows of
        inference again, free-form hypotheses next to templatic ones; and prompts_beside_published, the spread over
        prompts.
    """
    names, theirs = published.names, published.inference
    accuracies = accuracies_by_setting(rates, members, score)
    ours = with_published_names(names, best_and_mean(accuracies))
    inference = ours[~ours["is_multiple"] & (ours["construction"] == ALL)]
    by_prompt = accuracies[(accuracies["facet"] == "prompt") & (accuracies["construction"] == ALL)]
    every = with_published_names(names, by_prompt).assign(over_prompts=EACH)
    free_form = [*names.free_form, *names.free_form.values()]
    own, paper = (
        table[table["set"].isin(free_form)].sort_values(["model", "set"], kind="stable")
        for table in (inference, theirs)
    )
    spread = with_published_names(names, spread_over_prompts(by_prompt, [*_WHO, *_SETTING])).assign(source="this run")
    their_spread = spread_over_prompts(published.prompts, [*_SETTING, "model", "source"])
    both = pd.concat([spread, their_spread.assign(asked=REPLY, items="the paper's")], ignore_index=True)
    columns = [*_SETTING, *_WHO, "items", "prompts", "lowest", "mean", "highest", "range", "source"]
    how, of_reasoning = ["examples", "chain_of_thought"], ["construction", "chain_of_thought"]
    # Name -> our rates, published ones, the columns that define a setting, and further columns.
    specifications = {
        "inference_beside_published": (inference, theirs, _SETTING, []),
        "reasoning_beside_published": (ours[ours["is_multiple"]], published.reasoning, of_reasoning, []),
        "every_prompt_beside_published": (every, published.prompts, ["set", "shots"], how),
        "free_form_beside_templatic": (own, paper, ["shots", *how], ["set"]),
    }
    beside = {f"tables/{name}": settings_beside_published(*parts) for name, parts in specifications.items()}
    return beside | {"tables/prompts_beside_published": both[columns]}


def spread_over_prompts(accuracies: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the spread of the accuracy over prompts.

    Args:
        accuracies: One row per prompt and group: the columns of ``by``, prompt and accuracy.
        by: The columns whose values make the groups, without the prompt.

    Returns:
        One row per group: the columns of ``by``, prompts (their number), lowest, mean, highest and range.
    """
    rates = accuracies.groupby(by, sort=False)["accuracy"]
    spread = rates.agg(prompts="size", lowest="min", mean="mean", highest="max").reset_index()
    return spread.assign(range=spread["highest"] - spread["lowest"])


def settings_beside_published(
    run: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str], also: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a table for reading, in percent: the rates of each setting with intervals, beside published ones.

    Args:
        run: Columns ``keys``, ``also``, model, asked, items, over_prompts, prompt, accuracy, low, high, n.
        published: Columns ``keys``, ``also``, model, over_prompts, prompt, accuracy, source.
        keys: The columns that define a setting; settings that ran come first, in their order. In a setting, what can be
            compared with the published rows stands above them, and rates over several prompts below.
        also: Further columns of the table.

    Returns:
        The keys and ``also``, model, asked ("reply" for published rows), items (whose sentences), over_prompts and
        prompt (see `best_and_mean`), accuracy, with the 95 % interval of our own rows, n, and source; values that are
        not reported are empty texts.
    """
    cells = [cell(*row) for row in run[["accuracy", "low", "high"]].to_numpy()]
    ours = run.assign(accuracy=cells, n=run["n"].astype(str), source="this run", _rank=0)
    percent = [f"{100 * value:.1f}" for value in published["accuracy"]]
    theirs = published.assign(accuracy=percent, n="", asked=REPLY, items="the paper's", _rank=1)
    both = pd.concat([ours, theirs], ignore_index=True)
    both["_rank"] = both["_rank"].where(both["over_prompts"] != MEAN, 2)
    both["_setting"] = both.groupby(list(keys), sort=False).ngroup()
    columns = [*keys, *also, "model", "asked", "items", "over_prompts", "prompt", "accuracy", "n", "source"]
    return both.sort_values(["_setting", "_rank"], kind="stable", ignore_index=True)[columns]


def prompt_figures(rates: pd.DataFrame, members: Sequence[Member], score: str) -> dict[str, Figure]:
    """Draw the rates of all models, by name: by construction, and by test and prompt.

    By construction, those of the best prompt of each model and set are drawn, in the setting in which it is the best.
    Baselines are not drawn one by one: the best of them in each cell is. A mock model says the same to everything and
    is drawn only where no other model has run.

    Args:
        rates: See `accuracies_by_setting`.
        members: Likewise.
        score: Likewise.

    Source:
        Scivetti et al. 2025, Figures 1 and 2.
    """
    accuracies = accuracies_by_setting(rates, members, score)
    is_baseline = accuracies["asked"] == RULE
    baselines = accuracies[is_baseline & (accuracies["facet"] == "setting")]
    of_construction = best_baseline(baselines, ["construction", "set"], members)
    mocks, names = [one.slug for one in members if one.is_mock], {one.slug: one.label for one in members}
    shown = accuracies[~is_baseline & (accuracies["facet"] == "prompt")]
    real = shown[~shown["model"].isin(mocks)]
    drawn = real if len(real) else shown
    how = np.where(drawn["asked"] == REPLY, "", ", " + drawn["asked"])
    drawn = drawn.assign(label=drawn["model"].map(names) + how + np.where(drawn["chain_of_thought"], ", reasoned", ""))
    inference = drawn[~drawn["is_multiple"]]
    over_all = inference[inference["construction"] == ALL]
    figures = {}
    if len(over_all):
        best = _best_prompts(over_all, [*_WHO, "set"])[[*_WHO, *_SETTING, "prompt"]]
        by_construction = inference[inference["construction"] != ALL].merge(best)
        title = "Inference by construction, with each model's best prompt and examples"
        figures["best_by_construction"] = _dots(
            by_construction, title, rows="construction", panels="set", best=of_construction
        )
    tests = tests_by_prompt(rates, dict(zip(drawn["model"], drawn["label"], strict=True)))
    if len(tests):
        title = "Reasoning by test, with the two prompts that differ most where nothing follows (C)"
        figures["tests_by_prompt"] = _dots(tests, title, rows="row", panels="panel")
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
    tests = rates[
        (rates["facet"] == "test_by_prompt") & (rates["construction"] == ALL) & rates["model"].isin(labels.keys())
    ]
    tests = tests.rename(columns={"value": "accuracy"}).reset_index(drop=True)
    parts = [level.split(".", 3) for level in tests["level"]]
    tests = tests.join(pd.DataFrame(parts, columns=["prompt", "thought", "answerable", "test"], dtype=object))
    tests = tests[tests.groupby("source")["prompt"].transform("nunique") > 1]
    uncertain = tests[tests["answerable"] == "False"].groupby("prompt")["accuracy"].mean()
    if uncertain.empty:
        return uncertain.to_frame()
    tests = tests[tests["prompt"].isin([uncertain.idxmin(), uncertain.idxmax()])]
    tests = tests.sort_values("answerable", ascending=False, kind="stable")
    sets = ", " + tests["source"] if tests["source"].nunique() > 1 else ""
    thought = tests["thought"].map({"True": ", reasoned", "False": ""})
    return tests.assign(
        label=tests["model"].map(labels) + thought,
        row=tests["test"].where(tests["answerable"] == "True", tests["test"] + " (C)"),
        panel=tests["prompt"] + sets,
    )


def _dots(table: pd.DataFrame, title: str, *, rows: str, panels: str, best: pd.DataFrame | None = None) -> Figure:
    """Draw accuracies with `dots`, and in each row and panel that of the best constant answer (column chance).

    A best baseline whose rates do not depend on the rows, such as settings, is drawn in each.
    """
    if best is not None and rows not in best:
        best = best.merge(table[[rows]].drop_duplicates(), how="cross")
    constant = table.groupby([panels, rows], sort=False)["chance"].max().dropna().rename("accuracy").reset_index()
    marks = {CONSTANT: constant}
    if best is not None:
        marks[BEST_BASELINE] = best
    return dots(table, title, rows=rows, colours="label", panels=panels, chance=None, marks=marks)
