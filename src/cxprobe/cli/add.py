"""The command that adds to a project: ``cxprobe add construction`` or ``cxprobe add model``."""

import re
from io import StringIO
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cxprobe.cli.init import round_trip
from cxprobe.errors import ModelError, ParamsError, ProjectError
from cxprobe.models import Dtype
from cxprobe.project.bundled import bundled_files

if TYPE_CHECKING:
    from cxprobe.models.params import ModelSpec

_TRIED = [f"{number} dogs that lived next door gave us a look before they left." for number in range(2, 10)]


def add(
    kind: Annotated[Literal["construction", "model"], typer.Argument(help="What is added.")],
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Of a construction: small letters, digits, hyphens. Of a model: a Hugging Face name, a local folder "
            "or GGUF file, org/repo/file.gguf, package:<module>/<path>, or a short name such as smollm2-135m.",
        ),
    ],
    slug: Annotated[
        str | None,
        typer.Option("--as", help="Of a model: its name in the project.", show_default="the last part of NAME"),
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Of a model: branch, tag or (better) commit on the hub.")] = None,
    dtype: Annotated[
        Dtype | None, typer.Option(help="Of a model: the precision that it runs in; by default float32.")
    ] = None,
) -> None:
    """Add a construction or a model to a project.

    construction: commented files with an example that passes `cxprobe check`. model: its entry in params.yaml, with the
    digest of weights on this machine, in all tasks that run and can ask it; and how much it is to read. A model that
    cxprobe carries is copied into the project.
    """
    if kind == "construction":
        for option, value in {"--as": slug, "--revision": revision, "--dtype": dtype}.items():
            if value:
                raise ProjectError(f"{option} is no option of `cxprobe add {kind}`; leave it out")
        folder, files = _add_construction(name)
        print(
            f"{folder}/ has {', '.join(files)}\n"
            f"Next: replace the content, delete the files of tasks that you do not need, run `cxprobe check {name}`,\n"
            f"and add '{name}' in params.yaml, as to contrasts.constructions or mining.constructions"
        )
        return
    import shutil

    from cxprobe.models.checkpoints import PACKAGED
    from cxprobe.run.params import PARAMS_FILE

    slug = slug or re.sub(r"[^a-z0-9]+", "-", Path(name).name.lower().removesuffix(".gguf")).strip("-")
    require_free(slug)
    spec = PACKAGED[name] if name in PACKAGED else describe_model(name, revision, dtype or "float32")
    carried = _bundled_folder(spec.name)
    if carried:
        shutil.copytree(carried, spec.name, ignore=shutil.ignore_patterns("__pycache__"))
    spec, why, fits = with_document_start(slug, spec)
    asked = add_model(slug, spec, why, fits)
    print(f"{PARAMS_FILE}: models.{slug} is added; it is asked in {', '.join(asked) or 'no task'}")
    if not fits:
        print(f"Its architecture is not known here ({why}); name it in the models of the tasks that are to ask it")
    _print_work(slug, spec, fits)


def add_model(slug: str, spec: "ModelSpec", why: str, kind: str) -> list[str]:
    """Write a model into params.yaml, whose comments stay, and into the models of the tasks that run and can ask it.

    Args:
        slug: Its name in the project.
        spec: Its entry.
        why: Why ``bos`` is what it is; "" where nothing is read before a text.
        kind: What it is, see `cxprobe.results.task.Task`; "" where that is not known.

    Returns:
        The tasks that ask it now.
    """
    from ruamel.yaml.comments import CommentedMap

    from cxprobe.files.reading import read_text
    from cxprobe.files.writing import write_bytes
    from cxprobe.run.params import PARAMS_FILE
    from cxprobe.tasks.registry import TASKS

    roundtrip, written, entry = round_trip(), StringIO(), StringIO()
    content = roundtrip.load(read_text(PARAMS_FILE, ParamsError))
    keys = {"name", "revision", "sha256", "dtype", *(["bos"] if why else [])}
    described = CommentedMap(spec.model_dump(include=keys))
    if not (spec.sha256 or spec.revision):
        described.yaml_add_eol_comment("pin the commit that the model's page on the hub shows", "revision")
    if why:
        described.yaml_add_eol_comment(why, "bos")
    asked = [name for name, task in TASKS.items() if kind in task.asks and content.get(name, {}).get("models")]
    for name in asked:
        models = content[name]["models"]
        models.insert(len(models) if models.fa.flow_style() else 0, slug, {})
    is_block = bool(content.get("models")) and not content["models"].fa.flow_style()
    if not is_block:
        content["models"] = {**(content.get("models") or {}), slug: described}
    roundtrip.dump(content, written)
    roundtrip.dump({slug: described}, entry)
    # Above all others: what ruamel adds below comes after the comment that begins the next section.
    place, text = "\nmodels:\n", written.getvalue()
    added = text.replace(place, place + indent(entry.getvalue(), "  "), 1) if is_block else text
    write_bytes(added.encode(), PARAMS_FILE)
    return asked


def _print_work(slug: str, spec: "ModelSpec", kind: str) -> None:
    """Print how much a model is to read in each stage, and how long that takes, as a short trial tells."""
    from time import perf_counter

    from cxprobe import load
    from cxprobe.cli.check import demand_by_stage
    from cxprobe.models.asking import CHARACTERS_PER_TOKEN
    from cxprobe.project.params import load_params

    rows = [row for row in demand_by_stage(load_params())[0].values() if row.model == slug]
    for_a_token = 0.0  # in seconds
    if kind in ("masked", "causal") and rows:
        lm = load(spec.name, revision=spec.revision, dtype=spec.dtype)
        began = perf_counter()
        lm.score(_TRIED)
        for_a_token = (perf_counter() - began) * CHARACTERS_PER_TOKEN / sum(map(len, _TRIED))
    for row in rows:
        takes = f", some {row.tokens * for_a_token / 60:.0f} minutes" if for_a_token else ""
        print(f"{row.stage}: {row.texts:,} texts, about {row.tokens:,} tokens{takes}")
    if for_a_token:
        print(
            "Minutes are those of a short trial; if others use this machine, it takes longer. The models of a task may"
        )
        print(f"ask {slug} for less, or not at all: see docs/tutorials/model.md")
    print("Next: cxprobe check, dvc repro; only the new model runs")


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


