import numpy as np
import pandas as pd
import pytest
from judged_pairs import crossed

from cxprobe.lm.params import Llm, Member, ModelSpec, Rule, Series, UnigramModel
from cxprobe.pairs.figures import benchmark_figures, pair_figures
from cxprobe.pairs.report import (
    ALL,
    SOURCE,
    accuracies_of_meaning,
    pair_cards,
    pairs_beside_published,
    with_both_orders,
)

SPEC = {"name": "models/x", "revision": None, "sha256": None, "dtype": "float32"}
MEMBERS = [
    Member("a", ModelSpec(**SPEC), "a"),
    Member("b", ModelSpec(**SPEC, weights="random", seed=1), "b"),
    Member("words", UnigramModel(kind="unigrams", language="en"), "blind"),
    Member("short", Rule(kind="shorter"), "blind"),
]


def judged(constructions):
    """Return judged pairs of several models, half of them with pseudowords; constructions by what they test."""
    axes = {"model": ["early", "late", "other"], "words": ["real", "pseudo"], "cluster_frame": list("0123456789")}
    table = crossed(construction=list(constructions), **axes).assign(balanced=True)
    rng = np.random.default_rng(0)
    accuracy = rng.choice([0.0, 0.5, 1.0], size=len(table))
    return table.assign(tests=table["construction"].map(constructions), accuracy=accuracy)


def test_accuracies_of_meaning_leave_out_form_and_pseudowords():
    items = judged({"let-alone": "meaning", "conative": "meaning", "npi": "form"})
    rates = accuracies_of_meaning(items).set_index(["construction", "model"])["accuracy"]
    assert rates.index.get_level_values(0).unique().tolist() == ["all pairs of meaning", "let-alone", "conative"]
    own = items[(items["tests"] == "meaning") & (items["words"] == "real") & (items["model"] == "late")]
    assert rates["all pairs of meaning", "late"] == own["accuracy"].mean()
    assert rates["conative", "late"] == own.loc[own["construction"] == "conative", "accuracy"].mean()


def test_published_numbers_stand_beside_pairs_of_the_published_design_alone():
    asked = [("conative", "rival", "paper"), ("way-manner", "construction", "paper"), ("way-manner", "rival", "own")]
    added = [("comparative-correlative", "construction", "own")]
    parts = [judged({name: "meaning"}).assign(sentence=sentence, origin=by) for name, sentence, by in asked + added]
    items = pd.concat(parts)
    counts = accuracies_of_meaning(items).drop_duplicates("construction").set_index("construction")["n"].to_dict()
    assert counts == {ALL: 20, "conative": 10, "way-manner": 10}


def rates(**columns):
    return pd.DataFrame(
        [{"model": model, "construction": "let-alone", "tests": "meaning", "words": "real"} for model in ("a", "b")]
    ).assign(accuracy=0.5, low=0.4, high=0.6, n=40, **columns)


LIDS = "Lifting the … is harder than the …"
SIDES = (("construction", 0.0), ("rival", 1.0))
MOCK = Llm(name="mockllm/model", base_url=None, arguments={}, max_tokens=16, connections=1, retries=0, timeout=1)


def figures_of(left=("a", "b", "words"), series=None, people=False, members=None, **changed):
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
        "margins": orders.assign(margin=0.0),
    } | changed
    for name, table in tables.items():
        tables[name] = table.drop(columns="model").drop_duplicates().merge(models, how="cross")
        if "accuracy" in table:
            tables[name].loc[tables[name]["model"] == "words", "accuracy"] = 0.9
    tables |= {"series": pd.DataFrame(columns=["series"]), "card": pd.DataFrame()}
    tables["card_questions"] = pd.DataFrame(
        [("let-alone", "A", "The one who sang is …")], columns=["construction", "variant", "question"]
    )
    tables["series_biases"] = pd.DataFrame(columns=["series", "construction", "bias", "noun_type"])
    people = pd.DataFrame({"construction": ["let-alone"], "accuracy": [0.95]}) if people else pd.DataFrame()
    return pair_figures(tables, "per_token", members or MEMBERS, series or {}, people)


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
        "margins": numbers.assign(margin=0.3, low=-0.1, high=0.7, standardised=0.2, n=8).head(1),
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


def test_a_mock_model_is_drawn_beside_no_other():
    mock = Member("mock", MOCK, "mock")
    for name, figure in figures_of(left=("a", "mock"), members=[*MEMBERS, mock]).items():
        assert "mock (asked)" not in legend(figure), name
    alone = figures_of(left=("mock", "words"), members=[MEMBERS[2], mock])
    assert "mock (asked)" in legend(alone["meaning_by_variant"])


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
    series = {"training": Series(axis="training_tokens", models={"a": 1.0, "b": 2.0})}
    assert legend(figures_of(series=series)["bias_variant"]) == ["b (random weights)"]


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
    tables = {"accuracy": table, "series": pd.DataFrame(columns=["series"]), "card": pd.DataFrame()}
    figures = benchmark_figures(tables, "others", "sum", MEMBERS)
    assert legend(figures["accuracy"]) == ["a", "b (random weights)", "best blind", "chance"]
    assert legend(figures["blind"]) == ["words (blind)", "short (blind)", "chance"]
    assert list(figures) == ["accuracy", "blind"]


def test_published_numbers_stand_below_those_of_this_run_and_absent_is_not_zero():
    run = pd.DataFrame(
        [(ALL, "mini", 0.5, 0.4, 0.6, 100), ("let-alone", "mini", 0.7, 0.5, 0.9, 20)],
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
        [ALL, "mini", "this run"],
        [ALL, "Big", SOURCE],
        [ALL, "people (majority)", SOURCE],
        ["let-alone", "mini", "this run"],
        ["let-alone", "people (majority)", "this run"],
        ["let-alone", "people (majority)", SOURCE],
    ]
    ours = ["70.0 (50.0 to 90.0)", "90.0 (80.0 to 100.0)"]
    assert table["accuracy"].tolist() == ["50.0 (40.0 to 60.0)", "67.0", "96.0", *ours, "97.5"]
    assert table["n"].tolist() == ["100", "", "896", "20", "10", "112"]
