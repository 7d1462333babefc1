"""params.yaml as Markdown, from the pydantic model that checks it."""

from pathlib import Path

from models_in_markdown import describe_model

from cxprobe.errors import ParamsError
from cxprobe.files.schema import read_yaml
from cxprobe.project.params import whole_params

HEAD = """\
# Parameters

This page is made from the model that `cxprobe check` reads `params.yaml` with. An unknown key is a fault. So is a
missing one that has no default here. `params.schema.json` is the same as a JSON Schema: editors complete and check
params.yaml by it.

The last column is what this project's `params.yaml` has, where it is short. `cxprobe preset NAME` writes the file from
a preset.
"""


def describe_params(folder: Path) -> str:
    """Return the page about params.yaml, with the values of a project's own file."""
    return f"{HEAD}\n{describe_model(whole_params(), 2, read_yaml(folder / 'params.yaml', ParamsError))}\n"
