"""Beginning a construction or a project, and taking a project over to another version of cxprobe."""

import logging
import re
import shutil
import subprocess
from contextlib import chdir
from importlib.metadata import distributions
from pathlib import Path

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import ProjectError
from cxprobe.files.reading import read_text
from cxprobe.files.schema import SLUG_PATTERN
from cxprobe.files.writing import write_bytes
from cxprobe.project.bundled import bundled_files, bundled_paths
from cxprobe.project.checks import SCAFFOLD
from cxprobe.project.folder import VERSION_FILE, installed_version
from cxprobe.project.presets import preset_text

_HEAD = f"""\
# Written by `cxprobe init`: do not change it, since `cxprobe init --upgrade .` writes it anew. Stages depend on
# {VERSION_FILE}, which names the version of cxprobe that the project was made for; in the repository of cxprobe they
# depend on src/cxprobe.
#
"""
_README = Path(__file__).parent / "templates" / "project.md"
_PARAMS, _PIPELINE, _PACKAGES = Path("params.yaml"), Path("dvc.yaml"), Path("corpora/documentation.txt")
# What a project may not change without its next upgrade undoing it; all else is the team's.
_OWNED = (".dvc/plots", "constraints.txt", "dvc.yaml", "params.schema.json", "pipelines", "presets", "published")


def require_name(kind: str, name: str) -> None:
    """Refuse a name that cannot be a part of paths and of DVC's stage names.

    Raises:
        ProjectError: It has other characters than small letters, digits and hyphens, or begins with a hyphen.
    """
    if not re.fullmatch(SLUG_PATTERN, name):
        near = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        hint = f"; take '{near}'" if near else ""
        raise ProjectError(
            f"'{name}' cannot be the name of a {kind}: it may have small letters, digits and hyphens, and begins with "
            f"a letter or digit{hint}"
        )


def add_construction(name: str) -> Path:
    """Write the files of a new construction, commented and with an example, into the project in the working directory.

    Args:
        name: The name of its folder.

    Returns:
        The folder.

    Raises:
        ProjectError: The name is not allowed, or is taken.
    """
    require_name("construction", name)
    if name == "all":
        raise ProjectError(f"'{name}' is the name of the runs over all constructions; take another name")
    folder = CONSTRUCTIONS_FOLDER / name
    if folder.exists():
        raise ProjectError(f"{folder} exists already; take another name, or remove it first")
    title = name.replace("-", " ").capitalize()
    for file in sorted(SCAFFOLD.rglob("*.*")):
        text = file.read_text(encoding="utf-8").replace("<SLUG>", name).replace("<TITLE>", title)
        write_bytes(text.encode(), folder / file.relative_to(SCAFFOLD))
    return folder


def create_project(folder: Path, preset: str) -> None:
    """Make a project in which ``dvc repro`` works without the source of cxprobe.

    It has the files of `cxprobe.project.bundled.BUNDLED`, of the models only those that the preset names, params.yaml
    as the preset has it, and a dvc.yaml whose stages depend on the installed version, not on the source. Git and DVC
    are initialised where the folder is in no repository yet; nothing is committed.

    Args:
        folder: A folder that does not exist or is empty (a repository that git has just made is).
        preset: One of `cxprobe.project.presets.preset_names`.

    Raises:
        ProjectError: The folder is not empty, or cannot be written; the preset does not exist; git is not installed.
    """
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
        write_bytes(params.encode(), folder / _PARAMS)
        _copy_carried(source, folder)
        readme = _README.read_text(encoding="utf-8").replace("<TITLE>", folder.absolute().name)
        write_bytes(readme.replace("<PRESET>", preset).encode(), folder / "README.md")
        _keep_installed(folder / _PACKAGES)
        _write_pipeline(folder)
    except OSError as fault:
        raise ProjectError(f"{folder}: cannot be written: {fault.strerror} ({fault.filename})") from fault


def upgrade_project(folder: Path) -> None:
    """Overwrite the files of cxprobe in a project with the files of the installed version.

    Files that this version no longer has stay. Git shows what has changed.

    params.yaml, constructions, lexicon, prompts, corpora and models stay as they are.

    Raises:
        ProjectError: The folder was not made by `create_project`, or changes of what is cxprobe's are not committed.
    """
    if not (folder / VERSION_FILE).is_file():
        raise ProjectError(
            f"{folder}: there is no {VERSION_FILE}, so `cxprobe init` has not made this project, and there is nothing "
            "to upgrade"
        )
    done = _git(folder, "status", "--porcelain", "--", *_OWNED)
    if done.returncode or done.stdout.strip():
        said = done.stderr.strip() or done.stdout.rstrip()
        raise ProjectError(
            f"{folder}: commit {', '.join(_OWNED)} first (`git add --all && git commit`), since they are replaced, and "
            f"git is to show by what; git says:\n{said}"
        )
    source = bundled_files()
    for path in bundled_paths(source):
        if any(path.is_relative_to(owned) for owned in _OWNED):
            write_bytes((source / path).read_bytes(), folder / path)
    _write_pipeline(folder)


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
    write_bytes("".join(f"{line}\n" for line in (*head, *installed)).encode(), file)


def _write_pipeline(folder: Path) -> None:
    text = (bundled_files() / _PIPELINE).read_text(encoding="utf-8")
    write_bytes((_HEAD + text.replace("src/cxprobe]", f"{VERSION_FILE}]")).encode(), folder / _PIPELINE)
    write_bytes(f"{installed_version()}\n".encode(), folder / VERSION_FILE)


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
