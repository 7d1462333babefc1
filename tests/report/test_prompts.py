import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.report import (
    accuracy_beside_published,
    load_published_prompts,
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
        {"model": model, "asked": "reply", "label": model, "accuracy": 0.5, "low": 0.4, "high": 0.6, "n": 20}
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


def test_two_sets_of_ours_under_one_published_name_are_told_apart(names, tables):
    published = published_inference(names, tables["inference"])
    ours = run_table(*((name, 0, "none", False) for name in ("templatic", "cxnli", "challenge")))
    figure = accuracy_beside_published(with_published_names(names, ours), published, "title")
    left, right = ({line.get_label(): len(line.get_xdata()) for line in axes.get_lines()} for axes in figure.axes)
    assert {label for label, dots in left.items() if dots and "(" not in label} == {
        "one, templatic", "one, cxnli", "two, templatic", "two, cxnli", "chance"
    }  # fmt: skip
    assert {label for label, dots in right.items() if dots and "(" not in label} == {"one", "two", "chance"}
    assert all(dots <= 1 for label, dots in left.items() if label != "chance")


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


def test_a_file_of_published_numbers_without_its_source_is_refused(tmp_path):
    text = (ROOT / "published" / "prompts.yaml").read_text().replace("source:", "sauce:")
    (tmp_path / "prompts.yaml").write_text(text)
    with pytest.raises(DataError, match=r"prompts\.yaml: source: missing"):
        load_published_prompts(tmp_path / "prompts.yaml")
