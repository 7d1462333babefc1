"""What tables of interventions call things."""

from cxprobe.stats import CLUSTER

TRAIN, TEST = "train", "test"
FRAME_OF_ITEM = f"{CLUSTER}frame"
WHOLE, DAS, MEANS, PROBE, ERASE, RANDOM = "whole", "das", "difference-of-means", "probe", "erase", "random"
INTERVENTIONS = (WHOLE, DAS, MEANS, PROBE, ERASE, RANDOM)
TRUE, CONTROL = "true", "control"
EFFECTS_FILE = "effects.parquet"
