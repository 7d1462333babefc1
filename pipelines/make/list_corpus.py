"""list_corpus: what a corpus consists of (files with size and time, or packages with version), so that new files count.

It runs at every `dvc repro` and has no run of its own; mine_sentences runs again if the list has changed.
"""

from cxprobe.corpora.sources import list_corpus as list_parts
from cxprobe.files.tables import write_table
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def list_corpus(stage: Stage) -> Outcome:
    parts = list_parts(stage.params.corpora[stage.item["corpus"]])
    write_table(parts, stage.data.with_suffix(".csv"))
    return Outcome(counts={"parts": len(parts)})


if __name__ == "__main__":
    run_stage(list_corpus, "construction", "corpus", of=("construction",))
