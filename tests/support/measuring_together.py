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

import numpy as np
import pandas as pd
import torch
from scored import ALONE, measured
from tiny_lms import NOUNS, sentences_that_begin_alike

from cxprobe.models.embedding import embed_texts, load_encoder
from cxprobe.models.pairs import load_language_model, measure_texts
from cxprobe.models.params import ModelSpec
from cxprobe.models.store import AnswerStore
from cxprobe.models.texts import ScoringConfig
from cxprobe.run.processes import start_processes
from cxprobe.run.progress import end_on_signals
from cxprobe.tasks.scenarios.measure import fill_masks

TEXTS = dict.fromkeys([*sentences_that_begin_alike(), "the old cat sings today"], 0)


def main(number: int, dies_after: int | None = None, rank: int = 1) -> None:
    """Score, fill and extract."""
    faulthandler.enable()
    torch.set_num_threads(1)
    end_on_signals()
    compute = ALONE.model_copy(update={"devices": number, "strategy": "ddp" if number > 1 else "auto"})
    calls = count(1)

    def model_of(name, load):
        spec = ModelSpec(name=name, revision=None, sha256=None, dtype="float32")
        model = measured(name, spec, load, processes=start_processes(compute))

        def die(*_: object) -> None:
            if model.processes.number == rank and next(calls) == dies_after:
                os.kill(os.getpid(), signal.SIGKILL)

        model.loaded.model.register_forward_pre_hook(die)
        return model

    wrote = []
    for name in ("masked", "causal"):
        portions = [dict(list(TEXTS.items())[:20]), dict(list(TEXTS.items())[20:])]
        how = ScoringConfig(["pll", "pll_word_l2r"], 96)
        wrote.append(measure_texts(model_of(name, load_language_model), portions, how, Path("out", name)))
    masks = pd.DataFrame(
        {"text": [f"the {noun} is [MASK] today." for noun in NOUNS], "first": "old", "second": "young"}
    )
    filled = fill_masks(model_of("masked", load_language_model), {"toy": masks}, 32)
    wrote.append(filled)
    if filled is not None:
        np.save("out/filled.npy", filled[0][["log_p_first", "log_p_second"]].to_numpy())
    encoder = model_of("masked", load_encoder)
    texts = {"features": list(TEXTS)}
    wrote.append(embed_texts(encoder, texts, token_budget=64, folder=Path("out")))
    assert all((one is None) == (encoder.processes.number > 0) for one in wrote)


if __name__ == "__main__":
    AnswerStore.__init__.__kwdefaults__["seconds"] = 0.0  # all that was finished is on disk, however the process ends
    main(*map(int, sys.argv[1:]))
