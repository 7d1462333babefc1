"""What baselines answer: to made-up items, and to those that the project has, of which `make repro` asks a part."""

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.models.params import Classifier, Rule, TagNgrams
from cxprobe.tasks.prompts.items import (
    ConstructionItems,
    ReasoningFrame,
    load_items,
    render_inferences,
    render_reasonings,
)
from cxprobe.tasks.prompts.make import item_table
from cxprobe.tasks.prompts.measure import baseline_answers

VERBS = ("sang", "ran", "slept", "swam", "fell", "wept", "rode", "dug")
NAMES = ("Ann", "Bob", "Cora", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon")


def inferences(template) -> pd.DataFrame:
    """Return three hypotheses for each premise; ``template`` gives gold and hypothesis of a name and a number."""
    rows = []
    for number, name in enumerate(NAMES):
        premise = f"{name} {VERBS[number % len(VERBS)]} in the garden."
        for place in range(3):
            gold, hypothesis, key = template(name, number, place)
            rows.append((f"{name}-{place}", premise, hypothesis, gold, f"p{number}", key))
    columns = ["id", "premise", "hypothesis", "gold", "cluster_premise", "cluster_wording"]
    table = pd.DataFrame(rows, columns=columns).assign(kind="inference", set="own", text="", a="", b="", facts="")
    return table.assign(template=table["cluster_wording"])


def telling(name, number, place):
    """Give a hypothesis whose own words tell the answer."""
    return str(place), f"{name} {('surely', 'perhaps', 'never')[place]} moved.", f"t{place}"


def silent(name, number, place):
    """Give hypotheses that tell nothing: the same three for each premise, with answers in every order."""
    return str((place + number) % 3), f"it was {('red', 'blue', 'green')[place]}.", f"t{place}"


def negated(name, number, place):
    """Give negated hypotheses that are all contradictions."""
    return ("0", "2", "2")[place], f"{name} {('moved', 'did not move', 'never moved')[place]}.", "t"


def copied(name, number, place):
    """Give hypotheses that repeat all words of the premise, some, or none."""
    verb = VERBS[number % len(VERBS)]
    return str(place), (f"{name} {verb}.", f"{name} {verb} at dawn with cats.", "Zoe had tea.")[place], "t"


def named(name, number, place):
    """Give hypotheses of which the premise's name tells the answer."""
    return str(number % 3), f"{name} {place}.", "t"


def stories(*rows) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["id", "text", "a", "b", "gold", "cluster_premise"])
    table = table.assign(kind="reasoning", set="reasoning", premise="", hypothesis="", template="", facts="")
    return table.assign(cluster_wording=table["id"])


def accuracy(spec, items: pd.DataFrame) -> float:
    """Return the share of items whose right answer is the most probable; k answers that are tied share it."""
    found = probabilities(spec, items).loc[items["id"]]
    best = found.eq(found.max(axis=1), axis=0).to_numpy()
    is_gold = items["gold"].to_numpy()[:, None] == found.columns.to_numpy()
    return float((best & is_gold).sum(axis=1).dot(1 / best.sum(axis=1)) / len(items))


def probabilities(spec, items: pd.DataFrame) -> pd.DataFrame:
    answers = baseline_answers(spec, items, seed=1)
    table = answers.pivot(index="id", columns="symbol", values="log_p")
    np.testing.assert_allclose(np.exp(table).sum(axis=1), 1, atol=1e-9)
    return table


def classifier(kind: str, by: str = "premise") -> Classifier:
    return Classifier(kind=kind, folds_by=by, folds=5)


