"""The commands that compare with people: ``cxprobe validate export``, ``import`` and ``pattern``."""

from contextlib import ExitStack
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cxprobe.cli.names import ConstructionName, print_table

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["pairs", "inference", "reasoning"]  # the kinds of cxprobe.people.ratings


def export(
    output: Annotated[Path, typer.Option(help="The folder that is written; it must not exist, or be empty.")],
    items: Annotated[int, typer.Option(min=1, help="How many items are drawn.")],
    kind: Annotated[Kind, typer.Option(help="What is judged.")] = "pairs",
    constructions: Annotated[
        list[str] | None,
        typer.Option(help="A construction, several times for several; by default all that have such items of meaning."),
    ] = None,
    raters_per_item: Annotated[int, typer.Option(min=1, help="How many people are to judge each item.")] = 3,
    per_rater: Annotated[int, typer.Option(min=1, help="The most items of a form, without attention checks.")] = 16,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same items.")] = 1,
) -> None:
    """Draw items for people to judge, and write forms: pages that work from a file, and tables.

    items.csv says what is asked and what is right. Import needs it; raters must not see it.
    """
    from cxprobe.constructions.names import construction_names
    from cxprobe.errors import DataError
    from cxprobe.files.tables import write_table
    from cxprobe.files.writing import write_bytes
    from cxprobe.lines import LINES
    from cxprobe.people.forms import draw_sample, form_table, items_table, make_forms, render_page
    from cxprobe.people.wording import load_wording
    from cxprobe.project.folder import require_construction

    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise DataError(f"{output}: is there already; name a folder that does not exist or is empty")
    wording = load_wording()
    for name in constructions or []:
        require_construction(name)
    [line] = (line for line in LINES.values() if kind in line.rated_kinds)
    judged = []
    for name in dict.fromkeys(constructions or construction_names(Path())):
        of_construction = list(line.rated_items(kind, name, wording.tasks, seed, named=bool(constructions)))
        if constructions and not of_construction:
            raise DataError(f"constructions/{name} has no items of the kind {kind}; leave it out, or write some")
        judged += of_construction
    sample = draw_sample(judged, items, seed)
    forms = make_forms(sample, wording.checks, raters_per_item, per_rater, seed)
    table = items_table(forms)
    _check_no_formulas(table, "items.csv")
    for form in forms:
        path = output / f"form-{form.number:02d}"
        page = render_page(form, table["export"][0], getattr(wording.tasks, kind))
        write_table(form_table(table, form), path.with_suffix(".csv"))
        write_bytes(page.encode(), path.with_suffix(".html"))
    write_table(table, output / "items.csv")
    names, most = {item.construction for item in sample}, max(len(form.questions) for form in forms)
    print(f"{len(sample)} items of {len(names)} constructions, each in {raters_per_item} of {len(forms)} forms")
    print(f"with up to {most} questions, attention checks included: {output}/form-*.html and .csv")
    print(f"{output}/items.csv has the answers: keep it for `cxprobe validate import`, and from the raters")


def import_(
    files: Annotated[
        list[Path], typer.Argument(help="Saved answers and Prolific's export of submissions, in any order.")
    ],
    items: Annotated[Path, typer.Option(help="The items.csv of the export.")],
    most_failed: Annotated[
        int, typer.Option(min=0, help="How many attention checks of a form may be wrong before it is left out.")
    ] = 0,
) -> None:
    """Add people's answers to ratings.tsv of each construction, and report how far people agree.

    With an export of Prolific, only people with an approved submission count. A question without an answer is absent,
    and not wrong.
    """
    import pandas as pd

    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
    from cxprobe.people.agreement import human_agreement, load_ratings, mistaken_items
    from cxprobe.people.answers import merge_ratings, ratings_of_answers, read_answers, read_items
    from cxprobe.people.ratings import RATINGS_FILE, read_ratings, write_ratings
    from cxprobe.people.tables import changing
    from cxprobe.project.folder import require_construction

    asked = read_items(items)
    answers, statuses = read_answers(files, asked)
    imported = ratings_of_answers(answers, statuses, asked, most_failed)
    names = sorted({*imported.ratings, *imported.withdrawn})
    merged = {}
    with ExitStack() as stack:
        for name in names:
            require_construction(name)
            path = CONSTRUCTIONS_FOLDER / name / RATINGS_FILE
            stack.enter_context(changing(path))
            new, withdrawn = imported.ratings.get(name, []), imported.withdrawn.get(name, set())
            merged[path] = merge_ratings(read_ratings(path), new, withdrawn)
        for path, known in merged.items():
            write_ratings(known, path)
    for form in imported.left_out:
        print(f"left out: {form}")
    counted = sum(map(len, imported.ratings.values()))
    print(f"{len(imported.left_out)} forms left out; {counted} ratings; {imported.absent} questions without an answer")
    ratings = pd.concat([load_ratings(name) for name in names], ignore_index=True)
    shown = human_agreement(ratings)
    if len(names) > 1:
        shown = pd.concat([shown, human_agreement(ratings.assign(construction="overall"))], ignore_index=True)
    _print_agreement(shown)
    mistaken = mistaken_items(ratings, asked)
    print(f"\n{len(mistaken)} items about which most people do not give the right answer")
    for row in mistaken.to_dict("records"):
        print(f"{row['construction']}, {row['item']}: {row['verdict']}")
        texts = [f"  {name}: {row[name]}" for name in ("text", "question", "right", "given") if row[name]]
        print("\n".join(texts))


