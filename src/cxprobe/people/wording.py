"""What people are asked: ``prompts/validation.yaml``, read and checked."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from cxprobe.files.schema import Closed
from cxprobe.lm.prompts import read_prompt_file, with_fields

WORDING_FILE = Path("prompts/validation.yaml")
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Task(Closed):
    """What a form explains first."""

    title: Text
    """The heading of the form."""
    instructions: Annotated[list[Text], Field(min_length=1)]
    """What to do, in paragraphs."""


class PairsTask(Task):
    """Which of two texts is right."""

    question: Text


class RelationNames(Closed):
    """The relations in plain words."""

    entailment: Text
    neutral: Text
    contradiction: Text


class InferenceTask(Task):
    """What a sentence means for a statement."""

    text: Annotated[Text, with_fields("premise")]
    """How the premise is shown."""
    question: Annotated[Text, with_fields("hypothesis")]
    """How the hypothesis is asked about."""
    options: RelationNames


class ReasoningTask(Task):
    """A question with three answers; the question comes from the item."""

    neither: Text
    """The third answer."""


class Tasks(Closed):
    """One task for each kind of items."""

    pairs: PairsTask
    inference: InferenceTask
    reasoning: ReasoningTask


class CheckSentences(Closed):
    """The two sentences of an attention check."""

    right: Text
    wrong: Text

    @model_validator(mode="after")
    def _differ(self) -> "CheckSentences":
        if self.right == self.wrong:
            raise ValueError(f"right and wrong are both {self.right!r}; nobody could tell them apart")
        return self


class Check(Closed):
    """A kind of attention checks."""

    question: Annotated[Text, with_fields()]
    """What is asked."""
    members: Annotated[list[CheckSentences], Field(min_length=1)]
    """The sentences; each form has one member."""


class Instruction(Check):
    """Whether an instruction is followed."""

    question: Annotated[Text, with_fields("answer")]
    """What is asked; {answer} is the letter of the right one."""


class Checks(Closed):
    """The kinds of attention checks."""

    agreement: Check
    """Which verb agrees with its subject."""
    shuffled: Check
    """Which sentence has its words in order."""
    instruction: Instruction
    """Whether an instruction is followed."""

    @model_validator(mode="after")
    def _same_words(self) -> "Checks":
        for member in self.shuffled.members:
            right, wrong = (Counter(text.rstrip(".?!").lower().split()) for text in (member.right, member.wrong))
            if right != wrong:
                raise ValueError(f"shuffled: {member.wrong!r} does not have the words of {member.right!r}")
        return self


class ValidationWording(Closed):
    """All that people are asked beside the items themselves."""

    tasks: Tasks
    checks: Checks


def load_wording(path: Path = WORDING_FILE) -> ValidationWording:
    """Read and check what people are asked.

    Raises:
        PromptError: One line for every fault of the file.
    """
    return read_prompt_file(ValidationWording, path)
