import numpy as np
import pandas as pd

from cxprobe.params import FitProbes
from cxprobe.probing import Regularisation, recognise
from cxprobe.stats import credit

SETTINGS = FitProbes(C=1.0, l1_ratio=0.0, standardise=False, max_iter=1000, jobs=1)


def test_every_test_sentence_is_judged_by_every_layer_and_every_control():
    rng = np.random.default_rng(0)
    labels = np.tile(["positive", "negative"], 60)
    subset = pd.DataFrame(
        {
            "feature": "length",
            "split": np.repeat(["train", "test"], 60),
            "value": 7,
            "label": labels,
            "id": [f"s{number}" for number in range(120)],
            "text": "the same words",
        }
    )
    order = rng.permutation(120)
    signal = (labels == "positive")[order][:, None] + rng.normal(scale=0.2, size=(120, 4))
    vectors = np.stack([rng.normal(size=(120, 4)), signal]).astype(np.float32)
    probes, controls = recognise(
        subset,
        [f"s{number}" for number in order],
        vectors,
        [Regularisation(1.0, 0.0, False)] * 2,
        SETTINGS,
        seed=0,
        place="toy",
    )
    assert probes.columns.tolist() == ["feature", "value", "label", "id", "layer", "probability"]
    assert probes.groupby("layer")["id"].agg(set).tolist() == [{f"s{number}" for number in range(60, 120)}] * 2
    right = credit(probes["probability"].to_numpy(), (probes["label"] == "positive").to_numpy())
    accuracy = pd.Series(right).groupby(probes["layer"].to_numpy()).mean()
    assert accuracy[1] > 0.95 > 0.8 > accuracy[0]
    assert controls.groupby("control").size().to_dict() == {"majority": 60, "bag_of_words": 60}
