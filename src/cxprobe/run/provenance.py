"""The origin of results: the code, the inputs and the machine; and the files of an earlier run."""

import os
import platform
import subprocess
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path

from ruamel.yaml import YAML

from cxprobe.files.writing import digest
from cxprobe.run.record import RunContext

DECISIVE = (
    "src",
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
