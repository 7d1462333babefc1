"""Labelled sentences, divided into a training and a test part: generated from grammars, or mined."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from nltk import CFG
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cxprobe.constructions import ALL_SENTENCES, LABELS, SPLITS, LabelName, Split
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, Construction, Feature, GrammarSource, grammar_file
from cxprobe.errors import ConstructionError, DataError
from cxprobe.labels import judgements
from cxprobe.seeding import generator_for, seed_for, text_id
from cxprobe.stats import CLUSTER
from cxprobe.tasks.recognition.grammar import Leaf, Shape, ShapeSampler, Spelling, check_lexical_halves, read_grammar

NOT_FILLED = ["split", "feature", "value", "label", "wanted", "found"]
"""Columns of a table of values of a feature that cannot give as many sentences of a label as were asked for."""
# The most draws for each sentence that a cell needs: a cell may have fewer distinct sentences than it needs.
DRAWS_PER_SENTENCE = 50

# The host of a web page, or the package of the embedded corpus with its version.
_SOURCE = re.compile(r"^(?:[a-z][a-z0-9+.-]*://|(?=[^/?#]+==))([^/?#]+)", re.I)


class Generated(NamedTuple):
    """What was drawn from a construction's grammars.

    Attributes:
        sentences: Every sentence once: id (from its split and text, so the same in every run), text, label, split, the
            features (in words; positions count from 0), and the clusters: cluster_template, the sentence with the
            category of each content word in its place, and cluster_<category>, its first word of the category.
        draws: feature, id: the sentences that were drawn for a feature's values; a sentence may have several features.
        not_filled: The columns `NOT_FILLED`: the values that lack sentences of a label.
    """

    sentences: pd.DataFrame
    draws: pd.DataFrame
    not_filled: pd.DataFrame


def load_grammars(
    name: str, construction: Construction, folder: Path = CONSTRUCTIONS_FOLDER, *, source: GrammarSource = "generated"
) -> Mapping[Split, CFG]:
    """Read a construction's first or second pair of grammars, and check that sentences can be drawn from them.

    Args:
        name: The construction's folder.
        construction: Its construction.yaml, as `Construction.for_source` returns it for the source.
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
    for split, grammar in grammars.items():
        try:
            _shapes(construction, _sampler(construction, grammar), split)
        except ConstructionError as fault:
            raise ConstructionError(f"{paths[split]}: {fault}") from fault
    return grammars


def generate_sentences(
    name: str, construction: Construction, grammars: Mapping[Split, CFG], per_label: int, seed: int
) -> Generated:
    """Draw ``per_label`` distinct sentences for each cell: a value of a feature, a label and a lexical half.

    Within a cell, sentences follow the distribution of the grammar, given the value. Over all cells they do not, since
    rare values get as many sentences as others. So a sentence is used for a feature only if it was drawn for that
    feature. A construction without features has one cell per label and lexical half.

    Args:
        name: The construction's folder, from which the seeds follow.
        construction: The features and the start symbols; for a second pair, as `Construction.for_source` returns them.
        grammars: One for each lexical half.
        per_label: Sentences per cell.
        seed: The project's seed.

    Raises:
        ConstructionError: A text can be derived with both labels.

    Source:
        Weissweiler et al. 2022, §3 (synthetic data). The paper does not say how it filled the rare values.
    """
    pool: dict[str, dict[str, Any]] = {}
    draws: dict[str, list[str]] = {feature: [] for feature in construction.features or (ALL_SENTENCES,)}
    not_filled = []
    for split in SPLITS:
        sampler = _sampler(construction, grammars[split])
        for feature, value, label, weights in _cells(construction.features, _shapes(construction, sampler, split)):
            rng = generator_for(seed, name, split, feature, value, label)
            shapes, p = list(weights), np.array(list(weights.values()))
            drawn: dict[str, dict[str, Any]] = {}
            most = per_label * DRAWS_PER_SENTENCE if shapes else 0
            for _ in range(most):
                shape = shapes[rng.choice(len(shapes), p=p / p.sum())]
                leaves = sampler.draw(construction.rules().start[label], shape, rng)
                sentence = _sentence(construction, sampler.spelling, split, label, leaves)
                drawn.setdefault(sentence["id"], sentence)
                if len(drawn) == per_label:
                    break
            for sentence in drawn.values():
                known = pool.setdefault(sentence["id"], sentence)
                if known["label"] != label:
                    raise ConstructionError(
                        f"the {split} grammar derives '{sentence['text']}' both as {known['label']} and as {label}; a "
                        "sentence has one label, so change the rules of one"
                    )
            draws[feature] += drawn
            if len(drawn) < per_label:
                not_filled.append((split, feature, value, label, per_label, len(drawn)))
    return Generated(
        pd.DataFrame(pool.values()),
        pd.DataFrame([(name, id_) for name, ids in draws.items() for id_ in ids], columns=["feature", "id"]),
        pd.DataFrame(not_filled, columns=NOT_FILLED),
    )


