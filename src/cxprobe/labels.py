"""Labels of mined sentences: the table ``constructions/<name>/labels.tsv``, and what follows from it."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from filelock import FileLock
from pydantic import StringConstraints

from cxprobe.errors import DataError, raise_faults
from cxprobe.files.reading import printable
from cxprobe.files.schema import Closed, faults_of
from cxprobe.files.texts import read_texts, write_table_as
from cxprobe.files.writing import SCRATCH
from cxprobe.seeding import generator_for
from cxprobe.stats import Estimate, estimate_rate

PROGRAM = "model:"
DECIDES = " (decides)"
_KEY = ["kind", "target", "who"]  # what there is one label of
_Visible = Annotated[str, StringConstraints(pattern=r"^[^\p{C}\p{Z}]+( [^\p{C}\p{Z}]+)*$")]


class Label(Closed):
    """A row of the table, whose cells are separated by tabs.

    What somebody calls a sentence replaces what the same one calls its sequence of tags. A sentence that is called
    differently, or unclear, is left out.
    """

    kind: Literal["sequence", "sentence"]
    """sentence, or sequence for all sentences with the same tags."""
    target: _Visible
    """The sentence's id, or the tags, joined by spaces."""
    label: Literal["positive", "negative", "unclear"]
    """What the sentence is called."""
    who: _Visible
    """A person; `model:` and a name for a program; a name and ` (decides)` for who decides between others, whose labels
    then do not count."""
    when: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\d$")]
    """The day, as 2026-01-31."""


def read_labels(path: Path) -> pd.DataFrame:
    """Read the table of labels, or one that a person has filled in; an absent file gives an empty table.

    The columns may stand in any order, with others among them. A row without a label is left out: the person has not
    filled it in.

    Returns:
        One row a label, with the columns of `Label`.

    Raises:
        DataError: The file is no such table, or one line for each fault of a row.
    """
    if not path.exists():
        return pd.DataFrame(columns=[*Label.model_fields], dtype="str")
    cells = read_texts(path).reindex(columns=[*Label.model_fields], fill_value="")
    cells = cells.apply(lambda column: column.str.strip().str.replace(r"^'(?=[=+@-])", "", regex=True))
    cells["label"] = cells["label"].str.lower()  # spreadsheets write capitals by themselves
    table: pd.DataFrame = cells[(cells["label"] != "") | ~cells["kind"].isin(["", "sequence", "sentence"])]
    places = [f"{path}, line {row + 2}: " for row in table.index]
    faults = []
    for place, row, is_twice in zip(places, table.to_dict("records"), table.duplicated(_KEY), strict=True):
        faults += [place + fault for fault in faults_of(Label, {str(name): cell for name, cell in row.items()})]
        faults += [f"{place}another row has the same kind, target and who; keep one of them"] * is_twice
    raise_faults(DataError, faults)
    return table


def add_labels(path: Path, new: pd.DataFrame) -> None:
    """Write labels into the table; one that says something else than the same person said before replaces that.

    The rows are sorted, so that git merges the work of several people.

    Raises:
        DataError: See `read_labels`; nothing is written.
    """
    # Two processes would each write over what the other has added since they have read the table.
    with FileLock(SCRATCH / "locks" / f"{path.parent.name}.lock"):
        table = pd.concat([read_labels(path), new])
        table = table.drop_duplicates([*_KEY, "label"])  # what says the same again keeps its day
        table = table.drop_duplicates(_KEY, keep="last")
        if len(table):
            write_table_as(table.sort_values([*table]), str(path))


def judgements(sentences: pd.DataFrame, labels: pd.DataFrame) -> list[dict[str, str]]:
    """Return the labels that count of each sentence: who gave it -> the label; see `Label`.

    Args:
        sentences: Columns id and tags, and any others.
        labels: The labels of all.
    """
    given: dict[tuple[str, str], dict[str, str]] = {}
    for kind, target, label, who, _ in labels.sort_values("who").itertuples(index=False):
        given.setdefault((kind, target), {})[who] = label
    counted = []
    for id_, tags in sentences[["id", "tags"]].to_numpy():
        counting: dict[str, str] = {}
        for target in (("sequence", tags), ("sentence", id_)):
            said = given.get(target, {})
            decided = {who: label for who, label in said.items() if who.endswith(DECIDES)}
            counting = decided or counting | said
        counted.append(counting)
    return counted


def disputed(sentences: pd.DataFrame, labels: pd.DataFrame) -> list[bool]:
    """Return whether each sentence is called differently and nobody has decided; see `judgements`."""
    return [len(set(said.values())) > 1 for said in judgements(sentences, labels)]


