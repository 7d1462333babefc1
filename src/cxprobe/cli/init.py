"""The commands ``cxprobe init`` and ``cxprobe preset``: a project, and its params.yaml."""

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[Path, typer.Argument(help="The folder; it must not exist, or be empty.")],
    preset: Annotated[
        str,
        typer.Option(help="What params.yaml is to be, as `pairs`; the models that it names are copied."),
    ] = "quick",
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Let a project that is there take over the installed version of cxprobe.")
    ] = False,
) -> None:
    """Make a project's folder, in which `dvc repro` works: parameters, pipeline, constructions, prompts, models."""
    from cxprobe.cli.project import create_project, upgrade_project
    from cxprobe.project.folder import installed_version

    if upgrade:
        upgrade_project(folder)
        print(
            f"{folder} is now a project for {installed_version()}; params.yaml and constructions/ are as they were\n"
            "Files of earlier versions that this version no longer has stay\n"
            "Next: git diff, cxprobe check, dvc repro"
        )
        return
    create_project(folder, preset)
    print(
        f"{folder} is a project with the preset {preset}, for {installed_version()}. Next:\n\n"
        f"    cd {folder}\n"
        "    cxprobe check                # every fault of its files\n"
        "    git add --all && git commit --message 'Begin the project'\n"
        "    dvc repro\n\n"
        "README.md says what is where. `cxprobe new construction NAME` begins a construction."
    )


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
