"""What the name of a model stands for: a model that cxprobe carries, a local folder, or a model of the hub."""

from difflib import get_close_matches
from pathlib import Path
from textwrap import shorten

from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
from huggingface_hub.errors import HfHubHTTPError

from cxprobe.errors import ModelError
from cxprobe.run.project import carried_files, carried_models

_PACKAGE = "package:"
_PATHS = ("/", "./", "../", "~")
_PASSING = (408, 429, 500, 502, 503, 504)  # answers of a busy server: the download itself tries again


def resolve(name: str, revision: str | None) -> str:
    """Return what a name stands for: the folder of a carried model, a local folder, or the name as it is.

    The hub is asked once for a name without a slash, which may be a misspelled carried model, if its cache has
    none. The download would try five times, and could not say which model was meant.

    Args:
        name: See `cxprobe.load`.
        revision: Branch, tag or commit on the hub; None for the newest.

    Raises:
        ModelError: It is a path and no folder is there; or it has no slash, is no folder, is not carried, and the hub
            does not have it or cannot be reached.
    """
    if name.startswith(_PATHS):
        folder = Path(name).expanduser()
        if not folder.is_dir():
            raise ModelError(f"'{name}': there is no such folder; give the folder that has the model's config.json")
        return str(folder)
    if name.startswith(_PACKAGE) or Path(name).is_dir():
        return name
    if name in carried_models():
        return str(carried_files() / "models" / name)
    if "/" not in name:
        _ask_hub(name, revision)
    return name


def _ask_hub(name: str, revision: str | None) -> None:
    """Refuse a model that is neither in the cache of the hub nor on the hub."""
    try:
        if isinstance(try_to_load_from_cache(name, "config.json", revision=revision), str):
            return
        get_hf_file_metadata(hf_hub_url(name, "config.json", revision=revision))
    except Exception as fault:  # of the hub's client, of its HTTP library, or of the operating system
        response = fault.response if isinstance(fault, HfHubHTTPError) else None
        if response is not None and response.status_code in _PASSING:
            return
        raise ModelError(_nowhere(name, revision, fault)) from fault


def _nowhere(name: str, revision: str | None, fault: Exception) -> str:
    chosen = f" --revision {revision}" if revision else ""
    reason = shorten(str(fault), 200, placeholder=" ...") or type(fault).__name__
    carried = carried_models()
    near = get_close_matches(name.rpartition("/")[2], carried, n=1)
    meant = f" Did you mean '{near[0]}'?" if near else ""
    return (
        f"'{name}' is no local folder and no model that cxprobe carries ({', '.join(carried)}), and the Hugging Face "
        f"hub does not give it: {reason.rstrip('.')}. Online: `hf download {name}{chosen}` shows whether the name and "
        "your access are right; a private or gated model needs a token in the environment variable HF_TOKEN. Offline: "
        "copy the model's folder to this machine and give its path; or copy the cache (HF_HOME) of a machine that has "
        f"loaded it, and set HF_HUB_OFFLINE=1.{meant}"
    )
