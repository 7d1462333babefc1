"""Findings: one rate of one model, that of the best blind model on the same items, and what the two say together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from cxprobe.lm.params import Member, members_of
from cxprobe.pairs.report import is_mock
from cxprobe.run.params import Params
from cxprobe.stats import Estimate

Question = Literal["form", "meaning", "words"]
QUESTIONS: Mapping[Question, str] = {
    "form": "Does it recognise the form?",
    "meaning": "Does it expect the meaning?",
    "words": "Does it say so?",
}


class Verdict(NamedTuple):
    """What a rate says by the stated rule.

    Attributes:
        key: For the style of the page.
        sign: A sign that tells it from the others without colour.
        words: For people.
        rule: When it is given.
    """

    key: str
    sign: str
    words: str
    rule: str


ABOVE_BLIND = Verdict(
    "above-blind",
    "▲",
    "above the best blind model",
    "the interval lies above chance and above the blind one's interval",
)
ABOVE_CHANCE = Verdict(
    "above-chance",
    "◆",
    "above chance, not above the best blind model",
    "the interval lies above chance, and not above the interval of the best blind model",
)
NO_BLIND = Verdict(
    "above-chance", "◇", "above chance; no blind model ran", "the interval lies above chance, and no blind model ran"
)
PREFERENCE = Verdict(
    "preference",
    "⇄",
    "a fixed preference",
    "not above chance, and the same answer is preferred whatever the sentence says: mostly right where that answer is "
    "right, and mostly wrong where it is not",
)
NO_DIFFERENCE = Verdict(
    "none", "○", "not distinguishable from chance", "the interval contains chance, which is no proof of ignorance"
)
BELOW = Verdict("below", "▼", "below chance", "the interval lies below chance")
NO_RATE = Verdict(
    "none", "–", "no rate", "in each wording one answer is always right, so a rate over all of them would say nothing"
)
VERDICTS = (ABOVE_BLIND, ABOVE_CHANCE, NO_BLIND, PREFERENCE, NO_DIFFERENCE, BELOW, NO_RATE)


@dataclass(frozen=True)
class Blind:
    """The best blind model on the items of a finding."""

    model: str
    rate: Estimate


@dataclass(frozen=True)
class Finding:
    """What one model gets on one kind of items of one construction.

    Attributes:
        construction: Its folder.
        model: The slug.
        question: The column of the overview that it belongs to.
        way: How it was asked, such as "minimal pairs".
        rate: The share of right answers; None where no rate sums them up.
        chance: What a model without any knowledge gets, in [0, 1].
        blind: The best blind model on the same kind of items; None if none ran.
        table: The table that has the rate, relative to results/.
        stage: The stage that judged it, by which its run in MLflow is found.
        source: Where the items come from, as runs in MLflow name it; "" for whatever source.
        headline: Whether it stands in the overview.
        note: What else is to be said of the rate.
        preference: What shows that the model has a fixed preference; "" if nothing does.
    """

    construction: str
    model: str
    question: Question
    way: str
    rate: Estimate | None
    chance: float
    blind: Blind | None
    table: str
    stage: str
    source: str = ""
    headline: bool = True
    note: str = ""
    preference: str = ""

    @property
    def verdict(self) -> Verdict:
        """What the rate says, by the rules of `VERDICTS`."""
        if self.rate is None:
            return NO_RATE
        if self.rate.low > self.chance:
            if self.blind is None:
                return NO_BLIND
            return ABOVE_BLIND if self.rate.low > self.blind.rate.high else ABOVE_CHANCE
        if self.preference:
            return PREFERENCE
        return BELOW if self.rate.high < self.chance else NO_DIFFERENCE


@dataclass(frozen=True)
class Cast:
    """The models of a run, and which of them are shown.

    Attributes:
        members: Slug -> the model, in the order of the grid.
        earlier: Checkpoints of a training without the last, which stand in the curves alone.
    """

    members: Mapping[str, Member]
    earlier: frozenset[str] = field(default_factory=frozenset)

    @property
    def mocks(self) -> list[str]:
        """Models that answer without a model: they try the pipeline, and are shown beside no other."""
        return [slug for slug, one in self.members.items() if is_mock(one)]

    @property
    def blind(self) -> list[str]:
        """Models that cannot know a construction."""
        return [slug for slug, one in self.members.items() if one.is_blind]

    @property
    def twins(self) -> list[str]:
        """Models with the architecture of another, and weights that know nothing."""
        return [slug for slug, one in self.members.items() if one.state in ("random", "shuffled")]

    @property
    def shown(self) -> list[str]:
        """Models that the report is about: trained, no mock models, and of a training the last checkpoint."""
        left_out = {*self.mocks, *self.blind, *self.twins, *self.earlier}
        return [slug for slug in self.members if slug not in left_out]

    def label(self, slug: str) -> str:
        """Return the name of a model for people."""
        return self.members[slug].label if slug in self.members else slug


def cast_of(params: Params, earlier: Sequence[str] | set[str] = ()) -> Cast:
    """Return the models of the grid, of all lines of work that run.

    Args:
        params: The parameters of the run.
        earlier: See `Cast`.
    """
    models, llms, grid, lines = params.models or {}, params.llms or {}, params.grid, params.lines
    parts = [
        (grid.recognition.models if lines.recognition else [], []),
        (grid.scenarios.models if lines.scenarios else [], []),
        (grid.pairs.models if lines.pairs else [], grid.pairs.llms if lines.pairs else []),
        (grid.prompts.models if lines.prompts else [], grid.prompts.llms if lines.prompts else []),
        (grid.benchmarks.models, grid.benchmarks.llms) if grid.benchmarks.benchmarks else ([], []),
    ]
    found = [member for slugs, asked in parts for member in members_of(models, slugs, llms, asked)]
    return Cast({member.slug: member for member in found}, frozenset(earlier))
