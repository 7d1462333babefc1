"""Files of multiple choice in the shape of the CxNLI release, with the irregularities that its files have."""

import os
from collections import Counter

import pytest
from reasoning_tables import FIRST, FOREIGN, HEADER, PLAIN, SECOND, with_options_of_the_first

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.prompts.reasoning_files import TEST_NAMES, read_reasoning_file

BASE = '1\tBase\t"The warmer the sea, the later they left. The sea was warmer in May than in June. Did they'


def read(folder, text, name="items.tsv", **settings):
    (folder / name).write_bytes(text.encode())
    return read_reasoning_file(folder / name, "official", "toy", **({"keep_doubtful": True} | settings))


def as_tuples(file):
    return [(item.frame_id, item.test, item.text, item.question, item.a, item.b, item.gold) for item in file.items]


def test_a_plain_file_gives_its_items_and_nothing_to_repair(tmp_path):
    file = read(tmp_path, PLAIN)
    assert not file.repairs
    assert [item.test for item in file.items] == [*TEST_NAMES.values()] * 2
    assert [item.gold for item in file.items] == [*"AABBCCCC", *"BBAACCCC"]
    first = file.items[0]
    assert first.text == "The warmer the sea, the later they left. The sea was warmer in May than in June."
    assert first.question == "Did they leave later in May or in June?"
    assert (first.a, first.b) == ("in May", "in June")
    assert {(item.set, item.construction) for item in file.items} == {("official", "toy")}
    assert len({item.id for item in file.items}) == 16
    assert list(Counter(item.frame_id for item in file.items).values()) == [8, 8]
    assert all(item.answerable == (item.gold != "C") for item in file.items)


@pytest.mark.parametrize(
    ("old", "new", "repair"),
    [
        ("Ex Num", "\ufeffEx Num", "a byte-order mark was ignored"),
        ("Option A", "option  a ", ""),
        ("\r\n1\tBase", "\r\n1.0\tBase", "'.0' was taken off a number"),
        ("Recency Bias", "Recency", "'Recency' was read as 'Recency Bias'"),
        ("Nonce Calibration", "Nonce Calibraton", "'Nonce Calibraton' was read as 'Nonce Calibration'"),
        ("not enough information\tA", "not enough information\ta", "target 'a' was read as A"),
        (
            "not enough information",
            "not enough infomation",
            "'not enough infomation' was read as 'not enough information'",
        ),
        (BASE, BASE.replace('"The', '" The'), ""),
        (BASE, BASE.replace("left. ", "left.\n"), "a line break inside a text was read as a space"),
        ("in June?", "in June?.", "'?.' at the end of a text was read as '?'"),
        ("\r\n3\tBase", "\r\n" + "\t" * 8 + "\r\n3\tBase", "an empty line was skipped"),
        ("\r\n3\tBase", f"\r\n{FIRST[-1]}\r\n3\tBase", "a row that the file has already was skipped"),
    ],
)
def test_a_quirk_is_understood_and_counted(tmp_path, old, new, repair):
    assert old in PLAIN
    file = read(tmp_path, PLAIN.replace(old, new, 1))
    assert as_tuples(file) == as_tuples(read(tmp_path, PLAIN))
    assert file.repairs == ({repair: 1} if repair else {})


def test_what_looks_wrong_but_is_as_it_is_is_reported_and_kept(tmp_path):
    cut = PLAIN.replace("Did they leave later in May or in June?", "Did they leave later in May or in June")
    file = read(tmp_path, cut)
    assert file.repairs == {"a question without a question mark was kept": 7}
    wrong = read(tmp_path, PLAIN.replace("not enough information\tA", "not enough information\tC", 1))
    assert (wrong.items[0].gold, wrong.items[0].answerable) == ("C", False)
    assert wrong.repairs == {"a target that does not go with the test was kept": 1}
    named = read(tmp_path, PLAIN.replace("\r\n1\t", "\r\none\t"))
    assert named.repairs == {"a number that is none was read as a name": 8}
    odd = read(tmp_path, PLAIN.replace("Did they leave later in May or in June?", "Choose May or June."))
    assert odd.items[0].question == "Choose May or June."
    assert odd.repairs["a last sentence that begins as a statement was read as the question"] == 7
    alone = read(tmp_path, PLAIN.replace("The sea was warmer in May than in June. Did they", "Did they"))
    short = next(item for item in alone.items if item.test == "short")
    assert (short.text, short.question) == ("", "Did they leave later in May or in June?")


