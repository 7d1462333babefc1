"""The commands for a file of texts: ``cxprobe score`` and ``compare``."""

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cxprobe.errors import DataError
from cxprobe.models.terms import Dtype, SchemeName

if TYPE_CHECKING:
    from cxprobe.stats import Estimate

File = Annotated[
    str, typer.Argument(help="A .txt, or - for standard input (one sentence a line); a .tsv, .csv, .jsonl or .parquet.")
]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        help="A name on the hub, a local folder, a .gguf file, or one of these: mini-clm, mini-mlm, taught-clm, "
        "taught-clm-chance, smollm2-135m.",
    ),
]
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

    Of sentences: sum, per_token and per_character (natural logarithms). Of words and tokens: `sentence` counts from 0.
    """
    from cxprobe import load
    from cxprobe.files.texts import read_sentence_file, refuse_unwritable, write_table_as

    refuse_unwritable(output)
    table = read_sentence_file(file, column)
    if by != "word":  # no word has white space
        refuse_unwritable(output, table)
    lm, texts = load(model, revision=revision, dtype=dtype, device=device), table["text"].tolist()
    if by != "sentence":
        write_table_as(lm.surprisal(texts, by=by, scheme=scheme, bos=bos), output)
        return
    scores = lm.score(texts, scheme=scheme, bos=bos).drop(columns="sentence")
    if taken := [str(name) for name in scores if name in table]:
        raise DataError(f"{file}: has the columns {', '.join(taken)} already, which the scores have; rename them")
    write_table_as(table.join(scores), output)


def compare(
    file: Annotated[
        str,
        typer.Argument(
            help="A .tsv, .csv, .jsonl or .parquet with the columns good, bad and, if there is any, context."
        ),
    ],
    model: ModelName,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Where a row a pair is written; - prints it.")
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(help="A column by whose values accuracies are given too; may be repeated.")
    ] = None,
    score: Annotated[
        Literal["sum", "per_token", "per_character", "given_context", "pmi"], typer.Option(help="What is compared.")
    ] = "sum",
    scheme: SchemeOption = "pll_word_l2r",
    bos: BosOption = None,
    revision: Revision = None,
    dtype: Precision = "float32",
    device: Device = "auto",
) -> None:
    """Say in how many pairs of a file a model finds the right text more probable, with the 95 % interval."""
    from cxprobe import load
    from cxprobe.files.schema import suggest
    from cxprobe.files.texts import read_texts, refuse_unwritable, write_table_as

    if output is not None:
        refuse_unwritable(output)
    pairs = read_texts(file, ["good", "bad"])
    for name in by or []:
        if name not in pairs:
            raise DataError(f"{file}: there is no column '{name}'{suggest(name, list(pairs.columns))}")
    lm = load(model, revision=revision, dtype=dtype, device=device)
    result = lm.compare(pairs, score=score, scheme=scheme, bos=bos)
    stream = sys.stderr if output == "-" else sys.stdout
    print(f"accuracy {_with_interval(result.accuracy)}, {result.clustering}", file=stream)
    if result.both is not None:
        print(f"right in both orders {_with_interval(result.both)}", file=stream)
    if (mean := result.margin) is not None:
        ends, size = f"[{mean.low:+.3f}, {mean.high:+.3f}]", f"{mean.standardised:+.2f} standard deviations"
        print(f"mean margin over both orders {mean.value:+.3f} nats {ends}, {size}, {mean.n} frames", file=stream)
    if result.reservation:
        print(result.reservation, file=stream)
    if by:
        print(result.by(*by).to_string(index=False, float_format="{:.3f}".format), file=stream)
    if output is not None:
        write_table_as(result.table, output)


def _with_interval(rate: "Estimate") -> str:
    return f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}], n = {rate.n}"
