"""The running English of documentation: no code, no parameter lists, no tables, no markup."""

import re
from collections.abc import Iterator
from inspect import cleandoc

FEWEST_WORDS = 4
FEWEST_WORDS_OPEN = 10  # of a sentence without a full stop, so that headings are not kept
# The share of characters of running text that are letters, digits, spaces or common punctuation.
LEAST_PLAIN = 0.9

_KEPT = "note|warning|tip|important|caution|attention|hint|seealso"
_FENCE = re.compile(r"^([ \t]*)(```|~~~).*?(?:^[ \t]*\2[^\n]*$|\Z)", re.M | re.S)
_DIRECTIVE = re.compile(
    rf"^([ \t]*)\.\. (?!{_KEPT})[^\n]*(?:\n\1[ \t]+[^\n]*|\n[ \t]*(?=\n))*",
    re.M,
)
_ADMONITION = re.compile(rf"^[ \t]*\.\. (?:{_KEPT})::[ \t]*", re.M)
_LITERAL = re.compile(r"::[ \t]*\n[ \t]*\n((?:[ \t]+[^\n]*\n?|[ \t]*\n)+)")
_DOCTEST = re.compile(r"^[ \t]*(?:>>>|In \[\d*\]:|\$ )[^\n]*(?:\n[ \t]*\S[^\n]*)*", re.M)
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_BULLET = re.compile(r"^(?:[-*+•>]|\(?\d{1,2}[.)])\s+")
_PARAMETER = re.compile(r"^(?::[a-z]+ )?[*`]{0,3}\w[\w.*`]{0,40}\s*(?:\([^)]*\))?[*`]{0,3}\s*(?::|--|–)\s+")
_PARAMETER_LINE = re.compile(r"^(?::[a-z]+ \w|[*`]{0,3}\w[\w.*`]*\s*(?:\([^)]*\)[*`]{0,3}\s*:|\s:\s))")
_TYPE = re.compile(r"^(?:[\w.]+(?:\[[^\]]*\])?(?:, | or | \| )?){1,4}(?:, (?:optional|default\S*).*)?$")
_NOT_PROSE = re.compile(r"[{}|\\]|==|->|=>|[=+_~^-]{3}|</|^\W|^https?:")
_PLAIN = re.compile(r"[A-Za-z0-9 ,.;:'’“”\"()!?-]")
_MARKUP = (
    (re.compile(r":math:`\s*\\?(\w+)\s*`"), r"\1"),  # a single symbol reads like a word
    (re.compile(r":[a-zA-Z:+-]+:`~?([^`<]*?)(?:\s*<[^>`]*>)?`"), r"\1"),  # :class:`~package.Name`
    (re.compile(r"`([^`<]*?)\s*<[^>`]*>`_{0,2}"), r"\1"),  # `text <url>`_
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),  # [text](url)
    (re.compile(r"\s*\[[#\w]{1,12}\]_"), ""),  # [1]_
    (re.compile(r"`{1,2}([^`]*)`{1,2}_{0,2}"), r"\1"),
    (re.compile(r"\*{1,3}(\S(?:[^*]*\S)?)\*{1,3}"), r"\1"),
)


def prose(text: str) -> Iterator[str]:
    """Yield the paragraphs of running English in a docstring or a document in Markdown or reStructuredText.

    A paragraph is a run of lines of one indentation, without the name and the type that begin an item of a list of
    parameters. It is running English if it has `FEWEST_WORDS` words or more, ends as a sentence does (or is long), and
    has few signs that only code, tables and formulas have.
    """
    bare = cleandoc(text)
    for expression in (_FENCE, _DIRECTIVE, _DOCTEST):
        bare = expression.sub("\n", bare)
    bare = _LITERAL.sub(":\n\n", _ADMONITION.sub("", bare))
    for paragraph in _PARAGRAPHS.split(bare):
        for lines in _items(paragraph.splitlines()):
            sentence = _PARAMETER.sub("", _plain(" ".join(lines)))
            if _is_prose(sentence):
                yield sentence


def _items(lines: list[str]) -> Iterator[list[str]]:
    """Cut the lines of a paragraph where a list item begins or the indentation changes."""
    item: list[str] = []
    indentation = -1
    for line in lines:
        stripped = line.strip()
        bullet = _BULLET.match(stripped)
        text = stripped[bullet.end() :] if bullet else stripped
        margin = len(line) - len(line.lstrip()) + (bullet.end() if bullet else 0)
        if item and (bullet or margin != indentation or _PARAMETER_LINE.match(text)):
            yield item
            item = []
        indentation = margin
        item.append(text)
    if item:
        yield item


def _plain(text: str) -> str:
    for expression, replacement in _MARKUP:
        text = expression.sub(replacement, text)
    return " ".join(text.split())


def _is_prose(text: str) -> bool:
    words = text.count(" ") + 1
    return (
        words >= (FEWEST_WORDS if text[-1:] in ".!?:)" else FEWEST_WORDS_OPEN)
        and not _TYPE.match(text)
        and not _NOT_PROSE.search(text)
        and len(_PLAIN.findall(text)) >= LEAST_PLAIN * len(text)
    )
