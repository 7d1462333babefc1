"""list_corpora: what a corpus consists of: files with size and time, or packages with version."""

from cxprobe.corpora.sources import list_corpus
from cxprobe.files.tables import write_table
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def list_corpora(stage: Stage) -> Outcome:
    parts = list_corpus(stage.params.corpora[stage.params.mining.constructions[stage.item]])
    write_table(parts, stage.data / "parts.csv")
    return Outcome()


if __name__ == "__main__":
    run_stage(list_corpora, "mining.constructions")
