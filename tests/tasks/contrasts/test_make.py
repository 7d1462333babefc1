"""Contrasts: what is cancelled and what is left, and which files cannot cancel."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from cxprobe.constructions.construction import load_people
from cxprobe.errors import ConstructionError
from cxprobe.models.texts import pair_table
from cxprobe.tasks.contrasts.contrast import frame_contrasts
from cxprobe.tasks.contrasts.make import contrast_pairs, load_contrasts, loose_parts
from cxprobe.tasks.contrasts.params import MakeContrasts

WANTED = MakeContrasts(frames=40, shuffled=1)
PEOPLE = load_people(ROOT / "lexicon" / "people.yaml")
FILE = """
slots: {verb: past tense, participle: its participle, met: a neutral verb, theme: what is given}
questions:
  - {text: "The one who gave the {theme} is {answer}.", right: "{N1}", wrong: "{N2}"}
  - {text: "The one who received the {theme} is {answer}.", right: "{N2}", wrong: "{N1}"}
conditions:
  construction: ["{N1} {verb} {N2} a {theme}.", "{N2} was {participle} a {theme} by {N1}."]
  control: ["{N1} gave a {theme} to {N2}.", "{N2} got a {theme} from {N1}."]
  neutral: ["{N1} {met} {N2} with a {theme}.", "{N2} was {met} by {N1} with a {theme}."]
  rival: ["{N1} {verb} a {theme} with {N2}.", "With {N2}, {N1} {verb} a {theme}."]
frames:
  - {verb: baked, participle: baked, met: met, theme: cake}
  - {verb: drew, participle: drawn, met: met, theme: map}
held_out:
  - {verb: knitted, participle: knitted, met: met, theme: scarf}
  - {verb: cut, participle: cut, met: met, theme: key}
"""
PAIRS_OF_PAIRS = """
slots: {verb: past tense, object: an object}
questions: [{text: "{answer}", right: but could not reach it., wrong: and went home.}]
conditions:
  construction: [["{N1} {verb} at {object}", "{N1} {verb} {object}"]]
  control: [["{N1} tried to hit {object}", "{N1} hit {object}"]]
  neutral: [["At noon {N1} {verb} {object}", "{N1} {verb} {object}"]]
