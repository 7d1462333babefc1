"""The commands ``cxprobe init`` and ``cxprobe preset``: a project, and its params.yaml.

A preset is a file that says what differs from presets/base.yaml; params.yaml, which DVC reads, is written from both.
"""

import logging
import re
import shutil
import subprocess
from contextlib import chdir
from importlib.metadata import distributions
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxprobe.errors import ParamsError, ProjectError
from cxprobe.project.bundled import bundled_files, bundled_paths

if TYPE_CHECKING:
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

_PACKAGES = Path("corpora/documentation.txt")
_BASE = "base"
_EXTENDS = "extends"  # the key of a preset that names those which it begins with
_HEAD = """\
# yaml-language-server: $schema=params.schema.json
# Made from the preset {name} by `cxprobe preset {name}`, and yours to change.
"""


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
        "README.md says what is where. `cxprobe add construction NAME` begins a construction."
    )


def preset(
    name: Annotated[str, typer.Argument(help="A file of presets/, as `pairs`.")],
    only: Annotated[
        str, typer.Option(help="A figure or table of a paper's preset, as `figure-3`: params.yaml asks for no more.")
    ] = "",
) -> None:
    """Write params.yaml from a preset: presets/base.yaml, and what the preset says differently."""
    from cxprobe.files.writing import write_bytes
    from cxprobe.run.params import PARAMS_FILE

    write_bytes(preset_text(name, Path("presets"), only).encode(), PARAMS_FILE)
    print(f"{PARAMS_FILE} is that of the preset {name}. Next: cxprobe check, dvc repro")


def create_project(folder: Path, preset: str) -> None:
    """Make a project in which ``dvc repro`` works without the source of cxprobe.

    It has the files of ``BUNDLED``, of the models only those that the preset names, params.yaml as it has it, and
    a dvc.yaml that looks at the installed code at each run, since the source is not there. Git and DVC are initialised
    where the folder is in no repository yet; nothing is committed.

    Args:
        folder: A folder that does not exist or is empty (a repository that git has just made is).
        preset: One of `preset_names`.

    Raises:
        ProjectError: The folder is not empty, or cannot be written; the preset does not exist; git is not installed.
    """
    from cxprobe.run.params import PARAMS_FILE

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
    except OSError as fault:  # such as below a file
        raise ProjectError(f"{folder}: cannot be written: {fault.strerror} ({fault.filename})") from fault
    _initialise(folder)  # before the files of DVC are copied, since it refuses a .dvc that is there
    _copy_carried(source, folder, params)
    (folder / PARAMS_FILE).write_text(params, encoding="utf-8")
    template = Path(__file__).parent / "templates" / "project.md"
    readme = template.read_text(encoding="utf-8").replace("<TITLE>", folder.absolute().name)
    (folder / "README.md").write_text(readme.replace("<PRESET>", preset), encoding="utf-8")
    pipeline = (folder / "dvc.yaml").read_text(encoding="utf-8")
    # In a project without the source: the installed code may change, and only list_code can find that out.
    pipeline = pipeline.replace("deps: [pipelines, src/cxprobe]", "always_changed: true\n    deps: [pipelines]")
    (folder / "dvc.yaml").write_text(pipeline, encoding="utf-8")
    listed = (folder / _PACKAGES).read_text(encoding="utf-8").splitlines()
    names = [line for line in listed if line[:1] not in ("", "#")]
    installed = [name for name in names if any(distributions(name=name))]
    packages = f"{len(installed)} of {len(names)} packages"
    head = f"# What was installed when `cxprobe init` ran, {packages}; pin their versions."
    (folder / _PACKAGES).write_text("\n".join([head, *installed, ""]), encoding="utf-8")


def _copy_carried(source: Path, folder: Path, params: str) -> None:
    """Copy what a project needs; of the models those that its parameters name, with the cards and licences above."""
    models = [Path(name) for name in re.findall(r": (models/[\w./-]+)", params)]
    for path in bundled_paths(source):
        is_about = path.name.startswith(("README", "LICENSE"))
        is_wanted = path.parts[0] != "models" or any(
            path.is_relative_to(model) or (is_about and model.is_relative_to(path.parent)) for model in models
        )
        if is_wanted:
            target = folder / ("LICENSE-cxprobe" if path.as_posix() == "LICENSE" else path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, target)


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


def preset_names(folder: Path) -> list[str]:
    """Return the names of the presets of a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml") if path.stem != _BASE)


def preset_text(name: str, folder: Path, only: str = "") -> str:
    """Return the params.yaml of a preset, with the comments of base.yaml and of the preset.

    Mappings are merged key by key; one in braces, and anything else, takes the place of what base.yaml has.

    Args:
        name: The preset.
        folder: The folder with base.yaml and the presets.
        only: The figure or table to make, of the section ``only`` of the preset; "" for all.

    Raises:
        ParamsError: The preset, figure or table does not exist, or a file is not valid YAML.
    """
    from cxprobe.files.schema import suggest

    names = preset_names(folder)
    if name not in names:
        raise ParamsError(f"there is no preset '{name}'{suggest(name, names)}")
    roundtrip = round_trip()
    content = _load(roundtrip, folder / f"{_BASE}.yaml")
    for file in _extended(name, folder):
        _merge(content, _load(roundtrip, file))
    parts = content.pop("only", {})  # figure or table -> what differs where nothing else is wanted
    if only:
        if only not in parts:
            raise ParamsError(f"the preset {name} has no part '{only}'{suggest(only, parts)}")
        _merge(content, parts[only])
    content.ca.comment = None  # what base.yaml says about itself
    written = StringIO()
    roundtrip.dump(content, written)
    # Merged comments bring empty lines into the middle of sections.
    text = re.sub(r"\n\n+(?= )", "\n", re.sub(r"\n{3,}", "\n\n", written.getvalue().strip("\n")))
    return _HEAD.format(name=f"{name} --only {only}" if only else name) + text + "\n"


def round_trip() -> "YAML":
    """Return what reads and writes params.yaml with its comments."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 200
    yaml.preserve_quotes = True
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.add_representer(
        type(None), lambda representer, _: representer.represent_scalar("tag:yaml.org,2002:null", "null")
    )
    return yaml


def _extended(name: str, folder: Path) -> list[Path]:
    """Return the files that make up a preset, in the order in which they are merged."""
    from cxprobe.files.schema import read_yaml

    file = folder / f"{name}.yaml"
    files = [path for other in read_yaml(file, ParamsError).get(_EXTENDS, ()) for path in _extended(other, folder)]
    return [*files, file]


def _load(roundtrip: "YAML", file: Path) -> "CommentedMap":
    from cxprobe.files.schema import read_yaml

    read_yaml(file, ParamsError)  # which refuses what is no plain YAML
    content: CommentedMap = roundtrip.load(file.read_text(encoding="utf-8"))
    content.pop(_EXTENDS, None)
    return content


def _merge(content: Any, other: Any) -> None:
    """Write the values of a mapping into another, with the comments beside them."""
    from ruamel.yaml.comments import CommentedMap

    for key, value in other.items():
        old = content.get(key)
        are_mappings = isinstance(old, CommentedMap) and isinstance(value, CommentedMap)
        if are_mappings and old and value and not value.fa.flow_style():  # an empty one empties
            _merge(old, value)
        else:
            content[key] = value
            if key in other.ca.items:
                content.ca.items[key] = other.ca.items[key]
