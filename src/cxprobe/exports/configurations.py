"""The configurations of the exported data set: their columns, and the project's tables in that form.

A configuration is a table a split, with columns that are described once, here: the Parquet files, the data card and the
Croissant metadata all follow from them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cxprobe.prompts.items import RELATIONS
from cxprobe.scenarios.rules import Scenarios
from cxprobe.stats import CLUSTER

Kind = Literal["text", "texts", "integer", "truth", "label"]
LETTERS = ("A", "B", "C")
# The features of sentences, as construction.yaml measures them; what a construction does not measure is null.
_SENTENCE_TEXTS = ("id", "text", "label", "split")


class Column(NamedTuple):
    """A column of a configuration.

    Attributes:
        name: Its name.
        kind: "text", "texts" (a list of texts), "integer" (null where it does not apply), "truth" (a bool), or "label"
            (an integer that stands for one of ``labels``).
        description: What it holds.
        labels: Of a label, the names of 0, 1, 2 ...
    """

    name: str
    kind: Kind
    description: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Configuration:
    """One part of the data set, which is loaded by its name.

    Attributes:
        name: The name.
        description: What a row is and what is right, in one or two sentences.
        tasks: What the Hugging Face hub calls such tasks.
        columns: All columns, in their order.
        splits: Split -> its rows; labels are texts.
    """

    name: str
    description: str
    tasks: tuple[str, ...]
    columns: Sequence[Column]
    splits: Mapping[str, pd.DataFrame]

    def __len__(self) -> int:
        """Return the number of rows of all splits."""
        return sum(map(len, self.splits.values()))


def pairs_configuration(pairs: pd.DataFrame) -> Configuration:
    """Return the minimal pairs.

    Args:
        pairs: One row a pair, as ``data/build_pairs`` has them; several constructions may differ in their clusters.
    """
    columns = [
        Column("id", "text", "names the pair by its groups and texts"),
        Column("item", "text", "what the pair is made of; pairs with one item ask about the same in several ways"),
        _labels("construction", pairs, "the construction that is asked about"),
        _labels("tests", pairs, "what tells the texts apart"),
        _labels("words", pairs, "whether the content words are real or pseudowords"),
        Column("variant", "text", "the template of the construction that the pair is made from"),
        Column("origin", "text", "where the template comes from: the paper, or this project"),
        Column("sentence", "text", "construction, or rival: a context that looks alike without the construction"),
        Column("noun_type", "text", "what kind of nouns the people are"),
        Column("order", "text", "original, or switched: the same with the two people exchanged"),
        Column("context", "text", "what both texts begin with; empty where there is nothing"),
        Column("good", "text", "how the right text goes on, with its own space in front"),
        Column("bad", "text", "how the wrong text goes on"),
        Column("clusters", "texts", "what the pair shares with others, for intervals: name=value"),
    ]
    return _with_its_columns(
        Configuration(
            "pairs",
            "Minimal pairs. A text is the context directly followed by good or bad; good is the one that follows from "
            "the construction (tests = meaning) or is grammatical (tests = form).",
            ("multiple-choice",),
            columns,
            {"test": pairs.assign(clusters=cluster_texts(pairs))},
        )
    )


def inference_configuration(items: pd.DataFrame) -> Configuration:
    """Return the premises and hypotheses.

    Args:
        items: One row an item, as ``data/build_prompts`` has them, of inference alone.
    """
    columns = [
        Column("id", "text", "names the item by its set, premise and hypothesis"),
        _labels("construction", items, "the construction that is asked about"),
        _labels("set", items, "templatic, or challenge: the same surface with another construction"),
        Column("premise", "text", "a sentence, most often with the construction; it is taken to be true"),
        Column("hypothesis", "text", "what may follow from it"),
        Column("label", "label", "how the hypothesis is related to the premise", RELATIONS),
        Column("template", "text", "the template of the hypothesis; empty if there is none"),
        Column("reading", "text", "what kind of premise it is, such as asserted or denied"),
        Column("premise_id", "text", "names the premise; items with one premise are a cluster"),
        Column("drawn", "truth", "whether the item is among those that the project has asked models about"),
    ]
    table = items.assign(
        label=[RELATIONS[int(gold)] for gold in items["gold"]], premise_id=items[f"{CLUSTER}premise"].astype(str)
    )
    return _with_its_columns(
        Configuration(
            "nli",
            "Inference. The label says whether the hypothesis must be true, may be true or cannot be true if the "
            "premise is true.",
            ("text-classification",),
            columns,
            {"test": table},
        )
    )


def reasoning_configuration(items: pd.DataFrame, neither: str) -> Configuration:
    """Return the multiple-choice items.

    Args:
        items: One row an item, as ``data/build_prompts`` has them, of reasoning alone.
        neither: The wording of option C, that there is not enough information.
    """
    columns = [
        Column("id", "text", "names the item by its test and frame"),
        _labels("construction", items, "the construction that is asked about"),
        Column("test", "text", "which of the tests that are made from one frame"),
        Column("text", "text", "what is known"),
        Column("question", "text", "what is asked about it"),
        Column("options", "texts", "three answers: two opposing readings, then that there is not enough information"),
        Column("label", "label", "the option that is right; C is the last", LETTERS),
        Column("answerable", "truth", "whether the text decides between A and B; if not, C is right"),
        Column("frame_id", "text", "names the frame; the tests of one frame are a cluster"),
        Column("drawn", "truth", "whether the item is among those that the project has asked models about"),
    ]
    table = items.assign(
        options=_lists([a, b, neither] for a, b in zip(items["a"], items["b"], strict=True)),
        label=items["gold"],
        frame_id=items[f"{CLUSTER}premise"].astype(str),
    )
    return _with_its_columns(
        Configuration(
            "reasoning",
            "Multiple choice about small stories. In half of the items C is right, since nothing follows; an accuracy "
            "over all items is best divided by answerable.",
            ("multiple-choice", "question-answering"),
            columns,
            {"test": table},
        )
    )


def sentences_configuration(sentences: Mapping[tuple[str, str], pd.DataFrame]) -> Configuration:
    """Return the labelled sentences, in the two parts whose content words are disjoint.

    Args:
        sentences: Construction and source -> its sentences, as ``data/build_recognition`` has them.
    """
    parts = [
        table.assign(construction=name, source=source, clusters=cluster_texts(table))
        for (name, source), table in sentences.items()
    ]
    every = pd.concat(parts, ignore_index=True)
    own = {*_SENTENCE_TEXTS, "construction", "source", "clusters"}
    features = [str(name) for name in every.columns if name not in own and not str(name).startswith(CLUSTER)]
    columns = [
        Column("id", "text", "names the sentence by its part and text"),
        _labels("construction", every, "the construction that is to be recognised"),
        _labels("source", every, "which grammars: generated, or balanced, in which no single word tells the label"),
        Column("text", "text", "the sentence"),
        Column("label", "label", "whether it has the construction", ("negative", "positive")),
        *(
            Column(name, "integer", f"{name.replace('_', ' ')}, in words; null where it is not measured")
            for name in features
        ),
        Column("clusters", "texts", "what the sentence shares with others, for intervals: name=value"),
    ]
    splits = {split: every[every["split"] == split] for split in ("train", "test")}
    return _with_its_columns(
        Configuration(
            "sentences",
            "Sentences that have the construction and sentences that look like it, for probes. The parts train and "
            "test have disjoint content words.",
            ("text-classification",),
            columns,
            {split: table for split, table in splits.items() if len(table)},
        )
    )


def scenarios_configuration(texts: pd.DataFrame, scenarios: Mapping[str, Scenarios]) -> Configuration:
    """Return the texts with a mask.

    Args:
        texts: One row a text, as ``data/build_scenarios`` has them, with the column construction.
        scenarios: Construction -> its scenarios.yaml, which says which candidate is right.
    """
    rights = []
    for row in texts.to_dict("records"):
        own = scenarios[row["construction"]]
        test = own.tests.get(row["scenario"])
        rights.append("" if test is None else row[("first", "second")[own.candidates.index(test.answer)]])
    ids = ["/".join(map(str, row)) for row in texts[["construction", "item", "scenario", "draw"]].to_numpy().tolist()]
    columns = [
        Column("id", "text", "names the text by its construction, item, scenario and draw"),
        _labels("construction", texts, "the construction whose meaning the text uses"),
        Column("item", "text", "the words that the texts of one item share"),
        Column("scenario", "text", "a test, or a calibration"),
        Column("draw", "integer", "which of the texts of one calibration; 0 for a test"),
        Column("text", "text", "the text; [MASK] stands where a candidate goes, whatever a model's mask is called"),
        Column("candidates", "texts", "the two words that are compared at the mask"),
        Column("right", "text", "the candidate that is right; empty for a calibration, in which neither is"),
    ]
    table = texts.assign(
        id=ids,
        candidates=_lists([first, second] for first, second in zip(texts["first"], texts["second"], strict=True)),
        right=rights,
    )
    return _with_its_columns(
        Configuration(
            "scenarios",
            "Rules, an instance and a mask, for masked models: the right candidate must be the more probable one. "
            "Calibrations are texts in which neither is right.",
            ("fill-mask",),
            columns,
            {"test": table},
        )
    )


def cluster_texts(table: pd.DataFrame) -> "pd.Series[Any]":
    """Return the clusters of each row, a list of "name=value", of the columns that begin with ``cluster_``."""
    columns = [str(column) for column in table.columns if str(column).startswith(CLUSTER)]
    lists = [
        [
            f"{column.removeprefix(CLUSTER)}={value}"
            for column, value in zip(columns, row, strict=True)
            if isinstance(value, str)  # tables that were joined lack each other's
        ]
        for row in table[columns].to_numpy().tolist()
    ]
    return pd.Series(lists, index=table.index, dtype=object)


def sizes(configuration: Configuration) -> pd.DataFrame:
    """Return the number of rows of each construction: construction, and a column a split."""
    counts = {split: table["construction"].value_counts(sort=False) for split, table in configuration.splits.items()}
    names = dict.fromkeys(name for table in configuration.splits.values() for name in table["construction"])
    rows = [(name, *(int(counts[split].get(name, 0)) for split in counts)) for name in names]
    return pd.DataFrame(rows, columns=["construction", *counts])


def _lists(cells: Iterable[list[str]]) -> "NDArray[np.object_]":
    """Return lists as the cells of one column."""
    column = np.empty(len(own := list(cells)), dtype=object)
    column[:] = own
    return column


def _labels(name: str, table: pd.DataFrame, description: str) -> Column:
    """Return a column whose labels are the values that a table has, in the order in which they appear."""
    return Column(name, "label", description, tuple(map(str, dict.fromkeys(table[name]))))


def _with_its_columns(configuration: Configuration) -> Configuration:
    """Return a configuration whose tables have its columns and no others."""
    names = [column.name for column in configuration.columns]
    splits = {split: table[names].reset_index(drop=True) for split, table in configuration.splits.items()}
    return Configuration(
        configuration.name, configuration.description, configuration.tasks, configuration.columns, splits
    )
