"""Templates of scenarios: find their slots, and fill them as English text."""

import re
from collections.abc import Mapping

from cxprobe.english import article_of, capitalise_sentences

WORD_MASK = "[MASK]"
SLOT = re.compile(r"\{([A-Z]+[1-9][0-9]*)\}")
BRACES = re.compile(r"\{[^{}]*\}|[{}]")

_ARTICLE = re.compile(r"\b([Aa])\(n\) (?=[^\w\s]*(\S+))")  # the word after quotation marks and brackets


def template_slots(template: str) -> tuple[str, ...]:
    """Return the slots of a template, each once, in the order in which they first occur."""
    return tuple(dict.fromkeys(SLOT.findall(template)))


def form_and_number(slot: str) -> tuple[str, int]:
    """Return the form of a slot's words and the number of their row in an item, from 1: ADJ2 -> ADJ, 2."""
    form = slot.rstrip("0123456789")
    return form, int(slot.removeprefix(form))


def spell(template: str, words: Mapping[str, str]) -> str:
    """Fill the slots of a template, choose "a" or "an" for a(n), and begin every sentence with a capital.

    Args:
        template: Text with slots, as {NAME1}.
        words: Slot -> word; those that the template does not have are ignored.
    """
    filled = SLOT.sub(lambda slot: words[slot[1]], template)
    chosen = _ARTICLE.sub(lambda match: match[1] + article_of(match[2])[1:] + " ", filled)
    return capitalise_sentences(chosen)
