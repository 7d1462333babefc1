"""A plan from parameters and counts: who reads what, and the page that says so."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import ROOT, change_params, shrink, write_toy_construction
from cxprobe.lm.params import ServedModel
from cxprobe.planning.facts import ModelSize, load_facts
from cxprobe.planning.page import amount, costs_of, hours, page_of_plan, together
from cxprobe.planning.plan import Counts, Made, Questions, make_plan
from cxprobe.planning.stages import StageItems
from cxprobe.planning.work import Texts, Training
from cxprobe.run.params import load_params

FACTS = load_facts(ROOT / "docs" / "plan.yaml")
SIZES = {
    "models/one": ModelSize(kind="masked", parameters=1e8, layers=2, width=32),
    "models/mlm": ModelSize(kind="masked", parameters=1e8, layers=2, width=32),
    "models/clm": ModelSize(kind="causal", parameters=1e8, layers=2, width=32),
}
STAGES = tuple(
    StageItems(stage, "measure", ("x",))
    for stage in ("extract_features", "fit_probes", "fill_scenarios", "score_pairs", "score_answers")
)
COUNTS = Counts(
    made=(Made("build_pairs", "pairs of toy", 12, False), Made("mine_sentences", "sentences of toy", None, True)),
    sentences={"toy": Texts(np.full(10, 40), scale=5, about=True)},
    training={"toy": Training((100,), 1, 2.0)},
    scenarios=Texts(np.full(6, 40)),
    pairs=Texts(np.full(20, 40)),
    ends=Texts(np.full(8, 20)),
    answers=Texts(np.full(30, 40)),
    questions={"ask_llms": Questions(Texts(np.full(7, 400)), 0.5)},
    notes=("something was not counted",),
)


@pytest.fixture
def params(tmp_path):
    def edit(content):
        shrink(content)
        content["score_pairs"]["schemes"] = ["pll", "pll_word_l2r"]
        content["score_pairs"]["accelerator"] = "gpu"

    change_params(tmp_path, ROOT / "presets" / "embedded.yaml", edit)
    write_toy_construction(tmp_path / "constructions")
    return load_params(tmp_path / "params.yaml", tmp_path / "constructions")


@pytest.fixture
def plan(params):
    return make_plan(params, STAGES, COUNTS, FACTS.model_copy(update={"models": SIZES}))


def test_each_checkpoint_reads_the_texts_of_its_stages_and_blind_models_nothing(plan):
    read = {(one.stage, one.model): (one.texts, one.about) for one in plan.measured}
    assert read == {
        ("extract_features", "one"): (50, True),
        ("extract_features", "one-random"): (50, True),
        ("fit_probes", "one"): (200, True),
        ("fit_probes", "one-random"): (200, True),
        ("fill_scenarios", "mlm"): (6, False),
        ("score_pairs", "mlm"): (20, False),
        ("score_pairs", "clm"): (20, False),
        ("score_answers", "clm"): (30, False),
    }


def test_a_masked_model_reads_pairs_once_for_each_token_and_scheme_and_a_causal_one_once(plan):
    effort = {one.model: one.effort for one in plan.measured if one.stage == "score_pairs"}
    loading = 4e8 / FACTS.rates.loading.value / 3600
    masked, causal = (effort[name].gpu_hours - loading for name in ("mlm", "clm"))
    assert masked / causal == pytest.approx(2 * 12)  # ten tokens and two special ones, ten times in two schemes
    assert effort["mlm"].cpu_hours == 0


def test_questions_are_requests_with_replies_of_a_stated_length(plan):
    (asked,) = plan.asked
    assert (asked.llm, asked.requests, asked.input_tokens) == ("mock", 7, 700)
    assert asked.most_output_tokens == 7 * 16
    assert asked.output_tokens == 7 * 16  # half of the replies are long, and none is longer than max_tokens
    assert asked.gpu_hours is None


def test_costs_are_those_of_each_stage_and_model(plan):
    costs = costs_of(plan)
    assert list(costs) == [
        "extract_features",
        "fit_probes",
        "fill_scenarios",
        "score_pairs",
        "score_answers",
        "ask_llms",
    ]
    efforts = {one.model: one.effort.gpu_hours for one in plan.measured if one.stage == "score_pairs"}
    assert {model: (cost.texts, cost.gpu_hours) for model, cost in costs["score_pairs"].items()} == {
        "mlm": (20, efforts["mlm"]),
        "clm": (20, efforts["clm"]),
    }
    assert costs["ask_llms"]["mock"][:2] == (7, 0)
    assert together(costs["score_pairs"].values()).gpu_hours == pytest.approx(sum(efforts.values()))


def test_a_stage_that_reads_several_constructions_costs_their_sum(params):
    twice = COUNTS.sentences["toy"]
    counts = replace(COUNTS, sentences={"toy": twice, "other": twice})
    params = params.model_copy(
        update={"grid": params.grid.model_copy(update={"recognition": two_constructions(params)})}
    )
    costs = costs_of(make_plan(params, STAGES, counts, FACTS.model_copy(update={"models": SIZES})))
    assert costs["extract_features"]["one"].texts == 100


def two_constructions(params):
    recognition = params.grid.recognition
    return recognition.model_copy(update={"constructions": {"toy": ["generated"], "other": ["generated"]}})


def test_a_model_of_unknown_size_is_named_and_has_no_hours(params):
    plan = make_plan(params, STAGES, COUNTS, FACTS.model_copy(update={"models": {}}))
    assert all(one.effort is None for one in plan.measured)
    assert any("no hours for clm, mlm, one, one-random: the size is not known" in note for note in plan.notes)
    assert "not known" in page_of_plan(plan, "A plan")


def test_the_page_marks_what_is_estimated(plan):
    page = page_of_plan(plan, "What some parameters ask for")
    lines = {tuple(line.split()) for line in page.splitlines()}
    assert ("build_pairs", "pairs", "of", "toy", "12") in lines
    assert ("mine_sentences", "sentences", "of", "toy", "not", "counted") in lines
    assert any(line[:4] == ("extract_features", "one", "about", "50") for line in lines)
    assert any(line[:3] == ("score_pairs", "clm", "20") for line in lines)
    assert "  something was not counted\n" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [(7, "7"), (144, "140"), (68400, "68,000"), (999_000, "1 million"), (4_321_000, "4.3 million"), (2e9, "2 billion")],
)
def test_large_numbers_have_two_digits(value, text):
    assert amount(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "-"), (0.001, "1 min"), (0.5, "30 min"), (1.26, "1.3 h"), (130, "130 h")]
)
def test_hours_below_one_are_minutes(value, text):
    assert hours(value) == text


def test_a_served_model_is_named_with_its_texts_and_has_no_hours_here(params):
    own = {
        "url": "http://x/v1",
        "name": "big",
        "weights": "1",
        "likelihoods": "echo",
        "tokenizer": "t",
        "revision": None,
    }
    many = {"max_tokens": 99, "connections": 1, "retries": 0, "timeout": 9, "key": None}
    models = {**params.models, "clm": ServedModel(kind="served", **own, **many)}
    known = FACTS.model_copy(update={"models": SIZES})
    plan = make_plan(params.model_copy(update={"models": models}), STAGES, COUNTS, known)
    assert [(one.stage, one.texts, one.effort) for one in plan.measured if one.model == "clm"] == [
        ("score_pairs", 20, None),
        ("score_answers", 30, None),
    ]
    assert "no hours for clm: a server runs it, which gets one request a text" in plan.notes
    assert "not known" in page_of_plan(plan, "A plan")
