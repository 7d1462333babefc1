"""Labelled sentences, divided into a training and a test part: generated from grammars, or mined.

Grammars are data: context-free rules in NLTK's notation, read and checked here.
"""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate, product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from nltk import CFG, Nonterminal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cxprobe.constructions import ALL_SENTENCES, LABELS, SPLITS, LabelName, Split
from cxprobe.constructions.checking import FoundFaults
from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    Construction,
    Feature,
    Grammars,
    GrammarSource,
    grammar_file,
)
from cxprobe.errors import ConstructionError, DataError, raise_faults
from cxprobe.files.reading import read_text
from cxprobe.labels import count_labels, judgements
from cxprobe.seeding import generator_for, seed_for, text_id
from cxprobe.stats import CLUSTER
from cxprobe.tasks.recognition.params import TEMPLATE

# The most draws for each sentence that a cell needs: a cell may have fewer distinct sentences than it needs.
DRAWS_PER_SENTENCE = 50

# The host of a web page, or the package of the embedded corpus with its version.
_SOURCE = re.compile(r"^(?:[a-z][a-z0-9+.-]*://|(?=[^/?#]+==))([^/?#]+)", re.I)


def read_grammar(path: Path, required: Collection[str] = ()) -> CFG:
    """Read a grammar in NLTK's notation; repeated alternatives weight a choice.

    Args:
        path: The ``.cfg`` file, UTF-8.
        required: Non-terminals that the construction names and the grammar must therefore define.

    Raises:
        ConstructionError: The file is absent, is no UTF-8 text or does not parse, a non-terminal has no rule, or a
            required one is missing. The message says which file and symbol.
    """
    text = read_text(path, ConstructionError)
    try:
        grammar = CFG.fromstring(text)
    except ValueError as error:
        raise ConstructionError(f"{path}: the grammar does not parse: {' '.join(str(error).split())}") from error
    defined = {str(production.lhs()) for production in grammar.productions()}
    symbols = [symbol for production in grammar.productions() for symbol in production.rhs()]
    used = {str(symbol) for symbol in symbols if isinstance(symbol, Nonterminal)}
    faults = [
        f"{path}: {symbol} is used and has no rule; add one, or quote it if it is a word"
        for symbol in sorted(used - defined)
    ]
    faults += [
        f"{path}: construction.yaml names {symbol}, which has no rule here; the grammar defines "
        f"{', '.join(sorted(defined))}"
        for symbol in sorted(set(required) - defined)
    ]
    raise_faults(ConstructionError, faults)
    return grammar


def content_words(grammar: CFG, categories: Collection[str]) -> dict[str, str]:
    """Return lower-cased word -> category for every word that a content category can expand to."""
    words: dict[str, str] = {}
    for category in categories:
        below = [Nonterminal(category)]
        for symbol in below:  # which grows
            for production in grammar.productions(lhs=symbol):
                for part in production.rhs():
                    if isinstance(part, str):
                        words |= dict.fromkeys(part.lower().split(), category)
                    elif part not in below:
                        below.append(part)
    return words


class Shape(NamedTuple):
    """What features depend on: a string's number of words, and the numbers of the words at which marked parts start."""

    words: int
    marks: tuple[int, ...]

    def followed_by(self, end: "Shape") -> "Shape":
        """Return the shape of this string followed by another."""
        return Shape(self.words + end.words, self.marks + tuple(self.words + mark for mark in end.marks))


Symbols: TypeAlias = tuple[str | Nonterminal, ...]
Leaf: TypeAlias = tuple[str, str | None]
"""A terminal of a derivation, and the content category that it was expanded from, if any."""
Part: TypeAlias = tuple[Symbols, Shape]
"""Symbols that are to be expanded to a string of this shape."""


