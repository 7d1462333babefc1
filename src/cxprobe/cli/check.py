"""The command ``cxprobe check``."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from cxprobe.cli.names import complete_construction
from cxprobe.errors import DataError


class _NotNeeded(MetaPathFinder):
    """Lets imports run as if two packages were not installed, where they are not loaded already.

    NLTK and lemminflect offer extensions of these and import them where they are installed, PyTorch with them: four
    seconds for what no check uses.
    """

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:  # noqa: ARG002
        """Refuse the packages and what is in them; leave all others to the finders that follow."""
        if name.partition(".")[0] in ("sklearn", "spacy"):
            raise ModuleNotFoundError(f"{name} is not imported by `cxprobe check`", name=name)


def check(
    pattern: Annotated[
        str,
        typer.Option(help="Compare this construction's pattern with treebanks.", autocompletion=complete_construction),
    ] = "",
    treebank: Annotated[list[Path] | None, typer.Option(help="A file of CoNLL-U, also .gz; several times.")] = None,
    cxn: Annotated[list[str] | None, typer.Option(help="What Cxn= calls the construction; several times.")] = None,
    tags: Annotated[bool, typer.Option("--tags", help="The last column has tags, as B-DITRAN, not Cxn=.")] = False,
    gold: Annotated[bool, typer.Option("--gold", help="Match the treebank's own words, tags and trees.")] = False,
) -> None:
    """Check params.yaml and all files of constructions/, lexicon/ and prompts/, and report all their faults at once.

    With --pattern, print its precision and recall on treebanks that others annotated, by sentence, and nothing else.
    """
    if pattern or treebank or cxn:
        if not (pattern and treebank and cxn):
            raise DataError("--pattern, --treebank and --cxn go together: a construction, a file, and its name there")
        _compare_pattern(pattern, treebank, cxn, tags=tags, gold=gold)
        return
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


def _compare_pattern(construction: str, files: list[Path], names: list[str], *, tags: bool, gold: bool) -> None:
    from cxprobe.corpora.treebanks import pattern_on_treebanks
    from cxprobe.project.folder import require_construction
    from cxprobe.project.params import load_params

    require_construction(construction)
    for line in pattern_on_treebanks(construction, files, names, load_params().mining, tags=tags, gold=gold):
        print(line)
