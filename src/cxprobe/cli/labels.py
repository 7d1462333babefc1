"""The commands by which people judge: ``cxprobe label`` mined sentences, ``cxprobe rate`` items."""

import re
import subprocess
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxprobe.cli.files import print_table
from cxprobe.errors import DataError
from cxprobe.project.folder import require_construction

if TYPE_CHECKING:
    from cxprobe.corpora.params import Mining
    from cxprobe.labels.labels import PersonLabel
    from cxprobe.labels.mined import MinedSentence
    from cxprobe.labels.sessions import Places

ConstructionName = Annotated[str, typer.Argument(help="The name of its folder in constructions/.")]
Who = Annotated[str, typer.Option(help="Your name in the file; by default the one that git knows.")]
Export = Annotated[Path | None, typer.Option(help="Write a table to fill in, separated by tabs.")]
Import = Annotated[Path | None, typer.Option("--import", help="Take over a table that was filled in.")]


def label(construction: ConstructionName, who: Who = "", export: Export = None, import_: Import = None) -> None:
    """Label what was mined for a construction, sequence by sequence, here or in a spreadsheet.

    It goes on where you stopped. Who is called "NAME (decides)" decides what others label differently.
    """
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, load_construction
    from cxprobe.files.tables import read_table
    from cxprobe.labels import labels as people
    from cxprobe.labels.estimates import alpha_of_labels, estimate_yield
    from cxprobe.labels.mined import LABEL_COLUMNS, disputes, group_sentences, label_rows
    from cxprobe.labels.sessions import Session, label_here
    from cxprobe.labels.tables import changing, write_judgements
    from cxprobe.project.params import load_params
    from cxprobe.tasks.registry import TASKS

    require_construction(construction)
    person, today = _person(who), datetime.now().astimezone().date().isoformat()
    params = load_params()
    path = CONSTRUCTIONS_FOLDER / construction / people.LABELS_FILE
    sentences = params.mining.folder_of(construction) / "sentences.parquet"
    if not sentences.is_file():
        raise DataError(f"{sentences} does not exist; `dvc repro mine_sentences` makes it, `dvc pull` fetches it")
    mined = read_table(sentences)
    groups = group_sentences(mined, params.seed)

    def summary(labels: "Sequence[PersonLabel]") -> str:
        """Return a summary of labels: those that a probe still needs, and the precision of the pattern."""
        lines = [text for task in TASKS.values() for text in task.labels_missing(construction, params, mined, labels)]
        if known := estimate_yield(groups, labels):
            rate, (expected, least, most) = known
            lines += [
                f"precision {rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}], n = {rate.n}, up to the first gap",
                f"instances among all: {expected:.0f} [{least:.0f}, {most:.0f}] of {len(mined)} sentences",
            ]
        return "\n".join(lines)

    if import_:
        new = people.read_label_sheet(import_, person, today)
        with changing(path):
            people.write_labels(people.merge_labels(people.read_labels(path), new), path)
    shown = list(disputes(groups, people.read_labels(path))) if people.is_decision(person) else groups
    session = Session(shown, path, person, today)
    if export:
        write_judgements(LABEL_COLUMNS, label_rows(shown, session.given, person), export)
    elif shown and not import_:
        label_here(session, load_construction(construction), _places_in(construction, params.mining), summary)
    labels = people.read_labels(path)
    print(f"{len(session.left)} of {len(shown)} left; the labels are in {path}\n{summary(labels)}")
    alpha, twice = alpha_of_labels(labels)
    print(f"{twice} have labels of several people" + (f", Krippendorff's alpha {alpha:.3f}" if twice else ""))
    if open_ones := list(disputes(groups, labels)):
        print(f"{len(open_ones)} to decide: `cxprobe label {construction} --who 'NAME{people.DECIDES}'`")


def _places_in(construction: str, mining: "Mining") -> "Places":
    """Return a function that marks words of a sentence: the fillers of slots, else the beginnings of the parts.

    Raises:
        CxprobeError: The construction, its pattern or the tagger has faults.
    """
    from cxprobe.constructions.construction import load_construction
    from cxprobe.corpora.pattern import load_pattern
    from cxprobe.corpora.search import Found, Matchers, load_pipeline, pipeline_of

    pattern = load_pattern(construction, load_construction(construction))
    matchers = Matchers(pattern, load_pipeline(pipeline_of(pattern, mining), pattern))

    def places_of(sentence: "MinedSentence") -> list[tuple[int, int]]:
        if sentence.slots:
            return list(sentence.slots)
        found = matchers.match(matchers.nlp(sentence.text))
        words = [match.span() for match in re.finditer("[^ ]+", sentence.text)]
        return [words[mark] for mark in found.marks] if isinstance(found, Found) else []

    return places_of


def rate(construction: ConstructionName, who: Who = "", export: Export = None, import_: Import = None) -> None:
    """Judge items in a spreadsheet; print how often people are right, and how far they agree."""
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
    from cxprobe.labels import ratings as people
    from cxprobe.labels.estimates import human_agreement, load_ratings
    from cxprobe.labels.tables import changing, write_judgements
    from cxprobe.project.params import load_params
    from cxprobe.tasks.registry import TASKS

    require_construction(construction)
    seed, path = load_params().seed, CONSTRUCTIONS_FOLDER / construction / people.RATINGS_FILE
    items = [item for task in TASKS.values() for item in task.rated_items(construction, seed)]
    if export:
        rows = people.rating_rows(items, people.read_ratings(path), _person(who), seed)
        write_judgements(people.RATING_COLUMNS, rows, export)
        print(f"{export}: {len(items)} items; write A, B or C into the column answer, as many as you like")
    if import_:
        new = people.read_rating_sheet(import_, items, _person(who))
        with changing(path):
            merged = people.merge_ratings(people.read_ratings(path), new, items)
            write_judgements(people.Rating._fields, merged, path)
    table = human_agreement(load_ratings([construction]))
    header = ["kind", "items", "raters", "ratings", "majority right", "alpha"]
    lines = [header]
    for row in table.to_dict("records"):
        counts = [str(row[name]) for name in ("kind", "n", "raters", "ratings")]
        rate = f"{row['accuracy']:.1%} [{row['low']:.1%}, {row['high']:.1%}]"
        lines.append([*counts, rate, f"{row['alpha']:.3f}"])
    print_table(lines, texts=1)


def _person(who: str) -> str:
    """Return the name of the person who judges: the one that is given, or that git knows."""
    if not who:
        done = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False)
        who = done.stdout.strip()
    if not who.strip() or not who.isprintable():
        raise DataError(f"--who {who!r}: a name of printable characters is needed; give one, or tell git yours")
    return who.strip()
