"""Tables and figures beside published results, and what items consist of."""

import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.models.params import Llm, Member, ModelSpec, Rule
from cxprobe.results.rates import ALL
from cxprobe.tasks.prompts.report import (
    BEST,
    MEAN,
    ONLY,
    best_and_mean,
    prompt_figures,
    read_published_results,
    settings_beside_published,
    with_published_names,
)

SETTING = ["set", "shots", "examples", "chain_of_thought"]
PUBLISHED = read_published_results(lambda path: ROOT / path)
MOCK = Llm.model_construct(name="mockllm/model")
MEMBERS = [
    Member("one", ModelSpec(name="m", revision=None, sha256=None, dtype="float32"), "one"),
    Member("two", ModelSpec(name="m", revision=None, sha256=None, dtype="float32", weights="random", seed=1), "two"),
    Member("words", Rule(kind="negation"), "rules"),
    Member("mock", MOCK, "mock"),
]


def run_table(*settings):
    """Return rates of two models in settings, with the columns of tables of evaluated answers."""
    rows = [(*setting, model) for setting in settings for model in ("one", "two")]
    table = pd.DataFrame(rows, columns=[*SETTING, "model"]).assign(label=lambda table: table["model"])
    rates = {"accuracy": 0.5, "low": 0.4, "high": 0.6, "n": 20, "chance": 0.35}
    return table.assign(**rates, asked="reply", prompt="paper-2", over_prompts=ONLY)


def test_every_published_number_is_there_once_and_is_of_the_best_prompt_but_for_those_by_prompt():
    inference, reasoning = PUBLISHED.inference, PUBLISHED.reasoning
    twice = inference[inference.duplicated([*SETTING, "model"], keep=False)]
    assert sorted(twice["accuracy"]) == [0.6, 0.62]  # Tables 16 and 17 have this number both, and differ in it
    rates = inference.set_index([*SETTING, "model"])["accuracy"]
    assert rates["CxNLI", 3, "CxNLI", False, "gpt-4o-2024-05-13"] == 0.96
    assert rates["CxNLI", 1, "CxNLI+CxNLI-challenge", True, "gpt-3.5-turbo-0125"] == 0.6
    sources = set(reasoning.loc[reasoning["construction"] == "all", "source"])
    assert sources == {"Scivetti et al. 2025, Table 5", "Scivetti et al. 2025, Table 19"}
    assert {f"paper-{n}" for n in range(1, 5)} < set(PUBLISHED.prompts["prompt"])
    assert set(inference["over_prompts"]) == set(PUBLISHED.reasoning["over_prompts"]) == {BEST}
    assert set(PUBLISHED.prompts["over_prompts"]) == {"one prompt"}
    highest = PUBLISHED.prompts.groupby(["set", "model"])["accuracy"].max()
    best = inference[(inference["shots"] == 3) & (inference["examples"] == "CxNLI") & ~inference["chain_of_thought"]]
    both = best.merge(highest.rename("highest").reset_index(), on=["set", "model"])
    assert len(both) == 4
    assert (both["accuracy"] == both["highest"]).all()  # the best of each model, by the paper's own numbers


def test_what_ran_stands_above_what_is_published_in_the_same_setting_and_means_below():
    ours = with_published_names(PUBLISHED.names, run_table(("challenge", 0, "none", False), ("mine", 0, "none", False)))
    ours = pd.concat([ours.assign(over_prompts=MEAN), ours.assign(over_prompts=BEST)], ignore_index=True)
    table = settings_beside_published(ours, PUBLISHED.inference, SETTING)
    assert len(table) == len(ours) + len(PUBLISHED.inference)
    first = table[(table["set"] == "CxNLI-challenge") & (table["shots"] == 0)].query("~chain_of_thought")
    assert first["model"].tolist()[:3] == ["one", "two", "gpt-3.5-turbo-0125"]
    assert first[["accuracy", "n", "items", "source"]].to_numpy().tolist()[1:3] == [
        ["50.0 (40.0 to 60.0)", "20", "challenge", "this run"],
        ["26.0", "", "the paper's", "Scivetti et al. 2025, Table 4"],
    ]
    assert first["over_prompts"].tolist() == [BEST] * (len(first) - 2) + [MEAN] * 2
    assert table["set"].iloc[0] == "CxNLI-challenge"
    assert table.query("set == 'mine'")["model"].tolist() == ["one", "two"] * 2
    assert not table.isna().any(axis=None)


