"""What rules get on the pairs that the project has, of which `make repro` asks a small part."""

import numpy as np
import pytest

from conftest import ROOT
from cxprobe.constructions.people import load_people
from cxprobe.pairs.blind import preferences_of
from cxprobe.pairs.frames import has_pairs, load_pairs
from cxprobe.pairs.make import render_pairs

FOLDER = ROOT / "constructions"
PEOPLE = load_people(ROOT / "lexicon" / "people.yaml")
PAIRS = {path.name: load_pairs(path.name, PEOPLE, FOLDER) for path in FOLDER.iterdir() if has_pairs(path.name, FOLDER)}


@pytest.mark.pipeline
@pytest.mark.parametrize("kind", ["first_mentioned", "last_mentioned", "shorter"])
@pytest.mark.parametrize("name", sorted(name for name, content in PAIRS.items() if content.tests == "meaning"))
def test_no_rule_solves_the_pairs_of_a_construction(name, kind):
    pairs = render_pairs(name, PAIRS[name], PEOPLE, 60, seed=1)
    margins = preferences_of(kind, pairs)["margin"]
    assert np.mean((margins > 0) + 0.5 * (margins == 0)) <= 0.6
