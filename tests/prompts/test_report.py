from itertools import product

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from cxprobe.lm.params import Member, ModelSpec, Rule
from cxprobe.prompts.judge import prompt_accuracy
from cxprobe.prompts.report import (
    BEST,
    MEAN,
    ONLY,
    best_and_mean,
    prompt_cards,
    prompt_figures,
    read_published_results,
    settings_beside_published,
    tables_of_figures,
    with_published_names,
)

SETTING = ["set", "shots", "examples", "chain_of_thought"]
PUBLISHED = read_published_results(ROOT / "published" / "prompts.yaml", lambda path: ROOT / path)
MEMBERS = [
    Member("one", ModelSpec(name="m", revision=None, sha256=None, dtype="float32"), "one"),
    Member("two", ModelSpec(name="m", revision=None, sha256=None, dtype="float32", weights="random", seed=1), "two"),
    Member("words", Rule(kind="negation"), "panel"),
]


def run_table(*settings):
    """Return rates of two models in settings, with the columns of tables of judged answers."""
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
    """Return rates over all prompts and by model and prompt; {model: {prompt: accuracy}}."""
    rows = [(model, "reply", prompt, rate) for model, rates in accuracies.items() for prompt, rate in rates.items()]
    by_prompt = pd.DataFrame(rows, columns=["model", "asked", "prompt", "accuracy"])
    return by_prompt.groupby(["model", "asked"], as_index=False)["accuracy"].mean(), by_prompt


@given(
    st.dictionaries(
        st.sampled_from(["one", "two", "three"]),
        st.dictionaries(st.sampled_from("pqrs"), st.integers(0, 20).map(lambda right: right / 20), min_size=1),
        min_size=1,
    )
)
def test_the_best_prompt_is_never_below_the_mean_and_every_model_has_both(accuracies):
    rows = best_and_mean(*prompt_rates(accuracies), ["model", "asked"])
    for model, rates in accuracies.items():
        of_model = rows[rows["model"] == model].set_index("over_prompts")
        found = of_model["accuracy"].to_dict()
        best = BEST if len(rates) > 1 else ONLY
        assert found[best] == max(rates.values())
        assert of_model.loc[best, "prompt"] == max(rates, key=lambda prompt: rates[prompt])  # of several, the first
        assert set(found) == ({BEST, MEAN} if len(rates) > 1 else {ONLY})
        assert found.get(MEAN, 0.0) <= max(rates.values()) + 1e-9


def test_figures_by_construction_have_the_best_prompt_and_setting_and_those_by_test_every_prompt():
    right = {("p", 0): 0.25, ("q", 0): 0.5, ("p", 3): 0.75, ("q", 3): 0.5}  # prompt and shots -> accuracy
    rows = [
        ("inference", "own", construction, prompt, shots, n < 4 * rate + (construction == "x"), "")
        for (prompt, shots), rate in right.items()
        for construction in "xy"
        for n in range(4)
    ]
    rows += [("reasoning", of, "x", prompt, 0, prompt == "p", "base") for of, prompt in product("ab", "pq")][:3]
    judged = pd.DataFrame(rows, columns=["kind", "set", "construction", "prompt", "shots", "right", "test"])
    judged = judged.assign(model="m", asked="reply", examples="none", chain_of_thought=False, answerable=True)
    judged = judged.assign(gold="A", answer="A", order="", outcome="right", credit=judged["right"].astype(float))
    judged = judged.assign(template="", cluster_premise=[f"i{n}" for n in judged.index], cluster_wording="")
    blind = judged[:1].assign(model="words", asked="rule", prompt="none", credit=1.0)
    by_prompt = prompt_accuracy(judged, ["model", "asked", *SETTING, "prompt"])
    tables = tables_of_figures(pd.concat([judged, blind]), by_prompt)
    best = tables["best_by_construction"][["prompt", "shots", "construction", "accuracy"]]
    assert best.to_numpy().tolist() == [["p", 3, "x", 1.0], ["p", 3, "y", 0.75]]
    tests = tables["tests_by_prompt"]
    assert tests[["set", "prompt", "accuracy"]].to_numpy().tolist() == [["a", "p", 1.0], ["a", "q", 0.0]]


