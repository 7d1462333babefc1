"""What the page shows, as JSON has it."""

from typing import Any

from cxprobe.labelling.cards import Card, Desk, Line, card_of, progress_of
from cxprobe.labelling.sessions import Reply


def state_of(reply: Reply, desk: Desk) -> dict[str, Any]:
    """Return all that the page shows after an answer.

    Sentences are cut into pieces where a hit begins and ends: a browser counts some characters twice, so places in the
    text would not be the same there.
    """
    session = reply.session
    card = card_of(session, desk)
    return {
        "construction": desk.construction.name,
        "gloss": desk.construction.gloss,
        "positive": desk.construction.positive,
        "who": session.who,
        "total": len(session.groups),
        "left": session.left,
        "progress": progress_of(session),
        "said": reply.said,
        "refused": reply.refused,
        "undo": bool(session.history),
        "shown": card.number if card else 0,
        "card": _card(card) if card else None,
    }


def _card(card: Card) -> dict[str, Any]:
    return {
        "kind": card.kind,
        "tags": card.tags,
        "size": card.size,
        "label": card.label,
        "said": [{"who": who, "label": label} for who, label in card.said],
        "sentences": [_sentence(line) for line in card.lines],
    }


def _sentence(line: Line) -> dict[str, Any]:
    return {
        "number": line.number,
        "pieces": _pieces(line),
        "before": line.around.before if line.around else "",
        "after": line.around.after if line.around else "",
        "source": line.source,
        "label": line.label,
    }


def _pieces(line: Line) -> list[dict[str, str]]:
    """Return the text in pieces; those of a hit have the name of its form, and the others none."""
    pieces, done = [], 0
    for hit in line.hits:
        pieces.append({"text": line.text[done : hit.start], "form": ""})
        pieces.append({"text": line.text[hit.start : hit.end], "form": hit.form})
        done = hit.end
    pieces.append({"text": line.text[done:], "form": ""})
    return [piece for piece in pieces if piece["text"]]
