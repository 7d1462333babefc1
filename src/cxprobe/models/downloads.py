"""Whether the files of a model of the hub are what the hub says: its client compares their sizes alone."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub.utils.sha import git_hash
from transformers.utils import cached_file

from cxprobe.errors import ModelError
from cxprobe.params import ModelSpec
from cxprobe.storage import digest

SETTINGS = (".json", ".txt", ".model", ".jinja")
WEIGHTS = (".safetensors", ".bin")
_SHA1 = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@contextmanager
def refusing_altered(slug: str, spec: ModelSpec, path: str, kinds: tuple[str, ...]) -> Iterator[None]:
    """After the block, refuse downloaded files with another hash than the hub's, such as after a bad disk or proxy.

    If the block fails, they are looked at too: an altered file may be why. The cache calls the content of a file by the
    hash that the hub gave for it: the SHA-256 of a large file, git's SHA-1 of a small one. A cache without symbolic
    links, as on some Windows machines, does not have the hashes, and neither has a mirror that gives other names.

    Args:
        slug: The model's key in params.yaml, for messages.
        spec: The model; the revision of one of the hub is a commit.
        path: Its name on the hub; a local folder is not looked at.
        kinds: The endings of the files that are compared.

    Raises:
        ModelError: A file is not what the hub says.
    """
    try:
        yield
    except Exception:
        _refuse_altered(slug, spec, path, kinds)
        raise
    _refuse_altered(slug, spec, path, kinds)


def _refuse_altered(slug: str, spec: ModelSpec, path: str, kinds: tuple[str, ...]) -> None:
    if Path(path).is_dir():
        return
    folder = Path(cached_file(path, "config.json", revision=spec.revision)).parent
    for file in sorted(folder.rglob("*")):
        if file.suffix in kinds and (wanted := file.resolve().name) != _hash_like(wanted, file):
            name = file.relative_to(folder)
            raise ModelError(
                f"models.{slug}: '{spec.name}': {name} of the hub has another hash than the hub says ({wanted}), so it "
                "was altered on its way or on this disk; run "
                f"`hf download {spec.name} {name} --revision {spec.revision} --force-download`, and if this message "
                "comes again, look at your proxy or mirror of the hub"
            )


def _hash_like(wanted: str, file: Path) -> str:
    """Return the hash of a file, of the kind that another hash is; that one if it is of no known kind."""
    if _SHA256.fullmatch(wanted):
        return digest(file)
    return git_hash(file.read_bytes()) if _SHA1.fullmatch(wanted) else wanted
