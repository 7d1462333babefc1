"""The text of items: the template language, in which all are written, English spelling, and faults of a finished text.

A template is text with slots. ``{NAME}`` stands for the words that fill a slot, and ``{NAME:form}`` for a form of them:

- ``a`` puts "a" or "an" before the words;
- ``they``, ``them`` and ``their`` give this form of a noun phrase's pronoun, ``was`` gives "was" or "were" for it;
- ``VB``, ``VBD``, ``VBG`` and ``VBN`` (tags of the Penn Treebank) inflect the first word of a verb phrase.

A filler is words, or ``{note: words}``. The note is the pronoun that refers to a noun phrase, as in
``{she: the judge}``, or the lemma of a verb whose form belongs to several lemmas, as in ``{see: saw}``. `render` puts a
capital at the start of each sentence, so fillers are written as in mid-sentence.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from cxprobe.errors import ConstructionError
from cxprobe.files.schema import suggest

WORD_MASK = "[MASK]"
"""Where a masked model is asked for a word; templates keep it."""
_SLOT = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)(?::([A-Za-z]+))?\}")
_PRONOUN_FORMS = ("they", "them", "their", "was")
_PARADIGM = {
    "I": ("I", "me", "my", "was"),
    "you": ("you", "you", "your", "were"),
    "he": ("he", "him", "his", "was"),
    "she": ("she", "her", "her", "was"),
    "it": ("it", "it", "its", "was"),
    "we": ("we", "us", "our", "were"),
    "they": ("they", "them", "their", "were"),
}
_FORMS = ("a", *_PRONOUN_FORMS, "VB", "VBD", "VBG", "VBN")


class TemplateError(ConstructionError, ValueError):
    """A template cannot be read or filled."""


def _readable(template: str) -> str:
    if re.search(r"[{}]", _SLOT.sub("", template)):
        raise TemplateError(f"{template!r} has a brace that is not part of a slot; a slot is {{NAME}} or {{NAME:form}}")
    for _, form in _SLOT.findall(template):
        if form and form not in _FORMS:
            raise TemplateError(f"{template!r} has the form '{form}'{suggest(form, _FORMS)}")
    return template


Template = Annotated[str, AfterValidator(_readable)]
"""Text with slots."""
SlotName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
# Words with single spaces between them, and none at the ends.
Words = Annotated[str, StringConstraints(pattern=r"^[^\s{}\[\]]+( [^\s{}\[\]]+)*$")]
Filler = Words | Annotated[dict[str, Words], Field(min_length=1, max_length=1)]
"""What fills a slot: words, or {note: words}."""
Filled = str | Mapping[Any, str]  # a filler that has been read
Values = Mapping[str, Filled]
"""Slot -> its filler."""


def slots_of(template: str) -> list[str]:
    """Return the slots of a template in their order, repeated ones included."""
    return [name for name, _ in _SLOT.findall(template)]


def filler_words(filler: Filled) -> str:
    """Return the words of a filler, without its note."""
    return filler if isinstance(filler, str) else next(iter(filler.values()))


def fill(template: str, values: Values) -> str:
    """Fill the slots of a template; add no capitals.

    Args:
        template: The template.
        values: Slot -> its filler; slots that the template lacks are ignored.

    Raises:
        TemplateError: A slot has no filler, or its filler does not have the form.
    """
    text, *slots = _split(template)
    for name, form, after in zip(slots[::3], slots[1::3], slots[2::3], strict=True):
        if name not in values:
            raise TemplateError(f"nothing fills the slot '{name}' of {template!r}{suggest(name, values)}")
        text += (_in_form(values[name], form) if form else filler_words(values[name])) + after
    return text


_split = lru_cache(maxsize=4096)(_SLOT.split)  # text, and for each slot its name, its form and the text after it


def render(template: str, values: Values) -> str:
    """Fill the slots of a template, and put a capital at the start of every sentence."""
    return capitalise_sentences(fill(template, values))


def _in_form(filler: Filled, form: str) -> str:
    words = filler_words(filler)
    if form == "a":
        return f"{article_of(words)} {words}"
    note = None if isinstance(filler, str) else next(iter(filler))
    if form in _PRONOUN_FORMS:
        if note not in _PARADIGM:
            raise TemplateError(
                f"'{form}' of '{words}' needs the pronoun that refers to it: write {{<pronoun>: {words}}} with one of "
                f"{', '.join(_PARADIGM)}"
            )
        return _PARADIGM[note][_PRONOUN_FORMS.index(form)]
    # Imported here, since it imports spaCy and PyTorch, and few templates inflect verbs.
    from lemminflect import getInflection, getLemma

    verb, *rest = words.split(" ")
    if note is None:
        lemmas = getLemma(verb, upos="VERB", lemmatize_oov=False)
        if len(lemmas) != 1:
            known = " or of ".join(lemmas) or "none that is known"
            raise TemplateError(f"the verb '{verb}' is a form of {known}; give its lemma: {{<lemma>: {words}}}")
        note = lemmas[0]
    forms = (note,) if form == "VB" else getInflection(note, tag=form)
    return " ".join([verb if verb in forms else str(forms[0]), *rest])


# English spelling. The package inflect chooses articles too, but it writes "a usher" and "an uvula", and importing it
# takes a second. The rule here was compared with the CMU Pronouncing Dictionary: of the 40,940 words that lemminflect
# knows as well, it differs in four: "herbs" and "herbaceous", which are pronounced in both ways, "nth" and "yttrium".

SENTENCE_START = r"(?:^|(?<=[^\s.][.!?])\s+)"
"""Matches what precedes the first letter of a sentence. Three dots do not end a sentence, nor does a full stop after a
space."""

# What is looked for comes first in a pattern, and what precedes it second: so a text is searched three times as fast.
_FIRST_LETTER = re.compile(r"([.!?](?<=[^\s.][.!?])\s+)([a-z])")
# A capital A in the middle of a sentence is a name.
_ARTICLE = re.compile(r"([aA](?:(?<=\ba)|(?<=^A)|(?<=[^\s.][.!?]\sA))n?)\s+([a-zA-Z][\w'-]*)")
# Words that are written with a vowel and spoken with a consonant: as "you" in ewe, unit, urine, use; as "w" in one.
_CONSONANT_SOUND = re.compile(
    r"eu|ewe|ouija|one(?:s|self|ness|time)?\b|once\b|u\b|ubiq|ufo|ugan|uk[aeru]|ululat|uly|"
    r"unanim(?!a)|unary|uni(?!de[an]|gno|m[ampb]|n|rr|ron|ss)|ur[aeiou]|us[aeiu]|ut[aeiou]|uv(?:[aeu]|\b)",
    re.IGNORECASE,
)
# Words that are written with a consonant and spoken with a vowel, and letters on their own: an X-ray.
_VOWEL_SOUND = re.compile(r"hour|honest|honou?r|heir|[fhlmnrsx]\b(?!')", re.IGNORECASE)
_TWO_ARTICLES = re.compile(
    r"([aAtT](?:(?<=(?<![\w/])[at])|(?<=^[AT])|(?<=[^\s.][.!?]\s[AT]))(?:(?<=[aA])n?|(?<=[tT])he) (?:an?|the))\b"
    r"(?! la\b| posteriori\b| priori\b)"
)


def faults_of_text(text: str) -> Iterator[str]:
    """Yield the faults of spelling in a finished text, such as an item.

    They are brackets and braces, as slots that nothing fills leave them; spaces at an end or two in a row; a beginning
    without a capital; an end without a full stop, question mark or exclamation mark; "a" for "an" or the other way
    round; and two articles in a row.
    """
    if bracket := re.search(r"[{}\[\]]", text):
        yield f"{bracket[0]!r} is left over from a slot; fill it, or write it as {{NAME}}"
    if "  " in text or text != text.strip():
        yield "there is a space too many"
    if text[:1].islower():
        yield "it begins with a small letter; write a capital"
    if not re.search(r"[.?!][\"'”’)]*$", text):
        yield "it does not end in a full stop; write one"
    for wrong in dict.fromkeys(wrong_articles(text)):
        article, rest = wrong.split(maxsplit=1)
        right = f"{article + 'n' if article in ('a', 'A') else article[:1]} {rest}"
        yield f"{wrong!r} has the wrong article; write {right!r}"
    for two in dict.fromkeys(_TWO_ARTICLES.findall(text)):
        yield f"{two!r} is two articles in a row; take one out"


def capitalise_sentences(text: str) -> str:
    """Return a text with a capital at the start of every sentence."""
    begun = text[0].upper() + text[1:] if "a" <= text[:1] <= "z" else text
    return _FIRST_LETTER.sub(lambda match: match[1] + match[2].upper(), begun)


def wrong_articles(text: str) -> list[str]:
    """Return each "a" or "an" of a text, with the word after it, that does not fit how that word is spoken."""
    return [match[0] for match in _ARTICLE.finditer(text) if match[1].lower() != article_of(match[2])]


def article_of(word: str) -> str:
    """Return the indefinite article of a word, "a" or "an", by its spelling; abbreviations are taken for words."""
    if word[0].lower() in "aeiou":
        return "a" if _CONSONANT_SOUND.match(word) else "an"
    return "an" if _VOWEL_SOUND.match(word) else "a"
