"""The files of prompts for inference and reasoning, and how an item becomes a question, or a text to continue."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import Field, StringConstraints, model_validator

from cxprobe.files.schema import Closed, distinct
from cxprobe.models.prompts import PROMPTS_FOLDER, PromptName, named, read_prompt_file, with_fields
from cxprobe.tasks.prompts.items import RELATIONS, Inference, Reasoning, Relation
from cxprobe.text import Template, fill, slots_of

PAPER = "ABC"
"""The paper's order of the options: A and B are the readings, C is that there is not enough information. An order names
the options by these letters: in "BCA" the option that is shown as A is the item's B."""
ORDERS: Mapping[Literal["paper", "rotated"], tuple[str, ...]] = {"paper": (PAPER,), "rotated": (PAPER, "BCA", "CAB")}
PromptFile = TypeVar("PromptFile", bound="_Prompts")


def shown_options(item: Reasoning, neither: str, order: str) -> dict[str, str]:
    """Return a, b and c -> the option that is shown with this letter in an order.

    Args:
        item: What is asked about.
        neither: The option that there is not enough information.
        order: A permutation of "ABC".
    """
    options = dict(zip(PAPER, (item.a, item.b, neither), strict=True))
    return {letter: options[meant] for letter, meant in zip("abc", order, strict=True)}


def shown_letter(letter: str, order: str) -> str:
    """Return the letter with which the item's option ``letter`` is shown in an order."""
    return PAPER[order.index(letter)]


class Prompt(Closed):
    """The text before the item."""

    text: Annotated[str, StringConstraints(min_length=1)]
    """The text, used as it is."""


class ReasoningPrompt(Prompt):
    """The text before a multiple-choice item."""

    unsure: bool
    """Whether it says which option to choose when unsure. If so, {unsure} in the text stands for the letter of the
    option that there is not enough information."""

    @model_validator(mode="after")
    def _names_the_letter(self) -> "ReasoningPrompt":
        wanted = "once, for the letter of that option" if self.unsure else "nowhere, since unsure is false"
        if self.text.count("{unsure}") != self.unsure:
            raise ValueError(f"text: {self.text!r} must have {{unsure}} {wanted}")
        return self


class _Prompts(Closed):
    """What both files of prompts contain."""

    kind: ClassVar[Literal["inference", "reasoning"]]
    """What is asked about, which is the name of the file."""
    prompts: Mapping[str, Prompt]
    direct: str
    """How to answer at once; "" if the prompts say so themselves."""
    reasoned: Annotated[str, StringConstraints(min_length=1)]
    """How to answer after a chain of thought."""


class InferencePrompts(_Prompts):
    """How models are asked about a premise and a hypothesis."""

    kind = "inference"
    prompts: Annotated[dict[PromptName, Prompt], Field(min_length=1)]
    """Name -> the text before the item."""
    heading: str
    """The line above the examples."""
    example: Annotated[Template, with_fields("premise", "hypothesis", "answer")]
    """An example with its answer."""
    item: Annotated[Template, with_fields("premise", "hypothesis")]
    """What is asked about."""


class ReasoningPrompts(_Prompts):
    """How models are asked a multiple-choice question."""

    kind = "reasoning"
    prompts: Annotated[dict[PromptName, ReasoningPrompt], Field(min_length=1)]
    """Name -> the text before the item."""
    item: Annotated[Template, with_fields("text", "question", "a", "b", "c")]
    """What is asked about, with what stands as option A, B and C."""
    neither: str
    """The option that there is not enough information."""


class _Continuation(Closed):
    """A text and its continuation for each answer."""

    text: Template
    """The text before the answer."""
    anywhere: Annotated[Template, Field(min_length=1)]
    """A text before the answers that says nothing about the item."""

    def check(self, answers: Mapping[Any, str], symbols: Sequence[str], fields: set[str]) -> None:
        """Refuse texts that cannot be joined, or that leave out a part of the item.

        Raises:
            ValueError: The message has the text and what is wrong with it.
        """
        if set(answers) != set(symbols):
            raise ValueError(f"answers has {', '.join(answers)}; give {', '.join(symbols)}")
        for name, answer in answers.items():
            if not answer.startswith(" ") or not answer.strip():
                raise ValueError(f"answers.{name}: {answer!r} must begin with a space, followed by a word")
        for key, text in (("text", self.text), ("anywhere", self.anywhere)):
            if not text.strip() or text != text.rstrip():
                raise ValueError(f"{key}: {text!r} must not be empty or end in a space; the answers begin with one")
        taken = {slot for text in (self.text, *answers.values()) for slot in slots_of(text)}
        if taken != fields or slots_of(self.anywhere):
            wanted = ", ".join(f"{{{name}}}" for name in sorted(fields))
            raise ValueError(
                f"text and answers together must have exactly the fields {wanted}, and anywhere must have none; "
                f"found {sorted(taken)} and {slots_of(self.anywhere)}"
            )


class InferenceContinuation(_Continuation):
    """A text about a premise and a hypothesis."""

    answers: dict[Relation, Template]
    """Relation -> how the text continues."""

    @model_validator(mode="after")
    def _can_be_filled(self) -> "InferenceContinuation":
        self.check(self.answers, RELATIONS, {"premise", "hypothesis"})
        distinct([*self.answers.values()])
        return self


