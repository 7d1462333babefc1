"""The orders in which the options of a multiple-choice item are shown, and which letter the right one then has.

An order names the options by their letters in the paper's order, in which A and B are the readings and C is that there
is not enough information: in "BCA" the option that is shown as A is the item's B.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from cxprobe.errors import PromptError
from cxprobe.files.schema import Closed, read_yaml, suggest, validate
from cxprobe.prompts.items import RELATIONS, Inference, Reasoning

PAPER = "ABC"
ORDERS: Mapping[Literal["paper", "rotated"], tuple[str, ...]] = {"paper": (PAPER,), "rotated": (PAPER, "BCA", "CAB")}


def shown_options(a: str, b: str, c: str, order: str) -> dict[str, str]:
    """Return letter -> the option that is shown with it.

    Args:
        a: The item's option A.
        b: Its option B.
        c: That there is not enough information.
        order: A permutation of "ABC".
    """
    options = dict(zip(PAPER, (a, b, c), strict=True))
    return {letter: options[own] for letter, own in zip(PAPER, order, strict=True)}


def shown_letter(letter: str, order: str) -> str:
    """Return the letter with which the item's option ``letter`` is shown in an order."""
    return PAPER[order.index(letter)]


PROMPTS_FOLDER = Path("prompts")

P = TypeVar("P", bound=Closed)


def with_fields(*fields: str) -> AfterValidator:
    """Return a check that a text has exactly these fields."""

    def check(text: str) -> str:
        found = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
        if found != set(fields):
            wanted = ", ".join(f"{{{name}}}" for name in fields)
            raise ValueError(f"{text!r} must have exactly the fields {wanted}; write a literal brace twice")
        return text

    return AfterValidator(check)


Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]


class Prompt(Closed):
    """The text before the item."""

    rephrases: str | None
    """The prompt of the same file that this one paraphrases; null if it is not a paraphrase."""
    text: Annotated[str, StringConstraints(min_length=1)]
    """The text, used as it is."""


class ReasoningPrompt(Prompt):
    """The text before a multiple-choice item."""

    unsure: bool
    """Whether it says which option to choose when unsure. If so, {unsure} in the text stands for the letter of the
    option that there is not enough information."""

    @model_validator(mode="after")
    def _names_the_letter(self) -> "ReasoningPrompt":
        if self.unsure != (self.text.count("{unsure}") == 1):
            wanted = "once, for the letter of that option" if self.unsure else "nowhere, since unsure is false"
            raise ValueError(f"text: {self.text!r} must have {{unsure}} {wanted}")
        return self


class _Wording(Closed):
    """What both files contain."""

    direct: str
    """How to answer at once."""
    reasoned: str
    """How to answer after a chain of thought."""

    def ending(self, *, chain_of_thought: bool) -> str:
        """Return how to answer."""
        return self.reasoned if chain_of_thought else self.direct


class InferencePrompts(_Wording):
    """How models are asked about a premise and a hypothesis."""

    prompts: Annotated[dict[Name, Prompt], Field(min_length=1)]
    """Name -> the text before the item."""
    heading: str
    """The line above the examples."""
    example: Annotated[str, with_fields("premise", "hypothesis", "answer")]
    """An example with its answer."""
    item: Annotated[str, with_fields("premise", "hypothesis")]
    """What is asked about."""

    @model_validator(mode="after")
    def _rephrase_what_is_there(self) -> "InferencePrompts":
        _check_rephrased(self.prompts)
        return self


class ReasoningPrompts(_Wording):
    """How models are asked a multiple-choice question."""

    prompts: Annotated[dict[Name, ReasoningPrompt], Field(min_length=1)]
    """Name -> the text before the item."""
    item: Annotated[str, with_fields("text", "question", "a", "b", "c")]
    """What is asked about, with what stands as option A, B and C."""
    neither: str
    """The option that there is not enough information."""

    @model_validator(mode="after")
    def _rephrase_what_is_there(self) -> "ReasoningPrompts":
        _check_rephrased(self.prompts)
        return self


