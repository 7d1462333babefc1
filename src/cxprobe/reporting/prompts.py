"""Prompted models: what they answered beside what others have published, as tables and figures."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.errors import DataError
from cxprobe.reporting.dots import dots
from cxprobe.reporting.tables import cell
from cxprobe.schema import Closed, read_yaml, validate

CHANCE = 1 / 3  # three relations, three options
_SETTING = ["set", "shots", "examples", "chain_of_thought"]


class PublishedPrompts(Closed):
    """Where published numbers stand, and their names for what this project calls otherwise."""

    source: str
    """The paper."""
    inference: str
    """A table of accuracies of inference."""
    reasoning: str
    """A table of accuracies of reasoning."""
    prompts: str
    """A table of accuracies by prompt."""
    sets: dict[str, str]
    """Our name of a set -> theirs; what is not here has the same name."""
    examples: dict[str, str]
    """Our name of a source of examples, of a file that without its ending -> theirs."""
    all_constructions: list[str]
    """What stands in the place of a construction for all together."""


def load_published_prompts(path: Path) -> PublishedPrompts:
    """Read and check a file such as ``published/prompts.yaml``.

    Raises:
        DataError: One line for every fault of the file.
    """
    return validate(PublishedPrompts, read_yaml(path, DataError), path, DataError, {})


def published_inference(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return published accuracies of inference: set, shots, examples, chain_of_thought, model, accuracy and source.

    A number that the paper gives in two tables stands here once, with the first.

    Args:
        names: The paper.
        table: As in its file: table, test_set, shots, in_context_data, chain_of_thought, model, accuracy in [0, 1].
    """
    renamed = table.rename(columns={"test_set": "set", "in_context_data": "examples"})
    return (
        renamed.assign(
            chain_of_thought=renamed["chain_of_thought"].astype(bool),
            examples=["+".join(sorted(sources.split("+"))) for sources in renamed["examples"]],
            source=_source(names, renamed),
        )[[*_SETTING, "model", "accuracy", "source"]]
        .drop_duplicates([*_SETTING, "model", "accuracy"])
        .reset_index(drop=True)
    )


