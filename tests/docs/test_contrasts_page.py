"""The worked example of docs/verdicts.md is what the tool computes."""

import re

import pytest

import cxprobe
from conftest import ROOT
from cxprobe.constructions.construction import load_people
from cxprobe.tasks.contrasts.make import contrast_pairs, load_contrasts
from cxprobe.tasks.contrasts.params import MakeContrasts

PAGE = (ROOT / "docs" / "verdicts.md").read_text()
ROW = re.compile(r"^\| (.+) \.\.\. \| (\w+) (-[\d.]+) \| (\w+) (-[\d.]+) \| ([+-][\d.]+) \|$", re.M)


@pytest.fixture(scope="module")
def pairs():
    people = load_people(ROOT / "lexicon" / "people.yaml")
    content = load_contrasts("ditransitive", people, ROOT / "constructions")
    wanted = MakeContrasts(frames=1, shuffled=0)
    pairs = [
        pair
        for pair in contrast_pairs("ditransitive", content, people, wanted, 2022)
        if pair.groups["condition"] == "construction"
    ]
    return [pair for pair in pairs if pair.groups["wording"] == pairs[0].groups["wording"]]


def test_the_example_by_hand_is_the_number_of_the_tool(pairs, monkeypatch):
    monkeypatch.chdir(ROOT)
    rows = ROW.findall(PAGE)
    assert [row[0] for row in rows] == [f"{pair.context}{pair.good.rpartition(' ')[0]}" for pair in pairs]
    by_hand = [float(right) - float(wrong) for _, _, right, _, wrong, _ in rows]
    assert by_hand == pytest.approx([float(row[5]) for row in rows], abs=2e-3)
    lm = cxprobe.load("mini-clm")
    texts = list(dict.fromkeys(pair.context + end for pair in pairs for end in (pair.good, pair.bad)))
    scores = dict(zip(texts, lm.score(texts)["sum"], strict=True))
    found = [scores[pair.context + pair.good] - scores[pair.context + pair.bad] for pair in pairs]
    assert by_hand == pytest.approx(found, abs=5e-3)
    stated = float(re.search(r"mean margin, \*\*(-[\d.]+)\*\* nats", PAGE)[1])
    assert stated == pytest.approx(sum(found) / len(found), abs=1e-3)
