import numpy as np
import pandas as pd
from judged_pairs import crossed

from cxprobe.lm.params import Series
from cxprobe.pairs.report import (
    ALL_PAIRS,
    MEANING,
    accuracies_of_meaning,
    pairs_in_groups,
    rates_of_groups,
    with_series,
)

SERIES = {
    "small": Series(axis="training_tokens", models={"s2": 2e6, "s1": 1e3}),
    "large": Series(axis="training_tokens", models={"l1": 1e3, "l2": 5e6}),
    "sizes": Series(axis="parameters", models={"s2": 1e6, "l2": 1e9}),
    "absent": Series(axis="parameters", models={"s2": 1e6, "other": 1e9}),
}
MODELS = ("s1", "s2", "l1", "l2", "words")


def judged(**columns):
    """Return judged pairs of meaning and of form, some of them in cells that are not balanced."""
    rng = np.random.default_rng(0)
    axes = {"words": ["real", "pseudo"], "balanced": [True, False], "model": MODELS, "cluster_frame": list("abcde")}
    table = crossed(construction=["let-alone", "conative", "npi"], **axes)
    table["tests"] = table["construction"].map(lambda name: "form" if name == "npi" else "meaning")
    return table.assign(accuracy=rng.choice([0.0, 0.5, 1.0], size=len(table)), **columns)


def test_accuracies_of_meaning_leave_out_form_pseudowords_unbalanced_cells_and_what_was_added_to_the_design():
    items = pd.concat([judged(), judged(origin="own").assign(accuracy=1.0)], ignore_index=True)
    found = accuracies_of_meaning(items).set_index(["construction", "model"])["accuracy"]
    assert found.index.get_level_values(0).unique().tolist() == [MEANING, "let-alone", "conative"]
    own = items[
        items["balanced"] & (items["words"] == "real") & (items["origin"] == "paper") & (items["model"] == "l1")
    ]
    assert found[MEANING, "l1"] == own.loc[own["tests"] == "meaning", "accuracy"].mean()
    assert found["conative", "l1"] == own.loc[own["construction"] == "conative", "accuracy"].mean()


def sources():
    own = judged()
    of_others = own[own["model"].isin(["l1", "l2", "words"])].assign(group="all")
    return own, {"own": pairs_in_groups(own, "group", ALL_PAIRS), "blimp": of_others}


def test_pairs_are_in_a_group_of_all_and_in_that_of_their_construction():
    own = judged()
    found = pairs_in_groups(own, "group", ALL_PAIRS).groupby("group", sort=False)["accuracy"].mean()
    counted = own[own["balanced"] & (own["words"] == "real")]
    by_tests, by_construction = (counted.groupby(column)["accuracy"].mean() for column in ("tests", "construction"))
    assert found.to_dict() == {
        "all pairs of meaning": by_tests["meaning"],
        "all pairs of form": by_tests["form"],
        **{name: by_construction[name] for name in ("let-alone", "conative", "npi")},
    }


def test_every_model_of_a_series_stands_with_its_quantity_and_a_series_of_one_that_ran_is_left_out():
    own, judged_sources = sources()
    along = with_series(rates_of_groups(judged_sources), SERIES)
    assert set(along["series"]) == {"small", "large", "sizes"}
    for row in along.itertuples():
        assert row.quantity == SERIES[row.series].models[row.model]
        assert row.axis == SERIES[row.series].axis
    places = along.groupby("series", sort=False)["source"].agg(lambda names: list(dict.fromkeys(names))).to_dict()
    assert places == {"small": ["own"], "large": ["own", "blimp"], "sizes": ["own", "blimp"]}
    counted = own[own["balanced"] & (own["words"] == "real") & (own["construction"] == "npi") & (own["model"] == "l2")]
    found = along[(along["group"] == "npi") & (along["model"] == "l2")]
    assert found["accuracy"].tolist() == [counted["accuracy"].mean()] * 2  # in two series
    assert found["n"].tolist() == [5, 5]
