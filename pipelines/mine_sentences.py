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
from cxprobe.corpora.readers import list_corpus
from cxprobe.corpora.search import check_examples, load_matchers, pipeline_of
from cxprobe.files.code import computing_code
from cxprobe.files.writing import SCRATCH, read_json, scratch_folder, write_json
from cxprobe.run.mining import CorporaParams
from cxprobe.run.running import Outcome, Stage, run_stage


def mine_sentences(stage: Stage[CorporaParams]) -> Outcome:
    settings, corpus, mined = stage.params.mining, stage.params.corpora[stage.item], stage.data / "mined.json"
    wanted = {name: load_wanted(name) for name in settings.mined_in(stage.item)}
    listed = list_corpus(corpus) if wanted else pd.DataFrame(columns=["name"])  # what is not mined need not be there
    pipelines = {pipeline_of(one.pattern, settings) for one in wanted.values()}
    read = {name: stage.inputs[str(stage.use(Path(name)))] for name in pipelines}
    keys = {name: _key(one, settings, corpus, listed.to_csv(), read) for name, one in wanted.items()}
    # DVC leaves the last output here: of what follows from the same as then, nothing is mined again.
    known = read_json(mined) if mined.is_file() else {"keys": {}}
    kept = {name: known["found"][name] for name, key in keys.items() if known["keys"].get(name) == key}
    write_json(known | {"keys": {name: keys[name] for name in kept}}, mined)
    for path in {*stage.data.glob("*/")} - {stage.data / name for name in kept}:
        shutil.rmtree(path)
    if not wanted:
        return Outcome(counts={"constructions": 0})
    if new := {name: one for name, one in wanted.items() if name not in kept}:
        patterns = {name: one.pattern for name, one in new.items()}
        output = scratch_folder(SCRATCH / stage.name, {name: keys[name] for name in new})
        job = make_job(corpus, listed["name"].tolist(), settings, patterns, output)
        for name, matchers in load_matchers(job.patterns, job.pipelines).items():
            check_examples(matchers, CONSTRUCTIONS_FOLDER / name / "pattern.yaml")
        run_shards(job)
        known = collect(job, new, stage.item, stage.data)
    found = {name: (kept | known["found"])[name] for name in wanted}
    write_json(known | {"keys": keys, "found": found}, mined)
    for name, one in found.items():
        print(f"{name}: {one['steps']['sentences']:,} sentences, see {stage.data / name / 'sentences.tsv'}", flush=True)
    steps = [(name, *step) for name, one in found.items() for step in one["steps"].items()]
    rejects = [(name, *reject) for name, one in found.items() for reject in one["rejects"].items()]
    for fault in known["faults"][:1]:
        number = f"{known['counts']['faults']:,} faults beside {known['counts']['documents']:,} documents"
        first = f"{fault['shard']}, line {fault['line']}: {fault['fault']}"
        print(f"corpora.{stage.item}: {number}; the first: {first}", file=sys.stderr)
    return Outcome(
        counts=known["counts"],
        tables={
            "steps": pd.DataFrame(steps, columns=["construction", "what", "number"]),
            "rejects": pd.DataFrame(rejects, columns=["construction", "reason", "sentences"]),
            "faults": pd.DataFrame(known["faults"], columns=["shard", "line", "fault"]),
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
