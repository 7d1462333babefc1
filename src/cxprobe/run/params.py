"""params.yaml as a closed model: what all lines of work share, and one section for each line.

`load_params` reads the file and reports all its faults at once: keys and values that are not allowed, unknown names,
and values that do not go together. ``params.schema.json`` is the same model for editors (`cxprobe schema`).
"""

import json
from collections.abc import Collection, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

import cxprobe.corpora.params as corpora
import cxprobe.pairs.params as pairs
import cxprobe.prompts.params as prompts
import cxprobe.recognition.params as recognition
import cxprobe.scenarios.params as scenarios
from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import ParamsError
from cxprobe.files.schema import Closed, Slug, faults_of, read_yaml, suggest
from cxprobe.lm.params import (
    LINES_OF_KINDS,
    LINES_OF_SERVED,
    Compute,
    Llm,
    Model,
    Panel,
    ServedModel,
    empty_names,
    members_of,
)
from cxprobe.report.params import Report

PARAMS_FILE = Path("params.yaml")
LINES = ("recognition", "scenarios", "pairs", "prompts")
# What a line's section may list, and the section that has what it names.
_NAMES = {"models": "models", "probed": "models", "llms": "llms", "writers": "llms", "constructions": "constructions"}


class Params(Closed):
    """All parameters of a run: a whole params.yaml."""

    seed: Annotated[int, Field(ge=0)]
    """What every draw follows from."""
    compute: Compute
    """Where measuring runs, for all lines of work."""
    mining: corpora.Mining
    """Sentences of corpora that may have a construction."""
    recognition: recognition.RecognitionParams
    """Probes of form."""
    scenarios: scenarios.ScenariosParams
    """Masked scenarios."""
    pairs: pairs.PairsParams
    """Minimal pairs, the project's own and those of others."""
    prompts: prompts.PromptsParams
    """Inference and reasoning."""
    report: Report
    """What the reports say about data sets, and which comparisons of models they test."""
    models: dict[Slug, Model]
    """Slug -> a checkpoint, a twin of one, a series of checkpoints, a panel of blind models, or a model on a server."""
    llms: dict[Slug, Llm]
    """Slug -> a model that is asked in words."""
    corpora: dict[Slug, corpora.Corpus]
    """Slug -> a corpus that mining.constructions may name."""

    def names_of(self, part: str) -> list[str]:
        """Return the keys of a mapping, by its dotted name."""
        return list(attrgetter(part)(self))


def load_params(path: Path = PARAMS_FILE, constructions: Path = CONSTRUCTIONS_FOLDER) -> Params:
    """Read and check a parameter file.

    Args:
        path: The file.
        constructions: The folder whose sub-folders are the constructions that the lines may name.

    Raises:
        ParamsError: One line for every fault of the file, each with its key, value and what is allowed.
    """
    content = read_yaml(path, ParamsError)
    known = [folder.parent.name for folder in sorted(constructions.glob("*/construction.yaml"))]
    faults = [*faults_of(Params, content), *_faults_between_sections(_valid_sections(content), known)]
    if faults:
        raise ParamsError("\n".join(f"{path}: {fault}" for fault in faults))
    return Params.model_validate(content)


def schema_text() -> str:
    """Return the JSON Schema of params.yaml, with what the attributes' docstrings say as descriptions."""
    return json.dumps(Params.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


def _valid_sections(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sections that have no fault of their own, so that they can be compared with each other at once."""
    sections = {}
    for name, field in Params.model_fields.items():
        if name in content:
            try:
                sections[name] = TypeAdapter(field.rebuild_annotation()).validate_python(content[name])
            except ValidationError:
                continue
    return sections


def _faults_between_sections(sections: Mapping[str, Any], constructions: Collection[str]) -> Iterator[str]:
    """Yield what is wrong between sections that are right in themselves; those with faults are left out."""
    models, llms = sections.get("models"), sections.get("llms")
    if models is not None:
        yield from _members_with_one_name(models)
    if "mining" in sections and "corpora" in sections:
        yield from corpora.mining_faults(sections["mining"], sections["corpora"], constructions)
    for line in (line for line in LINES if line in sections):
        section = sections[line]
        for key, kind in _NAMES.items():
            names: Collection[str] = getattr(section, key, [])
            allowed: Collection[str] | None = constructions if kind == "constructions" else sections.get(kind)
            for number, name in enumerate(names):
                folder = pairs.construction_of_pairs(name) if line == "pairs" else name
                if allowed is not None and folder not in allowed:
                    place = f"{line}.{key}[{number}]" if isinstance(names, list) else f"{line}.{key}.{name}"
                    where = "constructions/" if kind == "constructions" else kind
                    yield f"{place}: '{name}' is not in {where}{suggest(name, list(allowed))}"
        measured = [key for key in ("models", "llms") if hasattr(section, key)]
        has_items = bool(section.constructions or getattr(section, "benchmarks", None))
        if any(getattr(section, key) for key in measured) != has_items:
            empty, full = ("constructions", " or ".join(measured))
            if section.constructions:
                empty, full = " and ".join(measured), "constructions"
            yield f"{line}.{empty}: must not be empty, since {full} is not; name some, or empty both"
        if models is not None and llms is not None:
            yield from _models_that_cannot_be_asked(line, section.models, models)
    if models is None or llms is None:
        return
    if "recognition" in sections and "mining" in sections:
        yield from recognition.faults(sections["recognition"], sections["mining"].constructions)
    if "pairs" in sections:
        yield from pairs.faults(sections["pairs"], models, llms)
    if "report" in sections:
        known = {member.slug for member in members_of(models, models)} | {*llms}
        for number, pair in enumerate(sections["report"].tested.models):
            for name in (name for name in pair if name not in known):
                place = f"report.tested.models[{number}]"
                yield f"{place}: '{name}' is not in models or llms{suggest(name, sorted(known))}"


def _models_that_cannot_be_asked(line: str, slugs: Collection[str], models: Mapping[str, Model]) -> Iterator[str]:
    for number, slug in enumerate(slugs):
        entry, place = models.get(slug), f"{line}.models[{number}]"
        for key in empty_names(models, [slug] if entry else []):
            yield f"{key}: is empty, and {place} names '{slug}'; write a Hugging Face name or a folder, or take it out"
        for name, member in entry.members.items() if isinstance(entry, Panel) else ():
            allowed = LINES_OF_KINDS[member.kind]
            if line not in allowed:
                yield (
                    f"{place}: '{slug}' has {name}, which cannot be asked here; {member.kind} is for "
                    f"{' and '.join(allowed)}"
                )
        if isinstance(entry, ServedModel) and line not in LINES_OF_SERVED:
            yield (
                f"{place}: '{slug}' runs on a server, which gives causal likelihoods alone: it is for "
                f"{' and '.join(LINES_OF_SERVED)}; take it out here"
            )


def _members_with_one_name(models: Mapping[str, Model]) -> Iterator[str]:
    owners = {slug: f"models.{slug}" for slug in models}
    for slug in models:
        for member in members_of(models, [slug]):
            if member.slug != slug:
                place = f"models.{slug}: {member.slug}"
                if member.slug in owners:
                    yield (
                        f"{place}: the name is taken by {owners[member.slug]}; give it another, since tables tell "
                        "models by it"
                    )
                owners[member.slug] = place
