"""watch_corpora: what a corpus consists of now; it runs at every `dvc repro`, so that new files are noticed."""

from cxprobe.files.tables import write_table
from cxprobe.run.mining import CorporaParams
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def watch_corpora(stage: Stage[CorporaParams]) -> Outcome:
    from cxprobe.corpora.sources import list_corpus  # here, so that `run_stage` says that it needs the extra mining

    write_table(list_corpus(stage.params.corpora[stage.item]), stage.data / "parts.csv")
    return Outcome()


if __name__ == "__main__":
    run_stage(watch_corpora, CorporaParams, "corpora")