def _check_rephrased(prompts: dict[str, Prompt] | dict[str, ReasoningPrompt]) -> None:
    for name, prompt in prompts.items():
        if prompt.rephrases is not None and (prompt.rephrases == name or prompt.rephrases not in prompts):
            others = [other for other in prompts if other != name]
            raise ValueError(
                f"prompts.{name}.rephrases: '{prompt.rephrases}' is not the name of another prompt"
                f"{suggest(prompt.rephrases, others)}"
            )


def read_prompts(model: type[P], path: Path) -> P:
    """Read and check a file of prompts.

    Args:
        model: What the file holds.
        path: The file.

    Raises:
        PromptError: One line for every fault of the file.
    """
    return validate(model, read_yaml(path, PromptError), path, PromptError)


def load_inference_prompts(folder: Path = PROMPTS_FOLDER) -> InferencePrompts:
    """Read and check ``prompts/inference.yaml``.

    Raises:
        PromptError: One line for every fault of the file.
    """
    return read_prompts(InferencePrompts, folder / "inference.yaml")


def load_reasoning_prompts(folder: Path = PROMPTS_FOLDER) -> ReasoningPrompts:
    """Read and check ``prompts/reasoning.yaml``.

    Raises:
        PromptError: One line for every fault of the file.
    """
    return read_prompts(ReasoningPrompts, folder / "reasoning.yaml")


def ask_inference(
    item: Inference,
    name: str,
    prompts: InferencePrompts,
    examples: Sequence[Inference],
    *,
    chain_of_thought: bool,
) -> str:
    """Return the question about a premise and a hypothesis.

    Args:
        item: What is asked about.
        name: Which prompt.
        prompts: All prompts.
        examples: Items that are shown with their answers before it; none for zero shots.
        chain_of_thought: Whether the model is asked to reason first.

    Raises:
        PromptError: There is no such prompt, or the item's premise is one of the examples'.

    Source:
        Scivetti et al. 2025, experiments 1 and 2; all words are this project's own.
    """
    if any(example.premise == item.premise for example in examples):
        raise PromptError(
            f"the premise {item.premise!r} is asked about and is an example too; remove it from one of the two"
        )
    shown = [
        prompts.example.format(
            premise=example.premise, hypothesis=example.hypothesis, answer=RELATIONS.index(example.gold)
        )
        for example in examples
    ]
    asked = prompts.item.format(premise=item.premise, hypothesis=item.hypothesis)
    heading = [prompts.heading] if shown else []
    ending = prompts.ending(chain_of_thought=chain_of_thought)
    return "\n\n".join([_text(prompts.prompts, name), *heading, *shown, asked, ending])


def ask_reasoning(
    item: Reasoning, name: str, prompts: ReasoningPrompts, *, chain_of_thought: bool, order: str = PAPER
) -> str:
    """Return the multiple-choice question.

    Args:
        item: What is asked about.
        name: Which prompt.
        prompts: All prompts.
        chain_of_thought: Whether the model is told to reason first.
        order: The order in which the options are shown, see `cxprobe.lm.prompts`.

    Raises:
        PromptError: There is no such prompt.

    Source:
        Scivetti et al. 2025, experiment 3, for the paper's order; all words are this project's own.
    """
    shown = {letter.lower(): option for letter, option in shown_options(item.a, item.b, prompts.neither, order).items()}
    asked = prompts.item.format(text=item.text, question=item.question, **shown)
    before = _text(prompts.prompts, name).replace("{unsure}", shown_letter("C", order))
    return "\n\n".join([before, asked, prompts.ending(chain_of_thought=chain_of_thought)])


def _text(prompts: dict[str, Prompt] | dict[str, ReasoningPrompt], name: str) -> str:
    if name not in prompts:
        raise PromptError(f"prompt '{name}' is unknown{suggest(name, list(prompts))}")
    return prompts[name].text
