import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.lm.params import Member, ModelSpec, Rule
from cxprobe.prompts.figures import prompt_accuracy_figure
from cxprobe.prompts.report import (
    BEST,
    MEAN,
    ONLY,
    PublishedResults,
    accuracy_beside_published,
    best_and_mean,
    best_prompts,
    load_published_prompts,
    prompt_cards,
    prompt_figures,
    published_by_prompt,
    published_inference,
    published_reasoning,
    published_spread,
    settings_beside_published,
    settings_figures,
    with_published_names,
)

SETTING = ["set", "shots", "examples", "chain_of_thought"]


@pytest.fixture(scope="module")
def names():
    return load_published_prompts(ROOT / "published" / "prompts.yaml")


@pytest.fixture(scope="module")
def tables(names):
    return {name: pd.read_csv(ROOT / getattr(names, name), sep="\t") for name in ("inference", "reasoning", "prompts")}


def run_table(*settings):
    rows = [
        {
            "model": model,
            "asked": "reply",
            "label": model,
            "accuracy": 0.5,
            "low": 0.4,
            "high": 0.6,
            "n": 20,
            "chance": 0.35,
            "prompt": "short",
            "over_prompts": "only prompt",
        }
        | dict(zip(SETTING, setting, strict=True))
        for setting in settings
        for model in ("one", "two")
    ]
    return pd.DataFrame(rows)


def test_every_published_number_is_there_once(names, tables):
    published = published_inference(names, tables["inference"])
    twice = published[published.duplicated([*SETTING, "model"], keep=False)]
    assert sorted(twice["accuracy"]) == [0.6, 0.62]  # Tables 16 and 17 have this number both, and differ in it
    own = published.set_index([*SETTING, "model"])["accuracy"]
    assert own["CxNLI", 3, "CxNLI", False, "gpt-4o-2024-05-13"] == 0.96
    assert own["CxNLI", 1, "CxNLI+CxNLI-challenge", True, "gpt-3.5-turbo-0125"] == 0.6
    assert set(published["set"]) == {"CxNLI", "CxNLI-challenge", "CxNLI-freeform"}
    reasoning = published_reasoning(names, tables["reasoning"])
    assert len(reasoning) == len(tables["reasoning"])
    assert set(reasoning.loc[reasoning["construction"] == "all", "source"]) == {
        "Scivetti et al. 2025, Table 5",
        "Scivetti et al. 2025, Table 19",
    }
    spread = published_spread(names, tables["prompts"]).set_index(["set", "model"])
    row = spread.loc["CxNLI", "gpt-3.5-turbo-0125"]
    assert (row["prompts"], row["lowest"], row["highest"]) == (7, 0.67, 0.79)


def test_our_sets_and_sources_get_their_names_and_files_go_by_their_stem(names):
    ours = run_table(
        ("templatic", 1, "challenge+templatic", False),
        ("cxnli", 3, "data/cxnli/CxNLI/SNLI_3_examples_train.csv", False),
        ("mine", 0, "none", False),
    )
    theirs = with_published_names(names, ours).drop_duplicates(["set", "items"])
    assert theirs["set"].tolist() == ["CxNLI", "CxNLI", "mine"]
    assert theirs["items"].tolist() == ["templatic", "cxnli", "mine"]
    assert theirs["examples"].tolist() == ["CxNLI+CxNLI-challenge", "SNLI", "none"]


def test_what_ran_stands_above_what_is_published_in_the_same_setting(names, tables):
    published = published_inference(names, tables["inference"])
    ours = with_published_names(names, run_table(("challenge", 0, "none", False), ("mine", 0, "none", False)))
    table = settings_beside_published(ours, published, SETTING)
    assert len(table) == len(ours) + len(published)
    first = table[table["set"] == "CxNLI-challenge"].iloc[:4]
    assert first["model"].tolist()[:3] == ["one", "two", "gpt-3.5-turbo-0125"]
    assert first["accuracy"].tolist()[1:3] == ["50.0 (40.0 to 60.0)", "26.0"]
    assert first["n"].tolist()[1:3] == ["20", ""]
    assert first["items"].tolist()[1:3] == ["challenge", "the paper's"]
    assert first["source"].tolist()[1:3] == ["this run", "Scivetti et al. 2025, Table 4"]
    assert (table["set"].iloc[0], table[table["set"] == "mine"]["model"].tolist()) == (
        "CxNLI-challenge",
        ["one", "two"],
    )
    assert not table.isna().any(axis=None)


