"""A causal model on a server against the same model here: mini-clm behind a server of the test's own."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from likelihood_server import likelihood_server, served_model
from loaded_lms import assert_alike
from model_folders import spec
from scored import ALONE, causal_token_scores, measured

from conftest import ROOT
from cxprobe.errors import DataError, ModelError
from cxprobe.files.tables import read_table
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.measuring import MeasuredModel
from cxprobe.lm.params import ServedModel
from cxprobe.lm.scoring import load_language_model, measure_texts
from cxprobe.lm.store import answers_folder
from cxprobe.lm.texts import HowToScore, Pair, token_scores_of
from cxprobe.pairs.measure import texts_of_pairs
from cxprobe.prompts.measure import check_lengths
from cxprobe.run.processes import Job

pytestmark = pytest.mark.pipeline

pytest.importorskip("openai", reason="the client is not installed: pip install 'cxprobe[prompting]'")

MINI = ROOT / "models" / "mini-clm"
TEXTS = [
    "The more you look, the more you see.",
    "The more you look, the less you see.",
    "She baked him a cake",
    "A man who had not read it said that the book was long.",
    "books",
]
PAIRS = [
    Pair("a", "a", "He does not read.", " She reads books.", " She read a books.", {}, {}),
    Pair("b", "b", "", "The man sleeps.", "The man sleep.", {}, {}),
]
BOS = pytest.mark.parametrize("bos", ["as_tokenizer", "add", "none"])


@pytest.fixture(scope="module")
def local():
    return load_language_model("mini-clm", spec(MINI))


@pytest.fixture
def served(local, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with likelihood_server(local.model, local.tokenizer) as (url, answers):
        yield url, answers


def spec_of(url: str, **changes) -> ServedModel:
    own = {"name": "mini-clm", "weights": "those of models/mini-clm, float32", "tokenizer": str(MINI)}
    return ServedModel(**served_model(url, **(own | changes)))


def load(url: str, **changes):
    return load_language_model("big", spec_of(url, **changes))


def stage_model(url: str, **changes):
    return measured("big", spec_of(url, **changes), load_language_model)


@BOS
def test_scores_of_a_served_model_are_those_of_the_model_here(served, local, bos):
    url, _ = served
    texts = TEXTS if bos != "none" else TEXTS[:-1]
    model = load(url)
    found = causal_token_scores(model, texts, bos=bos, token_budget=1)
    expected = causal_token_scores(local, texts, bos=bos, token_budget=512)
    assert_alike(found, expected)
    for one, other in zip(found, expected, strict=True):
        for part in ("ids", "spans", "words"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


def measure_pairs(model, how, folder):
    return measure_texts(model, [texts_of_pairs(model.described, PAIRS)], how, folder)


def test_a_stage_writes_what_it_writes_for_a_model_here_and_asks_for_each_text_once(served, local, tmp_path):
    url, answers = served
    how = HowToScore(["pll"], 512)
    model = stage_model(url)
    counts = measure_pairs(model, how, tmp_path / "served")
    measure_pairs(measured("mini-clm", spec(MINI), load_language_model), how, tmp_path / "local")
    one, other = (token_scores_of(read_table(tmp_path / f / "tokens.parquet")) for f in ("served", "local"))
    assert_alike(one, other)
    assert len(answers.requests) == counts["texts"] + 1  # the trial
    measure_pairs(stage_model(url), how, tmp_path / "again")
    assert len(answers.requests) == counts["texts"] + 1  # which is left out where nothing is to be asked
    facts = read_model_facts(tmp_path / "served")
    assert (facts.name, facts.kind, facts.parameters, facts.precision) == ("mini-clm", "causal", None, "as served")
    assert facts.weights.startswith(
        f"those of models/mini-clm, float32, served as mini-clm at {url}, tokenizer sha256 "
    )


def test_answers_are_kept_under_server_model_weights_and_way_of_asking(served, local):
    url, _ = served
    changes = ({}, {"name": "other"}, {"weights": "newer"}, {"bos": "add"})
    with likelihood_server(local.model, local.tokenizer) as (elsewhere, _):
        models = [*(load(url, **change) for change in changes), load(elsewhere), local]
        folders = [answers_folder("big", model, "cpu") for model in models]
    assert len(set(folders)) == len(folders)
    assert answers_folder("big", load(url, connections=1, retries=3, timeout=9), "cpu") == folders[0]


def test_a_request_that_fails_is_sent_again(served, local):
    url, answers = served
    answers.refuses = lambda number: 503 if number % 3 == 0 else 0
    found = causal_token_scores(load(url, retries=4), TEXTS, bos="add", token_budget=1)
    assert_alike(found, causal_token_scores(local, TEXTS, bos="add", token_budget=512))


def test_a_server_that_stops_in_between_ends_the_stage_and_what_it_answered_is_kept(served, tmp_path):
    url, answers = served
    how, texts = HowToScore(["pll"], 512), [dict.fromkeys(TEXTS, 0)]
    answers.refuses = lambda number: 500 if number > 3 else 0  # one of them is the trial
    measure = lambda folder: measure_texts(  # noqa: E731
        stage_model(url, connections=1), texts, how, tmp_path / folder
    )
    with pytest.raises(ModelError, match=r"models\.big: 'mini-clm' at http.*500.*what was answered is kept"):
        measure("broken")
    assert not (tmp_path / "broken").exists()
    answers.refuses, before = lambda number: 0, len(answers.requests)
    assert measure("whole")["texts"] == len(TEXTS)
    assert len(answers.requests) - before == 1 + len(TEXTS) - 2


def cut_short(numbers):
    del numbers[-2:]  # of the last token, and of the one that follows


def replaced_by(number, place=1):
    def replace(numbers):
        numbers[place] = number

    return replace


@pytest.mark.parametrize(
    ("damage", "error", "said"),
    [
        (cut_short, ModelError, r"was sent \d+ tokens and its answer is about \d+ of them.*nothing is guessed"),
        (replaced_by(None, place=2), ModelError, "nothing is guessed"),
        *((replaced_by(number), DataError, "log-probability of token 1 of .*look") for number in (-9999.0, 0.5)),
        (replaced_by(float("nan")), DataError, "log-probability of token 1 of .*look"),
    ],
)
def test_numbers_that_are_missing_or_no_log_probabilities_are_refused_and_none_is_guessed(served, damage, error, said):
    url, answers = served
    model = load(url)

    def damaged(choice, ids):
        damage(choice["logprobs"]["token_logprobs"])
        return choice

    answers.damages = damaged
    with pytest.raises(error, match=said):
        causal_token_scores(model, TEXTS[:1], bos="add", token_budget=1)


def test_a_server_without_echo_is_refused_before_the_work_with_what_to_do(served):
    url, answers = served
    answers.echoes = False
    with pytest.raises(ModelError, match=r"no log-probabilities of what it was sent.*echo: true.*vLLM"):
        load(url)


def test_a_server_with_other_tokens_under_the_same_ids_is_refused(served, local):
    url, answers = served

    class Shifted:
        def decode(self, ids):
            return local.tokenizer.decode([number + 1 for number in ids])

    answers.tokenizer = Shifted()
    with pytest.raises(ModelError, match=r"for the server and .* for models\.big\.tokenizer"):
        load(url)


def test_a_model_that_is_only_counted_is_described_without_its_server(served, monkeypatch):
    url, answers = served
    folder = answers_folder("big", load(url), "cpu")
    before = len(answers.requests)
    monkeypatch.setitem(sys.modules, "openai", None)
    described = load_language_model("big", spec_of(url, key="NOT_SET_API_KEY"), "meta")
    assert answers_folder("big", described, "cpu") == folder
    assert len(answers.requests) == before


def test_a_model_on_a_server_needs_one_process_and_no_device_here():
    compute = ALONE.model_copy(update={"accelerator": "gpu", "devices": 4, "strategy": "ddp"})
    stage = SimpleNamespace(name="pairs_measure", job=Job(), params=SimpleNamespace(compute=compute, seed=1))
    model = MeasuredModel.of(stage, "big", spec_of("http://127.0.0.1:9/v1"), load_language_model)
    assert model.processes.alone
    assert model.processes.device == "cpu"


def test_a_server_that_is_not_there_is_refused_with_its_address(served):
    with pytest.raises(ModelError, match=r"models\.big: 'mini-clm' at http://127\.0\.0\.1:9/v1: Connection error"):
        load("http://127.0.0.1:9/v1")


def test_the_key_goes_to_the_server_and_nowhere_else(served, monkeypatch, tmp_path):
    url, answers = served
    secret = "sk-nobody-may-read-this"
    with pytest.raises(ModelError, match="the environment variable BIG_API_KEY is not set"):
        load(url, key="BIG_API_KEY")
    monkeypatch.setenv("BIG_API_KEY", secret)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-meant-for-another")
    model = load(url, key="BIG_API_KEY")
    assert {header for _, header in answers.requests} == {f"Bearer {secret}"}
    measure_pairs(stage_model(url, key="BIG_API_KEY"), HowToScore(["pll"], 99), tmp_path / "o")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    answers.refuses = lambda number: 401  # the server repeats the key that it refuses
    with pytest.raises(ModelError, match=r"\[key\]") as raised:
        model.log_probabilities([5, 6, 7])
    assert secret not in str(raised.value)
    assert raised.value.__cause__ is None
    answers.refuses = lambda number: 0
    load(url)
    assert answers.requests[-1][1] == "Bearer none"


def test_a_text_or_question_beyond_the_servers_longest_input_is_refused_before_it_is_asked(served):
    url, answers = served
    model = load(url, max_tokens=8)
    before = len(answers.requests)
    with pytest.raises(DataError, match="the model takes 7"):
        causal_token_scores(model, TEXTS, bos="add", token_budget=1)
    with pytest.raises(DataError, match="1 of 1 questions are too long"):
        check_lengths(model, pd.DataFrame({"id": ["q"], "question": [TEXTS[0]], "text": [" Yes."]}))
    assert len(answers.requests) == before


def test_a_served_model_has_no_other_precision_to_be_compared_with(served):
    url, answers = served
    assert stage_model(url).check(TEXTS, TEXTS, None) == {"unknown": 0}
    assert not answers.requests
