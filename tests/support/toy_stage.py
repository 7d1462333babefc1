"""The toy stages as a script: ``toy_stage.py --model tiny-1``; the variable TOY_STAGE says which of them.

TOY_SEED may be another seed, and TOY_SECONDS how long a batch takes.
"""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import toy_stages
from toy_stages import ToyParams, load_toy_params

from cxprobe.files.arrays import is_array_of, merge_features, write_array
from cxprobe.files.tables import write_table
from cxprobe.files.writing import SCRATCH, replacing, scratch_folder, write_bytes, write_json
from cxprobe.lm.store import AnswerStore
from cxprobe.run.running import run_stage_with
from cxprobe.run.stage import Outcome, Stage

BATCHES = 6


def extract_words(stage: Stage[ToyParams]) -> Outcome:
    """A stage that measures: batches that a killed run leaves for the next, a store of answers, all kinds of files."""
    text = stage.use(Path("input.txt")).read_text()
    scratch = scratch_folder(SCRATCH / stage.name, text)
    parts = [(scratch / f"{number}.npy", [f"{text} {number}"]) for number in range(BATCHES)]
    with AnswerStore(SCRATCH / "answers" / "tiny", seconds=0) as answers:
        for number, (path, ids) in enumerate(parts):
            if not is_array_of(path, ids):
                write_array(np.full((2, 1, 500), len(text) + number, np.float32), path, ids)
            key = bytes([number]) * 16
            if key not in answers.find([key]):
                answers.add({key: np.array([float(number)])})
            time.sleep(float(os.environ.get("TOY_SECONDS", "0.005")))
    merge_features(parts, stage.data)
    numbers = pd.DataFrame({"number": range(2000), "text": text})
    write_table(numbers, stage.data / "numbers.parquet")
    write_json({"text": text}, stage.data / "facts.json")
    with replacing(stage.data / "lines.txt") as partial:
        partial.write_text(f"{text}\n" * 1000)
    write_bytes(text.encode(), stage.data / "more" / "text.bin")
    for path, _ in parts:
        path.unlink()
    return Outcome(counts={"batches": BATCHES}, tables={"numbers": numbers})


def judge_pairs(stage: Stage[ToyParams]) -> Outcome:
    """A stage that judges its model on two constructions."""
    runs = [toy_stages.judged_run(stage, name, stage.item["model"]) for name in ("toy", "all")]
    return Outcome(headline={"meaning": {"accuracy": 2 / 3, "n": 4}}, runs=runs)


def load() -> ToyParams:
    """Return the parameters of the toy stages, for the models tiny-1 to tiny-8."""
    params = load_toy_params()
    models = {f"tiny-{number}": params.models["tiny"] for number in range(1, 9)}
    return params.model_copy(update={"models": models, "seed": int(os.environ.get("TOY_SEED", params.seed))})


if __name__ == "__main__":
    work = globals().get(os.environ["TOY_STAGE"]) or getattr(toy_stages, os.environ["TOY_STAGE"])
    run_stage_with(load, work, "model")
