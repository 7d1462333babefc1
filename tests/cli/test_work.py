"""Work, hours and memory, against sums by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from cxprobe.lm.params import ModelSpec
from cxprobe.planning.facts import ModelSize, load_facts
from cxprobe.planning.work import Texts, Training, effort_of, fitting_hours, memory_of, texts_of, work_of, writing_hours

RATES = load_facts(ROOT / "docs" / "plan.yaml").rates
SIZE = ModelSize(kind="causal", parameters=1e9, layers=9, width=1000)


def spec(dtype: str = "float32") -> ModelSpec:
    return ModelSpec(name="some/model", revision=None, sha256=None, dtype=dtype)


@given(st.lists(st.text(max_size=60), max_size=20), st.integers(1, 3))
def test_a_masked_model_reads_a_text_and_two_special_tokens_once_for_each_token(texts, times):
    lengths = [-(-len(text) // 4) for text in texts]
    work = work_of(texts_of(texts), "each token", RATES, times=times)
    assert (work.texts, work.tokens) == (len(texts), sum(lengths))
    assert work.read == times * sum(n * (n + 2) for n in lengths)
    assert work_of(texts_of(texts), "once", RATES).read == sum(lengths)


def test_a_sample_stands_for_as_many_texts_as_its_scale_says():
    sample = Texts(np.array([4, 8, 12]), scale=50, about=True)
    work = work_of(sample, "once", RATES)
    assert (work.texts, work.tokens, work.about) == (150, 300, True)


@pytest.mark.parametrize(
    ("device", "gpu", "cpu"), [("cuda:1", True, False), ("gpu", True, False), ("cpu", False, True)]
)
def test_hours_are_two_operations_a_weight_and_token_and_the_loading(device, gpu, cpu):
    work = work_of(texts_of(["word"] * 1_000_000), "once", RATES)
    effort = effort_of(work, spec(), SIZE, device, RATES)
    speed = (RATES.gpu_float32 if gpu else RATES.cpu_float32).value
    expected = (2 * 1e9 * 1e6 / speed + 4e9 / RATES.loading.value) / 3600
    assert (effort.gpu_hours, effort.cpu_hours) == pytest.approx((expected * gpu, expected * cpu))


def test_bfloat16_is_faster_and_needs_more_memory_since_float32_lies_beside_it():
    work = work_of(texts_of(["word"] * 1_000_000), "once", RATES)
    assert (
        effort_of(work, spec("bfloat16"), SIZE, "cuda", RATES).gpu_hours
        < effort_of(work, spec(), SIZE, "cuda", RATES).gpu_hours
    )
    assert memory_of(spec("bfloat16"), SIZE, RATES) - memory_of(spec(), SIZE, RATES) == pytest.approx(2 * 1e9)
    assert memory_of(spec(), SIZE, RATES) == pytest.approx(4e9 + RATES.working_memory.value)


def test_probes_take_a_fit_for_each_layer_and_subset():
    training = Training(sentences=(8000, 4000), draws=2, scale=2.0)
    one = fitting_hours(training, SIZE, 1.0, RATES)
    assert one == pytest.approx(10 * 2 * 2 * 12000 * 1000 / (8000 * 1024) * RATES.probe.value / 3600)
    assert fitting_hours(training, SIZE, 3.0, RATES) == pytest.approx(3 * one)


def test_a_model_that_writes_reads_its_weights_for_each_token_of_all_replies_at_once():
    one = writing_hours(1000, 1, SIZE, RATES)
    assert one == pytest.approx(1000 * 2e9 / RATES.gpu_memory_bandwidth.value / 3600)
    assert writing_hours(1000, 10, SIZE, RATES) == pytest.approx(one / 10)


def test_a_quantised_model_needs_an_eighth_of_the_memory_and_what_it_is_compared_with_beside_it():
    four = {"package": "bitsandbytes", "bits": 4, "quant_type": "nf4"}
    changes = {"name": "m", "revision": None, "sha256": None, "dtype": "float16", "quantisation": four}
    alone = ModelSpec(**changes, compared=None)
    assert memory_of(alone, SIZE, RATES) == pytest.approx(0.5e9 + RATES.working_memory.value)
    compared = ModelSpec(**changes, compared={"dtype": "bfloat16"})
    assert memory_of(compared, SIZE, RATES) - memory_of(alone, SIZE, RATES) == pytest.approx(2e9)
    assert effort_of(work_of(texts_of(["word"]), "once", RATES), alone, SIZE, "cuda", RATES).gpu_hours > 0
