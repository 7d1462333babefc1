"""The little of English spelling that putting sentences together needs: capitals, and a or an."""

import re

_FIRST_LETTER = re.compile(r"(?:^|(?<=[.!?]\s))[a-z]")
# A capital A in the middle of a sentence is a name.
_ARTICLE = re.compile(r"(\ban?|(?<=[.!?]\s)An?|^An?)\s+([a-zA-Z][\w'-]*)")
# What is written with a vowel and spoken with a consonant, and the other way round.
_CONSONANT_SOUND = re.compile(r"(?:eu|ew|one\b|one-|once|u[bfkst][aeiou]|uni(?!n|m|d)|uranium|utensil)", re.IGNORECASE)
_VOWEL_SOUND = re.compile(r"(?:hour|honest|honour|honor|heir)", re.IGNORECASE)


def capitalise(text: str) -> str:
    """Return a text with a capital at the start of every sentence."""
    return _FIRST_LETTER.sub(lambda letter: letter[0].upper(), text)


def wrong_articles(text: str) -> list[str]:
    """Return each "a" or "an" of a text, with the word after it, that does not fit how that word is spoken."""
    return [
        match[0] for match in _ARTICLE.finditer(text) if (match[1].lower() == "an") != starts_with_vowel_sound(match[2])
    ]


def starts_with_vowel_sound(word: str) -> bool:
    """Return whether a word takes "an", told from its spelling."""
    if word[0].lower() in "aeiou":
        return not _CONSONANT_SOUND.match(word)
    return bool(_VOWEL_SOUND.match(word))
