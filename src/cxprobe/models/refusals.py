"""How a model is refused: whatever a library says of a damaged file becomes a `ModelError` that names the place."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten

from cxprobe.errors import CxprobeError, ModelError
from cxprobe.params import ModelSpec

# The end of a message on a damaged file.
AGAIN = "copy or download it again"


@contextmanager
def refusing(slug: str, spec: ModelSpec, path: str, what: str) -> Iterator[None]:
    """Turn whatever a library raises into a `ModelError`.

    At a damaged file transformers raises what it happens to meet, such as KeyError, AttributeError or AssertionError,
    and the libraries in Rust panic, which is no Exception in Python. So nothing but calls of libraries belongs inside.
    """
    try:
        yield
    except CxprobeError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if not Path(path).is_dir():
            raise ModelError(_not_there(slug, spec, error)) from error
        raise ModelError(
            f"models.{slug}: '{spec.name}': {what} in the folder {path} cannot be loaded: {reason_of(error)}; mend the "
            "file, or copy or download the whole folder again"
        ) from error


def reason_of(error: BaseException) -> str:
    """Return an error's message in one line, with its type where the message alone says nothing."""
    text = shorten(str(error), 400, placeholder=" ...")
    plain = isinstance(error, OSError | ValueError | RuntimeError) and text
    return text if plain else f"{type(error).__name__}: {text}"


def _first(error: BaseException) -> BaseException:
    """Return the error that an error began with; transformers says "Can't load" of whatever the hub's client met."""
    while before := error.__cause__ or error.__context__:
        error = before
    return error


def _not_there(slug: str, spec: ModelSpec, error: BaseException) -> str:
    revision = f" --revision {spec.revision}" if spec.revision else ""
    first = _first(error)
    why = f" ({reason_of(first)})" if first is not error else ""
    return (
        f"models.{slug}: '{spec.name}' cannot be loaded: {reason_of(error)}{why} "
        f"Online: `hf download {spec.name}{revision}` shows whether the name and your access are right; a private or "
        "gated model needs a token in the environment variable HF_TOKEN. "
        f"Offline: copy the model's folder to this machine and set models.{slug}.name to its path; or copy the cache "
        "(HF_HOME) of a machine that has loaded it, and set HF_HUB_OFFLINE=1."
    )
