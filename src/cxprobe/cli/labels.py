"""The command ``cxprobe label``: a table that people fill in with a spreadsheet, and what their labels say."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from cxprobe.errors import DataError


def label(
    construction: Annotated[str, typer.Argument(help="The name of its folder in constructions/.")],
    who: Annotated[str, typer.Option(help="The name in the table that is written.")] = "",
    export: Annotated[Path | None, typer.Option(help="Write a table to fill in, a .tsv or .csv.")] = None,
    import_: Annotated[Path | None, typer.Option("--import", exists=True, help="Read it, filled in.")] = None,
) -> None:
    """Label what was mined for a construction, and see how precise its pattern is and how far people agree.

    Who is called "NAME (decides)" labels what others call differently, and this label counts.
    """
    from cxprobe import labels as table
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, load_construction
    from cxprobe.files.tables import read_made_table
    from cxprobe.project.constructions import require_construction
    from cxprobe.project.params import load_params
    from cxprobe.results.words import with_interval
    from cxprobe.stats import Estimate

    require_construction(construction)
    params = load_params()
    mined = read_made_table(params.mining.folder_of(construction) / "sentences.parquet")
    sentences = table.in_drawn_order(mined, params.seed)
    path = CONSTRUCTIONS_FOLDER / construction / "labels.tsv"
    if import_:
        table.add_labels(path, table.read_labels(import_))
    labels = table.read_labels(path)
    in_dispute = table.disputed(sentences, labels)
    if export:
        if not who.strip() or not who.isprintable():
            raise DataError(f"--who {who!r}: --export needs the name of who labels, of printable characters")
        shown = sentences[in_dispute] if who.endswith(table.DECIDES) else sentences
        table.write_label_sheet(export, shown, labels, who, datetime.now().astimezone().date().isoformat())
        print(f"Positive: {load_construction(construction).positive}")
    for name, number, others in table.count_labels(sentences, labels):
        program = " (a program)" * name.startswith(table.PROGRAM)
        rest = f", and {others} of what is not among the mined sentences" if others else ""
        print(f"{number} labels by {name}{program}{rest}")
    for one, other, number, kappa in table.agreement_of_people(sentences, labels):
        print(f"{number} sentences have labels of {one} and {other}, Cohen's kappa {kappa:.3f}")
    if number := sum(in_dispute):
        print(f"{number} sentences are called differently; --who 'NAME{table.DECIDES}' --export FILE lists them")
    if known := table.estimate_yield(sentences, labels):
        rate, (expected, least, most) = known
        print(f"precision {with_interval(rate, digits='.2f', factor=1)}, n = {rate.n}, up to the first gap")
        instances = with_interval(Estimate(expected, least, most, len(sentences)), factor=1)
        print(f"instances in all {len(sentences)} sentences: {instances}")
