"""Replies of one word out of several allowed ones. Nothing is guessed."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from json import dumps
from typing import NamedTuple, Protocol

import pandas as pd
from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML

from cxprobe.constructions.people import People, Row
from cxprobe.errors import DataError
from cxprobe.pairs.frames import PairsFile, faults_of_sentences, fill
from cxprobe.prompts.params import DIAGNOSTIC_VERDICTS, INSTANCE_VERDICTS, WriteFrames
from cxprobe.seeding import generator_for

_NOT_LETTERS = re.compile(r"[^a-z]+")


def read_word(reply: str, allowed: Sequence[str]) -> str | None:
    """Return the word that a reply's last line consists of, or None if that is not an allowed word.

    Capitals, punctuation, markup and a label ("Answer:") around the word do not matter. A line with more than that
    ("not appropriate", "appropriate or inappropriate") has none.

    Args:
        reply: The whole reply; earlier lines may contain the model's reasoning.
        allowed: The allowed words, in lower case.
    """
    lines = [line for line in reply.lower().splitlines() if _NOT_LETTERS.sub("", line)]
    words = _NOT_LETTERS.sub(" ", lines[-1]).split() if lines else []
    if words[:1] in (["answer"], ["verdict"]):
        words = words[1:]
    return words[0] if len(words) == 1 and words[0] in allowed else None


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


class Exchange(NamedTuple):
    """A question and what came of it.

    Attributes:
        id: Names the question: its round, the place of the proposal, and a number.
        question: The whole of it.
        reply: The raw reply, or None if the request failed.
        error: Why it failed, or "".
    """

    id: str
    question: str
    reply: str | None
    error: str


class Prompt(Protocol):
    """The words of the three questions."""

    def ask_for_frames(
        self, about: Mapping[str, str], templates: list[str], slots: dict[str, str], examples: list[str], number: int
    ) -> str:
        """Return the question that asks for frames."""

    def ask_about_instance(self, about: Mapping[str, str], sentence: str) -> str:
        """Return the question whose answer is one of `cxprobe.params.INSTANCE_VERDICTS`."""

    def ask_about_diagnostic(self, sentence: str, statement: str) -> str:
        """Return the question whose answer is one of `cxprobe.params.DIAGNOSTIC_VERDICTS`."""


@dataclass(frozen=True)
class Written:
    """What a model has written.

    Attributes:
        proposals: Every frame, with the reason why it was kept or rejected.
        exchanges: All that was asked and said.
    """

    proposals: Sequence[Proposal]
    exchanges: Sequence[Exchange]

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of requests, failed ones, proposals, kept ones, and those rejected for each reason."""
        reasons = self._reasons
        return {
            "requests": len(self.exchanges),
            "requests_failed": sum(one.reply is None for one in self.exchanges),
            "proposals": len(self.proposals),
            "kept": reasons[KEPT],
            **{f"rejected_{reason}": number for reason, number in reasons.items() if reason != KEPT},
        }

    @property
    def replies(self) -> pd.DataFrame:
        """One row a question: id, question, reply, failed and error."""
        rows = [(one.id, one.question, one.reply or "", one.reply is None, one.error) for one in self.exchanges]
        return pd.DataFrame(rows, columns=["id", "question", "reply", "failed", "error"])

    @property
    def reasons(self) -> pd.DataFrame:
        """One row a frame: proposal (as it was written), reason and detail."""
        rows = [(one.text, one.reason, one.detail) for one in self.proposals]
        return pd.DataFrame(rows, columns=["proposal", "reason", "detail"])

    @property
    def reason_counts(self) -> pd.DataFrame:
        """One row a reason, the most frequent first: reason and proposals (how many)."""
        return pd.DataFrame(self._reasons.most_common(), columns=["reason", "proposals"])

    @property
    def _reasons(self) -> Counter[str]:
        return Counter(proposal.reason for proposal in self.proposals)


