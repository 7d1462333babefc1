"""Characters that a reader takes for others or does not see: a text that looks right with them is another text."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_SHOWN = 20  # characters of a text that a message shows on either side of what is wrong
_NOT_ASCII = re.compile(r"[^\n -~]")


def odd_characters(text: str, *, latin: bool = True) -> Iterator[tuple[int, str]]:
    """Find the characters of an English text that do not look like what they are.

    They are control characters but the line break, with the tab among them; what has no ink but the space, such as a
    zero-width space; and, where the text is ``latin``, combining marks, and letters and digits of other scripts.

    Args:
        text: The text.
        latin: Whether all letters should be Latin; names of people need not be.

    Yields:
        The position of each in the text, and what is wrong with it.
    """
    for match in _NOT_ASCII.finditer(text):
        if what := _oddity(match[0], latin):
            near = text[max(0, match.start() - _SHOWN) : match.end() + _SHOWN]
            yield match.start(), f"U+{ord(match[0]):04X} in {near!r} is {what}"


@lru_cache(maxsize=256)
def _oddity(character: str, latin: bool) -> str | None:
    kind, name = unicodedata.category(character), unicodedata.name(character, "without a name")
    if kind[0] == "L" or kind in ("Nd", "Nl"):
        foreign = latin and not name.startswith("LATIN ")
        return f"no Latin letter or digit ({name.lower()}); write the Latin one" if foreign else None
    if kind[0] == "M" and latin:  # other scripts are written with them
        return f"a separate mark ({name.lower()}); write the letter and its mark as one character"
    if kind[0] in "CZ":
        return f"a character that cannot be seen ({name.lower()}); take it out, or write a space"
    return None
