"""Croissant metadata of the exported data set: JSON-LD, made and checked by MLCommons' own package."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from cxprobe.exports.configurations import Column, Configuration
from cxprobe.exports.hub import parquet_name, require_package
from cxprobe.exports.project import Made

CROISSANT = "croissant.json"
_LICENCE = "https://spdx.org/licenses/MIT.html"
_NAME = "cxprobe"
_DESCRIPTION = (
    "Minimal pairs, inferences, multiple-choice items, labelled sentences and masked scenarios that ask whether a "
    "language model knows constructions. Made by the project cxprobe."
)


def croissant_text(configurations: Sequence[Configuration], files: Mapping[str, bytes], made: Made) -> str:
    """Return the metadata of a data set.

    Args:
        configurations: What is in it, at least one.
        files: Its Parquet files, as `cxprobe.exports.hub.parquet_files` returns them: path -> content.
        made: How it was made.

    Raises:
        DataError: The package mlcroissant is not installed.
    """
    require_package("mlcroissant")
    import mlcroissant as mlc

    metadata = mlc.Metadata(
        name=_NAME,
        description=_DESCRIPTION,
        version=_semantic(made.version),
        license=[_LICENCE],
        in_language=["en"],
        keywords=["linguistics", "construction grammar", "language models", "probing"],
        distribution=[_file(name, content) for name, content in files.items()],
        record_sets=[
            _record_set(configuration, split) for configuration in configurations for split in configuration.splits
        ],
    )
    return json.dumps(metadata.to_json(), indent=2, ensure_ascii=False) + "\n"


def _file(name: str, content: bytes) -> Any:
    import mlcroissant as mlc

    return mlc.FileObject(
        id=name,
        name=name,
        content_url=name,
        content_size=f"{len(content)} B",
        encoding_formats=["application/x-parquet"],
        sha256=hashlib.sha256(content).hexdigest(),
    )


def _record_set(configuration: Configuration, split: str) -> Any:
    import mlcroissant as mlc

    id_ = f"{configuration.name}-{split}"
    return mlc.RecordSet(
        id=id_,
        name=id_,
        description=configuration.description,
        fields=[_field(column, id_, parquet_name(configuration, split)) for column in configuration.columns],
    )


def _field(column: Column, record_set: str, file: str) -> Any:
    import mlcroissant as mlc

    types = {"integer": mlc.DataType.INTEGER, "label": mlc.DataType.INTEGER, "truth": mlc.DataType.BOOL}
    labels = ", ".join(f"{number} {name}" for number, name in enumerate(column.labels))
    listed = {"is_array": True, "array_shape": "-1"} if column.kind == "texts" else {}
    return mlc.Field(
        id=f"{record_set}/{column.name}",
        name=column.name,
        description=column.description + (f" ({labels})" if labels else ""),
        data_types=[types.get(column.kind, mlc.DataType.TEXT)],
        source=mlc.Source(file_object=file, extract=mlc.Extract(column=column.name)),
        **listed,
    )


def _semantic(version: str) -> str:
    """Return the first three numbers of a version, which is all that Croissant allows."""
    return ".".join(version.split("+")[0].split(".")[:3])