def _sampler(construction: Construction, grammar: CFG) -> ShapeSampler:
    rules = construction.rules()
    return ShapeSampler(grammar, rules.content, Spelling(rules.marker, frozenset(rules.no_space_before)))


def _shapes(construction: Construction, sampler: ShapeSampler, split: Split) -> dict[LabelName, dict[Shape, float]]:
    """Return the shapes of each label's sentences with their probabilities."""
    rules, shapes = construction.rules(), dict[LabelName, dict[Shape, float]]()
    for label in LABELS:
        shapes[label] = sampler.shapes(rules.start[label])
        if wrong := {len(shape.marks) for shape in shapes[label]} - {rules.marks}:
            raise ConstructionError(
                f"{construction.name}, {split} grammar: {rules.start[label]} has sentences with {min(wrong)} markers "
                f"'{rules.marker}', but construction.yaml says that each has {rules.marks}"
            )
    return shapes


def _cells(
    features: Mapping[str, Feature], shapes: Mapping[LabelName, Mapping[Shape, float]]
) -> Iterator[tuple[str, int, LabelName, Mapping[Shape, float]]]:
    """Yield each cell: feature, value, label and the shapes with the value; a cell may have no shapes."""
    if not features:
        yield from ((ALL_SENTENCES, 0, label, shapes[label]) for label in LABELS)
    for name, feature in features.items():
        values = sorted({feature.of(*shape) for label in LABELS for shape in shapes[label]})
        for value, label in product(values, LABELS):
            yield name, value, label, {shape: p for shape, p in shapes[label].items() if feature.of(*shape) == value}


def _sentence(
    construction: Construction, spelling: Spelling, split: Split, label: LabelName, leaves: Sequence[Leaf]
) -> dict[str, Any]:
    rules = construction.rules()
    text, shape = spelling.spell(leaf.terminal for leaf in leaves)
    # Reversed, so that the first word of a category replaces later ones.
    first_words = {leaf.category: leaf.terminal for leaf in reversed(leaves) if leaf.category}
    return {
        "id": text_id(split, text),
        "text": text,
        "label": label,
        "split": split,
        **{name: feature.of(*shape) for name, feature in construction.features.items()},
        f"{CLUSTER}template": spelling.spell(leaf.category or leaf.terminal for leaf in leaves)[0],
        **{f"{CLUSTER}{name}": first_words.get(name, "") for name in rules.clusters or rules.content},
    }


class Labelled(NamedTuple):
    """Mined sentences with their labels.

    Attributes:
        sentences: The mined sentences that have one label, with the column label.
        left_out: Reason ("not labelled", "unclear", "conflict") -> the number of sentences without a label.
        unused: The number of labels of sequences or sentences that the corpus does not have.
    """

    sentences: pd.DataFrame
    left_out: Mapping[str, int]
    unused: int


