"""The files that people write, as Markdown: from the models that read them, and from the files' own comments."""

import ast
from pathlib import Path

from models_in_markdown import as_markdown, describe_model, paragraphs

import cxprobe.text
from cxprobe.constructions.construction import Construction, People
from cxprobe.corpora.pattern import Pattern
from cxprobe.files.schema import Closed
from cxprobe.labels import Label
from cxprobe.tasks.contrasts.make import ContrastsFile
from cxprobe.tasks.interventions.make import InterventionsFile, NeutralSentences
from cxprobe.tasks.pairs.frames import PairsFile
from cxprobe.tasks.prompts.items import ConstructionItems
from cxprobe.tasks.scenarios.rules import Scenarios

HEAD = """\
# File formats

This page is made from the models that the files are read with, and from comments in the files. `cxprobe check` reports
every fault of every file at once. All files are UTF-8 text.

A construction is a folder `constructions/<name>/`. It needs `construction.yaml` and the files of the tasks that
you want; a file that is not there is a task that does not apply.

| file | who reads it |
|---|---|
| [construction.yaml](#constructionyaml) | everything |
| `grammars/train.cfg`, `grammars/test.cfg` | recognition: two grammars with the same rules and other words |
| `grammars/balanced_train.cfg`, `grammars/balanced_test.cfg` | recognition: the second pair of grammars |
| [pattern.yaml](#patternyaml) | mining |
| [labels.tsv](#labelstsv) | recognition of mined sentences |
| [scenarios.yaml](#scenariosyaml) | scenarios |
| [pairs.yaml](#pairsyaml) | minimal pairs |
| `form_pairs.yaml` | minimal pairs of form, in the format of pairs.yaml; called `<name>-form` in params.yaml |
| [contrasts.yaml](#contrastsyaml) | contrasts, by which verdicts of meaning are given |
| [items.yaml](#itemsyaml) | prompts |
| [interventions.yaml](#interventionsyaml) | interventions |
"""
# File -> the model that reads it.
MODELS: dict[str, type[Closed]] = {
    "construction.yaml": Construction,
    "pattern.yaml": Pattern,
    "pairs.yaml": PairsFile,
    "contrasts.yaml": ContrastsFile,
    "scenarios.yaml": Scenarios,
    "items.yaml": ConstructionItems,
    "interventions.yaml": InterventionsFile,
    "labels.tsv": Label,
    "lexicon/people.yaml": People,
    "lexicon/neutral.yaml": NeutralSentences,
}
# What a heading is about -> the module whose docstring tells it.
MODULES = {
    "Minimal pairs from other sources": "src/cxprobe/tasks/pairs/benchmarks.py",
}


def describe_formats(folder: Path) -> str:
    """Return the page about all files that people write in a project's folder."""
    parts = [HEAD]
    for file, model in MODELS.items():
        parts += [f"## {file}", paragraphs(model.__doc__ or ""), describe_model(model, 3)]
    for title, module in MODULES.items():
        docstring = ast.get_docstring(ast.parse((folder / module).read_text())) or ""
        parts += [f"## {title}", as_markdown(docstring)]
    parts += ["## Templates", as_markdown(cxprobe.text.__doc__ or "")]
    parts += ["## Prompts", "Files of `prompts/`, as their own comments describe them."]
    for path in sorted((folder / "prompts").glob("*.yaml")):
        parts += [f"### prompts/{path.name}", _leading_comment(path)]
    return "\n\n".join(parts) + "\n"


def _leading_comment(path: Path) -> str:
    """Return the comment at the top of a file, in its own lines: some are lists that are aligned."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").removeprefix(" "))
    return "```text\n" + "\n".join(lines) + "\n```"
