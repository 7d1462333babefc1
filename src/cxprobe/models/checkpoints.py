"""A checkpoint before its weights are read: its path, its identity, and the errors about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

from cxprobe.errors import CxprobeError, ModelError, errors_behind
from cxprobe.models.params import ModelSpec


@dataclass(frozen=True)
class Source:
    """A model before its weights are read.

    Attributes:
        slug: Its key in params.yaml, for messages.
        spec: Where it comes from, its precision, and whether it is a random-weights control; of a model of the hub the
            revision is a commit.
        path: Its folder, or its name on the hub.
        origin: "sha256 ..." of a local folder or a GGUF file (see `digest_of`), "commit ..." of a model of the hub.
        rounding: Of a GGUF file, what goes before the precision, such as "Q4_1, de-quantised to "; "" of all others.
        config: Of transformers.
        tokenizer: Of transformers.
        max_tokens: The longest input, special tokens included; 0 as long as it is not known.
    """

    slug: str
    spec: ModelSpec
    path: str
    origin: str = ""
    rounding: str = ""
    config: Any = None
    tokenizer: Any = None
    max_tokens: int = 0

    def __str__(self) -> str:
        """Return the beginning of a message on the model."""
        return f"models.{self.slug}: '{self.spec.name}'"

    @property
    def is_local(self) -> bool:
        """Whether it is a folder; else it is a name on the hub."""
        return Path(self.path).is_dir()

    @contextmanager
    def refusing(self, what: str, advice: str = "") -> Iterator[None]:
        """Turn whatever a library raises at a part of the model into a `ModelError`.

        At a damaged file transformers raises what it happens to meet, such as KeyError, AttributeError or
        AssertionError, and the libraries in Rust panic, which is no Exception in Python. So nothing but calls of
        libraries belongs inside.

        Args:
            what: The part.
            advice: What to do; by default, to copy or download the model again.
        """
        try:
            yield
        except CxprobeError:
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            *_, first = errors_behind(error)  # transformers says "Can't load" of whatever the hub's client met
            why = f" ({_reason_of(first)})" if first is not error else ""
            if self.is_local:
                advice = advice or f"mend the file in {self.path}, or copy or download the whole folder again"
            chosen = f" --revision {self.spec.revision}" if self.spec.revision else ""
            ways = (
                f"Online: `hf download {self.spec.name}{chosen}` shows whether the name and your access are right; a "
                "private or gated model needs a token in the environment variable HF_TOKEN. Offline: copy the model's "
                f"folder to this machine and set models.{self.slug}.name to its path; or copy the cache (HF_HOME) of a "
                "machine that has loaded it, and set HF_HUB_OFFLINE=1."
            )
            raise ModelError(f"{self} cannot be loaded: {_reason_of(error)}{why} ({what}). {advice or ways}") from error

    @property
    def loading_options(self) -> dict[str, Any]:
        """The arguments for all reading by transformers: no code of the model is run, and the revision."""
        return {"trust_remote_code": False, "revision": self.spec.revision}


def _reason_of(error: BaseException) -> str:
    """Return an error's message in one line, with its type where the message alone says nothing."""
    text = shorten(str(error), 400, placeholder=" ...")
    plain = isinstance(error, OSError | ValueError | RuntimeError) and text
    return text if plain else f"{type(error).__name__}: {text}"
