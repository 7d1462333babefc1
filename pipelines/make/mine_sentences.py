"""mine_sentences: a corpus -> the sentences that may have a construction, with their tags and features."""

import shutil

import pandas as pd

from cxprobe.constructions.construction import load_construction
from cxprobe.corpora.collecting import collect, refuse_unreadable
from cxprobe.corpora.engine import count_finished, make_job, run_shards
from cxprobe.corpora.pattern import leave_out, load_pattern
from cxprobe.corpora.search import check_examples
from cxprobe.corpora.sources import open_corpus
from cxprobe.corpora.tagging import load_tagger
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA, SCRATCH
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.run.progress import progress
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

COUNTS = ("documents", "bytes_of_text", "sentences_tagged", "candidates", "faults")


def mine_sentences(stage: Stage) -> Outcome:
    name, slug = stage.item["construction"], stage.item["corpus"]
    settings, corpus = stage.params.mine_sentences, stage.params.corpora[slug]
    stage.use(DATA / "list_corpus" / f"{name}.csv")
    stage.use(CONSTRUCTIONS_FOLDER / name / "construction.yaml")
    path, construction = stage.use(CONSTRUCTIONS_FOLDER / name / "pattern.yaml"), load_construction(name)
    pattern = load_pattern(name, construction)
    check_examples(pattern, load_tagger(settings.tagger, pattern), path)
    pattern = leave_out(pattern, settings.left_out.get(name, []), f"mine_sentences.left_out.{name}")
    source = open_corpus(corpus, SCRATCH)
    job = make_job(source, settings, pattern, SCRATCH / stage.name)
    total, finished = len(job.shards), count_finished(job, settings.engine)
    kept = f"the finished shards are in {SCRATCH / stage.name}"
    with progress(total, "shards", f"mine_sentences {name} {slug}", kept=kept, initial=finished) as shown:
        run_shards(job, settings.engine, shown.update)
    found = collect(job, construction, settings.duplicates, stage.data)
    refuse_unreadable(found, slug, settings.most_faults)
    write_table(found.sentences, stage.data / "sentences.parquet")
    shutil.rmtree(job.output)
    own = {"sentences": len(found.sentences), "sequences": found.sentences["tags"].nunique()}
    return Outcome(
        counts={key: found.counts[key] for key in COUNTS} | own,
        tables={
            "corpus": pd.DataFrame([{"kind": corpus.kind, "shards": total, "digest": source.digest}]),
            "steps": pd.DataFrame(sorted(found.counts.items()), columns=["what", "number"]),
            "rejects": found.rejects,
            "faults": found.faults,
        },
    )


if __name__ == "__main__":
    run_stage(mine_sentences, "construction", "corpus", of=("construction",))
