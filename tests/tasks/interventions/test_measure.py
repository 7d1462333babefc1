"""Known truth: a tiny model that learnt agreement and nothing else, its control, and what interventions say of both."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from tiny_lms import byte_bpe
from transformers import GPT2Config, GPT2LMHeadModel

from cxprobe.constructions.construction import People
from cxprobe.errors import DataError
from cxprobe.models.causal import CausalLM
from cxprobe.probing import Fitting
from cxprobe.results.rates import Facet, rates_of
from cxprobe.tasks.interventions.evaluate import ELSEWHERE, FACETS, SUMMED, USED, intervention_responses, role_of
from cxprobe.tasks.interventions.make import InterventionsFile, LabelledSentences, draw_base_and_source, neutral_items
from cxprobe.tasks.interventions.measure import (
    along,
    erase_label,
    is_changed,
    measure_layer,
    prompt_items,
    spaced_layers,
)
from cxprobe.tasks.interventions.params import INTERVENTIONS, NEUTRAL, MeasureInterventions

NOUNS = ["cat", "dog", "fox", "king", "bird", "horse", "cook", "judge", "nurse", "poet", "baker", "pilot"]
VERBS = [("runs", "run"), ("sings", "sing"), ("waits", "wait"), ("sleeps", "sleep")]
PLACES = ["house", "tree", "door", "lamp", "car", "boat"]
WORDS = [*NOUNS, *(f"{noun}s" for noun in NOUNS), *(verb for pair in VERBS for verb in pair), *PLACES, "near", "the"]
LAYERS = 2
AGREEMENT = {
    "tests": "form",
    "rows": "pairs.yaml",
    "labels": {"one": {"subject": "{noun}", "verb": "{does}"}, "many": {"subject": "{noun}s", "verb": "{do}"}},
    "sentences": {"near": {"before": "the {subject} near the {place}", "answer": "{verb}", "after": "."}},
}
ROWS = {
    "frames": [{"noun": noun} for noun in NOUNS],
    "verbs": [{"does": one, "do": many} for one, many in VERBS],
    "places": [{"place": place} for place in PLACES],
}
LABELLED = LabelledSentences(InterventionsFile.model_validate(AGREEMENT), ROWS, {}, ("subject", "place"))


def trained(steps: int) -> CausalLM:
    """Return a GPT-2 that has seen so many batches of sentences whose verb agrees with the first noun."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    tokenizer = byte_bpe({"eos": "<|endoftext|>", "pad": "<|endoftext|>"}, WORDS, adds=False)
    sizes = {"n_embd": 32, "n_layer": LAYERS, "n_head": 2, "n_positions": 16}
    config = GPT2Config(vocab_size=len(tokenizer), **sizes, initializer_range=0.2)
    config.attn_pdrop = config.embd_pdrop = config.resid_pdrop = 0.0
    config.bos_token_id = config.eos_token_id = tokenizer.eos_token_id
    model = GPT2LMHeadModel(config)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(steps):
        many, verbs = rng.integers(2, size=64), rng.integers(len(VERBS), size=64)
        texts = [
            f"the {rng.choice(NOUNS)}{'s' * number} near the {rng.choice(PLACES)} {VERBS[verb][number]}"
            for number, verb in zip(many, verbs, strict=True)
        ]
        ids = torch.tensor(tokenizer(texts)["input_ids"])
        optimiser.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        optimiser.step()
    return CausalLM("tiny", model.eval(), tokenizer, "", 16, bos="none")


# The same sentences under another name, and sentences in which the place decides what its name is, which no number can.
OF_PLACES = {
    "labels": {"here": {"place": "{first}"}, "there": {"place": "{second}"}},
    "sentences": {"again": {"before": "the {place} near the {noun} near the", "answer": "{place}", "after": "."}},
}
OTHER = LABELLED._replace(
    content=InterventionsFile.model_validate(AGREEMENT | OF_PLACES),
    groups={
        "frames": ROWS["frames"],
        "places": [{"first": one, "second": other} for one, other in permutations(PLACES, 2)],
    },
    regions=("place", "noun", "last"),
)
SENTENCES = [
    f"the {noun}{'s' * (number % 2)} near the {PLACES[number % 6]} {VERBS[number % 4][number % 2]}."
    for number, noun in enumerate(NOUNS)
]


