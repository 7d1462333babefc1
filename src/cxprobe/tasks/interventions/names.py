"""What tables of interventions call things, and which rows are about one construction."""

import pandas as pd

from cxprobe.stats import CLUSTER

TRAIN, TEST = "train", "test"
FRAME_OF_ITEM = f"{CLUSTER}frame"
WHOLE, DAS, MEANS, PROBE, ERASE, RANDOM = "whole", "das", "difference-of-means", "probe", "erase", "random"
INTERVENTIONS = (WHOLE, DAS, MEANS, PROBE, ERASE, RANDOM)
DIRECTIONS = (DAS, MEANS, PROBE)
DIRECTION = "direction"  # the best one of these
ORDER = (WHOLE, DAS, MEANS, RANDOM)
"""Interventions as they are expected to follow one another, the largest effect first."""
TRANSFERRED = (DAS, MEANS, ERASE, RANDOM)
"""What is learnt on one construction and tried on the others; random is the control."""
NEUTRAL = "neutral sentences"
"""Stands in the place of a construction; the space keeps it apart from all folders."""
TRUE, CONTROL, SELECTIVE = "true", "control", "true less control"
EFFECTS_FILE, TRANSFER_FILE = "effects.parquet", "transfer.parquet"


def tried_on_itself(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which what was found on a construction is tried on the same."""
    return effects[effects["learnt"] == effects["construction"]]
