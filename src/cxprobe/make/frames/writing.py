"""Frames for a construction's pairs, written and judged by a model in three rounds of questions."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from typing import NamedTuple, Protocol

import pandas as pd

from cxprobe.constructions import PairsFile, People
from cxprobe.make.frames.proposals import (
    KEPT,
    Proposal,
    Verdict,
    check_proposals,
    filter_proposals,
    frames_text,
    read_proposals,
    show,
    templates_of,
)
from cxprobe.make.frames.words import read_word
from cxprobe.params import DIAGNOSTIC_VERDICTS, INSTANCE_VERDICTS, WriteFrames
from cxprobe.seeding import generator_for


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
