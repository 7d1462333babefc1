import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pretraining.segments import cut_segments, mask_tokens, plan_batches

OPENING, CLOSING = 1000, 1001
SPECIAL, MASK = np.array([0, 1, 2]), 3
RECORDS = st.lists(st.lists(st.lists(st.integers(0, 999), min_size=1, max_size=30), max_size=8), max_size=6)


@given(RECORDS, st.integers(12, 40), st.integers(0, 3))
def test_segments_are_whole_sentences_in_order_and_never_cross_a_record(records, longest, seed):
    segments = cut_segments(records, OPENING, CLOSING, longest, np.random.default_rng(seed))
    rows = [segments[row].tolist() for row in range(len(segments))]
    assert all(row[0] == OPENING and row[-1] == CLOSING and len(row) <= longest for row in rows)
    wanted = iter(rows)
    for record in records:
        left = [sentence[: longest - 2] for sentence in record]
        while left:
            row = next(wanted)[1:-1]
            while row:
                assert row[: len(left[0])] == left[0]
                row = row[len(left.pop(0)) :]
    assert next(wanted, None) is None


@given(st.lists(st.integers(1, 60), min_size=1, max_size=80), st.integers(20, 200), st.integers(0, 3))
def test_batches_hold_every_segment_once_and_keep_the_budget(lengths, budget, seed):
    batches = plan_batches(np.array(lengths), budget, np.random.default_rng(seed))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    for rows in batches:
        assert len(rows) * max(lengths[row] for row in rows) <= budget or len(rows) == 1


@given(arrays(np.int64, (4, 9), elements=st.integers(0, 20)), st.floats(0.01, 1), st.integers(0, 9))
def test_only_ordinary_tokens_are_hidden_and_only_by_the_mask(ids, share, seed):
    masked, hidden = mask_tokens(ids, SPECIAL, share, MASK, np.random.default_rng(seed))
    assert not np.isin(ids[hidden], SPECIAL).any()
    assert (masked[hidden] == MASK).all()
    np.testing.assert_array_equal(masked[~hidden], ids[~hidden])
    assert hidden.any() == (~np.isin(ids, SPECIAL)).any()
