"""Labels: the file, and tables that a spreadsheet has saved."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelling_desk import DAY, label, mined, session

from cxprobe.errors import ConstructionError
from cxprobe.labels.labels import (
    JUDGEMENTS,
    KINDS,
    PersonLabel,
    merge_labels,
    read_label_sheet,
    read_labels,
    write_labels,
)
from cxprobe.labels.mined import LABEL_COLUMNS, group_sentences, label_rows
from cxprobe.labels.tables import write_judgements

# Of people, whatever they are written with: what `cxprobe label` takes.
NAMES = st.sampled_from(["Jose\u0301", "अनिल", 'A "B" C', '"x'])
NAMES |= st.text(max_size=5).map(str.strip).filter(lambda name: name and name.isprintable())
LABELS = st.builds(
    PersonLabel,
    st.sampled_from(KINDS),
    st.sampled_from(["DT JJR NN", "DT `` ''", "mined-1"]),
    st.sampled_from(JUDGEMENTS),
    st.sampled_from(["Ann", "Bo"]) | NAMES,
    st.dates().map(lambda day: f"{day.year:04d}-{day.month:02d}-{day.day:02d}"),
)
LINE = "sequence\tDT NN\tpositive\tAnn\t2026-01-31"
HEAD = "kind\ttarget\tlabel\twho\twhen"


@given(st.lists(LABELS))
def test_labels_are_read_as_they_were_written_whatever_their_order(tmp_path_factory, labels):
    kept = merge_labels([], labels)
    path = tmp_path_factory.mktemp("labels") / "labels.tsv"
    write_labels(kept, path)
    assert read_labels(path) == kept
    before = path.read_bytes()
    write_labels(reversed(kept), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["sequence\ttags\tlabel"], "line 1: expected the columns kind target label who when"),
        ([HEAD, "<<<<<<< HEAD", LINE], "line 2: expected 5 cells"),
        ([HEAD, LINE, LINE.replace("positive", "negative")], "line 3: sequence DT NN Ann is there twice"),
        ([HEAD, LINE.replace("positive", "maybe")], "line 2: label 'maybe' is unknown (allowed: positive, negative"),
        ([HEAD, LINE.replace("sequence", "word")], "line 2: kind 'word' is unknown"),
        ([HEAD, LINE.replace("2026-01-31", "2026-W05-6")], "line 2: when '2026-W05-6' is not a day"),
        ([HEAD, LINE.replace("Ann", " ")], "line 2: a cell of kind target label who when is empty"),
        ([HEAD, LINE.replace("Ann", "A\u200bn")], "U+200B in ["),
        ([HEAD, LINE, f'"{LINE}'], "line 3: is no row of a table"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path, lines, message):
    (tmp_path / "labels.tsv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ConstructionError) as raised:
        read_labels(tmp_path / "labels.tsv")
    assert message in str(raised.value)


@given(st.lists(LABELS), st.lists(LABELS))
def test_the_labels_of_two_people_merge_in_any_order_and_twice_changes_nothing(ann, bo):
    ann, bo = (merge_labels([], [one._replace(who=who) for one in own]) for who, own in (("Ann", ann), ("Bo", bo)))
    merged = merge_labels(ann, bo)
    assert merged == merge_labels(bo, ann) == sorted([*ann, *bo])
    assert merge_labels(merged, ann) == merge_labels(merged, bo) == merged


def test_of_two_labels_of_one_person_the_later_counts_and_the_same_again_keeps_its_day():
    early = label("sequence", "DT", "positive", "Ann")
    late = label("sequence", "DT", "negative", "Ann", "2026-02-01")
    assert merge_labels([early], [late]) == merge_labels([late], [early]) == [late]
    assert merge_labels([early], [early._replace(when="2026-03-01")]) == [early]


def sheet(folder, labels=()):
    """Return the cells of a table that Ann fills in."""
    rows = label_rows(group_sentences(mined(), 1), session(folder, labels).given, "Ann")
    write_judgements(LABEL_COLUMNS, rows, folder / "a.tsv")
    return list(csv.DictReader(io.StringIO((folder / "a.tsv").read_text()), delimiter="\t"))


def filled_in(folder, rows):
    write_judgements(LABEL_COLUMNS, [tuple(row.values()) for row in rows], folder / "a.tsv")
    return read_label_sheet(folder / "a.tsv", "Ann", DAY)


def test_a_table_has_every_sequence_and_sentence_once_and_what_is_filled_in_comes_back(tmp_path):
    tags, ids = mined()["tags"], mined()["id"]
    known = [label("sequence", tags[0], "unclear", "Ann"), label("sentence", ids[1], "negative", "Ann")]
    rows = sheet(tmp_path, [*known, label("sequence", tags[2], "positive", "Bo")])
    assert len(rows) == 4 + 8
    assert {row["text"] for row in rows if row["kind"] == "sentence"} == set(mined()["text"])
    assert read_label_sheet(tmp_path / "a.tsv", "Ann", DAY) == known
    for row in rows:
        row["label"] = "Positive"
    labels = filled_in(tmp_path, rows)
    assert {(one.label, one.who, one.when) for one in labels} == {("positive", "Ann", DAY)}
    assert {one.target for one in labels} == {*tags, *ids}


def test_what_a_spreadsheet_would_run_is_a_text_and_comes_back_with_odd_characters_and_empty_lines(tmp_path):
    path, tags = tmp_path / "a.tsv", ["-LRB- NN", "'' NN"]
    table = mined(2, 1).assign(text=["=1+1", '"Go,"\u200b he\u2028 said.'], url=["a\u00adb", "@c"], tags=tags)
    known = {("sequence", one): label("sequence", one, "positive", "Ann") for one in tags}
    write_judgements(LABEL_COLUMNS, label_rows(group_sentences(table, 1), known, "Ann"), path)
    rows = [*csv.DictReader(io.StringIO(path.read_text()), delimiter="\t")]
    assert {row["text"] for row in rows} == {"'=1+1", table["text"][1]}
    assert {row["target"] for row in rows} == {"'-LRB- NN", "'' NN"}
    path.write_text(path.read_text().replace("\n", "\r\n\r\n") + "\t\t\t\t\t\n")
    assert sorted(read_label_sheet(path, "Ann", DAY)) == sorted(known.values())


def test_a_table_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConstructionError, match="there is no such file"):
        read_label_sheet(tmp_path / "none.tsv", "Ann", DAY)
