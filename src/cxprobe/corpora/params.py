"""The sections corpora and mining of params.yaml: which corpora, which tagger, which machines."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt, StringConstraints, model_validator

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed, Distinct, Slug
from cxprobe.files.writing import DATA


class Corpus(Closed):
    """The files of a folder, here or anywhere that fsspec reaches."""

    folder: Annotated[str, StringConstraints(pattern=r"\S")]  # an empty one would be the project itself
    """A local folder, s3://..., or hf://datasets/<owner>/<name>@<revision>/<folder>."""
    glob: str | None = None
    """Which of its files, such as "en/*.json.gz"; null for all of the format."""
    format: Literal["jsonl", "parquet", "text"] = "text"
    """A JSON object a line, a Parquet table, or running text; .gz, .bz2, .zst and .lz4 are unpacked."""
    text: str = "text"
    """The key (column) of a record's text, of jsonl and parquet."""
    url: str = "url"
    """The key (column) of the name of its source; a record without it is named by its file and line."""

    @model_validator(mode="after")
    def _is_no_table(self) -> "Corpus":
        if self.format in ("text", "jsonl") and (self.glob or "").endswith((".csv", ".tsv", ".xlsx")):
            raise ValueError(
                f"glob: '{self.glob}' names tables, which are no format of a corpus; write jsonl, such as by "
                "pandas.read_csv(FILE).to_json('mine.jsonl', orient='records', lines=True)"
            )
        return self

    @model_validator(mode="after")
    def _names_a_revision(self) -> "Corpus":
        if self.folder.startswith("hf://") and "@" not in self.folder:
            raise ValueError(
                f"folder: '{self.folder}' names no revision, so the corpus may change under the results; write "
                "hf://datasets/<owner>/<name>@<commit>/..."
            )
        return self


class Engine(Closed):
    """Which of datatrove's executors mines; each file of a corpus is a task."""

    kind: Literal["local", "slurm"]
    """This machine, or a cluster whose nodes share the disk with data/."""
    arguments: dict[str, Any]
    """Those of LocalPipelineExecutor or SlurmPipelineExecutor, such as {workers: 2}, without those that mining sets
    (pipeline, tasks, logging_dir, skip_completed); the result does not depend on them."""


class Duplicates(Closed):
    """The definition of duplicate sentences."""

    shingle: PositiveInt
    """Words in a row that are compared."""
    permutations: Annotated[int, Field(ge=16)]
    """Of MinHash; more is more exact and slower."""
    threshold: Annotated[float, Field(gt=0, le=1)]
    """The least estimated Jaccard similarity of two near-duplicates."""


class Mining(Closed):
    """Searching corpora for constructions."""

    constructions: dict[Slug, Slug]
    """Construction -> the corpus in which it is looked for."""
    watched: Distinct[Slug]
    """Corpora that are listed again at every `dvc repro`, since their files may change: folders that are mined.
    What is fixed by a revision (hf://) or written by a stage (data/) need not be."""
    tagger: str
    """A folder with a spaCy pipeline, for patterns of words and tags."""
    parser: str
    """The same for patterns that ask for dependencies or lemmas; it sets their tags too."""
    most_words: PositiveInt
    """A longer sentence is not a candidate."""
    longest_line: PositiveInt
    """Bytes; a longer record is set aside."""
    most_faults: Annotated[float, Field(ge=0, le=1)]
    """The largest share of records that may be unreadable; more is an error, since the corpus's settings are wrong."""
    duplicates: Duplicates
    engine: Engine

    def mined_in(self, corpus: str) -> list[str]:
        """Return the constructions that are looked for in a corpus."""
        return [name for name, slug in self.constructions.items() if slug == corpus]

    def folder_of(self, construction: str) -> Path:
        """Return the folder of the sentences that were mined for a construction.

        Raises:
            DataError: It is looked for in no corpus.
        """
        if construction not in self.constructions:
            raise DataError(
                f"mining.constructions of params.yaml does not have {construction}, so nothing was mined for it; name "
                "the corpus there in which it is looked for"
            )
        return DATA / "mine_sentences" / self.constructions[construction] / construction
