from importlib.util import find_spec

import pytest

from conftest import PAIRS, PEOPLE, ROOT
from cxprobe.constructions.people import load_people
from cxprobe.english import starts_with_vowel_sound, wrong_articles
from cxprobe.errors import DataError
from cxprobe.pairs.frames import has_pairs, load_pairs
from cxprobe.pairs.make import render_pairs
from cxprobe.pairs.pseudowords import candidates_of, replace_content

CONSTRUCTIONS = ROOT / "constructions"
PEOPLE_OF_THE_PROJECT = load_people(ROOT / "lexicon" / "people.yaml")
LOADED = {
    folder.name: load_pairs(folder.name, PEOPLE_OF_THE_PROJECT, CONSTRUCTIONS)
    for folder in sorted(CONSTRUCTIONS.iterdir())
    if has_pairs(folder.name, CONSTRUCTIONS)
}
WITH_CONTENT = [name for name, content in LOADED.items() if content.content_slots]


def toy(folder, text=PAIRS):
    (folder / "people.yaml").write_text(PEOPLE)
    people = load_people(folder / "people.yaml")
    (folder / "x").mkdir()
    (folder / "x" / "pairs.yaml").write_text(text)
    return load_pairs("x", people, folder), people


def test_four_constructions_declare_content_words():
    assert len(WITH_CONTENT) == 4


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_pseudowords_keep_length_ending_and_article_and_are_no_words_of_the_pairs(name):
    content = LOADED[name]
    replaced = replace_content(content, candidates_of("random", 1), seed=1)
    known = {word for row in content.frames for value in row.values() for word in value.split()}
    assert replaced.words["pseudoword"].is_unique
    assert not set(replaced.words["pseudoword"]) & known
    for word, pseudoword in zip(replaced.words["word"], replaced.words["pseudoword"], strict=True):
        assert len(pseudoword) == len(word)
        assert starts_with_vowel_sound(pseudoword) == starts_with_vowel_sound(word)
        for ending in ("ed", "ing"):
            assert pseudoword.endswith(ending) or not word.endswith(ending) or len(word) < len(ending) + 3
    rendered = render_pairs(name, replaced.content, PEOPLE_OF_THE_PROJECT, 50, seed=1, words="pseudo")
    assert not [pair for pair in rendered.pairs if wrong_articles(pair.context + pair.good)]


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_pairs_with_pseudowords_are_the_same_pairs_otherwise(name):
    content = LOADED[name]
    replaced = replace_content(content, candidates_of("random", 1), seed=1)
    words = dict(zip(replaced.words["pseudoword"], replaced.words["word"], strict=True))
    real, pseudo = (render_pairs(name, one, PEOPLE_OF_THE_PROJECT, 10, 3).pairs for one in (content, replaced.content))
    for before, after in zip(real, pseudo, strict=True):
        back = " ".join(words.get(word.strip("."), word) for word in after.context.split())
        assert back.strip(".") == before.context.strip(".")
        assert after.context != before.context
        assert (after.good == before.good) is (after.bad == before.bad)


def test_proposals_that_fit_are_taken_and_others_left_to_a_random_string(tmp_path):
    content, people = toy(tmp_path)
    proposals = {"baked": ["baked", "bakem", "exped", "taped"], "poured": ["long"], "sang": []}
    replaced = replace_content(content, proposals.__getitem__, seed=0)
    words = replaced.words.set_index("word")
    assert words["source"].to_dict() == {"baked": "wuggy", "poured": "random", "sang": "random"}
    assert words["pseudoword"]["baked"] == "taped"
    assert {row["verb"] for row in replaced.content.frames} == set(words["pseudoword"])
    assert [row["gift"] for row in replaced.content.frames] == [row["gift"] for row in content.frames]
    assert render_pairs("x", replaced.content, people, 3, seed=0).pairs


def test_pairs_without_content_slots_are_refused(tmp_path):
    content, _ = toy(tmp_path, PAIRS.replace("content: true", "content: false"))
    with pytest.raises(DataError, match="no slot of these pairs is declared as content"):
        replace_content(content, candidates_of("random", 1), seed=0)


def test_wuggy_is_never_fetched(monkeypatch):
    if find_spec("wuggy") is not None:
        pytest.skip("wuggy is installed here")
    monkeypatch.setattr("urllib.request.urlopen", lambda *_: pytest.fail("something was fetched"))
    with pytest.raises(DataError, match="the package wuggy is not installed; pip install"):
        candidates_of("wuggy", 1)


def test_wuggy_without_its_data_is_refused_too(monkeypatch, tmp_path):
    (tmp_path / "wuggy").mkdir()
    (tmp_path / "wuggy" / "__init__.py").write_text("raise ImportError('it must not be imported')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DataError, match="Wuggy's English data is not installed"):
        candidates_of("wuggy", 1)