def describe_model(name: str, revision: str | None, dtype: Dtype) -> "ModelSpec":
    """Return the entry of a checkpoint; of a local folder or GGUF file with the digest of what is loaded from it.

    Nothing is written: a model of ``models/`` that cxprobe carries and the project does not have is hashed where it is.

    Args:
        name: A Hugging Face name, a local folder or GGUF file, org/repo/file.gguf, or package:<module>/<path>.
        revision: Branch, tag or commit on the hub; None for a folder or a package, and for the hub's newest.
        dtype: The precision.

    Raises:
        ProjectError: The name is none of these, or a folder has a revision.
        ModelError: The folder has files that cannot be read.
    """
    from cxprobe.models.checkpoints import OF_THE_HUB, digest_of, is_gguf, path_of
    from cxprobe.models.params import ModelSpec

    spec = ModelSpec(name=name, revision=revision, sha256=None, dtype=dtype)
    folder = _bundled_folder(name)
    if not (folder or name.startswith("package:") or (name and Path(name).exists())):
        of_the_hub = OF_THE_HUB if is_gguf(name) else r"[\w.-]+(/[\w.-]+)?"
        if not re.fullmatch(of_the_hub, name) or name.startswith("models/"):
            raise ProjectError(
                f"{name}: there is no such folder, and it is not a name on the hub, such as roberta-base or "
                "EleutherAI/pythia-70m; correct it"
            )
        return spec
    if revision is not None:
        raise ProjectError(f"--revision {revision}: '{name}' is on this machine and has no revision; leave it out")
    folder = folder or Path(path_of(f"the model {name}", name))
    if not (folder if is_gguf(name) else folder / "config.json").is_file():
        inside = sorted(path.parent.name for path in folder.glob("*/config.json"))
        remedy = f"add one of its folders ({', '.join(inside)}), or write a series of them" if inside else "correct it"
        raise ProjectError(
            f"{name}: {folder} has no config.json, so it is not the folder of a model, and is no GGUF file; {remedy}"
        )
    return spec.model_copy(update={"sha256": digest_of(folder)})


def with_document_start(slug: str, spec: "ModelSpec") -> tuple["ModelSpec", str, str]:
    """Return an entry with what a causal model is to read before a text; why, "" for a masked model; and what it is.

    It is what began documents in its training, as far as its tokenizer tells. The tokenizer of an instructed model may
    have a chat marker for its bos_token, which began no document.

    Args:
        slug: Its name in the project.
        spec: The entry, see `describe_model`.

    Returns:
        The entry; why; and "encoder", "masked", "causal", or "" where its files are not here.
    """
    from cxprobe.models.causal import ids_by_itself
    from cxprobe.models.loading import kind_of, open_source

    try:
        source = open_source(slug, spec)
    except ModelError as fault:
        if spec.sha256:
            raise
        return spec, f"a guess, since its tokenizer is not here: {str(fault)[:80]} ...", ""
    kind, tokenizer = kind_of(source.config), source.tokenizer
    if kind != "causal":
        return spec, "", kind
    bos, first, base = spec.bos, tokenizer.bos_token, "<|endoftext|>"
    if bos != "as_tokenizer":
        why = "what stood between documents in its training"
    elif before := ids_by_itself(tokenizer):
        why = f"its tokenizer puts {tokenizer.decode(before)} before a text"
    elif first and first not in (tokenizer.chat_template or "<|im_start|>"):  # a marker of chats, without a template
        bos, why = "add", f"its tokenizer has {first} and does not put it before a text"
    elif base in tokenizer.get_vocab():
        marker = f"{first} marks a turn of a chat" if first else "it has no bos_token"
        bos, why = base, f"its tokenizer puts nothing before a text, and {marker}"
    else:
        why = "its tokenizer puts nothing before a text, and has no token that begins a document"
    return spec.model_copy(update={"bos": bos}), why, kind


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
    from cxprobe.files.schema import read_yaml
    from cxprobe.run.params import PARAMS_FILE

    _require_name("model", slug)
    models = read_yaml(PARAMS_FILE, ParamsError).get("models") or {}
    owners = dict.fromkeys(models, "models")
    for name_of_set, one in models.items():
        owners |= dict.fromkeys(one.get("members", ()), f"models.{name_of_set}.members")
    if slug in owners:
        what = f"{PARAMS_FILE}: the name '{slug}' is taken, in {owners[slug]}; take another by --as"
        raise ProjectError(f"{what}, or let a task ask the entry that is there: name it in the task's models")


def _require_name(kind: str, name: str) -> None:
    """Refuse a name that cannot be a part of paths and of DVC's stage names.

    Raises:
        ProjectError: It has other characters than small letters, digits and hyphens, or begins with a hyphen.
    """
    from cxprobe.files.schema import SLUG_PATTERN

    if not re.fullmatch(SLUG_PATTERN, name):
        near = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        hint = f"; take '{near}'" if near else ""
        raise ProjectError(
            f"'{name}' cannot be the name of a {kind}: it may have small letters, digits and hyphens, and begins with "
            f"a letter or digit{hint}"
        )
