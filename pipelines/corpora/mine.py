"""mine_sentences: a corpus -> the sentences that may have a construction, with their tags and features."""

import shutil
from pathlib import Path

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, load_construction
from cxprobe.corpora.collecting import check_readable, collect
from cxprobe.corpora.engine import SLOTS, count_finished, make_job, run_shards
from cxprobe.corpora.pattern import load_pattern
from cxprobe.corpora.search import check_examples, load_tagger
from cxprobe.corpora.sources import open_corpus
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA, SCRATCH
from cxprobe.run.progress import progress
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

COUNTS = ("documents", "bytes_of_text", "sentences_tagged", "candidates", "faults")


def mine_sentences(stage: Stage) -> Outcome:
    name, settings = stage.item, stage.params.mining
    slug = settings.constructions[name]
    corpus = stage.params.corpora[slug]
    stage.use(DATA / "list_corpora" / name)
    stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
    path, construction = stage.use(CONSTRUCTIONS_FOLDER / name / "pattern.yaml"), load_construction(name)

    pattern = load_pattern(name, construction)
    check_examples(pattern, load_tagger(settings.pipeline_of(pattern), pattern), path)
    source = open_corpus(corpus, SCRATCH)
    job = make_job(source, settings, pattern, SCRATCH / stage.name)
    finished, total = count_finished(job, settings.engine), len(source.shards)
    kept = f"the finished shards are in {SCRATCH / stage.name}"
    with progress(total, "shards", f"mine_sentences {name} {slug}", kept=kept, initial=finished) as shown:
        run_shards(job, settings.engine, shown.update)

    found = collect(job, construction, settings.duplicates, stage.data)
    check_readable(found, slug, settings.most_faults)
    write_table(found.sentences, stage.data / "sentences.parquet", {"slots": SLOTS})
    # Under another name first: what a kill leaves of it must not pass for finished shards.
    ended = Path(f"{job.output}.ended")
    shutil.rmtree(ended, ignore_errors=True)
    Path(job.output).rename(ended)
    shutil.rmtree(ended)
    made = {"sentences": len(found.sentences), "sequences": found.sentences["tags"].nunique()}
    return Outcome(
        counts={key: found.counts[key] for key in COUNTS} | made,
        tables={
            "corpus": pd.DataFrame([{"kind": corpus.kind, "shards": total, "digest": source.digest}]),
            "steps": pd.DataFrame(sorted(found.counts.items()), columns=["what", "number"]),
            "rejects": found.rejects,
            "faults": found.faults,
        },
    )


if __name__ == "__main__":
    run_stage(mine_sentences, "mining.constructions")
