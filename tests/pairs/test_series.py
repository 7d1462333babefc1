"""Series of models: several in one figure, and their biases."""

import numpy as np
import pandas as pd
from judged_pairs import crossed

from cxprobe.lm.params import Series
from cxprobe.pairs.figures import side_by_side
from cxprobe.pairs.report import ALL, ALL_OF_FORM, biases_along_series, pairs_in_groups, rates_by_source, with_series

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


def sources():
    own = judged()
    of_others = own[own["model"].isin(["l1", "l2", "words"])].assign(group="all")
    return own, {"own": pairs_in_groups(own, "group", ALL, ALL_OF_FORM), "blimp": of_others}


def test_pairs_are_in_a_group_of_all_and_in_that_of_their_construction():
    own = judged()
    found = pairs_in_groups(own, "group", ALL, ALL_OF_FORM).groupby("group", sort=False)["accuracy"].mean()
    counted = own[own["balanced"] & (own["words"] == "real")]
    by_tests, by_construction = (counted.groupby(column)["accuracy"].mean() for column in ("tests", "construction"))
    assert found.to_dict() == {
        "all pairs of meaning": by_tests["meaning"],
        "all pairs of form": by_tests["form"],
        **{name: by_construction[name] for name in ("let-alone", "conative", "npi")},
    }


def test_every_model_of_a_series_stands_with_its_quantity_and_a_series_of_one_that_ran_is_left_out():
    own, judged_sources = sources()
    along = with_series(rates_by_source(judged_sources), SERIES)
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


def test_series_of_one_quantity_share_a_figure_with_a_panel_for_each_group():
    rates = rates_by_source(sources()[1])
    along = with_series(rates, SERIES)
    best = rates[rates["model"] == "words"]
    figures = side_by_side(along, "title", best)
    assert list(figures) == ["by_training_tokens", "by_parameters"]
    axes = {one.get_title().partition("\n")[0]: one for one in figures["by_training_tokens"].axes}
    assert list(axes) == ["all pairs of meaning", "all pairs of form", "let alone", "conative", "npi", "blimp: all"]
    for title, one in axes.items():
        drawn = {line.get_label(): line for line in one.lines if not str(line.get_label()).startswith("_")}
        source, group = ("blimp", "all") if title == "blimp: all" else ("own", title.replace("let alone", "let-alone"))
        place = (along["source"] == source) & (along["group"] == group) & (along["axis"] == "training_tokens")
        for name in ("small", "large"):
            own = along[place & (along["series"] == name)].sort_values("quantity")
            if len(own):
                assert drawn[name].get_ydata().tolist() == own["accuracy"].tolist(), title
                assert drawn[name].get_xdata().tolist() == own["quantity"].tolist()
        heights = best.loc[(best["source"] == source) & (best["group"] == group), "accuracy"].tolist()
        assert [drawn["best blind"].get_ydata()[0]] == heights
    [legend] = figures["by_training_tokens"].legends
    assert {text.get_text() for text in legend.get_texts()} == {"small", "large", "chance", "best blind"}


def biases(compares, **columns):
    rows = [(model, kind) for model in MODELS for kind in ("name", "noun")]
    table = pd.DataFrame(rows, columns=["model", "noun_type"]).assign(compares=compares, **columns)
    places = np.arange(len(table)) / 100
    shares = {"bias": places, "low": places - 0.1, "high": places + 0.1, "changed": 1 - places}
    return table.assign(**shares, changed_low=0.5 - places, changed_high=1.0, n=range(len(table)))


def test_biases_along_a_series_are_those_of_its_models_by_noun_type():
    of_all = pd.concat([biases("order"), biases("variant")], ignore_index=True)
    along = biases_along_series(of_all, of_all.assign(construction="toy"), SERIES)
    assert set(along["series"]) == {"small", "large", "sizes"}
    assert len(along) == 3 * 2 * 3 * 2 * 2  # series, models, biases, noun types; of all and of one construction
    expected = of_all.set_index(["compares", "model", "noun_type"])
    columns = {"bias (i)": ("order", "bias", "low", "high"), "bias (ii)": ("variant", "bias", "low", "high")}
    columns["changed"] = ("order", "changed", "changed_low", "changed_high")
    for row in along.itertuples():
        way, *names = columns[row.bias]
        own = expected.loc[(way, row.model, row.noun_type)]
        assert [row.value, row.low, row.high, row.n] == own[[*names, "n"]].tolist()
        assert row.quantity == SERIES[row.series].models[row.model]
