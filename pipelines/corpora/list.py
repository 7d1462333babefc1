"""list_corpora: what a corpus consists of (files with size and time, or packages with version), and what to mine."""

from cxprobe.corpora.pattern import load_wanted
from cxprobe.files.tables import write_table
from cxprobe.files.writing import write_json
from cxprobe.run.mining import CorporaParams
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def list_corpora(stage: Stage[CorporaParams]) -> Outcome:
    wanted = {name: load_wanted(name) for name in stage.params.mining.mined_in(stage.item)}
    write_json({name: one.model_dump(mode="json") for name, one in wanted.items()}, stage.data / "wanted.json")
    if wanted:  # what is not mined need not be there
        from cxprobe.corpora.sources import list_corpus  # here, so that `run_stage` says that it needs the extra mining

        write_table(list_corpus(stage.params.corpora[stage.item]), stage.data / "parts.csv")
    return Outcome()


if __name__ == "__main__":
    run_stage(list_corpora, CorporaParams, "corpora")
