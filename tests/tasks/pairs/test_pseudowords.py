import re

import pytest
from toy_pairs import load_all

from cxprobe.tasks.pairs.make import render_pairs
from cxprobe.tasks.pairs.pseudowords import replace_content
from cxprobe.text import article_of, wrong_articles

LOADED, PEOPLE = load_all()
WITH_CONTENT = [name for name, content in LOADED.items() if content.content_slots]


@pytest.mark.parametrize("name", WITH_CONTENT)
def test_pseudowords_keep_length_ending_and_article_and_are_no_words_of_the_pairs(name):
    content = LOADED[name]
    replaced, table = replace_content(content, seed=1)
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
    replaced, table = replace_content(content, seed=1)
    words = dict(zip(table["pseudoword"], table["word"], strict=True))
    real, pseudo = (render_pairs(name, one, PEOPLE, 10, 3) for one in (content, replaced))
    for before, after in zip(real, pseudo, strict=True):
        back = " ".join(words.get(word.strip("."), word) for word in after.context.split())
        assert back.strip(".") == before.context.strip(".")
        assert after.context != before.context
        assert (after.good == before.good) is (after.bad == before.bad)