def in_drawn_order(mined: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return mined sentences sequence by sequence, with the column draw, by which the sequences are sorted.

    The order of the sequences depends on nothing but the seed, so that those before where a person stops are a random
    sample, and a corpus that grows leaves the known sequences in their order.
    """
    draws = {tags: generator_for(seed, "labelling", tags).random() for tags in mined["tags"].unique()}
    return mined.assign(draw=mined["tags"].map(draws)).sort_values(["draw", "tags", "id"], ignore_index=True)


def write_label_sheet(path: Path, sentences: pd.DataFrame, labels: pd.DataFrame, who: str, today: str) -> None:
    """Write a table that a person fills in, with this person's labels: a row for each sequence and each sentence.

    A cell that a spreadsheet would run, since it begins as a formula does, has an apostrophe before it. Texts and urls
    are of others: their control characters are shown as codes.
    """
    rows = []
    for tags, of_sequence in sentences.groupby("tags", sort=False):
        rows.append(("sequence", tags, f"all {len(of_sequence)} with these tags", ""))
        rows += [("sentence", *row) for row in of_sequence[["id", "text", "url"]].to_numpy()]
    own = labels.loc[labels["who"] == who, ["kind", "target", "label"]]
    sheet = pd.DataFrame(rows, columns=["kind", "target", "text", "url"], dtype="str").merge(own, how="left").fillna("")
    sheet = sheet.assign(who=who, when=today).replace(r"[\0\s]+", " ", regex=True)
    sheet[["text", "url"]] = sheet[["text", "url"]].map(printable)
    write_table_as(sheet[[*Label.model_fields, "text", "url"]].replace(r"^(?=[=+@-])", "'", regex=True), str(path))


def count_labels(sentences: pd.DataFrame, labels: pd.DataFrame) -> Iterator[tuple[str, int, int]]:
    """Yield who labelled, the number of labels of mined sentences and of their sequences, and that of all others."""
    mined = {*(("sentence", id_) for id_ in sentences["id"]), *(("sequence", tags) for tags in sentences["tags"])}
    for who, own in labels.groupby("who"):
        targets = [*zip(own["kind"], own["target"], strict=True)]
        number = sum(target in mined for target in targets)
        yield str(who), number, len(targets) - number


def agreement_of_people(sentences: pd.DataFrame, labels: pd.DataFrame) -> Iterator[tuple[str, str, int, float]]:
    """Yield two people, the number of sentences that both have labelled, and Cohen's kappa, NaN with one label only.

    Programs are no people, and who decides has seen the labels of others.
    """
    from sklearn.metrics import cohen_kappa_score  # it takes a second to import

    others = labels["who"].str.startswith(PROGRAM) | labels["who"].str.endswith(DECIDES)
    said = pd.DataFrame(judgements(sentences, labels[~others]))
    for one, other in combinations(sorted(map(str, said)), 2):
        both = said[[one, other]].dropna()
        if len(both):
            is_defined = len(set(both.to_numpy().flat)) > 1  # else kappa is 0 / 0
            yield one, other, len(both), cohen_kappa_score(both[one], both[other]) if is_defined else np.nan


def estimate_yield(sentences: pd.DataFrame, labels: pd.DataFrame) -> tuple[Estimate, list[float]] | None:
    """Estimate the precision of a pattern and the number of instances from labels of its matches.

    The sequences stand in an order that the seed alone decides. So those before the first with a sentence that nobody
    has labelled are a random sample of all, whichever of the others are labelled. The share of those who say positive
    is a sentence's credit: what is unclear is no instance. The interval of the number is narrower by the finite
    population correction: when all is labelled it is exact.

    Args:
        sentences: All mined sentences, see `in_drawn_order`.
        labels: The labels of all.

    Returns:
        The share of instances among the matches; and the number of instances in all sentences: expected, the least
        and the most. None where the first sequence has a sentence that nobody has labelled.
    """
    said = [list(one.values()) for one in judgements(sentences, labels)]
    credit = pd.Series([np.mean([label == "positive" for label in one]) if one else np.nan for one in said])
    unlabelled = credit.isna()
    in_sample = sentences["draw"] < sentences.loc[unlabelled, "draw"].min() if unlabelled.any() else ~unlabelled
    if not in_sample.any():
        return None
    precision = estimate_rate(credit[in_sample].to_numpy(), sentences.loc[in_sample, ["tags"]].to_numpy(object))
    ends = np.array([precision.value, precision.low, precision.high])
    ends = precision.value + (ends - precision.value) * np.sqrt(1 - precision.n / len(sentences))
    return precision, np.clip(len(sentences) * ends, credit.sum(), credit.sum() + unlabelled.sum()).tolist()
