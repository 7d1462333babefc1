"""What a person sees as text for a terminal: with styles where there are any, else with asterisks around the hits."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from cxprobe.constructions.construction import Construction
from cxprobe.people.sessions import Desk, Session, progress_of, shown_sentences


def has_styles(console: Console) -> bool:
    """Return whether styles would be seen."""
    return console.is_terminal and not console.is_dumb_terminal


def show_definition(construction: Construction, console: Console) -> None:
    """Print what is labelled and what counts as positive."""
    _print(console, 0, Text(construction.name, "bold"))
    _print(console, 2, Text(construction.gloss))
    _print(console, 2, Text.assemble(("Positive: ", "bold"), construction.positive))


def show_group(session: Session, desk: Desk, console: Console) -> None:
    """Print the group that is shown, or that all are labelled."""
    group, position = session.current, session.position
    if group is None or position is None:
        console.print(f"all are labelled: {progress_of(session, desk)}")
        return
    target, sentences = (group.kind, group.target), shown_sentences(session, desk)
    number = f"{position + 1} of {len(session.groups)}"
    _print(console, 0, Text.assemble((number, "bold"), (f"   {progress_of(session, desk)}", "dim")))
    if label := session.given.get(target):
        _print(console, 0, Text(f"You have labelled it {label}; a new answer replaces that.", "italic"))
    for who, label in desk.disputes.get(target, {}).items():
        _print(console, 0, Text(f"{who}: {label}"))
    size = "one sentence" if len(group.sentences) == 1 else f"{len(group.sentences)} sentences"
    more = f", {len(sentences)} are shown" if len(group.sentences) > len(sentences) else ""
    _print(console, 0, Text(f"{size} of {group.tags}{more}", "dim"))
    styled = has_styles(console)
    for sentence in sentences:
        text = Text(f"{sentence.number}  ")
        for piece in sentence.pieces:
            marked = f"**{piece.text}**" if piece.form and not styled else piece.text
            text.append(marked, "bold reverse" if piece.form and styled else None)
        text.append(f"   ({sentence.label})" if sentence.label else "", "italic")
        console.print()
        _print(console, 2, text)
        if not any(piece.form for piece in sentence.pieces):
            _print(console, 5, Text("no hit is marked: it was mined with another pattern.yaml or tagger", "dim"))
        _print(console, 5, Text(sentence.source, "dim"))


def _print(console: Console, indent: int, text: Text) -> None:
    """Print a paragraph: wrapped on a terminal, on one line elsewhere."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, indent)))
    else:
        console.print(Text(" " * indent) + text, soft_wrap=True)
