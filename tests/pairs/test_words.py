import pytest

from cxprobe.pairs.writing import read_word

WORDS = ("appropriate", "inappropriate")


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("appropriate", "appropriate"),
        ("Inappropriate.", "inappropriate"),
        ("**Appropriate**", "appropriate"),
        ("Answer: inappropriate", "inappropriate"),
        ("Verdict - appropriate!", "appropriate"),
        ("<think>\nIt might be inappropriate.\n</think>\n\nappropriate\n", "appropriate"),
        ("It is hard to say.\nAnswer: `appropriate`\n---\n", "appropriate"),
    ],
)
def test_the_word_of_the_last_line_is_the_verdict(reply, word):
    assert read_word(reply, WORDS) == word


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "...",
        "not appropriate",
        "appropriate or inappropriate",
        "The statement is appropriate.",
        "appropriate\nbecause it follows",
        "prototypical",
        "in-appropriate",
        "unappropriate",
        "Answer:",
    ],
)
def test_anything_else_is_no_verdict(reply):
    assert read_word(reply, WORDS) is None