def apply_labels(sentences: pd.DataFrame, labels: pd.DataFrame) -> Labelled:
    """Give each sentence its label, see `cxprobe.labels.judgements`.

    A sentence that is called differently, or unclear by somebody, gets no label: there is no majority vote.

    Args:
        sentences: Columns id and tags, and any others.
        labels: The labels of all, with the columns of `cxprobe.labels.Label`.
    """
    outcomes = []
    for said in judgements(sentences, labels):
        different = set(said.values())
        outcomes.append("conflict" if len(different) > 1 else next(iter(different), "not labelled"))
    table = sentences.assign(label=outcomes)
    kept = table["label"].isin(LABELS)
    known = {("sentence", id_) for id_ in sentences["id"]} | {("sequence", tags) for tags in sentences["tags"]}
    return Labelled(
        table[kept].reset_index(drop=True),
        {str(why): int(n) for why, n in table.loc[~kept, "label"].value_counts().items()},
        sum(target not in known for target in zip(labels["kind"], labels["target"], strict=True)),
    )


def split_sequences(labelled: pd.DataFrame, folds: int, seed: int, *, documents_apart: bool) -> pd.DataFrame:
    """Divide the sentences into a training and a test part that have no sequence of tags in common.

    Args:
        labelled: Columns id, text, url, start, end, tags, slots, matched, label, and the features.
        folds: Number of folds into which the sequences are divided, similar in size and labels; the first is the test
            part.
        seed: The project's seed.
        documents_apart: Whether the parts have no document in common either.

    Returns:
        A table with the columns of generated sentences: id, text, label, split, the features, and the clusters:
        cluster_template (the sequence of tags), cluster_document (the url without its fragment) and cluster_source (the
        host or package). A record without a url is a document and a source of its own.

    Raises:
        DataError: A label has fewer sequences, or groups of sequences that share documents, than there are folds, or a
            part would have no sentence of a label.

    Source:
        Weissweiler et al. 2022, §3 (mined data): train and test hold disjoint sequences.
    """
    from sklearn.model_selection import StratifiedGroupKFold  # `cxprobe check` reads grammars without it

    ordered = labelled.sort_values("id", ignore_index=True)
    urls, tags = ordered["url"], ordered["tags"]
    sources = urls.str.extract(_SOURCE, expand=False).str.lower()  # NaN for names that are no url
    documents = urls.where(sources.isna(), urls.str.split("#").str[0])
    together = tags
    if documents_apart and len(ordered):
        # Sequences and documents are nodes, sentences are edges, and each connected component is a group.
        nodes, _ = pd.factorize(pd.concat(["t" + tags, "d" + documents.where(documents != "", "#" + ordered["id"])]))
        sequence, document = np.split(nodes, 2)
        links = coo_array((np.ones(len(ordered)), (sequence, document)), shape=(nodes.max() + 1,) * 2)
        together = pd.Series(connected_components(links, directed=False)[1][sequence])
    numbers = {label: int(together[ordered["label"] == label].nunique()) for label in LABELS}
    short = {label: n for label, n in numbers.items() if n < folds}
    in_test = np.zeros(len(ordered), bool)
    if not short:
        divided = StratifiedGroupKFold(folds, shuffle=True, random_state=seed_for(seed, "split_sequences"))
        _, test = next(divided.split(ordered, ordered["label"], together))
        in_test[test] = True
        # Groups that have both labels can leave a part without one of them.
        short = {label: n for label, n in numbers.items() if in_test[ordered["label"] == label].mean() in (0, 1)}
    if short:
        counts = ", ".join(f"{n} {label}" for label, n in short.items())
        raise DataError(
            f"labelled sequences{' that share no document' * documents_apart}: {counts}; with "
            f"recognition.make.labels.folds = {folds} each label needs at least {folds}: label more (`cxprobe label`), "
            "or mine a larger corpus"
        )
    features = ordered.drop(columns=["id", "text", "url", "start", "end", "tags", "slots", "matched", "label"])
    return pd.DataFrame(
        {
            **ordered[["id", "text", "label"]],
            "split": np.where(in_test, "test", "train"),
            **features,
            "cluster_template": tags,
            "cluster_document": documents,
            "cluster_source": sources.fillna(urls),
        }
    )
