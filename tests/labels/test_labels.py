"""Labels: the table, tables that a spreadsheet has saved, and which labels count."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelling_desk import DAY, label, mined, table_of
from sklearn.metrics import cohen_kappa_score

from cxprobe.errors import DataError
from cxprobe.files.texts import read_texts, write_table_as
from cxprobe.labels import (
    DECIDES,
    Label,
    add_labels,
    agreement_of_people,
    disputed,
    estimate_yield,
    in_drawn_order,
    read_labels,
    write_label_sheet,
)
from cxprobe.stats import estimate_rate
from cxprobe.tasks.recognition.sentences import apply_labels

KINDS, JUDGEMENTS = ("sequence", "sentence"), ("positive", "negative", "unclear")
NAMES = st.sampled_from(["Ann", "Bo", "Jose\u0301", "अनिल", 'A "B" C', '"x', "model:reader-1"])
LABELS = st.lists(
    st.builds(
        label,
        st.sampled_from(KINDS),
        st.sampled_from(["DT JJR NN", "DT `` ''", "-LRB- NN", "'' NN", "mined-1"]),
        st.sampled_from(JUDGEMENTS),
        NAMES,
        st.dates().map(lambda day: f"{day.year:04d}-{day.month:02d}-{day.day:02d}"),
    ),
    unique_by=lambda one: (one["kind"], one["target"], one["who"]),
)
HEAD = "kind\ttarget\tlabel\twho\twhen"
LINE = "sequence\tDT NN\tpositive\tAnn\t2026-01-31"


@given(LABELS)
def test_labels_are_read_as_they_were_written_whatever_their_order(tmp_path_factory, labels):
    path = tmp_path_factory.mktemp("labels") / "labels.tsv"
    add_labels(path, table_of(*labels))
    columns = [*Label.model_fields]
    assert read_labels(path).to_dict("records") == table_of(*labels).sort_values(columns).to_dict("records")
    before = path.read_bytes() if labels else b""
    add_labels(path, table_of(*reversed(labels)))
    assert (path.read_bytes() if path.exists() else b"") == before


# The lines of a table -> the line, the column or word that the message names, and the value.
FAULTS = [
    (["sequence\ttags\tlabel"], "labels.tsv", "there is no text", ""),
    ([HEAD, "<<<<<<< HEAD", LINE], "line 2", "cells", ""),
    ([HEAD, "<<<<<<< HEAD\t\t\t\t", LINE], "line 2", "kind", "<<<<<<< HEAD"),
    ([HEAD, LINE, LINE.replace("positive", "negative")], "line 3", "who", "keep one"),
    ([HEAD, LINE.replace("positive", "maybe")], "line 2", "label", "maybe"),
    ([HEAD, LINE.replace("2026-01-31", "2026-W05-6")], "line 2", "when", "2026-W05-6"),
    ([HEAD, LINE.replace("Ann", "A\u200bn")], "line 2", "who", "\\u200b"),
    ([HEAD, LINE.replace("positive", "no"), LINE.replace("2026", "26")], "line 2: label", "line 3: when", ""),
]


@pytest.mark.parametrize(("lines", "place", "column", "value"), FAULTS)
def test_a_fault_is_told_with_its_row(tmp_path, lines, place, column, value):
    path = tmp_path / "labels.tsv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as raised:
        read_labels(path)
    assert all(part in str(raised.value) for part in (str(path), place, column, value))
    before = path.read_bytes()
    with pytest.raises(DataError):
        add_labels(path, table_of(label("sequence", "JJ", "positive")))
    assert path.read_bytes() == before


def test_another_label_of_the_same_person_replaces_the_older_and_the_same_again_keeps_its_day(tmp_path):
    path = tmp_path / "labels.tsv"
    early, late = label("sequence", "DT", "positive"), label("sequence", "DT", "negative", when="2026-02-01")
    add_labels(path, table_of(early, label("sequence", "DT", "unclear", "Bo")))
    add_labels(path, table_of(early | {"when": "2026-03-01"}))
    assert early in read_labels(path).to_dict("records")
    add_labels(path, table_of(late))
    assert read_labels(path).to_dict("records") == [late, label("sequence", "DT", "unclear", "Bo")]


@pytest.mark.parametrize("name", ["ann.tsv", "ann.csv"])
def test_a_sheet_has_every_sequence_and_sentence_once_and_what_is_filled_in_comes_back(tmp_path, name):
    path, sentences = tmp_path / name, in_drawn_order(mined(), 1)
    tags, ids = sentences["tags"], sentences["id"]
    known = [label("sentence", ids[1], "negative"), label("sequence", tags[0], "unclear")]
    write_label_sheet(path, sentences, table_of(*known, label("sequence", tags[2], "positive", "Bo")), "Ann", DAY)
    sheet = read_texts(path)
    assert len(sheet) == 4 + 8
    assert set(sheet.loc[sheet["kind"] == "sentence", "text"]) == set(sentences["text"])
    assert sorted(read_labels(path).to_dict("records"), key=str) == sorted(known, key=str)
    write_table_as(sheet.assign(label="Positive"), str(path))
    labels = read_labels(path)
    assert set(labels["target"]) == {*tags, *ids}
    assert labels[["label", "who", "when"]].drop_duplicates().to_numpy().tolist() == [["positive", "Ann", DAY]]


def test_what_a_spreadsheet_would_run_or_not_show_is_a_text_and_labels_come_back_with_the_ends_of_windows(tmp_path):
    path, tags = tmp_path / "a.tsv", ["-LRB- NN", "'' NN"]
    table = mined(2, 1).assign(text=["=1+1", '"Go,"\u200b he\u2028 said.'], url=["a\tb\x1b[2J", "@c"], tags=tags)
    known = table_of(*(label("sequence", one, "positive") for one in tags))
    write_label_sheet(path, in_drawn_order(table, 1), known, "Ann", DAY)
    sheet = read_texts(path)
    assert set(sheet["text"]) >= {"'=1+1", '"Go,"\\u200b he said.'}
    assert {"'-LRB- NN", "'' NN"} < set(sheet["target"])
    assert {"a b\\x1b[2J", "'@c"} < set(sheet["url"])
    path.write_text(path.read_text().replace("\n", "\r\n\r\n") + "\t\t\t\t\t\t\n")
    assert set(read_labels(path)["target"]) == set(tags)


def test_the_order_is_drawn_by_the_seed_and_by_nothing_else():
    orders = {seed: in_drawn_order(mined(5), seed)["tags"].unique().tolist() for seed in range(4)}
    assert len(set(map(tuple, orders.values()))) > 1
    shuffled = mined(5).sample(frac=1, random_state=0)
    assert in_drawn_order(shuffled, 1)["tags"].unique().tolist() == orders[1]
    fewer = [tags for tags in orders[1] if tags in set(mined(3)["tags"])]
    assert in_drawn_order(mined(3), 1)["tags"].unique().tolist() == fewer


DRAWN = st.tuples(st.integers(0, 5), st.sampled_from(JUDGEMENTS[:2]), st.sampled_from(["Ann", "Bo", f"Cy{DECIDES}"]))


@given(st.lists(DRAWN, max_size=14))
def test_disputes_are_the_sentences_that_a_conflict_leaves_out_until_each_is_decided(drawn):
    table = mined(2)
    targets = [("sequence", tags) for tags in table["tags"].unique()] + [("sentence", one) for one in table["id"]]
    by_key = {(targets[place], who): label(*targets[place], judgement, who) for place, judgement, who in drawn}
    labels = table_of(*by_key.values())
    in_dispute = disputed(table, labels)
    assert sum(in_dispute) == apply_labels(table, labels)[1].get("conflict", 0)
    others = labels[labels["who"] != f"Cy{DECIDES}"]
    open_ones = table.loc[disputed(table, others), "id"]
    decided = [label("sentence", one, "positive", f"Dee{DECIDES}") for one in open_ones]
    assert not any(disputed(table, table_of(*others.to_dict("records"), *decided)))


def test_of_100_answers_that_two_people_give_at_once_none_is_lost(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("labels.tsv")

    def write(who):
        for number in range(50):
            add_labels(path, table_of(label("sentence", f"mined-{number}", "positive", who)))

    with ThreadPoolExecutor(2) as people:
        list(people.map(write, ["Ann", "Bo"]))
    assert Counter(read_labels(path)["who"]) == {"Ann": 50, "Bo": 50}


def test_the_agreement_of_two_people_leaves_out_programs_and_who_decides():
    sentences = ordered(4)
    said = {"Ann": ["positive", "positive", "negative", "unclear"], "Bo": ["positive", "negative", "negative"]}
    labels = [label("sentence", f"{n}-0", one, who) for who, own in said.items() for n, one in enumerate(own)]
    others = [label("sentence", "1-0", "positive", f"Cy{DECIDES}"), label("sentence", "1-0", "negative", "model:x")]
    (found,) = agreement_of_people(sentences, table_of(*labels, *others))
    assert found == ("Ann", "Bo", 3, pytest.approx(cohen_kappa_score(said["Ann"][:3], said["Bo"])))
    of_sequence = [label("sequence", "NN 0", "positive"), label("sentence", "0-0", "positive", "Bo")]
    ((*_, number, kappa),) = agreement_of_people(sentences, table_of(*of_sequence))
    assert (number, np.isnan(kappa)) == (1, True)  # both give one label only, so nothing can be told
    assert not list(agreement_of_people(sentences, table_of()))


def ordered(number: int, sentences: int = 1) -> pd.DataFrame:
    """Return so many sequences in their order, each of so many sentences."""
    rows = [(f"{name}-{n}", f"NN {name}", float(name)) for name in range(number) for n in range(sentences)]
    return pd.DataFrame(rows, columns=["id", "tags", "draw"])


def label_of(number: int, is_positive: bool, who: str = "Ann"):
    return label("sequence", f"NN {number}", "positive" if is_positive else "negative", who)


def test_the_intervals_cover_precision_and_the_number_of_instances_though_what_is_labelled_is_biased():
    n, repetitions, covered, naive = 200, 300, 0, 0
    sentences = ordered(n)
    for seed in range(repetitions):
        truth = np.random.default_rng(seed).random(n) < 0.3
        # Every second sequence is an instance as long as there are any: no ordering could be more biased.
        labelled: set[int] = set()
        for turn in range(80):
            left = [number for number in range(n) if number not in labelled]
            labelled.add(min(left, key=lambda number: (not truth[number], number)) if turn % 2 else left[0])
        _, instances = estimate_yield(sentences, table_of(*(label_of(one, truth[one]) for one in labelled)))
        covered += instances[1] <= truth.sum() <= instances[2]
        biased = estimate_rate(truth[list(labelled)].astype(float), np.arange(len(labelled), dtype=object)[:, None])
        naive += biased.low <= truth.mean() <= biased.high
    assert covered >= 0.93 * repetitions
    assert naive < 0.05 * repetitions  # of all that is labelled


def test_the_estimate_is_that_of_the_sample_up_to_the_first_gap_and_never_less_than_what_is_known():
    sentences = ordered(100)
    labels = [label_of(number, number < 4) for number in range(20)]
    assert estimate_yield(sentences, table_of(*labels[1:])) is None
    precision, instances = estimate_yield(sentences, table_of(*labels))
    oracle = estimate_rate(np.array([1.0] * 4 + [0.0] * 16), np.arange(20, dtype=object)[:, None])
    assert precision == oracle
    assert instances[0] == pytest.approx(20)
    assert instances[1] == pytest.approx(100 * (0.2 - (0.2 - oracle.low) * np.sqrt(0.8)))
    behind = estimate_yield(sentences, table_of(*labels, *(label_of(number, True) for number in range(30, 90))))
    assert behind == (oracle, pytest.approx([64, 64, 64]))  # 30 are left, 64 instances are known
    whole = estimate_yield(sentences, table_of(*(label_of(number, number < 10) for number in range(100))))
    assert whole[1] == [10, 10, 10]


def test_what_is_unclear_is_no_instance_and_what_two_call_differently_is_half_of_one():
    sentences = ordered(4, sentences=2)
    labels = [label_of(number, True) for number in range(3)]
    labels[1]["label"] = "unclear"
    labels.append(label_of(2, False, "Bo"))
    assert estimate_yield(sentences, table_of(*labels))[0].value == pytest.approx((2 + 0 + 1) / 6)
    labels.append(label("sentence", "0-1", "negative", "Ann"))
    assert estimate_yield(sentences, table_of(*labels))[0].value == pytest.approx((1 + 0 + 1) / 6)
