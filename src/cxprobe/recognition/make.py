"""Sentences from a construction's grammars: enough for every value of every feature."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from nltk import CFG

from cxprobe.constructions.construction import Construction, grammar_file
from cxprobe.constructions.sentences import ALL_SENTENCES, LABELS, SPLITS, Label, Sentence, Shortfall, Split
from cxprobe.errors import ConstructionError, DataError
from cxprobe.files.schema import Source
from cxprobe.recognition.grammar import Leaf, Shape, ShapeSampler, Spelling, check_lexical_halves, read_grammar
from cxprobe.recognition.params import Subsets
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.seeding import generator_for, text_id
from cxprobe.stats import CLUSTER

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


@dataclass(frozen=True)
class DrawnSubsets:
    """The subsets of all features of one source's sentences.

    Attributes:
        rows: One row a drawn sentence: feature, split, draw, value, label, id. The training part is drawn as often as
            the sizes ask for, the test part once; draws count from 0.
        dropped: The values that could not be filled for both labels, and for which label.
        left_out: The features of which no value could be filled.
    """

    rows: pd.DataFrame
    dropped: list[Shortfall]
    left_out: list[str]


@dataclass(frozen=True)
class BalancedSubset:
    """The training and the test part of one feature's subset.

    Attributes:
        rows: One row a drawn sentence: feature, split, draw, value, label, id; none if no value can be filled.
        dropped: The values that could not be filled for both labels, and for which label.
    """

    rows: pd.DataFrame
    dropped: list[Shortfall]


class _Filled(NamedTuple):
    """The sentences of the values that both labels can fill, and what was dropped."""

    sentences: pd.DataFrame
    dropped: list[Shortfall]


def draw_subsets(
    sentences: pd.DataFrame,
    draws: pd.DataFrame,
    features: Collection[str],
    sizes: Subsets,
    *,
    seed: int,
    place: str,
) -> DrawnSubsets:
    """Draw the balanced subset of every feature, and that of all sentences if ``sizes`` asks for it.

    Args:
        sentences: Columns id, label, split, and one for each feature.
        draws: Columns feature and id: the sentences that may fill a feature's values.
        features: Names of the features; there may be none if all sentences are drawn.
        sizes: How many sentences are drawn; a part of the section build_recognition.
        seed: The project's seed.
        place: Source and construction, for messages.

    Raises:
        DataError: A feature has no column, nothing can be drawn, or all of several draws are the same.
    """
    absent = [feature for feature in features if feature not in sentences.columns]
    if absent:
        raise DataError(
            f"{place}: the sentences have no column for the feature {', '.join(absent)}; their columns are "
            f"{', '.join(sentences.columns)}. Make them again, with the features of the present construction.yaml"
        )
    subsets = {
        feature: balance(
            sentences[sentences["id"].isin(draws.loc[draws["feature"] == feature, "id"])],
            feature,
            train_per_label=sizes.train_per_label,
            test_per_label=sizes.test_per_label,
            draws=sizes.draws,
            seed=seed,
        )
        for feature in features
    }
    drawn = [subset.rows for subset in subsets.values() if not subset.rows.empty]
    if sizes.all_sentences:
        drawn.append(all_sentences(sentences, sizes.draws, seed))
    if not drawn:
        raise DataError(
            f"{place}: no value of any feature has {sizes.test_per_label} sentences of both labels in the test part "
            f"and {sizes.train_per_label} in the lowest quarter of the training part; lower the numbers in "
            "build_recognition, set its all_sentences: true, or add sentences"
        )
    rows = pd.concat(drawn, ignore_index=True)
    if sizes.draws > 1 and not _draws_differ(rows):
        raise DataError(
            f"{place}: all {sizes.draws} draws of the training part have the same sentences, since no value has more "
            f"than train_per_label: {sizes.train_per_label} of them; lower it in build_recognition, set its draws: 1, "
            "or add sentences"
        )
    return DrawnSubsets(
        rows=rows,
        dropped=[shortfall for subset in subsets.values() for shortfall in subset.dropped],
        left_out=[feature for feature, subset in subsets.items() if subset.rows.empty],
    )


def balance(
    sentences: pd.DataFrame, feature: str, *, train_per_label: int, test_per_label: int, draws: int, seed: int
) -> BalancedSubset:
    """Draw the balanced subset of one feature.

    D_f is the union over the values v of f and over both labels of S(D, v, label, n*), where S draws n* of D's
    sentences that have value v and that label. Testing uses the whole range [v_min, v_max]; training only its
    lowest quarter, [v_min, v_min + (v_max - v_min) / 4], so that a probe must generalise from small values to
    large ones. A value that cannot give n* sentences of both labels is dropped for both; v_min and v_max are the
    smallest and the largest value that the test part keeps, so that both parts refer to one range.

    Args:
        sentences: The pool D: columns id, label, split, and one with the feature's name. Of generated sentences
            these are the ones that were drawn for this feature (see `generate_sentences`).
        feature: Name of the feature.
        train_per_label: n* of the training part, per value and label.
        test_per_label: n* of the test part, per value and label.
        draws: How often the training part is drawn, each time from all sentences of the lowest quarter.
        seed: The project's seed.

    Returns:
        The subset; without rows if no value can be filled, in the test part or in the lowest quarter of the training
        part.

    Source:
        Weissweiler et al. 2022, §3 (sampling).
    """
    wanted: dict[Split, int] = {"train": train_per_label, "test": test_per_label}
    own = sentences.rename(columns={feature: "value"})
    halves = {split: own[own["split"] == split] for split in SPLITS}
    test = _keep_filled(halves["test"], feature, "test", test_per_label)
    if test.sentences.empty:
        return BalancedSubset(_rows([], feature), test.dropped)
    v_min, v_max = test.sentences["value"].min(), test.sentences["value"].max()
    quarter = halves["train"][halves["train"]["value"].between(v_min, v_min + (v_max - v_min) / 4)]
    train = _keep_filled(quarter, feature, "train", train_per_label)
    if train.sentences.empty:
        return BalancedSubset(_rows([], feature), [*train.dropped, *test.dropped])
    kept: dict[Split, pd.DataFrame] = {"train": train.sentences, "test": test.sentences}
    drawn = [
        group.sample(wanted[split], random_state=_generator(seed, draw, "balance", feature, split, value, label))
        for split, draw in _parts(draws)
        for (value, label), group in kept[split].assign(draw=draw).sort_values("id").groupby(["value", "label"])
    ]
    return BalancedSubset(_rows(drawn, feature), [*train.dropped, *test.dropped])


def all_sentences(sentences: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Draw a subset that is balanced over the labels and ignores the features, for data too scarce for `balance`.

    In each part it has as many sentences of both labels as there are of the rarer one, so that draws of the training
    part differ in the more frequent one. Training and test part cover the same range, so a probe need not generalise
    from small values to large ones.

    Args:
        sentences: Columns id, label, split.
        draws: How often the training part is drawn.
        seed: The project's seed.

    Returns:
        The rows of a subset, as `balance` has them, of the feature `ALL_SENTENCES` with the one value 0.
    """
    drawn = []
    for split, draw in _parts(draws):
        part = sentences[sentences["split"] == split].sort_values("id").assign(value=0, draw=draw)
        rarer = int(part["label"].value_counts().reindex(list(LABELS), fill_value=0).min())
        drawn += [
            group.sample(rarer, random_state=_generator(seed, draw, "all_sentences", split, label))
            for label, group in part.groupby("label")
        ]
    return _rows(drawn, ALL_SENTENCES)


