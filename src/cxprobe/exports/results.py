"""One tidy table of every answer of every model to every item, of all lines of work."""

import re
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from cxprobe.errors import DataError
from cxprobe.files.schema import read_yaml
from cxprobe.files.writing import DATA
from cxprobe.lines import LINES
from cxprobe.project.params import Params
from cxprobe.report.judging import line_members

_TYPES = {
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "integer": pa.int32(),
    "number": pa.float64(),
    "flag": pa.bool_(),
}
# Column -> its type and what it holds; the exported file has this in its schema.
RESULT_COLUMNS: dict[str, dict[str, str]] = read_yaml(Path(__file__).with_name("results.yaml"), DataError)
SENT = ["paper", "table", "model", "items", "ours", "low", "high", "theirs", "same", "date", "who", "version"]
"""The columns of docs/reproduced/*.tsv, in which people send what they have measured."""


def read_results(params: Params, lines: Iterable[str] = tuple(LINES)) -> pd.DataFrame:
    """Read every judged answer of some lines of work: the columns of `RESULT_COLUMNS`.

    Raises:
        DataError: A file is missing, or there is no answer at all.
    """
    tables = []
    for name in lines:
        of_line = params.params_of(name)
        members = line_members(of_line)
        if members and not of_line.nothing_to_do:
            table = LINES[name].answers(params, DATA / f"judge_{name}")
            if "line" not in table:
                table = table.assign(line=name)
            weights = table["model"].map({member.slug: member.state for member in members})
            tables.append(table.assign(weights=weights).reindex(columns=list(RESULT_COLUMNS))[weights.notna()])
    if not tables:
        raise DataError("params.yaml names no models and constructions, so there are no answers")
    return pd.concat(tables, ignore_index=True)


def results_parquet(results: pd.DataFrame) -> bytes:
    """Return the table as a Parquet file whose schema has a description of every column."""
    schema = pa.schema(
        pa.field(name, _TYPES[column["type"]], metadata={"description": column["about"]})
        for name, column in RESULT_COLUMNS.items()
    )
    written = BytesIO()
    pyarrow.parquet.write_table(pa.Table.from_pandas(results, schema=schema, preserve_index=False), written)
    return written.getvalue()


def results_csv(results: pd.DataFrame) -> bytes:
    """Return the table as CSV; the clusters of an answer are joined by a semicolon and a space."""
    return results.assign(clusters=results["clusters"].str.join("; ")).to_csv(index=False, lineterminator="\n").encode()


def results_to_send(overview: pd.DataFrame, version: str, date: str) -> bytes:
    """Return the rates of the overview as a table for docs/reproduced: tab-separated, the columns of `SENT`.

    Args:
        overview: See `cxprobe.site.pages.overview_table`.
        version: Of cxprobe.
        date: Of the run, as 2026-11-26.

    Returns:
        A row a rate, in percent. What only its sender knows is empty: paper, table, theirs, same and who.
    """
    rated = _with_rate(overview)
    percent = {name: (100 * rated[name].astype(float)).round(1) for name in ("accuracy", "low", "high")}
    about = rated["construction"] + ", " + rated["question"] + ", by " + rated["way"]
    items = "ours, n = " + rated["n"].astype(float).astype(int).astype(str) + ": " + about
    sent = rated.assign(**percent, items=items, version=version, date=date).rename(columns={"accuracy": "ours"})
    return sent.reindex(columns=SENT).to_csv(sep="\t", index=False, lineterminator="\n").encode()


def results_latex(overview: pd.DataFrame) -> str:
    r"""Return LaTeX: a macro for each rate of the overview, such as \cxMiniMlmDitransitiveForm, and a table of all.

    A macro has the rate, its interval in percent, and n. Digits in names are written as letters, a for 0, and behind
    each macro stands what it is about.

    Args:
        overview: See `cxprobe.site.pages.overview_table`.
    """
    rated = _with_rate(overview)
    macros: dict[str, str] = {}
    rows = []
    for _, row in rated.iterrows():
        names = [str(row[column]) for column in ("model", "construction", "question", "way")]
        value, low, high = (100 * float(row[column]) for column in ("accuracy", "low", "high"))
        shown = f"{value:.0f}\\,\\% [{low:.0f}, {high:.0f}], $n = {int(float(row['n']))}$"
        name = _macro(names[:3])
        name = _macro(names) if name in macros else name  # several ways of one question are told apart
        macros[name] = f"{{{shown}}}  % {', '.join(names)}"
        escaped = [re.sub(r"([&%$#_{}])", r"\\\1", name) for name in names]
        rows.append(" & ".join([*escaped, shown]) + r" \\")
    lines = [f"\\newcommand{{\\{name}}}{text}" for name, text in macros.items()]
    head = [
        r"\begin{tabular}{lllll}",
        r"model & construction & question & asked by & rate [95\,\% interval], $n$ \\ \hline",
    ]
    return "\n".join([*lines, "", *head, *rows, r"\end{tabular}", ""])


def _with_rate(overview: pd.DataFrame) -> pd.DataFrame:
    return overview[pd.to_numeric(overview["accuracy"], errors="coerce").notna()]


def _macro(names: Sequence[str]) -> str:
    words = re.findall(r"[A-Za-z]+|[0-9]", " ".join(names))
    return "cx" + "".join(chr(ord("a") + int(word)) if word.isdigit() else word.capitalize() for word in words)
