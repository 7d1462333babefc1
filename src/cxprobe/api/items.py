"""The items of constructions as tables: those that cxprobe carries, and those of a file or folder of one's own."""

from pathlib import Path
from typing import Literal

import pandas as pd

from cxprobe.api.options import require_option
from cxprobe.constructions.construction import load_construction
from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import suggest
from cxprobe.pairs.benchmarks import read_pairs as read_records
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import build_pairs, pair_table
from cxprobe.pairs.params import BuildPairs, PerCell
from cxprobe.recognition.make import generate_sentences, load_grammars, sentence_table
from cxprobe.run.params import CONSTRUCTIONS_FOLDER
from cxprobe.run.project import carried_files

Pseudowords = Literal["wuggy", "random"]
Drawn = Literal["generated", "balanced"]


def list_constructions(folder: str | Path | None = None) -> list[str]:
    """Return the names of all constructions.

    Args:
        folder: The folder with one folder per construction; None for those that cxprobe carries.

    Example:
        >>> import cxprobe
        >>> "let-alone" in cxprobe.list_constructions()
        True
    """
    return sorted(path.parent.name for path in _folder(folder).glob("*/construction.yaml"))


def pairs(
    construction: str,
    *,
    per_cell: int = 300,
    pseudowords: Pseudowords | None = None,
    seed: int = 0,
    folder: str | Path | None = None,
) -> pd.DataFrame:
    """Return the minimal pairs of a construction, as the stage ``build_pairs`` makes them.

    Args:
        construction: Its name, see `list_constructions`.
        per_cell: The most pairs of each cell: a variant of one noun type in one order. The paper has 300.
        pseudowords: What takes the place of content words in a second set of pairs; None for no such set.
        seed: Of the draw; the same seed gives the same pairs.
        folder: The folder of all constructions; None for those that cxprobe carries.

    Returns:
        One row a pair: id, item, context (what comes before both texts), good and bad (how the right and the wrong text
        go on); what the pair is reported under (construction, variant, noun_type, order ...); and ``cluster_<name>``,
        what it shares with other pairs. `LanguageModel.compare` takes the table as it is.

    Raises:
        ConstructionError: There is no such construction, or it has no pairs.
        DataError: ``pseudowords`` is none of these.

    Source:
        Oba & Sugawara 2026, §3.

    Example:
        >>> import cxprobe
        >>> table = cxprobe.pairs("let-alone", per_cell=2)
        >>> cxprobe.load("mini-clm").compare(table).accuracy.n == len(table)
        True
    """
    if pseudowords is not None:
        require_option("pseudowords", pseudowords, Pseudowords)
    where = _folder(folder)
    _require(construction, where, "pairs.yaml")
    people = load_people(_lexicon(folder))
    content = load_pairs(construction, people, where)
    settings = BuildPairs(per_cell=PerCell(meaning=per_cell, form=per_cell), pseudowords=pseudowords)
    return build_pairs(construction, content, people, settings, seed).pairs


def sentences(
    construction: str,
    *,
    per_label: int = 10,
    source: Drawn = "generated",
    seed: int = 0,
    folder: str | Path | None = None,
) -> pd.DataFrame:
    """Return labelled sentences from a construction's grammars, as the stage ``generate_sentences`` draws them.

    Args:
        construction: Its name, see `list_constructions`.
        per_label: Sentences for each value of each feature, per label and lexical half.
        source: "generated" for the first pair of grammars; "balanced" for the second, whose two labels differ in
            nothing that is spelling.
        seed: Of the draw.
        folder: The folder of all constructions; None for those that cxprobe carries.

    Returns:
        One row a sentence: id, text, label ("positive" or "negative"), split ("train" or "test", two halves without a
        content word in common), each feature, and ``cluster_<name>``, such as the template.

    Raises:
        ConstructionError: There is no such construction, or it has no such grammars.
        DataError: There is no such source.

    Source:
        Weissweiler et al. 2022, §3.

    Example:
        >>> import cxprobe
        >>> sorted(set(cxprobe.sentences("comparative-correlative", per_label=2)["label"]))
        ['negative', 'positive']
    """
    require_option("source", source, Drawn)
    where = _folder(folder)
    _require(construction, where, "construction.yaml")
    whole = load_construction(construction, where)
    if whole.grammar is None:
        raise ConstructionError(
            f"{where / construction / 'construction.yaml'} has no grammar, so no sentences are drawn"
        )
    own = whole.for_source(source)
    grammars = load_grammars(construction, own, where, source=source)
    return sentence_table(generate_sentences(construction, own, grammars, per_label, seed).sentences)


def read_pairs(path: str | Path) -> pd.DataFrame:
    r"""Return the minimal pairs of a file.

    Args:
        path: A table with a header (.tsv, or .csv with texts between double quotes), or one JSON object a line
            (.jsonl), compressed (.gz) or not, with the columns id (each pair has its own), good and bad. A table
            without ids can be read by pandas and given to `LanguageModel.compare`. Optional: context; item, what
            several pairs are about; ``cluster_<name>``, what pairs share, for intervals; and any others, to report by.

    Returns:
        One row a pair with these columns, see `pairs`.

    Raises:
        DataError: The file is not such a table; the message has the line.

    Example:
        >>> import cxprobe, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "mine.tsv")
        >>> _ = path.write_text("id\tgood\tbad\n1\tShe sleeps.\tShe sleep.\n")
        >>> cxprobe.read_pairs(path)["good"].tolist()
        ['She sleeps.']
    """
    return pair_table(read_records(Path(path)))


def _folder(folder: str | Path | None) -> Path:
    return carried_files() / CONSTRUCTIONS_FOLDER if folder is None else Path(folder)


def _lexicon(folder: str | Path | None) -> Path:
    """Return the file of people: that beside a folder of constructions if there is one, else the carried one."""
    own = Path(folder).parent / PEOPLE_FILE if folder is not None else None
    return own if own is not None and own.is_file() else carried_files() / PEOPLE_FILE


def _require(construction: str, folder: Path, file: str) -> None:
    if not (folder / construction / file).is_file():
        known = [path.parent.name for path in folder.glob(f"*/{file}")]
        raise ConstructionError(f"'{construction}' has no {file} in {folder}{suggest(construction, known)}")
