"""Judged pairs: against counting by hand, and models whose answers are known."""

import numpy as np
import pandas as pd
import pytest
import torch
from evaluated_pairs import ANSWERS, SCORED, TEXTS, all_rates, crossed, rates_of_pairs, responses_of, tokens
from evaluated_pairs import own as how_to_judge
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from cxprobe.constructions.construction import PEOPLE_FILE, load_people
from cxprobe.errors import DataError
from cxprobe.models.loading import open_source
from cxprobe.models.pairs import load_language_model, score_texts, texts_of_pairs
from cxprobe.models.params import ContinuationAlone, Member, ModelSpec
from cxprobe.models.texts import ScoringConfig, pair_table, token_table
from cxprobe.results.rates import divided_by
from cxprobe.stats import credits_of_margins, rate_by
from cxprobe.tasks.pairs.evaluate import (
    decide_pairs,
    evaluate_replies,
    override,
    pairs_for,
    read_replies,
    reply_responses,
)
from cxprobe.tasks.pairs.frames import load_pairs
from cxprobe.tasks.pairs.make import render_pairs

DECIDING = {"scheme": "pll", "score": "per_token", "deciding": True, "balanced": True}


def scored(margin, items=40, seed=0):
    """Return judged pairs, two noun types x two variants x two orders, whose margins ``margin`` gives."""
    rng = np.random.default_rng(seed)
    axes = {"number": range(items), "variant": ["A", "B"], "order": ["original", "switched"]}
    table = crossed(noun_type=["female", "male"], **axes)
    table["item"] = table["noun_type"] + "-" + table["number"].astype(str)
    margins = [margin(rng, *row) for row in table[["noun_type", "variant", "order"]].itertuples(index=False)]
    frames = "f" + (table.pop("number") % 8).astype(str)
    ids = table["item"] + "-" + table["variant"] + "-" + table["order"]
    credits = credits_of_margins(np.array(margins))
    return table.assign(id=ids, cluster_frame=frames, margin=margins, accuracy=credits)


def test_a_model_that_always_names_the_first_person_is_half_right_and_wholly_biased():
    table = scored(lambda _, kind, variant, order: 1.0 if order == "original" else -1.0)
    assert rate_by(table, "accuracy", ["noun_type"])["accuracy"].tolist() == [0.5, 0.5]
    biases = rates_of_pairs(responses_of({"m": table.assign(**DECIDING)}), "compared", "noun_type").loc["toy", "real"]
    order, variant = biases.loc["order"], biases.loc["variant"]
    assert order["value"].tolist() == [1, 1]
    assert order["n"].tolist() == [80, 80]  # each of 40 items in both variants
    assert (order["low"] > 0.3).all()
    assert variant["value"].tolist() == [0, 0]


