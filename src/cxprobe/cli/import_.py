"""The command that takes over texts of others: ``cxprobe import KIND FILES``."""

from pathlib import Path
from typing import Annotated, Literal

import typer


def import_(
    kind: Annotated[Literal["prompts"], typer.Argument(help="prompts: those of a paper's authors.")],
    files: Annotated[
        list[Path],
        typer.Argument(help="Python files with a list `prompts`: about inference and about multiple choice."),
    ],
) -> None:
    """Write the prompts of a paper's authors into prompts/verbatim.yaml, from files of code that are read and not run.

    `prompts.make.wording: verbatim` asks by them. git ignores the file: the words are the authors'.
    """
    from cxprobe.tasks.registry import TASKS

    del kind
    for task in TASKS.values():
        for path, names in task.import_prompts(files).items():
            print(f"{path} has {', '.join(names)}")
    print("Next: set prompts.make.wording to verbatim, name these prompts in prompts.make, and run `cxprobe check`")
