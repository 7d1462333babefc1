"""Books as Standard Ebooks keeps them: an EPUB's source, chapter by chapter, as runs of whole paragraphs."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from cxprobe.errors import DataError

RECORD_WORDS = 400  # a record is closed once it has so many words
_PARAGRAPHS = {"p", "li", "dt", "dd"}
_NO_PROSE = {"head", "header", "h1", "h2", "h3", "h4", "h5", "h6", "hgroup", "table", "figure", "script", "style"}
# What a section or block is called (epub:type) that does not belong to the author's running text.
_NO_TEXT = {
    "colophon", "copyright-page", "dedication", "endnotes", "epigraph", "halftitlepage", "imprint", "titlepage", "toc",
    "z3998:dramatis-personae",
}  # fmt: skip
_IMPLIED_CLOSE = {"br", "hr", "img", "link", "meta"}
_SPACES = dict.fromkeys(map(ord, "\u200a\u2060\ufeff"))  # hair spaces and word joiners are typography


def read_book(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the records of a book.

    Args:
        folder: The EPUB's source (``src/epub``), with content.opf and text/*.xhtml.

    Yields:
        <chapter file>/<part> and the text: paragraphs of one chapter, joined by line breaks.

    Raises:
        DataError: There is no content.opf.
    """
    package = folder / "content.opf"
    if not package.is_file():
        raise DataError(f"{package} is not there; a book's folder is the src/epub of its repository")
    for chapter in _spine(package.read_text(encoding="utf-8")):
        path = folder / chapter
        for part, text in enumerate(_join(paragraphs(path.read_text(encoding="utf-8")))):
            yield f"{path.stem}/{part}", text


def paragraphs(xhtml: str) -> list[str]:
    """Return the paragraphs of a chapter, without headings, epigraphs, notes, tables and figures."""
    parser = _Chapter()
    parser.feed(xhtml)
    parser.close()
    return [text for raw in parser.paragraphs if (text := " ".join(raw.translate(_SPACES).split()))]


class _Package(HTMLParser):
    """The order of the chapters."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}
        self.order: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a file of the manifest, or its place in the spine."""
        values = dict(attrs)
        if tag == "item" and values.get("media-type") == "application/xhtml+xml":
            self.files[values.get("id") or ""] = values.get("href") or ""
        if tag == "itemref":
            self.order.append(values.get("idref") or "")


def _spine(opf: str) -> list[str]:
    package = _Package()
    package.feed(opf)
    return [package.files[name] for name in package.order if name in package.files]


class _Chapter(HTMLParser):
    """The text of the paragraphs of a chapter."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self._skipped: list[str] = []  # open elements from the outermost one that is left out
        self._open = 0  # paragraphs that are open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a paragraph, or what is left out."""
        if tag in _IMPLIED_CLOSE:
            self._add(" " if tag == "br" else "")
            return
        types = set((dict(attrs).get("epub:type") or "").split())
        # A reference to a note is a number that nobody says.
        if self._skipped or tag in _NO_PROSE or types & _NO_TEXT or "noteref" in types:
            self._skipped.append(tag)
        elif tag in _PARAGRAPHS:
            if not self._open:
                self.paragraphs.append("")
            self._open += 1

    def handle_startendtag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        """Take an empty element; only a line break leaves a trace."""
        if tag == "br":
            self._add(" ")

    def handle_endtag(self, tag: str) -> None:
        """End a paragraph, or what is left out."""
        if tag in _IMPLIED_CLOSE:
            return
        if self._skipped:
            self._skipped.pop()
        elif tag in _PARAGRAPHS and self._open:
            self._open -= 1
            self._add(" ")

    def handle_data(self, data: str) -> None:
        """Take text."""
        self._add(data)

    def _add(self, text: str) -> None:
        if self._open and not self._skipped:
            self.paragraphs[-1] += text


def _join(texts: list[str]) -> Iterator[str]:
    """Yield runs of whole paragraphs, each closed once it has `RECORD_WORDS` words."""
    run: list[str] = []
    words = 0
    for text in texts:
        run.append(text)
        words += len(re.findall(r"\S+", text))
        if words >= RECORD_WORDS:
            yield "\n".join(run)
            run, words = [], 0
    if run:
        yield "\n".join(run)
