"""The command ``cxprobe label``: a key a sentence, or a spreadsheet."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from cxprobe.errors import DataError

_KEYS = {"p": "positive", "n": "negative", "u": "unclear"}


def label(
    construction: Annotated[str, typer.Argument(help="The name of its folder in constructions/.")],
    who: Annotated[str, typer.Option(help="Your name in the table.")],
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
    if not who.strip() or not who.isprintable():
        raise DataError(f"--who {who!r}: a name of printable characters is needed")
    params, today = load_params(), datetime.now().astimezone().date().isoformat()
    mined = read_made_table(params.mining.folder_of(construction) / "sentences.parquet")
    sentences = table.in_drawn_order(mined, params.seed)
    path = CONSTRUCTIONS_FOLDER / construction / "labels.tsv"
    if import_:
        table.add_labels(path, table.read_labels(import_))
    labels = table.read_labels(path)
    shown = sentences[table.disputed(sentences, labels)] if who.endswith(table.DECIDES) else sentences
    if export:
        table.write_label_sheet(export, shown, labels, who, today)
    elif not import_:
        print(f"Positive: {load_construction(construction).positive}")
        own = table.judgements(shown, labels[labels["who"] == who])
        for id_, said in _answers(shown[[not known for known in own]].itertuples()):
            table.add_labels(path, [{"kind": "sentence", "target": id_, "label": said, "who": who, "when": today}])
    labels = table.read_labels(path)
    for name, number in labels["who"].value_counts().sort_index().items():
        print(f"{number} labels by {name}{' (a program)' * str(name).startswith(table.PROGRAM)}")
    for one, other, number, kappa in table.agreement_of_people(sentences, labels):
        print(f"{number} sentences have labels of {one} and {other}, Cohen's kappa {kappa:.3f}")
    if number := sum(table.disputed(sentences, labels)):
        print(f"{number} sentences are called differently; --who 'NAME{table.DECIDES}' decides")
    if known := table.estimate_yield(sentences, labels):
        rate, (expected, least, most) = known
        print(f"precision {with_interval(rate, digits='.2f', factor=1)}, n = {rate.n}, up to the first gap")
        instances = with_interval(Estimate(expected, least, most, len(sentences)), factor=1)
        print(f"instances in all {len(sentences)} sentences: {instances}")


def _answers(sentences: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Ask for the label of each sentence, with its match marked; yield its id and label, until "q" is pressed."""
    from cxprobe.files.reading import printable

    for sentence in sentences:
        text = sentence.text
        for start, end in sorted(map(tuple, sentence.matched), reverse=True):
            text = f"{text[:start]}**{text[start:end]}**{text[end:]}"
        print(f"\n{printable(text)}\n{printable(sentence.url)}\np positive, n negative, u unclear, q quit", flush=True)
        key = ""
        while key not in _KEYS:
            try:
                key = typer.getchar()
            except OSError as fault:
                raise DataError("keys are read from a terminal; without one use --export and --import") from fault
            if key in ("q", ""):
                return
        yield sentence.id, _KEYS[key]
