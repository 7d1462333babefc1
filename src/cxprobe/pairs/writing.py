"""New frames of minimal pairs: written by a model, checked and filtered by its verdicts, or drafted from a corpus."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import NamedTuple

import pandas as pd
from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML

from cxprobe.constructions.people import People, Row
from cxprobe.pairs.frame_prompts import WritingPrompt
from cxprobe.pairs.frames import VERB, PairsFile, faults_of_pairs, fill_variant
from cxprobe.pairs.frequency import lemma_of
from cxprobe.pairs.params import DIAGNOSTIC_VERDICTS, INSTANCE_VERDICTS, WriteFrames
from cxprobe.seeding import generator_for

_KEPT = "kept"
UNFILLED = "..."  # stands for what a person fills in
_NOT_LETTERS = re.compile(r"[^a-z]+")
_ROW = TypeAdapter(Row)


class Proposal(NamedTuple):
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


def read_proposals(reply: str) -> list[str]:
    """Return the JSON objects of a text as they are written; one that is broken or cut off ends with its line.

    They may be one per line or in a list, with anything before, between and after them.
    """
    decoder = json.JSONDecoder()
    objects: list[str] = []
    start = reply.find("{")
    while start >= 0:
        try:
            stop = decoder.raw_decode(reply, start)[1]
        except json.JSONDecodeError:
            line_end = reply.find("\n", start)
            stop = line_end if line_end >= 0 else len(reply)
        objects.append(reply[start:stop])
        start = reply.find("{", stop)
    return objects


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
        row, reason, detail = _check(text, content, people, known)
        proposals.append(Proposal(text, row, reason, detail))
        if reason == _KEPT:
            known[_key(row)] = f"was written before, as number {place}"
    return proposals


def _check(text: str, content: PairsFile, people: People, known: Mapping[tuple[str, ...], str]) -> tuple[Row, str, str]:
    """Return the row of a proposal, in the order of the file, with the reason and the detail."""
    try:
        row = _ROW.validate_python(json.loads(text))
    except json.JSONDecodeError as fault:
        return {}, "unreadable", f"not valid JSON: {fault}"
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        return {}, "unreadable", f"{where}: {first['input']!r} is not a slot with its words"
    slots = content.frames[0].keys()
    if row.keys() != slots:
        return row, "slots", f"missing slots {sorted(slots - row.keys())}, unknown slots {sorted(row.keys() - slots)}"
    row = {slot: row[slot] for slot in slots}
    if _key(row) in known:
        return row, "repeated", known[_key(row)]
    faults = [fault.what for fault in faults_of_pairs(content.model_copy(update={"frames": [row]}), people)]
    return row, "faulty" if faults else _KEPT, "; ".join(dict.fromkeys(faults))


def _key(row: Row) -> tuple[str, ...]:
    return tuple(row[slot].lower() for slot in sorted(row))


def show(content: PairsFile, row: Row, people: People) -> dict[str, tuple[str, str]]:
    """Return what a frame says: variant -> the sentence with the construction, and the right diagnostic.

    It is said of the first nouns of the first noun type, with the first fillers.
    """
    kind = next(iter(people.types.values()))
    values = {slot: words for rows in content.fillers.values() for slot, words in rows[0].items()}
    values |= people.pronouns[kind.pronouns[0]] | row
    values |= dict(zip(content.people, kind.nouns, strict=False))
    return {name: fill_variant(variant, values)[:2] for name, variant in content.variants.items()}


def templates_of(content: PairsFile, people: People) -> list[str]:
    """Return the sentence and the right diagnostic of each variant, with their slots in braces."""
    slots = {*content.slots, *content.people, *(slot for row in people.pronouns.values() for slot in row)}
    echo = {slot: f"{{{slot}}}" for slot in slots}
    return [" ".join(fill_variant(variant, echo)[:2]).strip() for variant in content.variants.values()]


def frames_text(head: Sequence[str], rows: Sequence[tuple[Sequence[str], Row]]) -> str:
    """Return frames as YAML that can be moved into a pairs.yaml.

    Args:
        head: Lines of a comment at the top.
        rows: Each frame, and before it the lines of a comment above it.
    """
    yaml = YAML()
    yaml.default_flow_style = True
    yaml.width = 10_000
    text = StringIO()
    text.writelines(f"# {line}\n" for line in head)
    text.write("frames:\n" if rows else "frames: []\n")
    for comments, row in rows:
        text.writelines(f"  # {line}\n" for line in comments)
        text.write("  - ")
        yaml.dump(dict(row), text)
    return text.getvalue()


class Written(NamedTuple):
    """What a model has written.

    Attributes:
        proposals: Every frame, with the reason why it was kept or rejected.
        replies: One row a question: id, question, reply, failed and error.
    """

    proposals: Sequence[Proposal]
    replies: pd.DataFrame

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of requests, failed ones, proposals, kept ones, and those rejected for each reason."""
        reasons = Counter(proposal.reason for proposal in self.proposals)
        rejected = {f"rejected_{reason}": number for reason, number in reasons.items() if reason != _KEPT}
        requests = {"requests": len(self.replies), "requests_failed": int(self.replies["failed"].sum())}
        return {**requests, "proposals": len(self.proposals), "kept": reasons[_KEPT], **rejected}


