"""Answers to questions, of models asked in words or by likelihood, beside published results: tables and figures."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pydantic import Field

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, read_yaml, validate
from cxprobe.lm.params import Member
from cxprobe.lm.replies import REPLY
from cxprobe.prompts.figures import setting_names, stems
from cxprobe.prompts.judge import RULE, SETTING, spread_over_prompts
from cxprobe.report.cards import card_figure, card_table, composition_table, word_table
from cxprobe.report.dots import LEGEND, LETTER, SPREAD, dots, legend_of
from cxprobe.report.tables import cell

CHANCE = "best constant answer"  # in legends: chance
_WHO = ["model", "asked"]
REASONING = "reasoning"  # the set of the project's own multiple-choice items
# What a rate is of, where a setting was asked with several prompts. Published rates are of the best one.
BEST, MEAN, ONLY, EACH = "best prompt", "mean over prompts", "only prompt", "one prompt"
_BEST_OF_PAPER = {"over_prompts": BEST, "prompt": ""}


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
    all_constructions: list[str]
    """The values of the column construction that mean all constructions."""
    free_form: dict[str, str] = Field(default_factory=dict)
    """Their name of a set of templatic hypotheses -> theirs of free-form ones about the same premises; absent for
    none."""


class PublishedResults(NamedTuple):
    """Published results.

    Attributes:
        names: What ``published/prompts.yaml`` says.
        inference: Its table of accuracies of inference, as it is in the file.
        reasoning: Its table of accuracies of reasoning.
        prompts: Its table of accuracies by prompt.
    """

    names: PublishedPrompts
    inference: pd.DataFrame
    reasoning: pd.DataFrame
    prompts: pd.DataFrame


def load_published_prompts(path: Path) -> PublishedPrompts:
    """Read and check a file such as ``published/prompts.yaml``.

    Raises:
        DataError: One line for every fault of the file.
    """
    return validate(PublishedPrompts, read_yaml(path, DataError), path, DataError)


def read_published_prompts(names: PublishedPrompts, use: Callable[[Path], Path]) -> PublishedResults:
    """Read the tables that ``published/prompts.yaml`` names.

    Args:
        names: What the file says.
        use: Is told each file before it is read, and returns it.
    """
    paths = (Path(path) for path in (names.inference, names.reasoning, names.prompts))
    return PublishedResults(names, *(pd.read_csv(use(path), sep="\t") for path in paths))


def published_inference(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return published accuracies of inference, which are those of the best prompt of each setting.

    A number that the paper has in two tables is listed once, with the first.

    Args:
        names: The paper.
        table: As in its file: table, test_set, shots, in_context_data, chain_of_thought, model, accuracy in [0, 1].

    Returns:
        set, shots, examples, chain_of_thought, model, over_prompts ("best prompt"), prompt (not reported, so an empty
        text), accuracy and source.

    Source:
        Scivetti et al. 2025, footnote 6, for the best prompt.
    """
    renamed = table.rename(columns={"test_set": "set", "in_context_data": "examples"})
    return (
        renamed.assign(
            chain_of_thought=renamed["chain_of_thought"].astype(bool),
            examples=["+".join(sorted(sources.split("+"))) for sources in renamed["examples"]],
            source=_source(names, renamed),
            **_BEST_OF_PAPER,
        )[[*SETTING, "model", *_BEST_OF_PAPER, "accuracy", "source"]]
        .drop_duplicates([*SETTING, "model", "accuracy"])
        .reset_index(drop=True)
    )