def test_the_point_of_a_title_or_an_initial_ends_no_sentence(tmp_path):
    for name in ("Mr. Hill", "Dr. Hill", "J. Hill", "Mrs. Hill", "St. Ives"):
        file = read(tmp_path, PLAIN.replace("Did they leave", f"Did {name} leave"))
        assert file.items[0].question == f"Did {name} leave later in May or in June?"


def test_tests_that_are_missing_are_counted(tmp_path):
    for start, times in (("3\tVocabulary", 1), ("", 2)):
        rows = PLAIN.split("\r\n")
        file = read(tmp_path, "\r\n".join(row for row in rows if not (start in row and "\tVocabulary Bias\t" in row)))
        assert len(file.items) == 16 - times
        assert file.repairs == {"an item has no Vocabulary Bias": times}


def test_options_of_another_item_are_doubtful_and_kept_or_left_out(tmp_path):
    text = "\r\n".join([HEADER, *FIRST, *with_options_of_the_first(SECOND)])
    kept, left = (read(tmp_path, text, keep_doubtful=keep) for keep in (True, False))
    assert (len(kept.items), len(left.items)) == (16, 11)
    assert {item.test for item in kept.items if item.a == "happier"} == {TEST_NAMES[test] for test in FOREIGN}
    what = "options are neither those of the item's Base row nor in the text; the row was"
    assert kept.repairs == {f"{what} kept": 5}
    assert left.repairs == {f"{what} left out": 5}


def test_options_that_go_with_the_names_of_a_row_are_not_doubtful(tmp_path):
    """Where the question is about other months than the Base row, so are the options."""
    name = FIRST[5].replace("in May\tin June", "in July\tin August")
    assert name != FIRST[5]
    file = read(tmp_path, "\r\n".join([HEADER, *FIRST[:5], name, *FIRST[6:]]))
    assert not file.repairs
    turned = read(
        tmp_path, PLAIN.replace("in May\tin June\tnot enough information\tA", "in June\tin May\tnot enough info\tB")
    )
    assert not turned.repairs
    assert Counter(item.gold for item in turned.items[:4]) == {"B": 4}


