import numpy as np

from cxprobe.features import mean_cosines, tokenise
from cxprobe.models import load_encoder
from cxprobe.params import ModelSpec


def load(folder, dtype):
    return load_encoder("tiny", ModelSpec(name=str(folder), revision=None, sha256=None, dtype=dtype))


def test_a_model_agrees_with_itself_and_nearly_with_its_rounded_twin(tiny_bert):
    reference, rounded = load(tiny_bert, "float32"), load(tiny_bert, "bfloat16")
    tokens = tokenise(reference, ["a", "b"], ["the old cat runs", "we say that"], special_tokens=False)
    np.testing.assert_allclose(mean_cosines(reference, reference, tokens), 1.0)
    cosines = mean_cosines(rounded, reference, tokens)
    assert cosines.shape == (3,)
    assert np.all((cosines > 0.999) & (cosines < 1.0))
