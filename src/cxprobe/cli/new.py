"""The command that adds to a project: ``cxprobe new construction`` or ``cxprobe new model``."""

import re
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from ruamel.yaml import YAML

from cxprobe.errors import ModelError, ParamsError, ProjectError
from cxprobe.files.schema import SLUG_PATTERN, read_yaml
from cxprobe.models.params import Dtype, ModelSpec
from cxprobe.project.bundled import bundled_files
from cxprobe.run.params import PARAMS_FILE

_CHAT_MARKER = "<|im_start|>"  # a bos_token that is one, of a tokenizer without a chat template
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


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
        folder, files = _add_construction(slug)
        print(
            f"{folder}/ has {', '.join(files)}\n"
            "Next: replace the content, delete the files of tasks that you do not need, run `cxprobe check`, "
            f"and\nadd '{slug}' in params.yaml, as to pairs.constructions; `dvc repro` runs what is new"
        )
        return
    if name is None:
        raise ProjectError(f"--name: say what the model {slug} is, such as --name roberta-base")
    import shutil
    from textwrap import indent

    require_free(slug)
    spec, why = with_document_start(slug, describe_model(slug, name, revision, dtype or "float32"))
    entry = entry_of(slug, spec, why)
    if bundled := _bundled_folder(name):
        shutil.copytree(bundled, name, ignore=shutil.ignore_patterns("__pycache__"))
    print(
        f"Paste this at the end of the section models of {PARAMS_FILE}:\n\n{indent(entry, '  ')}\n"
        f"Then add `{slug}: {{}}` to the models of a task, as to pairs.models, and run `cxprobe check`; "
        "`dvc repro` then runs only what is new"
    )


def _add_construction(name: str) -> tuple[Path, list[str]]:
    """Write the commented files of a new construction into the project; return its folder, and the files in it.

    Raises:
        ProjectError: The name is not allowed, or is taken.
    """
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
    from cxprobe.files.writing import write_bytes
    from cxprobe.project.checks import SCAFFOLD

    _require_name("construction", name)
    if name == "all":
        raise ProjectError(f"'{name}' is the name of the runs over all constructions; take another name")
    folder = CONSTRUCTIONS_FOLDER / name
    if folder.exists():
        raise ProjectError(f"{folder} exists already; take another name, or remove it first")
    title = name.replace("-", " ").capitalize()
    files = sorted(file.relative_to(SCAFFOLD).as_posix() for file in SCAFFOLD.rglob("*.*"))
    for file in files:
        text = (SCAFFOLD / file).read_text(encoding="utf-8").replace("<SLUG>", name).replace("<TITLE>", title)
        write_bytes(text.encode(), folder / file)
    return folder, files


def describe_model(slug: str, name: str, revision: str | None, dtype: Dtype) -> ModelSpec:
    """Return the entry of a checkpoint; of a local folder or GGUF file with the digest of what is loaded from it.

    Nothing is written: a model of ``models/`` that cxprobe carries and the project does not have is hashed where it is.

    Args:
        slug: Its name in the project, for messages.
        name: A Hugging Face name, a local folder or GGUF file, org/repo/file.gguf, or package:<module>/<path>.
        revision: Branch, tag or commit on the hub; None for a folder or a package, and for the hub's newest.
        dtype: The precision.

    Raises:
        ProjectError: The name is none of these, or a folder has a revision.
        ModelError: The folder has files that cannot be read.
    """
    from cxprobe.models.checkpoints import OF_THE_HUB, digest_of, is_gguf, path_of

    spec = ModelSpec(name=name, revision=revision, sha256=None, dtype=dtype)
    folder = _bundled_folder(name)
    if not (folder or name.startswith("package:") or (name and Path(name).exists())):
        of_the_hub = OF_THE_HUB if is_gguf(name) else _HUB_NAME
        if not of_the_hub.fullmatch(name) or name.startswith("models/"):
            raise ProjectError(
                f"--name {name}: there is no such folder, and it is not a name on the hub, such as roberta-base or "
                "EleutherAI/pythia-70m; correct it"
            )
        return spec
    if revision is not None:
        raise ProjectError(f"--revision {revision}: '{name}' is on this machine and has no revision; leave it out")
    folder = folder or Path(path_of(f"models.{slug}", name))
    if not (folder if is_gguf(name) else folder / "config.json").is_file():
        raise ProjectError(
            f"--name {name}: {folder} has no config.json, so it is not the folder of a model, and is no GGUF file; "
            "correct the name"
        )
    return spec.model_copy(update={"sha256": digest_of(folder)})