def test_the_figure_shows_the_settings_that_ran_and_no_others(names, tables):
    published = published_inference(names, tables["inference"])
    ours = with_published_names(names, run_table(("templatic", 0, "none", False), ("challenge", 0, "none", False)))
    figure = accuracy_beside_published(ours, published, "title")
    left, right = figure.axes
    assert [axes.get_title() for axes in (left, right)] == ["CxNLI", "CxNLI challenge"]
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["0 shots"]
    shown = {line.get_label(): list(line.get_xdata()) for line in left.get_lines()}
    assert shown["one"] == [0.5]
    assert shown["gpt-4o-2024-05-13 (published)"] == [0.88]
    assert len(figure.legends[0].get_texts()) == 2 + 5 + 1
    (chance,) = [own for own in left.collections if own.get_label() == "best constant answer"]
    assert {point[0] for segment in chance.get_segments() for point in segment} == {0.35}


def test_two_sets_of_ours_under_one_published_name_are_told_apart(names, tables):
    published = published_inference(names, tables["inference"])
    ours = run_table(*((name, 0, "none", False) for name in ("templatic", "cxnli", "challenge")))
    figure = accuracy_beside_published(with_published_names(names, ours), published, "title")
    left, right = ({line.get_label(): len(line.get_xdata()) for line in axes.get_lines()} for axes in figure.axes)
    assert {label for label, dots in left.items() if dots and "(" not in label} == {
        "one, templatic", "one, cxnli", "two, templatic", "two, cxnli"
    }  # fmt: skip
    assert {label for label, dots in right.items() if dots and "(" not in label} == {"one", "two"}
    assert all(dots <= 1 for dots in left.values())


def prompt_rates(accuracies):
    """Return rates by model and prompt, and those over all prompts; {model: {prompt: accuracy}}."""
    rows = [
        {"model": model, "asked": "reply", "prompt": prompt, "accuracy": accuracy}
        for model, own in accuracies.items()
        for prompt, accuracy in own.items()
    ]
    by_prompt = pd.DataFrame(rows)
    return by_prompt.groupby(["model", "asked"], as_index=False)["accuracy"].mean(), by_prompt


def test_the_best_prompt_is_the_most_accurate_of_each_model_and_of_several_the_first():
    pooled, by_prompt = prompt_rates({"one": {"p": 0.2, "q": 0.6, "r": 0.6}, "two": {"p": 0.5}})
    best = best_prompts(by_prompt, ["model"])
    assert best[["model", "prompt"]].to_numpy().tolist() == [["one", "q"], ["two", "p"]]
    rows = best_and_mean(pooled, by_prompt, ["model", "asked"])
    assert rows[["model", "over_prompts", "prompt"]].to_numpy().tolist() == [
        ["one", BEST, "q"],
        ["two", ONLY, "p"],
        ["one", MEAN, "all 3"],
    ]
    assert rows["accuracy"].tolist() == pytest.approx([0.6, 0.5, 1.4 / 3])


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["one", "two", "three"]),
        st.dictionaries(st.sampled_from("pqrs"), st.integers(0, 20).map(lambda right: right / 20), min_size=1),
        min_size=1,
    )
)
def test_the_best_prompt_is_never_below_the_mean_and_every_model_has_both(accuracies):
    pooled, by_prompt = prompt_rates(accuracies)
    rows = best_and_mean(pooled, by_prompt, ["model", "asked"])
    for model, own in accuracies.items():
        found = rows[rows["model"] == model].set_index("over_prompts")["accuracy"].to_dict()
        assert found[BEST if len(own) > 1 else ONLY] == max(own.values())
        assert set(found) == ({BEST, MEAN} if len(own) > 1 else {ONLY})
        assert found.get(MEAN, 0.0) <= max(own.values()) + 1e-9


