"""The command that adds to a project: ``cxprobe new construction`` or ``cxprobe new model``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cxprobe.errors import ProjectError
from cxprobe.models.params import Dtype


def new(
    kind: Annotated[Literal["construction", "model"], typer.Argument(help="What is begun.")],
    slug: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Its name: small letters, digits, hyphens."),
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
        Dtype | None, typer.Option(help="Of a model: the precision that it runs in; by default float32.")
    ] = None,
) -> None:
    """Begin a construction or a model.

    construction: commented files with an example that passes `cxprobe check`. model: print its entry for params.yaml,
    below ``models``, with the digest of weights on this machine; one that cxprobe carries is copied into the project.
    """
    if kind == "construction":
        for option, value in {"--name": name, "--revision": revision, "--dtype": dtype}.items():
            if value:
                raise ProjectError(f"{option} is no option of `cxprobe new {kind}`; leave it out")
        folder = add_construction(slug)
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        print(f"{folder}/ has {', '.join(files)}")
        print(
            "Next: replace the content, delete the files of tasks that you do not need, run `cxprobe check`, "
            f"and\nadd '{slug}' in params.yaml, as to pairs.constructions; `dvc repro` runs what is new"
        )
        return
    if name is None:
        raise ProjectError(f"--name: say what the model {slug} is, such as --name roberta-base")
    import shutil
    from textwrap import indent

    from cxprobe.cli.entries import bundled_folder, describe_model, entry_of, require_free, with_document_start
    from cxprobe.run.params import PARAMS_FILE

    require_free(slug)
    spec, why = with_document_start(slug, describe_model(slug, name, revision, dtype or "float32"))
    entry = entry_of(slug, spec, why)
    if bundled := bundled_folder(name):
        shutil.copytree(bundled, name, ignore=shutil.ignore_patterns("__pycache__"))
    print(f"Paste this at the end of the section models of {PARAMS_FILE}:\n\n{indent(entry, '  ')}")
    print(
        f"Then add `{slug}: {{}}` to the models of a task, as to pairs.models, and run `cxprobe check`; "
        "`dvc repro` then runs only what is new"
    )


def add_construction(name: str) -> Path:
    """Write the files of a new construction, commented and with an example, into the project in the working directory.

    Args:
        name: The name of its folder.

    Returns:
        The folder.

    Raises:
        ProjectError: The name is not allowed, or is taken.
    """
    from cxprobe.cli.entries import require_name
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
    from cxprobe.files.writing import write_bytes
    from cxprobe.project.checks import SCAFFOLD

    require_name("construction", name)
    if name == "all":
        raise ProjectError(f"'{name}' is the name of the runs over all constructions; take another name")
    folder = CONSTRUCTIONS_FOLDER / name
    if folder.exists():
        raise ProjectError(f"{folder} exists already; take another name, or remove it first")
    title = name.replace("-", " ").capitalize()
    for file in sorted(SCAFFOLD.rglob("*.*")):
        text = file.read_text(encoding="utf-8").replace("<SLUG>", name).replace("<TITLE>", title)
        write_bytes(text.encode(), folder / file.relative_to(SCAFFOLD))
    return folder
