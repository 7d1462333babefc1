"""params.yaml as Markdown, from the pydantic model that checks it."""

from pathlib import Path

from models_in_markdown import describe_sections

from cxprobe.errors import ParamsError
from cxprobe.files.schema import read_yaml
from cxprobe.run.params import Params

HEAD = """\
# Parameters

This page is made from the model that `cxprobe check` reads `params.yaml` with. An unknown key is a fault. So is a
missing one, unless it says otherwise here. Sections that neither `lines` nor `grid` need may be left out.
`params.schema.json` has the same for editors.

The last column is what `presets/embedded.yaml` has, where it is short; `presets/paper.yaml` has the papers' values.
"""
GROUPS = {
    "What runs": ["seed", "lines", "grid"],
    "Models, corpora, benchmarks": ["models", "llms", "series", "corpora", "benchmarks", "precision"],
    "Recognition": [
        "generate_sentences",
        "mine_sentences",
        "label_sentences",
        "build_recognition",
        "extract_features",
        "tune_probes",
        "fit_probes",
    ],
    "Scenarios": ["build_scenarios", "fill_scenarios"],
    "Minimal pairs": ["build_pairs", "write_frames", "score_pairs", "ask_pairs", "judge_pairs"],
    "The same pairs, three ways": ["fit_pair_probes", "judge_ways"],
    "Prompts": ["build_prompts", "score_answers", "judge_answers"],
    "Reports": ["cards"],
}


def describe_params(folder: Path) -> str:
    """Return the page about params.yaml, with the values of the embedded preset of a project's folder."""
    values = read_yaml(folder / "presets" / "embedded.yaml", ParamsError)
    known = set(Params.model_fields)
    groups = {title: found for title, names in GROUPS.items() if (found := [name for name in names if name in known])}
    grouped = {name for names in groups.values() for name in names}
    groups["Reports"] += [name for name in Params.model_fields if name not in grouped]
    return f"{HEAD}\n{describe_sections(Params, values, groups)}\n"
