"""mine_sentences: a corpus -> the sentences that may have a construction, with their tags and features."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.corpora.engine import collect, make_job, run_shards
from cxprobe.corpora.params import Corpus, Mining
from cxprobe.corpora.pattern import Wanted, load_wanted
from cxprobe.corpora.readers import files_left_out, list_corpus, open_corpus
from cxprobe.corpora.search import check_examples, load_matchers, pipeline_of
from cxprobe.files.code import computing_code
from cxprobe.files.tables import read_table
from cxprobe.files.writing import SCRATCH, read_json, scratch_folder, write_json
from cxprobe.run.mining import CorporaParams
from cxprobe.run.running import Outcome, Stage, run_stage

FAULTS_SHOWN = 1000  # rows of the table for readers; faults.parquet has all of them


def mine_sentences(stage: Stage[CorporaParams]) -> Outcome:
    settings, corpus, mined = stage.params.mining, stage.params.corpora[stage.item], stage.data / "mined.json"
    wanted = {name: load_wanted(name) for name in settings.mined_in(stage.item)}
    listed = list_corpus(corpus).to_csv() if wanted else ""  # what is not mined need not be there
    pipelines = {pipeline_of(one.pattern, settings) for one in wanted.values()}
    read = {name: stage.inputs[str(stage.use(Path(name)))] for name in pipelines}
    keys = {name: _key(one, settings, corpus, listed, read) for name, one in wanted.items()}
    # DVC leaves the last output here: of what follows from the same as then, nothing is mined again.
    known = read_json(mined) if mined.is_file() else {"keys": {}}
    kept = {name: known["found"][name] for name, key in keys.items() if known["keys"].get(name) == key}
    write_json(known | {"keys": {name: keys[name] for name in kept}}, mined)
    for path in {*stage.data.glob("*/")} - {stage.data / name for name in kept}:
        shutil.rmtree(path)
    if not wanted:
        return Outcome(counts={"constructions": 0})
    if others := files_left_out(corpus):
        what = f"{len(others)} files of other formats in its folder are not read; the first: {others[0]}"
        print(f"corpora.{stage.item}: {what}; name a corpus of its format for them", file=sys.stderr)
    if new := {name: one for name, one in wanted.items() if name not in kept}:
        source = open_corpus(corpus)
        job = make_job(source, settings, {name: one.pattern for name, one in new.items()}, SCRATCH / stage.name)
        for name, matchers in load_matchers(job.patterns, job.pipelines).items():
            check_examples(matchers, CONSTRUCTIONS_FOLDER / name / "pattern.yaml")
        run_shards(job, settings.engine)
        known = {"digest": source.digest, **collect(job, new, settings, stage.item, stage.data)}
    found = {name: (kept | known["found"])[name] for name in wanted}
    write_json(known | {"keys": keys, "found": found}, mined)
    for name, one in found.items():
        print(f"{name}: {one['steps']['sentences']:,} sentences, see {stage.data / name / 'sentences.tsv'}", flush=True)
    steps = [(name, *step) for name, one in found.items() for step in one["steps"].items()]
    rejects = [(name, *reject) for name, one in found.items() for reject in one["rejects"].items()]
    faults = read_table(stage.data / "faults.parquet").head(FAULTS_SHOWN)
    for shard, line, _, fault in faults.head(1).itertuples(index=False, name=None):
        number = f"{known['counts']['faults']:,} faults beside {known['counts']['documents']:,} documents"
        print(f"corpora.{stage.item}: {number}; the first: {shard}, line {line}: {fault}", file=sys.stderr)
    return Outcome(
        counts=known["counts"],
        tables={
            "corpus": pd.DataFrame([{"digest": known["digest"]}]),
            "steps": pd.DataFrame(steps, columns=["construction", "what", "number"]),
            "rejects": pd.DataFrame(rejects, columns=["construction", "reason", "sentences"]),
            "faults": faults,
        },
    )


def _key(wanted: Wanted, settings: Mining, corpus: Corpus, listed: str, pipelines: Mapping[str, str]) -> str:
    """Return the digest of everything that the sentences mined for a construction follow from."""
    how = settings.model_dump(include={"duplicates", "longest_line", "most_words"})
    code = computing_code("cxprobe.corpora.engine", "cxprobe.tagging")
    pipeline = pipelines[pipeline_of(wanted.pattern, settings)]
    return scratch_folder(SCRATCH, corpus, wanted.model_dump(), how, listed, pipeline, code).name


if __name__ == "__main__":
    run_stage(mine_sentences, CorporaParams, "corpora")
