"""From labels to data: labelled sentences in a training and a test part that share no sequence of tags or document."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import StratifiedGroupKFold

from cxprobe.constructions.sentences import LABELS
from cxprobe.errors import DataError
from cxprobe.people.labels import Judgement, Label
from cxprobe.seeding import seed_for
from cxprobe.stats import CLUSTER

# The host of a web page, or the package of the embedded corpus with its version.
_SOURCE = re.compile(r"(?:[a-z][a-z0-9+.-]*://|(?=[^/?#]+==))([^/?#]+)", re.I)


# What follows the name of a person who decides what others have labelled differently.
DECIDES = " (decides)"


class Labelled(NamedTuple):
    """Mined sentences with their labels.

    Attributes:
        sentences: The mined sentences that have one label, with the column label.
        left_out: Why a sentence has none -> how many: "not labelled", "unclear", "conflict".
        unused: How many labels are of sequences or sentences that this corpus does not have.
    """

    sentences: pd.DataFrame
    left_out: Mapping[str, int]
    unused: int


def apply_labels(sentences: pd.DataFrame, labels: Sequence[Label]) -> Labelled:
    """Give each sentence its label; a person's judgement of the sentence replaces that person's of its sequence.

    A sentence on which people disagree, or that one of them calls unclear, gets no label: there is no majority vote.
    A decision (`in_force`) replaces what the others say.

    Args:
        sentences: Columns id and tags, and any others.
        labels: The labels of all people.
    """
    judged = in_force(labels)
    targets = zip(sentences["id"], sentences["tags"], strict=True)
    outcomes = [_outcome(judgements_on(one, tags, judged)) for one, tags in targets]
    table = sentences.assign(label=outcomes)
    kept = table["label"].isin(LABELS)
    known = {("sentence", one) for one in sentences["id"]} | {("sequence", tags) for tags in sentences["tags"]}
    return Labelled(
        table[kept].reset_index(drop=True),
        {str(why): int(n) for why, n in table.loc[~kept, "label"].value_counts().items()},
        sum((label.kind, label.target) not in known for label in labels),
    )


def is_decision(who: str) -> bool:
    """Return whether a name in labels.tsv is that of a person who decides between others."""
    return who.endswith(DECIDES)


def in_force(labels: Sequence[Label]) -> dict[tuple[str, str], dict[str, Judgement]]:
    """Return the labels that count: (kind, target) -> who -> label.

    Where somebody has decided about a sequence or a sentence, the decisions alone count, and nobody's own label of it.
    """
    judged: dict[tuple[str, str], dict[str, Judgement]] = {}
    for label in labels:
        judged.setdefault((label.kind, label.target), {})[label.who] = label.label
    return {target: _decisions(people) or people for target, people in judged.items()}


def judgements_on(
    sentence: str, tags: str, judged: Mapping[tuple[str, str], Mapping[str, Judgement]]
) -> dict[str, Judgement]:
    """Return what counts for one sentence: who -> label.

    A decision about the sentence counts alone. Else each person's label of the sentence replaces the label that this
    person gave to its sequence, and all of these count.

    Args:
        sentence: Its id.
        tags: Its sequence of tags.
        judged: The labels that count, of `in_force`.
    """
    of_sequence, own = judged.get(("sequence", tags), {}), judged.get(("sentence", sentence), {})
    return dict(own) if _decisions(own) else {**of_sequence, **own}


def split_sequences(labelled: pd.DataFrame, folds: int, seed: int, *, documents_apart: bool) -> pd.DataFrame:
    """Divide the sentences into a training and a test part that have no sequence of tags in common.

    Args:
        labelled: Columns id, text, url, tags, label, and any others.
        folds: Number of folds into which the sequences are divided, similar in size and labels; the first is the test
            part.
        documents_apart: Whether the parts have no document in common either.
        seed: The project's seed.

    Returns:
        A table with the columns of generated sentences: id, text, label, split, the features, and the clusters:
        cluster_template (the sequence of tags), cluster_document (the url without its fragment) and cluster_source (the
        host or package). A record without a url is a document and a source of its own.

    Raises:
        DataError: A label has fewer sequences, or groups of sequences that share documents, than there are folds, so
            one part would have no sentence of this label.

    Source:
        Weissweiler et al. 2022, §3 (mined data): train and test hold disjoint sequences.
    """
    ordered = labelled.sort_values("id", ignore_index=True)
    origins = [_origin(url) for url in ordered["url"]]
    documents = pd.Series([document for document, _ in origins])
    together = ordered["tags"]
    if documents_apart:
        together = pd.Series(_joined(together, documents.where(documents != "", ordered["id"])))
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
        found = ", ".join(f"{n} {label}" for label, n in short.items())
        raise DataError(
            f"labelled sequences{' that share no document' * documents_apart}: {found}; with label_sentences.folds = "
            f"{folds} each label needs at least {folds}: label more (`cxprobe label`), or mine a larger corpus"
        )
    features = [name for name in ordered.columns if name not in ("id", "text", "url", "start", "end", "tags", "label")]
    return pd.DataFrame(
        {
            "id": ordered["id"],
            "text": ordered["text"],
            "label": ordered["label"],
            "split": np.where(in_test, "test", "train"),
            **{name: ordered[name] for name in features},
            f"{CLUSTER}template": ordered["tags"],
            f"{CLUSTER}document": documents,
            f"{CLUSTER}source": [source for _, source in origins],
        }
    )


def _joined(sequences: "pd.Series[str]", documents: "pd.Series[str]") -> NDArray[np.int32]:
    """Return the number of the group of each sentence, shape (sentences,).

    Two sentences of one sequence or of one document are in one group, and so are all that are linked by such pairs.
    """
    first, second = (pd.factorize(one)[0] for one in (sequences, documents))
    size = first.max() + 1 + second.max() + 1  # every sequence and every document is a node, every sentence an edge
    links = coo_array((np.ones(len(first)), (first, first.max() + 1 + second)), shape=(size, size))
    _, components = connected_components(links, directed=False)
    return np.asarray(components, np.int32)[first]


def _decisions(by_person: Mapping[str, Judgement]) -> dict[str, Judgement]:
    return {who: label for who, label in by_person.items() if is_decision(who)}


def _outcome(by_person: Mapping[str, Judgement]) -> str:
    if not by_person:
        return "not labelled"
    return next(iter(by_person.values())) if len(set(by_person.values())) == 1 else "conflict"


def _origin(url: str) -> tuple[str, str]:
    """Return the document and the source that a url names."""
    source = _SOURCE.match(url)
    return (url.partition("#")[0], source[1].lower()) if source else (url, url)