@pytest.mark.parametrize(
    ("spec", "template", "low", "high"),
    [
        (classifier("hypothesis_only"), telling, 1, 1),
        (classifier("hypothesis_only"), silent, 0, 0.5),
        (classifier("premise_only"), telling, 0.333, 0.334),
        (classifier("hypothesis_only", "template"), telling, 0, 0.4),  # the words that tell are held back
        (classifier("premise_only"), named, 0, 0.6),  # nothing is learnt from the item's own premise
        (Rule(kind="negation"), negated, 1, 1),
        (Rule(kind="negation"), silent, 0.23, 0.44),
        (Rule(kind="word_overlap"), copied, 1, 1),
        (Rule(kind="word_overlap"), silent, 0, 0.5),
    ],
)
def test_a_baseline_model_is_right_as_far_as_what_it_may_read_tells_the_answer(spec, template, low, high):
    assert low <= accuracy(spec, inferences(template)) <= high


def graded(name, number, place):
    """Give hypotheses whose words are their own, and of which the second word's form tells the answer."""
    stem = f"{'bcdfgklmnp'[number]}{'aou'[place]}{'st'[number % 2]}"
    return str(place), f"{name} {stem}{('er', 'ly', 'um')[place]} {stem}.", f"t{number}{place}"


@pytest.mark.parametrize("half", ["hypothesis", "premise"])
def test_where_tags_alone_decide_a_classifier_on_tags_is_right_and_one_on_words_is_not(toy_tagger, half):
    tags = TagNgrams(kind="tag_ngrams", lengths=[1, 3], tagger=str(toy_tagger), sha256=None)
    items = inferences(graded)
    items = items.assign(**{half: items["hypothesis"]}, **{"premise": "It rains."} if half == "hypothesis" else {})
    by_words = classifier(f"{half}_only")
    assert accuracy(by_words.model_copy(update={"counts": tags}), items) == 1
    assert accuracy(by_words, items) <= 0.4


def test_the_most_frequent_answer_is_that_of_the_other_premises_and_ties_are_shared():
    mostly = inferences(lambda name, number, place: ("2" if place else "0", f"{name}.", "t"))
    assert accuracy(Rule(kind="most_frequent"), mostly) == pytest.approx(2 / 3)
    assert accuracy(Rule(kind="most_frequent"), inferences(telling)) == pytest.approx(1 / 3)
    items = stories(*((f"s{n}", "Ann ran.", "Ann", "Bob", "CAB"[max(0, n - 7)], f"f{n}") for n in range(10)))
    assert accuracy(Rule(kind="most_frequent"), items) == pytest.approx(0.8)


def test_referents_are_chosen_by_the_place_where_they_are_named():
    items = stories(
        ("x", "The rule holds. Bob's dog is older than Ann's.", "Ann", "Bob", "A", "f"),
        ("y", "Ann and Bob ran, and Ann fell.", "Ann", "Bob", "A", "g"),
        ("none", "Somebody ran, said Annabel.", "Ann", "Bob", "C", "h"),
        ("one", "Bob ran.", "Ann", "Bob", "B", "i"),
    )
    first, last = (probabilities(Rule(kind=kind), items).idxmax(axis=1) for kind in ("first_referent", "last_referent"))
    assert first[["x", "y", "one"]].tolist() == ["B", "A", "B"]
    assert last[["x", "y", "one"]].tolist() == ["A", "A", "B"]
    unnamed = probabilities(Rule(kind="first_referent"), items).loc["none"]
    assert unnamed["A"] == unnamed["B"] > unnamed["C"]
    unmentioned = probabilities(Rule(kind="unmentioned_referent"), items)
    assert unmentioned.loc[["none", "one"]].idxmax(axis=1).tolist() == ["C", "A"]
    both = unmentioned.loc["x"]
    assert both["A"] == both["B"] > both["C"]


def rate_of_facts_alone(items: ConstructionItems) -> float:
    """Return how often the facts without the construction tell which of the two options is right."""
    table = item_table(render_reasonings(items, "way", seed=1), set())
    chosen = probabilities(Rule(kind="facts_only"), table)[["A", "B"]].idxmax(axis=1)
    asked = table[table["answerable"]].set_index("id")["gold"]
    return float((chosen[asked.index] == asked).mean())


