import numpy as np
import pandas as pd
import pytest
from judged_pairs import crossed

from cxprobe.lm.params import Member, ModelSpec, Rule, Series, UnigramModel
from cxprobe.pairs.figures import benchmark_figures, pair_figures, series_figures
from cxprobe.pairs.report import (
    ALL_PAIRS,
    MEANING,
    SOURCE,
    accuracies_of_meaning,
    biases_along_series,
    pair_cards,
    pairs_beside_published,
    pairs_in_groups,
    rates_of_groups,
    with_both_orders,
    with_series,
)

SPEC = {"name": "models/x", "revision": None, "sha256": None, "dtype": "float32"}
MEMBERS = [
    Member("a", ModelSpec(**SPEC), "a"),
    Member("b", ModelSpec(**SPEC, weights="random", seed=1), "b"),
    Member("words", UnigramModel(kind="unigrams", language="en"), "blind"),
    Member("short", Rule(kind="shorter"), "blind"),
]


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


def rates(**columns):
    return pd.DataFrame(
        [{"model": model, "construction": "let-alone", "tests": "meaning", "words": "real"} for model in ("a", "b")]
    ).assign(accuracy=0.5, low=0.4, high=0.6, n=40, **columns)


LIDS = "Lifting the … is harder than the …"
SIDES = (("construction", 0.0), ("rival", 1.0))


def figures_of(left=("a", "b", "words"), earlier=(), people=False, members=None, **changed):
    """Return the figures of those models that are left in the tables; the blind one is right in 90 %."""
    models = pd.DataFrame({"model": left})
    orders = rates().drop(columns="accuracy").head(0)
    biases = rates(noun_type="name", compares="variant", bias=0.1, changed=0.2, changed_low=0.1, changed_high=0.3)
    tables = {
        "constructions": rates(),
        "variants": rates(variant="A"),
        "sentences": rates(variant="A", sentence="construction"),
        "noun_types": rates(noun_type="name"),
        "biases": biases,
        "both": orders.assign(both=0.0),
        "margins": orders.assign(margin=0.0, effect="meaning"),
    } | changed
    for name, table in tables.items():
        tables[name] = table.drop(columns="model").drop_duplicates().merge(models, how="cross")
        if "accuracy" in table:
            tables[name].loc[tables[name]["model"] == "words", "accuracy"] = 0.9
    tables["card"] = pd.DataFrame()
    tables["card_questions"] = pd.DataFrame(
        [("let-alone", "A", "The one who sang is …")], columns=["construction", "variant", "question"]
    )
    people = pd.DataFrame({"construction": ["let-alone"], "accuracy": [0.95]}) if people else pd.DataFrame()
    return pair_figures(tables, "per_token", members or MEMBERS, earlier, people)


def test_the_figures_are_those_of_which_there_are_pairs():
    assert list(figures_of()) == ["meaning_by_variant", "meaning_by_noun_type", "blind_by_construction", "bias_variant"]
    both = pd.concat([rates(), rates(words="pseudo"), rates(construction="npi", tests="form")], ignore_index=True)
    sentences = pd.concat([rates(variant="A", sentence=kind) for kind in ("construction", "rival")])
    orders = rates(noun_type="name", compares="order", bias=0.1, changed=0.2, changed_low=0.1, changed_high=0.3)
    assert list(figures_of(constructions=both, sentences=sentences, biases=orders)) == [
        "meaning_by_variant",
        "meaning_by_sentence",
        "meaning_by_noun_type",
        "form",
        "pseudowords",
        "blind_by_construction",
        "bias_order",
        "changed_with_order",
    ]


def test_what_is_right_in_both_orders_has_a_chance_of_a_quarter_and_margins_are_in_nats():
    both = rates().drop(columns="accuracy").assign(both=[0.1, 0.3])
    margins = both.drop(columns="both").assign(margin=[-0.4, 1.2], low=[-0.9, 0.2], high=[0.1, 2.2])
    margins = pd.concat([margins.assign(effect="meaning"), margins.assign(effect="place", margin=-9.0, low=-9.5)])
    figures = figures_of(both=both, margins=margins)
    assert list(figures)[:2] == ["both_orders", "margins"]
    (of_both,), (of_margins,) = figures["both_orders"].axes, figures["margins"].axes
    assert [chance_of(axes) for axes in (of_both, of_margins)] == [0.25, 0]
    assert of_margins.get_xlabel() == "margin, nats"
    assert of_margins.get_xlim()[0] < -0.9


