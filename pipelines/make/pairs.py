"""make_pairs: every construction's pairs.yaml, and benchmarks of others in their own formats -> minimal pairs."""

from collections import Counter

import pandas as pd

from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.tables import write_table
from cxprobe.files.writing import DATA
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.pairs.balance import unbalanced_cells
from cxprobe.tasks.pairs.benchmarks import read_benchmark
from cxprobe.tasks.pairs.contrasts import contrast_pairs, contrasts_file, load_contrasts
from cxprobe.tasks.pairs.frames import load_pairs, pairs_file
from cxprobe.tasks.pairs.make import build_pairs, pair_table
from cxprobe.tasks.pairs.params import PairsStage
from cxprobe.tasks.pairs.sources import CONTRASTS, folder_of


def make_pairs(stage: Stage[PairsStage]) -> Outcome:
    section, seed = stage.params.pairs, stage.params.seed
    people = load_people(stage.use(PEOPLE_FILE))
    contents = {}
    for name in section.constructions:  # all of them are read before the first is used
        stage.use(pairs_file(name))
        contents[name] = load_pairs(name, people)
    contrasts = {}
    for name in section.contrasts:
        stage.use(contrasts_file(name))
        contrasts[name] = load_contrasts(name, people)
    counts = Counter[str](constructions=len(contents))
    built = {name: build_pairs(name, content, people, section.make, seed) for name, content in contents.items()}
    for name, of_construction in built.items():
        write_table(of_construction.pairs, stage.data / f"{name}.parquet")
        counts.update(
            pairs=len(of_construction.pairs),
            items=of_construction.pairs["item"].nunique(),
            cells_not_filled=of_construction.cells_not_filled,
            pseudowords=len(of_construction.pseudowords),
        )
    for name, content in contrasts.items():
        pairs = contrast_pairs(name, content, people, section.make.contrasts, seed)
        write_table(pair_table(pairs), stage.data / CONTRASTS / f"{name}.parquet")
        counts["contrast_pairs"] += len(pairs)
    tables = {}
    if built:
        words = [one.pseudowords.assign(construction=name) for name, one in built.items()]
        own = pd.concat([one.pairs for one in built.values()], ignore_index=True)
        tables = {"pseudowords": pd.concat(words), "unbalanced": unbalanced_cells(own[own["words"] == "real"])}
    for name, benchmark in section.benchmarks.items():
        pairs = read_benchmark(stage.use(DATA / "benchmarks" / name), benchmark)
        write_table(pair_table(pairs), stage.data / folder_of(name).with_suffix(".parquet"))
        counts |= {
            f"{name}.pairs": len(pairs),
            f"{name}.items": len({pair.item for pair in pairs}),
            f"{name}.identical": sum(pair.good == pair.bad for pair in pairs),  # they tie under any model
        }
    return Outcome(counts=counts, tables=tables)


if __name__ == "__main__":
    run_stage(make_pairs, PairsStage)
