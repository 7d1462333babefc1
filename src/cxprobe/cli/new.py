"""The command that adds to a project: ``cxprobe new construction`` or ``cxprobe new model``."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cxprobe.errors import DataError, ProjectError
from cxprobe.models.terms import Dtype

if TYPE_CHECKING:
    from cxprobe.models.params import ModelSpec


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
    below `models`, with the digest of weights on this machine; one that cxprobe carries is copied into the project.
    """
    if kind == "construction":
        for option, value in {"--name": name, "--revision": revision, "--dtype": dtype}.items():
            if value:
                raise ProjectError(f"{option} is no option of `cxprobe new {kind}`; leave it out")
        from cxprobe.cli.project import add_construction

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
    print(_cost(slug, spec, is_masked=not why))


def _cost(slug: str, spec: "ModelSpec", *, is_masked: bool) -> str:
    """Return how much a model would read of all minimal pairs, and of a smaller choice."""
    from cxprobe.project.params import load_params
    from cxprobe.tasks.pairs.params import AskedPairs, PairsParams
    from cxprobe.tasks.registry import TASKS

    choice = {"meaning": 1, "form": 4, "control": 2, "contrast": 20}
    params, tokens = load_params(), []
    models = {**params.models, slug: spec}
    for asked in (AskedPairs(), AskedPairs(**choice)):
        pairs = params.section(PairsParams).model_copy(update={"models": {slug: asked}, "llms": {}})
        try:
            rows = list(TASKS["pairs"].demand(params.model_copy(update={"models": models, "pairs": pairs})))
        except (DataError, FileNotFoundError):
            return "`dvc repro make_pairs && cxprobe check` says how many texts that is"
        # A masked model reads a text once for each of its tokens.
        tokens.append(sum(row.tokens * (row.tokens / row.texts if is_masked else 1) for row in rows))
    smaller = str(choice).replace("'", "")
    return f"Of all minimal pairs it reads some {tokens[0]:,.0f} tokens; with `{slug}: {smaller}` {tokens[1]:,.0f}"