def test_the_facts_alone_tell_who_moved_where_the_other_is_said_to_stay_and_only_there():
    frames = [
        ReasoningFrame(
            referents=[{"she": f"{name}a"}, {"he": f"{other}o"}, {"she": "Wen"}, {"he": "Yaw"}],
            rule=f"{{R1}} {verb} {{R1:their}} way to gate {number}, and {{R2}} {verb} without leaving {number} seats.",
            beside=f"{{R2}} {verb} without leaving {number} seats.",
            facts=f"at {number} o'clock, {{R1}} and {{R2}} were both at the door.",
            question="of {R1} and {R2}, who was further from the door?",
            other_facts=f"{{R1}} and {{R2}} had {number} hats.",
            nonce_facts=f"{{R1}} and {{R2}} blicked {number} times.",
        )
        for number, (name, other, verb) in enumerate(zip(NAMES, reversed(NAMES), (*VERBS, *VERBS[:2]), strict=True))
    ]
    assert rate_of_facts_alone(ConstructionItems(sources=["made up"], reasoning=frames)) > 0.9
    assert rate_of_facts_alone(load_items("way-manner", ROOT / "constructions")) < 0.55


def test_a_model_that_reads_facts_answers_no_item_whose_facts_are_unknown():
    items = stories(*((f"s{n}", "Ann ran.", "Ann", "Bob", "AB"[n % 2], f"f{n}") for n in range(10)))
    assert baseline_answers(Rule(kind="facts_only"), items, seed=1).empty
    half = items.assign(facts=["Ann ran." if n < 8 else "" for n in range(10)])
    assert set(baseline_answers(Rule(kind="facts_only"), half, seed=1)["id"]) == {f"s{n}" for n in range(8)}


def test_a_model_answers_only_what_it_is_for_and_what_it_can_learn():
    both = pd.concat([inferences(telling), stories(("s", "Ann ran.", "Ann", "Bob", "A", "f"))], ignore_index=True)
    assert set(baseline_answers(Rule(kind="negation"), both, seed=1)["id"]) == set(inferences(telling)["id"])
    assert set(baseline_answers(Rule(kind="first_referent"), both, seed=1)["id"]) == {"s"}
    assert "s" not in set(baseline_answers(Rule(kind="most_frequent"), both, seed=1)["id"])  # nothing to learn from
    unknown = inferences(telling).assign(template="", cluster_wording=lambda table: table["id"])
    assert baseline_answers(classifier("hypothesis_only", "template"), unknown, seed=1).empty
    assert list(baseline_answers(Rule(kind="negation"), both.iloc[:0], seed=1).columns) == ["id", "symbol", "log_p"]


@pytest.fixture(scope="module")
def own_items() -> pd.DataFrame:
    """All items that the project has."""
    own = []
    for path in sorted((ROOT / "constructions").glob("*/items.yaml")):
        name, items = path.parent.name, load_items(path.parent.name, ROOT / "constructions")
        own += [*render_inferences(items, name), *render_reasonings(items, name, seed=1)]
    return item_table(own, set())


HALVES = [classifier("hypothesis_only"), classifier("premise_only"), Rule(kind="negation"), Rule(kind="word_overlap")]


@pytest.mark.pipeline
@pytest.mark.parametrize("spec", HALVES, ids=lambda spec: spec.kind)
def test_half_of_an_inference_does_not_tell_its_gold_label(own_items, spec):
    templatic = own_items[own_items["set"] == "templatic"].reset_index(drop=True)
    chosen = probabilities(spec, templatic).idxmax(axis=1)
    right = chosen[templatic["id"]].to_numpy() == templatic["gold"].to_numpy()
    rates = pd.Series(right).groupby(templatic["construction"]).agg(["mean", "size"])
    assert (rates["size"] >= 180).all()
    assert (rates["mean"] <= 0.45).all(), rates


@pytest.mark.pipeline
def test_no_option_of_the_reasoning_items_stands_out_because_the_text_does_not_name_it(own_items):
    chosen = probabilities(Rule(kind="unmentioned_referent"), own_items)
    assert np.allclose(chosen["A"], chosen["B"])  # both are named in every text
    assert (chosen["C"] < chosen["A"]).all()