class ShapeSampler:
    """Draws strings of a grammar given their shape; alternatives are equally likely, repeated ones weigh more.

    Args:
        grammar: Context-free rules without recursion.
        rules: How the grammar is read: which terminal is the marker, which punctuation has no space before it, and the
            categories whose leaves are remembered as content words.
    """

    def __init__(self, grammar: CFG, rules: Grammars) -> None:
        self._grammar = grammar
        self._rules = rules
        self._distributions: dict[Symbols, dict[Shape, float]] = {}
        self._options: dict[Part, tuple[list[tuple[Part, ...]], list[float]]] = {}

    def spell(self, terminals: Iterable[str]) -> tuple[str, Shape]:
        """Write terminals, each of one or several tokens, as a sentence; return it and its shape.

        A *word* is what is between two spaces of the finished sentence, so punctuation belongs to the word before it,
        and the features can be counted from the text alone. The marker is no word.
        """
        words, marks = list[str](), list[int]()
        for terminal in terminals:
            if terminal == self._rules.marker:
                marks.append(len(words))
                continue
            for token in terminal.split():
                if words and token in self._rules.no_space_before:
                    words[-1] += token
                else:
                    words.append(token)
        return " ".join(words), Shape(len(words), tuple(marks))

    def shapes(self, symbol: str) -> dict[Shape, float]:
        """Return every shape that a symbol's strings can have, with its probability (they sum to 1).

        Raises:
            ConstructionError: The symbol can contain itself, so that its strings have no maximal length.
        """
        return self._distribution((Nonterminal(symbol),), ())

    def draw(self, symbol: str, shape: Shape, rng: np.random.Generator) -> list[Leaf]:
        """Draw the leaves of one string of ``symbol`` that has ``shape``, one of those that `shapes` returns."""
        self.shapes(symbol)
        return self._expand(((Nonterminal(symbol),), shape), None, rng)

    def _distribution(self, symbols: Symbols, above: tuple[Nonterminal, ...]) -> dict[Shape, float]:
        """Return the shapes of the strings of symbols; ``above`` are the symbols that these were expanded from."""
        if symbols in self._distributions:
            return self._distributions[symbols]
        sums: dict[Shape, float] = defaultdict(float)
        if not symbols:
            sums[Shape(0, ())] = 1.0
        elif len(symbols) > 1:
            for start, p in self._distribution(symbols[:-1], above).items():
                for end, q in self._distribution(symbols[-1:], above).items():
                    sums[start.followed_by(end)] += p * q
        elif isinstance(symbols[0], str):
            words = [token for token in symbols[0].split() if token not in self._rules.no_space_before]
            is_marker = symbols[0] == self._rules.marker
            sums[Shape(0, (0,)) if is_marker else Shape(len(words), ())] = 1.0  # added to a sentence that has begun
        else:
            above = (*above, symbols[0])
            if symbols[0] in above[:-1]:
                loop = " -> ".join(map(str, above[above.index(symbols[0]) :]))
                raise ConstructionError(f"the grammar is recursive ({loop}), so its sentences have no maximal length")
            alternatives = self._grammar.productions(lhs=symbols[0])
            for production in alternatives:
                for shape, p in self._distribution(production.rhs(), above).items():
                    sums[shape] += p / len(alternatives)
        self._distributions[symbols] = dict(sums)
        return self._distributions[symbols]

    def _expand(self, part: Part, category: str | None, rng: np.random.Generator) -> list[Leaf]:
        """Draw the leaves of a part, whose content words are of a category if they are below one."""
        symbols, _ = part
        if not symbols:
            return []
        if len(symbols) == 1:
            if isinstance(symbols[0], str):
                return [(symbols[0], category)]
            category = str(symbols[0]) if str(symbols[0]) in self._rules.content else category
        if part not in self._options:
            ways = list(self._ways(*part))
            shares = [prod(self._distributions[below][shape] for below, shape in way) for way in ways]
            self._options[part] = ways, list(accumulate(shares))
        ways, cumulated = self._options[part]
        chosen = ways[bisect(cumulated, rng.random() * cumulated[-1], hi=len(ways) - 1)]
        return [leaf for one in chosen for leaf in self._expand(one, category, rng)]

    def _ways(self, symbols: Symbols, shape: Shape) -> Iterator[tuple[Part, ...]]:
        """Yield the ways to expand a part by a step: an alternative of its symbol, or the last symbol apart."""
        if len(symbols) == 1:
            for production in self._grammar.productions(lhs=symbols[0]):
                if shape in self._distributions[production.rhs()]:
                    yield ((production.rhs(), shape),)
            return
        for end in self._distributions[symbols[-1:]]:
            start = Shape(shape.words - end.words, shape.marks[: len(shape.marks) - len(end.marks)])
            if start in self._distributions[symbols[:-1]] and start.followed_by(end) == shape:
                yield (symbols[:-1], start), (symbols[-1:], end)


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
        ConstructionError: See `read_grammar`; or the two halves share a content word, which a probe could recognise; or
            a grammar is recursive, or has sentences with a wrong number of markers.
    """
    paths: dict[Split, Path] = {split: folder / name / grammar_file(source, split) for split in SPLITS}
    content = construction.rules().content
    required = [*construction.rules().start.values(), *content]
    found = FoundFaults()
    grammars = {split: found.attempt(read_grammar, path, required) for split, path in paths.items()}
    raise_faults(ConstructionError, found.lines)
    train, test = (content_words(grammars[split], content) for split in SPLITS)
    shared = (
        f"{paths['test']}: '{word}' ({test[word]}) is also in {paths['train']} ({train[word]}); the halves must share "
        "no content word"
        for word in sorted(train.keys() & test.keys())
    )
    raise_faults(ConstructionError, shared)
    for split, grammar in grammars.items():
        try:
            _shapes(construction, ShapeSampler(grammar, construction.rules()), split)
        except ConstructionError as fault:
            raise ConstructionError(f"{paths[split]}: {fault}") from fault
    return grammars


def generate_sentences(
    name: str, construction: Construction, grammars: Mapping[Split, CFG], per_label: int, seed: int
) -> tuple[pd.DataFrame, dict[str, list[str]]]:
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

    Returns:
        Every sentence once: id (from its split and text, so the same in every run), text, label, split, the features
        (in words; positions count from 0), and the clusters: cluster_template, the sentence with the category of each
        content word in its place, and cluster_<category>, its first word of the category. And each feature -> the ids
        of the sentences that were drawn for its values; a cell that has fewer than ``per_label`` gives all of them.

    Raises:
        ConstructionError: A text can be derived with both labels.

    Source:
        Weissweiler et al. 2022, §3 (synthetic data). The paper does not say how it filled the rare values.
    """
    rules, pool = construction.rules(), dict[str, dict[str, Any]]()
    draws: dict[str, list[str]] = {feature: [] for feature in construction.features or (ALL_SENTENCES,)}
    for split in SPLITS:
        sampler = ShapeSampler(grammars[split], rules)
        for feature, value, label, weights in _cells(construction.features, _shapes(construction, sampler, split)):
            rng = generator_for(seed, name, split, feature, value, label)
            shapes, p = list(weights), np.array(list(weights.values()))
            drawn: dict[str, dict[str, Any]] = {}
            for _ in range(per_label * DRAWS_PER_SENTENCE if shapes else 0):
                shape = shapes[rng.choice(len(shapes), p=p / p.sum())]
                leaves = sampler.draw(rules.start[label], shape, rng)
                text, spelt = sampler.spell(terminal for terminal, _ in leaves)
                # Reversed, so that the first word of a category replaces later ones.
                firsts = {category: terminal for terminal, category in reversed(leaves)}
                sentence = {
                    "id": text_id(split, text),
                    "text": text,
                    "label": label,
                    "split": split,
                    **{name: one.of(*spelt) for name, one in construction.features.items()},
                    TEMPLATE: sampler.spell(category or terminal for terminal, category in leaves)[0],
                    **{f"{CLUSTER}{name}": firsts.get(name, "") for name in rules.clusters or rules.content},
                }
                drawn.setdefault(sentence["id"], sentence)
                if len(drawn) == per_label:
                    break
            for id_, sentence in drawn.items():
                known = pool.setdefault(id_, sentence)["label"]
                if known != label:
                    raise ConstructionError(
                        f"the {split} grammar derives '{sentence['text']}' both as {known} and as {label}; a "
                        "sentence has one label, so change the rules of one"
                    )
            draws[feature] += drawn
    return pd.DataFrame(pool.values()), draws


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


