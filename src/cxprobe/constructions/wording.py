"""Premises with marked slots, and the templates that take their words up again in other forms."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cxprobe.english import capitalise_first

# [SBJ:she Maria]: a slot, a note, and the words that fill it.
_MARK = re.compile(r"\[(?P<slot>[A-Z][A-Z0-9]*)(?::(?P<note>[^\s\]]+))? (?P<words>[^\[\]]+)\]")
# {SBJ} or {SBJ:their}: the words of a slot, or a form that they decide.
_PLACE = re.compile(r"\{(?P<slot>[A-Z][A-Z0-9]*)(?::(?P<form>[A-Za-z]+))?\}")

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
_VERB_FORMS = ("VB", "VBD", "VBG", "VBN")  # Penn Treebank tags


@dataclass(frozen=True)
class Phrase:
    """The words that fill a slot.

    Attributes:
        words: As they are written in mid-sentence.
        note: For a noun phrase the pronoun that refers to it (it also decides on agreement), for a verb
            its lemma; None if neither is given.
    """

    words: str
    note: str | None = None

    def form(self, name: str) -> str:
        """Return the phrase in another form.

        Args:
            name: "they", "them", "their" or "was" for what the pronoun of a noun phrase is in that place; "VB",
                "VBD", "VBG" or "VBN" (Penn Treebank tags) to inflect the first word of a verb phrase.

        Raises:
            ValueError: There is no such form, or it cannot be known without a note.
        """
        if name in _PRONOUN_FORMS:
            if self.note not in _PARADIGM:
                raise ValueError(
                    f"'{name}' of '{self.words}' needs the pronoun that refers to it: [SLOT:<pronoun> {self.words}] "
                    f"with one of {', '.join(_PARADIGM)}"
                )
            return _PARADIGM[self.note][_PRONOUN_FORMS.index(name)]
        if name in _VERB_FORMS:
            verb, *rest = self.words.split(" ")
            return " ".join([_inflect(verb, self.note, name), *rest])
        raise ValueError(f"form '{name}' is unknown (allowed: {', '.join((*_PRONOUN_FORMS, *_VERB_FORMS))})")


def read_marks(marked: str) -> tuple[str, dict[str, Phrase]]:
    """Return a sentence without its marks, and what fills each slot.

    Raises:
        ValueError: A slot is marked twice, or a bracket is not part of a mark.
    """
    phrases: dict[str, Phrase] = {}
    for mark in _MARK.finditer(marked):
        if mark["slot"] in phrases:
            raise ValueError(f"{marked!r} marks {mark['slot']} twice")
        phrases[mark["slot"]] = Phrase(mark["words"], mark["note"])
    text = _MARK.sub(lambda mark: mark["words"], marked)
    if set(text) & set("[]{}"):
        raise ValueError(
            f"{marked!r} has a bracket that is not part of a mark; a mark is [SLOT words] or [SLOT:note words]"
        )
    return capitalise_first(text), phrases


def slots_of(template: str) -> set[str]:
    """Return the slots that a template takes up."""
    return {place["slot"] for place in _PLACE.finditer(template)}


def fill(template: str, phrases: Mapping[str, Phrase]) -> str:
    """Return the sentence that a template and the phrases make.

    Raises:
        ValueError: A slot of the template is not filled, a form cannot be made, or a brace is not part of a place.
    """

    def words(place: re.Match[str]) -> str:
        if place["slot"] not in phrases:
            known = ", ".join(sorted(phrases)) or "none"
            raise ValueError(f"{template!r} asks for {place['slot']}, which nothing fills (filled: {known})")
        phrase = phrases[place["slot"]]
        return phrase.words if place["form"] is None else phrase.form(place["form"])

    text = _PLACE.sub(words, template)
    if set(text) & set("[]{}"):
        raise ValueError(f"{template!r} has a brace that is not part of a place; a place is {{SLOT}} or {{SLOT:form}}")
    return capitalise_first(text)


def _inflect(verb: str, lemma: str | None, tag: str) -> str:
    # Imported here, since it imports spaCy and PyTorch, and what reads constructions seldom inflects.
    from lemminflect import getInflection, getLemma

    if lemma is None:
        lemmas = getLemma(verb, upos="VERB", lemmatize_oov=False)
        if len(lemmas) != 1:
            raise ValueError(
                f"the verb '{verb}' is a form of {' or of '.join(lemmas) or 'none that is known'}; give its lemma: "
                f"[SLOT:<lemma> {verb} ...]"
            )
        lemma = lemmas[0]
    if tag == "VB":
        return str(lemma)
    forms = getInflection(lemma, tag=tag)
    return str(verb if verb in forms else forms[0])
