import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cxprobe.scenarios.judge import calibrate, decide

LOG_P = st.floats(-30, -0.01)


TESTED = arrays(np.float64, (3, 2), elements=LOG_P)


def reference(texts=4):
    return arrays(np.float64, (3, texts, 2), elements=LOG_P)


@given(TESTED, reference())
def test_it_is_the_formula_of_the_paper(log_p, log_c):
    expected = [
        [np.exp(log_p[item, word]) / np.mean(np.exp(log_c[item, :, word])) for word in range(2)] for item in range(3)
    ]
    np.testing.assert_allclose(np.exp(calibrate(log_p, log_c, normalised=False)), expected, rtol=1e-9)


@given(TESTED, reference())
def test_normalised_it_is_contextual_calibration(log_p, log_c):
    """Zhao et al. 2021: W = diag(p_cf)^-1, b = 0, q = softmax(W p), where p and p_cf are normalised over the labels."""
    found = decide(calibrate(log_p, log_c, normalised=True), 0)
    for item in range(len(log_p)):
        p = np.exp(log_p[item]) / np.exp(log_p[item]).sum()
        p_cf = np.mean([np.exp(one) / np.exp(one).sum() for one in log_c[item]], axis=0)
        q = np.diag(1 / p_cf) @ p
        if not np.isclose(q[0], q[1], rtol=1e-6):
            assert found[item] == float(q[0] > q[1])


@given(TESTED, reference(texts=1))
def test_with_one_text_it_is_pointwise_mutual_information(log_p, log_c):
    np.testing.assert_allclose(calibrate(log_p, log_c, normalised=False), log_p - log_c[:, 0], atol=1e-9)


@pytest.mark.parametrize("normalised", [True, False])
@given(log_p=TESTED)
def test_a_model_that_heeds_no_text_is_left_with_ties(normalised, log_p):
    log_c = np.repeat(log_p[:, None], 5, axis=1)
    assert (decide(calibrate(log_p, log_c, normalised=normalised), 0) == 0.5).all()
