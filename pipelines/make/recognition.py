"""make_recognition: grammars, mined sentences and labels -> labelled sentences and balanced subsets, per source."""

from collections import Counter, defaultdict

import pandas as pd

from cxprobe.files.tables import write_table
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.recognition.make import make_source
from cxprobe.tasks.recognition.params import RecognitionStage


def make_recognition(stage: Stage[RecognitionStage]) -> Outcome:
    counts, tables = Counter[str](), defaultdict[str, list[pd.DataFrame]](list)
    for name, source in stage.params.recognition.sources:
        made = make_source(stage, name, source)
        if made.left_out:
            print(f"{name}, {source}: no probe of {', '.join(made.left_out)}: too few sentences of both labels")
        folder = stage.data / name / source
        write_table(made.sentences, folder / "sentences.parquet")
        write_table(made.rows, folder / "splits.parquet")
        counts.update(made.counts)
        origin = pd.DataFrame({"construction": [name], "source": [source]})
        for stem, report in made.reports.items():
            tables[stem].append(origin.merge(report, how="cross"))
    return Outcome(counts=counts, tables={stem: pd.concat(parts) for stem, parts in tables.items()})


if __name__ == "__main__":
    run_stage(make_recognition, RecognitionStage)