def test_a_preference_for_names_is_never_right_in_both_orders_and_knowledge_is():
    names = np.random.default_rng(1).normal(size=1000)

    def prefers(known):
        chosen = iter(range(1000))

        def margin(rng, kind, variant, order):
            preference = names[next(chosen) // 2]
            return known + rng.normal(0, 1e-6) + (preference if order == "original" else -preference)

        table = scored(margin).assign(**DECIDING)
        rates = rates_of_pairs(responses_of({"m": table}))
        return rates.loc["toy", "real", "both_orders", "m"]

    both = prefers(0.0)
    assert (both["value"], both["n"]) == (0, 160)
    assert both["high"] < 0.4  # eight frames
    both = prefers(0.5)
    assert both["value"] == pytest.approx((abs(names[:160]) < 0.5).mean())


@pytest.mark.parametrize(("scheme", "accuracy"), [("pll", 0.0), ("pll_word_l2r", 0.5)])
def test_the_scheme_and_the_score_decide_and_all_others_stay(scheme, accuracy):
    decided = decide_pairs(TEXTS, ANSWERS, how_to_judge(scheme, "sum"))
    deciding = decided[decided["deciding"]]
    assert deciding["accuracy"].tolist() == [accuracy, accuracy]
    assert deciding[["right", "wrong", "balanced"]].to_numpy().tolist() == [["so", "not", False]] * 2
    assert not decided["balanced"].any()
    assert deciding[["scheme", "score"]].drop_duplicates().to_numpy().tolist() == [[scheme, "sum"]]
    counted = decided.groupby(["scheme", "score"], sort=False).size().to_dict()
    numbers = {"sum": 2, "per_token": 2, "per_character": 2, "given_context": 1}
    assert counted == {(one, name): number for one in ("pll", "pll_word_l2r") for name, number in numbers.items()}


def test_a_score_that_is_not_finite_names_its_pair():
    broken = token_table([tokens("it is so", "pll", [-1, -np.inf, -1]), SCORED[1]])
    with pytest.raises(DataError, match=r"pair a, sum: a score is not finite \(-inf, -5.0\)"):
        decide_pairs(TEXTS, broken, how_to_judge())


SPEC = ModelSpec(name="models/x", revision=None, sha256=None, dtype="float32")
ALONE = Member("alone", ContinuationAlone(kind="continuation_alone", checkpoint=SPEC), "baseline")
MODEL = Member("x", SPEC, "x")
PREFERENCES = pd.DataFrame({"id": ["b", "a"], "margin": [0.0, 3.0]})


def test_a_preference_decides_and_an_undecided_pair_is_a_tie():
    decided = decide_pairs(TEXTS, PREFERENCES, how_to_judge())
    assert decided[["id", "accuracy", "scheme", "score", "deciding"]].to_numpy().tolist() == [
        ["a", 1.0, "rule", "preference", True],
        ["b", 0.5, "rule", "preference", True],
    ]


def test_a_pair_without_a_preference_is_refused():
    with pytest.raises(DataError, match="1 of 2 pairs have no preference, such as b"):
        decide_pairs(TEXTS, PREFERENCES[PREFERENCES["id"] == "a"], how_to_judge())


def test_a_model_that_is_shown_the_continuation_alone_is_asked_about_pairs_with_a_context():
    scored = token_table([tokens("it is so", "pll", [-1, -1, -4]), tokens("it is not", "pll", [-1, -1, -3])])
    assert decide_pairs(pairs_for(ALONE, TEXTS, {}), scored, how_to_judge())["id"].tolist() == ["a"] * 4
    assert pairs_for(ALONE, TEXTS[TEXTS["context"] == ""], {}).empty
    assert pairs_for(MODEL, TEXTS, {}) is TEXTS


def answered(construction, tests, right):
    """Return decided pairs of a model that is right in some variants: (variant, order) -> credit."""
    frames = [f"{construction} {frame}" for frame in range(24)]
    items = crossed(order=["original", "switched"], cluster_frame=frames, variant=["A", "B"])
    items = items.assign(construction=construction, tests=tests)
    items["accuracy"] = [right(*key) for key in zip(items["variant"], items["order"], strict=True)]
    ids = items["cluster_frame"] + items["variant"] + items["order"]
    deciding = {"scheme": "pll", "score": "sum", "deciding": True, "balanced": True, "margin": 0.0}
    return items.assign(id=ids, item=items["cluster_frame"], **deciding)


def test_a_response_answers_the_question_of_its_pairs():
    tests_of = {"a": "meaning", "a-form": "form", "b": "meaning", "plain": "control"}
    items = pd.concat([answered(name, tests, lambda *_: 1.0) for name, tests in tests_of.items()])

    def questions(decided: pd.DataFrame, measure: str) -> dict:
        asked = responses_of({"m": decided}).query(f"measure == '{measure}'")
        found = asked.groupby(["construction", "source"])["question"].unique()
        return {" ".join(place): [*values] for place, values in found.items()}

    single = pd.concat([items, items.query("construction == 'b'").assign(words="pseudo", source="pseudo")])
    assert questions(single, "accuracy") == {
        "a real": ["meaning"],
        "a-form real": ["form"],
        "b real": ["meaning"],
        "b pseudo": [""],
        "plain real": [""],
    }
    assert questions(single, "both_orders").pop("b real") == [""]
    assert questions(items.query("construction == 'b'").assign(scheme="reply", score="asked"), "accuracy") == {
        "b real": ["words"]
    }
    benchmark = items.query("construction == 'b'").drop(columns="tests").assign(source="blimp")
    assert questions(benchmark, "accuracy") == {"b blimp": ["blimp"]}


def test_an_item_of_form_is_right_in_every_variant_or_not():
    form = answered("giving", "form", lambda variant, _: float(variant == "A")).query("order == 'original'")
    form = form.assign(accuracy=np.where(form["cluster_frame"] == "giving 0", 1.0, form["accuracy"]))
    row = rates_of_pairs(responses_of({"m": form})).loc["giving", "real", "every_variant", "m"]
    assert (row["value"], row["n"], row["decides"]) == (pytest.approx(1 / 24), 24, False)
    assert row["chance"] == 0.25


@pytest.mark.parametrize(
    ("of_b", "verdict"),
    [(24, ""), (6, "some_variants")],  # of 24 items in variant B; guesses get a quarter in both
)
def test_form_is_above_chance_only_if_it_is_in_all_variants_together(of_b, verdict):
    form = answered("giving", "form", lambda *_: 1.0).query("order == 'original'")
    number = form["cluster_frame"].str.split().str[-1].astype(int)
    form = form.assign(accuracy=np.where((form["variant"] == "B") & (number >= of_b), 0.0, 1.0))
    rates = all_rates(responses_of({"m": form}))
    nothing = dict.fromkeys(["difference", "diff_low", "diff_high", "p_adjusted"], np.nan)
    result = override(rates.assign(baseline="", **nothing), [], [])
    whole = divided_by(result[result["construction"] == "giving"]).set_index("measure")
    assert whole.loc["accuracy", "low"] > 0.5
    assert (whole.loc["accuracy", "verdict"], whole.loc["every_variant", "has_verdict"]) == (verdict, False)


def test_single_pairs_of_meaning_have_no_verdict_and_those_in_both_orders_the_difference_of_the_accuracy():
    items = pd.concat(
        [answered(name, tests, lambda *_: 1.0) for name, tests in (("giving", "meaning"), ("go", "form"))]
    )
    rates = all_rates(responses_of({"m": items}))
    known = dict.fromkeys(["difference", "diff_low", "diff_high", "p_adjusted"], 0.5)
    is_accuracy = rates["measure"] == "accuracy"
    rates = rates.assign(baseline="words", **{name: np.where(is_accuracy, one, np.nan) for name, one in known.items()})
    result = override(rates, ["giving"], [])
    whole = divided_by(result[result["source"] == "real"]).set_index(["construction", "measure"])
    assert whole["verdict"].xs("go").unique().tolist() == [""]
    assert whole["verdict"].xs("giving").unique().tolist() == ["no_control"]
    assert whole.loc[("giving", "both_orders"), "difference"] == 0.5


def test_a_benchmark_has_rates_of_its_constructions_and_their_groups():
    rows = [("a", 1.0, "agreement", "x"), ("b", 0.0, "tense", "x"), ("c", -5.0, "agreement", "y")]
    pairs = pd.DataFrame(rows, columns=["id", "margin", "construction", "group"])
    texts = {"context": "", "good": pairs["id"], "bad": ""}
    pairs = pairs.assign(item=pairs["id"], cluster_item=pairs["id"], source="others", **texts)
    decided = decide_pairs(pairs.drop(columns="margin"), pairs[["id", "margin"]], how_to_judge())
    responses = responses_of({"m": decided})

    def numbers(column: str, *facets: str) -> dict:
        rates = rates_of_pairs(responses, *facets)
        return rates.xs(("others", "accuracy", "m"), level=["source", "measure", "model"])[column].to_dict()

    assert numbers("n") == {"all": 3, "agreement": 2, "tense": 1}
    of_constructions = {("agreement", "x"): 1.0, ("agreement", "y"): 0.0, ("tense", "x"): 0.5}
    assert numbers("value", "group") == of_constructions | {("all", "x"): 0.75, ("all", "y"): 0.0}


@pytest.mark.parametrize("name", ["mini-mlm", "mini-clm"])
def test_a_model_that_finds_every_token_as_probable_as_any_other_is_half_right_and_all_ties(name):
    people = load_people(ROOT / PEOPLE_FILE)
    content = load_pairs("ditransitive", people, ROOT / "constructions")
    pairs = render_pairs("ditransitive", content, people, 1, seed=1)
    spec = ModelSpec(name=str(ROOT / "models" / name), revision=None, sha256=None, dtype="float32", bos="add")
    model = load_language_model(open_source("constant", spec))
    with torch.no_grad():
        for parameter in model.model.parameters():
            parameter.zero_()
    how = ScoringConfig(schemes=["pll"], token_budget=4096)
    answers = token_table(score_texts(model, [texts_of_pairs(model, pairs)], how))
    decided = decide_pairs(pair_table(pairs).assign(source="real"), answers, how_to_judge("pll", "per_token"))
    assert decided["deciding"].sum() == len(pairs)
    rates = all_rates(responses_of({"m": decided}))
    deciding = rates[(rates["measure"] == "accuracy") & (rates["score"] == "") & (rates["origin"] == "")]
    assert (deciding["value"] == 0.5).all()
    assert (deciding["ties"] == deciding["n"]).all()
    biases = rates[rates["measure"] == "bias"]
    assert set(biases["compared"]) == {"order", "variant"}
    assert (biases["value"] == 0).all()
    # Members of unequally many tokens do not tie in their sums; those of equally many tie under every score.
    margins = decided.pivot_table(index="id", columns="score", values="margin")
    alike = margins["sum"] == 0
    assert 0 < alike.mean() < 1
    assert (margins.loc[alike, "given_context"].dropna() == 0).all()


# Pairs judged by replies in words, in both orders

ORDERS = ("A", "B")


def pairs_in_both_orders() -> pd.DataFrame:
    """Return pairs in two variants and two orders, with clusters of frames."""
    table = crossed(number=range(6), variant=["A", "B"], order=["original", "switched"])
    table["item"] = [f"toy-{number}" for number in table["number"]]
    table["id"] = table["item"] + "-" + table["variant"] + "-" + table["order"]
    table["cluster_frame"] = [f"f{number % 3}" for number in table.pop("number")]
    is_ann = (table["variant"] == "A") == (table["order"] == "original")
    good, bad = (np.where(ann, " It was Ann.", " It was Bo.") for ann in (is_ann, ~is_ann))
    return table.assign(context="Ann sent Bo a card.", good=good, bad=bad)


def asked_about(table: pd.DataFrame, say) -> pd.DataFrame:
    """Return the replies of a model that says ``say(gold, id)``; None for a request that failed."""
    rows = []
    for id_, context, good, bad in table[["id", "context", "good", "bad"]].itertuples(index=False, name=None):
        for gold in ORDERS:
            a, b = (context + good, context + bad) if gold == "A" else (context + bad, context + good)
            said = say(gold, id_)
            rows.append((f"{id_}/{gold}", id_, gold, a, b, said or "", said is None, ""))
    columns = ["id", "pair", "gold", "option_a", "option_b", "reply", "failed", "error"]
    return pd.DataFrame(rows, columns=columns)


def judged(say) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the decided pairs of a model, and its rates by measure."""
    table = pairs_in_both_orders()
    read = read_replies(table, asked_about(table, say))
    decided = evaluate_replies(table, read, how_to_judge())
    replies = reply_responses(read).assign(task="pairs", model="m")
    responses = pd.concat([responses_of({"m": decided}), replies], ignore_index=True)
    return decided, rates_of_pairs(responses).loc["toy", "real"].droplevel("model")


REPLIES = {"A": "A", "B": "b.", "open": "A or B", "nothing": "I cannot say.", "failed": None}


@pytest.mark.pipeline
@settings(max_examples=10)
@given(st.lists(st.sampled_from(sorted(REPLIES)), min_size=48, max_size=48))
def test_accuracies_and_shares_are_those_that_are_counted_by_hand(answers):
    given_ = iter(answers)
    said = {(id_, gold): next(given_) for id_ in pairs_in_both_orders()["id"] for gold in ORDERS}
    decided, rates = judged(lambda gold, id_: REPLIES[said[id_, gold]])
    credits, letters = {}, []
    for id_ in pairs_in_both_orders()["id"]:
        read = {gold: said[id_, gold] for gold in ORDERS if said[id_, gold] in ORDERS}
        letters += read.values()
        if read:
            credits[id_] = np.mean([answer == gold for gold, answer in read.items()])
    assert decided.set_index("id")["accuracy"].to_dict() == credits
    failed = [answer == "failed" for answer in answers]
    unparsed = [answer in ("open", "nothing") for answer in answers if answer != "failed"]
    is_a = [one == "A" for one in letters]
    counted = {"position_bias": is_a, "unparsed": unparsed, "failed": failed}
    for measure, values in {**counted, "accuracy": [*credits.values()]}.items():
        assert (measure in rates.index) == bool(values)
        if values:
            row = rates.loc[measure]
            assert (row["value"], row["n"]) == (pytest.approx(np.mean(values)), len(values))
            assert row["low"] <= row["value"] <= row["high"]


def test_replies_about_other_pairs_are_refused():
    replies = asked_about(pairs_in_both_orders(), lambda gold, _: gold)
    with pytest.raises(DataError, match="pairs were asked about that are not there"):
        read_replies(pairs_in_both_orders(), replies.assign(pair="old-" + replies["pair"]))


def test_biases_leave_out_items_that_were_decided_in_one_way_only():
    decided, _ = judged(lambda gold, id_: "?" if id_ == "toy-0-A-original" else gold)
    rates = rates_of_pairs(responses_of({"m": decided}), "compared", "noun_type").loc["toy", "real"]
    assert rates.index.unique("measure").tolist() == ["bias"]
    assert rates["n"].tolist() == [11, 11]
    assert rates["value"].tolist() == [0.0, 0.0]