def with_document_start(slug: str, spec: ModelSpec) -> tuple[ModelSpec, str]:
    """Return an entry with what a causal model is to read before a text, and why; "" for a masked model.

    It is what began documents in its training, as far as its tokenizer tells. The tokenizer of an instructed model may
    have a chat marker for its bos_token, which began no document.

    Args:
        slug: Its name in the project.
        spec: The entry, see `describe_model`.
    """
    from cxprobe.models.causal import ids_by_itself
    from cxprobe.models.loading import is_masked, open_source

    folder = _bundled_folder(spec.name)
    try:
        source = open_source(slug, spec.model_copy(update={"name": str(folder)}) if folder else spec)
    except ModelError as fault:
        if spec.sha256:
            raise
        return spec, f"a guess, since its tokenizer is not here: {str(fault)[:80]} ..."
    tokenizer = source.tokenizer
    if is_masked(source.config):
        return spec, ""
    if before := ids_by_itself(tokenizer):
        return spec, f"its tokenizer puts {tokenizer.decode(before)} before a text"
    first, base = tokenizer.bos_token, "<|endoftext|>"
    if first and first not in (tokenizer.chat_template or _CHAT_MARKER):
        return spec.model_copy(update={"bos": "add"}), f"its tokenizer has {first} and does not put it before a text"
    if base in tokenizer.get_vocab():
        marker = f"{first} marks a turn of a chat" if first else "it has no bos_token"
        return spec.model_copy(update={"bos": base}), f"its tokenizer puts nothing before a text, and {marker}"
    return spec, "its tokenizer puts nothing before a text, and has no token that begins a document"


def _bundled_folder(name: str) -> Path | None:
    """Return the folder of a model that cxprobe carries and the project does not have; None for any other name."""
    folder = bundled_files() / name
    is_carried = re.fullmatch(r"models(/[\w.-]+)+", name) and (folder / "config.json").is_file()
    return folder if is_carried and not Path(name).exists() else None


def require_free(slug: str) -> None:
    """Raise if a slug is not a valid name for a new model, or if a model of params.yaml already has it.

    Raises:
        ProjectError: It is taken, or is not a valid name.
        ParamsError: The file cannot be read.
    """
    _require_name("model", slug)
    models = read_yaml(PARAMS_FILE, ParamsError).get("models") or {}
    owners = {
        name: f"models.{name_of_set}.members" for name_of_set, one in models.items() for name in one.get("members", ())
    }
    owners |= dict.fromkeys(models, "models")
    if slug in owners:
        raise ProjectError(f"{PARAMS_FILE}: the name '{slug}' is taken, in {owners[slug]}; take another")


def entry_of(slug: str, spec: ModelSpec, why: str) -> str:
    """Return the lines of an entry of the section models, without a margin; with ``why``, they say what ``bos`` is."""
    yaml: Any = YAML(typ="safe")
    yaml.default_flow_style = yaml.sort_base_mapping_type_on_output = False
    written = StringIO()
    keys = {"name", "revision", "sha256", "dtype", *(["bos"] if why else [])}
    yaml.dump({slug: spec.model_dump(include=keys)}, written)
    pin = "    # pin the commit that the model's page on the hub shows" if spec.sha256 is None else ""
    text = written.getvalue().replace("  revision: null\n", f"  revision: null{pin}\n")
    return f"{text.rstrip()}    # {why}\n" if why else text


def _require_name(kind: str, name: str) -> None:
    """Refuse a name that cannot be a part of paths and of DVC's stage names.

    Raises:
        ProjectError: It has other characters than small letters, digits and hyphens, or begins with a hyphen.
    """
    if not re.fullmatch(SLUG_PATTERN, name):
        near = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        hint = f"; take '{near}'" if near else ""
        raise ProjectError(
            f"'{name}' cannot be the name of a {kind}: it may have small letters, digits and hyphens, and begins with "
            f"a letter or digit{hint}"
        )
