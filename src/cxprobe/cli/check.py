"""The command ``cxprobe check``."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType

# NLTK and lemminflect offer extensions of these packages and import them where they are installed, PyTorch with them:
# four seconds for what no check uses.
_NOT_NEEDED = ("sklearn", "spacy")


def check() -> None:
    """Check params.yaml and all files of constructions/, lexicon/ and prompts/, and report all their faults at once."""
    with _without_what_is_not_needed():
        from cxprobe.cli.faults import find_faults

        faults = find_faults()
    if faults:
        print("\n".join([*faults, f"{len(faults)} faults" if len(faults) > 1 else "1 fault"]), file=sys.stderr)
        raise SystemExit(2)
    print("params.yaml and the files of constructions/, lexicon/ and prompts/ have no fault")


class _Hidden(MetaPathFinder):
    """Lets imports run as if some packages were not installed, except for those that are loaded already."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:  # noqa: ARG002
        """Refuse the packages and what is in them; leave all others to the finders that follow."""
        if name.partition(".")[0] in _NOT_NEEDED:
            raise ModuleNotFoundError(f"{name} is not imported by `cxprobe check`", name=name)


@contextmanager
def _without_what_is_not_needed() -> Iterator[None]:
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        yield
    finally:
        sys.meta_path.remove(hidden)
