"""The command ``cxprobe check``."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


class _NotNeeded(MetaPathFinder):
    """Lets imports run as if two packages were not installed, where they are not loaded already.

    NLTK and lemminflect offer extensions of these and import them where they are installed, PyTorch with them: four
    seconds for what no check uses.
    """

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:  # noqa: ARG002
        """Refuse the packages and what is in them; leave all others to the finders that follow."""
        if name.partition(".")[0] in ("sklearn", "spacy"):
            raise ModuleNotFoundError(f"{name} is not imported by `cxprobe check`", name=name)


def check() -> None:
    """Check params.yaml and all files of constructions/, lexicon/ and prompts/, and report all their faults at once."""
    not_needed = _NotNeeded()
    sys.meta_path.insert(0, not_needed)
    try:
        from cxprobe.lm.params import empty_names
        from cxprobe.project.checks import find_faults
        from cxprobe.project.params import load_params

        faults = find_faults()
    finally:
        sys.meta_path.remove(not_needed)
    if faults.lines:
        count = f"{len(faults.lines)} faults" if len(faults.lines) > 1 else "1 fault"
        print("\n".join([*faults.lines, count]), file=sys.stderr)
        raise SystemExit(2)
    print("params.yaml and the files of constructions/, lexicon/ and prompts/ have no fault")
    models = load_params().models
    for key in empty_names(models, models):
        print(f"params.yaml: {key}: is empty; write it before a line names this model")
    for note in faults.notes:
        print(note)
