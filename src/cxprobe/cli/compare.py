"""The command ``cxprobe compare``: pairs of a file, or constructions beside each other."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from cxprobe.cli.files import BosOption, Device, ModelNames, Precision, Revision, SchemeOption, print_table, read_pairs
from cxprobe.errors import DataError
from cxprobe.files.schema import SLUG_PATTERN, suggest

if TYPE_CHECKING:
    import pandas as pd

    from cxprobe import Comparison
    from cxprobe.stats import Estimate


def compare(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE or NAME",
            help="A .tsv, .csv, .jsonl or .parquet with the columns good and bad (or BLiMP's sentence_good and "
            "sentence_bad) and, if there are any, context, frame and condition; or the name of a construction.",
        ),
    ] = "",
    model: ModelNames = [],  # noqa: B006  # typer reads it
    every: Annotated[bool, typer.Option("--all", help="All constructions that have contrasts.")] = False,
    frames: Annotated[
        int,
        typer.Option(min=2, help="Of a construction: how many frames are asked about its meaning; a verdict takes 16."),
    ] = 3,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Where a row a pair, or the rates, are written; - prints them."),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="A column by whose values accuracies are given too; may be repeated.")
    ] = None,
    score: Annotated[
        Literal["sum", "per_token", "per_character", "given_context", "pmi"] | None,
        typer.Option(
            help="What is compared, of pairs of a file.", show_default="per_token; sum where there are conditions"
        ),
    ] = None,
    scheme: SchemeOption = "pll_word_l2r",
    bos: BosOption = None,
    revision: Revision = None,
    dtype: Precision = "float32",
    device: Device = "auto",
) -> None:
    """Say what a model expects: of the form and meaning of constructions, or in how many pairs of a file it is right.

    `--all` takes a minute with SmolLM2 on two cores. Pairs of a file with the columns frame and condition are
    contrasts too, see docs/verdicts.md.
    """
    from cxprobe.files.texts import refuse_unwritable, write_table_as

    if not model:
        raise DataError("--model: name the model to ask, such as --model smollm2-135m")
    if output is not None:
        refuse_unwritable(output)
    stream = sys.stderr if output == "-" else sys.stdout
    if every == bool(what):
        raise DataError("name a file or a construction, or give --all")
    if every or re.fullmatch(SLUG_PATTERN, what):
        if given := [f"--{name}" for name, value in {"by": by, "score": score}.items() if value]:
            raise DataError(f"{', '.join(given)}: goes with a file of pairs; leave it out")
        folder = _constructions_of(what)
        from cxprobe import compare_constructions, load

        lms = [load(name, revision=revision, dtype=dtype, device=device) for name in model]
        written = compare_constructions(
            lms, [what] if what else None, frames=frames, scheme=scheme, bos=bos, folder=folder
        )
        _print_constructions(written, model, frames, stream)
    else:
        pairs = read_pairs(what, by or [])
        if output is not None:
            refuse_unwritable(output, pairs)
        from cxprobe import load

        tables = []
        for name in model:
            lm = load(name, revision=revision, dtype=dtype, device=device)
            result = lm.compare(pairs, score=score, scheme=scheme, bos=bos)
            if len(model) > 1:
                print(f"{name}:", file=stream)
            _print_comparison(result, by or [], stream)
            tables.append(result.table.assign(model=name) if len(model) > 1 else result.table)
        import pandas as pd

        written = pd.concat(tables, ignore_index=True)
    if output is not None:
        write_table_as(written, output)


def _constructions_of(name: str) -> Path:
    """Return the constructions of the project in the working directory, else those that cxprobe carries.

    Raises:
        DataError: There is none of this name; "" for all of them.
    """
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
    from cxprobe.project.bundled import bundled_files

    folder = CONSTRUCTIONS_FOLDER if CONSTRUCTIONS_FOLDER.is_dir() else bundled_files() / CONSTRUCTIONS_FOLDER
    names = [path.parent.name for path in folder.glob("*/construction.yaml")]
    if name and name not in names:
        raise DataError(f"'{name}' is no file of pairs and no construction{suggest(name, names)}")
    return folder


def _print_comparison(result: "Comparison", by: Sequence[str], stream: TextIO) -> None:
    """Print the accuracy of pairs, and what follows from their orders, their conditions and the columns of ``by``."""
    print(f"accuracy {_with_interval(result.accuracy)}, {result.clustering}", file=stream)
    if result.both_orders is not None:
        print(f"right in both orders {_with_interval(result.both_orders)}", file=stream)
    if result.reservation:
        print(result.reservation, file=stream)
    if {"frame", "condition"} <= {*result.table}:
        print(result.contrasts().to_string(index=False, float_format="{:.3f}".format), file=stream)
        print(f"verdict on the contrasts: {result.verdict}", file=stream)
    if by:
        print(result.by(*by).to_string(index=False, float_format="{:.3f}".format), file=stream)


def _with_interval(rate: "Estimate") -> str:
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}], n = {rate.n}"


_HEAD = ("construction", "form", "best baseline", "meaning", "less", "control")


def _print_constructions(rates: "pd.DataFrame", models: Sequence[str], frames: int, stream: TextIO) -> None:
    """Print the rates of constructions, a table a model, and how to read them."""
    from cxprobe.results.rates import divided_by
    from cxprobe.results.verdict import BESIDE_CONTROL, FEWEST_FRAMES, VERDICTS
    from cxprobe.survey import ITEMS_OF_FORM

    at = {
        (row["model"], row["construction"], row["condition"], row["measure"]): row
        for columns in ((), ("condition",))
        for row in divided_by(rates, *columns).to_dict("records")
    }
    names = dict.fromkeys(rates["construction"].str.removesuffix("-form"))
    signs, said = set[str](), list[str]()
    for model in models:
        lines: list[Sequence[str]] = [_HEAD]
        above = []
        for name in names:
            cells = ["", "", "", "", ""]
            if form := at.get((model, f"{name}-form", "", "accuracy")) or at.get((model, name, "", "accuracy")):
                best = at.get((form["baseline"], form["construction"], "", "accuracy"))
                value, low, high = (f"{100 * form[name]:.0f}" for name in ("value", "low", "high"))
                cells[0] = f"{value} [{low}, {high}] {VERDICTS[form['verdict']].sign}"
                cells[1] = f"{100 * best['value']:.0f} {form['baseline']}" if best else ""
                signs.add(form["verdict"])
            if meaning := at.get((model, name, "construction", "contrast")):
                less = at[model, name, f"less_{meaning['baseline']}", "contrast"]
                control = at[model, name, "control", "contrast"]
                cells[2:] = [_nats(meaning), f"{_nats(less)} {meaning['baseline']}", _nats(control)]
                if min(meaning["low"], less["low"], control["low"]) > 0:
                    above.append(name)
                if verdict := at[model, name, "construction", "above_zero"]["verdict"]:
                    cells.append(BESIDE_CONTROL[verdict].words)
            lines.append((name, *cells))
        print(f"{model}:", file=stream)
        print_table(lines, texts=len(_HEAD), stream=stream)
        said.append(f"{model}: the intervals of meaning, less and control are above 0 in: {', '.join(above) or 'none'}")
    asked = ", ".join(f"{n:g}" for n in sorted(rates.loc[rates["measure"] == "contrast", "n"].unique())) or "no"
    known = ", ".join(f"{VERDICTS[key].sign} {VERDICTS[key].words}" for key in VERDICTS if key in signs)
    print(
        f"\nform: % of the pairs of {ITEMS_OF_FORM * frames} items that are right, chance 50 [95 % interval]\n"
        f"  {known}; not corrected for the number of constructions\n"
        f"meaning: nats toward what the construction means, preferences cancelled, {asked} frames\n"
        "less: meaning less that of a neutral sentence, or of the same words without the construction: the nearer\n"
        "control: the same where the meaning is said in plain words",
        *said,
        sep="\n",
        file=stream,
    )
    if (rates.loc[rates["measure"] == "contrast", "n"] < FEWEST_FRAMES).any():
        print(f"A verdict takes {FEWEST_FRAMES} frames: --frames {FEWEST_FRAMES}", file=stream)


def _nats(row: Mapping[Any, Any]) -> str:
    value, low, high = (f"{row[name]:.2f}".replace("0.", ".", 1) for name in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"
