"""watch_corpora: what a corpus consists of now; it runs at every `dvc repro`, so that new files are noticed."""

from cxprobe.files.tables import write_table
from cxprobe.run.mining import CorporaParams, tell_left_out
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def watch_corpora(stage: Stage[CorporaParams]) -> Outcome:
    if stage.params.mining.mined_in(stage.item):  # what is not mined need not be there
        # Here, so that `run_stage` says that it needs the extra mining.
        from cxprobe.corpora.sources import files_left_out, list_corpus

        corpus = stage.params.corpora[stage.item]
        write_table(list_corpus(corpus), stage.data / "parts.csv")
        tell_left_out(stage, files_left_out(corpus))
    return Outcome()


if __name__ == "__main__":
    run_stage(watch_corpora, CorporaParams, "corpora")
