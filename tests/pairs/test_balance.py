import numpy as np
import pandas as pd
import pytest
from judged_pairs import as_run, crossed, metrics_of

from cxprobe.pairs.balance import telling_words, unbalanced_cells, with_balance
from cxprobe.pairs.judge import JudgedPairs, pair_tables

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
    items = with_balance(pairs(cells)).assign(scheme="pll", score="sum")
    items["accuracy"] = np.where(items["balanced"], rng.choice([0.0, 1.0], len(items)), 1.0)
    items["margin"] = items["accuracy"] - 0.5
    return JudgedPairs(items, items.drop(columns=["good", "bad"]))


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


def test_accuracies_of_several_cells_leave_unbalanced_ones_out_and_a_table_names_them():
    own = judged()
    tables = pair_tables(as_run(own))
    balanced = own.items[own.items["balanced"]]
    assert tables["constructions"]["construction"].tolist() == ["let-alone", "half"]
    assert tables["constructions"].set_index("construction")["n"].to_dict() == {"let-alone": 8, "half": 8}
    assert tables["scores"]["n"].sum() == tables["noun_types"]["n"].sum() == len(balanced) == 16
    assert tables["variants"]["n"].sum() == tables["cells"]["n"].sum() == len(own.items)
    assert metrics_of(own)["accuracy"] == balanced["accuracy"].mean()
    named = tables["unbalanced"]
    assert named[["construction", "variant", "right", "wrong", "accuracy", "n"]].to_numpy().tolist() == [
        ["conative", "A", "unclear", "clear", 1.0, 4],
        ["conative", "B", "unclear", "clear", 1.0, 4],
        ["half", "A", "unclear", "clear", 1.0, 8],
    ]
    assert named["reason"].tolist() == unbalanced_cells(own.items)["reason"].tolist()
