"""make_recognition: grammars, mined sentences and labels -> labelled sentences and balanced subsets, per source."""

from collections import Counter

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, load_construction
from cxprobe.corpora.pattern import require_slots
from cxprobe.files.tables import write_table
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.recognition.make import draw_subsets, part_sizes, read_subsets
from cxprobe.tasks.recognition.params import RecognitionStage
from cxprobe.tasks.recognition.report import subset_tables
from cxprobe.tasks.recognition.sources import source_sentences


def make_recognition(stage: Stage[RecognitionStage]) -> Outcome:
    counts = Counter[str]()
    tables: dict[str, list[pd.DataFrame]] = {}
    section = stage.params.recognition
    for name, sources in section.constructions.items():
        if "marked" in sources:
            stage.use(CONSTRUCTIONS_FOLDER / name / "pattern.yaml")
            require_slots(name)
    for name, source in section.sources:
        stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
        construction = load_construction(name).for_source(source)
        sentences, draws, reports = source_sentences(stage, name, construction, source)
        sizes = section.make.subsets_of(source)
        subsets = draw_subsets(
            sentences, draws, construction.features, sizes, seed=stage.params.seed, place=f"{name}, {source}"
        )
        with_rows = set(subsets.rows["feature"])
        left_out = [feature for feature in construction.features if feature not in with_rows]
        if left_out:
            print(
                f"{name}, {source}: no probe of {', '.join(left_out)}: no value has {sizes.test_per_label} test "
                f"sentences of both labels, or none of the lowest quarter {sizes.train_per_label} for training"
            )
        folder = stage.data / name / source
        write_table(sentences[sentences["id"].isin(subsets.rows["id"])], folder / "sentences.parquet")
        write_table(subsets.rows, folder / "splits.parquet")
        counts.update(
            made=len(sentences),
            sentences=subsets.rows["id"].nunique(),
            rows=len(subsets.rows),
            cells_dropped=len(subsets.dropped),
            features_left_out=len(left_out),
        )
        made = sentences.groupby(["split", "label"], as_index=False).agg(
            sentences=("id", "size"), templates=("cluster_template", "nunique")
        )
        reports = {**reports, "made": made, "parts": part_sizes(subsets.rows), "dropped": subsets.dropped}
        reports |= subset_tables(read_subsets(folder))
        origin = pd.DataFrame({"construction": [name], "source": [source]})
        for stem, report in reports.items():
            tables.setdefault(stem, []).append(origin.merge(report, how="cross"))
    return Outcome(counts=counts, tables={stem: pd.concat(parts) for stem, parts in tables.items()})


if __name__ == "__main__":
    run_stage(make_recognition, RecognitionStage)
