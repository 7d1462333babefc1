"""Where examples come from: a construction's own items, or those of all."""

from collections import Counter

import pytest

from conftest import ITEMS, ROOT
from cxprobe.errors import PromptError
from cxprobe.prompts.items import load_items
from cxprobe.prompts.make import build_questions, load_material, material_files
from cxprobe.prompts.params import Shots
from cxprobe.prompts.wording import load_inference_prompts, load_reasoning_prompts
from cxprobe.run.params import load_params

NAMES = [path.parent.name for path in sorted((ROOT / "constructions").glob("*/items.yaml"))]
HAS_CHALLENGE = {name: bool(load_items(name, ROOT / "constructions").inference.challenge) for name in NAMES}
SETTINGS = load_params(ROOT / "params.yaml", ROOT / "constructions").prompts.make


def shots(number, *sources, own):
    given = [Shots(number=number, sources=list(sources), of_the_construction=own)]
    return SETTINGS.model_copy(update={"shots": given, "premises": 1})


def questions(name, settings):
    prompts = load_inference_prompts(), load_reasoning_prompts()
    material = load_material(name, settings, seed=1)
    return build_questions(name, material, *prompts, settings, seed=1)


@pytest.mark.parametrize("name", [name for name in NAMES if not HAS_CHALLENGE[name]])
def test_a_construction_without_look_alikes_is_shown_those_of_others(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    table = questions(name, shots(3, "challenge", "templatic", own=False))
    asked = table[table["kind"] == "inference"]
    assert set(asked["construction"]) == {name}
    assert (asked["question"].str.count("Answer:") == 2 * 3 * 3).all()
    with pytest.raises(
        PromptError, match=r"0 of entailment.* or let them be of any construction \(of_the_construction"
    ):
        questions(name, shots(1, "challenge", own=True))


def test_a_source_has_what_a_setting_can_draw_and_no_more(tmp_path, monkeypatch):
    for name in ("one", "other"):
        (tmp_path / "constructions" / name).mkdir(parents=True)
        (tmp_path / "constructions" / name / "items.yaml").write_text(ITEMS)
    monkeypatch.chdir(tmp_path)

    def drawn_from(settings, source):
        return Counter(item.construction for item in load_material("one", settings, seed=1).sources[source])

    assert drawn_from(shots(1, "challenge", own=False), "challenge") == {"one": 1, "other": 1}
    assert drawn_from(shots(1, "templatic", own=True), "templatic") == {"one": 6}
    assert [path.parent.name for path in material_files("one", shots(1, "templatic", own=True))] == ["one"]
    each = shots(1, "templatic", own=True).shots + shots(1, "challenge", own=False).shots
    both = SETTINGS.model_copy(update={"shots": each})
    assert (drawn_from(both, "templatic"), drawn_from(both, "challenge")) == ({"one": 6}, {"one": 1, "other": 1})
    assert [path.parent.name for path in material_files("one", both)] == ["one", "other"]
