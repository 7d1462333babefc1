"""The faults a user can mend. Each message names the place, the value, what is allowed and what to do."""

import warnings
from collections.abc import Iterable, Iterator

# Extra -> the packages that it brings, by the names they are imported by. All other packages come with cxprobe.
EXTRAS = {
    "exports": ("datasets",),
    "gguf": ("accelerate", "gguf"),
    "mining": ("datasketch", "datatrove", "threadpoolctl"),
    "pipeline": (
        *("dvc", "jinja2", "lemminflect", "lightning_fabric", "matplotlib"),
        *("mlflow", "optuna", "spacy", "thinc", "wordfreq"),
    ),
    "prompting": ("inspect_ai", "openai"),
}


class CxprobeError(Exception):
    """A fault that the user can mend; printed without a traceback, the exit code is 2."""


class ParamsError(CxprobeError):
    """params.yaml is not what the pipeline needs; the message lists all its faults."""


class ConstructionError(CxprobeError):
    """A file in constructions/<name>/ is wrong."""


class ModelError(CxprobeError):
    """A model cannot be loaded, or must not be trusted."""


class DataError(CxprobeError):
    """Data is absent, misaligned or not finite."""


class ProbeError(CxprobeError):
    """A probe could not be trained as asked."""


class PromptError(CxprobeError):
    """A file of prompts is wrong, or something is asked of it that it does not have."""


class ProjectError(CxprobeError):
    """There is no project where one is needed, or something is in the way of making one, or a part of one."""


def errors_behind(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that led to it, each once; libraries raise errors that lead to each other."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def missing_extra(fault: ImportError) -> str | None:
    """Return what to install for a package that could not be imported; None for one that no extra brings."""
    package = (fault.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return f"{package} is not installed, and this needs it; run `pip install 'cxprobe[{extra}]'`"
    return None


def raise_faults(error: type[Exception], faults: Iterable[str]) -> None:
    """Raise an error with one line for each fault; do nothing if there is no fault."""
    if lines := [*faults]:
        raise error("\n".join(lines))


def warn_in_words() -> None:
    """Let warnings of this process be their text alone: the place in the code says nothing to who calls a command."""
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