frames: [{verb: kicked, object: the ball}]
held_out: [{verb: hacked, object: the branch}]
"""


def load(folder: Path, text: str = FILE):
    (folder / "toy").mkdir(exist_ok=True)
    (folder / "toy" / "contrasts.yaml").write_text(text)
    return load_contrasts("toy", PEOPLE, folder)


@pytest.fixture
def pairs(tmp_path) -> pd.DataFrame:
    return pair_table(contrast_pairs("toy", load(tmp_path), PEOPLE, WANTED, 1))


def test_every_cell_comes_in_both_orders_of_two_people_and_the_first_frames_in_the_shuffled_condition(pairs):
    counts = pairs.groupby(["item", "condition"]).size().unstack()
    counts = counts[["construction", "control", "neutral", "rival", "shuffled"]]
    assert (counts.dropna() == 2 * 2 * 2).to_numpy().all()  # contexts, questions, orders
    assert counts["shuffled"].isna().tolist() == [False, True]
    assert pairs["id"].is_unique
    first = pairs[(pairs["condition"] == "construction") & (pairs["cell"] == "2b")].iloc[0]
    name, other = first["good"].split()[-1].strip("."), first["bad"].split()[-1].strip(".")
    assert first["context"] == f"{name} was knitted a scarf by {other}."
    assert first["good"] == f" The one who received the scarf is {name}."


@given(st.integers(0, 10**6))
def test_likings_for_names_places_and_answers_cancel(tmp_path_factory, seed):
    """A model that knows nothing has likings, and their products with each other; its contrasts are 0."""
    content = load(tmp_path_factory.mktemp("files"))
    made = contrast_pairs("toy", content, PEOPLE, WANTED, 1)
    rng = np.random.default_rng(seed)
    liking: dict[tuple[str, ...], float] = {}

    def likes(*what: str) -> float:
        return liking.setdefault(what, float(rng.normal()))

    def score(context: str, text: str, question: str, order: str) -> float:
        answer = text.split()[-1].strip(".")
        place = "first" if context.split(" ")[0].strip(",.") == answer else "second"
        return likes(answer) + likes(place) + likes(answer, question) + likes(place, question) + likes(answer, place)

    rows = []
    for one in made:
        if one.groups["condition"] in ("construction", "control", "neutral"):
            question = one.groups["cell"][-1]
            good, bad = (score(one.context, text, question, one.groups["order"]) for text in (one.good, one.bad))
            rows.append({**one.groups, "item": one.item, "margin": good - bad})
    found = frame_contrasts(pd.DataFrame(rows), ["item"])
    assert np.allclose(found["value"], 0)


def test_a_pair_of_pairs_is_the_difference_that_the_construction_makes(tmp_path):
    made = contrast_pairs("toy", load(tmp_path, PAIRS_OF_PAIRS), PEOPLE, WANTED, 1)
    two = [one for one in made if one.groups["condition"] == "construction"]
    texts = [(one.context.split(" ", 1)[1], one.good, one.bad) for one in two]
    failed, home = " but could not reach it.", " and went home."
    assert texts == [("hacked at the branch", failed, home), ("hacked the branch", home, failed)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"With {N2}, {N1} {verb} a {theme}."', '"{N1} {verb} a {theme} near {N2}."',
         "rival: 'Ann' after 'The one who gave the cake is', in contexts that name it first, is 2"),
        ('right: "{N2}", wrong: "{N1}"', 'right: "{N1}", wrong: "{N2}"', "the answer '{N1}', is 4 times more often"),
        ('right: "{N2}", wrong: "{N1}"', 'right: "{N2}", wrong: "{N2}"', "is right and wrong; let the answers differ"),
        ('"{N1} gave a {theme} to {N2}.", "{N2} got a {theme} from {N1}."',
         '"{N1} {verb} {N2} a {theme}.", "{N2} was {participle} a {theme} by {N1}."', "control: says the same as"),
        ('"{N2} got a {theme} from {N1}."', '"{N1} gave a {theme} to {N2}."', "is there twice; keep one"),
        ('"{N1} {met} {N2} with a {theme}.", "{N2} was {met} by {N1} with a {theme}."', '"They {met} with a {theme}."',
         "neutral: its contexts name the people ['']"),
        ("verb: drew, participle: drawn, met: met, theme: map",
         "verb: Baked, participle: baked, met: met, theme: ca\u00adke",
         "this row is there twice"),
        ('  neutral: ["{N1} {met} {N2} with a {theme}.", "{N2} was {met} by {N1} with a {theme}."]\n', "",
         "conditions: 'neutral' is missing"),
        ("theme: map}", "theme: map, colour: red}", "this row fills verb, participle, met, theme, colour"),
        ("theme: scarf", "theme: apple", "construction: 'a apple'"),
        ("{N1} gave a {theme}", "{N1} gave a {thing}", "nothing fills the slot 'thing'"),
        ("is {answer}.\", right: \"{N1}\"", "is here.\", right: \"{N1}\"", "has no slot {answer}"),
        ('"{N1} {verb} {object}"]]\n  control', '"{N1} {verb} at {object}"]]\n  control', "is both halves; let them"),
        ('[["At noon {N1} {verb} {object}", "{N1} {verb} {object}"]]', '["At noon {N1} {verb} {object}"]',
         "neutral: the answer 'but could not reach it.', is once more often right"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_cancel_or_be_filled_is_refused_with_the_line(tmp_path, old, new, message):
    [text] = (text for text in (FILE, PAIRS_OF_PAIRS) if old in text)
    with pytest.raises(ConstructionError) as fault:
        load(tmp_path, text.replace(old, new))
    assert message in str(fault.value)
    assert "contrasts.yaml, line " in str(fault.value)


LOOSE = [
    ("", "", []),
    (
        '["{N1} {verb} a {theme} with {N2}.", "With {N2}, {N1} {verb} a {theme}."]',
        '["Somebody called Beatrice praised {N2} before {N1} went home.", "{N1}, like {N2}, went home at noon."]',
        ["rival has 33 % of the words of the construction's contexts"],
    ),
    (
        "met: met, theme: key}",
        "met: met, theme: key}\n  - {verb: bent, participle: bent, met: met, theme: wire}",
        ["held_out: different words of {met}: 1 in 3 rows"],
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), LOOSE)
def test_loose_rivals_and_frames_that_share_their_words_are_named(tmp_path, old, new, said):
    found = [*loose_parts(load(tmp_path, FILE.replace(old, new)))]
    assert [what.split(";")[0] for what in found] == said


def test_answers_of_which_one_begins_as_the_other_cancel(tmp_path):
    longer = PAIRS_OF_PAIRS.replace("but could not reach it.", "all of it fell.")
    alike = longer.replace("and went home.", "a bit of it fell.")
    assert load(tmp_path, alike).questions[0].right == "all of it fell."


NEAR = """rivals:
  near: ["{N1} {verb} {N2} near a {theme}.", "{N2} was {participle} near a {theme} by {N1}."]
