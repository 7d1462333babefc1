"""The published accuracies, and the figures."""

from collections import defaultdict

import pandas as pd
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.cli.init import preset_text
from cxprobe.models.params import Member, ModelSpec, Rule
from cxprobe.results.published import read_published
from cxprobe.results.rates import ALL, columns_of
from cxprobe.tasks.prompts.evaluate import FACETS, PUBLISHED
from cxprobe.tasks.prompts.task import prompt_figures

MEMBERS = [
    Member("one", ModelSpec(name="m", revision=None, sha256=None, dtype="float32"), "one"),
    Member("two", ModelSpec(name="m", revision=None, sha256=None, dtype="float32", weights="random", seed=1), "two"),
    Member("words", Rule(kind="negation"), "rules"),
]


def with_shots(shots: str, examples: str) -> dict[str, str]:
    return {"shots": shots, "chain_of_thought": "False", "examples": examples}


NO_SHOTS = with_shots("0", "none")


def rates(*rows) -> pd.DataFrame:
    """Return accuracies: model, construction, source, values of columns of facets, and value."""
    table = pd.DataFrame(rows, columns=["model", "construction", "source", "facets", "value"])
    undivided = dict.fromkeys(columns_of(FACETS), "")
    facets = pd.DataFrame([undivided | divided for divided in table.pop("facets")])
    low, high = table["value"] - 0.1, table["value"] + 0.1
    return table.join(facets).assign(measure="accuracy", low=low, high=high, n=20, chance=0.35)


def by_prompt(model: str, prompts: dict[str, float], source: str = "templatic", setting=NO_SHOTS):
    """Yield the accuracies of a model by prompt, on a construction and all."""
    for construction in ("x", ALL):
        yield (model, construction, source, setting, sum(prompts.values()) / len(prompts))
        for prompt, value in prompts.items():
            yield (model, construction, source, setting | {"prompt": prompt}, value)


def test_published_accuracies_have_the_names_of_the_preset():
    published = read_published(ROOT / PUBLISHED)
    preset = YAML(typ="safe").load(preset_text("scivetti2025", ROOT / "presets"))["prompts"]
    sources = {"+".join(shots["sources"]) or "none" for shots in preset["make"]["shots"]}
    assert {*published["model"]} == {*preset["llms"]}
    assert {*published["examples"]} == sources
    assert {*published["source"]} - {*preset["make"]["files"]} == {"free-form", "reasoning-subset"}


def dots_in(axes):
    found = defaultdict(list)
    for line in axes.get_lines():
        found[line.get_label()] += list(line.get_xdata())
    return found


def test_models_have_their_labels_and_baselines_are_bands():
    real, words = [*by_prompt("one", {"p": 0.5}), *by_prompt("two", {"p": 0.5})], [*by_prompt("words", {"none": 0.8})]
    figures = prompt_figures(rates(*real, *words), MEMBERS)
    assert set(figures) == {"best_by_construction"}
    figure = figures["best_by_construction"]
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {"one", "two (random weights)", "best baseline, 95 % interval", "chance"} <= labels
    assert not any("words" in label for label in labels)
    (band,) = figure.axes[0].patches[-1:]
    assert band.get_x() <= 0.8 <= band.get_x() + band.get_width()
    assert 0.35 in {x for lines in figure.axes[0].collections for (x, _), _ in lines.get_segments()}  # chance


def test_figures_by_construction_have_the_best_prompt_and_setting_and_those_by_test_the_two_that_differ_most():
    shown = [*by_prompt("one", {"p": 0.25, "q": 0.5})]
    shown += by_prompt("one", {"p": 0.75, "q": 0.5}, setting=with_shots("3", "templatic"))
    shown += by_prompt("one", {"p": 0.2, "q": 0.3, "r": 0.4}, "reasoning")
    base = {"chain_of_thought": "False", "answerable": "True", "test": "base"}
    for prompt, value in {"p": 0.1, "q": 0.5, "r": 0.9}.items():
        by_prompt_and_test = base | {"prompt": prompt}
        shown += [("one", ALL, "reasoning", by_prompt_and_test, 0.6)]
        shown += [("one", ALL, "reasoning", by_prompt_and_test | {"answerable": "False", "test": "short"}, value)]
    shown += [("one", ALL, "reasoning", base, 0.6)]
    figures = prompt_figures(rates(*shown), MEMBERS)
    assert dots_in(figures["best_by_construction"].axes[0])["one"] == [0.75]
    tests = figures["tests_by_prompt"]
    assert [axes.get_title(loc="left") for axes in tests.axes] == ["p", "r"]
    assert [tick.get_text() for tick in tests.axes[0].get_yticklabels()] == ["base", "short (C)"]
    assert [dots_in(axes)["one"] for axes in tests.axes] == [[0.6, 0.1], [0.6, 0.9]]