def test_where_a_part_decides_its_prompt_is_that_of_all_parts():
    _, by_prompt = prompt_rates({"one": {"p": 0.2, "q": 0.6}})
    parts = [by_prompt.assign(construction="x"), by_prompt.assign(construction="all", accuracy=[0.9, 0.3])]
    every = pd.concat(parts, ignore_index=True)
    rows = best_and_mean(
        every.drop_duplicates("construction"), every, ["model"], deciding=every[every["construction"] == "all"]
    )
    best = rows[rows["over_prompts"] == BEST].set_index("construction")
    assert best["prompt"].to_dict() == {"x": "p", "all": "p"}
    assert best["accuracy"].to_dict() == {"x": 0.2, "all": 0.9}
    assert set(rows.loc[rows["over_prompts"] == MEAN, "construction"]) == {"x", "all"}


def test_without_any_answer_there_is_no_best_prompt():
    pooled, by_prompt = prompt_rates({"one": {"p": 0.2, "q": 0.6}})
    rows = best_and_mean(pooled.iloc[:0], by_prompt.iloc[:0], ["model", "asked"])
    assert rows.empty
    assert {"over_prompts", "prompt"} <= set(rows)


def test_published_rates_are_of_the_best_prompt_but_for_those_by_prompt(names, tables):
    inference, reasoning = (
        published_inference(names, tables["inference"]),
        published_reasoning(names, tables["reasoning"]),
    )
    assert set(inference["over_prompts"]) == set(reasoning["over_prompts"]) == {BEST}
    each = published_by_prompt(names, tables["prompts"])
    assert len(each) == len(tables["prompts"])
    assert set(each["over_prompts"]) == {"one prompt"}
    highest = each.groupby(["set", "model"])["accuracy"].max()
    own = inference[(inference["shots"] == 3) & (inference["examples"] == "CxNLI") & ~inference["chain_of_thought"]]
    both = own.merge(highest.rename("highest").reset_index(), on=["set", "model"])
    assert len(both) == 4
    assert (both["accuracy"] == both["highest"]).all()  # the best of each model, by the paper's own numbers


def test_rates_over_prompts_stand_below_the_published_ones_of_their_setting(names, tables):
    ours = with_published_names(names, run_table(("challenge", 0, "none", False)))
    both = pd.concat([ours.assign(over_prompts=MEAN), ours.assign(over_prompts=BEST)], ignore_index=True)
    table = settings_beside_published(both, published_inference(names, tables["inference"]), SETTING)
    first = table[(table["set"] == "CxNLI-challenge") & (table["shots"] == 0)].query("~chain_of_thought")
    assert first["over_prompts"].tolist() == [BEST] * (2 + len(first) - 4) + [MEAN] * 2
    assert first["source"].tolist() == ["this run"] * 2 + first["source"].tolist()[2:-2] + ["this run"] * 2


def test_a_figure_for_each_setting_and_reasoning_only_if_there_is_any():
    settings = [("templatic", 0, "none", False), ("reasoning", 0, "none", False), ("templatic", 3, "a/b.csv", True)]
    by_construction = pd.concat([run_table(*settings).assign(construction=name) for name in ("x", "y")])
    empty = pd.DataFrame(columns=["label"])
    figures = settings_figures(by_construction, empty, empty)
    assert list(figures) == ["constructions_0_shots", "constructions_3_shots_of_b_reasoned"]
    assert [axes.get_title() for axes in figures["constructions_0_shots"].axes] == ["templatic", "reasoning"]
    tests = run_table(settings[1]).assign(construction="x", test="short", prompt="plain", answerable=False)
    figures = settings_figures(by_construction, tests, tests)
    assert [tick.get_text() for tick in figures["reasoning_tests"].axes[0].get_yticklabels()] == ["short (C)"]
    assert [axes.get_title() for axes in figures["reasoning_prompts"].axes] == ["C: nothing follows"]


def test_the_figure_of_a_run_has_a_row_for_each_set_setting_and_prompt_and_the_best_constant_answer_in_it():
    table = run_table(("templatic", 0, "none", False), ("challenge", 1, "a/b.csv", True)).iloc[::2]
    (axes,) = prompt_accuracy_figure(table, "title").axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["templatic, 0 shots, short (20)", "challenge, 1 shot of b, reasoned, short (20)"]
    marks = [segment for own in axes.collections for segment in own.get_segments() if segment[0][0] == segment[1][0]]
    assert [segment[0][0] for segment in marks] == [0.35, 0.35]


