import re
from importlib.util import find_spec

import pytest
from toy_pairs import load_all, load_toy

from cxprobe.errors import DataError
from cxprobe.tasks.pairs.make import render_pairs
from cxprobe.tasks.pairs.pseudowords import candidates_of, replace_content
from cxprobe.text.english import article_of, wrong_articles

LOADED, PEOPLE = load_all()
WITH_CONTENT = [name for name, content in LOADED.items() if content.content_slots]


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_pseudowords_keep_length_ending_and_article_and_are_no_words_of_the_pairs(name):
    content = LOADED[name]
    replaced, table = replace_content(content, candidates_of("random", 1), seed=1)
    known = {word for row in content.frames for value in row.values() for word in value.split()}
    assert table["pseudoword"].is_unique
    assert not set(table["pseudoword"]) & known
    for word, pseudoword in zip(table["word"], table["pseudoword"], strict=True):
        assert len(pseudoword) == len(word)
        assert article_of(pseudoword) == article_of(word)
        for ending in ("ed", "ing", "s"):
            has_it = word.endswith(ending) and not word.endswith(("ss", "us", "is")) and len(word) >= len(ending) + 3
            assert pseudoword.endswith(ending) or not has_it
        if len(word) > 2:
            assert not re.search("[^aeiou]{6}|[aeiou]{3}", pseudoword)
    rendered = render_pairs(name, replaced, PEOPLE, 50, seed=1, words="pseudo")
    assert not [pair for pair in rendered if wrong_articles(pair.context + pair.good)]


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_pairs_with_pseudowords_are_the_same_pairs_otherwise(name):
    content = LOADED[name]
    replaced, table = replace_content(content, candidates_of("random", 1), seed=1)
    words = dict(zip(table["pseudoword"], table["word"], strict=True))
    real, pseudo = (render_pairs(name, one, PEOPLE, 10, 3) for one in (content, replaced))
    for before, after in zip(real, pseudo, strict=True):
        back = " ".join(words.get(word.strip("."), word) for word in after.context.split())
        assert back.strip(".") == before.context.strip(".")
        assert after.context != before.context
        assert (after.good == before.good) is (after.bad == before.bad)


def test_proposals_that_fit_are_taken_and_others_left_to_a_random_string(tmp_path):
    content, people = load_toy(tmp_path)
    proposals = {"baked": ["baked", "bakem", "exped", "taped"], "poured": ["long"], "sang": []}
    replaced, table = replace_content(content, proposals.__getitem__, seed=0)
    words = table.set_index("word")
    assert words["source"].to_dict() == {"baked": "wuggy", "poured": "random", "sang": "random"}
    assert words["pseudoword"]["baked"] == "taped"
    assert {row["verb"] for row in replaced.frames} == set(words["pseudoword"])
    assert [row["gift"] for row in replaced.frames] == [row["gift"] for row in content.frames]
    assert render_pairs("x", replaced, people, 3, seed=0)


def test_wuggy_is_never_fetched(monkeypatch):
    if find_spec("wuggy") is not None:
        pytest.skip("wuggy is installed here")
    monkeypatch.setattr("urllib.request.urlopen", lambda *_: pytest.fail("something was fetched"))
    with pytest.raises(DataError, match="the package wuggy is not installed; pip install"):
        candidates_of("wuggy", 1)
