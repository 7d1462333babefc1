"""Planted labels: what the estimate says of them."""

import numpy as np
import pytest
from scipy.stats import binomtest

from cxprobe.people.labels import PersonLabel
from cxprobe.people.mined import MinedSentence, SentenceGroup
from cxprobe.people.ranking import estimate_yield, sentences_for
from cxprobe.stats import estimate_rate

DAY = "2026-01-31"


def group_of(name: str, words: str, sentences: int = 1) -> SentenceGroup:
    made = tuple(MinedSentence(f"{name}-{number}", words, "url", 0, 9) for number in range(sentences))
    return SentenceGroup("sequence", f"NN {name}", f"NN {name}", made)


def groups_of(number: int, sentences: int = 1) -> tuple[SentenceGroup, ...]:
    return tuple(group_of(str(name), "a", sentences) for name in range(number))


def label_of(group: SentenceGroup, is_positive: bool, who: str = "Ann") -> PersonLabel:
    return PersonLabel("sequence", group.target, "positive" if is_positive else "negative", who, DAY)


def test_the_intervals_cover_precision_and_the_number_of_instances_though_the_ordering_is_biased():
    n, repetitions, covered, left_covered, naive = 200, 300, 0, 0, 0
    groups = groups_of(n)
    for seed in range(repetitions):
        truth = np.random.default_rng(seed).random(n) < 0.3
        # Every second sequence is an instance as long as there are any: no ordering could be more biased.
        labelled: set[int] = set()
        for turn in range(80):
            left = [number for number in range(n) if number not in labelled]
            labelled.add(min(left, key=lambda number: (not truth[number], number)) if turn % 2 else left[0])
        known = estimate_yield(groups, [label_of(groups[number], truth[number]) for number in labelled])
        covered += known.instances[1] <= truth.sum() <= known.instances[2]
        left_covered += known.left[1] <= truth.sum() - truth[list(labelled)].sum() <= known.left[2]
        biased = estimate_rate(truth[list(labelled)].astype(float), np.arange(len(labelled), dtype=object)[:, None])
        naive += biased.low <= truth.mean() <= biased.high
    assert covered >= 0.93 * repetitions
    assert left_covered >= 0.93 * repetitions
    assert naive < 0.05 * repetitions  # of all that is labelled


def test_without_the_first_sequence_nothing_is_known_and_with_all_of_them_everything_is():
    groups = groups_of(10, sentences=2)
    labels = [label_of(group, number % 2 == 0) for number, group in enumerate(groups)]
    assert estimate_yield(groups, labels[1:]) is None
    known = estimate_yield(groups, labels)
    assert (known.precision.value, known.precision.n, known.groups) == (0.5, 20, 10)
    assert known.precision.low < 0.5 < known.precision.high  # other sentences that the pattern would find
    assert known.instances == (10, 10, 10)
    assert (known.left, known.unlabelled) == ((0, 0, 0), 0)


def test_the_estimate_is_that_of_the_sample_up_to_the_first_gap_and_never_less_than_what_is_known():
    groups = groups_of(100)
    labels = [label_of(groups[number], number < 4) for number in range(20)]
    known = estimate_yield(groups, labels)
    oracle = estimate_rate(np.array([1.0] * 4 + [0.0] * 16), np.arange(20, dtype=object)[:, None])
    assert known.precision == oracle
    assert known.instances[0] == pytest.approx(20)
    assert known.instances[1] == pytest.approx(100 * (0.2 - (0.2 - oracle.low) * np.sqrt(0.8)))
    assert known.left == pytest.approx([value - 4 for value in known.instances])
    behind = estimate_yield(groups, [*labels, *(label_of(groups[number], True) for number in range(30, 90))])
    assert behind.precision == oracle
    assert behind.instances == pytest.approx([64, 64, 64])  # 30 are left, 64 instances are known
    assert behind.unlabelled == 20


def test_what_is_unclear_is_no_instance_and_what_two_call_differently_is_half_of_one():
    groups = groups_of(4, sentences=2)
    labels = [label_of(group, True) for group in groups[:3]]
    labels[1] = labels[1]._replace(label="unclear")
    labels.append(label_of(groups[2], False, "Bo"))
    assert estimate_yield(groups, labels).precision.value == pytest.approx((2 + 0 + 1) / 6)
    labels.append(PersonLabel("sentence", "0-1", "negative", "Ann", DAY))
    assert estimate_yield(groups, labels).precision.value == pytest.approx((1 + 0 + 1) / 6)


@pytest.mark.parametrize("half", [0.1, 0.15, 0.2])
def test_so_many_sentences_have_an_interval_as_narrow_and_fewer_have_none(half):
    n = sentences_for(half)
    fewer, enough = (binomtest(m // 2, m).proportion_ci(method="wilson").high for m in (n - 2, n))
    assert enough - 0.5 <= half < fewer - 0.5