class ReasoningContinuation(_Continuation):
    """A text about a multiple-choice item. Either the answers name the options, or the text lists them.

    Where the text does not list them they have no order, and A, B and C are the item's own. Where it does, A, B and C
    are what is shown first, second and last.
    """

    answers: dict[Literal["A", "B", "C"], Template]
    """Option -> how the text continues."""
    neither: str | None = None
    """In a text that lists the options, the one that there is not enough information; absent in others."""

    @property
    def lists_options(self) -> bool:
        """Whether the text shows the options, so that they have an order."""
        return bool({*slots_of(self.text)} & {"a", "b", "c"})

    @model_validator(mode="after")
    def _can_be_filled(self) -> "ReasoningContinuation":
        if self.lists_options != (self.neither is not None):
            raise ValueError("neither is the third option of a text that lists {a}, {b} and {c}; give both, or none")
        fields = {"text", "question", "a", "b", *("c" * self.lists_options)}
        self.check(self.answers, PAPER, fields)
        for letter, answer in self.answers.items():
            if {*slots_of(answer)} - {letter.lower()}:
                raise ValueError(f"answer {letter} may have no field but {{{letter.lower()}}}")
        return self


class Continuations(Closed):
    """How language models are asked by the likelihood of the answers."""

    inference: Annotated[dict[PromptName, InferenceContinuation], Field(min_length=1)]
    """Name -> a text about a premise and a hypothesis."""
    reasoning: Annotated[dict[PromptName, ReasoningContinuation], Field(min_length=1)]
    """Name -> a text about a multiple-choice item."""


def load_prompts(model: type[PromptFile], folder: Path = PROMPTS_FOLDER) -> PromptFile:
    """Read and check a file of prompts.

    Args:
        model: `InferencePrompts` or `ReasoningPrompts`.
        folder: The folder of prompts.

    Raises:
        PromptError: One line for every fault of the file.
    """
    return read_prompt_file(model, folder / f"{model.kind}.yaml")


def load_continuations(folder: Path = PROMPTS_FOLDER) -> Continuations:
    """Read and check ``prompts/continuations.yaml``.

    Raises:
        PromptError: One line for every fault of the file.
    """
    return read_prompt_file(Continuations, folder / "continuations.yaml")


def ask_item(
    item: Inference | Reasoning,
    name: str,
    inference: InferencePrompts,
    reasoning: ReasoningPrompts,
    examples: Sequence[Inference] = (),
    *,
    chain_of_thought: bool,
    order: str = PAPER,
) -> str:
    """Return the question about a premise and a hypothesis, or the multiple-choice question.

    Args:
        item: What is asked about.
        name: Which prompt.
        inference: All prompts for inferences.
        reasoning: All prompts for multiple choice.
        examples: Inferences about other premises, shown with their answers before this one; none for zero shots.
        chain_of_thought: Whether the model is asked to reason first.
        order: The order in which options are shown; see `PAPER`.

    Raises:
        PromptError: There is no such prompt.

    Source:
        Scivetti et al. 2025, experiments 1 to 3; the words are this project's own.
    """
    prompts: InferencePrompts | ReasoningPrompts
    if isinstance(item, Inference):
        prompts, parts = inference, [inference.heading] if examples else []
        for shown in examples:
            answer = str(RELATIONS.index(shown.gold))
            parts.append(fill(inference.example, _texts(shown) | {"answer": answer}))
        parts.append(fill(inference.item, _texts(item)))
    else:
        prompts = reasoning
        parts = [fill(reasoning.item, _texts(item) | shown_options(item, reasoning.neither, order))]
    before = named(prompts.prompts, name, "prompt").text
    after = prompts.reasoned if chain_of_thought else prompts.direct
    if prompts is reasoning:
        before = before.replace("{unsure}", shown_letter("C", order))
    return "\n\n".join(filter(None, [before, *parts, after]))


def _texts(item: Inference | Reasoning) -> dict[str, str]:
    """Return the fields of a text that an item fills: field -> words."""
    if isinstance(item, Inference):
        return {"premise": item.premise, "hypothesis": item.hypothesis}
    return {"text": item.text, "question": item.question}


class Choice(NamedTuple):
    """A text that goes on with one of several answers.

    Attributes:
        context: What stands before the answer.
        answers: Each answer's symbol -> how the text goes on with it; it begins with its own space.
        anywhere: What may stand before these answers where nothing is known of the question, so that answers which are
            frequent as such can be told from those that fit.
    """

    context: str
    answers: Mapping[str, str]
    anywhere: str


def continue_item(
    item: Inference | Reasoning,
    name: str,
    continuations: Continuations,
    examples: Sequence[Inference] = (),
    order: str = PAPER,
) -> Choice:
    """Return the text about an item, and its continuation for each digit or letter.

    Args:
        item: What is asked about.
        name: Which text.
        continuations: All texts.
        examples: Inferences that are shown before this one with their right answers; none for zero shots.
        order: The order in which a text that lists the options of multiple choice shows them; for others, the paper's.

    Raises:
        PromptError: There is no such text.
    """
    texts: InferenceContinuation | ReasoningContinuation
    before, fields = [], _texts(item)
    if isinstance(item, Inference):
        texts = asking = named(continuations.inference, name, "continuation")
        before = [fill(asking.text + asking.answers[shown.gold], _texts(shown)) for shown in examples]
        answers = {str(digit): asking.answers[relation] for digit, relation in enumerate(RELATIONS)}
    else:
        texts = choosing = named(continuations.reasoning, name, "continuation")
        fields |= shown_options(item, choosing.neither or "", order)
        answers = {str(letter): answer for letter, answer in choosing.answers.items()}
    filled = {symbol: fill(answer, fields) for symbol, answer in answers.items()}
    return Choice("\n\n".join([*before, fill(texts.text, fields)]), filled, texts.anywhere)
