"""A checkpoint before its weights are read: where it is, what identifies it, and how it is refused.

Whatever a library says of a damaged file becomes a `ModelError` that names the place.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from huggingface_hub.utils.sha import git_hash
from transformers.utils import cached_file

from cxprobe.errors import CxprobeError, ModelError
from cxprobe.files.writing import digest
from cxprobe.lm.folders import reason_of
from cxprobe.lm.params import ModelSpec

_SHA1 = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def ways_to_get(name: str, revision: str | None, with_path: str) -> str:
    """Return how to get a model of the hub that is not there; ``with_path`` says what to do with the path of a copy."""
    chosen = f" --revision {revision}" if revision else ""
    return (
        f"Online: `hf download {name}{chosen}` shows whether the name and your access are right; a private or gated "
        "model needs a token in the environment variable HF_TOKEN. Offline: copy the model's folder to this machine "
        f"and {with_path}; or copy the cache (HF_HOME) of a machine that has loaded it, and set HF_HUB_OFFLINE=1."
    )


@dataclass(frozen=True)
class Source:
    """A model before its weights are read.

    Attributes:
        slug: Its key in params.yaml, for messages.
        spec: Where it comes from, its precision, and whether it is a twin; of a model of the hub the revision is a
            commit.
        path: Its folder, or its name on the hub.
        origin: "sha256 ..." of a local folder (see `digest_of`), "commit ..." of a model of the hub.
        config: Of transformers.
        tokenizer: Of transformers.
        max_tokens: The longest input, special tokens included; 0 as long as it is not known.
    """

    slug: str
    spec: ModelSpec
    path: str
    origin: str = ""
    config: Any = None
    tokenizer: Any = None
    max_tokens: int = 0

    def __str__(self) -> str:
        """Return how a message on the model begins."""
        return f"models.{self.slug}: '{self.spec.name}'"

    @property
    def is_local(self) -> bool:
        """Whether it is a folder; else it is a name on the hub."""
        return Path(self.path).is_dir()

    @contextmanager
    def refusing(self, what: str) -> Iterator[None]:
        """Turn whatever a library raises at a part of the model into a `ModelError`.

        At a damaged file transformers raises what it happens to meet, such as KeyError, AttributeError or
        AssertionError, and the libraries in Rust panic, which is no Exception in Python. So nothing but calls of
        libraries belongs inside.
        """
        try:
            yield
        except CxprobeError:
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            if self.is_local:
                raise ModelError(
                    f"{self}: {what} in the folder {self.path} cannot be loaded: {reason_of(error)}; mend the file, or "
                    "copy or download the whole folder again"
                ) from error
            raise ModelError(f"{self} cannot be loaded: {self._why_not_there(error)}") from error

    def _why_not_there(self, error: BaseException) -> str:
        """Return why a model of the hub is not there, and what to do."""
        first = error  # transformers says "Can't load" of whatever the hub's client met
        while before := first.__cause__ or first.__context__:
            first = before
        why = f" ({reason_of(first)})" if first is not error else ""
        ways = ways_to_get(self.spec.name, self.spec.revision, f"set models.{self.slug}.name to its path")
        return f"{reason_of(error)}{why} {ways}"

    @contextmanager
    def refusing_altered(self, kinds: tuple[str, ...]) -> Iterator[None]:
        """After the block, refuse downloaded files with another hash than the hub's, such as after a bad disk or proxy.

        If the block fails, they are looked at too: an altered file may be why. The cache calls the content of a file by
        the hash that the hub gave for it: the SHA-256 of a large file, git's SHA-1 of a small one. A cache without
        symbolic links, as on some Windows machines, does not have the hashes, and neither has a mirror that gives other
        names.

        Args:
            kinds: The endings of the files that are compared.

        Raises:
            ModelError: A file is not what the hub says.
        """
        fault = None
        try:
            yield
        except Exception as error:
            fault = error
        folder = Path() if self.is_local else self.cached("config.json").parent
        for file in () if self.is_local else sorted(folder.rglob("*")):
            wanted = actual = file.resolve().name
            if file.suffix in kinds and _SHA256.fullmatch(wanted):
                actual = digest(file)
            elif file.suffix in kinds and _SHA1.fullmatch(wanted):
                actual = git_hash(file.read_bytes())
            if actual != wanted:
                name = file.relative_to(folder)
                raise ModelError(
                    f"{self}: {name} of the hub has another hash than the hub says ({wanted}), so it was altered on "
                    f"its way or on this disk; run `hf download {self.spec.name} {name} --revision "
                    f"{self.spec.revision} --force-download`, and if this message comes again, look at your proxy or "
                    "mirror of the hub"
                )
        if fault is not None:
            raise fault

    def cached(self, name: str) -> Path:
        """Return a file of a model of the hub, in the hub's cache.

        Raises:
            OSError: The hub cannot be reached and the file is not in the cache, or its name or revision is wrong.
        """
        return Path(cached_file(self.path, name, revision=self.spec.revision))

    @property
    def loading_options(self) -> dict[str, Any]:
        """What transformers is told whenever it reads a part of the model: to run no code of it, and the revision."""
        revision = {"revision": self.spec.revision} if self.spec.revision else {}
        return {"trust_remote_code": False} | revision
