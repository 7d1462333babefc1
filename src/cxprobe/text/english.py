"""English spelling of texts that are put together from parts: "a" or "an", capitals, and faults.

The package inflect chooses articles too, but it writes "a usher" and "an uvula", and importing it takes a second. The
rule here was compared with the CMU Pronouncing Dictionary: of the 40,940 words that lemminflect knows as well, it
differs in four: "herbs" and "herbaceous", which are pronounced in both ways, "nth" and "yttrium".
"""

import re
from collections.abc import Iterator

SENTENCE_START = r"(?:^|(?<=[^\s.][.!?])\s+)"
"""Matches what precedes the first letter of a sentence. Three dots do not end a sentence, nor does a full stop after a
space."""

_FIRST_LETTER = re.compile(rf"({SENTENCE_START})([a-z])")
# A capital A in the middle of a sentence is a name.
_ARTICLE = re.compile(rf"(?:\b(?=a)|{SENTENCE_START}(?=A))([aA]n?)\s+([a-zA-Z][\w'-]*)")
# Words that are written with a vowel and spoken with a consonant: as "you" in ewe, unit, urine, use; as "w" in one.
_CONSONANT_SOUND = re.compile(
    r"eu|ewe|ouija|one(?:s|self|ness|time)?\b|once\b|u\b|ubiq|ufo|ugan|uk[aeru]|ululat|uly|"
    r"unanim(?!a)|unary|uni(?!de[an]|gno|m[ampb]|n|rr|ron|ss)|ur[aeiou]|us[aeiu]|ut[aeiou]|uv(?:[aeu]|\b)",
    re.IGNORECASE,
)
# Words that are written with a consonant and spoken with a vowel, and letters on their own: an X-ray.
_VOWEL_SOUND = re.compile(r"hour|honest|honou?r|heir|[fhlmnrsx]\b(?!')", re.IGNORECASE)
_TWO_ARTICLES = re.compile(
    rf"(?:(?<![\w/])(?=[at])|{SENTENCE_START}(?=[AT]))([aA]n? (?:an?|the)|[tT]he (?:an?|the))\b"
    r"(?! la\b| posteriori\b| priori\b)"
)
_BRACKET = re.compile(r"[{}\[\]]")
_END = re.compile(r"[.?!][\"'”’)]*$")


def faults_of_text(text: str) -> Iterator[str]:
    """Yield the faults of spelling in a finished text, such as an item.

    They are brackets and braces, as slots that nothing fills leave them; spaces at an end or two in a row; a beginning
    without a capital; an end without a full stop, question mark or exclamation mark; "a" for "an" or the other way
    round; and two articles in a row.
    """
    if bracket := _BRACKET.search(text):
        yield f"{bracket[0]!r} is left over from a slot; fill it, or write it as {{NAME}}"
    if "  " in text or text != text.strip():
        yield "there is a space too many"
    if text[:1].islower():
        yield "it begins with a small letter; write a capital"
    if not _END.search(text):
        yield "it does not end in a full stop; write one"
    for wrong in dict.fromkeys(wrong_articles(text)):
        article, rest = wrong.split(maxsplit=1)
        right = f"{article + 'n' if article in ('a', 'A') else article[:1]} {rest}"
        yield f"{wrong!r} has the wrong article; write {right!r}"
    for two in dict.fromkeys(_TWO_ARTICLES.findall(text)):
        yield f"{two!r} is two articles in a row; take one out"


def capitalise_sentences(text: str) -> str:
    """Return a text with a capital at the start of every sentence."""
    return _FIRST_LETTER.sub(lambda match: match[1] + match[2].upper(), text)


def wrong_articles(text: str) -> list[str]:
    """Return each "a" or "an" of a text, with the word after it, that does not fit how that word is spoken."""
    return [match[0].lstrip() for match in _ARTICLE.finditer(text) if match[1].lower() != article_of(match[2])]


def article_of(word: str) -> str:
    """Return the indefinite article of a word, "a" or "an", by its spelling; abbreviations are taken for words."""
    if word[0].lower() in "aeiou":
        return "a" if _CONSONANT_SOUND.match(word) else "an"
    return "an" if _VOWEL_SOUND.match(word) else "a"
