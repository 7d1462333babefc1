import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from cxprobe.constructions import JUDGEMENTS, Label
from cxprobe.labelling import conflicts, kappas


@given(st.lists(st.tuples(st.sampled_from(JUDGEMENTS), st.sampled_from(JUDGEMENTS)), min_size=1))
def test_the_agreement_of_two_people_is_cohens_kappa_on_what_both_have_labelled(pairs):
    labels = [
        Label("sequence", str(number), label, who, "2026-01-31")
        for number, pair in enumerate(pairs)
        for who, label in zip(("Bo", "Ann"), pair, strict=True)
    ]
    alone = Label("sequence", "alone", "positive", "Ann", "2026-01-31")
    (found,) = kappas([*labels, alone])
    assert (found.first, found.second, found.both) == ("Ann", "Bo", len(pairs))
    assert found.agreed == sum(one == other for one, other in pairs)
    if len({label for pair in pairs for label in pair}) == 1:
        assert found.value is None
    else:
        assert found.value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert len(conflicts([*labels, alone])) == len(pairs) - found.agreed


def test_a_conflict_says_who_calls_it_what():
    labels = [
        Label("sequence", "DT", "positive", "Bo", "2026-01-31"),
        Label("sequence", "DT", "unclear", "Ann", "2026-01-31"),
    ]
    assert conflicts(labels) == [("sequence", "DT", (("Ann", "unclear"), ("Bo", "positive")))]
