"""Sentences from a construction's grammars: enough for every value of every feature."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from nltk import CFG

from cxprobe.constructions import Construction, grammar_file
from cxprobe.errors import ConstructionError
from cxprobe.make.sentences.grammar import check_lexical_halves, read_grammar
from cxprobe.make.sentences.shapes import Leaf, Shape, ShapeSampler
from cxprobe.make.sentences.spelling import Spelling
from cxprobe.params import CONSTRUCTIONS_FOLDER, Source
from cxprobe.records import ALL_SENTENCES, CLUSTER, LABELS, SPLITS, Label, Sentence, Shortfall, Split
from cxprobe.seeding import generator_for, text_id

# A cell may have fewer distinct sentences than are wanted; after so many draws per sentence no more are drawn.
DRAWS_PER_SENTENCE = 50


@dataclass(frozen=True)
class Cell:
    """Where sentences are wanted: one value of one feature, for one label of one lexical half."""

    split: Split
    feature: str
    value: int
    label: Label


@dataclass(frozen=True)
class Generated:
    """What was drawn from a construction's grammars.

    Attributes:
        sentences: Every sentence once.
        draws: Feature -> ids of the sentences that were drawn to fill its values; a sentence may serve several.
        shortfalls: The cells that the grammar could not fill.
    """

    sentences: list[Sentence]
    draws: dict[str, list[str]]
    shortfalls: list[Shortfall]


def load_grammars(
    name: str, construction: Construction, folder: Path = CONSTRUCTIONS_FOLDER, *, source: Source = "generated"
) -> Mapping[Split, CFG]:
    """Read the two grammars of a construction's first or second pair, and check that they can be drawn from.

    Args:
        name: The construction's folder.
        construction: What its construction.yaml says of the source: what `Construction.for_source` returns.
        folder: The folder of all constructions.
        source: "generated" for the first pair, "balanced" for the second.

    Raises:
        ConstructionError: See `read_grammar` and `check_lexical_halves`; or a grammar is recursive, or has sentences
            with a wrong number of markers.
    """
    paths: dict[Split, Path] = {split: folder / name / grammar_file(source, split) for split in SPLITS}
    content = construction.rules().content
    required = [*construction.rules().start.values(), *content]
    grammars = {split: read_grammar(path, required) for split, path in paths.items()}
    check_lexical_halves(paths["train"], paths["test"], content)
    for split in SPLITS:
        for label in LABELS:
            try:
                _shapes(construction, _sampler(construction, grammars[split]), split, label)
            except ConstructionError as fault:
                raise ConstructionError(f"{paths[split]}: {fault}") from fault
    return grammars


def generate_sentences(
    name: str, construction: Construction, grammars: Mapping[Split, CFG], per_label: int, seed: int
) -> Generated:
    """Draw ``per_label`` distinct sentences for every value of every feature, per label and lexical half.

    Within a cell, one value of one feature for one label, sentences follow the grammar's own distribution, given the
    value. What was drawn for one feature is never used for another's values unless it was drawn for that one too:
    where rare values are filled by force, the sentences of all cells together follow no distribution at all. A
    construction without features has one cell per label and lexical half.

    Args:
        name: The construction's folder, from which the seeds follow.
        construction: What is measured, and the symbols to start from; of a second pair, what `for_source` returns.
        grammars: One for each lexical half.
        per_label: Sentences per cell.
        seed: The project's seed.

    Raises:
        ConstructionError: A text can be derived with both labels.

    Source:
        Weissweiler et al. 2022, §3 (synthetic data). The paper does not say how it filled the rare values.
    """
    pool: dict[str, Sentence] = {}
    draws: dict[str, list[str]] = {feature: [] for feature in construction.features or (ALL_SENTENCES,)}
    shortfalls: list[Shortfall] = []
    for split in SPLITS:
        sampler = _sampler(construction, grammars[split])
        for cell, weights in _cells(construction, sampler, split):
            rng = generator_for(seed, name, cell.split, cell.feature, cell.value, cell.label)
            drawn = _fill(construction, sampler, cell, weights, per_label, rng)
            for sentence in drawn:
                _check_label(pool.setdefault(sentence.id, sentence), sentence)
            draws[cell.feature] += [sentence.id for sentence in drawn]
            if len(drawn) < per_label:
                shortfalls.append(Shortfall(split, cell.feature, cell.value, cell.label, per_label, len(drawn)))
    return Generated(list(pool.values()), draws, shortfalls)


def _check_label(known: Sentence, drawn: Sentence) -> None:
    if known.label != drawn.label:
        raise ConstructionError(
            f"the {drawn.split} grammar derives '{drawn.text}' both as {known.label} and as {drawn.label}; a sentence "
            "has one label, so change the rules of one"
        )


def _sampler(construction: Construction, grammar: CFG) -> ShapeSampler:
    return ShapeSampler(grammar, construction.rules().content, _spelling(construction))


def _spelling(construction: Construction) -> Spelling:
    return Spelling(construction.rules().marker, frozenset(construction.rules().no_space_before))


def _cells(
    construction: Construction, sampler: ShapeSampler, split: Split
) -> Iterator[tuple[Cell, dict[Shape, float]]]:
    """Yield every cell of a half with the shapes that belong to it; a label without shapes gives an empty cell."""
    shapes = {label: _shapes(construction, sampler, split, label) for label in LABELS}
    if not construction.features:
        yield from ((Cell(split, ALL_SENTENCES, 0, label), shapes[label]) for label in LABELS)
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


def _fill(
    construction: Construction,
    sampler: ShapeSampler,
    cell: Cell,
    weights: Mapping[Shape, float],
    per_label: int,
    rng: np.random.Generator,
) -> list[Sentence]:
    """Draw up to ``per_label`` distinct sentences of a cell; fewer if the grammar seems to have no more."""
    found: dict[str, Sentence] = {}
    attempts = per_label * DRAWS_PER_SENTENCE if weights else 0
    shapes, p = list(weights), np.array(list(weights.values()))
    for _ in range(attempts):
        shape = shapes[rng.choice(len(shapes), p=p / p.sum())]
        sentence = _sentence(construction, cell, sampler.draw(construction.rules().start[cell.label], shape, rng))
        found.setdefault(sentence.id, sentence)
        if len(found) == per_label:
            break
    return list(found.values())


def _sentence(construction: Construction, cell: Cell, leaves: Sequence[Leaf]) -> Sentence:
    spelling = _spelling(construction)
    text, words, marks = spelling.spell(leaf.terminal for leaf in leaves)
    template = spelling.spell(leaf.category or leaf.terminal for leaf in leaves).text
    # Reversed, so that of several words of a category the first is kept.
    first_words = {leaf.category: leaf.terminal for leaf in reversed(leaves) if leaf.category}
    return Sentence(
        id=text_id(cell.split, text),
        text=text,
        label=cell.label,
        split=cell.split,
        features={name: feature.of(words, marks) for name, feature in construction.features.items()},
        clusters={"template": template}
        | {category: first_words.get(category, "") for category in construction.rules().dependent},
    )


def sentence_table(sentences: Sequence[Sentence]) -> pd.DataFrame:
    """Return sentences as a table: id, text, label, split, each feature, and each cluster as cluster_<name>."""
    rows = [
        {"id": one.id, "text": one.text, "label": one.label, "split": one.split}
        | dict(one.features)
        | {f"{CLUSTER}{name}": cluster for name, cluster in one.clusters.items()}
        for one in sentences
    ]
    return pd.DataFrame(rows)


def draw_table(draws: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return which sentences were drawn for which feature as a table: feature, id."""
    return pd.DataFrame([(name, id_) for name, ids in draws.items() for id_ in ids], columns=["feature", "id"])