@dataclass(frozen=True)
class FrameWriter:
    """Asks a model for frames, and about each frame.

    Attributes:
        name: The construction's folder.
        about: The name, gloss and positive of its construction.yaml.
        content: Its pairs, which test meaning and have a context in every variant.
        people: The nouns.
        prompt: The words of the questions.
        ask: Puts questions, id -> text, and returns an exchange for each, in their order.
    """

    name: str
    about: Mapping[str, str]
    content: PairsFile
    people: People
    prompt: Prompt
    ask: Callable[[Mapping[str, str]], list[Exchange]]

    def write(self, settings: WriteFrames, seed: int) -> Written:
        """Ask for frames, check them, and ask about those that are left whether they are good ones.

        Args:
            settings: How many requests, frames and examples, and which instances are accepted.
            seed: The project's seed.

        Source:
            Oba & Sugawara 2026 for the two filters.
        """
        written = self.ask(
            {f"write/{request}": self._request(request, settings, seed) for request in range(settings.requests)}
        )
        texts = [text for one in written for text in read_proposals(one.reply or "")]
        proposals = check_proposals(texts, self.content, self.people)
        first = self._ask_about_each("instance", proposals, self._about_instance)
        proposals = filter_proposals(proposals, self._verdicts(first, INSTANCE_VERDICTS), settings.accepted)
        second = self._ask_about_each("diagnostic", proposals, self._about_diagnostics)
        proposals = filter_proposals(proposals, self._verdicts(second, DIAGNOSTIC_VERDICTS), DIAGNOSTIC_VERDICTS[:1])
        return Written(proposals, [*written, *first, *second])

    def text_of(self, written: Written, llm: str) -> str:
        """Return the frames that were kept as YAML for a person to read, see `frames_text`.

        Args:
            written: What `write` returned.
            llm: The model's slug.
        """
        kept = [proposal.row for proposal in written.proposals if proposal.reason == KEPT]
        number = f"{len(kept)} of {len(written.proposals)} frames"
        head = [
            f"{number} that {llm} wrote for {self.name}, after both filters. No person",
            "has read them yet: read each with what it says in every variant, and move those that are right to the",
            f"frames of constructions/{self.name}/pairs.yaml.",
        ]
        return frames_text(head, self.content, kept, self.people)

    def _request(self, request: int, settings: WriteFrames, seed: int) -> str:
        """Return a request for frames; each shows other examples, so that the replies can differ."""
        rng = generator_for(seed, "write_frames", self.name, request)
        places = rng.permutation(len(self.content.frames))[: settings.examples]
        examples = [dumps(self.content.frames[place], ensure_ascii=False) for place in places]
        slots = {slot: self.content.slots[slot].gloss for slot in self.content.frames[0]}
        templates = templates_of(self.content, self.people)
        return self.prompt.ask_for_frames(self.about, templates, slots, examples, settings.per_request)

    def _about_instance(self, proposal: Proposal) -> Iterator[str]:
        shown = show(self.content, proposal.row, self.people).values()
        for context in dict.fromkeys(one.context for one in shown):
            yield self.prompt.ask_about_instance(self.about, context)

    def _about_diagnostics(self, proposal: Proposal) -> Iterator[str]:
        for shown in show(self.content, proposal.row, self.people).values():
            yield self.prompt.ask_about_diagnostic(*shown)

    def _ask_about_each(
        self, what: str, proposals: Sequence[Proposal], questions: Callable[[Proposal], Iterator[str]]
    ) -> list[Exchange]:
        """Ask about the proposals that are left; an id has the proposal's place among all."""
        texts = {
            f"{what}/{place}/{number}": text
            for place, proposal in enumerate(proposals)
            if proposal.reason == KEPT
            for number, text in enumerate(questions(proposal))
        }
        return self.ask(texts) if texts else []

    def _verdicts(self, exchanges: Sequence[Exchange], allowed: Sequence[str]) -> list[Verdict]:
        return [
            Verdict(int(one.id.split("/")[1]), "failed", f"no reply: {one.error}")
            if one.reply is None
            else Verdict(int(one.id.split("/")[1]), read_word(one.reply, allowed) or "unparsed", one.reply)
            for one in exchanges
        ]