def pattern(
    construction: ConstructionName,
    files: Annotated[list[Path], typer.Argument(help="Treebanks in CoNLL-U, also .gz.")],
    cxn: Annotated[
        list[str],
        typer.Option(help="What Cxn= calls the construction, such as Ditransitive; several times for several."),
    ],
    tags: Annotated[
        bool, typer.Option("--tags", help="The last column has a tag a word, such as B-DITRAN, instead of Cxn=.")
    ] = False,
    gold: Annotated[
        bool, typer.Option("--gold", help="Match the words, tags and trees of the treebank, and not the pipeline's.")
    ] = False,
    show: Annotated[int, typer.Option(min=0, help="How many mistaken sentences of each kind are printed.")] = 0,
) -> None:
    """Compare a pattern with treebanks that others annotated: its precision and recall, by sentence."""
    from cxprobe.constructions.construction import load_construction
    from cxprobe.corpora.conllu import read_conllu
    from cxprobe.corpora.pattern import load_pattern
    from cxprobe.corpora.search import Matchers, load_pipeline, pipeline_of
    from cxprobe.corpora.treebanks import rates_on_treebank, search_treebank
    from cxprobe.project.folder import require_construction
    from cxprobe.project.params import load_params

    require_construction(construction)
    wanted = load_pattern(construction, load_construction(construction))
    nlp = load_pipeline(pipeline_of(wanted, load_params().mining), wanted)
    matchers = Matchers(wanted, nlp)
    sentences = [sentence for file in files for sentence in read_conllu(file, tags=tags)]
    searched = search_treebank(sentences, matchers, cxn, gold=gold)
    for rate in rates_on_treebank(searched).to_dict("records"):
        print(f"{rate['measure']}: {_rate(rate['rate'], rate['low'], rate['high'])}, n = {rate['n']:,}")
    matched, annotated = searched["found"], searched["annotated"]
    mistakes = {
        "found, not annotated": searched[matched & ~annotated],
        "annotated, not found": searched[annotated & ~matched],
    }
    print("; ".join(f"{what}: {len(rows):,}" for what, rows in {"sentences": searched, **mistakes}.items()))
    for why, n in searched.loc[annotated & ~matched, "why_not"].value_counts().items():
        print(f"  not found because of {why}: {n:,}")
    for what, rows in mistakes.items():
        for row in rows.head(show).itertuples():
            print(f"{what}: {row.text} ({row.id})")


def _print_agreement(agreement: "pd.DataFrame") -> None:
    """Print a table by construction: how often the majority is right, and how far people agree."""
    if agreement.empty:
        print("nobody has judged these constructions yet")
        return
    header = ["construction", "kind", "items", "raters", "ratings", "majority right", "all agree", "alpha"]
    lines = [header]
    for row in agreement.to_dict("records"):
        cells = [
            *(row["construction"], row["kind"], str(row["n"]), str(row["raters"]), str(row["ratings"])),
            _rate(row["accuracy"], row["low"], row["high"]),
            _rate(row["full_agreement"], row["full_low"], row["full_high"]) if row["full_n"] else "-",
            "-" if isnan(row["alpha"]) else f"{row['alpha']:.3f}",
        ]
        lines.append(cells)
    print()
    print_table(lines, texts=len(header))


def _rate(value: float, low: float, high: float) -> str:
    return f"{value:.1%} [{low:.1%}, {high:.1%}]"


def _check_no_formulas(table: "pd.DataFrame", file: str) -> None:
    """Check that no text of a table that becomes a CSV begins as a formula does, which a spreadsheet would run.

    Raises:
        DataError: One does; it is not changed here, since people would then judge another text.
    """
    from cxprobe.errors import DataError

    for column in table.select_dtypes(exclude="number"):
        texts = table[column].astype(str)
        if (is_formula := texts.str.match(r"[=+\-@\t\r]")).any():
            raise DataError(
                f"{file}: {column} is {texts[is_formula].iloc[0]!r}, and a spreadsheet would run it as a formula; let "
                "it begin with another character than = + - @"
            )
