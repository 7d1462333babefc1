"""The plain values that cross packages: sentences, texts, items, estimates, models, and the records of runs."""

from cxprobe.records.estimates import CLUSTER, Difference, Estimate
from cxprobe.records.items import RELATIONS, Inference, Reasoning, Relation
from cxprobe.records.models import ModelFacts, ModelKind, WeightsState
from cxprobe.records.runs import Circumstances, Dataset, RunRecord, Trial
from cxprobe.records.sentences import ALL_SENTENCES, LABELS, SPLITS, Label, Sentence, Shortfall, Split
from cxprobe.records.texts import Bos, Choice, Pair, TokenScores

__all__ = [
    "ALL_SENTENCES",
    "CLUSTER",
    "LABELS",
    "RELATIONS",
    "SPLITS",
    "Bos",
    "Choice",
    "Circumstances",
    "Dataset",
    "Difference",
    "Estimate",
    "Inference",
    "Label",
    "ModelFacts",
    "ModelKind",
    "Pair",
    "Reasoning",
    "Relation",
    "RunRecord",
    "Sentence",
    "Shortfall",
    "Split",
    "TokenScores",
    "Trial",
    "WeightsState",
]