def figures_of(table, tests=None):
    """Draw judged answers of all models as if all tables were the same."""
    names = ("accuracy_by_construction", "accuracy_by_setting", "accuracy_by_prompt", "best_by_construction")
    tests = table.iloc[:0].assign(test="", answerable=True) if tests is None else tests
    tables = dict.fromkeys(names, table) | {"accuracy_by_test": tests, "tests_by_prompt": tests}
    return prompt_figures(tables, PUBLISHED, "pmi", MEMBERS, ["mock"])


def labels_of(figure):
    return {text.get_text() for text in figure.legends[0].get_texts()}


def test_models_have_their_labels_blind_ones_are_ticks_and_a_mock_is_drawn_only_alone():
    real = run_table(("templatic", 0, "none", False)).assign(asked="pmi", construction="x")
    mock = real[:1].assign(model="mock", asked="reply")
    words = real[:1].assign(model="words", asked="rule", accuracy=0.8, prompt="none")
    figures = figures_of(pd.concat([real, mock, words], ignore_index=True))
    assert set(figures) == {"best_by_construction", "inference_beside_published"}
    for figure in figures.values():
        labels = labels_of(figure)
        assert {"one, pmi", "two (random weights), pmi", "best blind", "best constant answer"} <= labels
        assert not any(name in label for label in labels for name in ("mock", "words"))
        (tick,) = [lines for lines in figure.axes[0].collections if lines.get_label() == "best blind"]
        assert {point[0] for segment in tick.get_segments() for point in segment} == {0.8}
        (chance,) = [lines for lines in figure.axes[0].collections if lines.get_label() == "best constant answer"]
        assert {point[0] for segment in chance.get_segments() for point in segment} == {0.35}
    assert "mock" in labels_of(figures_of(pd.concat([mock, words], ignore_index=True))["best_by_construction"])


def test_published_rates_are_drawn_in_the_settings_that_ran_and_two_sets_under_one_name_are_told_apart():
    table = run_table(*((name, 0, "none", False) for name in ("templatic", "cxnli", "challenge")))
    figure = figures_of(table.assign(construction="x"))["inference_beside_published"]
    left, right = ({line.get_label(): list(line.get_xdata()) for line in axes.get_lines()} for axes in figure.axes)
    assert [axes.get_title() for axes in figure.axes] == ["CxNLI", "CxNLI challenge"]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["0 shots"]
    assert left["gpt-4o-2024-05-13 (published)"] == [0.88]
    assert {label for label, rates in left.items() if rates == [0.5]} >= {"one, templatic", "one, cxnli"}
    assert right["one"] == [0.5]


def test_the_cards_of_prompts_have_a_chance_for_each_data_set_and_count_templates_and_tests():
    rows = [("inference", "templatic", "t", "", f"It was {gold}.", "", gold) for gold in "012"]
    rows += [("reasoning", "reasoning", "", test, "", "Ann ran.", "C") for test in ("base", "short")]
    items = pd.DataFrame(rows, columns=["kind", "set", "template", "test", "hypothesis", "text", "gold"])
    items = items.assign(construction="x", question="Who ran?")
    rates = pd.DataFrame({"construction": "x", "set": ["templatic", "reasoning"], "chance": [1 / 3, 0.5]})
    rates = rates.assign(model="words", accuracy=[0.6, 0.55], low=0.5, high=0.7, n=9)
    cards, figures = prompt_cards(items, rates, 0.6, MEMBERS)
    assert cards["cards"].set_index("dataset")["solved"].to_dict() == {"x, templatic": True, "x, reasoning": False}
    assert cards["cards"]["limit"].tolist() == pytest.approx([1 / 3 + 0.2 * 2 / 3, 0.6])
    templates = cards["card_templates"].set_index(["dataset", "label", "template"])["n"]
    assert templates["x, templatic", "0", "t"] == templates["x, reasoning", "C", "short"] == 1
    words = cards["card_words"].set_index(["dataset", "label", "word"])["count"]
    assert (words["x, templatic", "0", "0"], words["x, templatic", "1", "0"]) == (1, 0)
    assert list(figures) == ["cards"]
