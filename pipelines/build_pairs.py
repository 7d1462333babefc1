"""build_pairs: every construction's pairs as data -> minimal pairs, as they are and with pseudowords."""

import pandas as pd

from cxprobe.pairs import (
    PEOPLE_FILE,
    PairsFile,
    People,
    candidates_of,
    load_pairs,
    load_people,
    pair_table,
    render_pairs,
    replace_content,
)
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import write_table

CELL = ["words", "variant", "noun_type", "order"]


def build_pairs(stage: Stage) -> Outcome:
    people = load_people(stage.use(PEOPLE_FILE))
    names, per_cell = stage.params.grid.pairs.constructions, stage.params.build_pairs.per_cell
    contents = {}
    for name in names:  # all of them are read before the first is used
        stage.use(CONSTRUCTIONS_FOLDER / name / "pairs.yaml")
        contents[name] = load_pairs(name, people)
    pairs, cells, pseudowords = {}, {}, {}
    for name, content in contents.items():
        wanted = per_cell.meaning if content.tests == "meaning" else per_cell.form
        pairs[name], pseudowords[name] = _pairs_of(stage, name, content, people, wanted)
        cells[name] = _cells_of(pairs[name], wanted)
    for name, table in pairs.items():
        write_table(table, stage.data / f"{name}.parquet")
    return Outcome(
        metrics={name: _counts(pairs[name], cells[name], pseudowords[name]) for name in names},
        tables={"cells": _joined(cells), "pseudowords": _joined(pseudowords)},
    )


def _pairs_of(
    stage: Stage, name: str, content: PairsFile, people: People, wanted: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a construction's pairs, and which pseudoword stands for which word."""
    seed, source = stage.params.seed, stage.params.build_pairs.pseudowords
    contents = {"real": content}
    replaced = pd.DataFrame(columns=["word", "pseudoword", "source"])
    if source and content.content_slots:
        pseudo = replace_content(content, candidates_of(source, seed), seed)
        contents["pseudo"], replaced = pseudo.content, pseudo.words
    rendered = [render_pairs(name, one, people, wanted, seed, words) for words, one in contents.items()]
    return pair_table([pair for one in rendered for pair in one.pairs]), replaced


def _cells_of(pairs: pd.DataFrame, wanted: int) -> pd.DataFrame:
    cells = pairs.groupby(CELL, as_index=False, sort=False).agg(
        pairs=("id", "size"), frames=("cluster_frame", "nunique")
    )
    return cells.assign(wanted=wanted, shortfall=wanted - cells["pairs"])


def _counts(pairs: pd.DataFrame, cells: pd.DataFrame, pseudowords: pd.DataFrame) -> dict[str, int]:
    return {
        "pairs": len(pairs),
        "items": pairs["item"].nunique(),
        "cells": len(cells),
        "cells_not_filled": int((cells["shortfall"] > 0).sum()),
        "pseudowords": len(pseudowords),
        "pseudowords_random": int((pseudowords["source"] == "random").sum()),
    }


def _joined(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([table.assign(construction=name) for name, table in tables.items()], ignore_index=True)


if __name__ == "__main__":
    run_stage(build_pairs)