frames:
"""
ASKED = """  - {text: "The giver of the {theme} was {answer}.", right: "{N1}", wrong: "{N2}", wording: noun}
  - {text: "The taker of the {theme} was {answer}.", right: "{N2}", wrong: "{N1}", wording: noun}
  - {text: "It was {answer} who gave the {theme}.", right: "{N1}", wrong: "{N2}", wording: cleft}
  - {text: "It was {answer} who took the {theme}.", right: "{N2}", wrong: "{N1}", wording: cleft}
conditions:
"""


def in_three_wordings() -> str:
    text = FILE.replace("frames:\n", NEAR, 1).replace("conditions:\n", ASKED, 1)
    return re.sub(r'(The one who .*)"}', r'\1", wording: relative}', text)


def test_a_rival_with_a_name_is_a_condition_and_its_words_are_clusters_of_what_it_has(tmp_path):
    made = contrast_pairs("toy", load(tmp_path, FILE.replace("frames:\n", NEAR, 1)), PEOPLE, WANTED, 1)
    near = [one for one in made if one.groups["condition"] == "rival_near"]
    assert len(near) == 2 * 2 * 2 * 2  # frames, contexts, questions, orders
    assert near[0].context.endswith(" near a scarf.")
    assert near[0].clusters == {"verb": "knitted", "theme": "scarf", "frame": "toy contrasts held_out 0"}
    assert [one.clusters["met"] for one in made if one.groups["condition"] == "neutral"] == ["met"] * 16


def test_each_frame_is_asked_in_two_wordings_in_turn_so_that_all_are_asked_as_often(tmp_path):
    content = load(tmp_path, in_three_wordings())
    made = contrast_pairs("toy", content, PEOPLE, WANTED, 1)
    asked = {one.item[-1]: {other.groups["wording"] for other in made if other.item == one.item} for one in made}
    assert asked == {"0": {"relative", "noun"}, "1": {"noun", "cleft"}}
    of_frames = [content.wordings_of(number) - {None} for number in range(6)]
    assert Counter(name for names in of_frames for name in names) == {"relative": 4, "noun": 4, "cleft": 4}
    assert Counter(map(frozenset, of_frames)) == {frozenset(names): 2 for names in of_frames}
    assert {one.groups["wording"] for one in contrast_pairs("toy", load(tmp_path), PEOPLE, WANTED, 1)} == {""}
