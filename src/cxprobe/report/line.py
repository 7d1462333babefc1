"""A line of work, as everything that lists lines sees it: parameters, checks, plans, reports, exports.

`cxprobe.lines` lists the lines. Each has a module ``line.py`` with a subclass of `Line`, which says what the line has;
what it does not say has a default here. So a line plugs in by its folder and its entry in the list.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pandas as pd

from cxprobe.constructions.checking import FoundFaults
from cxprobe.lm.asking import CHARACTERS_PER_TOKEN
from cxprobe.lm.params import Llm, Model, members_of
from cxprobe.people.forms import RatedItem
from cxprobe.people.ratings import RatedKind
from cxprobe.people.wording import Tasks
from cxprobe.report.findings import Finding, ReportModels
from cxprobe.report.inputs import ReportInputs
from cxprobe.report.params import LineParams, ReportParams
from cxprobe.run.experiments import Experiments, load_experiments

# ruff: noqa: ARG002  # what a line does not say has a default, which needs none of its arguments


class Example(NamedTuple):
    """One item, as a model is asked it.

    Attributes:
        kind: What kind of item it is, and what is changed in it.
        text: What it reads.
        right: The right answer.
        wrong: The other answers; "" where there are none to name.
    """

    kind: str
    text: str
    right: str
    wrong: str


@dataclass(frozen=True)
class PageTable:
    """A table for reading: its title, the file that it is taken from, relative to results/, and its cells."""

    title: str
    source: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class PageSection:
    """A section of a construction's page that a line adds.

    Attributes:
        title: Its heading.
        about: A paragraph about it.
        findings: Rates that are drawn as bars.
        tables: Tables below them.
        judged: Whether the bars have verdicts.
    """

    title: str
    about: str
    findings: Sequence[Finding]
    tables: Sequence[PageTable] = ()
    judged: bool = True


class Demand(NamedTuple):
    """What one stage asks of one model.

    Attributes:
        stage: The stage, without its item.
        model: The entry of models or llms.
        texts: How many different texts it reads, or how many requests it gets.
        tokens: Of all texts, about.
        replied: The most tokens of all replies; 0 of models that are not asked in words.
    """

    stage: str
    model: str
    texts: int
    tokens: int
    replied: int = 0


class ChoiceItems(NamedTuple):
    """Questions as texts that go on with one answer or another.

    Attributes:
        choices: One row a question: id, item, construction, kind, prompt, shots, examples, gold and question.
        answers: One row a question and answer: id, answer and text.
    """

    choices: pd.DataFrame
    answers: pd.DataFrame


class Line:
    """A line of work.

    Attributes:
        params: What its stages read of params.yaml; it has the name of the line.
        title: The name for people, such as "Minimal pairs".
        asked_by: How models are asked, for headings: "by minimal pairs".
        steps: The steps of its section that decide on its numbers.
        measured: Each stage that lets checkpoints read texts -> the list of the section that names its models. What
            they keep is kept by text, so that `cxprobe measure` can compute parts.
        divided: The columns that divide the rates of blind models on a construction.
        compared_by: The column that divides the comparisons of a construction.
    """

    params: ClassVar[type[LineParams]]
    title: ClassVar[str]
    asked_by: ClassVar[str]
    steps: ClassVar[Sequence[str]]
    measured: ClassVar[Mapping[str, str]] = {}
    divided: ClassVar[Sequence[str]] = ()
    compared_by: ClassVar[str] = "construction"
    overview_columns: ClassVar[Sequence[str]] = ()
    """Columns about its items in the table of all constructions."""

    @property
    def name(self) -> str:
        """The name of the line, of its section of params.yaml, and of its stages."""
        return self.params.line

    @property
    def accuracy(self) -> str:
        """The table with its rates, relative to results/, without suffix."""
        return f"report_{self.name}/accuracy"

    @property
    def experiments(self) -> Experiments:
        """The experiments of MLflow that have its runs, by name."""
        return load_experiments(self.params.experiments_file)

    # ---- constructions

    def items_in(self, construction: str) -> list[str]:
        """Return the entries that the section's constructions could have for a folder, by the files in it."""
        return []

    def read_items(self, entries: Sequence[str], use: Callable[[Path], Path]) -> Any:
        """Read what is asked about a construction; None if the line has no files of items.

        Args:
            entries: Those of the section's constructions that belong to it, at least one.
            use: Notes a file as read.
        """

    def examples(self, items: Any) -> Iterator[Example]:
        """Yield an example of each kind of item: the first ones of the files, so that none has been picked."""
        yield from ()

    def overview(self, items: Any) -> Sequence[str]:
        """Return the cells of `overview_columns` for a construction, given what `read_items` returns or None."""
        return [""] * len(self.overview_columns)

    def asked_in(self, row: Mapping[Any, Any]) -> str:
        """Return what is asked in a row of the table of rates; "" for what the page of constructions leaves out."""
        return ""

    def check_construction(self, folder: Path, faults: FoundFaults) -> None:
        """Check the line's files in a construction's folder."""

    def check_params(self, params: ReportParams, faults: FoundFaults) -> None:
        """Check what params.yaml asks of the line against the files of the project."""

    def check_shared_files(self, params: ReportParams | None, faults: FoundFaults) -> None:
        """Check the line's files outside of constructions/, such as prompts.

        Args:
            params: The parameters; None if they have faults, so that all files are checked.
            faults: Gets what is found.
        """

    def drafts(self, construction: str, mined: pd.DataFrame, file: Path, most: int) -> str:
        """Return beginnings of items for a file of the construction, made from sentences that a corpus has; or "".

        Args:
            construction: The construction.
            mined: Its mined sentences, without those that people labelled negative.
            file: Where they were read.
            most: The most drafts.
        """
        return ""

    # ---- people

    rated_kinds: ClassVar[Sequence[RatedKind]] = ()
    """The kinds of items that people can judge (`cxprobe.people.ratings`)."""

    def rated_items(
        self, kind: RatedKind, construction: str, tasks: Tasks, seed: int, *, named: bool
    ) -> Iterator[RatedItem]:
        """Yield the items of a kind of a construction, as people judge them; none where it has none.

        Args:
            kind: One of `rated_kinds`.
            construction: The construction.
            tasks: How people are asked.
            seed: What is drawn follows from it.
            named: Whether a person asked for this construction; else those are left out that are not judged by default.
        """
        yield from ()

    # ---- plans

    def demand(self, params: ReportParams) -> Iterator[Demand]:
        """Yield what the stages ask of each model that is loaded or served, from what has been made."""
        yield from ()

    # ---- reports

    def part_name(self, part: str) -> str:
        """Return a value of `divided` for people."""
        return part

    def findings(self, inputs: ReportInputs, models: ReportModels) -> Iterator[Finding]:
        """Yield what each model gets on all items of all constructions."""
        yield from ()

    def sections(self, construction: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageSection]:
        """Yield further sections of a construction's page."""
        yield from ()

    def tables(self, column: str, value: str, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield further tables about a construction or a model, whose page has controls and comparisons.

        Args:
            column: "construction" or "model".
            value: The construction's folder, or the model's slug.
            inputs: What the run has left.
            models: Its models.
        """
        yield from ()

    def published(self, construction: str | None, inputs: ReportInputs, models: ReportModels) -> Iterator[PageTable]:
        """Yield the published values beside those of the run: about a construction, or (None) about all together."""
        yield from ()

    def reservations(self, construction: str, inputs: ReportInputs) -> Iterator[str]:
        """Yield what must be kept in mind about the rates of a construction, as sentences."""
        yield from ()

    def powered(self, construction: str, part: str, inputs: ReportInputs) -> str:
        """Return the name of a part of comparisons whose detectable difference is reported; "" for one that is not."""
        return self.part_name(part)

    # ---- exports

    exports_data: ClassVar[bool] = False
    """Whether its items are in the exported data set; dataset.yaml beside the line's module says what they are."""

    @property
    def folder(self) -> Path:
        """The folder of the line's package."""
        return Path(str(sys.modules[type(self).__module__].__file__)).parent

    def dataset(self, params: ReportParams) -> dict[str, pd.DataFrame]:
        """Return the tables of the exported data set, by the configurations of the line's dataset.yaml."""
        return {}

    def left_out(self, params: ReportParams) -> list[str]:
        """Return what the data set leaves out, a sentence each."""
        return []

    def pairs(self, params: ReportParams) -> pd.DataFrame | None:
        """Return minimal pairs for tools that compare two texts.

        Returns:
            One row a pair, as ``data/make_pairs`` has them; and one_answer: why a preference for an answer is enough in
            its variant, or "".
        """
        return None

    def choices(self, params: ReportParams) -> ChoiceItems | None:
        """Return questions for tools that compare several texts."""
        return None

    def questions(self, params: ReportParams) -> pd.DataFrame | None:
        """Return questions in words for tools that put them to a model.

        Returns:
            One row a question, as ``data/make_prompts`` has them; and answers: each symbol -> the words that may stand
            for it in a reply.
        """
        return None

    def answers(self, params: ReportParams, judged: Path) -> pd.DataFrame:
        """Return every judged answer, with columns of `cxprobe.exports.results.RESULT_COLUMNS`.

        Args:
            params: The parameters.
            judged: The folder of the judging stage.
        """
        raise NotImplementedError(f"the line {self.name} exports no answers")

    def parts_of_dataset(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Return those answers that are about items of the data set, with the columns configuration and part."""
        return answers.assign(configuration=self.name, part=answers["source"])


def read_demand(
    models: Mapping[str, Model], stage: str, entries: Iterable[str], texts: Collection[str]
) -> Iterator[Demand]:
    """Yield what each member of some entries reads; blind models are not counted.

    Args:
        models: The models of params.yaml.
        stage: The measuring stage.
        entries: The entries of models that it asks.
        texts: What a member reads, each as often as it reads it.
    """
    characters = sum(map(len, texts))
    for entry in entries:
        members = sum(not member.is_blind for member in members_of(models, [entry]))
        if members and texts:
            tokens = members * characters // CHARACTERS_PER_TOKEN
            yield Demand(stage, entry, members * len(texts), tokens)


def replied_demand(
    llms: Mapping[str, Llm], stage: str, entries: Iterable[str], questions: Sequence[str]
) -> Iterator[Demand]:
    """Yield what is asked in words of each of some entries."""
    characters = sum(map(len, questions))
    for entry in entries:
        replied = len(questions) * llms[entry].max_tokens
        yield Demand(stage, entry, len(questions), characters // CHARACTERS_PER_TOKEN, replied)
