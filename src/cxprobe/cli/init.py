"""The commands ``cxprobe init`` and ``cxprobe preset``: a project, and its params.yaml."""

import logging
import re
import shutil
import subprocess
from contextlib import chdir
from importlib.metadata import distributions
from pathlib import Path
from typing import Annotated

import typer

from cxprobe.errors import ProjectError
from cxprobe.files.reading import read_text
from cxprobe.project.bundled import bundled_files, bundled_paths

_README = Path(__file__).parent / "templates" / "project.md"
_PARAMS, _PACKAGES = Path("params.yaml"), Path("corpora/documentation.txt")
# In a project without the source: the installed code may change, and only list_code can find that out.
_LOOKS_EACH_TIME = "always_changed: true\n    deps: [pipelines]"


def init(
    folder: Annotated[Path, typer.Argument(help="The folder; it must not exist, or be empty.")],
    preset: Annotated[
        str,
        typer.Option(help="What params.yaml is to be, as `pairs`; the models that it names are copied."),
    ] = "quick",
) -> None:
    """Make a project's folder, in which `dvc repro` works: parameters, pipeline, constructions, prompts, models."""
    create_project(folder, preset)
    print(
        f"{folder} is a project with the preset {preset}. Next:\n\n"
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


def create_project(folder: Path, preset: str) -> None:
    """Make a project in which ``dvc repro`` works without the source of cxprobe.

    It has the files of ``BUNDLED``, of the models only those that the preset names, params.yaml as it has it, and
    a dvc.yaml that looks at the installed code at each run, since the source is not there. Git and DVC are initialised
    where the folder is in no repository yet; nothing is committed.

    Args:
        folder: A folder that does not exist or is empty (a repository that git has just made is).
        preset: One of `cxprobe.project.presets.preset_names`.

    Raises:
        ProjectError: The folder is not empty, or cannot be written; the preset does not exist; git is not installed.
    """
    from cxprobe.project.presets import preset_text

    source = bundled_files()
    params = preset_text(preset, source / "presets")
    if folder.exists() and not folder.is_dir():
        raise ProjectError(f"{folder} is a file; name a folder")
    if there := sorted(path.name for path in folder.glob("*") if path.name != ".git"):
        raise ProjectError(f"{folder} is not empty ({there[0]} ...); name a new folder, so that nothing is replaced")
    if shutil.which("git") is None:
        raise ProjectError("git is not installed, and DVC needs it for a project; install git first")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _initialise(folder)  # before the files of DVC are copied, since it refuses a .dvc that is there
        (folder / _PARAMS).write_text(params, encoding="utf-8")
        _copy_carried(source, folder)
        readme = _README.read_text(encoding="utf-8").replace("<TITLE>", folder.absolute().name)
        (folder / "README.md").write_text(readme.replace("<PRESET>", preset), encoding="utf-8")
        _keep_installed(folder / _PACKAGES)
        pipeline = (folder / "dvc.yaml").read_text(encoding="utf-8")
        pipeline = pipeline.replace("deps: [pipelines, src/cxprobe]", _LOOKS_EACH_TIME)
        (folder / "dvc.yaml").write_text(pipeline, encoding="utf-8")
    except OSError as fault:
        raise ProjectError(f"{folder}: cannot be written: {fault.strerror} ({fault.filename})") from fault


def _copy_carried(source: Path, folder: Path) -> None:
    """Copy what a project needs; of the models those that its params.yaml names, with the cards and licences above."""
    models = [Path(name) for name in re.findall(r": (models/[\w./-]+)", read_text(folder / _PARAMS, ProjectError))]
    for path in bundled_paths(source):
        is_about = path.name.startswith(("README", "LICENSE"))
        is_wanted = path.parts[0] != "models" or any(
            path.is_relative_to(model) or (is_about and model.is_relative_to(path.parent)) for model in models
        )
        if is_wanted and path != _PARAMS:  # the preset's is there
            target = folder / ("LICENSE-cxprobe" if path.as_posix() == "LICENSE" else path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, target)


def _keep_installed(file: Path) -> None:
    """Leave out of the embedded corpus the packages that are not installed, whose documentation is not here."""
    names = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    installed = [name for name in names if any(distributions(name=name))]
    head = (
        "# The packages whose documentation is the embedded corpus: those that cxprobe was tested with and that were",
        f"# installed when `cxprobe init` made this project, {len(installed)} of {len(names)}. Pin their versions.",
    )
    file.write_text("".join(f"{line}\n" for line in (*head, *installed)), encoding="utf-8")


def _initialise(folder: Path) -> None:
    """Let git and DVC know the folder, as far as no repository above it does."""
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    above = _git(folder, "rev-parse", "--show-toplevel")
    if above.returncode and (done := _git(folder, "init", "--quiet")).returncode:
        raise ProjectError(f"{folder}: `git init` failed: {done.stderr.strip()}")
    is_inside = above.returncode == 0 and Path(above.stdout.strip()).resolve() != folder.resolve()
    # DVC prints a welcome; cxprobe init prints the next steps itself
    logging.getLogger("dvc").setLevel(logging.WARNING)
    try:
        with chdir(folder), Repo.init(subdir=is_inside):
            pass
    except DvcException as fault:
        raise ProjectError(f"{folder}: DVC cannot begin: {fault}") from fault


def _git(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
