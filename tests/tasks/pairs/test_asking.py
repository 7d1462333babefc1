"""Questions that show both texts of a minimal pair."""

from itertools import product
from types import SimpleNamespace

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.tasks.pairs.ask import draw_pairs, drawn_pairs, load_preference_prompts, preference_questions

FILE = """\
prompts: {own: "Which is likelier?"}
item: "A. {a} / B. {b}"
direct: One letter.
"""
PAIRS = pd.DataFrame(
    [("x", "It is", " so.", " not."), ("y", "", "She {sings}.", "She sing."), ("z", "", "The same.", "The same.")],
    columns=["id", "context", "good", "bad"],
)


def test_each_text_of_a_pair_is_shown_first_once_and_the_letter_of_the_right_one_is_known(tmp_path):
    (tmp_path / "preferences.yaml").write_text(FILE)
    asked = preference_questions(PAIRS, "own", load_preference_prompts(tmp_path))
    assert asked[["pair", "gold", "question"]].to_numpy().tolist() == [
        ["x", "A", "Which is likelier?\n\nA. It is so. / B. It is not.\n\nOne letter."],
        ["x", "B", "Which is likelier?\n\nA. It is not. / B. It is so.\n\nOne letter."],
        ["y", "A", "Which is likelier?\n\nA. She {sings}. / B. She sing.\n\nOne letter."],
        ["y", "B", "Which is likelier?\n\nA. She sing. / B. She {sings}.\n\nOne letter."],
    ]
    assert asked["id"].is_unique
    for row in asked.itertuples():
        shown = {"A": row.option_a, "B": row.option_b}
        assert shown[row.gold] in {"It is so.", "She {sings}."}


COLUMNS = ["group", "item", "way"]


def items(groups: int, number: int, ways: int) -> pd.DataFrame:
    """Return so many items of each group, with their ways of asking far apart in the table."""
    rows = product(range(ways), range(groups), range(number))
    return pd.DataFrame([(f"g{group}", f"g{group}-{item}", way) for way, group, item in rows], columns=COLUMNS)


@given(st.integers(1, 3), st.integers(1, 6), st.integers(1, 4), st.integers(1, 30), st.integers(0, 5))
def test_so_many_pairs_of_each_group_are_drawn_item_by_item_and_fewer_are_a_part_of_more(
    groups, number, ways, most, seed
):
    table = items(groups, number, ways)
    drawn = draw_pairs(table, ["group"], most, seed)
    places = table.reset_index().merge(drawn, on=COLUMNS)["index"]
    assert places.is_monotonic_increasing  # in the order of the table
    assert drawn.groupby("group").size().tolist() == [min(most, number * ways)] * groups
    whole = drawn.groupby("item").size()
    assert (whole < ways).groupby(whole.index.str.partition("-").get_level_values(0)).sum().le(1).all()
    fewer = draw_pairs(table, ["group"], max(1, most - 1), seed)
    assert set(fewer.itertuples(index=False, name=None)) <= set(drawn.itertuples(index=False, name=None))


def test_another_seed_draws_other_items_and_no_number_draws_all():
    table = items(1, 50, 2)
    one, other = (set(draw_pairs(table, ["group"], 10, seed)["item"]) for seed in (1, 2))
    assert one != other
    pd.testing.assert_frame_equal(draw_pairs(table, ["group"], None, 1), table)


def test_pairs_of_two_equal_texts_are_drawn_by_no_seed():
    section = SimpleNamespace(ask=SimpleNamespace(pairs_per_construction=1))
    texts = {"good": ["Same.", "Right."], "bad": ["Same.", "Wrong."], "item": ["equal", "other"]}
    made = {"benchmark": pd.DataFrame(texts).assign(construction="toy")}
    drawn = [drawn_pairs(section, made, seed)["benchmark"]["item"].tolist() for seed in range(8)]
    assert drawn == [["other"]] * 8
