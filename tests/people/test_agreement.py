from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelling_desk import mined
from sklearn.metrics import cohen_kappa_score

from cxprobe.people.agreement import conflicts, disputes, human_agreement, kappas, load_ratings, mistaken_items
from cxprobe.people.labels import DECIDES, JUDGEMENTS, PersonLabel
from cxprobe.people.mined import SentenceGroup, group_sentences
from cxprobe.people.ratings import write_ratings
from cxprobe.recognition.sentences import apply_labels
from cxprobe.stats import estimate_rate


@given(st.lists(st.tuples(st.sampled_from(JUDGEMENTS), st.sampled_from(JUDGEMENTS)), min_size=1))
def test_the_agreement_of_two_people_is_cohens_kappa_on_what_both_have_labelled(pairs):
    labels = [
        PersonLabel("sequence", str(number), label, who, "2026-01-31")
        for number, pair in enumerate(pairs)
        for who, label in zip(("Bo", "Ann"), pair, strict=True)
    ]
    alone = PersonLabel("sequence", "alone", "positive", "Ann", "2026-01-31")
    (found,) = kappas([*labels, alone])
    assert (found.first, found.second, found.both) == ("Ann", "Bo", len(pairs))
    assert found.agreed == sum(one == other for one, other in pairs)
    if len({label for pair in pairs for label in pair}) == 1:
        assert found.value is None
    else:
        assert found.value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert len(conflicts([*labels, alone])) == len(pairs) - found.agreed


def label(kind: str, target: str, judgement: str, who: str) -> PersonLabel:
    return PersonLabel(kind, target, judgement, who, "2026-01-31")


def test_what_somebody_decides_is_no_conflict_any_more_and_is_not_compared():
    labels = [label("sequence", "DT", "positive", "Bo"), label("sequence", "DT", "negative", "Ann")]
    decided = [*labels, label("sequence", "DT", "positive", f"Cy{DECIDES}")]
    assert len(conflicts(labels)) == 1
    assert conflicts(decided) == {}
    assert kappas(decided) == kappas(labels)
    twice = [*decided, label("sequence", "DT", "unclear", f"Di{DECIDES}")]
    assert conflicts(twice) == {("sequence", "DT"): {"Cy (decides)": "positive", "Di (decides)": "unclear"}}


def test_disputes_are_what_keeps_a_mined_sentence_from_having_a_label():
    groups = group_sentences(mined(3), 1)
    first, second, third = groups
    differ = {"Ann": "positive", "Bo": "negative"}
    labels = [label("sequence", tags, *said[::-1]) for tags in (first.tags, "not mined") for said in differ.items()]
    labels += [label("sequence", second.tags, "positive", who) for who in differ]
    labels += [label("sentence", second.sentences[1].id, "negative", "Bo")]
    labels += [label("sequence", third.tags, "positive", "Ann")]
    labels += [label("sentence", third.sentences[0].id, "negative", "Ann")]
    one = SentenceGroup("sentence", second.sentences[1].id, second.tags, (second.sentences[1],))
    assert disputes(groups, labels) == [(first, differ), (one, differ)]


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


COLUMNS = ["construction", "kind", "item", "frame", "rater", "answer", "gold"]


def alpha_by_pairs(by_item: dict[str, list[str]]) -> float:
    """Krippendorff's nominal alpha from its definition: disagreement within items and among all values."""
    units = [values for values in by_item.values() if len(values) > 1]
    values = [value for unit in units for value in unit]
    within = sum(sum(one != other for one, other in permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    among = sum(one != other for one, other in permutations(values, 2)) / (len(values) - 1)
    return 1 - within / among


def table(rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


answers = st.lists(st.lists(st.sampled_from("ABC"), min_size=1, max_size=5), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(answers)
def test_agreement_is_what_brute_force_finds(given_answers):
    rows = [
        ("toy", "reasoning", f"i{item}", f"f{item % 3}", f"r{rater}", answer, "B")
        for item, own in enumerate(given_answers)
        for rater, answer in enumerate(own)
    ]
    (found,) = human_agreement(table(rows)).to_dict("records")
    credits = []
    for own in given_answers:
        most = max(own.count(answer) for answer in own)
        modes = {answer for answer in own if own.count(answer) == most}
        credits.append(0.0 if "B" not in modes else 1.0 if modes == {"B"} else 0.5)
    frames = np.array([[f"f{item % 3}"] for item in range(len(given_answers))], dtype=object)
    expected = estimate_rate(np.array(credits), frames)
    assert [found[name] for name in ("accuracy", "low", "high")] == pytest.approx(
        [expected.value, expected.low, expected.high]
    )
    assert (found["n"], found["ties"]) == (len(given_answers), credits.count(0.5))
    assert found["ratings"] == sum(map(len, given_answers))
    assert found["raters"] == max(map(len, given_answers))
    several = [own for own in given_answers if len(own) > 1]
    assert found["full_n"] == len(several)
    if several:
        assert found["full_agreement"] == pytest.approx(np.mean([len(set(own)) == 1 for own in several]))
    else:
        assert np.isnan(found["full_agreement"])
    if len({answer for own in several for answer in own}) > 1:
        assert found["alpha"] == pytest.approx(alpha_by_pairs(dict(enumerate(given_answers))), abs=1e-9)
    else:
        assert np.isnan(found["alpha"])


def test_nobody_has_judged_is_no_rate_of_zero(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_ratings("toy").empty
    write_ratings([], tmp_path / "constructions" / "toy" / "ratings.tsv")
    assert list(load_ratings("toy").columns) == COLUMNS
    none = human_agreement(load_ratings("toy"))
    assert none.empty
    assert {"construction", "kind", "accuracy", "low", "high", "n", "full_agreement", "alpha"} <= set(none.columns)


def test_items_that_most_people_get_wrong_are_told_in_words():
    rows = [
        *(("toy", "pairs", "tied", "f", f"r{n}", "AB"[n % 2], "A") for n in range(4)),
        *(("toy", "pairs", "wrong", "f", f"r{n}", "B" if n else "A", "A") for n in range(3)),
        *(("toy", "pairs", "right", "f", f"r{n}", "A" if n else "B", "A") for n in range(3)),
        *(("toy", "pairs", "unknown", "f", f"r{n}", "B", "A") for n in range(3)),
    ]
    shown = {"text": "", "question": "Which?", "a": "The good one.", "b": "The bad one.", "c": "", "answers": "A B"}
    turned = shown | {"a": "The bad one.", "b": "The good one.", "answers": "B A"}
    items = pd.DataFrame(
        [{"kind": "pairs", "item": item, **shown} for item in ("right", "tied")]
        + [{"kind": "pairs", "item": "wrong", **turned}]
    )
    found = mistaken_items(table(rows), items)
    assert found[["item", "verdict", "right", "given"]].to_numpy().tolist() == [
        ["wrong", "wrong", "The good one.", "2 x The bad one.; 1 x The good one."],
        ["tied", "tie", "The good one.", "2 x The good one.; 2 x The bad one."],
    ]
