"""Frames that a model writes: its prompts, what is read from its replies, and what can be kept."""

import json
from string import Formatter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from toy_pairs import load_toy

from conftest import ROOT
from cxprobe.errors import PromptError
from cxprobe.pairs.frame_prompts import load_writing_prompt
from cxprobe.pairs.writing import Draft, check_proposals, draft_frames, read_proposals, read_word, show, templates_of

PROMPTS = """\
prompts:
  own:
    write: "{name} {gloss} {positive} | {templates} | {slots} | {examples} | {number} {{}}"
    instance: "{name} {gloss} {positive} {sentence}: prototypical, extended, unacceptable?"
    diagnostic: "{sentence} {statement}: appropriate, inappropriate?"
"""
GOOD = '{"verb": "knitted", "gift": "a scarf"}'
OTHER = '{"gift": "an apple", "verb": "bought"}'


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return load_toy(tmp_path_factory.mktemp("toy"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{examples}", "", "prompts.own.write: "),
        ("{number}", "{number} {answer}", "must have exactly the fields {name}, {gloss}, {positive}, {templates}"),
        ("extended, ", "", "prompts.own.instance: does not name the answers extended"),
        ("appropriate, inappropriate?", "inappropriate?", "does not name the answers appropriate"),
        ("diagnostic:", "diagnostics:", "prompts.own.diagnostics: unknown key; did you mean 'diagnostic'?"),
        ("  own:", "  wn:", "frames.yaml: prompt 'own' is unknown; did you mean 'wn'?"),
    ],
)
def test_a_fault_of_the_prompts_is_told_with_its_file_and_key(tmp_path, old, new, message):
    assert old in PROMPTS
    (tmp_path / "frames.yaml").write_text(PROMPTS.replace(old, new))
    with pytest.raises(PromptError) as raised:
        load_writing_prompt("own", tmp_path)
    assert str(raised.value).startswith(str(tmp_path / "frames.yaml"))
    assert message in str(raised.value)


def test_the_prompts_of_the_project_load():
    for name in YAML(typ="safe").load(ROOT / "prompts" / "frames.yaml")["prompts"]:
        prompt = load_writing_prompt(name, ROOT / "prompts")
        assert all("{" not in text for text, *_ in Formatter().parse(prompt.write))


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("appropriate", "appropriate"),
        ("Inappropriate.", "inappropriate"),
        ("**Appropriate**", "appropriate"),
        ("Answer: inappropriate", "inappropriate"),
        ("<think>\nIt might be inappropriate.\n</think>\n\nappropriate\n", "appropriate"),
        ("It is hard to say.\nAnswer: `appropriate`\n---\n", "appropriate"),
        *((reply, None) for reply in ("", "...", "not appropriate", "appropriate or inappropriate", "unappropriate")),
        *((reply, None) for reply in ("appropriate\nbecause it follows", "prototypical", "in-appropriate", "Answer:")),
    ],
)
def test_a_last_line_of_one_allowed_word_is_the_verdict(reply, word):
    assert read_word(reply, ("appropriate", "inappropriate")) == word


@pytest.mark.parametrize(
    ("reply", "objects"),
    [
        (f"Here are two {{or so}}:\n```json\n[{GOOD},\n {OTHER}]\n```", ["{or so}:", GOOD, OTHER]),
        ('{\n "verb": "knitted",\n "gift": "a scarf"\n}', ['{\n "verb": "knitted",\n "gift": "a scarf"\n}']),
        (f'{GOOD}\n{{"verb": "bou', [GOOD, '{"verb": "bou']),
        (f'{{"verb": "it\'s}}\n{GOOD}', ['{"verb": "it\'s}', GOOD]),
        ("There is nothing to say.", []),
    ],
)
def test_every_object_of_a_reply_is_read_and_a_broken_one_hides_no_other(reply, objects):
    assert read_proposals(reply) == objects


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
        ('{"verb": "knitted", "gift": "{N1}"}', "unreadable", "gift: '{N1}' is not a slot with its words"),
        ("{}", "unreadable", "the whole: {} is not a slot with its words"),
        ('{"verb": "knitted", "gift": "a scarf", "N1": "Ann"}', "slots", "missing slots [], unknown slots ['N1']"),
        ('{"gift": "A Cake", "verb": "baked"}', "repeated", "is number 0 of the frames in pairs.yaml"),
        ('{"verb": "knitted", "gift": "an scarf"}', "faulty", "gift: 'an scarf' has the wrong article; write"),
    ],
)
def test_what_cannot_be_a_frame_is_rejected_with_a_reason(toy, text, reason, detail):
    [proposal] = check_proposals([text], *toy)
    assert (proposal.text, proposal.reason) == (text, reason)
    assert proposal.detail.startswith(detail)
    assert bool(proposal.detail) == (reason != "kept")


def test_what_was_written_before_is_rejected_and_what_was_rejected_may_be_written_again(toy):
    again = OTHER.upper().replace("VERB", "verb").replace("GIFT", "gift")
    proposals = check_proposals(['{"verb": "bought", "gift": "a apple"}', OTHER, GOOD, again], *toy)
    assert [proposal.reason for proposal in proposals] == ["faulty", "kept", "kept", "repeated"]
    assert proposals[3].detail == "was written before, as number 1"
    assert list(proposals[1].row) == ["verb", "gift"]  # as in the file, whatever the order in the reply


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


FRAMES = [{"verb": "sent", "article": "a", "theme": "letter"}]


def mined(*rows):
    """Return mined sentences, each with the word and the lemma of its verb and the word of its theme, if it has one."""

    def slot(text, name, word, lemma):
        start = text.index(word)
        return {"slot": name, "start": start, "end": start + len(word), "word": lemma, "tag": "NN"}

    slots = [
        [slot(text, "verb", verb, lemma), *([slot(text, "theme", theme, theme)] if theme else [])]
        for text, verb, lemma, theme in rows
    ]
    return pd.DataFrame({"text": [text for text, *_ in rows], "slots": slots})


def test_each_new_verb_gives_a_frame_from_its_shortest_sentence_the_most_frequent_first():
    sentences = mined(
        ("She told him nothing.", "told", "tell", "nothing"),
        ("He was given a very old book.", "given", "give", "book"),
        ("Give me bread.", "Give", "give", "bread"),
        ("I send you this.", "send", "send", "this"),  # a frame has it
    )
    assert draft_frames(FRAMES, sentences) == [
        Draft({"verb": "Give", "article": "...", "theme": "bread"}, "Give me bread.", 2),
        Draft({"verb": "told", "article": "...", "theme": "nothing"}, "She told him nothing.", 1),
    ]


def test_a_slot_that_the_sentence_does_not_fill_is_left_to_people():
    (draft,) = draft_frames(FRAMES, mined(("She told him that it rained.", "told", "tell", "")))
    assert draft.row == {"verb": "told", "article": "...", "theme": "..."}
    assert draft_frames(FRAMES, mined(("I sent you this.", "sent", "send", ""))) == []
