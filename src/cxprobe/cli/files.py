"""The command for a file of sentences, ``cxprobe score``, and what several commands share."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from cxprobe.errors import DataError
from cxprobe.files.schema import suggest
from cxprobe.models.params import Dtype, SchemeName

if TYPE_CHECKING:
    import pandas as pd

File = Annotated[
    str, typer.Argument(help="A .txt, or - for standard input (one sentence a line); a .tsv, .csv, .jsonl or .parquet.")
]
_MODEL = (
    "A name on the hub, a local folder, a .gguf file, or one of these: mini-clm, mini-mlm, taught-clm, "
    "taught-clm-chance, smollm2-135m."
)
ModelName = Annotated[str, typer.Option("--model", help=_MODEL)]
ModelNames = Annotated[list[str], typer.Option("--model", help=f"{_MODEL} May be repeated.")]
Output = Annotated[str, typer.Option("--output", "-o", help="A .tsv, .csv, .jsonl or .parquet; - prints as .tsv.")]
Column = Annotated[str | None, typer.Option(help="The column with the sentences; by default text or sentence.")]
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
    file: File,
    model: ModelName,
    output: Output = "-",
    by: Annotated[
        Literal["sentence", "word", "token"], typer.Option(help="Whether rows are sentences, words or tokens.")
    ] = "sentence",
    column: Column = None,
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


def read_pairs(file: str, by: Sequence[str] = ()) -> "pd.DataFrame":
    """Read pairs of a file, whose columns may have the names of BLiMP, and refuse it before a model is loaded."""
    from cxprobe.files.texts import read_texts, require_texts

    pairs = read_texts(file)
    if "good" not in pairs:
        pairs = pairs.rename(columns={"sentence_good": "good", "sentence_bad": "bad"})
    require_texts(pairs, ["good", "bad"], file)
    for name in by:
        if name not in pairs:
            raise DataError(f"{file}: there is no column '{name}'{suggest(name, list(pairs.columns))}")
    return pairs


def print_table(lines: Sequence[Sequence[str]], texts: int, stream: TextIO | None = None) -> None:
    """Print lines of cells in columns; so many columns of texts are aligned at the left, the others at the right.

    A line may end early. The stream is standard output by default.
    """
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    aligned = [f"<{width}" if column < texts else f">{width}" for column, width in enumerate(widths)]
    for line in lines:
        print("  ".join(map(format, line, aligned)).rstrip(), file=stream)
