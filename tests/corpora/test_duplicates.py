import random
import re
from contextlib import nullcontext

import pandas as pd
import pytest
from datasketch import MinHash

from cxprobe.corpora.engine import check_faults, find_duplicates
from cxprobe.errors import DataError

FAULT = ("part-0.jsonl", 1, 0, "no text under the key 'txt'; its keys are text, url")


@pytest.mark.parametrize(("faults", "refused"), [(0, False), (10, False), (11, True), (90, True)])
def test_more_faults_than_the_limit_are_refused(faults, refused):
    table = pd.DataFrame([FAULT] * min(faults, 1), columns=["shard", "line", "offset", "fault"])
    message = f"{faults} faults beside {100 - faults} documents"
    with pytest.raises(DataError, match=rf"{message} .*most_faults \(0\.1\)") if refused else nullcontext():
        check_faults({"documents": 100 - faults, "faults": faults, "shards": 3}, table, "c4", 0.1)


def compared_one_by_one(texts, permutations, threshold):
    """Yield the position of each duplicate, and whether it is exact, by comparing each text with all that stay."""
    staying = list[MinHash]()
    seen = set[tuple[str, ...]]()
    for position, text in enumerate(texts):
        words = tuple(re.findall(r"\w+", text.lower()))
        minhash = MinHash(num_perm=permutations, seed=1)
        minhash.update_batch([" ".join(words[n : n + 3]).encode() for n in range(max(1, len(words) - 2))])
        if words in seen:
            yield position, True
        elif any(known.jaccard(minhash) >= threshold for known in staying):
            yield position, False
        else:
            staying.append(minhash)
        seen.add(words)


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
    expected = dict(compared_one_by_one(texts, permutations, threshold))
    assert [*expected.values()].count(False) > 5
    assert find_duplicates(texts, shingle=3, permutations=permutations, threshold=threshold) == expected
