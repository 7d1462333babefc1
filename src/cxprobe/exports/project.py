"""What a finished run of a project has that can be exported, and the folder that an export is written to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA, write_bytes
from cxprobe.prompts.params import OWN
from cxprobe.run.params import Params
from cxprobe.scenarios.rules import wrong_words
from cxprobe.stats import CLUSTER

OWN_SETS = (*OWN, "reasoning")  # of what models are asked in words; others were read from files of other people
MADE_HERE = ("generated", "balanced")  # sources of sentences; others are quotations of other people's texts


def check_new_folder(folder: Path) -> None:
    """Check that a folder has nothing in it, so that two exports are never mixed.

    Raises:
        DataError: The path is a file, or a folder that is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: is there already; name a folder that does not exist or is empty")


def check_no_formulas(table: pd.DataFrame, file: str) -> None:
    """Check that no text of a table that becomes a CSV begins as a formula does, which a spreadsheet would run.

    Raises:
        DataError: One does; it is not changed here, since people would then judge another text.
    """
    for column in table.select_dtypes(exclude="number"):
        texts = table[column].astype(str)
        if (is_formula := texts.str.match(r"[=+\-@\t\r]")).any():
            raise DataError(
                f"{file}: {column} is {texts[is_formula].iloc[0]!r}, and a spreadsheet would run it as a formula; let "
                "it begin with another character than = + - @"
            )


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files of an export: path inside the folder -> content."""
    for name, content in files.items():
        write_bytes(content, folder / name)


def why_not(params: Params, line: str) -> str:
    """Return why the data of a line of work cannot be exported, or "" if they can."""
    if not getattr(params, line).constructions:
        return f"{line}.constructions of params.yaml names none"
    made = DATA / f"make_{line}"
    return "" if made.is_dir() else f"{made} is missing, since `dvc repro make_{line}` has not run"


def others_items(params: Params) -> list[str]:
    """Return a sentence that says which items of other people are not exported, if there are any."""
    names = ", ".join(params.prompts.make.files)
    about = f"Items that were read from other people's files ({names}), and questions that show them, are not exported."
    return [about] if names else []


def read_pairs(params: Params) -> pd.DataFrame:
    """Read the project's own minimal pairs."""
    tables = [read_made_table(DATA / "make_pairs" / f"{name}.parquet") for name in params.pairs.constructions]
    return pd.concat(tables, ignore_index=True)


def read_prompts(params: Params, table: str, *, others: bool = False) -> pd.DataFrame:
    """Read what models are asked about constructions.

    Args:
        params: The parameters.
        table: "items", "questions", "choices" or "answers".
        others: Whether questions and choices from other people's files, or that show examples from such, are returned
            too; of answers, those to other people's items always are.
    """
    names = params.prompts.constructions
    rows = pd.concat([read_made_table(DATA / "make_prompts" / name / f"{table}.parquet") for name in names])
    if "set" in rows and not others:
        rows = rows[rows["set"].isin(OWN_SETS)]
    if "examples" in rows and not others:
        rows = rows[[set(names.split("+")) <= {"none", *OWN_SETS} for names in rows["examples"]]]
    return rows.reset_index(drop=True)


def read_sentences(params: Params, *, mined: bool = False) -> pd.DataFrame:
    """Read the labelled sentences that grammars made, with the columns construction and source.

    Args:
        params: The parameters.
        mined: Whether those of corpora are returned too.
    """
    tables = []
    for name, sources in params.recognition.constructions.items():
        for source in sources if mined else [source for source in sources if source in MADE_HERE]:
            table = read_made_table(DATA / "make_recognition" / name / source / "sentences.parquet")
            tables.append(table.assign(construction=name, source=source))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["id", "text"])


def read_scenarios(params: Params) -> pd.DataFrame:
    """Read the texts with a mask, with the columns construction, right and wrong: the words, "" for a calibration."""
    made = DATA / "make_scenarios"
    names = params.scenarios.constructions
    tables = [read_made_table(made / name / "texts.parquet").assign(construction=name) for name in names]
    texts = pd.concat(tables, ignore_index=True)
    return texts.assign(wrong=wrong_words(texts))


def read_made_table(path: Path) -> pd.DataFrame:
    """Read a table of the project's data.

    Raises:
        DataError: It is missing.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing; run `dvc repro`, or `dvc pull`, in the project's folder, and export again")
    return read_table(path)


def cluster_texts(table: pd.DataFrame) -> "pd.Series[Any]":
    """Return the clusters of each row, a list of "name=value", of the columns that begin with ``cluster_``.

    Where several tables were joined, a row without a cluster of some kind has its own id there, or nothing: it is left
    out.
    """
    columns = [str(column) for column in table.columns if str(column).startswith(CLUSTER)]
    names = [column.removeprefix(CLUSTER) for column in columns]
    ids = table["id"] if "id" in table else table["item"]
    lists = [
        [f"{name}={value}" for name, value in zip(names, row, strict=True) if isinstance(value, str) and value != id_]
        for id_, row in zip(ids, table[columns].to_numpy().tolist(), strict=True)
    ]
    return pd.Series(lists, index=table.index, dtype=object)
