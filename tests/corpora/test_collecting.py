import random
import re
from collections import Counter

import pandas as pd
import pytest
from datasketch import MinHash

from cxprobe.corpora.collecting import ReadingReport, Twin, check_most_faults, find_duplicates
from cxprobe.errors import DataError

FAULT = ("part-0.jsonl", 1, 0, "no text under the key 'txt'; its keys are text, url")


def outcome(documents: int, faults: int) -> ReadingReport:
    table = pd.DataFrame([FAULT] * min(faults, 1), columns=["shard", "line", "offset", "fault"])
    counts = Counter(documents=documents, faults=faults, shards=3)
    return ReadingReport(counts, table)


@pytest.mark.parametrize(("faults", "refused"), [(0, False), (10, False), (11, True), (90, True)])
def test_more_faults_than_the_limit_are_refused(faults, refused):
    if not refused:
        check_most_faults(outcome(100 - faults, faults), "c4", 0.1)
        return
    with pytest.raises(DataError, match=rf"{faults} faults beside {100 - faults} documents .*most_faults \(0\.1\)"):
        check_most_faults(outcome(100 - faults, faults), "c4", 0.1)


LONG = "the longer the two of them waited by the river that evening the colder and the darker it became around them"


SCORE = (
    "The lower the number, the better the drawing agrees with the photograph it was made from, where {} of zero means "
    "a faultless copy."
)


def duplicates(texts, threshold=0.7):
    return find_duplicates(texts, shingle=3, permutations=128, threshold=threshold)


def compared_one_by_one(texts, permutations, threshold):
    """Compare each text with all that stay."""
    staying: dict[int, MinHash] = {}
    seen: dict[tuple[str, ...], int] = {}
    for position, text in enumerate(texts):
        words = tuple(re.findall(r"\w+", text.lower()))
        minhash = MinHash(num_perm=permutations, seed=1)
        minhash.update_batch([" ".join(words[n : n + 3]).encode() for n in range(max(1, len(words) - 2))])
        alike = [other for other, known in staying.items() if known.jaccard(minhash) >= threshold]
        if words in seen:
            yield Twin(position, seen[words], exact=True)
        elif alike:
            seen[words] = alike[0]
            yield Twin(position, alike[0], exact=False)
        else:
            seen[words] = position
            staying[position] = minhash


NAMES = ("a contrast loss", "a hue distance", "a line error", "an edge rank", "a shadow ratio", "a mean grey")


@pytest.mark.parametrize(
    ("texts", "twins"),
    [
        (["The more, the better.", "x y z", "the MORE the better"], [Twin(2, 0, exact=True)]),
        ([LONG, "quite another sentence of some length", f"{LONG} all"], [Twin(2, 0, exact=False)]),
        (["The more you eat, the more you want.", "The less you eat, the less you weigh."], []),
        ([SCORE.format(name) for name in NAMES], [Twin(place, 0, exact=False) for place in range(1, 6)]),
    ],
    ids=["the same words", "a word more", "short ones of one frame", "long ones that differ in a name"],
)
def test_what_repeats_another_sentence(texts, twins):
    assert duplicates(texts) == twins


@pytest.mark.parametrize(("permutations", "threshold"), [(128, 0.7), (128, 0.3), (64, 0.9), (100, 0.55), (16, 1.0)])
def test_no_near_duplicate_is_missed(permutations, threshold):
    draw = random.Random(1)
    words = [f"w{number}" for number in range(30)]
    texts = []
    for _ in range(40):
        sentence = draw.choices(words, k=draw.randint(1, 40))
        for changes in range(4):
            texts.append(" ".join(sentence))
            for place in draw.choices(range(len(sentence)), k=changes):
                sentence[place] = draw.choice(words)
            sentence.append(draw.choice(words))
    draw.shuffle(texts)
    expected = list(compared_one_by_one(texts, permutations, threshold))
    assert sum(not twin.exact for twin in expected) > 5
    assert find_duplicates(texts, shingle=3, permutations=permutations, threshold=threshold) == expected
