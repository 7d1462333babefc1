"""All pairs of a construction: with its own words and, where these are declared, with pseudowords in their place."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from cxprobe.constructions import PairsFile, People
from cxprobe.make.pairs.pseudowords import candidates_of, replace_content
from cxprobe.make.pairs.rendering import render_pairs
from cxprobe.make.pairs.tables import pair_table
from cxprobe.params import BuildPairs

_CELL = ["words", "variant", "sentence", "noun_type", "order"]


@dataclass(frozen=True)
class BuiltPairs:
    """The pairs of a construction.

    Attributes:
        pairs: One row a pair, see `pair_table`.
        cells: One row a cell, which is a variant of one noun type in one order, after one kind of sentence, with one
            kind of words: words, variant, sentence, noun_type, order, pairs, frames (how many distinct ones), wanted,
            and shortfall, the pairs that are missing.
        pseudowords: One row a replaced word: word, pseudoword, source.
    """

    pairs: pd.DataFrame
    cells: pd.DataFrame
    pseudowords: pd.DataFrame

    @property
    def counts(self) -> dict[str, int]:
        """How many pairs, items, cells, cells with a shortfall, pseudowords, and random ones among these there are."""
        return {
            "pairs": len(self.pairs),
            "items": self.pairs["item"].nunique(),
            "cells": len(self.cells),
            "cells_not_filled": int((self.cells["shortfall"] > 0).sum()),
            "pseudowords": len(self.pseudowords),
            "pseudowords_random": int((self.pseudowords["source"] == "random").sum()),
        }


def build_pairs(name: str, content: PairsFile, people: People, settings: BuildPairs, seed: int) -> BuiltPairs:
    """Make the pairs of a construction.

    Args:
        name: The construction's folder.
        content: Its pairs.yaml.
        people: The nouns.
        settings: How many pairs a cell gets, and where pseudowords come from.
        seed: The project's seed.

    Raises:
        DataError: See `render_pairs` and `candidates_of`.
    """
    wanted = settings.per_cell.meaning if content.tests == "meaning" else settings.per_cell.form
    contents = {"real": content}
    pseudowords = pd.DataFrame(columns=["word", "pseudoword", "source"])
    if settings.pseudowords and content.content_slots:
        replaced = replace_content(content, candidates_of(settings.pseudowords, seed), seed)
        contents["pseudo"], pseudowords = replaced.content, replaced.words
    rendered = [render_pairs(name, one, people, wanted, seed, words) for words, one in contents.items()]
    pairs = pair_table([pair for one in rendered for pair in one.pairs])
    cells = pairs.groupby(_CELL, as_index=False, sort=False).agg(
        pairs=("id", "size"), frames=("cluster_frame", "nunique")
    )
    return BuiltPairs(pairs, cells.assign(wanted=wanted, shortfall=wanted - cells["pairs"]), pseudowords)


def tables_of(built: Mapping[str, BuiltPairs]) -> dict[str, pd.DataFrame]:
    """Return the cells, pseudowords and counts of all constructions, each table with the column construction."""
    if not built:
        return {}
    return {
        "cells": pd.concat([one.cells.assign(construction=name) for name, one in built.items()], ignore_index=True),
        "pseudowords": pd.concat(
            [one.pseudowords.assign(construction=name) for name, one in built.items()], ignore_index=True
        ),
        "constructions": pd.DataFrame([{"construction": name, **one.counts} for name, one in built.items()]),
    }
