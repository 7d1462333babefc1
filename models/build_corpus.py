"""build_corpus: the listed repositories, or a folder of text -> the text to learn from and the text to validate on."""

from pathlib import Path

from cxprobe.run.running import run_stage_with
from cxprobe.run.stage import Outcome, Stage
from cxprobe_pretraining import PretrainingParams, load_pretraining_params
from cxprobe_pretraining import build_corpus as write_corpus

CORPUS = Path("models/corpus")


def build_corpus(stage: Stage[PretrainingParams]) -> Outcome:
    records = write_corpus(stage.params.build_corpus, CORPUS)
    return Outcome(counts={f"{part}_records": count for part, count in records.items()})


if __name__ == "__main__":
    run_stage_with(load_pretraining_params, build_corpus)
