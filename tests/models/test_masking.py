import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cxprobe_pretraining.masking import mask_tokens

SPECIAL, MASK = np.array([0, 1, 2]), 3


@given(arrays(np.int64, (4, 9), elements=st.integers(0, 20)), st.floats(0.01, 1), st.integers(0, 9))
def test_only_ordinary_tokens_are_hidden_and_only_by_the_mask(ids, share, seed):
    masked, hidden = mask_tokens(ids, SPECIAL, share, MASK, np.random.default_rng(seed))
    assert not np.isin(ids[hidden], SPECIAL).any()
    assert (masked[hidden] == MASK).all()
    np.testing.assert_array_equal(masked[~hidden], ids[~hidden])
    assert hidden.any() == (~np.isin(ids, SPECIAL)).any()


def test_the_share_is_that_of_ordinary_tokens():
    ids = np.tile([1, 7, 8, 9, 2, 0, 0, 0], (2000, 1))
    _, hidden = mask_tokens(ids, SPECIAL, 0.2, MASK, np.random.default_rng(0))
    assert abs(hidden[:, 1:4].mean() - 0.2) < 0.02
