"""The command ``cxprobe download``: the models of the hub that params.yaml or a preset names."""

import shutil
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cxprobe.cli.names import complete_preset, shown_size
from cxprobe.errors import DataError, ParamsError

if TYPE_CHECKING:
    from huggingface_hub.file_download import DryRunFileInfo

    from cxprobe.project.params import Params

_SETTINGS = ("*.json", "*.txt", "*.model", "*.jinja")
# In the order in which transformers looks for them; other frameworks' weights, and what is in folders, stay on the hub.
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")


class _Repository(NamedTuple):
    """What is needed of the hub.

    Attributes:
        slug: The model in params.yaml, for messages.
        name: Its name on the hub.
        revision: Its revision; None is the main branch.
        has_weights: Whether more than its tokenizer is needed.
    """

    slug: str
    name: str
    revision: str | None
    has_weights: bool

    def __str__(self) -> str:
        return f"{self.slug}: {self.name} {self.revision or ''}".rstrip()


def download(
    preset: Annotated[
        str | None, typer.Option(help="A file of presets/, in place of params.yaml.", autocompletion=complete_preset)
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Only this entry of models; may be repeated. By default all that are measured."),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Say the sizes, and download nothing.")] = False,
) -> None:
    """Download the models of the hub that params.yaml or a preset names, each at its revision; it says sizes first.

    Files that are in the cache of the hub already (HF_HOME) are not downloaded again: after a break, give the same
    command again. Local folders and blind models need nothing.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.constants import HF_HUB_CACHE

    files, faults, missing = dict[_Repository, list[str]](), list[str](), 0
    for repository in _repositories(_params(preset), model):
        try:
            needed = _needed_files(repository)
        except DataError:  # nor will it answer for the others
            raise
        except Exception as fault:  # of the hub's client, of its HTTP library, or of the operating system
            faults.append(_fault(repository, fault))
            continue
        files[repository] = [file.filename for file in needed]
        size = sum(file.file_size or 0 for file in needed)
        to_download = sum(file.file_size or 0 for file in needed if file.will_download)
        missing += to_download
        there = f"{shown_size(size - to_download)} are there"
        print(f"{repository}: {shown_size(to_download)} to download, {there}", flush=True)
    cache = Path(HF_HUB_CACHE)
    free = shutil.disk_usage(next(folder for folder in (cache, *cache.parents) if folder.exists())).free
    print(f"{len(files)} models, {shown_size(missing)} to download; {cache} has {shown_size(free)} free")
    if missing > free:
        faults.append(f"{cache}: {shown_size(missing)} do not fit; let HF_HOME name a larger disk, or give --model")
    elif not show:
        for repository, names in files.items():
            try:
                snapshot_download(repository.name, revision=repository.revision, allow_patterns=names)
            except Exception as fault:  # the others need not wait for this one
                faults.append(_fault(repository, fault))
            else:
                print(f"{repository.slug} is there", flush=True)
    if faults:
        raise DataError("\n".join([*faults, f"{len(faults)} faults; the same command downloads what is missing"]))


def _params(preset: str | None) -> "Params":
    from cxprobe.project.params import load_params
    from cxprobe.project.presets import preset_text

    if preset is None:
        return load_params()
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{preset}.yaml"
        path.write_text(preset_text(preset, Path("presets")), encoding="utf-8")
        try:
            return load_params(path)
        except ParamsError as fault:
            raise ParamsError(str(fault).replace(folder, "presets")) from fault


def _repositories(params: "Params", slugs: list[str] | None) -> list[_Repository]:
    """Return the repositories of some entries of models, by default of all that a measuring stage asks, each once.

    Raises:
        ParamsError: There is no such entry, or a name is still to be written.
    """
    from cxprobe.files.schema import suggest
    from cxprobe.lines import LINES
    from cxprobe.lm.params import ModelSpec, ServedModel, empty_names, members_of

    lists = [f"{name}.{key}" for name, line in LINES.items() for key in line.measured.values()]
    slugs = slugs or list(dict.fromkeys(slug for part in lists for slug in params.names_of(part)))
    for slug in slugs:
        if slug not in params.models:
            raise ParamsError(f"--model {slug}: models has no '{slug}'{suggest(slug, list(params.models))}")
    if empty := empty_names(params.models, slugs):
        raise ParamsError("\n".join(f"{key} is empty; write the model's name, or choose with --model" for key in empty))
    repositories = dict[tuple[object, ...], _Repository]()
    for slug, spec in ((member.slug, member.spec) for member in members_of(params.models, slugs)):
        match spec:
            case ServedModel():
                repository = _Repository(slug, spec.tokenizer, spec.revision, has_weights=False)
            case ModelSpec():
                repository = _Repository(slug, spec.name, spec.revision, has_weights=True)
            case _:
                continue
        if not repository.name.startswith("package:") and not Path(repository.name).exists():
            repositories.setdefault(repository[1:], repository)
    return list(repositories.values())


def _needed_files(repository: _Repository) -> "list[DryRunFileInfo]":
    """Ask the hub for the files that are needed of a repository, and their sizes.

    Raises:
        DataError: The hub does not answer, or must not be asked.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.constants import ENDPOINT
    from huggingface_hub.errors import DryRunError, HfHubHTTPError, OfflineModeIsEnabled
    from huggingface_hub.utils.tqdm import tqdm

    class NoBar(tqdm):
        """No bar: a line is printed for each repository."""

        def __init__(self, *args: object, **settings: object) -> None:
            super().__init__(*args, **settings | {"disable": True})  # type: ignore[no-untyped-call]

    patterns = [*_SETTINGS, *(_WEIGHTS if repository.has_weights else ())]
    try:
        listed = snapshot_download(
            repository.name,
            revision=repository.revision,
            allow_patterns=patterns,
            ignore_patterns="*/*",
            dry_run=True,
            tqdm_class=NoBar,
        )
    except DryRunError as fault:  # it says what may be wrong; its cause is what was wrong
        cause = fault.__cause__ or fault
        if isinstance(cause, OfflineModeIsEnabled):
            raise DataError("HF_HUB_OFFLINE is set, so nothing is downloaded; unset it for this command") from fault
        if isinstance(cause, HfHubHTTPError):
            raise cause from fault
        raise DataError(
            f"{ENDPOINT} cannot be reached: {_shortened(cause)}; give the command on a machine with a network, such as "
            "the cluster's login node, or let HF_ENDPOINT name a mirror"
        ) from fault
    weights = [[file for file in listed if fnmatch(file.filename, pattern)] for pattern in _WEIGHTS]
    settings = [file for file in listed if any(fnmatch(file.filename, pattern) for pattern in _SETTINGS)]
    return settings + next(filter(None, weights), [])


def _fault(repository: _Repository, fault: Exception) -> str:
    """Say what went wrong with a repository, and what helps where trying again does not."""
    from huggingface_hub.errors import HfHubHTTPError

    if isinstance(fault, OSError) and fault.errno is not None:
        return f"models.{repository}: cannot be kept: {_shortened(fault)}; HF_HOME may name another disk"
    said = f"models.{repository}: the hub does not give it: {_shortened(fault)}"
    if isinstance(fault, HfHubHTTPError) and fault.response.status_code < 500:
        said += (
            " Correct the name and the revision; a private or gated model needs a token with access in the environment "
            "variable HF_TOKEN"
        )
    return said


def _shortened(fault: BaseException) -> str:
    return shorten(str(fault), 300, placeholder=" ...") or type(fault).__name__
