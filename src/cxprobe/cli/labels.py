"""The commands by which people label mined sentences: ``cxprobe label`` and ``cxprobe agreement``."""

from typing import Annotated

import typer

from cxprobe.cli.names import ConstructionName
from cxprobe.errors import DataError
from cxprobe.project.folder import require_construction

Who = Annotated[str, typer.Option(help="Your name in labels.tsv; by default the one that git knows.")]
Browser = Annotated[bool, typer.Option("--browser", help="Label in the browser, on this machine.")]


def label(construction: ConstructionName, who: Who = "", browser: Browser = False) -> None:
    """Label what was mined for a construction, sequence by sequence; it goes on where you stopped."""
    from cxprobe.cli import labels_desk as desk

    require_construction(construction)
    desk.label_mined(construction, who, browser)


def agreement(
    construction: ConstructionName,
    decide: Annotated[
        bool, typer.Option("--decide", help="Decide, as a third person, what others have labelled differently.")
    ] = False,
    who: Who = "",
    browser: Browser = False,
) -> None:
    """List what people label differently, with kappa of every two, and estimate the pattern's precision."""
    from cxprobe.cli import labels_desk as desk

    require_construction(construction)
    if decide:
        desk.decide_disputes(construction, who, browser)
    elif browser:
        raise DataError("--browser goes with --decide; without it the conflicts are listed here")
    else:
        desk.print_agreement(construction)
