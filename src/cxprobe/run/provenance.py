"""The origin of results: the code, the inputs and the machine; and the files of an earlier run."""

import json
import os
import platform
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from ruamel.yaml import YAML

from cxprobe.files.writing import SCRATCH, digest, project_folder, temporary_suffix
from cxprobe.run.record import RunContext

DECISIVE = (
    "src",
    "cxprobe.version",
    "pipelines",
    "constructions",
    "lexicon",
    "prompts",
    "models",
    "published",
    "params.yaml",
)
PACKAGES = ("cxprobe", "torch", "transformers", "pytorch-lightning", "scikit-learn", "numpy", "nltk", "spacy")


def md5_of(path: Path) -> str:
    """Return a file's MD5; a folder's is the one that DVC has just noted, since its data may be tens of GB.

    A folder inside of a stage's output is named by the output's MD5 and the way from there. A folder that no stage
    has written has the MD5 "not in dvc.lock".
    """
    if path.is_file():
        return digest(path, "md5")
    lock = Path("dvc.lock")
    outputs = _locked_outputs(lock, lock.stat().st_mtime_ns) if lock.is_file() else {}
    for folder in (path, *path.parents):
        if folder.as_posix() in outputs:
            return "/".join([outputs[folder.as_posix()], *path.relative_to(folder).parts])
    return "not in dvc.lock"


@contextmanager
def earlier_files(folder: Path) -> Iterator[Path]:
    """Give the files of an earlier run in a folder inside of a stage's output, also of a run that was pulled.

    DVC removes the outputs of a stage before it runs; they are still in its cache, under the names in dvc.lock.

    Args:
        folder: As a stage writes to it, such as data/measure_pairs/mini-mlm.

    Yields:
        A folder with links to its files, or to none where the cache does not have all of them whole; it is gone when
        the block ends.
    """
    scratch = project_folder() / SCRATCH
    scratch.mkdir(parents=True, exist_ok=True)
    output, _, inside = md5_of(folder).partition("/")
    with TemporaryDirectory(temporary_suffix(), "earlier-", scratch) as links:
        for name, path in _cached_files(output, inside).items() if output.endswith(".dir") else ():
            link = Path(links, name)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
        yield Path(links)


def _cached_files(output: str, inside: str) -> dict[str, Path]:
    """Return where DVC's cache has the files in a folder of an output; nothing if one is missing or damaged."""
    from dvc.exceptions import NotDvcRepoError
    from dvc.repo import Repo  # it takes a second to import, and is rarely needed

    files: dict[str, Path] = {}
    try:
        with Repo() as repo:
            listing = Path(repo.cache.local.oid_to_path(output))
            for file in json.loads(listing.read_bytes()) if _is_whole(listing, output) else ():
                path = Path(file["relpath"])
                if path.is_relative_to(inside):
                    cached = Path(repo.cache.local.oid_to_path(file["md5"])).absolute()
                    if not _is_whole(cached, file["md5"]):
                        return {}
                    files[path.relative_to(inside).as_posix()] = cached
    except NotDvcRepoError:  # such as on the node of a cluster
        return {}
    return files


def _is_whole(path: Path, md5: str) -> bool:
    return path.is_file() and digest(path, "md5") == md5.removesuffix(".dir")


def begin() -> RunContext:
    """Return the context of a run that begins now, with the code that begins it."""
    started = milliseconds()

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        commit, dirty = git("rev-parse", "HEAD"), bool(git("status", "--porcelain", "--", *DECISIVE))
    except (OSError, subprocess.CalledProcessError):  # no git, or no repository
        commit, dirty = "unknown", True
    versions = {name: version(name) for name in PACKAGES}
    environment = {"python": platform.python_version(), "platform": platform.platform(), "host": platform.node()}
    return RunContext(started, started, commit, dirty, environment | versions, os.environ.get("DVC_EXP_NAME", ""))


def milliseconds() -> int:
    """Return the time now, in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


@cache
def _locked_outputs(lock: Path, _modified: int) -> dict[str, str]:
    """Return the MD5 of every output in a lock file, which is read again only after it was modified."""
    stages = (YAML(typ="safe").load(lock) or {}).get("stages", {})
    return {out["path"]: str(out["md5"]) for stage in stages.values() for out in stage.get("outs", [])}
