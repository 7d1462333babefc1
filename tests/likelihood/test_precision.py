import numpy as np
import pytest

from cxprobe.errors import DataError
from cxprobe.likelihood import agreement, causal_token_scores, decide, total
from cxprobe.models import load_causal_lm
from cxprobe.params import ModelSpec
from tiny_lms import save_lm

IDS = ["a", "b", "c", "d"]
REFERENCE = decide(IDS, [-1.0, -2.0, -3.0, -4.0], [-2.0, -1.0, -3.5, -4.0])


def test_decisions_agree_with_themselves():
    found = agreement(REFERENCE, REFERENCE)
    assert (found.same, found.mean_difference, found.largest_difference, found.n) == (1.0, 0.0, 0.0, 4)


def test_a_changed_outcome_and_a_lost_tie_are_disagreements():
    found = agreement(decide(IDS, [-1.0, -2.0, -4.0, -4.0], [-2.0, -1.0, -3.5, -4.25]), REFERENCE)
    assert found.same == 0.5
    assert found.mean_difference == (1.0 + 0.25) / 4
    assert found.largest_difference == 1.0
    with pytest.raises(DataError, match="4 decisions cannot be compared with 1"):
        agreement(REFERENCE, decide(["a"], [-1.0], [-2.0]))


def test_a_model_nearly_agrees_with_its_rounded_twin(tmp_path):
    save_lm(tmp_path, "llama")
    nouns = ["cat", "dog", "fox", "king", "queen", "bird"]
    found = {}
    for dtype in ("float32", "bfloat16"):
        model = load_causal_lm("tiny", ModelSpec(name=str(tmp_path), revision=None, sha256=None, dtype=dtype))
        pairs = [
            [total(one) for one in causal_token_scores(model, texts, bos="add", token_budget=64)]
            for texts in ([f"the {noun} runs." for noun in nouns], [f"the {noun} sings." for noun in nouns])
        ]
        found[dtype] = decide(nouns, *pairs)
    rounded = agreement(found["bfloat16"], found["float32"])
    assert rounded.same >= 0.5
    assert 0 < rounded.mean_difference < 0.5
    assert np.isfinite(rounded.largest_difference)
