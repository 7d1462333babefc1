"""The commands about texts and answers: ``cxprobe compare``, ``cxprobe score`` and ``cxprobe evaluate``."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from cxprobe.errors import DataError
from cxprobe.files.writing import SCRATCH, read_json, write_json
from cxprobe.models import Dtype, SchemeName

if TYPE_CHECKING:
    import pandas as pd

    from cxprobe import Comparison

_MODEL = (
    "A name on the hub, a local folder, a .gguf file, or one of these: mini-clm, mini-mlm, taught-clm, "
    "taught-clm-chance, taught-clm-agent, smollm2-135m."
)
Revision = Annotated[str | None, typer.Option(help="Branch, tag or commit on the hub.")]
Precision = Annotated[Dtype, typer.Option(help="The precision of weights and computation.")]
Device = Annotated[str, typer.Option(help="auto, or as PyTorch names it: cpu, cuda, cuda:1, mps.")]
SchemeOption = Annotated[
    SchemeName,
    typer.Option(help="How a masked model scores: each token masked alone, or with the rest of its word."),
]
BosOption = Annotated[
    str | None,
    typer.Option(
        help="What a causal model reads before each text: as_tokenizer, add, none, or a token such as <|endoftext|>.",
        show_default="the model's own, or as_tokenizer",
    ),
]


def score(
    file: Annotated[
        str,
        typer.Argument(help="A .txt, or - for standard input (one sentence a line); a .tsv, .csv, .jsonl or .parquet."),
    ],
    model: Annotated[str, typer.Option(help=_MODEL)],
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .tsv, .csv, .jsonl or .parquet; - prints as .tsv.")
    ] = "-",
    by: Annotated[
        Literal["sentence", "word", "token"], typer.Option(help="Whether rows are sentences, words or tokens.")
    ] = "sentence",
    column: Annotated[
        str | None, typer.Option(help="The column with the sentences; by default text or sentence.")
    ] = None,
    scheme: SchemeOption = "pll_word_l2r",
    bos: BosOption = None,
    revision: Revision = None,
    dtype: Precision = "float32",
    device: Device = "auto",
) -> None:
    """Write how probable each sentence of a file is, or how surprising each of its words or tokens is, in bits.

    Of sentences: sum, per_token and per_character (natural logarithms). Of words and tokens: sentence counts from 0.
    """
    from cxprobe.files.texts import read_sentence_file, refuse_unwritable, write_table_as

    refuse_unwritable(output)
    table = read_sentence_file(file, column)
    if by != "word":  # no word has white space
        refuse_unwritable(output, table)
    from cxprobe import load  # PyTorch, after the file has been read

    lm, texts = load(model, revision=revision, dtype=dtype, device=device), table["text"].tolist()
    if by != "sentence":
        write_table_as(lm.surprisal(texts, by=by, scheme=scheme, bos=bos), output)
        return
    scores = lm.score(texts, scheme=scheme, bos=bos).drop(columns="sentence")
    if taken := [str(name) for name in scores if name in table]:
        raise DataError(f"{file}: has the columns {', '.join(taken)} already, which the scores have; rename them")
    write_table_as(table.join(scores), output)


def compare(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE or NAME",
            help="A .tsv, .csv, .jsonl or .parquet with the columns good and bad (or BLiMP's sentence_good and "
            "sentence_bad) and, if there are any, context, frame and condition; or the name of a construction.",
        ),
    ] = "",
    model: Annotated[list[str] | None, typer.Option(help=f"{_MODEL} May be repeated.", show_default=False)] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="Of pairs of a file, in place of a model: text and score, or id, good_score and bad_score."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All constructions that have contrasts.")] = False,
    frames: Annotated[
        int,
        typer.Option(
            min=2, help="Of a construction: how many frames are asked about its meaning; a verdict takes 16, and --all."
        ),
    ] = 3,
    tried: Annotated[
        bool,
        typer.Option("--try", help="Ask the frames on which the wording of contrasts is tried, not those held out."),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Where a row a pair, or the rates, are written; - prints them."),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="A column by whose values accuracies are given too; may be repeated.")
    ] = None,
    score: Annotated[
        Literal["sum", "per_token", "per_character", "given_context"] | None,
        typer.Option(help="What is compared, of pairs of a file.", show_default="per_token; sum of contrasts"),
    ] = None,
    scheme: SchemeOption = "pll_word_l2r",
    bos: BosOption = None,
    revision: Revision = None,
    dtype: Precision = "float32",
    device: Device = "auto",
) -> None:
    """Say what a model expects: of the form and meaning of constructions, or in how many pairs of a file it is right.

    With SmolLM2 on two cores `--all` takes three minutes, and ten with `--frames 16`; a line before the start says how
    long these models take.
    Pairs of a file with the columns frame and condition are contrasts too, see docs/verdicts.md.
    """
    from cxprobe.files.texts import read_pair_table, read_texts, refuse_unwritable, require_columns, write_table_as

    if output is not None:
        refuse_unwritable(output)
    stream = sys.stderr if output == "-" else sys.stdout
    if every == bool(what):
        raise DataError("name a file or a construction, or give --all")
    is_file = bool(Path(what).suffix) or Path(what).is_file()
    if bool(model) == bool(scores):
        raise DataError("give --model, or --scores of the texts of a file")
    if scores and (not is_file or score):
        raise DataError("--scores goes with a file of pairs, and without --score")
    if is_file:
        pairs = read_pair_table(what)
        require_columns(pairs, by or [], what)
        if output is not None:
            refuse_unwritable(output, pairs)
    elif given := [f"--{name}" for name, value in {"by": by, "score": score}.items() if value]:
        raise DataError(f"{', '.join(given)}: goes with a file of pairs; leave it out")
    else:
        folder = _constructions_of(what)
    import pandas as pd

    from cxprobe import Survey, compare_scores, load  # PyTorch, after what is asked about has been read
    from cxprobe.tasks.contrasts.make import contrasts_file

    # All of them, since one that cannot be loaded must not cost the work on another.
    lms = [load(name, revision=revision, dtype=dtype, device=device) for name in model or ()]
    if is_file:
        of_models = ((lm.name, lm.compare(pairs, score=score, scheme=scheme, bos=bos)) for lm in lms)
        tables = []
        for name, result in [("", compare_scores(pairs, read_texts(scores)))] if scores else of_models:
            if len(lms) > 1:
                print(f"{name}:", file=stream)
            _print_comparison(result, by, stream)
            tables.append(result.table.assign(model=name) if len(lms) > 1 else result.table)
        if output is not None:
            write_table_as(pd.concat(tables, ignore_index=True), output)
        return
    names = [what] if what else None
    survey = Survey(lms, names, frames=frames, tried=tried, scheme=scheme, bos=bos, folder=folder)
    takes = f"{survey.seconds / 60:.0f} minutes" if survey.seconds > 90 else f"{survey.seconds:.0f} seconds"
    print(f"about {takes}, by a short trial; longer if others use this machine", file=sys.stderr)
    if what and not tried and not folder.is_absolute():  # of a project, whose files people change
        _say_what_was_seen(contrasts_file(what, folder), frames)
    for lm in lms:
        rates = survey.measure(lm)
        _print_model(rates, lm.name, survey.are_all, stream)
        if what:
            _print_conditions(rates, lm.name, stream)
        if output not in (None, "-"):
            write_table_as(rates, output)
    if len(lms) > 1:
        _print_differences(survey.differences, stream)
    _print_legend(rates, survey.are_all, tried, stream)
    if output == "-":
        write_table_as(rates, output)


def evaluate(
    file: Annotated[
        list[Path], typer.Argument(help="Answers: a .tsv, .csv, .jsonl or .parquet; several are compared.")
    ],
    by: Annotated[list[str] | None, typer.Option(help="A column by whose values rates are given too.")] = None,
    items: Annotated[Path | None, typer.Option(help="What the answers are to, with what they lack; see --id.")] = None,
    reply: Annotated[str | None, typer.Option(help="The column with replies in words.")] = None,
    chosen: Annotated[str | None, typer.Option(help="The column with choices.")] = None,
    good: Annotated[str | None, typer.Option(help="The column with the scores of right texts.")] = None,
    bad: Annotated[
        list[str] | None, typer.Option(help="With --good: of wrong texts.", show_default="bad_score")
    ] = None,
    number: Annotated[str | None, typer.Option(help="The column with any numbers, such as surprisals.")] = None,
    gold: Annotated[str, typer.Option(help="The column with right answers.")] = "gold",
    condition: Annotated[str | None, typer.Option(help="With --number: the column with conditions.")] = None,
    less: Annotated[list[str] | None, typer.Option(help="With --condition: what is subtracted from others.")] = None,
    rating: Annotated[str | None, typer.Option(help="With --number: numbers to correlate with (Spearman).")] = None,
    cluster: Annotated[list[str] | None, typer.Option(help="A column of what rows share, for intervals.")] = None,
    id_: Annotated[str, typer.Option("--id", help="The column that names an item.")] = "id",
    chain_of_thought: Annotated[bool, typer.Option("--chain-of-thought", help="Replies begin with reasons.")] = False,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Where rates are written; - as .tsv.")] = None,
) -> None:
    """Evaluate answers that you have: replies of a closed model, scores of another tool, choices of people."""
    import pandas as pd

    from cxprobe.answers import evaluate as evaluate_answers
    from cxprobe.files.texts import read_texts, refuse_unwritable, write_table_as
    from cxprobe.models.files import FILE

    if output is not None:
        refuse_unwritable(output)
    tables = [read_texts(path) for path in file]
    if len(file) > 1:
        names = [re.sub(r"(\.\w+)(\.gz)?$", "", path.name) for path in file]
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataError(f"{twice[0]}: two files have this name, which tells their answers apart; rename one")
        tables = [table.assign(**{FILE: name}) for name, table in zip(names, tables, strict=True)]
    named = {"reply": reply, "chosen": chosen, "good": good, "number": number, "gold": gold, "condition": condition}
    lists = {"by": by or [], "bad": bad or ["bad_score"], "less": less or [], "cluster": cluster or []}
    how: dict[str, Any] = named | lists | {"rating": rating, "id": id_, "chain_of_thought": chain_of_thought}
    rates = evaluate_answers(pd.concat(tables, ignore_index=True), None if items is None else read_texts(items), **how)
    if output is None:
        print(rates.to_string(index=False, float_format="{:.3f}".format, na_rep=""))
    else:
        write_table_as(rates, output)


def _constructions_of(name: str) -> Path:
    """Return the constructions of the project in the working directory, else those that cxprobe carries.

    Raises:
        DataError: There is none of this name; "" for all of them.
    """
    from cxprobe.constructions import construction_names
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
    from cxprobe.files.schema import suggest
    from cxprobe.project.bundled import bundled_files

    folder = CONSTRUCTIONS_FOLDER if CONSTRUCTIONS_FOLDER.is_dir() else bundled_files() / CONSTRUCTIONS_FOLDER
    names = construction_names(folder)
    if name and name not in names:
        raise DataError(f"'{name}' is no file of pairs and no construction{suggest(name, names)}")
    return folder


def _say_what_was_seen(path: Path, frames: int) -> None:
    """Print how many held-out frames were asked before the design was changed, and note which are asked now.

    Args:
        path: A contrasts.yaml of the project.
        frames: How many frames are asked.
    """
    from cxprobe.files.schema import read_yaml

    if not path.is_file():
        return
    content = read_yaml(path, DataError)
    design = json.dumps([content.get(key) for key in ("questions", "conditions", "rivals")])
    asked = {json.dumps(row, sort_keys=True) for row in content["held_out"][:frames]}
    file = SCRATCH / "asked" / f"{path.parent.name}.json"
    known: dict[str, list[str]] = read_json(file) if file.is_file() else {}
    if seen := asked & {row for earlier, rows in known.items() if earlier != design for row in rows}:
        what = f"{len(seen)} of these frames were asked before the questions or conditions changed"
        print(f"{path}: {what}, so they are no longer unseen; write new rows of held_out", file=sys.stderr)
    write_json(known | {design: sorted(asked.union(known.get(design, [])))}, file)


def _print_comparison(result: "Comparison", by: Sequence[str] | None, stream: TextIO) -> None:
    """Print the accuracy of pairs, and what follows from their orders, their conditions and the columns of ``by``."""
    from cxprobe.files.reading import printable
    from cxprobe.results.words import with_interval

    def say(table: "pd.DataFrame") -> None:
        shown = table.map(lambda cell: printable(cell) if isinstance(cell, str) else cell).rename(columns=printable)
        print(shown.to_string(index=False, float_format="{:.3f}".format), file=stream)

    rates = {f"accuracy by {result.score}": result.accuracy, "right in both orders": result.both_orders}
    for what, rate in rates.items():
        if rate is not None:
            basis = f", {result.clustering}" if rate is result.accuracy else ""
            print(f"{what} {with_interval(rate, digits='.3f', factor=1)}, n = {rate.n}{basis}", file=stream)
    if result.reservation:
        print(result.reservation, file=stream)
    if "condition" in result.table:
        try:
            say(result.contrasts())
            print(f"verdict on the contrasts: {result.verdict}", file=stream)
        except DataError as fault:
            print(f"no contrasts: {fault}", file=stream)
    if by:
        say(result.by(*by))


_HEAD = ("construction", "form", "best baseline", "meaning", "adds", "control")


def _print_model(rates: "pd.DataFrame", model: str, are_all: bool, stream: TextIO) -> None:
    """Print the rates of constructions of a model."""
    from cxprobe.results.findings import estimate_of, mean_of
    from cxprobe.results.rates import divided_by
    from cxprobe.results.verdict import ADDS, BESIDE_CONTROL, VERDICTS, effects_of, frames_needed
    from cxprobe.results.words import with_interval

    undivided = divided_by(rates), divided_by(rates, "condition")
    at = {
        (row["model"], row["construction"], row["condition"], row["measure"]): row
        for table in undivided
        for row in table.to_dict("records")
    }
    lines: list[Sequence[str]] = [_HEAD]
    above = []
    for name in dict.fromkeys(rates["construction"].str.removesuffix("-form")):
        cells = ["", "", "", "", ""]
        if form := at.get((model, f"{name}-form", "", "accuracy")) or at.get((model, name, "", "accuracy")):
            best = at.get((form["baseline"], form["construction"], "", "accuracy"))
            cells[0] = f"{with_interval(estimate_of(form))} {VERDICTS[form['verdict']].sign if are_all else ''}"
            cells[1] = f"{100 * best['value']:.0f} {form['baseline']}" if best else ""
        if meaning := at.get((model, name, "construction", "contrast")):
            less = at[model, name, ADDS, "contrast"]
            contrasts = [estimate_of(row) for row in (meaning, less, at[model, name, "control", "contrast"])]
            cells[2:] = [with_interval(one, digits=".2f", factor=1) for one in contrasts]
            cells[3] += f" {meaning['baseline']}"
            if min(one.low for one in contrasts) > 0:
                above.append(name)
            if verdict := at[model, name, "construction", "above_zero"]["verdict"]:
                cells.append(BESIDE_CONTROL[verdict].words)
            if verdict == "too_few":
                keys = [key for key in at if key[:2] == (model, name) and key[3] == "contrast"]
                if effects := effects_of({key[2]: mean_of(at[key]) for key in keys}):
                    cells[-1] += f"; some {frames_needed(effects):,} would settle it"
        lines.append((name, *cells))
    print(f"{model}:", file=stream)
    print_table(lines, texts=len(_HEAD), stream=stream)
    said = f"the intervals of meaning, adds and control are all above 0 in: {', '.join(above) or 'none'}\n"
    print(f"{model}: {said}", file=stream, flush=True)


def _print_conditions(rates: "pd.DataFrame", model: str, stream: TextIO) -> None:
    """Print the contrast of each condition of a construction, and in each wording of the questions."""
    from cxprobe.results.findings import estimate_of
    from cxprobe.results.rates import divided_by
    from cxprobe.results.words import with_interval

    of_model = rates[(rates["model"] == model) & (rates["measure"] == "contrast")]
    by_wording = divided_by(of_model, "condition", "wording").set_index(["condition", "wording"])["value"]
    wordings = [*by_wording.index.unique("wording")]
    asked = by_wording.index.unique("condition")  # differences are of all wordings together
    lines: list[Sequence[str]] = [("condition", "contrast", *wordings)]
    for row in divided_by(of_model, "condition").to_dict("records"):
        values = [f"{by_wording[row['condition'], wording]:.2f}" for wording in wordings if row["condition"] in asked]
        lines.append((row["condition"], with_interval(estimate_of(row), digits=".2f", factor=1), *values))
    if len(lines) == 1:
        return
    print_table(lines, texts=1, stream=stream)
    if (divided_by(of_model[of_model["condition"] == "control"], "condition")["low"] <= 0).any():
        said = "The control is not shown to be above 0: the questions may not be understood"
        print(f"{said}; try other wordings, or more frames", file=stream)


def _print_differences(differences: "pd.DataFrame", stream: TextIO) -> None:
    """Print the paired differences of every two models, with the p values of Holm."""
    from cxprobe.results.findings import estimate_of
    from cxprobe.results.words import with_interval

    rows = differences.fillna({"condition": ""}) if "condition" in differences else differences.assign(condition="")
    for (first, second), of_two in rows.groupby(["first", "second"], sort=False):
        lines: list[Sequence[str]] = [("construction", "form", "p", "meaning", "p", "less neutral")]
        at = {(row["task"], row["construction"], row["condition"]): row for row in of_two.to_dict("records")}
        for name in dict.fromkeys(of_two["construction"].str.removesuffix("-form")):
            form = at.get(("pairs", f"{name}-form", "")) or at.get(("pairs", name, ""))
            cells = ["", "", "", "", ""]
            if form:
                cells[:2] = with_interval(estimate_of(form, "difference"), digits="+.0f"), _p(form)
            if meaning := at.get(("contrasts", name, "construction")):
                less = at["contrasts", name, "less_neutral"]
                effects = [estimate_of(one, "difference") for one in (meaning, less)]
                nats = [with_interval(one, digits="+.2f", factor=1) for one in effects]
                cells[2:] = nats[0], _p(meaning), nats[1]
            lines.append((name, *cells))
        print(f"{first} less {second}, on the same items (p: Holm over constructions):", file=stream)
        print_table(lines, texts=1, stream=stream)


def _p(row: Mapping[Any, Any]) -> str:
    """Return the corrected p of a difference; "" where there is none."""
    return f"{row['p_holm']:.3f}" if row["p_holm"] >= 0 else ""


def _print_legend(rates: "pd.DataFrame", are_all: bool, tried: bool, stream: TextIO) -> None:
    """Print how the tables are read."""
    from cxprobe.results.rates import divided_by
    from cxprobe.results.verdict import FEWEST_FRAMES, VERDICTS

    of_form = divided_by(rates[(rates["task"] == "pairs") & (rates["measure"] == "accuracy")])
    units = divided_by(rates[rates["measure"] == "contrast"], "condition")["n"]
    print(file=stream)
    if len(of_form):
        fewest, most = of_form["n"].min(), of_form["n"].max()
        pairs = f"{most}" if fewest == most else f"{fewest} to {most}"
        print(f"form: % of {pairs} pairs that are right, chance 50 [95 % interval]", file=stream)
    if len(of_form) and are_all:
        keys = [key for key in VERDICTS if key in {*of_form["verdict"]}]
        known = ", ".join(f"{VERDICTS[key].sign} {VERDICTS[key].words}" for key in keys)
        print(f"  {known}; corrected over all constructions", file=stream)
    if len(units):
        asked = ", ".join(f"{n:g}" for n in sorted(units.unique()))
        print(
            f"meaning: nats toward what the construction means, preferences cancelled, {asked} frames",
            "adds: meaning less that of the nearest of a neutral sentence and the rivals, without the construction",
            "control: the same where the meaning is said in plain words",
            sep="\n",
            file=stream,
        )
    if tried:
        how = f"a verdict takes --all --frames {FEWEST_FRAMES}, without --try"
        print(f"--try asks the rows of frames; {how}, and as many rows of held_out", file=stream)
        return
    if not are_all:
        print("A verdict needs --all: it is corrected for the number of constructions, as p values are", file=stream)
    if (units < FEWEST_FRAMES).any():
        what = f"A verdict on meaning needs --frames {FEWEST_FRAMES}, and as many rows of held_out"
        print(f"{what}; {units.min():g} were asked", file=stream)


def print_table(lines: Sequence[Sequence[str]], texts: int, stream: TextIO | None = None) -> None:
    """Print lines of cells in columns; so many columns of texts are aligned at the left, the others at the right.

    A line may end early. The stream is standard output by default.
    """
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    aligned = [f"<{width}" if column < texts else f">{width}" for column, width in enumerate(widths)]
    for line in lines:
        print("  ".join(map(format, line, aligned)).rstrip(), file=stream)