def effects_in(lm: CausalLM, train: int = 96, test: int = 48, steps: int = 100) -> pd.DataFrame:
    nobody = People(pronouns={}, types={})
    made = {
        "toy": draw_base_and_source("toy", LABELLED, nobody, {"test": test, "train": train}, 1),
        "same": draw_base_and_source("same", LABELLED, nobody, {"test": test}, 2, "ends"),
        "other": draw_base_and_source("other", OTHER, nobody, {"test": test}, 2),
        NEUTRAL: neutral_items(SENTENCES),
    }
    asked = {name: prompt_items(lm, items, 1, name) for name, items in made.items()}
    assert {of.dropped for of in asked.values()} == {0}
    settings = MeasureInterventions(layers=None, steps=steps, draws=5, token_budget=2048)
    fitting = Fitting(1.0, False, 1000, 1, "toy")
    return pd.concat([measure_layer(lm, asked, layer, settings, fitting) for layer in range(1, LAYERS + 1)])


@pytest.fixture(scope="module")
def knowing() -> pd.DataFrame:
    return effects_in(trained(150))


def rates_in(measured: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of what was measured."""
    responses = intervention_responses(measured, {"toy": ""}).assign(task="interventions", model="tiny")
    return rates_of(responses, FACETS)


def by_intervention(rates: pd.DataFrame, facet: Facet, measure: str, construction: str = "toy") -> pd.DataFrame:
    is_wanted = (rates["measure"] == measure) & (rates["construction"] == construction)
    return rates[facet.among(rates) & is_wanted].set_index("intervention")


@pytest.fixture(scope="module")
def rates(knowing) -> pd.DataFrame:
    return rates_in(knowing)


def test_a_model_in_which_a_direction_decides_is_steered_by_it_and_by_no_random_one(knowing, rates):
    effects, changed = (by_intervention(rates, SUMMED, measure) for measure in ("effect", "changed"))
    assert {*effects.index} == {*INTERVENTIONS}
    for found in ("whole", "das", "difference-of-means", "probe"):
        assert effects.loc[found, "low"] > effects.loc["random", "high"] + 1, found
    assert changed.loc["das", "low"] > 0.5 > changed.loc["random", "high"]
    # The source's own log odds are as large; after an erasure there are none.
    before = knowing[(knowing["construction"] == "toy") & (knowing["labels"] == "true")]["before"].mean()
    assert effects.loc["whole", "value"] == pytest.approx(2 * before, rel=0.05)
    assert effects.loc["erase", "value"] == pytest.approx(before, rel=0.2)


def test_on_control_words_a_trained_direction_has_an_effect_too_so_that_its_lead_shrinks(rates):
    selectivity = by_intervention(rates, SUMMED, "selectivity")["value"]
    assert selectivity["das"] < selectivity["difference-of-means"]


def test_a_direction_moves_the_same_construction_under_another_name_and_nothing_that_number_does_not_decide(rates):
    toy, same, other = (by_intervention(rates, ELSEWHERE, "effect", name) for name in ("toy", "same", "other"))
    for name in ("das", "difference-of-means", "erase"):
        assert same.loc[name, "low"] > 0.5 * toy.loc[name, "value"] > 0, name
        assert abs(other.loc[name, "value"]) < 0.1 * same.loc[name, "value"], name
    assert abs(same.loc["random", "value"]) < 0.5


def test_what_number_decides_breaks_and_what_is_broken_is_the_loss_of_the_word_that_follows(rates):
    broken = by_intervention(rates, SUMMED, "broken")["value"]
    assert broken["erase"] > 0.2 > abs(broken["random"])  # the last words are verbs


def test_what_is_used_is_readable_and_expected(rates):
    assert by_intervention(rates, Facet(), "accuracy")["value"].item() > 0.9
    assert by_intervention(rates, USED, "readable")["value"].item() > 0.9
    untrained = rates_in(effects_in(trained(0)))
    used, nothing = (by_intervention(table, USED, "selectivity").rename(role_of) for table in (rates, untrained))
    assert used.loc["direction", "low"] > used.loc["random", "high"] + 1
    assert abs(nothing.loc["direction", "value"]) < 0.5


def test_directions_follow_from_the_seed():
    lm = trained(20)
    again = [effects_in(lm, 16, 16, steps=5) for _ in range(2)]
    pd.testing.assert_frame_equal(*again)


def test_too_few_items_are_refused():
    same = [row | {"do": row["does"]} for row in LABELLED.groups["verbs"]]
    labelled = LABELLED._replace(groups={**LABELLED.groups, "verbs": same})
    items = draw_base_and_source("toy", labelled, People(pronouns={}, types={}), {"test": 8, "train": 8}, 1)
    with pytest.raises(DataError, match="0 of 8 items are left in the part 'test'"):
        prompt_items(trained(0), items, 1, "toy")


def test_an_answer_changes_where_another_one_is_preferred_than_before():
    before, after = np.array([1.0, 1.0, -1.0, -1.0, 0.0]), np.array([2.0, -2.0, 2.0, -2.0, 2.0])
    assert is_changed(before, after).tolist() == [1, 0, 0, 1, 0.5]


def test_layers_are_evenly_spaced_and_the_last_one_is_among_them():
    assert [spaced_layers(6, 3), spaced_layers(2, 5), spaced_layers(30, 1)] == [[2, 4, 6], [1, 2], [30]]


def labelled(n: int, dimensions: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors whose label is in their first number, with noise of unequal size elsewhere."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2 == 0
    vectors = rng.standard_normal((n, dimensions)) * np.linspace(0.5, 3, dimensions)
    vectors[:, 0] += 4 * labels
    return vectors, labels


@given(st.integers(0, 1000), st.integers(2, 12))
def test_an_exchange_takes_the_sources_part_along_the_direction_and_leaves_all_others(seed, dimensions):
    rng = np.random.default_rng(seed)
    base, source, direction = rng.standard_normal((3, 5, dimensions))
    changed = along(direction[0])(base, source)
    unit = direction[0] / np.linalg.norm(direction[0])
    np.testing.assert_allclose(changed @ unit, source @ unit, atol=1e-9)
    across = np.eye(dimensions) - np.outer(unit, unit)
    np.testing.assert_allclose(changed @ across, base @ across, atol=1e-9)


def test_along_nothing_nothing_is_exchanged():
    base, source = np.ones((2, 3)), np.zeros((2, 3))
    np.testing.assert_array_equal(along(np.zeros(3))(base, source), base)


@pytest.mark.parametrize(("n", "dimensions"), [(300, 8), (40, 64)])
def test_after_an_erasure_no_linear_probe_finds_the_label(n, dimensions):
    vectors, labels = labelled(n, dimensions)
    erased = erase_label(vectors, labels)(vectors, vectors)
    centred = erased - erased.mean(axis=0)
    np.testing.assert_allclose(centred.T @ (labels - labels.mean()), 0, atol=1e-8)
    # With no covariance, the best linear probe is the one that has no weights (Belrose et al. 2023, Theorem 3.1).
    weights = LogisticRegression(C=1.0, max_iter=5000).fit(erased, labels).coef_
    assert np.abs(weights).max() < 1e-4


def test_an_erasure_is_the_least_change_by_the_closed_form_of_the_paper():
    vectors, labels = labelled(2000, 5)
    mean, covariance = vectors.mean(axis=0), np.cov(vectors.T, bias=True)
    values, basis = np.linalg.eigh(covariance)
    root, whiten = basis * np.sqrt(values) @ basis.T, basis / np.sqrt(values) @ basis.T
    cross = whiten @ ((vectors - mean).T @ (labels - labels.mean()) / len(labels))
    projection = np.outer(cross, cross) / (cross @ cross)
    expected = vectors - (vectors - mean) @ (root @ projection @ whiten).T
    np.testing.assert_allclose(erase_label(vectors, labels)(vectors, vectors), expected, atol=0.02)
