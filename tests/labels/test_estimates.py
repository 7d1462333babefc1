"""What judgements tell, beside what definitions and plain loops say."""

from itertools import permutations

import numpy as np
import pytest
from labelling_desk import label

from cxprobe.labels.estimates import alpha_of_labels, estimate_yield
from cxprobe.labels.labels import DECIDES
from cxprobe.labels.mined import MinedSentence, SentenceGroup
from cxprobe.stats import estimate_rate


def alpha_by_pairs(by_item: list[list[str]]) -> float:
    """Krippendorff's nominal alpha from its definition: disagreement within items and among all values."""
    units = [values for values in by_item if len(values) > 1]
    values = [value for unit in units for value in unit]
    within = sum(sum(one != other for one, other in permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    among = sum(one != other for one, other in permutations(values, 2)) / (len(values) - 1)
    return 1 - within / among


def test_alpha_of_labels_leaves_out_who_has_seen_the_labels_of_others():
    judgements = {"Ann": ["positive", "positive", "negative"], "Bo": ["positive", "negative", "negative"]}
    labels = [label("sequence", str(n), one, who) for who, own in judgements.items() for n, one in enumerate(own)]
    decided = [*labels, label("sequence", "1", "positive", f"Cy{DECIDES}"), label("sequence", "9", "unclear", "Ann")]
    expected = alpha_by_pairs([list(pair) for pair in zip(*judgements.values(), strict=True)])
    assert alpha_of_labels(decided) == (pytest.approx(expected), 3)
    alpha, twice = alpha_of_labels([])
    assert (np.isnan(alpha), twice) == (True, 0)


def groups_of(number: int, sentences: int = 1) -> tuple[SentenceGroup, ...]:
    groups = []
    for name in range(number):
        own = tuple(MinedSentence(f"{name}-{n}", "a", "url") for n in range(sentences))
        groups.append(SentenceGroup("sequence", f"NN {name}", f"NN {name}", own))
    return tuple(groups)


def label_of(group: SentenceGroup, is_positive: bool, who: str = "Ann"):
    return label("sequence", group.target, "positive" if is_positive else "negative", who)


def test_the_intervals_cover_precision_and_the_number_of_instances_though_what_is_labelled_is_biased():
    n, repetitions, covered, naive = 200, 300, 0, 0
    groups = groups_of(n)
    for seed in range(repetitions):
        truth = np.random.default_rng(seed).random(n) < 0.3
        # Every second sequence is an instance as long as there are any: no ordering could be more biased.
        labelled: set[int] = set()
        for turn in range(80):
            left = [number for number in range(n) if number not in labelled]
            labelled.add(min(left, key=lambda number: (not truth[number], number)) if turn % 2 else left[0])
        _, instances = estimate_yield(groups, [label_of(groups[number], truth[number]) for number in labelled])
        covered += instances[1] <= truth.sum() <= instances[2]
        biased = estimate_rate(truth[list(labelled)].astype(float), np.arange(len(labelled), dtype=object)[:, None])
        naive += biased.low <= truth.mean() <= biased.high
    assert covered >= 0.93 * repetitions
    assert naive < 0.05 * repetitions  # of all that is labelled


def test_the_estimate_is_that_of_the_sample_up_to_the_first_gap_and_never_less_than_what_is_known():
    groups = groups_of(100)
    labels = [label_of(groups[number], number < 4) for number in range(20)]
    assert estimate_yield(groups, labels[1:]) is None
    precision, instances = estimate_yield(groups, labels)
    oracle = estimate_rate(np.array([1.0] * 4 + [0.0] * 16), np.arange(20, dtype=object)[:, None])
    assert precision == oracle
    assert instances[0] == pytest.approx(20)
    assert instances[1] == pytest.approx(100 * (0.2 - (0.2 - oracle.low) * np.sqrt(0.8)))
    behind = estimate_yield(groups, [*labels, *(label_of(groups[number], True) for number in range(30, 90))])
    assert behind == (oracle, pytest.approx((64, 64, 64)))  # 30 are left, 64 instances are known
    whole = estimate_yield(groups, [label_of(group, number < 10) for number, group in enumerate(groups)])
    assert whole[1] == (10, 10, 10)


def test_what_is_unclear_is_no_instance_and_what_two_call_differently_is_half_of_one():
    groups = groups_of(4, sentences=2)
    labels = [label_of(group, True) for group in groups[:3]]
    labels[1] = labels[1]._replace(label="unclear")
    labels.append(label_of(groups[2], False, "Bo"))
    assert estimate_yield(groups, labels)[0].value == pytest.approx((2 + 0 + 1) / 6)
    labels.append(label("sentence", "0-1", "negative", "Ann"))
    assert estimate_yield(groups, labels)[0].value == pytest.approx((1 + 0 + 1) / 6)
