"""What judgements tell, beside what definitions and plain loops say."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from labelling_desk import label, table_of

from cxprobe.labels import DECIDES, agreement_of_people, estimate_yield
from cxprobe.stats import estimate_rate


def kappa_by_hand(pairs: list[tuple[str, str]]) -> float:
    """Cohen's kappa from its definition: agreement beyond that of independent answers with the same frequencies."""
    observed = sum(one == other for one, other in pairs) / len(pairs)
    first, second = (Counter(column) for column in zip(*pairs, strict=True))
    expected = sum(first[value] * second[value] for value in first) / len(pairs) ** 2
    return (observed - expected) / (1 - expected)


def test_the_agreement_of_two_people_leaves_out_programs_and_who_decides():
    sentences = ordered(4)
    said = {"Ann": ["positive", "positive", "negative", "unclear"], "Bo": ["positive", "negative", "negative"]}
    labels = [label("sentence", f"{n}-0", one, who) for who, own in said.items() for n, one in enumerate(own)]
    others = [label("sentence", "1-0", "positive", f"Cy{DECIDES}"), label("sentence", "1-0", "negative", "model:x")]
    (found,) = agreement_of_people(sentences, table_of(*labels, *others))
    assert found == ("Ann", "Bo", 3, pytest.approx(kappa_by_hand(list(zip(*said.values(), strict=False)))))
    of_sequence = [label("sequence", "NN 0", "positive"), label("sentence", "0-0", "positive", "Bo")]
    ((*_, number, kappa),) = agreement_of_people(sentences, table_of(*of_sequence))
    assert (number, np.isnan(kappa)) == (1, True)  # both give one label only, so nothing can be told
    assert not list(agreement_of_people(sentences, table_of()))


def ordered(number: int, sentences: int = 1) -> pd.DataFrame:
    """Return so many sequences in their order, each of so many sentences."""
    rows = [(f"{name}-{n}", f"NN {name}", float(name)) for name in range(number) for n in range(sentences)]
    return pd.DataFrame(rows, columns=["id", "tags", "draw"])


def label_of(number: int, is_positive: bool, who: str = "Ann"):
    return label("sequence", f"NN {number}", "positive" if is_positive else "negative", who)


def test_the_intervals_cover_precision_and_the_number_of_instances_though_what_is_labelled_is_biased():
    n, repetitions, covered, naive = 200, 300, 0, 0
    sentences = ordered(n)
    for seed in range(repetitions):
        truth = np.random.default_rng(seed).random(n) < 0.3
        # Every second sequence is an instance as long as there are any: no ordering could be more biased.
        labelled: set[int] = set()
        for turn in range(80):
            left = [number for number in range(n) if number not in labelled]
            labelled.add(min(left, key=lambda number: (not truth[number], number)) if turn % 2 else left[0])
        _, instances = estimate_yield(sentences, table_of(*(label_of(one, truth[one]) for one in labelled)))
        covered += instances[1] <= truth.sum() <= instances[2]
        biased = estimate_rate(truth[list(labelled)].astype(float), np.arange(len(labelled), dtype=object)[:, None])
        naive += biased.low <= truth.mean() <= biased.high
    assert covered >= 0.93 * repetitions
    assert naive < 0.05 * repetitions  # of all that is labelled


def test_the_estimate_is_that_of_the_sample_up_to_the_first_gap_and_never_less_than_what_is_known():
    sentences = ordered(100)
    labels = [label_of(number, number < 4) for number in range(20)]
    assert estimate_yield(sentences, table_of(*labels[1:])) is None
    precision, instances = estimate_yield(sentences, table_of(*labels))
    oracle = estimate_rate(np.array([1.0] * 4 + [0.0] * 16), np.arange(20, dtype=object)[:, None])
    assert precision == oracle
    assert instances[0] == pytest.approx(20)
    assert instances[1] == pytest.approx(100 * (0.2 - (0.2 - oracle.low) * np.sqrt(0.8)))
    behind = estimate_yield(sentences, table_of(*labels, *(label_of(number, True) for number in range(30, 90))))
    assert behind == (oracle, pytest.approx([64, 64, 64]))  # 30 are left, 64 instances are known
    whole = estimate_yield(sentences, table_of(*(label_of(number, number < 10) for number in range(100))))
    assert whole[1] == [10, 10, 10]


def test_what_is_unclear_is_no_instance_and_what_two_call_differently_is_half_of_one():
    sentences = ordered(4, sentences=2)
    labels = [label_of(number, True) for number in range(3)]
    labels[1]["label"] = "unclear"
    labels.append(label_of(2, False, "Bo"))
    assert estimate_yield(sentences, table_of(*labels))[0].value == pytest.approx((2 + 0 + 1) / 6)
    labels.append(label("sentence", "0-1", "negative", "Ann"))
    assert estimate_yield(sentences, table_of(*labels))[0].value == pytest.approx((1 + 0 + 1) / 6)