def apply_labels(sentences: pd.DataFrame, labels: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """Give each sentence its label, see `cxprobe.labels.judgements`.

    A sentence that is called differently, or unclear by somebody, gets no label: there is no majority vote.

    Args:
        sentences: Columns id and tags, and any others.
        labels: The labels of all, with the columns of `cxprobe.labels.Label`.

    Returns:
        The sentences that have one label, with the column label; and the numbers of others by reason ("not labelled",
        "unclear", "conflict"), and of labels that no sentence has.
    """
    outcomes = []
    for said in judgements(sentences, labels):
        different = set(said.values())
        outcomes.append("conflict" if len(different) > 1 else next(iter(different), "not labelled"))
    table = sentences.assign(label=outcomes)
    kept = table["label"].isin(LABELS)
    left_out = {str(why): int(n) for why, n in table.loc[~kept, "label"].value_counts().items()}
    left_out["label of what was not mined"] = sum(others for *_, others in count_labels(sentences, labels))
    return table[kept].reset_index(drop=True), left_out


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
    in_test = np.zeros(len(ordered), bool)
    if min(numbers.values()) >= folds:
        divided = StratifiedGroupKFold(folds, shuffle=True, random_state=seed_for(seed, "split_sequences"))
        _, test = next(divided.split(ordered, ordered["label"], together))
        in_test[test] = True
    # Groups that have both labels can leave a part without one of them.
    if (pd.crosstab(ordered["label"], in_test) > 0).to_numpy().sum() < len(LABELS) * len(SPLITS):
        counts = ", ".join(f"{n} {label}" for label, n in numbers.items())
        raise DataError(
            f"labelled sequences{' that share no document' * documents_apart}: {counts}; with "
            f"recognition.make.labels.folds = {folds} each label needs at least {folds}: label more (`cxprobe label`), "
            "or mine a larger corpus"
        )
    features = ordered.drop(columns=["id", "text", "url", "start", "end", "tags", "slots", "matched", "label"])
    named = ordered[["id", "text", "label"]].assign(split=np.where(in_test, "test", "train"))
    clusters = {TEMPLATE: tags, "cluster_document": documents, "cluster_source": sources.fillna(urls)}
    return named.join(features).assign(**clusters)