def test_accuracies_have_what_is_right_in_both_orders_beside_them_and_nothing_where_there_is_one_order():
    accuracies = pd.concat([rates(), rates(construction="conative")], ignore_index=True)
    numbers = rates().drop(columns="accuracy")
    orders = {
        "both": numbers.assign(both=0.125, low=0.1, high=0.2, n=20),
        "margins": numbers.assign(effect="meaning", margin=0.3, low=-0.1, high=0.7, standardised=0.2, n=8).head(1),
        "every_variant": numbers.head(0).assign(every_variant=0.0),
    }
    found = with_both_orders(accuracies, orders).set_index(["construction", "model"])
    assert len(found) == 4
    assert found.loc[("let-alone", "a"), ["both", "both_low", "both_high", "both_n"]].tolist() == [0.125, 0.1, 0.2, 20]
    assert found.loc[("let-alone", "a"), ["margin", "standardised", "frames"]].tolist() == [0.3, 0.2, 8]
    assert found.loc["conative", ["both", "margin"]].isna().all(axis=None)
    assert found["accuracy"].notna().all()


def chance_of(axes) -> float:
    [line] = [line for line in axes.lines if line.get_label() == "chance"]
    return float(line.get_xdata()[0])


def legend(figure):
    [found] = figure.legends
    return [text.get_text() for text in found.texts]


def test_figures_name_twins_and_blind_models_and_show_the_best_blind_one_as_a_tick():
    both = pd.concat([rates(), rates(words="pseudo")], ignore_index=True)
    figures = figures_of(constructions=both)
    for name in ("meaning_by_variant", "meaning_by_noun_type"):
        assert legend(figures[name]) == ["a", "b (random weights)", "best blind", "chance"]
        ticks = [line for lines in figures[name].axes[0].collections for line in lines.get_segments()]
        assert 0.9 in [tick[0][0] for tick in ticks]
    assert legend(figures["pseudowords"]) == ["a", "best blind", "chance"]  # trained models only
    assert legend(figures["blind_by_construction"]) == ["words (blind)", "chance"]
    assert legend(figures["bias_variant"]) == ["a", "b (random weights)"]


def test_a_variant_is_a_row_that_says_what_is_asked():
    (axes,) = figures_of()["meaning_by_variant"].axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["let alone, A\nThe one who sang is …"]


def test_a_model_with_a_fixed_preference_is_hollow():
    sides = [rates(variant="A", sentence=kind).assign(accuracy=value, low=value, high=value) for kind, value in SIDES]
    figures = figures_of(sentences=pd.concat(sides))
    assert legend(figures["meaning_by_variant"])[-1] == "hollow: a fixed preference"
    assert legend(figures["bias_variant"]) == ["a", "b (random weights)"]


@pytest.mark.parametrize(
    ("good", "bad", "question"),
    [
        (" The one who sang is Ann.", " The one who sang is Bob.", "The one who sang is …"),
        (" Lifting the lid is harder than the box.", " Lifting the box is harder than the lid.", LIDS),
        (" She did so with effort.", " She did so without any great effort.", "She did so … effort"),
    ],
)
def test_the_answer_of_a_question_is_what_the_two_members_do_not_share(good, bad, question):
    items = judged_cells().assign(good=good, bad=bad)
    assert pair_cards(items, MEMBERS, 0.6)["card_questions"]["question"].tolist() == [question] * 2


def test_people_who_have_judged_the_items_are_a_tick_beside_the_models():
    figures = figures_of(people=True)
    assert legend(figures["meaning_by_variant"])[-2:] == ["people (majority)", "chance"]
    assert "people (majority)" not in legend(figures["meaning_by_noun_type"])
    assert "people (majority)" not in legend(figures_of()["meaning_by_variant"])


def test_of_a_training_only_the_last_checkpoint_is_drawn():
    assert legend(figures_of(earlier=("a",))["bias_variant"]) == ["b (random weights)"]


