"""The table beside published accuracies, and the figures."""

from collections import defaultdict

import pandas as pd

from conftest import ROOT
from cxprobe.models.params import Llm, Member, ModelSpec, Rule
from cxprobe.results.rates import ALL, columns_of
from cxprobe.tasks.prompts.evaluate import FACETS, prompts_beside_published
from cxprobe.tasks.prompts.task import prompt_figures

MEMBERS = [
    Member("one", ModelSpec(name="m", revision=None, sha256=None, dtype="float32"), "one"),
    Member("two", ModelSpec(name="m", revision=None, sha256=None, dtype="float32", weights="random", seed=1), "two"),
    Member("words", Rule(kind="negation"), "rules"),
]
LLAMA = Member("llama", Llm.model_construct(name="hf/meta-llama/Meta-Llama-3-8B-Instruct"), "llama")
GPT = Member("gpt", Llm.model_construct(name="openai/gpt-4o-2024-05-13"), "gpt")
EXAMPLES = "CxNLI_distinction_train.tsv+data/CxNLI/CxNLI_1_example_train.csv"


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


def beside_published(*rows) -> pd.DataFrame:
    return prompts_beside_published(rates(*rows), [*MEMBERS, LLAMA, GPT], lambda path: ROOT / path)


def test_each_published_accuracy_has_a_row_with_that_of_the_same_model_in_the_same_setting():
    published = pd.read_csv(ROOT / "published" / "scivetti2025_accuracy.tsv", sep="\t")
    ours = [
        ("llama", ALL, "cxnli", NO_SHOTS, 0.5),  # Tables 21 and 22
        ("llama", ALL, "cxnli", with_shots("1", EXAMPLES), 0.6),
        ("llama", "way-manner", "cxreasoning", NO_SHOTS, 0.4),
        ("llama", ALL, "cxnli", with_shots("3", "CxNLI_3_examples_train.csv") | {"prompt": "paper-2"}, 0.3),  # of GPTs
        ("one", ALL, "cxnli", NO_SHOTS, 0.9),  # not a published model
    ]
    table = beside_published(*ours)
    assert len(table) == len(published)
    assert table["accuracy"].astype(float).tolist() == (100 * published["accuracy"]).round(1).tolist()
    ran = table[table["this_run"] != ""]
    assert ran[["source", "construction", "examples", "accuracy", "items", "this_run"]].to_numpy().tolist() == [
        ["Scivetti et al. 2025, Table 21", ALL, "none", "59.0", "cxnli", "50.0 (40.0 to 60.0)"],
        ["Scivetti et al. 2025, Table 22", ALL, "none", "59.0", "cxnli", "50.0 (40.0 to 60.0)"],
        ["Scivetti et al. 2025, Table 22", ALL, "CxNLI+CxNLI-challenge", "66.0", "cxnli", "60.0 (50.0 to 70.0)"],
        ["Scivetti et al. 2025, Table 24", "way-manner", "none", "45.0", "cxreasoning", "40.0 (30.0 to 50.0)"],
    ]
    assert set(ran["n"]) == {"20"}


def test_a_published_prompt_stands_beside_the_one_of_ours_with_its_contents():
    setting = with_shots("3", "data/benchmarks/cxnli/CxNLI/CxNLI_3_examples_train.csv")
    prompts = [("gpt", ALL, "cxnli", setting | {"prompt": f"paper-{n}"}, n / 10) for n in range(1, 5)]
    table = beside_published(*prompts, ("gpt", ALL, "cxnli", setting, 0.25))
    ran = table[table["this_run"] != ""]
    assert [(row.source[-1], row.prompt, row.accuracy, row.this_run[:4]) for row in ran.itertuples()] == [
        ("2", "best", "96.0", "25.0"),
        ("9", "variation-1", "95.0", "10.0"),
        ("9", "variation-2", "92.0", "20.0"),
        ("9", "variation-3", "94.0", "30.0"),
        ("9", "variation-4", "93.0", "40.0"),
    ]


def labels_of(figure):
    return {text.get_text() for text in figure.legends[0].get_texts()}


def dots_in(axes):
    found = defaultdict(list)
    for line in axes.get_lines():
        found[line.get_label()] += list(line.get_xdata())
    return found


def test_models_have_their_labels_and_baselines_are_bands():
    real, words = [*by_prompt("one", {"p": 0.5}), *by_prompt("two", {"p": 0.5})], [*by_prompt("words", {"none": 0.8})]
    figures = prompt_figures(rates(*real, *words), MEMBERS, "pmi")
    assert set(figures) == {"best_by_construction"}
    figure = figures["best_by_construction"]
    labels = labels_of(figure)
    assert {"one, pmi", "two (random weights), pmi", "best baseline, 95 % interval", "chance"} <= labels
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
    figures = prompt_figures(rates(*shown), MEMBERS, "pmi")
    assert dots_in(figures["best_by_construction"].axes[0])["one, pmi"] == [0.75]
    tests = figures["tests_by_prompt"]
    assert [axes.get_title(loc="left") for axes in tests.axes] == ["p", "r"]
    assert [tick.get_text() for tick in tests.axes[0].get_yticklabels()] == ["base", "short (C)"]
    assert [dots_in(axes)["one, pmi"] for axes in tests.axes] == [[0.6, 0.1], [0.6, 0.9]]
