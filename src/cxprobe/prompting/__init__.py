"""Prompting: what language models are asked about constructions, in words.

A construction's items are data (`load_items`) and become inferences (`render_inferences`) and multiple-choice items
(`render_reasonings`); files in the shape of the CxNLI release are read beside them (`read_inference_file`). Prompts are
data as well (`load_inference_prompts`, `load_reasoning_prompts`) and make questions of the items (`ask_inference`,
`ask_reasoning`), with examples before them (`load_pool`, `choose_examples`, `without_examples`) or none. All questions
about a construction are one table (`build_questions`), which is put to a model through inspect_ai (`open_llm`,
`demand`, `put_questions`). Models that follow no instructions are asked about the same items by texts that go on with
one answer or another (`load_continuations`, `build_choices`); what they make of these is the affair of the likelihood
room.

Frames of minimal pairs are asked for, and filtered, in the words of one more file (`load_writing_prompt`).
"""

from cxprobe.prompting.continuations import Continuations, continue_inference, continue_reasoning, load_continuations
from cxprobe.prompting.cxnli import InferenceFile, Repair, read_inference_file
from cxprobe.prompting.engine import Demand, Question, Reply, demand, open_llm, put_questions
from cxprobe.prompting.examples import choose_examples, without_examples
from cxprobe.prompting.items import Items, load_items, render_inferences, render_reasonings
from cxprobe.prompting.material import (
    Material,
    inference_table,
    inferences_of,
    load_material,
    load_pool,
    material_files,
    pool_files,
)
from cxprobe.prompting.questions import build_choices, build_questions
from cxprobe.prompting.templates import (
    InferencePrompts,
    ReasoningPrompts,
    ask_inference,
    ask_reasoning,
    load_inference_prompts,
    load_reasoning_prompts,
)
from cxprobe.prompting.writing import WritingPrompt, load_writing_prompt, require_sentences

__all__ = [
    "Continuations",
    "Demand",
    "InferenceFile",
    "InferencePrompts",
    "Items",
    "Material",
    "Question",
    "ReasoningPrompts",
    "Repair",
    "Reply",
    "WritingPrompt",
    "ask_inference",
    "ask_reasoning",
    "build_choices",
    "build_questions",
    "choose_examples",
    "continue_inference",
    "continue_reasoning",
    "demand",
    "inference_table",
    "inferences_of",
    "load_continuations",
    "load_inference_prompts",
    "load_items",
    "load_material",
    "load_pool",
    "load_reasoning_prompts",
    "load_writing_prompt",
    "material_files",
    "open_llm",
    "pool_files",
    "put_questions",
    "read_inference_file",
    "render_inferences",
    "render_reasonings",
    "require_sentences",
    "without_examples",
]
