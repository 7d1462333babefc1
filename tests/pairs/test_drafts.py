"""Beginnings of frames from verbs that a corpus has in a construction."""

import pandas as pd

from cxprobe.pairs.drafts import Draft, draft_frames

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
