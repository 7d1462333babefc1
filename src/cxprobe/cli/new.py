"""The command that begins a part of a project: ``cxprobe new construction`` or ``model``."""

from typing import Annotated, Literal

import typer

from cxprobe.errors import ProjectError

Kind = Literal["construction", "model"]


def new(
    kind: Annotated[Kind, typer.Argument(help="What is begun.", show_default=False)],
    slug: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Its name: small letters, digits, hyphens.", show_default=False),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="Of a model, and needed: a Hugging Face name, a local folder or GGUF file, org/repo/file.gguf, or "
            "package:<module>/<path>."
        ),
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Of a model: branch, tag or (better) commit on the hub.")] = None,
    dtype: Annotated[
        Literal["float32", "bfloat16", "float16"] | None,
        typer.Option(help="Of a model: the precision that it runs in; by default float32."),
    ] = None,
) -> None:
    """Begin a construction or a model.

    construction: commented files with an example that passes `cxprobe check`. model: print its entry for params.yaml,
    below `models`, with the digest of weights on this machine; one that cxprobe carries is copied into the project.
    """
    if kind == "construction":
        for option, value in {"--name": name, "--revision": revision, "--dtype": dtype}.items():
            if value:
                raise ProjectError(f"{option} is no option of `cxprobe new {kind}`; leave it out")
        _begin_construction(slug)
    elif name is None:
        raise ProjectError(f"--name: say what the model {slug} is, such as --name roberta-base")
    else:
        _print_model(slug, name, revision, dtype or "float32")


def _begin_construction(name: str) -> None:
    """Write commented files with an example, and say what is next."""
    from cxprobe.cli.project import add_construction
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER

    add_construction(name)
    folder = CONSTRUCTIONS_FOLDER / name
    files = ", ".join(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()))
    print(f"{folder}/ has {files}")
    print("Next: replace the content, delete the files of lines of work that you do not need, run `cxprobe check`, and")
    print(f"add '{name}' in params.yaml, as to pairs.constructions; `dvc repro` runs what is new")


def _print_model(slug: str, name: str, revision: str | None, dtype: Literal["float32", "bfloat16", "float16"]) -> None:
    """Print the entry of a model, and copy one that cxprobe carries and the project does not have."""
    import shutil
    from textwrap import indent

    from cxprobe.cli.entries import carried_folder, describe_model, entry_of, require_free, with_document_start
    from cxprobe.run.params import PARAMS_FILE

    require_free(slug)
    entry = entry_of(slug, *with_document_start(slug, describe_model(slug, name, revision, dtype)))
    if carried := carried_folder(name):
        shutil.copytree(carried, name, ignore=shutil.ignore_patterns("__pycache__"))
    print(f"Paste this at the end of the section models of {PARAMS_FILE}:\n\n{indent(entry, '  ')}")
    print(
        f"Then add `{slug}: {{}}` to the models of a line of work, as to pairs.models, and run `cxprobe check`; "
        "`dvc repro` then runs only what is new"
    )
