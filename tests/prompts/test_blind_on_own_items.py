"""What blind models get on the items that the project has, of which `make repro` asks a small part."""

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT
from cxprobe.constructions.people import load_people
from cxprobe.lm.params import Classifier, Rule
from cxprobe.pairs.blind import preferences_of
from cxprobe.pairs.frames import has_pairs, load_pairs
from cxprobe.pairs.make import render_pairs
from cxprobe.prompts.items import RELATIONS, load_items, render_inferences
from cxprobe.prompts.measure import answer_blindly

pytestmark = pytest.mark.pipeline

FOLDER = ROOT / "constructions"
PEOPLE = load_people(ROOT / "lexicon" / "people.yaml")
PAIRS = {path.name: load_pairs(path.name, PEOPLE, FOLDER) for path in FOLDER.iterdir() if has_pairs(path.name, FOLDER)}
MEANING = sorted(name for name, content in PAIRS.items() if content.tests == "meaning")


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


@pytest.mark.parametrize("kind", ["first_mentioned", "last_mentioned", "shorter"])
@pytest.mark.parametrize("name", MEANING)
def test_no_rule_solves_the_pairs_of_a_construction(name, kind):
    pairs = render_pairs(name, PAIRS[name], PEOPLE, 60, seed=1).pairs
    margins = preferences_of(kind, pairs)["margin"]
    assert np.mean((margins > 0) + 0.5 * (margins == 0)) <= 0.6