@dataclass(frozen=True)
class FrameWriter:
    """Asks a model for frames, and about each frame.

    Attributes:
        name: The construction's folder.
        about: The name, gloss and positive of its construction.yaml.
        content: Its pairs, which test meaning and have a context in every variant.
        people: The nouns and pronouns.
        prompt: The words of the questions.
        ask: Puts questions, a table of id and question, and returns it with reply, failed and error, in its order.
    """

    name: str
    about: Mapping[str, str]
    content: PairsFile
    people: People
    prompt: WritingPrompt
    ask: Callable[[pd.DataFrame], pd.DataFrame]

    def write(self, settings: WriteFrames, seed: int) -> Written:
        """Ask for frames, check them, and ask about those that are left whether they are good ones.

        Args:
            settings: How many requests, frames and examples, and which instances are accepted.
            seed: The project's seed.

        Source:
            Oba & Sugawara 2026 for the two filters.
        """
        requests = [(f"write/{number}", self._request(number, settings, seed)) for number in range(settings.requests)]
        replies = [self.ask(pd.DataFrame(requests, columns=["id", "question"]))]
        texts = [text for reply in replies[0]["reply"] for text in read_proposals(reply)]
        proposals = check_proposals(texts, self.content, self.people)
        for name, verdicts, accepted in (
            ("instance", INSTANCE_VERDICTS, settings.accepted),
            ("diagnostic", DIAGNOSTIC_VERDICTS, DIAGNOSTIC_VERDICTS[:1]),
        ):
            questions = [
                (f"{name}/{place}/{number}", question)
                for place, proposal in enumerate(proposals)
                if proposal.reason == _KEPT
                for number, question in enumerate(self._questions(name, proposal.row))
            ]
            if not questions:
                break
            table = self.ask(pd.DataFrame(questions, columns=["id", "question"]))
            replies.append(table)
            for id_, reply, failed, error in table[["id", "reply", "failed", "error"]].itertuples(index=False):
                place = int(id_.split("/")[1])
                word = "failed" if failed else read_word(reply, verdicts) or "unparsed"
                if word not in accepted and proposals[place].reason == _KEPT:  # the first such verdict is the reason
                    detail = f"no reply: {error}" if failed else reply
                    proposals[place] = proposals[place]._replace(reason=word, detail=detail)
        return Written(proposals, pd.concat(replies, ignore_index=True))

    def text_of(self, proposals: Sequence[Proposal], llm: str) -> str:
        """Return the frames that were kept as YAML that can be moved into a pairs.yaml, above each what it says.

        Args:
            proposals: All that were written.
            llm: The model's slug.
        """
        kept = [proposal.row for proposal in proposals if proposal.reason == _KEPT]
        head = (
            f"{len(kept)} of {len(proposals)} frames that {llm} wrote for {self.name}, after both filters. No person",
            "has read them yet: read each with what it says in every variant, and move those that are right to the",
            f"frames of constructions/{self.name}/pairs.yaml.",
        )
        shown = [[" ".join(said) for said in show(self.content, row, self.people).values()] for row in kept]
        return frames_text(head, list(zip(shown, kept, strict=True)))

    def _request(self, request: int, settings: WriteFrames, seed: int) -> str:
        """Return a request for frames; each shows other examples, so that the replies can differ."""
        frames = self.content.frames
        drawn = generator_for(seed, "write_frames", self.name, request).permutation(len(frames))[: settings.examples]
        return self.prompt.write.format(
            **self.about,
            templates="\n".join(templates_of(self.content, self.people)),
            slots="\n".join(f"{slot}: {self.content.slots[slot].gloss}" for slot in frames[0]),
            examples="\n".join(json.dumps(frames[number], ensure_ascii=False) for number in drawn),
            number=settings.per_request,
        )

    def _questions(self, name: str, row: Row) -> list[str]:
        """Return what a filter asks about a frame: once about each sentence, or about each sentence and diagnostic."""
        shown = list(show(self.content, row, self.people).values())
        if name == "instance":
            sentences = dict.fromkeys(sentence for sentence, _ in shown)
            return [self.prompt.instance.format(**self.about, sentence=sentence) for sentence in sentences]
        return [self.prompt.diagnostic.format(sentence=sentence, statement=statement) for sentence, statement in shown]


class Draft(NamedTuple):
    """A frame that is begun.

    Attributes:
        row: Slot -> the words of the sentence; `UNFILLED` in a slot that mining does not fill.
        sentence: Where they are from.
        number: How many mined sentences have the verb.
    """

    row: Row
    sentence: str
    number: int


def draft_frames(frames: Sequence[Row], sentences: pd.DataFrame) -> list[Draft]:
    """Return the beginning of a frame for each verb that the corpus has in the construction and no frame has.

    Args:
        frames: Those of the pairs.yaml, which have the slot `VERB`.
        sentences: What was mined, without what is labelled negative: text and slots.

    Returns:
        The most frequent verbs first, each from its shortest sentence.
    """
    known = {lemma_of(frame[VERB]) for frame in frames}
    sentences = sentences.sort_values("text", key=lambda texts: texts.str.len(), kind="stable")
    shortest: dict[str, Draft] = {}
    for text, slots in zip(sentences["text"], sentences["slots"], strict=True):
        words = {slot["slot"]: text[slot["start"] : slot["end"]] for slot in slots}
        for lemma in {slot["word"]: None for slot in slots if slot["slot"] == VERB and slot["word"] not in known}:
            row = {slot: words.get(slot, UNFILLED) for slot in frames[0]}
            draft = shortest.get(lemma, Draft(row, text, 0))
            shortest[lemma] = draft._replace(number=draft.number + 1)
    return sorted(shortest.values(), key=lambda draft: -draft.number)
