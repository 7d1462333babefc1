"""A model that finds every token as probable as any other knows nothing: exactly half right, and all of it ties."""

import pytest
import torch
from evaluated_pairs import all_rates, own, responses_of

from conftest import ROOT
from cxprobe.constructions.construction import PEOPLE_FILE, load_people
from cxprobe.models.pairs import load_language_model, score_texts, texts_of_pairs
from cxprobe.models.params import ModelSpec
from cxprobe.models.texts import ScoringConfig, pair_table, token_table
from cxprobe.tasks.pairs.evaluate import decide_pairs
from cxprobe.tasks.pairs.frames import load_pairs
from cxprobe.tasks.pairs.make import render_pairs


@pytest.mark.parametrize("name", ["mini-mlm", "mini-clm"])
def test_a_constant_model_is_half_right_and_all_ties(name):
    people = load_people(ROOT / PEOPLE_FILE)
    content = load_pairs("ditransitive", people, ROOT / "constructions")
    pairs = render_pairs("ditransitive", content, people, 1, seed=1)
    spec = ModelSpec(name=str(ROOT / "models" / name), revision=None, sha256=None, dtype="float32", bos="add")
    model = load_language_model("constant", spec)
    with torch.no_grad():
        for parameter in model.model.parameters():
            parameter.zero_()
    how = ScoringConfig(schemes=["pll"], token_budget=4096)
    answers = token_table(score_texts(model, [texts_of_pairs(model, pairs)], how))
    decided = decide_pairs(pair_table(pairs).assign(source="real"), answers, own("pll", "per_token"))
    assert decided["deciding"].sum() == len(pairs)
    rates = all_rates(responses_of({"m": decided}))
    deciding = rates[(rates["measure"] == "accuracy") & (rates["score"] == "") & (rates["origin"] == "")]
    assert (deciding["value"] == 0.5).all()
    assert (deciding["ties"] == deciding["n"]).all()
    biases = rates[rates["measure"] == "bias"]
    assert set(biases["compared"]) == {"order", "variant"}
    assert (biases["value"] == 0).all()
    # Members of unequally many tokens do not tie in their sums; those of equally many tie under every score.
    margins = decided.pivot_table(index="id", columns="score", values="margin")
    alike = margins["sum"] == 0
    assert 0 < alike.mean() < 1
    assert (margins.loc[alike, "given_context"].dropna() == 0).all()
