"""The commands that begin a part of a project: ``cxprobe new construction``, ``frames`` and ``model``."""

from typing import Annotated, Literal

import typer

from cxprobe.cli.names import ConstructionName


def construction(
    name: Annotated[str, typer.Argument(help="The name of its folder: small letters, digits, hyphens.")],
) -> None:
    """Begin a construction: commented files with an example that passes `cxprobe check`."""
    from cxprobe.cli.project import add_construction
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER

    add_construction(name)
    folder = CONSTRUCTIONS_FOLDER / name
    files = ", ".join(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))
    print(f"{folder}/ has {files}")
    print("Next: replace the content, delete the files of lines of work that you do not need, run `cxprobe check`, and")
    print(f"add '{name}' in params.yaml, as to pairs.constructions; `dvc repro` runs what is new")


def frames(
    name: ConstructionName,
    most: Annotated[int, typer.Option(min=1, help="How many are printed at most, the most frequent verbs first.")] = 30,
) -> None:
    """Print beginnings of frames for pairs.yaml: verbs that a corpus has in the construction, and no frame has."""
    from cxprobe.cli.labels import labels_file, mined_file, read_mined
    from cxprobe.lines import LINES
    from cxprobe.people.labels import in_force, judgements_on, read_labels
    from cxprobe.project.folder import require_construction

    require_construction(name)
    mined, judged = read_mined(name), in_force(read_labels(labels_file(name)))
    said = [judgements_on(*keys, judged).values() for keys in zip(mined["id"], mined["tags"], strict=True)]
    mined = mined[["negative" not in judgements for judgements in said]]
    for line in LINES.values():
        print(line.drafts(name, mined, mined_file(name), most), end="")


def model(
    slug: Annotated[str, typer.Argument(help="Its name in the project: small letters, digits, hyphens.")],
    name: Annotated[
        str,
        typer.Option(
            help="A Hugging Face name, a local folder or GGUF file, org/repo/file.gguf, or package:<module>/<path>.",
            show_default=False,
        ),
    ],
    revision: Annotated[str | None, typer.Option(help="Branch, tag or (better) commit on the hub.")] = None,
    dtype: Annotated[
        Literal["float32", "bfloat16", "float16"], typer.Option(help="The precision that it runs in.")
    ] = "float32",
    twin: Annotated[bool, typer.Option("--twin", help="Print the entry of its twin with random weights too.")] = False,
) -> None:
    """Print the entry of a model for params.yaml, below `models`. Weights on this machine are hashed.

    A model of models/ that cxprobe carries and the project does not have is copied into it.
    """
    import shutil
    from textwrap import indent

    from cxprobe.cli.entries import carried_folder, describe_model, entry_of, require_free, with_document_start
    from cxprobe.run.params import PARAMS_FILE

    require_free(slug)
    entry = entry_of(slug, *with_document_start(slug, describe_model(slug, name, revision, dtype)))
    if twin:
        require_free(f"{slug}-random")
        entry = entry.replace(f"{slug}:", f"{slug}: &{slug}", 1)
        entry += f"{slug}-random:\n  <<: *{slug}\n  weights: random\n  seed: 1\n"
    if carried := carried_folder(name):
        shutil.copytree(carried, name, ignore=shutil.ignore_patterns("__pycache__"))
    print(f"Paste this at the end of the section models of {PARAMS_FILE}:\n\n{indent(entry, '  ')}")
    names = f"'{slug}' and '{slug}-random'" if twin else f"'{slug}'"
    print(
        f"Then add {names} to a line of work, as to pairs.models, and run `cxprobe check`; `dvc repro` then runs only "
        "what is new"
    )