def published_reasoning(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return published accuracies of reasoning: construction (or "all"), chain_of_thought, model and the other columns.

    Args:
        names: The paper.
        table: As in its file: table, construction, chain_of_thought, model, accuracy in [0, 1].

    Returns:
        construction, chain_of_thought, and from model on what `published_inference` returns.
    """
    construction = table["construction"].where(~table["construction"].isin(names.all_constructions), "all")
    return table.assign(
        construction=construction,
        chain_of_thought=table["chain_of_thought"].astype(bool),
        source=_source(names, table),
        **_BEST_OF_PAPER,
    )[["construction", "chain_of_thought", "model", *_BEST_OF_PAPER, "accuracy", "source"]]


def published_by_prompt(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return published accuracies by prompt: set, shots, prompt (the paper's name), model, accuracy and source.

    The paper does not say of these where the examples come from; examples and chain_of_thought are empty texts.

    Args:
        names: The paper.
        table: As in its file: table, test_set, shots, prompt, model, accuracy in [0, 1].
    """
    renamed = table.rename(columns={"test_set": "set"}).assign(source=_source(names, table))
    return renamed.assign(examples="", chain_of_thought="", over_prompts=EACH)[
        [*SETTING, "prompt", "over_prompts", "model", "accuracy", "source"]
    ]


def published_spread(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return how much published accuracies depend on the prompt, as `spread_over_prompts` does.

    Args:
        names: The paper.
        table: As in its file: table, test_set, shots, prompt, model, accuracy in [0, 1].

    Returns:
        set, shots, examples and chain_of_thought (not reported, so empty texts), model, source, prompts (their number),
        lowest, mean, highest and range.
    """
    return spread_over_prompts(published_by_prompt(names, table), [*SETTING, "model", "source"])


def with_published_names(names: PublishedPrompts, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of ours with the names of the paper, and the column items with our own name of the set.

    Args:
        names: The paper.
        table: Columns set and examples, the latter joined by "+" where there are several sources.
    """

    def theirs(sources: str) -> str:
        return "+".join(sorted(names.examples.get(stem, stem) for stem in stems(sources).split("+")))

    return table.assign(
        items=table["set"],
        set=table["set"].map(lambda own: names.sets.get(own, own)),
        examples=table["examples"].map(theirs),
    )


def best_prompts(by_prompt: pd.DataFrame, group: Sequence[str]) -> pd.DataFrame:
    """Return, of each group, the row of the prompt with the highest accuracy; of several, the first in the table.

    The prompt is chosen on the items on which its accuracy is reported, as in the paper, so the number is a little too
    high, and the more so the more prompts there are. The paper's is that of each model, too: what its Tables 2 and 4
    have for three shots is the highest number of each model in Tables 9 and 10.

    Args:
        by_prompt: The columns of ``group``, prompt and accuracy.
        group: The columns whose values make the groups.
    """
    ranked = by_prompt.sort_values("accuracy", ascending=False, kind="stable")
    return ranked.drop_duplicates(list(group)).sort_index()


def best_and_mean(
    pooled: pd.DataFrame, by_prompt: pd.DataFrame, group: Sequence[str], deciding: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the rates of the best prompt of each group, and those over all prompts.

    Args:
        pooled: Rates over all prompts: the columns of ``group``, accuracy and others.
        by_prompt: Rates by prompt: the same columns and prompt.
        group: The columns whose values make the groups in which one prompt is the best.
        deciding: The rows of ``by_prompt`` that decide which is the best, one for each group and prompt; None for all.

    Returns:
        The rows of the best prompts and then those over all, with the columns over_prompts ("best prompt" or "mean over
        prompts"; where there is one prompt, a row alone with "only prompt") and prompt (its name, or "all 6").
    """
    keys = list(group)
    if by_prompt.empty:
        return pooled.assign(over_prompts=MEAN, prompt="")
    own = by_prompt if deciding is None else deciding
    numbers = own.groupby(keys, as_index=False).agg(_prompts=("prompt", "nunique"))
    best = by_prompt.merge(best_prompts(own, keys)[[*keys, "prompt"]], on=[*keys, "prompt"]).merge(numbers, on=keys)
    mean = pooled.merge(numbers, on=keys)
    mean = mean[mean["_prompts"] > 1]
    marked = [
        best.assign(over_prompts=[BEST if number > 1 else ONLY for number in best["_prompts"]]),
        mean.assign(over_prompts=MEAN, prompt=[f"all {number}" for number in mean["_prompts"]]),
    ]
    return pd.concat(marked, ignore_index=True).drop(columns="_prompts")


def prompts_beside_published(
    tables: Mapping[str, pd.DataFrame],
    reasoning: pd.DataFrame,
    reasoning_by_prompt: pd.DataFrame,
    published: PublishedResults,
) -> dict[str, pd.DataFrame]:
    """Return the tables of all models beside published results, by name.

    Published rates are those of the best prompt of a setting. Of ours, those of the best prompt stand above them, and
    those over all prompts below. A model has a best prompt for each set, number and source of examples, and way of
    reasoning; for multiple choice it is the best over all constructions.

    Args:
        tables: What `prompt_tables` returns, of model and asked.
        reasoning: What `reasoning_accuracy` returns, of model, asked and set.
        reasoning_by_prompt: The same of model, asked, set and prompt.
        published: The published results.

    Returns:
        inference_beside_published and reasoning_beside_published (`settings_beside_published`);
        every_prompt_beside_published, the same with a row for each prompt; prompts_beside_published, the spread over
        prompts; and, where the published names say which sets have them, free_form_beside_templatic, the rows of
        inference again, free-form hypotheses next to templatic ones.
    """
    names = published.names
    multiple = {REASONING, *reasoning["set"]}
    by_prompt = tables["accuracy_by_prompt"]
    inference = with_published_names(
        names,
        best_and_mean(
            _inferences(tables["accuracy_by_setting"], multiple), _inferences(by_prompt, multiple), [*_WHO, *SETTING]
        ),
    )
    choices = best_and_mean(
        reasoning,
        reasoning_by_prompt,
        [*_WHO, "set", "chain_of_thought"],
        deciding=reasoning_by_prompt[reasoning_by_prompt["construction"] == "all"],
    )
    theirs = published_inference(names, published.inference)
    spread = with_published_names(names, tables["spread_over_prompts"]).assign(source="this run")
    their_spread = published_spread(names, published.prompts).assign(asked=REPLY, items="the paper's")
    beside = {
        "inference_beside_published": settings_beside_published(inference, theirs, SETTING),
        "reasoning_beside_published": settings_beside_published(
            choices.assign(items=choices["set"]),
            published_reasoning(names, published.reasoning),
            ["construction", "chain_of_thought"],
        ),
        "every_prompt_beside_published": settings_beside_published(
            with_published_names(names, by_prompt).assign(over_prompts=EACH),
            published_by_prompt(names, published.prompts),
            ["set", "shots"],
            also=["examples", "chain_of_thought"],
        ),
        "prompts_beside_published": pd.concat([spread, their_spread], ignore_index=True)[
            [*SETTING, *_WHO, "items", "prompts", "lowest", "mean", "highest", "range", "source"]
        ],
    }
    if names.free_form:
        both = [
            table[table["set"].isin([*names.free_form, *names.free_form.values()])] for table in (inference, theirs)
        ]
        ours, paper = (table.sort_values(["model", "set"], kind="stable") for table in both)
        beside["free_form_beside_templatic"] = settings_beside_published(
            ours, paper, ["shots", "examples", "chain_of_thought"], also=["set"]
        )
    return beside


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
    ours = run.assign(accuracy=cells, n=run["n"].astype(str), source="this run")
    theirs = published.assign(
        accuracy=[f"{100 * value:.1f}" for value in published["accuracy"]], n="", asked=REPLY, items="the paper's"
    )
    both = pd.concat([ours, theirs], ignore_index=True)
    settings = _settings(both, keys)
    places = {setting: place for place, setting in enumerate(dict.fromkeys(settings))}
    ranks = [0] * len(ours) + [1] * len(theirs)
    ranks = [2 if over == MEAN else rank for rank, over in zip(ranks, both["over_prompts"], strict=True)]
    order = sorted(range(len(both)), key=lambda row: (places[settings[row]], ranks[row]))
    columns = [*keys, *also, "model", "asked", "items", "over_prompts", "prompt", "accuracy", "n", "source"]
    return both.iloc[order][columns].reset_index(drop=True)


def prompt_figures(
    tables: Mapping[str, pd.DataFrame],
    published: PublishedResults,
    score: str,
    members: Sequence[Member],
    best: Mapping[str, pd.DataFrame],
    mocks: Sequence[str] = (),
) -> dict[str, Figure]:
    """Draw the tables of all models, by name; beside published rates, which are of the best prompt, those of the best.

    Blind models are not drawn one by one: the best of them in each cell is. A mock model says the same to everything
    and is drawn only where no other model has run.

    Args:
        tables: What `prompt_tables` returns, of model and asked.
        published: The published results.
        score: The score by which models are drawn that were not asked in words.
        members: The models that were not asked in words, blind ones among them.
        best: Name of a table -> the best blind models in its cells (`best_blind_answers`).
        mocks: The slugs of mock models among those that were asked in words.
    """
    labels = {member.slug: member.label for member in members}
    drawn = {}
    for name, table in tables.items():
        asked = table[table["asked"].isin([REPLY, score])]
        real = asked[~asked["model"].isin(mocks)]
        shown = real if len(real) or asked.empty else asked
        drawn[name] = shown.assign(label=_labels(shown, labels))
    names = published.names
    multiple = {REASONING, *tables["accuracy_by_test"].get("set", ())}
    inference = best_prompts(_inferences(drawn["accuracy_by_prompt"], multiple), [*_WHO, *SETTING])
    blind = best["accuracy_by_setting"]
    if inference.empty:
        figures = {}
    else:
        theirs = published_inference(names, published.inference)
        title = f"Inference with the best prompt, beside {names.source}"
        named = with_published_names(names, inference)
        our_best = blind.assign(set=[names.sets.get(own, own) for own in blind["set"]])
        figures = {"inference_beside_published": accuracy_beside_published(named, theirs, title, our_best)}
    by_test, by_prompt = drawn["accuracy_by_test"], drawn["accuracy_answerable"]
    return settings_figures(drawn["accuracy_by_construction"], by_test, by_prompt, best, multiple) | figures


def settings_figures(
    by_construction: pd.DataFrame,
    by_test: pd.DataFrame,
    by_prompt: pd.DataFrame,
    best: Mapping[str, pd.DataFrame] | None = None,
    multiple: Collection[str] = (REASONING,),
) -> dict[str, Figure]:
    """Draw accuracies by construction, a figure for each setting, and those of reasoning by test and by prompt.

    Where there are several sets of multiple choice, each has panels of its own.

    Args:
        by_construction: Columns label (of the model), construction, set, shots, examples, chain_of_thought, accuracy,
            low, high, chance.
        by_test: Columns label, construction, set, test, answerable, accuracy, low, high, chance; may be empty.
        by_prompt: Columns label, set, prompt, answerable, accuracy, low, high, chance; may be empty.
        best: See `prompt_figures`; None for none.
        multiple: The sets of multiple choice.

    Returns:
        Name -> figure.
    """
    settings = by_construction.assign(setting=setting_names(by_construction))
    settings = settings.sort_values("set", key=lambda sets: sets.isin(list(multiple)), kind="stable")
    figures = {
        f"constructions_{'_'.join(str(setting).replace(',', '').split())}": _dots(
            own,
            f"By construction, {setting}",
            rows="construction",
            colours="label",
            panels="set",
            best=best["accuracy_by_construction"] if best else None,
        )
        for setting, own in settings.groupby("setting", sort=False)
    }
    if by_test.empty:
        return figures
    several = by_test["set"].nunique() > 1

    def tests(table: pd.DataFrame) -> pd.DataFrame:
        marked = table["test"].where(table["answerable"], table["test"] + " (C)")
        return table.assign(test=marked, panel=_with_set(table["construction"], table, several))

    def groups(table: pd.DataFrame) -> pd.DataFrame:
        follows = table["answerable"].map({True: "answerable", False: "C: nothing follows"})
        return table.assign(group=_with_set(follows, table, several))

    figures["reasoning_tests"] = _dots(
        tests(by_test.sort_values("answerable", ascending=False, kind="stable")),
        "Reasoning by test; C: nothing follows",
        rows="test",
        colours="label",
        panels="panel",
        best=tests(best["accuracy_by_test"]) if best else None,
    )
    prompts = groups(by_prompt.sort_values("answerable", ascending=False, kind="stable"))
    each = prompts[["prompt"]].drop_duplicates()  # a blind model sees no prompt
    figures["reasoning_prompts"] = _dots(
        prompts,
        "Reasoning by prompt",
        rows="prompt",
        colours="label",
        panels="group",
        best=groups(best["accuracy_answerable"]).merge(each, how="cross") if best else None,
    )
    return figures


def _with_set(names: "pd.Series[str]", table: pd.DataFrame, several: bool) -> "pd.Series[str]":
    """Return names of panels, with the set of the rows behind them where there are several."""
    return names + ", " + table["set"] if several else names


def accuracy_beside_published(
    run: pd.DataFrame, published: pd.DataFrame, title: str, best: pd.DataFrame | None = None
) -> Figure:
    """Draw accuracies by setting, a panel for each set, in the settings that ran; published ones have no interval.

    Where several sets of ours have the name of one published set, the labels have our own name too.

    Args:
        run: Columns set, items, shots, examples, chain_of_thought, label (of the model), accuracy, low, high, n,
            chance.
        published: Columns set, shots, examples, chain_of_thought, model, accuracy.
        title: Of the figure.
        best: The best blind model of each set: set (the published name) and accuracy; None for none.
    """
    ran = set(_settings(run, SETTING))
    known = published[[setting in ran for setting in _settings(published, SETTING)]]
    theirs = known.assign(
        label=[f"{model} (published)" for model in known["model"]],
        low=known["accuracy"],
        high=known["accuracy"],
        n=np.nan,
    )
    several = run.groupby("set")["items"].transform("nunique") > 1
    ours = run.assign(label=run["label"].where(~several, run["label"] + ", " + run["items"]))
    both = pd.concat([ours, theirs], ignore_index=True)
    both = both.assign(setting=setting_names(both))
    if best is not None:  # a blind model sees no examples
        best = best.sort_values("accuracy", kind="stable").drop_duplicates("set", keep="last")
        best = best.merge(both[["setting"]].drop_duplicates(), how="cross")
    return _dots(both, title, rows="setting", colours="label", panels="set", best=best)


def _dots(
    table: pd.DataFrame, title: str, *, rows: str, colours: str, panels: str, best: pd.DataFrame | None = None
) -> Figure:
    """Draw accuracies with `dots`, and in each row and panel what the best constant answer gets (column chance)."""
    figure = dots(table, title, rows=rows, colours=colours, panels=panels, chance=None, best=best)
    names = list(dict.fromkeys(table[rows]))
    chances = table.groupby([panels, rows])["chance"].max().dropna()
    edge = SPREAD / 2 + 0.1
    for axes, panel in zip(figure.axes, dict.fromkeys(table[panels]), strict=True):
        in_panel = chances[chances.index.get_level_values(panels) == panel]
        y = [names.index(row) for row in in_panel.index.get_level_values(rows)]
        lower, upper = [place - edge for place in y], [place + edge for place in y]
        axes.vlines(in_panel.to_numpy(), lower, upper, color="0.35", linestyle=":", linewidth=1.4, label=CHANCE)
    shown = legend_of(figure.axes)
    columns = max(1, min(4, int(figure.get_figwidth() / (LEGEND + LETTER * max(map(len, shown))))))
    figure.legends[0].remove()
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=columns, frameon=False)
    return figure


def prompt_cards(
    items: pd.DataFrame, accuracy: pd.DataFrame, limit: float, members: Sequence[Member]
) -> tuple[dict[str, pd.DataFrame], dict[str, Figure]]:
    """Return the cards of the items, tables and a figure by name; a data set is a construction and a set.

    Args:
        items: One row per item, drawn or not: kind, construction, set, template (or test), gold, hypothesis, text and
            question.
        accuracy: Of blind models on all items: construction, set, model, accuracy, low, high, n and chance.
        limit: `cards.limit` of params.yaml.
        members: The models.

    Returns:
        "cards" (`card_table`); "card_composition" (`composition_table`) by gold answer, of hypotheses or of texts with
        their questions; "card_templates", the same for each template of hypotheses, or each test; and "card_words"
        (`word_table`). And "cards" -> the figure; none where no blind model has run.
    """
    named, rates = (table.assign(dataset=table["construction"] + ", " + table["set"]) for table in (items, accuracy))
    chances = {str(name): float(value) for name, value in rates.groupby("dataset")["chance"].max().items()}
    is_inference = named["kind"] == "inference"
    text = named["hypothesis"].where(is_inference, named["text"] + " " + named["question"])
    shown = named.assign(text=text, label=named["gold"], template=named["template"].where(is_inference, named["test"]))
    cards = card_table(rates, chance=chances, limit=limit, members=members)
    tables = {
        "cards": cards,
        "card_composition": composition_table(shown),
        "card_templates": composition_table(shown, ["template"]),
        "card_words": word_table(shown),
    }
    return tables, {"cards": card_figure(cards)} if len(cards) else {}


def _settings(table: pd.DataFrame, keys: Sequence[str]) -> list[tuple[object, ...]]:
    return list(table[list(keys)].itertuples(index=False, name=None))


def _source(names: PublishedPrompts, table: pd.DataFrame) -> list[str]:
    return [f"{names.source}, Table {number}" for number in table["table"]]


def _inferences(table: pd.DataFrame, multiple: Collection[str]) -> pd.DataFrame:
    """Return the rows of a table that are not of the sets of multiple choice."""
    return table[~table["set"].isin(list(multiple))].reset_index(drop=True)


def _labels(table: pd.DataFrame, labels: Mapping[str, str]) -> list[str]:
    """Return the name of a model in figures, the score by which it was asked, and whether it reasoned."""
    return [
        f"{labels.get(model, model)}{'' if asked in (REPLY, RULE) else f', {asked}'}{', reasoned' if thought else ''}"
        for model, asked, thought in table[[*_WHO, "chain_of_thought"]].itertuples(index=False)
    ]
