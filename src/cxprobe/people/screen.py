"""What a person sees as text for a terminal: with styles where there are any, else with asterisks around the hits."""

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from cxprobe.people.sessions import Card, View

Block = tuple[int, Text]  # the spaces before a paragraph, and the paragraph


def has_styles(console: Console) -> bool:
    """Return whether styles would be seen."""
    return console.is_terminal and not console.is_dumb_terminal


def show_definition(view: View, console: Console) -> None:
    """Print what is labelled and what counts as positive."""
    positive = Text.assemble(("Positive: ", "bold"), view.positive)
    _show([(0, Text(view.construction, "bold")), (2, Text(view.gloss)), (2, positive)], console)


def show_card(view: View, console: Console) -> None:
    """Print the group that is shown, or that all are labelled."""
    if view.card is None:
        console.print(f"all are labelled: {view.progress}")
    else:
        _show(_blocks_of_card(view.card, view, has_styles(console)), console)


def _blocks_of_card(card: Card, view: View, styled: bool) -> Iterator[Block]:
    yield 0, Text.assemble((f"{view.shown} of {view.total}", "bold"), (f"   {view.progress}", "dim"))
    if card.label is not None:
        yield 0, Text(f"You have labelled it {card.label}; a new answer replaces that.", "italic")
    for who, label in card.said.items():
        yield 0, Text(f"{who}: {label}")
    size = "one sentence" if card.size == 1 else f"{card.size} sentences"
    more = f", {len(card.sentences)} are shown" if card.size > len(card.sentences) else ""
    yield 0, Text(f"{size} of {card.tags}{more}", "dim")
    for sentence in card.sentences:
        text = Text(f"{sentence.number}  ")
        for piece in sentence.pieces:
            marked = f"**{piece.text}**" if piece.form and not styled else piece.text
            text.append(marked, "bold reverse" if piece.form and styled else None)
        text.append(f"   ({sentence.label})" if sentence.label else "", "italic")
        yield 0, Text()
        yield 2, text
        if not any(piece.form for piece in sentence.pieces):
            yield 5, Text("no hit is marked: it was mined with another pattern.yaml or tagger", "dim")
        for name, beside in (("before: ", sentence.before), ("after: ", sentence.after), ("", sentence.source)):
            if beside:
                yield 5, Text(name + beside, "dim")


def _show(blocks: Iterator[Block] | list[Block], console: Console) -> None:
    """Print paragraphs: wrapped on a terminal, each on one line elsewhere."""
    for indent, text in blocks:
        if console.is_terminal:
            console.print(Padding(text, (0, 0, 0, indent)))
        else:
            console.print(Text(" " * indent) + text, soft_wrap=True)
