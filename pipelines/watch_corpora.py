"""watch_corpora: the files of a corpus as they are now; it runs at every `dvc repro`, so that new files are noticed."""

from cxprobe.files.tables import write_table
from cxprobe.run.mining import CorporaParams
from cxprobe.run.running import Outcome, Stage, run_stage


def watch_corpora(stage: Stage[CorporaParams]) -> Outcome:
    if stage.params.mining.mined_in(stage.item):  # what is not mined need not be there
        # Here, so that `run_stage` says that it needs the extra mining.
        from cxprobe.corpora.readers import list_corpus

        write_table(list_corpus(stage.params.corpora[stage.item]), stage.data / "parts.csv")
    return Outcome()


if __name__ == "__main__":
    run_stage(watch_corpora, CorporaParams, "corpora")
