"""Responses of a model to the same pairs by probe, likelihood and reply."""

import numpy as np
import pandas as pd
from evaluated_pairs import USUAL, responses_of

from cxprobe.tasks.pairs.ways import with_ways

FRAMES = [f"frame {place // 2}" for place in range(12)]


def decided(model, accuracy=1.0):
    ids = [f"pair {place}" for place in range(12)]
    table = pd.DataFrame({**USUAL, "id": ids, "item": ids, "cluster_frame": FRAMES, "accuracy": accuracy})
    return responses_of({model: table.assign(scheme="pll", score="sum", margin=1.0, deciding=True, balanced=True)})


def in_ways(layers, *responses, asked=None):
    """Return responses by way, given those to the pairs and the probabilities of words and of each layer."""
    rows = [(f"pair {place}", layer - 1, one) for layer, own in enumerate(layers) for place, one in enumerate(own)]
    predicted = {"m": {"toy": pd.DataFrame(rows, columns=["id", "layer", "probability"])}}
    return with_ways(pd.concat(responses), predicted, {"m": asked}).query("way != ''")


def test_the_layer_that_decides_is_the_best_one_on_other_frames():
    # Layer 0 is right about all but the last frame, layer 1 about all but the first two.
    layers = [[0.5] * 12, [0.9] * 10 + [0.1] * 2, [0.1] * 4 + [0.9] * 8]
    of_ways = in_ways(layers, decided("m")).query("layer == ''").groupby("way")["value"].agg(list)
    for place, frame in enumerate(FRAMES):
        others = [other != frame for other in FRAMES]
        scores = [np.mean([p > 0.5 for p, other in zip(own, others, strict=True) if other]) for own in layers[1:]]
        assert of_ways["recognised"][place] == float(layers[1 + int(np.argmax(scores))][place] > 0.5)
    assert of_ways["words"] == [0.5] * 12
    assert "said" not in of_ways


def test_a_probed_model_has_responses_by_way_and_by_layer():
    layers = [[0.5] * 12, [0.9] * 5 + [0.1] * 6 + [0.5], [0.9] * 12]
    responses = in_ways(layers, decided("m", [1.0] * 6 + [0.0] * 6), decided("llm"), asked="llm")
    assert responses.groupby(["layer", "way"])["value"].mean().to_dict() == {
        ("", "words"): 0.5,
        ("", "recognised"): 1.0,
        ("", "expected"): 0.5,
        ("", "said"): 1.0,
        ("0", "recognised"): 5.5 / 12,
        ("1", "recognised"): 1.0,
    }
