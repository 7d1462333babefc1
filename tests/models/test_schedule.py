import pytest

from cxprobe_pretraining.schedule import learning_rate_factor, masked_share


def test_the_learning_rate_rises_to_its_peak_and_falls_to_nothing():
    factors = [learning_rate_factor(step, steps=100, warm_up=10) for step in range(101)]
    assert factors[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert factors[10] == 1
    assert factors[55] == pytest.approx(0.5)
    assert factors[100] == 0
    assert factors == factors[:10] + sorted(factors[10:], reverse=True)


def test_the_share_of_masks_falls_in_a_line():
    assert [masked_share(step, 3, 0.3, 0.1) for step in range(3)] == pytest.approx([0.3, 0.2, 0.1])
    assert masked_share(0, 1, 0.3, 0.1) == 0.3
