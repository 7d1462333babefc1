"""mine_sentences: a corpus -> the sentences that may have a construction, with their tags and features."""

import shutil
from pathlib import Path

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.corpora.collecting import check_most_faults, collect, collect_corpus
from cxprobe.corpora.engine import SLOTS, count_finished, make_job, run_shards
from cxprobe.corpora.pattern import Wanted
from cxprobe.corpora.search import check_examples, load_matchers, pipeline_of
from cxprobe.corpora.sources import open_corpus
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA, SCRATCH, read_json
from cxprobe.run.mining import CorporaParams
from cxprobe.run.progress import progress
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def mine_sentences(stage: Stage[CorporaParams]) -> Outcome:
    slug, settings = stage.item, stage.params.mining
    listed = read_json(stage.use(DATA / "list_corpora" / slug) / "wanted.json")
    wanted = {name: Wanted.model_validate(content) for name, content in listed.items()}
    if not wanted:
        return Outcome(counts={"constructions": 0})

    patterns = {name: one.pattern for name, one in wanted.items()}
    pipelines = {name: pipeline_of(pattern, settings) for name, pattern in patterns.items()}
    for name, matchers in load_matchers(patterns, pipelines).items():
        check_examples(matchers, CONSTRUCTIONS_FOLDER / name / "pattern.yaml")
    source = open_corpus(stage.params.corpora[slug], SCRATCH)
    job = make_job(source, settings, patterns, SCRATCH / stage.name)
    finished, total = count_finished(job, settings.engine), len(source.shards)
    kept = f"the finished shards are in {SCRATCH / stage.name}"
    with progress(total, "shards", f"mine_sentences {slug}", kept=kept) as shown:
        shown.update(finished, known=True)
        run_shards(job, settings.engine, shown.update)

    corpus = collect_corpus(job, stage.data)
    check_most_faults(corpus, slug, settings.most_faults)
    steps, rejects = [], []
    for name, one in wanted.items():
        found = collect(job, name, one, settings.duplicates, stage.data / name)
        write_table(found.sentences, stage.data / name / "sentences.parquet", {"slots": SLOTS})
        made = {"sentences": len(found.sentences), "sequences": found.sentences["tags"].nunique()}
        steps += [(name, what, number) for what, number in sorted((found.counts | made).items())]
        rejects.append(found.rejects.assign(construction=name)[["construction", "reason", "sentences"]])
    # Under another name first: what a kill leaves of it must not pass for finished shards.
    ended = Path(f"{job.output}.ended")
    shutil.rmtree(ended, ignore_errors=True)
    Path(job.output).rename(ended)
    shutil.rmtree(ended)
    return Outcome(
        counts=dict(sorted(corpus.counts.items())),
        tables={
            "corpus": pd.DataFrame([{"kind": stage.params.corpora[slug].kind, "digest": source.digest}]),
            "steps": pd.DataFrame(steps, columns=["construction", "what", "number"]),
            "rejects": pd.concat(rejects),
            "faults": corpus.faults,
        },
    )


if __name__ == "__main__":
    run_stage(mine_sentences, CorporaParams, "corpora")
