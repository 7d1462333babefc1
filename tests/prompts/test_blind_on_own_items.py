"""What blind models get on the items that the project has, of which `make repro` asks a small part."""

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.lm.params import Classifier, Rule
from cxprobe.prompts.items import RELATIONS, load_items, render_inferences
from cxprobe.prompts.measure import answer_blindly

pytestmark = pytest.mark.pipeline

FOLDER = ROOT / "constructions"


def inferences() -> pd.DataFrame:
    items = [
        item
        for path in sorted(FOLDER.glob("*/items.yaml"))
        for item in render_inferences(load_items(path.parent.name, FOLDER), path.parent.name)
        if item.set == "templatic"
    ]
    rows = [
        (item.id, item.construction, item.premise, item.hypothesis, str(RELATIONS.index(item.gold)), item.template)
        for item in items
    ]
    table = pd.DataFrame(rows, columns=["id", "construction", "premise", "hypothesis", "gold", "template"])
    table = table.assign(kind="inference", set="templatic", text="", a="", b="")
    clusters = {"cluster_premise": [item.premise_id for item in items]}
    return table.assign(**clusters, cluster_wording=table["construction"] + " " + table["template"])


@pytest.mark.parametrize(
    ("spec", "limit"),
    [
        (Classifier(kind="hypothesis_only", folds_by="premise", folds=5), 0.45),
        (Classifier(kind="premise_only", folds_by="premise", folds=5), 0.5),  # one that leaves things open leaves most
        (Rule(kind="negation"), 0.45),
        (Rule(kind="word_overlap"), 0.45),
    ],
    ids=["hypothesis_only", "premise_only", "negation", "word_overlap"],
)
def test_half_of_an_inference_does_not_tell_its_gold_label(spec, limit):
    items = inferences()
    answers = answer_blindly(spec, items, seed=1)
    chosen = answers.loc[answers.groupby("id")["log_p"].idxmax()].set_index("id")["symbol"]
    assert np.mean(chosen[items["id"]].to_numpy() == items["gold"].to_numpy()) < limit
