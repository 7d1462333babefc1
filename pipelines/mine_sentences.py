"""mine_sentences: a corpus -> the sentences that may have a construction, with their tags and features."""

import shutil

import pandas as pd

from cxprobe.constructions import load_construction
from cxprobe.mining import check_examples, collect, load_pattern, load_tagger, make_job, open_corpus, run_shards
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import SCRATCH, write_table


def mine_sentences(stage: Stage) -> Outcome:
    name, settings = stage.item["construction"], stage.params.mine_sentences
    stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
    path = stage.use(CONSTRUCTIONS_FOLDER / name / "pattern.yaml")
    construction = load_construction(name)
    pattern = load_pattern(name, construction)
    check_examples(pattern, load_tagger(settings.tagger, pattern), path)
    source = open_corpus(settings.corpus, SCRATCH)
    job = make_job(source, settings, pattern, SCRATCH / stage.name)
    run = run_shards(job, settings.engine)
    print(f"{len(job.shards)} shards, {len(job.shards) - run} of them left by an earlier run")
    found = collect(job, construction, settings.duplicates, stage.data)
    write_table(found.sentences, stage.data.with_suffix(".parquet"))
    shutil.rmtree(job.output)
    corpus = {"kind": settings.corpus.kind, "shards": len(job.shards), "digest": source.digest}
    return Outcome(
        metrics={
            **{
                key: found.counts[key]
                for key in ("documents", "bytes_of_text", "sentences_tagged", "candidates", "faults")
            },
            "sentences": len(found.sentences),
            "sequences": found.sentences["tags"].nunique(),
        },
        tables={
            "corpus": pd.DataFrame([corpus]),
            "counts": pd.DataFrame(sorted(found.counts.items()), columns=["what", "number"]),
            "rejects": found.rejects,
            "faults": found.faults,
        },
    )


if __name__ == "__main__":
    run_stage(mine_sentences, "construction")
