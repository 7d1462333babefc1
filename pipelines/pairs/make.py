"""make_pairs: every construction's pairs.yaml, and benchmarks of others in their own formats -> minimal pairs."""

from collections import Counter

from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA
from cxprobe.pairs.benchmarks import read_benchmark
from cxprobe.pairs.frames import load_pairs, pairs_file
from cxprobe.pairs.make import build_pairs, made_tables, pair_table
from cxprobe.pairs.params import PairsStage
from cxprobe.pairs.sources import folder_of
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def make_pairs(stage: Stage[PairsStage]) -> Outcome:
    section, seed = stage.params.pairs, stage.params.seed
    people = load_people(stage.use(PEOPLE_FILE))
    contents = {}
    for name in section.constructions:  # all of them are read before the first is used
        stage.use(pairs_file(name))
        contents[name] = load_pairs(name, people)
    counts = Counter[str](constructions=len(contents))
    built = {name: build_pairs(name, contents, people, section.make, seed) for name in contents}
    for name, of_construction in built.items():
        write_table(of_construction.pairs, stage.data / f"{name}.parquet")
        counts.update(of_construction.counts)
    for name, benchmark in section.benchmarks.items():
        pairs = read_benchmark(stage.use(DATA / "benchmarks" / name), benchmark)
        write_table(pair_table(pairs), stage.data / folder_of(name).with_suffix(".parquet"))
        counts |= {
            f"{name}.pairs": len(pairs),
            f"{name}.items": len({pair.item for pair in pairs}),
            f"{name}.identical": sum(pair.good == pair.bad for pair in pairs),  # they tie under any model
        }
    return Outcome(counts=counts, tables=made_tables(built))


if __name__ == "__main__":
    run_stage(make_pairs, PairsStage)
