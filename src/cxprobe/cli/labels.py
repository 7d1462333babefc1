"""The commands by which people label mined sentences: ``cxprobe label`` and ``cxprobe agreement``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cxprobe.cli.names import ConstructionName
from cxprobe.errors import DataError
from cxprobe.project.folder import require_construction

Who = Annotated[str, typer.Option(help="Your name in labels.tsv; by default the one that git knows.")]
Browser = Annotated[bool, typer.Option("--browser", help="Label in the browser, on this machine.")]
_ReadCorpus = Annotated[
    bool | None,
    typer.Option(
        "--read-corpus/--no-corpus", help="Show the sentences around, from the corpus; by default if it is small."
    ),
]


def label(
    construction: ConstructionName,
    who: Who = "",
    browser: Browser = False,
    order: Annotated[
        Literal["random", "uncertain"],
        typer.Option(help="uncertain: every second sequence is one that a probe on the labels is least sure about."),
    ] = "random",
    export: Annotated[Path | None, typer.Option(help="Write the mined sentences for another tool (.tsv).")] = None,
    import_: Annotated[
        Path | None, typer.Option("--import", help="Add the labels of a table with the columns of labels.tsv.")
    ] = None,
    read_corpus: _ReadCorpus = None,
) -> None:
    """Label what was mined for a construction, sequence by sequence; it goes on where you stopped."""
    from cxprobe.cli import labels_desk as desk

    require_construction(construction)
    if export is not None and import_ is not None:
        raise DataError("--export and --import: one at a time")
    if import_ is not None:
        desk.import_labels(construction, import_)
    elif export is not None:
        desk.export_sentences(construction, export)
    else:
        desk.label_mined(construction, who, browser, read_corpus, by_uncertainty=order == "uncertain")


def agreement(
    construction: ConstructionName,
    decide: Annotated[
        bool, typer.Option("--decide", help="Decide, as a third person, what others have labelled differently.")
    ] = False,
    who: Who = "",
    browser: Browser = False,
    read_corpus: _ReadCorpus = None,
) -> None:
    """List what people label differently, with kappa of every two, and estimate the pattern's precision."""
    from cxprobe.cli import labels_desk as desk

    require_construction(construction)
    if decide:
        desk.decide_disputes(construction, who, browser, read_corpus)
    elif browser:
        raise DataError("--browser goes with --decide; without it the conflicts are listed here")
    else:
        desk.print_agreement(construction)
