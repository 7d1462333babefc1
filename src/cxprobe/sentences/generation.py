"""Sentences from a construction's grammars: enough for every value of every feature, and none twice."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import numpy as np
from nltk import CFG

from cxprobe.constructions import Construction
from cxprobe.errors import ConstructionError
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.records import LABELS, SPLITS, Label, Sentence, Shortfall, Split
from cxprobe.seeding import generator_for
from cxprobe.sentences.grammar import check_lexical_halves, read_grammar
from cxprobe.sentences.shapes import Shape, ShapeSampler
from cxprobe.sentences.spelling import Spelling

# A cell of few distinct sentences is drawn from in vain in the end; after this many draws a sentence it is given up.
DRAWS_PER_SENTENCE = 50


@dataclass(frozen=True)
class Cell:
    """Where sentences are wanted: one value of one feature, for one label of one lexical half."""

    split: Split
    feature: str
    value: int
    label: Label


def load_grammars(name: str, construction: Construction, folder: Path = CONSTRUCTIONS_FOLDER) -> Mapping[Split, CFG]:
    """Read a construction's two grammars and check that they share no content word.

    Raises:
        ConstructionError: See `read_grammar` and `check_lexical_halves`.
    """
    paths: dict[Split, Path] = {split: folder / name / f"{split}.cfg" for split in SPLITS}
    content = construction.rules().content
    required = [*construction.rules().start.values(), *content]
    grammars = {split: read_grammar(path, required) for split, path in paths.items()}
    check_lexical_halves(paths["train"], paths["test"], content)
    return grammars


def generate_sentences(
    construction: Construction, grammars: Mapping[Split, CFG], per_label: int, seed: int
) -> tuple[list[Sentence], list[Shortfall]]:
    """Draw ``per_label`` distinct sentences for every value of every feature, per label and lexical half.

    Within a cell the sentences follow the grammar's own distribution, given the value; over all cells of a half
    no sentence occurs twice. A value is one that the strings of at least one label can have.

    Returns:
        The sentences, and every cell that the grammar could not fill.

    Source:
        Weissweiler et al. 2022, §3 (synthetic data). The paper does not say how it filled the rare values.
    """
    sentences: dict[str, Sentence] = {}
    shortfalls: list[Shortfall] = []
    for split in SPLITS:
        sampler = _sampler(construction, grammars[split])
        for cell, weights in _cells(construction, sampler, split):
            rng = generator_for(seed, construction.name, cell.split, cell.feature, cell.value, cell.label)
            draws = (_draw(construction, sampler, cell, weights, rng) for _ in range(per_label * DRAWS_PER_SENTENCE))
            fresh = islice(_unseen(draws, sentences), per_label)
            found = sum(1 for _ in fresh)
            if found < per_label:
                shortfalls.append(Shortfall(split, cell.feature, cell.value, cell.label, per_label, found))
    return list(sentences.values()), shortfalls


def _sampler(construction: Construction, grammar: CFG) -> ShapeSampler:
    return ShapeSampler(grammar, construction.rules().content, _spelling(construction))


def _spelling(construction: Construction) -> Spelling:
    return Spelling(construction.rules().marker, frozenset(construction.rules().no_space_before))


def _cells(
    construction: Construction, sampler: ShapeSampler, split: Split
) -> Iterator[tuple[Cell, dict[Shape, float]]]:
    """Yield every cell of a half with the shapes that fall into it; a label that has none gives an empty cell."""
    shapes = {label: _shapes(construction, sampler, split, label) for label in LABELS}
    for name, feature in construction.features.items():
        values = {feature.of(*shape) for label in LABELS for shape in shapes[label]}
        for value, label in product(sorted(values), LABELS):
            fitting = {shape: p for shape, p in shapes[label].items() if feature.of(*shape) == value}
            yield Cell(split, name, value, label), fitting


def _shapes(construction: Construction, sampler: ShapeSampler, split: Split, label: Label) -> dict[Shape, float]:
    symbol, marks = construction.rules().start[label], construction.rules().marks
    shapes = sampler.shapes(symbol)
    wrong = {len(shape.marks) for shape in shapes} - {marks}
    if wrong:
        raise ConstructionError(
            f"{construction.name}, {split} grammar: {symbol} has sentences with {min(wrong)} markers "
            f"'{construction.rules().marker}', but construction.yaml says that each has {marks}"
        )
    return shapes


def _draw(
    construction: Construction,
    sampler: ShapeSampler,
    cell: Cell,
    weights: Mapping[Shape, float],
    rng: np.random.Generator,
) -> Sentence | None:
    """Draw one sentence of a cell, or None if no shape falls into it."""
    if not weights:
        return None
    shapes, p = list(weights), np.array(list(weights.values()))
    shape = shapes[rng.choice(len(shapes), p=p / p.sum())]
    leaves = sampler.draw(construction.rules().start[cell.label], shape, rng)
    spelling = _spelling(construction)
    text, words, marks = spelling.spell(leaf.terminal for leaf in leaves)
    return Sentence(
        id=sentence_id(cell.split, text),
        text=text,
        label=cell.label,
        split=cell.split,
        template=spelling.spell(leaf.category or leaf.terminal for leaf in leaves).text,
        drawn_for=cell.feature,
        features={name: feature.of(words, marks) for name, feature in construction.features.items()},
    )


def _unseen(draws: Iterator[Sentence | None], seen: dict[str, Sentence]) -> Iterator[Sentence]:
    """Pass on the sentences whose ids are new, and note them in ``seen``."""
    for sentence in draws:
        if sentence is not None and sentence.id not in seen:
            seen[sentence.id] = sentence
            yield sentence


def sentence_id(split: Split, text: str) -> str:
    """Return an id that follows from the sentence itself: the split and 64 bits of the text's BLAKE2 hash."""
    return f"{split}-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
