import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelling_desk import mined
from sklearn.metrics import cohen_kappa_score

from cxprobe.people.agreement import conflicts, disputes, kappas
from cxprobe.people.decisions import DECIDES
from cxprobe.people.labels import JUDGEMENTS, Label
from cxprobe.people.sessions import group_sentences
from cxprobe.recognition.make import apply_labels


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


def label(kind: str, target: str, judgement: str, who: str) -> Label:
    return Label(kind, target, judgement, who, "2026-01-31")


def test_what_somebody_decides_is_no_conflict_any_more_and_is_not_compared():
    labels = [label("sequence", "DT", "positive", "Bo"), label("sequence", "DT", "negative", "Ann")]
    decided = [*labels, label("sequence", "DT", "positive", f"Cy{DECIDES}")]
    assert len(conflicts(labels)) == 1
    assert conflicts(decided) == []
    assert kappas(decided) == kappas(labels)
    twice = [*decided, label("sequence", "DT", "unclear", f"Di{DECIDES}")]
    assert conflicts(twice)[0].labels == (("Cy (decides)", "positive"), ("Di (decides)", "unclear"))


def test_disputes_are_what_keeps_a_mined_sentence_from_having_a_label():
    groups = group_sentences(mined(3), 1)
    first, second, third = groups
    labels = [
        label("sequence", first.tags, "positive", "Ann"),
        label("sequence", first.tags, "negative", "Bo"),
        label("sequence", second.tags, "positive", "Ann"),
        label("sequence", second.tags, "positive", "Bo"),
        label("sentence", second.sentences[1].id, "negative", "Bo"),
        label("sequence", third.tags, "positive", "Ann"),
        label("sentence", third.sentences[0].id, "negative", "Ann"),
        label("sequence", "not mined", "positive", "Ann"),
        label("sequence", "not mined", "negative", "Bo"),
    ]
    found = disputes(groups, labels)
    assert [(group.kind, group.target) for group, _ in found] == [
        ("sequence", first.tags),
        ("sentence", second.sentences[1].id),
    ]
    assert found[1][0].sentences == (second.sentences[1],)
    assert found[1][1].labels == (("Ann", "positive"), ("Bo", "negative"))


LABEL = st.tuples(st.integers(0, 5), st.sampled_from(JUDGEMENTS[:2]), st.sampled_from(["Ann", "Bo", f"Cy{DECIDES}"]))


@given(st.lists(LABEL, max_size=14))
def test_when_every_dispute_is_decided_no_sentence_is_left_out_for_a_conflict(drawn):
    table = mined(2)
    groups = group_sentences(table, 1)
    targets = [("sequence", group.tags) for group in groups] + [("sentence", one) for one in table["id"]]
    by_key = {(targets[place], who): (judgement, who) for place, judgement, who in drawn}
    labels = [label(*target, *said) for (target, _), said in by_key.items()]
    disputed = {(group.kind, group.target) for group, _ in disputes(groups, labels)}
    for row in range(len(table)):
        one = table.iloc[[row]]
        if apply_labels(one, labels).left_out.get("conflict"):
            assert disputed & {("sequence", one["tags"].item()), ("sentence", one["id"].item())}
    rounds = 0
    while found := disputes(groups, labels):
        labels += [label(group.kind, group.target, "positive", f"Cy{DECIDES}") for group, _ in found]
        rounds += 1
        assert rounds <= 2
    assert "conflict" not in apply_labels(table, labels).left_out
