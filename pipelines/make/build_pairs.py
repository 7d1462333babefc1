"""build_pairs: every construction's pairs.yaml -> minimal pairs, with its own words and with pseudowords."""

from collections import Counter

from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.tables import write_table
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import build_pairs as build
from cxprobe.pairs.make import tables_of
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def build_pairs(stage: Stage) -> Outcome:
    people = load_people(stage.use(PEOPLE_FILE))
    contents = {}
    for name in stage.params.grid.pairs.constructions:  # all of them are read before the first is used
        stage.use(CONSTRUCTIONS_FOLDER / name / "pairs.yaml")
        contents[name] = load_pairs(name, people)
    settings, seed = stage.params.build_pairs, stage.params.seed
    built = {name: build(name, content, people, settings, seed) for name, content in contents.items()}
    stage.data.mkdir(parents=True, exist_ok=True)
    counts = Counter[str](constructions=len(built))
    for name, one in built.items():
        write_table(one.pairs, stage.data / f"{name}.parquet")
        counts.update(one.counts)
    return Outcome(counts=counts, tables=tables_of(built))


if __name__ == "__main__":
    run_stage(build_pairs)
