"""The authors' own prompts, from the Python files of a release. Their strings are read; nothing of a file is run."""

import ast
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from cxprobe.errors import PromptError
from cxprobe.files.reading import read_text
from cxprobe.tasks.prompts.wording import InferencePrompts, ReasoningPrompts

CONTENTS = 4  # the first prompts of a file are the variations 1 to 4 of the paper
_STEPS = re.compile(r"step by step", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:Question:\s*)?\{\}.*", re.DOTALL)
_UNSURE = re.compile(r"(?<!or )\bC\b")  # and not the last of "A, B or C"
_ANSWERS = {InferencePrompts.kind: re.compile(r"\b0\b.*\b2\b", re.DOTALL), ReasoningPrompts.kind: re.compile(r"\bA, B")}
_FORMATS: dict[str, dict[str, str]] = {
    InferencePrompts.kind: {
        "heading": "Examples:",
        "example": "Premise: {premise}\nHypothesis: {hypothesis}\nRelation: {answer}",
        "item": "Premise: {premise}\nHypothesis: {hypothesis}\nRelation:",
    },
    ReasoningPrompts.kind: {
        "item": "Question: {text} {question}\n\nOption A: {a}\nOption B: {b}\nOption C: {c}",
        "neither": "Not enough information",
    },
}


def verbatim_prompts(files: Sequence[Path]) -> dict[str, Any]:
    """Return the content of ``prompts/verbatim.yaml`` from files whose list ``prompts`` has an author's prompts.

    A file whose prompts have a place for the item, {}, is about multiple choice. The first four prompts are paper-1 to
    paper-4; each other one re-phrases the one of these that it is most alike, as paper-3-rephrased-1. One that asks for
    reasoning "step by step" becomes ``reasoned`` of the prompt that it is most alike. Those without the answers
    (0 to 2, or A, B and C) are left out: they ask for an answer in the model's own words.

    Raises:
        PromptError: A file is no Python, has no list of strings of this name or too few prompts, or a kind lacks.

    Source:
        The order of prompts is that of Scivetti et al. 2025, Tables 13 and 14.
    """
    sections: dict[str, Any] = {}
    for path in files:
        texts = _listed(path)
        kind = ReasoningPrompts.kind if any("{}" in text for text in texts) else InferencePrompts.kind
        texts = [text for text in texts if _ANSWERS[kind].search(text)]
        plain = [text for text in texts if not _STEPS.search(text)]
        if len(plain) < CONTENTS:
            raise PromptError(
                f"{path}: {len(plain)} prompts about {kind}; expected {CONTENTS} or more, name another file"
            )
        names = {text: f"paper-{number}" for number, text in enumerate(plain[:CONTENTS], start=1)}
        rephrased = dict.fromkeys(names.values())
        for text in plain[CONTENTS:]:
            content = names[_most_alike(text, plain[:CONTENTS])]
            names[text] = f"{content}-rephrased-{[*rephrased.values()].count(content) + 1}"
            rephrased[names[text]] = content
        prompts: dict[str, dict[str, Any]] = {}
        for text, name in names.items():
            before = _before(text, kind)
            prompts[name] = {"rephrases": rephrased[name], "text": before, "reasoned": None}
            if kind == ReasoningPrompts.kind:
                prompts[name]["unsure"] = "{unsure}" in before
        for text in filter(_STEPS.search, texts):
            prompts[names[_most_alike(text, plain)]]["reasoned"] = _before(text, kind)
        sections[kind] = {"prompts": prompts, "direct": "", "reasoned": "", **_FORMATS[kind]}
    if lacking := sorted(_FORMATS.keys() - sections.keys()):
        raise PromptError(f"no file has prompts about {lacking[0]}; name the file that has, beside the other")
    return sections


def _listed(path: Path) -> list[str]:
    """Return the different strings of the list ``prompts`` of a Python file, in its order."""
    texts: list[str] = []
    try:
        for node in ast.parse(read_text(path, PromptError)).body:
            if isinstance(node, ast.Assign) and "prompts" in map(ast.unparse, node.targets):
                texts += map(str.strip, ast.literal_eval(node.value))
    except (SyntaxError, ValueError, AttributeError, TypeError) as fault:
        raise PromptError(
            f"{path}: prompts is no list of strings in Python ({fault}); name the file that has it"
        ) from fault
    return list(dict.fromkeys(texts))


def _most_alike(text: str, others: Sequence[str]) -> str:
    """Return the one of others that is most alike, among those that say, as the text does or not, when to choose C."""
    same = [other for other in others if bool(_UNSURE.search(other)) == bool(_UNSURE.search(text))]
    return max(same or others, key=lambda other: SequenceMatcher(None, text, other, autojunk=False).ratio())


def _before(text: str, kind: str) -> str:
    """Return the text before the item, for multiple choice with {unsure} for the letter C."""
    return _UNSURE.sub("{unsure}", _ITEM.sub("", text)) if kind == ReasoningPrompts.kind else text
