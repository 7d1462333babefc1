"""prompts/continuations.yaml: texts that continue with an answer, for models that follow no instructions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, model_validator

from cxprobe.errors import PromptError
from cxprobe.make.prompting.orders import PAPER, shown_options
from cxprobe.make.prompting.templates import PROMPTS_FOLDER, Name, read_prompts
from cxprobe.records import RELATIONS, Choice, Inference, Reasoning, Relation
from cxprobe.schema import Closed, suggest


class _Continuation(Closed):
    """A text and its continuation for each answer."""

    text: str
    """The text before the answer."""
    anywhere: Annotated[str, Field(min_length=1)]
    """A text before the answers that says nothing about the item."""

    def check(self, answers: Mapping[Any, str], fields: set[str]) -> None:
        """Refuse texts that cannot be joined, or that leave out a part of the item.

        Raises:
            ValueError: The message has the text and what is wrong with it.
        """
        taken = _fields(self.text)
        for name, answer in answers.items():
            if not answer.startswith(" ") or not answer.strip():
                raise ValueError(f"answers.{name}: {answer!r} must begin with a space, followed by a word")
            taken |= _fields(answer)
        for key, text in (("text", self.text), ("anywhere", self.anywhere)):
            if not text.strip() or text != text.rstrip():
                raise ValueError(f"{key}: {text!r} must not be empty or end in a space; the answers begin with one")
        if taken != fields or _fields(self.anywhere):
            wanted = ", ".join(f"{{{name}}}" for name in sorted(fields))
            raise ValueError(
                f"text and answers together must have exactly the fields {wanted}, and anywhere must have none; "
                f"found {sorted(taken)} and {sorted(_fields(self.anywhere))}"
            )


class InferenceContinuation(_Continuation):
    """A text about a premise and a hypothesis."""

    answers: dict[Relation, str]
    """Relation -> how the text continues."""

    @model_validator(mode="after")
    def _can_be_filled(self) -> "InferenceContinuation":
        if set(self.answers) != set(RELATIONS):
            raise ValueError(f"answers has {', '.join(self.answers)}; give {', '.join(RELATIONS)}")
        self.check(self.answers, {"premise", "hypothesis"})
        if len(set(self.answers.values())) < len(self.answers):
            raise ValueError("two answers are the same")
        return self


class ReasoningContinuation(_Continuation):
    """A text about a multiple-choice item. Either the answers name the options, or the text lists them.

    Where the text does not list them they have no order, and A, B and C are the item's own. Where it does, A, B and C
    are what is shown first, second and last.
    """

    answers: dict[Literal["A", "B", "C"], str]
    """Option -> how the text continues."""
    neither: str | None = None
    """In a text that lists the options, the one that there is not enough information; absent in others."""

    @property
    def lists_options(self) -> bool:
        """Whether the text shows the options, so that they have an order."""
        return bool(_fields(self.text) & {"a", "b", "c"})

    @model_validator(mode="after")
    def _can_be_filled(self) -> "ReasoningContinuation":
        if len(self.answers) != 3:
            raise ValueError(f"answers has {', '.join(self.answers)}; give A, B, C")
        if self.lists_options:
            if _fields(self.text) != {"text", "question", "a", "b", "c"} or self.neither is None:
                raise ValueError(
                    "a text that lists the options must have {text}, {question}, {a}, {b} and {c}; give neither"
                )
            self.check(self.answers, _fields(self.text))
            for letter, answer in self.answers.items():
                if _fields(answer) - {letter.lower()}:
                    raise ValueError(f"answer {letter} may have no field but {{{letter.lower()}}}")
            return self
        if self.neither is not None:
            raise ValueError(
                "neither is the third option of a text that lists them; list {a}, {b} and {c}, or remove it"
            )
        self.check(self.answers, {"text", "question", "a", "b"})
        if _fields(self.answers["A"]) != {"a"} or _fields(self.answers["B"]) != {"b"} or _fields(self.answers["C"]):
            raise ValueError("answer A must have the field {a}, B the field {b} and C none")
        return self


C = TypeVar("C", bound=_Continuation)


class Continuations(Closed):
    """How language models are asked by the likelihood of the answers."""

    inference: Annotated[dict[Name, InferenceContinuation], Field(min_length=1)]
    """Name -> a text about a premise and a hypothesis."""
    reasoning: Annotated[dict[Name, ReasoningContinuation], Field(min_length=1)]
    """Name -> a text about a multiple-choice item."""


def load_continuations(folder: Path = PROMPTS_FOLDER) -> Continuations:
    """Read and check ``prompts/continuations.yaml``.

    Raises:
        PromptError: One line for every fault of the file.
    """
    return read_prompts(Continuations, folder / "continuations.yaml")


def continue_inference(
    id_: str, item: Inference, name: str, continuations: Continuations, examples: Sequence[Inference]
) -> Choice:
    """Return the text about a premise and a hypothesis, and its continuation for each digit.

    Args:
        id_: The id of the question.
        item: What is asked about.
        name: Which text.
        continuations: All texts.
        examples: Items that are shown before it with their right answers; none for zero shots.

    Raises:
        PromptError: There is no such text.
    """
    continuation = _named(continuations.inference, name)
    shown = [
        _filled(continuation.text, example) + _filled(continuation.answers[example.gold], example)
        for example in examples
    ]
    answers = {str(digit): _filled(continuation.answers[gold], item) for digit, gold in enumerate(RELATIONS)}
    return Choice(id_, "\n\n".join([*shown, _filled(continuation.text, item)]), answers, continuation.anywhere)


def continue_reasoning(
    id_: str, item: Reasoning, name: str, continuations: Continuations, order: str = PAPER
) -> Choice:
    """Return the text about a multiple-choice item, and its continuation for each letter.

    Args:
        id_: The id of the question.
        item: What is asked about.
        name: Which text.
        continuations: All texts.
        order: The order in which a text that lists the options shows them; for others, the paper's.

    Raises:
        PromptError: There is no such text.
    """
    continuation = _named(continuations.reasoning, name)
    shown = shown_options(item.a, item.b, continuation.neither or "", order)
    parts = {"text": item.text, "question": item.question} | {letter.lower(): shown[letter] for letter in shown}
    answers = {str(letter): answer.format(**parts) for letter, answer in continuation.answers.items()}
    return Choice(id_, continuation.text.format(**parts), answers, continuation.anywhere)


def orders_of(name: str, continuations: Continuations, orders: Sequence[str]) -> Sequence[str]:
    """Return the orders in which a text is asked: all of them if it lists the options, else the paper's alone.

    Raises:
        PromptError: There is no such text.
    """
    return orders if _named(continuations.reasoning, name).lists_options else (PAPER,)


def _filled(text: str, item: Inference) -> str:
    return text.format(premise=item.premise, hypothesis=item.hypothesis)


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def _named(continuations: Mapping[str, C], name: str) -> C:
    if name not in continuations:
        raise PromptError(f"continuation '{name}' is unknown{suggest(name, list(continuations))}")
    return continuations[name]
