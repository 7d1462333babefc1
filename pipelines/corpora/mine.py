"""mine_sentences: a corpus -> the sentences that may have a construction, with their tags and features."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.corpora.collecting import FAULTS_SHOWN, collect_all
from cxprobe.corpora.engine import count_finished, make_job, run_shards
from cxprobe.corpora.pattern import Wanted
from cxprobe.corpora.search import check_examples, load_matchers, pipeline_of
from cxprobe.corpora.sources import files_left_out, open_corpus
from cxprobe.files.code import computing_code
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA, SCRATCH, read_json, scratch_folder, write_json
from cxprobe.run.mining import CorporaParams, tell_left_out, told_faults
from cxprobe.run.progress import progress
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def mine_sentences(stage: Stage[CorporaParams]) -> Outcome:
    listed, mined = read_json(stage.use(DATA / "list_corpora" / stage.item) / "wanted.json"), stage.data / "mined.json"
    wanted = {name: Wanted.model_validate(content) for name, content in listed.items()}
    keys = {name: _key(stage, one) for name, one in wanted.items()}
    # DVC leaves the last output here: of what follows from the same as then, nothing is mined again.
    known = read_json(mined) if mined.is_file() else {"keys": {}}
    kept = {name: known["found"][name] for name, key in keys.items() if known["keys"].get(name) == key}
    write_json(known | {"keys": {name: keys[name] for name in kept}}, mined)
    for path in {*stage.data.glob("*/")} - {stage.data / name for name in kept}:
        shutil.rmtree(path)
    if not wanted:
        return Outcome(counts={"constructions": 0})
    if new := {name: one for name, one in wanted.items() if name not in kept}:
        known = _mine(stage, new)
    found = {name: (kept | known["found"])[name] for name in wanted}
    write_json(known | {"keys": keys, "found": found}, mined)
    steps = [(name, *step) for name, one in found.items() for step in one["steps"].items()]
    rejects = [(name, *reject) for name, one in found.items() for reject in one["rejects"].items()]
    return Outcome(
        counts=known["counts"],
        tables={
            "corpus": pd.DataFrame([{"kind": stage.params.corpora[stage.item].kind, "digest": known["digest"]}]),
            "steps": pd.DataFrame(steps, columns=["construction", "what", "number"]),
            "rejects": pd.DataFrame(rejects, columns=["construction", "reason", "sentences"]),
            "faults": told_faults(stage, known["counts"], read_table(stage.data / "faults.parquet").head(FAULTS_SHOWN)),
        },
    )


def _key(stage: Stage[CorporaParams], wanted: Wanted) -> str:
    """Return the digest of everything that what is mined for a construction follows from."""
    read = DATA / "list_corpora" / stage.item / "parts.csv", Path(pipeline_of(wanted.pattern, stage.params.mining))
    inputs = [stage.inputs[str(stage.use(path))] for path in read]
    inputs.append(computing_code("cxprobe.corpora.collecting", "cxprobe.segmentation"))
    how = stage.params.mining.model_dump(include={"duplicates", "longest_line", "most_words"})
    return scratch_folder(SCRATCH, stage.params.corpora[stage.item], wanted.model_dump(), how, inputs).name


def _mine(stage: Stage[CorporaParams], wanted: Mapping[str, Wanted]) -> dict[str, Any]:
    """Mine constructions, and return the corpus's digest and counts, and the counts of each of them."""
    settings, patterns = stage.params.mining, {name: one.pattern for name, one in wanted.items()}
    pipelines = {name: pipeline_of(one, settings) for name, one in patterns.items()}
    for name, matchers in load_matchers(patterns, pipelines).items():
        check_examples(matchers, CONSTRUCTIONS_FOLDER / name / "pattern.yaml")
    source = open_corpus(stage.params.corpora[stage.item], SCRATCH)
    tell_left_out(stage, files_left_out(stage.params.corpora[stage.item]))
    job = make_job(source, settings, patterns, SCRATCH / stage.name)
    kept, done = f"the finished shards are in {SCRATCH / stage.name}", count_finished(job, settings.engine)
    with progress(len(source.shards), "shards", f"mine_sentences {stage.item}", kept=kept) as shown:
        shown.update(done, known=True)
        run_shards(job, settings.engine, shown.update)
    return {"digest": source.digest, **collect_all(job, wanted, settings, stage.item, stage.data)}


if __name__ == "__main__":
    run_stage(mine_sentences, CorporaParams, "corpora")
