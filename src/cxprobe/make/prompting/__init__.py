"""Questions about constructions, in words and as texts to continue.

A construction's items are data (`cxprobe.constructions`): inferences (a premise and a hypothesis) and multiple-choice
items. Files in the formats of the CxNLI release are read beside them (`read_inference_file`, `read_reasoning_file`).
`load_material` collects both, together with the sources of examples (`load_pool`). Prompts are data as well
(`load_inference_prompts`, `load_reasoning_prompts`): `build_questions` makes all questions about a construction, with
examples before them (`choose_examples`, `without_examples`) or none. `build_choices` makes the same items into texts
that continue with one answer or another (`load_continuations`), for models that follow no instructions. The options of
multiple-choice items are shown in one order or in three (`orders`). `item_table` has all items, for models that are
asked about no prompt.

Two more files have the prompts by which a model writes and filters frames of minimal pairs (`load_writing_prompt`), and
those that show both texts of a pair and ask which is the likelier (`load_preference_prompts`, `preference_questions`).
"""

from cxprobe.make.prompting.continuations import (
    Continuations,
    continue_inference,
    continue_reasoning,
    load_continuations,
)
from cxprobe.make.prompting.cxnli import InferenceFile, Repair, read_inference_file, repair_table
from cxprobe.make.prompting.examples import choose_examples, without_examples
from cxprobe.make.prompting.item_tables import item_table
from cxprobe.make.prompting.material import Material, load_material, load_pool, material_files, pool_files
from cxprobe.make.prompting.preferences import (
    PreferencePrompts,
    draw_pairs,
    load_preference_prompts,
    preference_questions,
)
from cxprobe.make.prompting.questions import build_choices, build_questions
from cxprobe.make.prompting.reasoning_files import ReasoningFile, read_reasoning_file
from cxprobe.make.prompting.templates import (
    PROMPTS_FOLDER,
    InferencePrompts,
    ReasoningPrompts,
    ask_inference,
    ask_reasoning,
    load_inference_prompts,
    load_reasoning_prompts,
)
from cxprobe.make.prompting.writing import WritingPrompt, load_writing_prompt, require_sentences

__all__ = [
    "PROMPTS_FOLDER",
    "Continuations",
    "InferenceFile",
    "InferencePrompts",
    "Material",
    "PreferencePrompts",
    "ReasoningFile",
    "ReasoningPrompts",
    "Repair",
    "WritingPrompt",
    "ask_inference",
    "ask_reasoning",
    "build_choices",
    "build_questions",
    "choose_examples",
    "continue_inference",
    "continue_reasoning",
    "draw_pairs",
    "item_table",
    "load_continuations",
    "load_inference_prompts",
    "load_material",
    "load_pool",
    "load_preference_prompts",
    "load_reasoning_prompts",
    "load_writing_prompt",
    "material_files",
    "pool_files",
    "preference_questions",
    "read_inference_file",
    "read_reasoning_file",
    "repair_table",
    "require_sentences",
    "without_examples",
]
