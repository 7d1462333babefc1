"""What pages say of rates of prompts, the figures, and rules for the items."""

from collections import defaultdict
from types import SimpleNamespace

import pandas as pd
import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.cli.init import preset_text
from cxprobe.constructions.checking import with_lines
from cxprobe.models.params import Member, ModelSpec, Rule
from cxprobe.results.published import PUBLISHED, read_published
from cxprobe.results.rates import ALL, columns_of
from cxprobe.results.task import findings_of
from cxprobe.tasks.prompts.evaluate import FACETS
from cxprobe.tasks.prompts.items import load_items
from cxprobe.tasks.prompts.task import PromptsTask, lint_items, prompt_figures

ROW = {"construction": "toy", "source": "templatic", "measure": "accuracy", "model": "clm", "verdict": "does_not"}
ROW |= {"task": "prompts", "question": "meaning"}
ROW |= dict.fromkeys(columns_of(FACETS), "") | {"shots": "0", "chain_of_thought": "False", "examples": "none"}
ROW |= {"decides": True, "value": 0.3, "low": 0.2, "high": 0.4, "n": 30}
ROW |= {"chance": 1 / 3, "baseline": "rule", "difference": -0.1, "diff_low": -0.2, "diff_high": 0.1}
ROW |= {"p_adjusted": float("nan")}
TOY = SimpleNamespace(items={}, construction=SimpleNamespace(placebo=False))
ROW |= {"control": 0.5, "control_low": 0.4, "control_high": 0.6, "control_n": 20}


def of_prompts(*rows):
    """Return the findings of rates, each `ROW` with changes."""
    table = pd.DataFrame([ROW | row for row in rows])
    return findings_of({"prompts": table}, {"prompts": PromptsTask()}, {"toy": TOY})


def test_a_rate_stands_beside_its_control_and_says_how_it_was_asked():
    asked = {"model": "chat", "source": "reasoning", "shots": "3", "chain_of_thought": "True", "examples": "a.b"}
    asked |= {"decides": False, "question": "words"}
    clm, chat = of_prompts({}, asked, asked | {"measure": "unparsed", "verdict": ""})
    assert (clm.way, clm.question) == ("inference, 0 shots", "meaning")
    assert (chat.way, chat.question) == ("multiple choice, 3 shots, reasoned", "words")
    assert (clm.headline, chat.headline) == (True, False)
    assert (clm.control.value, clm.control.n) == (0.5, 20)
    assert clm.verdict.words == "not above chance, and passes the control"


def test_a_baseline_is_asked_in_one_setting_and_stands_beside_all_and_rates_by_no_setting_are_on_no_page():
    of_rule = {"model": "rule", "verdict": "", "value": 0.6}  # at 0 shots
    undivided = {"shots": "", "chain_of_thought": "", "examples": ""}
    by_test = undivided | {"chain_of_thought": "False", "answerable": "True", "test": "base"}
    asked = {"shots": "1", "examples": "templatic"}
    [finding] = of_prompts(asked, of_rule, undivided, by_test, asked | {"prompt": "p"})
    assert (finding.baseline.name, finding.baseline.rate.value) == ("rule", 0.6)


# The published accuracies, and the figures

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
    published = read_published(ROOT / PUBLISHED / "prompts.tsv")
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


# Rules for inferences and reasoning items, each on a planted fault and on clean data

PEOPLE = [
    "baker", "clerk", "dentist", "editor", "farmer", "guide", "harpist", "judge", "knight", "lawyer", "miner", "poet",
]  # fmt: skip
INFERENCE = """\
inference:
  slots: {SBJ: who, OBJ: what}
  hypotheses:
    moved: "{OBJ} moved."
    stayed: "{SBJ} left {OBJ} where {OBJ:they} {OBJ:was}."
  readings:
    asserted: {moved: entailment, stayed: contradiction}
    denied: {moved: contradiction, stayed: entailment}
    open: {moved: neutral, stayed: neutral}
  premises:
""" + "".join(
    f'    - {{text: "{{SBJ}} {verb} {{OBJ}} away.", reading: {reading}, '
    f"slots: {{SBJ: {{she: the {person}}}, OBJ: {{it: a box of {person} hats}}}}}}\n"
    for person, (reading, verb) in zip(
        PEOPLE, [("asserted", "bundled"), ("denied", "did not carry"), ("open", "may have bundled")] * 4, strict=True
    )
) + """\
  challenge:
    - {text: "{SBJ} bundled {OBJ} well.", slots: {SBJ: {he: the owl}, OBJ: {it: an egg}}, gold: {moved: neutral}}
"""  # fmt: skip
FIRST_PREMISE = 12
CHALLENGE = 25
NAMES = ["Ada", "Bo", "Cai", "Dov", "Eli", "Fay", "Gil", "Hal", "Ike", "Jan"]
REASONING = "reasoning:\n" + "".join(
    f"""\
  - referents: [{{she: {name}}}, {{he: the man called {name}y}}, {{it: dog number {number}}}, {{they: the {name}sons}}]
    rule: "in {name}ton, the older you are, the calmer you are."
    swapped: "in {name}ton, the older you are, the wilder you are."
    facts: "{first} and {second} live in {name}ton, and {{R1}} is older than {{R2}}."
    question: "of {{R1}} and {{R2}} in {name}ton, who is calmer?"
    other_facts: "{first} and {second} live in {name}ton, and {{R1}} is taller than {{R2}}."
    nonce_facts: "{first} and {second} live in {name}ton, and {{R1}} blicks with {{R2}}."
"""
    for number, name in enumerate(NAMES)
    for first, second in [("{R1}", "{R2}") if number % 2 else ("{R2}", "{R1}")]
)