def published_reasoning(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return published accuracies of reasoning: construction (or "all"), chain_of_thought, model, accuracy and source.

    Args:
        names: The paper.
        table: As in its file: table, construction, chain_of_thought, model, accuracy in [0, 1].
    """
    construction = table["construction"].where(~table["construction"].isin(names.all_constructions), "all")
    return table.assign(
        construction=construction,
        chain_of_thought=table["chain_of_thought"].astype(bool),
        source=_source(names, table),
    )[["construction", "chain_of_thought", "model", "accuracy", "source"]]


def published_spread(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return how much published accuracies depend on the prompt, as `cxprobe.judging.spread_over_prompts` does.

    Args:
        names: The paper.
        table: As in its file: table, test_set, shots, prompt, model, accuracy in [0, 1].

    Returns:
        set, shots, examples and chain_of_thought (not reported, so empty texts), model, source, prompts (how many),
        lowest, mean, highest and range.
    """
    renamed = table.rename(columns={"test_set": "set"}).assign(source=_source(names, table))
    spread = renamed.groupby(["set", "shots", "model", "source"], as_index=False, sort=False).agg(
        prompts=("prompt", "size"), lowest=("accuracy", "min"), mean=("accuracy", "mean"), highest=("accuracy", "max")
    )
    return spread.assign(range=spread["highest"] - spread["lowest"], examples="", chain_of_thought="")


def with_published_names(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of ours under the names that the paper has, and the column items with our own name of the set.

    Args:
        names: The paper.
        table: Columns set and examples, the latter joined by "+" where there are several sources.
    """

    def theirs(sources: str) -> str:
        return "+".join(sorted(names.examples.get(stem, stem) for stem in _stems(sources).split("+")))

    return table.assign(
        items=table["set"],
        set=table["set"].map(lambda own: names.sets.get(own, own)),
        examples=table["examples"].map(theirs),
    )


def prompted_beside_published(run: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return a table for reading, in percent: what ran in each setting, with intervals, and below it what is published.

    Args:
        run: Columns ``keys``, model, asked, items, accuracy, low, high, n.
        published: Columns ``keys``, model, accuracy, source.
        keys: What defines a setting; those that ran come first, in their order.

    Returns:
        The keys, model, asked ("reply" for what is published), items (whose sentences), accuracy, with the 95 %
        interval of what ran, n, and source; what is not reported is an empty text.
    """
    cells = [cell(*row) for row in run[["accuracy", "low", "high"]].to_numpy()]
    ours = run.assign(accuracy=cells, n=run["n"].astype(str), source="this run")
    theirs = published.assign(
        accuracy=[f"{100 * value:.1f}" for value in published["accuracy"]], n="", asked="reply", items="the paper's"
    )
    both = pd.concat([ours, theirs], ignore_index=True)
    settings = _settings(both, keys)
    places = {setting: place for place, setting in enumerate(dict.fromkeys(settings))}
    order = sorted(range(len(both)), key=lambda row: places[settings[row]])
    columns = [*keys, "model", "asked", "items", "accuracy", "n", "source"]
    return both.iloc[order][columns].reset_index(drop=True)


def prompted_figures(
    by_construction: pd.DataFrame, by_test: pd.DataFrame, by_prompt: pd.DataFrame
) -> dict[str, Figure]:
    """Draw accuracies by construction, a figure for each setting, and those of reasoning by test and by prompt.

    Args:
        by_construction: Columns label (of the model), construction, set, shots, examples, chain_of_thought, accuracy,
            low, high.
        by_test: Columns label, construction, test, answerable, accuracy, low, high; may be empty.
        by_prompt: Columns label, prompt, answerable, accuracy, low, high; may be empty.

    Returns:
        File name -> figure.
    """
    settings = by_construction.assign(setting=setting_names(by_construction))
    settings = settings.sort_values("set", key=lambda sets: sets == "reasoning", kind="stable")
    figures = {
        f"constructions_{'_'.join(str(setting).replace(',', '').split())}": dots(
            own, f"By construction, {setting}", rows="construction", colours="label", panels="set", chance=CHANCE
        )
        for setting, own in settings.groupby("setting", sort=False)
    }
    if by_test.empty:
        return figures
    tests = by_test.sort_values("answerable", ascending=False, kind="stable")
    figures["reasoning_tests"] = dots(
        tests.assign(test=tests["test"].where(tests["answerable"], tests["test"] + " (C)")),
        "Reasoning by test; C: nothing follows",
        rows="test",
        colours="label",
        panels="construction",
        chance=CHANCE,
    )
    groups = by_prompt["answerable"].map({True: "answerable", False: "C: nothing follows"})
    figures["reasoning_prompts"] = dots(
        by_prompt.assign(group=groups).sort_values("answerable", ascending=False, kind="stable"),
        "Reasoning by prompt",
        rows="prompt",
        colours="label",
        panels="group",
        chance=CHANCE,
    )
    return figures


def accuracy_beside_published(run: pd.DataFrame, published: pd.DataFrame, title: str) -> Figure:
    """Draw accuracies by setting, a panel for each set, in those settings that ran; published ones have no interval.

    Where several sets of ours have the name of one published set, the labels say which of them each dot is.

    Args:
        run: Columns set, items, shots, examples, chain_of_thought, label (of the model), accuracy, low, high.
        published: Columns set, shots, examples, chain_of_thought, model, accuracy.
        title: Of the figure.
    """
    ran = set(_settings(run, _SETTING))
    known = published[[setting in ran for setting in _settings(published, _SETTING)]]
    theirs = known.assign(
        label=[f"{model} (published)" for model in known["model"]], low=known["accuracy"], high=known["accuracy"]
    )
    several = run.groupby("set")["items"].transform("nunique") > 1
    ours = run.assign(label=run["label"].where(~several, run["label"] + ", " + run["items"]))
    both = pd.concat([ours, theirs], ignore_index=True)
    return dots(
        both.assign(setting=setting_names(both)), title, rows="setting", colours="label", panels="set", chance=CHANCE
    )


def setting_names(table: pd.DataFrame) -> list[str]:
    """Return what the settings of a table are called in figures: "0 shots", "3 shots of CxNLI, reasoned".

    Args:
        table: Columns shots, examples, chain_of_thought.
    """
    names = []
    for shots, examples, thought in table[["shots", "examples", "chain_of_thought"]].itertuples(index=False):
        shown = f"{shots} shot{'' if shots == 1 else 's'}" + (f" of {_stems(examples)}" if shots else "")
        names.append(shown + (", reasoned" if thought else ""))
    return names


def _stems(examples: str) -> str:
    return "+".join(Path(source).stem for source in examples.split("+"))


def _settings(table: pd.DataFrame, keys: Sequence[str]) -> list[tuple[object, ...]]:
    return list(table[list(keys)].itertuples(index=False, name=None))


def _source(names: PublishedPrompts, table: pd.DataFrame) -> list[str]:
    return [f"{names.source}, Table {number}" for number in table["table"]]
