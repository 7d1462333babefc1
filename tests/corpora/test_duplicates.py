import random
import re
from contextlib import nullcontext

import pytest
from datasketch import MinHash

from cxprobe.corpora.engine import check_faults, find_duplicates
from cxprobe.errors import DataError

FAULT = {"shard": "part-0.jsonl", "line": 1, "fault": "no text under the key 'txt'; its keys are text, url"}


@pytest.mark.parametrize(("faults", "refused"), [(0, False), (10, False), (11, True), (90, True), (100, True)])
def test_more_faults_than_the_limit_are_refused(faults, refused):
    message = rf"corpora\.c4: {faults} faults beside {100 - faults} documents .*most_faults is 0\.1; the first: part-0"
    with pytest.raises(DataError, match=message) if refused else nullcontext():
        check_faults({"documents": 100 - faults, "faults": faults, "shards": 3}, [FAULT], "c4", 0.1)


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
