"""The command that gives data, tasks and results to other tools: ``cxprobe export FORMAT TARGET``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cxprobe.errors import DataError


def export(
    format_name: Annotated[
        Literal["hf", "lm-eval", "csv"],
        typer.Argument(
            metavar="FORMAT",
            help="hf: a data set of the hub. lm-eval: minimal pairs for lm-evaluation-harness. csv: every answer.",
        ),
    ],
    target: Annotated[
        Path,
        typer.Argument(help="The folder (hf, lm-eval), which must be new or empty, or the file, which is replaced."),
    ],
) -> None:
    """Give data, tasks and results to other tools.

    Data sets and tasks leave out mined sentences and items of other people; the command prints what they leave out.
    """
    from cxprobe.exports import EXPORTS
    from cxprobe.files.writing import write_bytes
    from cxprobe.project.params import load_params

    if format_name in ("hf", "lm-eval") and target.exists() and (target.is_file() or any(target.iterdir())):
        raise DataError(f"{target}: is there already; name a folder that does not exist or is empty")
    made = EXPORTS[format_name](load_params())
    for name, content in made.files.items():
        write_bytes(content, target / name)
    print(f"{target}:", *made.said, sep="\n")
