"""The toy stages as a script: ``toy_stage.py tiny-1``; the variable TOY_STAGE says which of them.

TOY_SECONDS says how long a batch takes.
"""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import toy_stages

from cxprobe.files.tables import write_table
from cxprobe.files.writing import SCRATCH, replacing, write_bytes, write_json
from cxprobe.models.store import AnswerStore
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.pairs.params import PairsStage

BATCHES = 6


def measure_pairs(stage: Stage) -> Outcome:
    """A stage that measures: a store of answers, from which a killed run goes on, and all kinds of files."""
    text = stage.use(Path("input.txt")).read_text()
    with AnswerStore(SCRATCH / "answers" / "tiny", seconds=0) as answers:
        for number in range(BATCHES):
            key = bytes([number]) * 16
            if key not in answers.find([key]):
                answers.add({key: np.array([float(number)])})
            time.sleep(float(os.environ.get("TOY_SECONDS", "0.005")))
    numbers = pd.DataFrame({"number": range(2000), "text": text})
    write_table(numbers, stage.data / "numbers.parquet")
    write_json({"text": text}, stage.data / "facts.json")
    with replacing(stage.data / "lines.txt") as partial:
        partial.write_text(f"{text}\n" * 1000)
    write_bytes(text.encode(), stage.data / "more" / "text.bin")
    return Outcome(counts={"batches": BATCHES}, tables={"numbers": numbers})


if __name__ == "__main__":
    if os.environ["TOY_STAGE"] == "measure_pairs":
        run_stage(measure_pairs, PairsStage, "models")
    else:
        run_stage(getattr(toy_stages, os.environ["TOY_STAGE"]), PairsStage)
