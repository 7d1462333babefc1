"""Affinities against plain loops over masked copies and, for causal models, over every text that there is."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from cxprobe.models.affinity import causal_affinity, masked_affinity

pytest_plugins = ["loaded_lms"]
TEXT = " the old cat runs."


def distribution(model, ids, at):
    with torch.no_grad():
        logits = model.model(torch.tensor([ids])).logits[0, at]
    return logits.double().softmax(-1).numpy()


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_masked_model_hides_one_word_and_then_two(lms, kind):
    model = lms(kind)
    found = masked_affinity(model, TEXT)
    ids, mask = model.tokenizer(TEXT)["input_ids"], model.tokenizer.mask_token_id
    assert [*found.between] == ["the", "old", "cat", "runs", "."]
    for measured, hidden in product(range(5), range(5)):
        places = {measured + 1, hidden + 1}
        alone = distribution(model, [mask if at == measured + 1 else one for at, one in enumerate(ids)], measured + 1)
        both = distribution(model, [mask if at in places else one for at, one in enumerate(ids)], measured + 1)
        assert found.of_words.iloc[measured] == pytest.approx(alone[ids[measured + 1]], abs=1e-6)
        if measured != hidden:
            assert found.between.iloc[hidden, measured] == pytest.approx(jensenshannon(alone, both) ** 2, abs=1e-6)
    assert np.isnan(np.diag(found.between)).all()
    [axes, _] = found.heat_map().axes
    assert axes.get_yticklabels()[2].get_text() == f"cat ({found.of_words['cat']:.2f})"


def test_a_word_of_several_tokens_has_no_affinity_and_is_hidden_whole(lms):
    found = masked_affinity(lms("bert"), "the zzz runs")
    assert np.isnan(found.of_words).tolist() == [False, True, False]
    assert np.isnan(found.between.iloc[:, 1]).all()
    assert found.between.iloc[1, 2] > 0


def test_a_causal_model_hides_a_word_behind_all_that_could_stand_there(lms):
    model = lms("gpt2")
    text = " the cat runs"
    ids, vocabulary = model.tokenizer(text)["input_ids"], model.model.config.vocab_size
    assert len(ids) == 3
    found = causal_affinity(model, text, vocabulary)
    first = distribution(model, ids[:1], -1)
    texts = np.array([distribution(model, [ids[0], one], -1) for one in range(vocabulary)])  # (second, third)
    joint = first[:, None] * texts
    assert found.of_words.iloc[1] == pytest.approx(joint[ids[1], ids[2]] / joint[:, ids[2]].sum(), abs=1e-6)
    assert found.of_words.iloc[2] == pytest.approx(texts[ids[1], ids[2]], abs=1e-6)
    expected = jensenshannon(texts[ids[1]], joint.sum(axis=0)) ** 2
    assert found.between.iloc[1, 2] == pytest.approx(expected, abs=1e-6)
    assert np.isnan(found.between.iloc[2]).all()
    fewer = causal_affinity(model, text, 5)
    assert fewer.of_words.iloc[1] > found.of_words.iloc[1]
