"""A card as text for a terminal: with styles where the terminal has them, with asterisks around the hits where not."""

from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from cxprobe.constructions.construction import Construction
from cxprobe.people.cards import Card, Line


class Block(NamedTuple):
    """A paragraph of the screen, indented by so many spaces."""

    indent: int
    text: Text


def show(blocks: Iterator[Block], console: Console) -> None:
    """Print paragraphs: wrapped on a terminal, each on one line elsewhere."""
    for indent, text in blocks:
        if console.is_terminal:
            console.print(Padding(text, (0, 0, 0, indent)))
        else:
            console.print(Text(" " * indent) + text, soft_wrap=True)


def is_plain(console: Console) -> bool:
    """Return whether styles would not be seen."""
    return not console.is_terminal or console.is_dumb_terminal


def blocks_of_definition(construction: Construction) -> Iterator[Block]:
    """Yield what is labelled and what counts as positive."""
    yield Block(0, Text(construction.name, "bold"))
    yield Block(2, Text(construction.gloss))
    yield Block(2, Text.assemble(("Positive: ", "bold"), construction.positive))


def blocks_of_card(card: Card, total: int, progress: str, *, plain: bool) -> Iterator[Block]:
    """Yield a card.

    Args:
        card: What is shown.
        total: How many groups there are.
        progress: What `progress_of` says.
        plain: Whether hits are marked by asterisks.
    """
    yield Block(0, Text.assemble((f"{card.number} of {total}", "bold"), (f"   {progress}", "dim")))
    if card.label is not None:
        yield Block(0, Text(f"You have labelled it {card.label}; a new answer replaces that.", "italic"))
    for who, label in card.said:
        yield Block(0, Text(f"{who}: {label}"))
    of_them = "one sentence" if card.size == 1 else f"{card.size} sentences"
    more = f", {len(card.lines)} are shown" if card.size > len(card.lines) else ""
    yield Block(0, Text(f"{of_them} of {card.tags}{more}", "dim"))
    for line in card.lines:
        yield from _blocks_of_line(line, plain)


def marked(line: Line) -> str:
    """Return a sentence with asterisks around its hits."""
    text, done = "", 0
    for hit in line.hits:
        text += f"{line.text[done : hit.start]}**{line.text[hit.start : hit.end]}**"
        done = hit.end
    return text + line.text[done:]


def _blocks_of_line(line: Line, plain: bool) -> Iterator[Block]:
    sentence = Text(marked(line) if plain else line.text)
    if not plain:
        for hit in line.hits:
            sentence.stylize("bold reverse", hit.start, hit.end)
    own = f"   ({line.label})" if line.label else ""
    yield Block(0, Text())
    yield Block(2, Text(f"{line.number}  ") + sentence + Text(own, "italic"))
    if not line.hits:
        yield Block(5, Text("no hit is marked: it was mined with another pattern.yaml or tagger", "dim"))
    if line.around is not None:
        for where, text in zip(("before: ", "after: "), line.around, strict=True):
            if text:
                yield Block(5, Text(where + text, "dim"))
    if line.source:
        yield Block(5, Text(line.source, "dim"))
