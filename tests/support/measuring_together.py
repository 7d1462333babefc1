"""A program that measures as the stages do: python measuring_together.py PROCESSES [DIES_AFTER [RANK]].

It works in its folder: a masked model is in masked/, a causal one in causal/. What the first process writes is in out/.
With DIES_AFTER the second process, or the one of RANK, is killed once it has called a model so often.
"""

import faulthandler
import os
import signal
import sys
from itertools import count
from pathlib import Path

import pandas as pd
import torch
from tiny_lms import NOUNS, sentences_that_begin_alike

from cxprobe.lm.candidates import Usable
from cxprobe.lm.embedding import extract, tokenise
from cxprobe.lm.loading import load_encoder, load_language_model
from cxprobe.lm.params import ModelSpec
from cxprobe.lm.scoring import HowToScore, measure_texts
from cxprobe.lm.store import AnswerStore
from cxprobe.recognition.params import ExtractFeatures
from cxprobe.run.processes import Job
from cxprobe.run.signals import end_on_signals
from cxprobe.scenarios.measure import fill_masks

TEXTS = dict.fromkeys([*sentences_that_begin_alike(), "the old cat sings today"], 0)


def main(number: int, dies_after: int | None = None, rank: int = 1) -> None:
    """Score, fill and extract."""
    faulthandler.enable()
    torch.set_num_threads(1)
    end_on_signals()
    strategy = "ddp" if number > 1 else "auto"
    where = {"accelerator": "cpu", "devices": number, "num_nodes": 1, "strategy": strategy}
    settings = ExtractFeatures(token_budget=64, special_tokens=False, **where)
    processes = Job().start(settings)
    calls = count(1)

    def die(*_: object) -> None:
        if processes.share.number == rank and next(calls) == dies_after:
            os.kill(os.getpid(), signal.SIGKILL)

    how = HowToScore(["pll", "pll_word_l2r"], "add", 96)
    together = {"processes": processes, "folder": Path("out")}
    wrote = []
    for name in ("masked", "causal"):
        model = load_language_model(name, spec(name))
        model.model.register_forward_pre_hook(die)
        portions = [dict(list(TEXTS.items())[:20]), dict(list(TEXTS.items())[20:])]
        together["folder"] = Path("out", name)
        wrote.append(measure_texts(name, model, portions, how, lambda *_: {}, what=name, **together))
    model = load_language_model("masked", spec("masked"))
    rows = [(noun, "S1", 0, f"the {noun} is [MASK] today.", "old", "young") for noun in NOUNS]
    texts = pd.DataFrame(rows, columns=["item", "scenario", "draw", "text", "first", "second"])
    usable = {"toy": Usable(pd.DataFrame({"id": NOUNS}), texts, pd.DataFrame(), 0)}
    filled = fill_masks("masked", model, usable, 32, lambda *_: {}, processes=processes, what="fill")
    wrote.append(filled)
    if filled is not None:
        filled[0]["toy"].to_parquet("out/filled.parquet")
    encoder = load_encoder("masked", spec("masked"))
    encoder.model.register_forward_pre_hook(die)
    tokens = tokenise(encoder, list(TEXTS), list(TEXTS), special_tokens=False)
    folders = {"scratch": Path("scratch"), "output": Path("out/features")}
    wrote.append(extract(encoder, tokens, settings, processes=processes, **folders))
    assert all((one is None) == (processes.share.number > 0) for one in wrote)


def spec(name: str) -> ModelSpec:
    """Return a model of this folder."""
    return ModelSpec(name=name, revision=None, sha256=None, dtype="float32")


if __name__ == "__main__":
    AnswerStore.__init__.__kwdefaults__["seconds"] = 0.0  # all that was finished is on disk, however the process ends
    main(*map(int, sys.argv[1:]))