def judged_cells():
    """Return judged pairs of a variant that has both answers, and of one in which one answer is always right."""
    table = crossed(variant=["A", "B"], number=range(20), model=["a", "words", "short"])
    table["balanced"] = table["variant"] == "A"
    other = table["balanced"] & (table["number"] % 2 == 1)
    table["right"], table["wrong"] = np.where(other, "so", "clear"), np.where(other, "not", "unclear")
    solved = {"a": 1.0, "words": 0.5}
    table["accuracy"] = table["model"].map(solved).fillna((table["number"] % 10 != 0).astype(float))
    number = table.pop("number").astype(str)
    texts = {"good": " it is " + table["right"], "bad": " it is " + table["wrong"], "context": "x"}
    return table.assign(id=table["variant"] + number, cluster_frame=number, group="toy, kind", **texts)


def test_a_card_names_the_blind_models_that_solve_a_variant_and_the_answer_that_is_always_right():
    cards = pair_cards(judged_cells(), MEMBERS, 0.6)
    card = cards["card"].set_index(["dataset", "model"])
    assert card["solved"].to_dict() == {
        ("toy", "words"): False,  # of the balanced variant alone
        ("toy", "short"): True,
        ("toy, A", "words"): False,
        ("toy, A", "short"): True,
        ("toy, B", "words"): False,
        ("toy, B", "short"): True,
        ("toy, B", "one-answer"): True,
    }
    assert card.loc[("toy, A", "short"), "accuracy"] == 0.9
    assert card["always"].to_dict()[("toy, A", "short")] == ""
    assert card["always"].to_dict()[("toy, B", "words")] == "clear, not unclear"
    assert "by one-answer: 100.0 %" in card.loc[("toy, B", "one-answer"), "says"]
    composition = cards["card_composition"].set_index(["dataset", "label"])["n"].to_dict()
    assert composition == {(name, label): 20 for name in ("toy", "toy, A", "toy, B") for label in ("right", "wrong")}
    counts = cards["card_words"].set_index(["dataset", "label", "word"])["count"]
    assert counts["toy, B", "right", "clear"] == 20
    assert counts["toy, A", "wrong", "not"] == 10


def test_the_figures_of_a_benchmark_keep_blind_models_apart():
    accuracy = rates(group="all").merge(pd.DataFrame({"other": ["words", "short"]}), how="cross")
    table = pd.concat([rates(group="all"), accuracy.drop(columns="model").rename(columns={"other": "model"})])
    tables = {"accuracy": table, "card": pd.DataFrame()}
    figures = benchmark_figures(tables, "others", "sum", MEMBERS)
    assert legend(figures["accuracy"]) == ["a", "b (random weights)", "best blind", "chance"]
    assert legend(figures["blind"]) == ["words (blind)", "short (blind)", "chance"]
    assert list(figures) == ["accuracy", "blind"]


def test_published_numbers_stand_below_those_of_this_run_and_absent_is_not_zero():
    run = pd.DataFrame(
        [(MEANING, "mini", 0.5, 0.4, 0.6, 100), ("let-alone", "mini", 0.7, 0.5, 0.9, 20)],
        columns=["construction", "model", "accuracy", "low", "high", "n"],
    )
    objectives = pd.DataFrame([("Big", "160G", 0.67)], columns=["model", "data", "score"])
    people = pd.DataFrame(
        [("let-alone", 112, 97.5), ("overall", 896, 96.0)], columns=["construction", "items", "majority_percent"]
    )
    own_people = pd.DataFrame(
        [("let-alone", 0.9, 0.8, 1.0, 10)], columns=["construction", "accuracy", "low", "high", "n"]
    )
    table = pairs_beside_published(run, own_people, objectives, people)
    assert table[["construction", "model", "source"]].to_numpy().tolist() == [
        [MEANING, "mini", "this run"],
        [MEANING, "Big", SOURCE],
        [MEANING, "people (majority)", SOURCE],
        ["let-alone", "mini", "this run"],
        ["let-alone", "people (majority)", "this run"],
        ["let-alone", "people (majority)", SOURCE],
    ]
    ours = ["70.0 (50.0 to 90.0)", "90.0 (80.0 to 100.0)"]
    assert table["accuracy"].tolist() == ["50.0 (40.0 to 60.0)", "67.0", "96.0", *ours, "97.5"]
    assert table["n"].tolist() == ["100", "", "896", "20", "10", "112"]


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


def test_series_of_one_quantity_share_a_figure_with_a_panel_for_each_group():
    rates = rates_of_groups(sources()[1])
    along = with_series(rates, SERIES)
    best = rates[rates["model"] == "words"]
    figures = series_figures(along, "title", best)
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
