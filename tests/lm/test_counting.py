from hypothesis import given
from hypothesis import strategies as st

from cxprobe.lm.answering import _in_proportion as in_proportion


@given(st.integers(0, 50), st.lists(st.integers(0, 20)))
def test_all_texts_are_reported_when_all_parts_are_finished_and_never_more(texts, steps):
    told: list[int] = []
    report = in_proportion(told.append, texts, sum(steps))
    for number, step in enumerate(steps, start=1):
        report(step)
        assert sum(told) == (texts * sum(steps[:number]) // sum(steps) if sum(steps) else 0)
    assert all(number >= 0 for number in told)
    if any(steps):
        assert sum(told) == texts


def test_nothing_is_reported_to_nobody():
    in_proportion(None, 3, 6)(6, known=True)
