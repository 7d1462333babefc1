"""The command ``cxprobe plan``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxprobe.cli.names import complete_parameter_file, refuse_unknown_file

if TYPE_CHECKING:
    from cxprobe.planning.plan import Plan

PIPELINE = Path("dvc.yaml")


def plan(
    preset: Annotated[
        Path,
        typer.Option(
            help="The parameter file to plan, such as presets/paper.yaml.",
            show_default=True,
            autocompletion=complete_parameter_file,
        ),
    ] = Path("params.yaml"),
) -> None:
    """Say what a run would do: stages, texts, questions and tokens, and the hours that they take; nothing is run."""
    from cxprobe.planning.page import page_of_plan

    refuse_unknown_file(preset)
    print(page_of_plan(plan_of(preset), f"What {preset} asks for"), end="")


def plan_of(path: Path, *, imports: bool = True) -> "Plan":
    """Return the plan of a parameter file, with the files of the working directory. No model and no network is used.

    Args:
        path: The parameter file.
        imports: Whether files that were imported or mined are counted where they are there; without, the plan is the
            same in every clone.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    from cxprobe.cli.counting import count_data
    from cxprobe.errors import DataError
    from cxprobe.files.schema import read_yaml
    from cxprobe.planning.facts import load_facts
    from cxprobe.planning.plan import make_plan
    from cxprobe.planning.stages import stage_items
    from cxprobe.run.params import load_params

    params, facts = load_params(path), load_facts()
    stages = stage_items(read_yaml(PIPELINE, DataError), read_yaml(path, DataError))
    return make_plan(params, tuple(stages), count_data(params, facts, imports=imports), facts)
