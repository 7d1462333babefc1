"""Scores of tokens by a loaded model, and models as stages measure them."""

from dataclasses import replace

import numpy as np

from cxprobe.models.embedding import pool_texts
from cxprobe.models.masked import PllQuestions
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.pairs import score_texts
from cxprobe.models.store import answer
from cxprobe.models.texts import ScoringConfig, encode_inputs
from cxprobe.run import processes as of_stage
from cxprobe.run.params import Compute

ALONE = Compute(accelerator="cpu", devices=1, num_nodes=1, strategy="auto", jobs=1)


def pll_token_scores(model, texts, *, scheme, token_budget, starts=None):
    encoded, starts = encode_inputs(model, texts), starts or [0] * len(texts)
    return answer(lambda: [PllQuestions(model, encoded, starts, scheme, token_budget)], lambda: model)


def causal_token_scores(model, texts, *, bos, token_budget):
    how, model = ScoringConfig(["causal"], token_budget), replace(model, bos=bos)
    found = {one.text: one for one in score_texts(model, [dict.fromkeys(texts, 0)], how)}
    return [found[text] for text in texts]


def measured(slug, spec, load, *, processes=of_stage.ALONE):
    """Return a model as a stage measures it, alone or with other processes."""
    return MeasuredModel(slug, spec, load, processes, "t")


def log_probs_of(model, texts):
    """Return the log-probabilities of all tokens that a model gives any."""
    found = score_texts(model, [dict.fromkeys(texts, 0)], ScoringConfig(["pll"], 256))
    own = np.concatenate([one.log_probs for one in found])
    return own[~np.isnan(own)]


def vectors_of(encoder, texts, budget=64):
    return pool_texts(encoder, encode_inputs(encoder, texts), budget)
