"""build_ngrams: the text to learn from -> the counts of its n-grams, for the carried trigram model."""

from pathlib import Path

from cxprobe.lm.ngrams import NGRAMS_FILE
from cxprobe.run.running import run_stage_with
from cxprobe.run.stage import Outcome, Stage
from cxprobe_pretraining import (
    PretrainingParams,
    count_ngrams,
    load_pretraining_params,
    read_corpus,
    write_ngrams,
)

CORPUS = Path("models/corpus/train.json.gz")
MODEL = Path("models/mini-ngrams")


def build_ngrams(stage: Stage[PretrainingParams]) -> Outcome:
    texts = (record.text for record in read_corpus(stage.use(CORPUS)))
    table = count_ngrams(texts, stage.params.build_ngrams)
    write_ngrams(table, MODEL / NGRAMS_FILE)
    return Outcome(counts={"ngrams": len(table)})


if __name__ == "__main__":
    run_stage_with(load_pretraining_params, build_ngrams)
