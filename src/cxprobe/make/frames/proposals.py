"""Frames that somebody else has written, such as a language model: read, checked against a pairs.yaml, and shown.

A proposal is a row of the frames. What is wrong with it is a reason that can be counted and a detail that can be read.
Nothing is corrected and nothing is discarded.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML

from cxprobe.constructions import PairsFile, People, Row, faults_of_sentences, fill
from cxprobe.errors import DataError

KEPT = "kept"
_ROW = TypeAdapter(Row)


@dataclass(frozen=True)
class Proposal:
    """A frame that was proposed.

    Attributes:
        text: As it was written.
        row: Slot -> words; empty if it could not be read.
        reason: "kept", or why it was rejected: see `check_proposals`, or the verdict of a filter.
        detail: What exactly is wrong; "" for what was kept.
    """

    text: str
    row: Row
    reason: str
    detail: str


class Verdict(NamedTuple):
    """What was said of a proposal.

    Attributes:
        place: Its place among all proposals, from 0.
        word: The verdict.
        said: The words that it was read from.
    """

    place: int
    word: str
    said: str


class Shown(NamedTuple):
    """A proposal in a variant's words.

    Attributes:
        context: The sentence with the construction.
        statement: The right diagnostic.
    """

    context: str
    statement: str


def read_proposals(reply: str) -> list[str]:
    """Return the JSON objects of a text as they are written; one that is broken or cut off ends with its line.

    They may be one per line or in a list, with anything before, between and after them.
    """
    decoder = json.JSONDecoder()
    found: list[str] = []
    start = reply.find("{")
    while start >= 0:
        try:
            stop = decoder.raw_decode(reply, start)[1]
        except json.JSONDecodeError:
            line_end = reply.find("\n", start)
            stop = line_end if line_end >= 0 else len(reply)
        found.append(reply[start:stop])
        start = reply.find("{", stop)
    return found


def check_proposals(texts: Sequence[str], content: PairsFile, people: People) -> list[Proposal]:
    """Hold what was written against a construction's pairs.

    Args:
        texts: The proposals, each as JSON.
        content: The pairs whose frames they may join.
        people: The nouns and pronouns.

    Returns:
        One proposal a text, in order. Its reason is "kept"; "unreadable" if it is not a mapping of slots to words;
        "slots" if these are not the slots of the frames; "repeated" if it is a frame already, or was written before,
        capitals aside; or "faulty" if the members of a pair would not differ, or an article would be wrong.
    """
    known = {_key(row): f"is number {place} of the frames in pairs.yaml" for place, row in enumerate(content.frames)}
    proposals = []
    for place, text in enumerate(texts):
        proposal = _read(text)
        if proposal.reason == KEPT:
            proposal = _checked(proposal, content, people, known)
        if proposal.reason == KEPT:
            known[_key(proposal.row)] = f"was written before, as number {place}"
        proposals.append(proposal)
    return proposals


def filter_proposals(
    proposals: Sequence[Proposal], verdicts: Sequence[Verdict], accepted: Sequence[str]
) -> list[Proposal]:
    """Return all proposals, in their order; the first verdict that is not accepted rejects its proposal.

    Args:
        proposals: Those that were rejected before stay as they are.
        verdicts: Any number of them about each proposal that is left, but at least one.
        accepted: The words that reject nothing.

    Raises:
        DataError: A proposal that is left has no verdict: nothing is kept unseen.
    """
    unseen = {place for place, one in enumerate(proposals) if one.reason == KEPT} - {one.place for one in verdicts}
    if unseen:
        raise DataError(f"proposal {min(unseen)} has no verdict ({len(unseen)} such); nothing is kept unseen")
    filtered = list(proposals)
    for verdict in verdicts:
        if verdict.word not in accepted and filtered[verdict.place].reason == KEPT:
            filtered[verdict.place] = replace(proposals[verdict.place], reason=verdict.word, detail=verdict.said)
    return filtered


def show(content: PairsFile, row: Row, people: People) -> dict[str, Shown]:
    """Return what a frame says in each variant: of the first nouns of the first noun type, with the first fillers."""
    kind = next(iter(people.types.values()))
    values = {slot: words for rows in content.fillers.values() for slot, words in rows[0].items()}
    values |= people.pronouns[kind.pronouns[0]] | row
    values |= dict(zip(content.people, kind.nouns, strict=False))
    return {name: Shown(*fill(variant, values)[:2]) for name, variant in content.variants.items()}


def templates_of(content: PairsFile, people: People) -> list[str]:
    """Return the sentence and the right diagnostic of each variant, with their slots in braces."""
    slots = {*content.slots, *content.people, *(slot for row in people.pronouns.values() for slot in row)}
    echo = {slot: f"{{{slot}}}" for slot in slots}
    return [" ".join(fill(variant, echo)[:2]).strip() for variant in content.variants.values()]


def frames_text(head: Sequence[str], content: PairsFile, rows: Sequence[Row], people: People) -> str:
    """Return frames as YAML that can be moved into a pairs.yaml, above each what it says.

    Args:
        head: Lines of a comment.
        content: The pairs whose frames they may join.
        rows: The frames.
        people: The nouns and pronouns.
    """
    lines = [f"# {line}" for line in head]
    lines.append("frames:" if rows else "frames: []")
    for row in rows:
        lines += [f"  # {' '.join(shown)}" for shown in show(content, row, people).values()]
        lines.append(f"  - {_flow(row)}")
    return "\n".join(lines) + "\n"


def _read(text: str) -> Proposal:
    try:
        return Proposal(text, _ROW.validate_python(json.loads(text)), KEPT, "")
    except json.JSONDecodeError as fault:
        return Proposal(text, {}, "unreadable", f"not valid JSON: {fault}")
    except ValidationError as fault:
        first = fault.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        return Proposal(text, {}, "unreadable", f"{place}: {first['input']!r} is not a slot with its words")


def _checked(proposal: Proposal, content: PairsFile, people: People, known: dict[tuple[str, ...], str]) -> Proposal:
    wanted, found = content.frames[0].keys(), proposal.row.keys()
    if found != wanted:
        missing, unknown = sorted(wanted - found), sorted(found - wanted)
        return replace(proposal, reason="slots", detail=f"missing slots {missing}, unknown slots {unknown}")
    row = {slot: proposal.row[slot] for slot in wanted}  # in the order of the file
    if _key(row) in known:
        return replace(proposal, reason="repeated", detail=known[_key(row)])
    faults = [what for _, what in faults_of_sentences(content.model_copy(update={"frames": [row]}), people)]
    if faults:
        return replace(proposal, reason="faulty", detail="; ".join(dict.fromkeys(faults)))
    return replace(proposal, row=row)


def _key(row: Row) -> tuple[str, ...]:
    return tuple(row[slot].lower() for slot in sorted(row))


def _flow(row: Row) -> str:
    yaml = YAML()
    yaml.default_flow_style = True
    yaml.width = 10_000
    text = StringIO()
    yaml.dump(dict(row), text)
    return text.getvalue().strip()
