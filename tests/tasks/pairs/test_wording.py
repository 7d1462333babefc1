"""The formats of minimal pairs, and the solved pairs that stand before them."""

import pandas as pd
import pytest
from toy_pairs import load_all

from cxprobe.tasks.pairs.frames import PAPER_FORMAT
from cxprobe.tasks.pairs.make import build_pairs
from cxprobe.tasks.pairs.params import Contrasts, MakePairs, PerCell
from cxprobe.tasks.pairs.wording import wording_of

NO_CONTRASTS = Contrasts(held_out=1, shuffled=0)
FORMATS = ["statement", "continuation"]


def settings(format: str = PAPER_FORMAT, examples: int = 0) -> MakePairs:
    pairs_per_condition = PerCell(meaning=2, form=1, control=2)
    return MakePairs(
        contrasts=Contrasts(held_out=1, shuffled=0),
        pairs_per_condition=pairs_per_condition,
        pseudowords=None,
        format=format,
        examples=examples,
    )


@pytest.fixture(scope="module")
def everything():
    return load_all()


def built(everything, name: str, format: str = PAPER_FORMAT, examples: int = 0) -> pd.DataFrame:
    contents, people = everything
    return build_pairs(name, contents, people, settings(format, examples), 1).pairs


def test_all_sets_whose_people_are_exchanged_have_both_formats_and_no_others_have_any(everything):
    for content in everything[0].values():
        assert content.formats == (FORMATS if content.switched else [])


@pytest.mark.parametrize("format_", FORMATS)
def test_a_format_changes_the_second_text_and_nothing_else(everything, format_):
    for name, content in everything[0].items():
        paper = built(everything, name)
        other = built(everything, name, format_)
        kept = paper.columns.drop(["id", "good", "bad", "format", "origin", "cluster_wording"])
        pd.testing.assert_frame_equal(paper[kept], other[kept])
        asked = set(other["format"]), set(other["origin"])
        if content.formats:
            assert asked == ({format_}, {"own"})
            assert (other["good"] != paper["good"]).all()
        else:
            pd.testing.assert_frame_equal(paper, other)


@pytest.mark.parametrize(("name", "own"), [("ditransitive", "control-transfer"), ("control-roles", "control-roles")])
@pytest.mark.parametrize("format_", [PAPER_FORMAT, *FORMATS])
def test_examples_are_solved_pairs_of_other_controls_about_other_people(everything, name, own, format_):
    contents, people = everything
    controls = wording_of(name, contents, settings(format_, 4)).controls
    assert len(controls) == len([one for one in contents.values() if one.tests == "control" and one.switched]) - 1
    assert contents[own].in_format(format_) not in controls
    paper = built(everything, name, format_)
    pairs = built(everything, name, format_, examples=4)
    assert set(pairs["format"]) == {f"{format_}, 4 examples"}
    assert set(pairs["origin"]) == {"own"}
    assert pairs["good"].tolist() == paper["good"].tolist()
    nouns = {kind: of_kind.nouns for kind, of_kind in people.types.items()}
    for pair, asked in zip(pairs.to_dict("records"), paper["context"], strict=True):
        *examples, context = pair["context"].split("\n")
        assert context == asked
        assert len(examples) == 4
        known = [noun for noun in nouns[pair["noun_type"]] if f" {noun}".lower() in f" {' '.join(examples)}".lower()]
        assert len(known) >= 8
        assert not {pair["cluster_noun1"], pair["cluster_noun2"]} & {*known} or pair["noun_type"] == "common-noun"
    before = pairs["context"].str.rpartition("\n")[0]
    assert (before.groupby(pairs["item"]).nunique() == 1).all()
    assert pairs["item"].tolist() == paper["item"].tolist()