def lint(folder, text):
    """Return the faults that rules find in items that can be loaded, without their file."""
    (folder / "x").mkdir()
    path = folder / "x" / "items.yaml"
    path.write_text("sources: [made for the tests]\n" + text)
    return [line.removeprefix(f"{path}, ") for line in with_lines(path, lint_items(load_items("x", folder)))]


@pytest.mark.parametrize("text", [INFERENCE, REASONING, INFERENCE + REASONING])
def test_clean_items_have_no_fault(tmp_path, text):
    assert lint(tmp_path, text) == []


DENIED = ("{moved: contradiction, stayed: entailment}", "{moved: entailment, stayed: entailment}")
TWICE = [f"the {person}}}, OBJ: {{it: a box of {person} hats" for person in ("editor", "baker")]
# The items, what is changed in them, the line of the fault, and a part of what is said.
FAULTS = [
    (INFERENCE, *DENIED, 5, "8 of 12 (67%)"),
    (INFERENCE, '"{SBJ} left {OBJ} where {OBJ:they} {OBJ:was}."', '"{OBJ} moved!"', FIRST_PREMISE, "moved!"),
    (INFERENCE, *TWICE, FIRST_PREMISE + 3, "premises[0]"),
    (INFERENCE, "a box of baker hats", "an box of baker hats", FIRST_PREMISE, "'an box'"),
    (INFERENCE, "{SBJ} bundled {OBJ} well", "{OBJ} moved", CHALLENGE, "'An egg moved.'"),
    (REASONING, "is taller than {R2}", "is older than {R2}", 8, "says the same as facts"),
    (REASONING, "the wilder you are", "the calmer you are", 5, "says the same as rule"),
    (REASONING, "{R1} is older than {R2}", "{R1} is older than most, but not {R3}", 6, "names R1, R2, R3"),
    (REASONING, "of {R1} and {R2} in Adaton, who", "in Adaton, who", 7, "names nobody"),
    (REASONING, "he: the man called Aday", "he: the man called Ada", 3, "'ada' is also in 'the man called ada'"),
    (REASONING, "{R1} is older than {R2}", "{R1} is older than {R2}, so Ada is old", 6, "has 'ada' in words"),
]


@pytest.mark.parametrize(("text", "old", "new", "line", "message"), FAULTS)
def test_a_planted_fault_is_told_with_its_line(tmp_path, text, old, new, line, message):
    assert old in text
    faults = lint(tmp_path, text.replace(old, new, 1))
    assert [fault for fault in faults if fault.startswith(f"line {line}: ") and message in fault], faults


@pytest.mark.parametrize(("beside", "told"), [("you are.", []), ("you are not.", ["beside: 'you are not.'"] * 2)])
def test_what_stands_beside_the_construction_is_a_part_of_the_rule(tmp_path, beside, told):
    faults = lint(tmp_path, REASONING.replace('    facts: "', f'    beside: "{beside}"\n    facts: "', 1))
    assert [fault.partition(": ")[2][: len("beside: 'you are not.'")] for fault in faults] == told


def test_facts_that_mostly_name_the_same_referent_first_are_told(tmp_path):
    turned = REASONING.replace('facts: "{R2} and {R1}', 'facts: "{R1} and {R2}')
    (fault,) = lint(tmp_path, turned)
    assert fault.startswith("line 2: R1 is named first by the facts of 10 of 10 (100%), and at most 60% are allowed")
