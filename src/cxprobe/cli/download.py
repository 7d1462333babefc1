"""The command ``cxprobe download``: the models of the hub that params.yaml names."""

from fnmatch import fnmatch
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

from cxprobe.errors import DataError, ParamsError

if TYPE_CHECKING:
    from cxprobe.project.params import Params

_SETTINGS = ("*.json", "*.txt", "*.model", "*.jinja")
# In the order in which transformers looks for them; other frameworks' weights, and what is in folders, stay on the hub.
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
# Its name on the hub, its revision, whether its weights are needed, and the GGUF file that is needed instead of all.
_Repository = tuple[str, str | None, bool, str]


def download() -> None:
    """Download the models of the hub that the lines of params.yaml measure or ask in words, each at its revision.

    Files that are in the cache of the hub already (HF_HOME) are not downloaded again: after a break, give the same
    command again. Local folders and blind models need nothing.
    """
    from huggingface_hub.constants import ENDPOINT

    from cxprobe.project.params import load_params

    repositories = _repositories(load_params())
    if not repositories:
        print("nothing to download: the lines of params.yaml name no model of the hub")
    for repository, place in repositories.items():
        try:
            there, fetched = _fetch(*repository)
        except Exception as fault:  # of the hub's client, of its HTTP library, or of the operating system
            reason = shorten(str(fault.__cause__ or fault), 300, placeholder=" ...").rstrip(".")
            raise DataError(
                f"{place}: {ENDPOINT} does not give {repository[0]}: {reason}. Check the network, HF_HUB_OFFLINE, "
                "and the model's name and revision; a private or gated model needs a token in HF_TOKEN. The same "
                "command goes on where this one ended"
            ) from fault
        print(
            f"{place}: {repository[0]}: {there / 1e6:,.1f} MB were there, {fetched / 1e6:,.1f} MB fetched", flush=True
        )


def _repositories(params: "Params") -> dict[_Repository, str]:
    """Return each repository that a measuring stage needs, with the first entry that it is needed for.

    Raises:
        ParamsError: The name of a model is still to be written.
    """
    from cxprobe.lines import LINES
    from cxprobe.lm.folders import OF_THE_HUB, PACKAGED, is_gguf
    from cxprobe.lm.params import Llm, ModelSpec, ServedModel, empty_names, members_of

    lists = [f"{name}.{key}" for name, line in LINES.items() for key in line.measured.values()]
    slugs = list(dict.fromkeys(slug for part in lists for slug in params.names_of(part)))
    if empty := empty_names(params.models, slugs):
        raise ParamsError("\n".join(f"{key} is empty; write the model's name" for key in empty))
    repositories: dict[_Repository, str] = {}
    asked = [slug for name in LINES for slug in getattr(getattr(params, name), "llms", ())]
    for member in members_of(params.models, slugs, params.llms, asked):
        match member.spec:
            case ServedModel(tokenizer=name, revision=revision):
                repository = (name, revision, False, "")
            case ModelSpec(name=name, revision=revision):
                at_hub = OF_THE_HUB.fullmatch(name) if is_gguf(name) else None
                repository = (at_hub[1], revision, False, at_hub[2]) if at_hub else (name, revision, True, "")
            case Llm(name=asked_by) if asked_by.startswith("hf/"):  # inspect_ai runs it on this machine
                name = asked_by.removeprefix("hf/")
                if name in PACKAGED:
                    continue
                repository = (name, None, True, "")
            case _:
                continue
        if not name.startswith("package:") and not Path(name).exists():
            section = "llms" if member.is_asked else "models"
            repositories.setdefault(repository, f"{section}.{member.slug}")
    return repositories


def _fetch(name: str, revision: str | None, has_weights: bool, file: str) -> tuple[int, int]:
    """Download what is missing of a repository; return how many bytes were there, and how many were fetched."""
    from huggingface_hub import snapshot_download

    patterns = [file] if file else [*_SETTINGS, *(_WEIGHTS if has_weights else ())]
    left_out = None if file else "*/*"
    # Asking first what is missing fails without a network, where the download itself would take what is there for all.
    listed = snapshot_download(name, revision=revision, allow_patterns=patterns, ignore_patterns=left_out, dry_run=True)
    weights = [[file for file in listed if fnmatch(file.filename, pattern)] for pattern in _WEIGHTS]
    needed = [file for file in listed if any(fnmatch(file.filename, pattern) for pattern in _SETTINGS)]
    needed += listed if file else next(filter(None, weights), [])
    snapshot_download(name, revision=revision, allow_patterns=[file.filename for file in needed])
    fetched = sum(file.file_size or 0 for file in needed if file.will_download)
    return sum(file.file_size or 0 for file in needed) - fetched, fetched
