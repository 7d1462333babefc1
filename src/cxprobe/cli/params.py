"""The command ``cxprobe preset``: params.yaml as a whole."""

from pathlib import Path
from typing import Annotated

import typer


def preset(
    name: Annotated[str, typer.Argument(help="A file of presets/, as `pairs`.")],
    only: Annotated[
        str, typer.Option(help="A figure or table of a paper's preset, as `figure-3`: params.yaml asks for no more.")
    ] = "",
    show: Annotated[bool, typer.Option("--show", help="Print it, and leave params.yaml as it is.")] = False,
) -> None:
    """Write params.yaml from a preset: presets/base.yaml, and what the preset says differently."""
    from cxprobe.files.writing import write_bytes
    from cxprobe.project.presets import preset_text
    from cxprobe.run.params import PARAMS_FILE

    text = preset_text(name, Path("presets"), only)
    if show:
        print(text, end="")
        return
    write_bytes(text.encode(), PARAMS_FILE)
    print(f"{PARAMS_FILE} is that of the preset {name}. Next: cxprobe check, dvc repro")