def prompt_rates(accuracies):
    """Return accuracies over all prompts and by prompt of models in one setting; {model: {prompt: accuracy}}."""
    rows = [(model, "prompt", prompt, rate) for model, rates in accuracies.items() for prompt, rate in rates.items()]
    rows += [(model, "setting", "", sum(rates.values()) / len(rates)) for model, rates in accuracies.items()]
    table = pd.DataFrame(rows, columns=["model", "facet", "prompt", "accuracy"])
    return table.assign(construction=ALL, asked="reply", set="x", shots=0, examples="none", chain_of_thought=False)


def test_the_best_prompt_is_the_first_of_the_most_accurate_and_every_model_has_the_mean_of_several():
    accuracies = {"one": {"p": 0.25, "q": 0.5, "r": 0.5}, "two": {"p": 0.5, "q": 0.25}, "three": {"s": 0.75}}
    rows = best_and_mean(prompt_rates(accuracies))
    found = {(row.model, row.over_prompts): (row.prompt, row.accuracy) for row in rows.itertuples()}
    assert found == {
        ("one", BEST): ("q", 0.5),
        ("one", MEAN): ("all 3", pytest.approx(1.25 / 3)),
        ("two", BEST): ("p", 0.5),
        ("two", MEAN): ("all 2", 0.375),
        ("three", ONLY): ("s", 0.75),
    }


def rates(*rows) -> pd.DataFrame:
    """Return accuracies: model, construction, source, facet, level and value."""
    table = pd.DataFrame(rows, columns=["model", "construction", "source", "facet", "level", "value"])
    return table.assign(measure="accuracy", low=table["value"] - 0.1, high=table["value"] + 0.1, n=20, chance=0.35)


def by_prompt(model: str, prompts: dict[str, float], source: str = "templatic", setting: str = "0.False.none"):
    """Yield the accuracies of a model by prompt, on a construction and all."""
    for construction in ("x", ALL):
        yield (model, construction, source, "setting", setting, sum(prompts.values()) / len(prompts))
        for prompt, value in prompts.items():
            yield (model, construction, source, "prompt", f"{prompt}.{setting}", value)


def labels_of(figure):
    return {text.get_text() for text in figure.legends[0].get_texts()}


def dots_in(axes):
    return {line.get_label(): list(line.get_xdata()) for line in axes.get_lines()}


def test_models_have_their_labels_baselines_are_ticks_and_a_mock_is_drawn_only_alone():
    real = [*by_prompt("one", {"p": 0.5}), *by_prompt("two", {"p": 0.5})]
    mock, words = [*by_prompt("mock", {"p": 0.5})], [*by_prompt("words", {"none": 0.8})]
    figures = prompt_figures(rates(*real, *mock, *words), MEMBERS, "pmi")
    assert set(figures) == {"best_by_construction"}
    for figure in figures.values():
        labels = labels_of(figure)
        assert {"one, pmi", "two (random weights), pmi", "best baseline", "best constant answer"} <= labels
        assert not any(name in label for label in labels for name in ("mock", "words"))
        (tick,) = [lines for lines in figure.axes[0].collections if lines.get_label() == "best baseline"]
        assert {point[0] for segment in tick.get_segments() for point in segment} == {0.8}
        (chance,) = [lines for lines in figure.axes[0].collections if lines.get_label() == "best constant answer"]
        assert {point[0] for segment in chance.get_segments() for point in segment} == {0.35}
    alone = prompt_figures(rates(*mock, *words), MEMBERS, "pmi")["best_by_construction"]
    assert "mock (asked)" in labels_of(alone)


def test_figures_by_construction_have_the_best_prompt_and_setting_and_those_by_test_the_two_that_differ_most():
    shown = [*by_prompt("one", {"p": 0.25, "q": 0.5})]
    shown += by_prompt("one", {"p": 0.75, "q": 0.5}, setting="3.False.templatic")
    shown += by_prompt("one", {"p": 0.2, "q": 0.3, "r": 0.4}, "reasoning")
    for prompt, value in {"p": 0.1, "q": 0.5, "r": 0.9}.items():
        shown += [("one", ALL, "reasoning", "test_by_prompt", f"{prompt}.False.True.base", 0.6)]
        shown += [("one", ALL, "reasoning", "test_by_prompt", f"{prompt}.False.False.short", value)]
    shown += [("one", ALL, "reasoning", "test", "False.True.base", 0.6)]
    figures = prompt_figures(rates(*shown), MEMBERS, "pmi")
    assert dots_in(figures["best_by_construction"].axes[0])["one, pmi"] == [0.75]
    tests = figures["tests_by_prompt"]
    assert [axes.get_title() for axes in tests.axes] == ["p", "r"]
    assert [tick.get_text() for tick in tests.axes[0].get_yticklabels()] == ["base", "short (C)"]
    assert [dots_in(axes)["one, pmi"] for axes in tests.axes] == [[0.6, 0.1], [0.6, 0.9]]