def test_one_text_with_two_answers_is_doubtful(tmp_path):
    name = FIRST[5].replace("in July or in August", "in May or in June")  # the names are not exchanged
    text = "\r\n".join([HEADER, *FIRST[:5], name, *FIRST[6:]])
    kept, left = (read(tmp_path, text, keep_doubtful=keep) for keep in (True, False))
    assert kept.repairs == {
        "a row that has the text of another was kept": 1,
        "a row has the text of another and another answer; the row was kept": 1,
    }
    assert {item.test for item in kept.items} - {item.test for item in left.items} == {"other-names"}
    same = FIRST[1].split("\t")
    again = "\t".join([*same[:2], FIRST[0].split("\t")[2], *same[3:]])  # a text twice, with one answer
    twice = read(tmp_path, "\r\n".join([HEADER, FIRST[0], again, *FIRST[2:]]), keep_doubtful=False)
    assert len(twice.items) == 8
    assert twice.repairs == {"a row that has the text of another was kept": 2}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Target", "Goal", "line 1: the column Target is not there once; found ex num, type"),
        ("Output", "Text", "line 1: the column Text is not there once"),
        ("\tRecency Bias", "\tName", "line 3: test 'Name' is unknown, or means several (allowed: Base, Recency Bias"),
        ("\tRecency Bias", "\tShort Bias", "line 3: test 'Short Bias' is unknown, or means several"),
        ("information\tA", "information\tD", "line 2: target 'D' is unknown (allowed: A, B, C)"),
        ("information\tA", "information\t", "line 2: Target is empty"),
        ("\tnot enough information", "\tboth", "line 2: option C 'both' does not say that there is not enough"),
        ("a note", "a\tnote", "line 2: 10 cells, but the columns are 9; is a text not quoted?"),
        ("1\tRecency Bias", "1\tBase", "line 3: item 1 has its test Base in line 2 already"),
        (BASE, BASE.replace("sea,", 'sea",', 1), "line 2:"),
        ("3\tNonce Calibration\t", '3\tNonce Calibration\t"', "line 17:"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_its_line(tmp_path, old, new, message):
    assert old in PLAIN
    with pytest.raises(DataError) as raised:
        read(tmp_path, PLAIN.replace(old, new, 1))
    assert f"items.tsv, {message}" in str(raised.value)


def test_rows_inside_a_text_are_refused(tmp_path):
    rows = [row.replace('"', "") for row in FIRST]
    opened = rows[0].replace("The warmer", '"The warmer', 1), *rows[1:3], rows[3].replace("\ta note", '"\ta note')
    with pytest.raises(DataError, match=r"items\.tsv, line 2: a text contains further rows"):
        read(tmp_path, "\n".join([HEADER, *opened, *rows[4:]]))


def test_a_file_that_is_absent_empty_or_of_another_kind_is_refused(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_reasoning_file(tmp_path / "none.tsv", "official", "toy", keep_doubtful=True)
    with pytest.raises(DataError, match="found nothing"):
        read(tmp_path, "")
    for empty in (HEADER, f"{HEADER}\r\n\r\n"):
        with pytest.raises(DataError, match="there is no item in the file"):
            read(tmp_path, empty)
    with pytest.raises(DataError, match=r"fields are separated by tabs in a \.tsv file and by commas in others"):
        read(tmp_path, PLAIN, "items.csv")
    with pytest.raises(DataError, match="found cxn type, number, p/h/r"):
        read(tmp_path, "CxN Type\tNumber\tP/H/R\tAnnotation Targets\r\ntoy\t1\tpremise\tIt rained.")


def test_a_file_of_several_constructions_can_choose_among_the_rows_of_one(tmp_path):
    other = [row.replace("3\t", "1\t", 1).replace("Recency Bias", "Recency") for row in SECOND[:3]]
    (tmp_path / "chosen.tsv").write_text("\r\n".join([HEADER, *other, *FIRST[4:6]]))
    file = read(tmp_path, "\r\n".join([HEADER, *SECOND]), rows=tmp_path / "chosen.tsv")
    assert [item.test for item in file.items] == ["base", "recency", "vocabulary"]
    assert file.repairs == {f"a row that is not in {tmp_path / 'chosen.tsv'} was left out": 5}
    with pytest.raises(DataError, match=r"chosen\.tsv: no row of .*items\.tsv is in it"):
        read(tmp_path, "\r\n".join([HEADER, *FIRST[:4]]), rows=tmp_path / "chosen.tsv")


# The release states no licence and is not stored here; these run where a copy lies.
RELEASE = ROOT.joinpath(os.environ.get("CXPROBE_SHARED_DATA", "../shared/data"), "benchmarks", "cxnli")
REASONING = RELEASE / "QA_constructional_reasoning"
needs_the_release = pytest.mark.skipif(not REASONING.is_dir(), reason="no copy of the reasoning files")


def kept(path, **settings):
    return read_reasoning_file(path, "official", "toy", **({"keep_doubtful": True} | settings))


SIZES = {  # items, those that are not doubtful, and repairs
    "QA_constructional_reasoning/comparative_correlative_QA_CxReasoning.tsv": (384, 194, 209),
    "QA_constructional_reasoning/way_manner_QA_CxReasoning.tsv": (140, 140, 140),
    "o1-preview/comparative_correlative_QA_CxReasoning104.csv": (104, 88, 127),
    "o1-preview/comparative_correlative_QA_CxReasoning16.csv": (16, 16, 17),
    "o1-preview/way_manner_QA_CxReasoning105.csv": (105, 105, 210),
    "o1-preview/way_manner_QA_CxReasoning14.csv": (14, 14, 28),
}


@needs_the_release
@pytest.mark.parametrize("name", SIZES)
def test_what_the_release_has_is_read_and_what_is_doubtful_in_it_is_found(name):
    file = kept(RELEASE / name)
    sound = kept(RELEASE / name, keep_doubtful=False)
    assert (len(file.items), len(sound.items), sum(file.repairs.values())) == SIZES[name]


@needs_the_release
def test_the_file_for_prompts_is_refused_alone_and_chooses_among_the_rows_of_the_others(tmp_path):
    (prompts,) = REASONING.glob("*_prompt_test.tsv")
    with pytest.raises(DataError, match="a file is about one construction"):
        kept(prompts)
    found = {name: len(kept(RELEASE / name, rows=prompts).items) for name in list(SIZES)[:2]}
    assert list(found.values()) == [40, 35]
    lines = prompts.read_text().splitlines(keepends=True)
    (tmp_path / "rest.tsv").write_text("".join([lines[0], *lines[41:80]]), newline="")  # the third construction's five
    rest = kept(tmp_path / "rest.tsv")
    assert len(rest.items) == 39
    assert rest.repairs["an item has no Vocabulary Bias"] == 1
    for share in sorted((RELEASE / "o1-preview").glob("*_QA_*")):
        (whole,) = REASONING.glob(f"{share.name.partition('_QA_')[0]}_QA_*")
        assert len(kept(whole, rows=share).items) == len(kept(share).items)
