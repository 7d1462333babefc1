import itertools

from hypothesis import given
from hypothesis import strategies as st

from cxprobe.lm.embedding import token_budget_batches

LENGTHS = st.lists(st.integers(1, 50))
BUDGETS = st.integers(1, 200)


@given(LENGTHS, BUDGETS)
def test_each_sentence_is_in_exactly_one_batch(lengths, budget):
    batches = token_budget_batches(lengths, budget)
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    assert all(batches)


@given(LENGTHS, BUDGETS)
def test_no_batch_exceeds_the_budget_unless_it_is_one_sentence(lengths, budget):
    for batch in token_budget_batches(lengths, budget):
        assert len(batch) == 1 or len(batch) * max(lengths[position] for position in batch) <= budget


@given(LENGTHS, BUDGETS)
def test_batches_are_as_full_as_the_order_allows(lengths, budget):
    batches = token_budget_batches(lengths, budget)
    for batch, following in itertools.pairwise(batches):
        assert lengths[batch[-1]] >= lengths[following[0]]
        assert (len(batch) + 1) * lengths[batch[0]] > budget