def _parts(draws: int) -> list[tuple[Split, int]]:
    """Return the parts that are drawn, with the number of the draw: the training part so often, the test part once."""
    return [*(("train", draw) for draw in range(draws)), ("test", 0)]


def _generator(seed: int, draw: int, *ids: object) -> np.random.Generator:
    """Return the generator of a draw; that of the first is the same whether others follow or not."""
    return generator_for(seed, *ids, *([f"draw {draw}"] if draw else []))


def _draws_differ(rows: pd.DataFrame) -> bool:
    """Return whether two draws of the training part differ in any feature's sentences."""
    drawn = rows[rows["split"] == "train"].groupby(["feature", "draw"])["id"].agg(frozenset)
    return bool((drawn.groupby("feature").nunique() > 1).any())


def _rows(drawn: Sequence[pd.DataFrame], feature: str) -> pd.DataFrame:
    columns = ["feature", "split", "draw", "value", "label", "id"]
    if not drawn:
        return pd.DataFrame(columns=columns)
    return pd.concat(drawn).assign(feature=feature)[columns].reset_index(drop=True)


def _keep_filled(sentences: pd.DataFrame, feature: str, split: Split, wanted: int) -> _Filled:
    """Keep the sentences of the values that have at least ``wanted`` of both labels."""
    counts = pd.crosstab(sentences["value"], sentences["label"]).reindex(columns=list(LABELS), fill_value=0)
    short = counts[(counts < wanted).any(axis=1)]
    dropped = [
        Shortfall(split, feature, int(value), label, wanted, int(short.loc[value, label]))
        for value in short.index
        for label in LABELS
        if short.loc[value, label] < wanted
    ]
    return _Filled(sentences[~sentences["value"].isin(short.index)], dropped)


def part_sizes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the size and the range of values of each part of each subset.

    Args:
        rows: Columns feature, split, draw, value, id.

    Returns:
        Columns feature, split, sentences (of one draw), draws, distinct (sentences in any draw), values (how many),
        least, greatest.
    """
    sizes = rows.groupby(["feature", "split"], as_index=False, sort=False).agg(
        sentences=("id", "size"),
        draws=("draw", "nunique"),
        distinct=("id", "nunique"),
        values=("value", "nunique"),
        least=("value", "min"),
        greatest=("value", "max"),
    )
    return sizes.assign(sentences=sizes["sentences"] // sizes["draws"])


def shortfall_table(shortfalls: Sequence[Shortfall]) -> pd.DataFrame:
    """Return the cells that could not be filled as a table; it has its columns even when it has no row."""
    return pd.DataFrame(shortfalls, columns=list(Shortfall.__dataclass_fields__))