def test_a_file_of_published_numbers_without_its_source_is_refused(tmp_path):
    text = (ROOT / "published" / "prompts.yaml").read_text().replace("source:", "sauce:")
    (tmp_path / "prompts.yaml").write_text(text)
    with pytest.raises(DataError, match=r"prompts\.yaml: source: missing"):
        load_published_prompts(tmp_path / "prompts.yaml")


def test_models_have_their_labels_blind_ones_are_ticks_and_a_mock_is_drawn_only_alone(names, tables):
    spec = ModelSpec(name="m", revision=None, sha256=None, dtype="float32")
    twin = ModelSpec(**spec.model_dump() | {"weights": "random", "seed": 1})
    members = [Member("one", spec, "one"), Member("two", twin, "two"), Member("words", Rule(kind="negation"), "panel")]
    published = PublishedResults(names, *(tables[name] for name in ("inference", "reasoning", "prompts")))
    real = run_table(("templatic", 0, "none", False)).assign(asked="pmi")
    others = [real[:1].assign(model="mock", asked="reply"), real[:1].assign(model="words", asked="rule", accuracy=0.8)]
    every = pd.concat([real, *others], ignore_index=True).assign(construction="x")
    empty = every.iloc[:0].assign(test="", answerable=True, prompt="")
    judged = dict.fromkeys(("accuracy_by_construction", "accuracy_by_setting", "accuracy_by_prompt"), every)
    judged |= {"accuracy_by_test": empty, "accuracy_answerable": empty}
    best = {name: table[table["model"] == "words"] for name, table in judged.items()}
    figures = prompt_figures(judged, published, "pmi", members, best, ["mock"])
    assert set(figures) == {"constructions_0_shots", "inference_beside_published"}
    for figure in figures.values():
        shown = [text.get_text() for text in figure.legends[0].get_texts()]
        assert {"one, pmi", "two (random weights), pmi", "best blind", "best constant answer"} <= set(shown)
        assert not any(name in label for label in shown for name in ("mock", "words"))
        (tick,) = [own for own in figure.axes[0].collections if own.get_label() == "best blind"]
        assert {point[0] for segment in tick.get_segments() for point in segment} == {0.8}
    alone = {name: table[table["model"].isin(["mock", "words"])] for name, table in judged.items()}
    figure = prompt_figures(alone, published, "pmi", members, best, ["mock"])["constructions_0_shots"]
    assert "mock" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_cards_of_prompts_have_a_chance_for_each_data_set_and_count_templates_and_tests():
    members = [Member("words", Rule(kind="negation"), "panel")]
    inference = {"kind": "inference", "set": "templatic", "test": "", "text": "", "question": "", "construction": "x"}
    story = inference | {"kind": "reasoning", "set": "reasoning", "hypothesis": "", "template": "", "text": "Ann ran."}
    items = pd.DataFrame(
        [inference | {"template": "t", "gold": gold, "hypothesis": f"It was {gold}."} for gold in ("0", "1", "2")]
        + [story | {"test": test, "gold": "C", "question": "Who ran?"} for test in ("base", "short")]
    )
    rates = pd.DataFrame({"construction": "x", "set": ["templatic", "reasoning"], "chance": [1 / 3, 0.5]})
    rates = rates.assign(model="words", accuracy=[0.6, 0.55], low=0.5, high=0.7, n=9)
    cards, figures = prompt_cards(items, rates, 0.6, members)
    assert cards["cards"].set_index("dataset")["solved"].to_dict() == {"x, templatic": True, "x, reasoning": False}
    assert cards["cards"]["limit"].tolist() == pytest.approx([1 / 3 + 0.2 * 2 / 3, 0.6])
    templates = cards["card_templates"].set_index(["dataset", "label", "template"])["n"]
    assert templates["x, templatic", "0", "t"] == templates["x, reasoning", "C", "short"] == 1
    words = cards["card_words"].set_index(["dataset", "label", "word"])["count"]
    assert (words["x, templatic", "0", "0"], words["x, templatic", "1", "0"]) == (1, 0)
    assert list(figures) == ["cards"]
    assert prompt_cards(items, rates.iloc[:0], 0.6, members)[1] == {}
