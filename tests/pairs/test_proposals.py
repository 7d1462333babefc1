import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from conftest import PAIRS, PEOPLE
from cxprobe.constructions.people import load_people
from cxprobe.errors import DataError
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.writing import (
    Verdict,
    check_proposals,
    filter_proposals,
    frames_text,
    read_proposals,
    show,
    templates_of,
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    (folder / "people.yaml").write_text(PEOPLE)
    people = load_people(folder / "people.yaml")
    (folder / "x").mkdir()
    (folder / "x" / "pairs.yaml").write_text(PAIRS)
    return load_pairs("x", people, folder), people


GOOD = '{"verb": "knitted", "gift": "a scarf"}'
OTHER = '{"gift": "an apple", "verb": "bought"}'


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (f"{GOOD}\n{OTHER}\n", [GOOD, OTHER]),
        (f"Here are two {{or so}}:\n```json\n[{GOOD},\n {OTHER}]\n```", ["{or so}:", GOOD, OTHER]),
        (f"1. {GOOD}\n2. {OTHER} and that is all", [GOOD, OTHER]),
        ('{\n "verb": "knitted",\n "gift": "a scarf"\n}', ['{\n "verb": "knitted",\n "gift": "a scarf"\n}']),
        (f'{GOOD}\n{{"verb": "bou', [GOOD, '{"verb": "bou']),
        (f'{{"verb": "it\'s}}\n{GOOD}', ['{"verb": "it\'s}', GOOD]),
        ("There is nothing to say.", []),
        ("", []),
    ],
)
def test_every_object_of_a_reply_is_found_and_a_broken_one_hides_no_other(reply, found):
    assert read_proposals(reply) == found


@given(st.lists(st.dictionaries(st.text(), st.text(), min_size=1)), st.text(alphabet="ab ,[]\n1.-", max_size=5))
def test_objects_come_back_as_they_were_written_whatever_is_between_them(rows, between):
    written = [json.dumps(row) for row in rows]
    assert read_proposals(between.join(["", *written, ""])) == written


@pytest.mark.parametrize(
    ("text", "reason", "detail"),
    [
        (GOOD, "kept", ""),
        ('{"verb": "knitted"', "unreadable", "not valid JSON: "),
        ('["knitted"]', "unreadable", "the whole: ['knitted'] is not a slot with its words"),
        ('{"verb": "knitted", "gift": 3}', "unreadable", "gift: 3 is not a slot with its words"),
        ('{"verb": "knitted", "gift": ""}', "unreadable", "gift: '' is not a slot with its words"),
        ('{"verb": "knitted", "gift": "a  scarf"}', "unreadable", "gift: 'a  scarf' is not a slot with its words"),
        ('{"verb": "knitted", "gift": "{N1}"}', "unreadable", "gift: '{N1}' is not a slot with its words"),
        ('{"verb": "knitted", "gift": {"a": "b"}}', "unreadable", "gift: "),
        ("{}", "unreadable", "the whole: {} is not a slot with its words"),
        ('{"verb": "knitted"}', "slots", "missing slots ['gift'], unknown slots []"),
        ('{"verb": "knitted", "gift": "a scarf", "N1": "Ann"}', "slots", "missing slots [], unknown slots ['N1']"),
        ('{"gift": "A Cake", "verb": "baked"}', "repeated", "is number 0 of the frames in pairs.yaml"),
        ('{"verb": "knitted", "gift": "an scarf"}', "faulty", "variant A: 'an scarf' has the wrong article"),
    ],
)
def test_what_cannot_be_a_frame_is_rejected_with_a_reason(toy, text, reason, detail):
    [proposal] = check_proposals([text], *toy)
    assert (proposal.text, proposal.reason) == (text, reason)
    assert proposal.detail.startswith(detail)
    assert bool(proposal.detail) == (reason != "kept")


def test_what_was_written_before_is_rejected_and_what_was_rejected_may_be_written_again(toy):
    wrong = '{"verb": "bought", "gift": "a apple"}'
    proposals = check_proposals(
        [wrong, OTHER, GOOD, OTHER.upper().replace("VERB", "verb").replace("GIFT", "gift")], *toy
    )
    assert [proposal.reason for proposal in proposals] == ["faulty", "kept", "kept", "repeated"]
    assert proposals[3].detail == "was written before, as number 1"
    assert list(proposals[1].row) == ["verb", "gift"]  # as in the file, whatever the order in the reply


def test_a_pair_that_would_not_differ_is_rejected(toy):
    content, people = toy
    contrast = content.variants["A"].contrast["who"].model_copy(update={"good": "{gift}", "bad": "a cake"})
    same = content.variants["A"].model_copy(update={"contrast": {"who": contrast}})
    content = content.model_copy(update={"variants": {"A": same}})
    [proposal] = check_proposals(['{"verb": "bought", "gift": "a cake"}'], content, people)
    assert proposal.reason == "faulty"
    assert "the two members do not differ in {who}" in proposal.detail


def test_the_first_verdict_that_is_not_accepted_rejects(toy):
    proposals = check_proposals([GOOD, OTHER, '{"verb": "x"}', '{"verb": "sold", "gift": "a hat"}'], *toy)
    verdicts = [
        Verdict(0, "yes", "yes"), Verdict(0, "yes", "Yes!"),
        Verdict(1, "yes", "yes"), Verdict(1, "unparsed", "Hm."), Verdict(1, "no", "no"),
        Verdict(3, "no", "No."),
    ]  # fmt: skip
    found = filter_proposals(proposals, verdicts, ["yes"])
    assert [(one.reason, one.detail) for one in (found[0], found[1], found[3])] == [
        ("kept", ""),
        ("unparsed", "Hm."),
        ("no", "No."),
    ]
    assert found[2] == proposals[2]


def test_nothing_is_kept_unseen(toy):
    proposals = check_proposals([GOOD, OTHER], *toy)
    with pytest.raises(DataError, match=r"proposal 1 has no verdict \(1 such\); nothing is kept unseen"):
        filter_proposals(proposals, [Verdict(0, "yes", "yes")], ["yes"])


def test_a_frame_is_shown_in_every_variant_with_what_is_right(toy):
    content, people = toy
    assert show(content, {"verb": "knitted", "gift": "a scarf"}, people) == {
        "A": ("Ann knitted Eve a scarf.", "The one who gave her something is Ann."),
        "B": ("Ann knitted Eve a scarf.", "She got a scarf because Ann gave it to Eve."),
    }
    assert templates_of(content, people) == [
        "{N1} {verb} {N2} {gift}. The one who gave {them} something is {N1}.",
        "{N1} {verb} {N2} {gift}. {they} got {gift} because {N1} gave it to {N2}.",
    ]


def test_kept_frames_can_be_moved_into_the_pairs_as_they_stand(toy, tmp_path):
    content, people = toy
    rows = [
        {"verb": "knitted", "gift": "a scarf"},
        {"verb": "sang", "gift": "a song: no, two"},
        {"verb": "wrote", "gift": "'yes' # 1"},
    ]
    text = frames_text(["3 frames"], content, rows, people)
    assert YAML(typ="safe").load(text)["frames"] == rows
    assert text.startswith("# 3 frames\nframes:\n  # Ann knitted Eve a scarf. The one who gave")
    moved = text.partition("frames:\n")[2]
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "pairs.yaml").write_text(PAIRS.replace("fillers: {}\n", f"{moved}fillers: {{}}\n"))
    assert load_pairs("x", people, tmp_path).frames == [*content.frames, *rows]
    assert YAML(typ="safe").load(frames_text([], content, [], people)) == {"frames": []}
