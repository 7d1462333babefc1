import numpy as np
import pandas as pd
import pytest
from evaluated_pairs import crossed, rates_of_pairs, responses_of

from cxprobe.tasks.pairs.sources import telling_words, unbalanced_cells, with_balance

CONATIVE = [("It is unclear.", "It is clear.")]
NAMES = [("It is Ann.", "It is Bob."), ("It is Bob.", "It is Ann.")]


def pairs(cells):
    """Return four pairs of each text: {(construction, variant): texts}."""
    parts = []
    for (construction, variant), texts in cells.items():
        own = crossed(construction=[construction], variant=[variant], number=range(len(texts)), copy=range(4))
        own["item"] = construction + "-" + own["number"].astype(str) + "-" + own["copy"].astype(str)
        own[["good", "bad"]] = [texts[number] for number in own.pop("number")]
        parts.append(own.assign(id=own["item"] + "-" + variant, cluster_frame=own.pop("copy").astype(str)))
    return pd.concat(parts, ignore_index=True)


MIXED = {
    ("conative", "A"): CONATIVE,
    ("conative", "B"): CONATIVE,
    ("let-alone", "A"): NAMES,
    ("half", "A"): CONATIVE * 2,
    ("half", "B"): NAMES,
}


def judged(cells=MIXED, seed=0):
    rng = np.random.default_rng(seed)
    items = with_balance(pairs(cells)).assign(scheme="pll", score="sum", deciding=True)
    items["accuracy"] = np.where(items["balanced"], rng.choice([0.0, 1.0], len(items)), 1.0)
    return items.assign(margin=items["accuracy"] - 0.5)


def test_a_cell_in_which_one_answer_is_always_right_is_named_with_the_reason():
    found = unbalanced_cells(pairs(MIXED))
    assert found.to_numpy().tolist() == [
        [name, "real", variant, "unclear", "clear", n, f"'unclear' is right and 'clear' is wrong in all {n} pairs"]
        for name, variant, n in (("conative", "A", 4), ("conative", "B", 4), ("half", "A", 8))
    ]


def test_answers_that_are_exchanged_in_the_other_variant_are_balanced():
    exchanged = [(bad, good) for good, bad in CONATIVE]
    assert unbalanced_cells(pairs({("x", "A"): CONATIVE, ("x", "B"): exchanged})).empty
    # Two against one: "unclear" is right twice as often as it is wrong.
    two = unbalanced_cells(pairs({("x", "A"): CONATIVE, ("x", "B"): exchanged, ("x", "C"): CONATIVE}))
    assert two["variant"].tolist() == ["A", "B", "C"]
    # Another construction makes up for nothing.
    assert len(unbalanced_cells(pairs({("x", "A"): CONATIVE, ("y", "A"): exchanged}))) == 2


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("It is unclear.", "It is clear.", ("unclear", "clear")),
        ("No poet who the cook met.", "The poet who no cook met.", ("no", "the")),
        ("She did.", "She did so.", ("", "so")),
        ("The same.", "The same.", ("", "")),
    ],
)
def test_what_tells_two_texts_apart_is_the_first_word_in_which_they_differ(good, bad, words):
    assert telling_words(good, bad) == words


def test_accuracies_of_several_cells_leave_unbalanced_ones_out_and_those_of_variants_do_not():
    own = judged()
    responses = responses_of({"m": own})
    balanced = own[own["balanced"]]
    of_all = rates_of_pairs(responses).xs(("real", "accuracy"), level=["source", "measure"]).droplevel("model")
    assert of_all["n"].to_dict() == {"all": 16, "half": 8, "let-alone": 8}
    assert of_all.loc["all", "value"] == balanced["accuracy"].mean()
    assert of_all["decides"].all()
    variants = rates_of_pairs(responses, "variant").xs("accuracy", level="measure").droplevel("model").drop(index="all")
    assert variants["n"].sum() == len(own)
    assert variants.xs("real", level="source").loc[("conative", "A"), "value"] == 1.0
