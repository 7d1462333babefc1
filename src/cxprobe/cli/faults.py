"""All faults of the files that people write: params.yaml, and what is in constructions/, lexicon/ and prompts/."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from cxprobe.constructions.construction import Construction, grammar_file, load_construction, load_sound_parts
from cxprobe.constructions.faults import Fault, lint_people, with_lines
from cxprobe.constructions.people import PEOPLE_FILE, People, load_people
from cxprobe.constructions.sentences import SPLITS
from cxprobe.corpora.params import InstalledCorpus
from cxprobe.corpora.pattern import load_pattern
from cxprobe.errors import ConstructionError, CxprobeError
from cxprobe.files.reading import one_line
from cxprobe.files.schema import Source, read_yaml, suggest, validate
from cxprobe.lm.prompts import (
    PROMPTS_FOLDER,
    InferencePrompts,
    ReasoningPrompts,
    load_inference_prompts,
    load_reasoning_prompts,
    read_prompts,
)
from cxprobe.pairs.asking import PreferencePrompts, load_preference_prompts
from cxprobe.pairs.checks import lint_pairs
from cxprobe.pairs.frames import PairsFile, has_pairs, load_pairs
from cxprobe.people.labels import read_labels
from cxprobe.people.ratings import read_ratings
from cxprobe.people.wording import WORDING_FILE, load_wording
from cxprobe.prompts.checks import lint_items, lint_premises
from cxprobe.prompts.items import Items, load_items
from cxprobe.prompts.make import (
    Continuations,
    build_choices,
    build_questions,
    load_continuations,
    load_material,
    load_pool,
    material_files,
)
from cxprobe.prompts.params import BuildPrompts
from cxprobe.prompts.writing import WritingPrompts, require_sentences
from cxprobe.recognition.grammar import read_grammar
from cxprobe.recognition.make import load_grammars
from cxprobe.run.params import CONSTRUCTIONS_FOLDER, PARAMS_FILE, Params, load_params
from cxprobe.run.project import version_fault
from cxprobe.scenarios.checks import lint_scenarios
from cxprobe.scenarios.rules import load_scenarios

T = TypeVar("T")

# Part of the grid -> the file that a construction needs there.
_FILES = {
    "sentences": "grammars/train.cfg",
    "mining": "pattern.yaml",
    "labels": "labels.tsv",
    "scenarios.constructions": "scenarios.yaml",
    "pairs.constructions": "pairs.yaml",
    "prompts.constructions": "items.yaml",
    "frames.constructions": "pairs.yaml",
}


class Faults:
    """The faults that were found so far.

    Attributes:
        lines: One line a fault; each begins with its file.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def attempt(self, read: Callable[..., T], *values: Any, place: str = "", **options: Any) -> T | None:
        """Return what a function returns, or None where it reports faults; each is kept, after ``place``."""
        try:
            return read(*values, **options)
        except CxprobeError as fault:
            self.lines += [one_line(place + line) for line in str(fault).split("\n")]
            return None

    def lint(self, path: Path, found: Iterable[Fault]) -> None:
        """Keep what rules have found in a file, with its lines."""
        self.lines += map(one_line, with_lines(path, found))


class Checked(NamedTuple):
    """What is needed of a construction's files; None for one that has faults, or is not there."""

    construction: Construction | None
    items: Items | None


class Prompts(NamedTuple):
    """The files of prompts; None for one that has faults."""

    inference: InferencePrompts | None
    reasoning: ReasoningPrompts | None
    continuations: Continuations | None
    writing: WritingPrompts | None
    preferences: PreferencePrompts | None


def find_faults() -> list[str]:
    """Return every fault of every file, a line each, sorted by file. No model is loaded, and nothing is written."""
    faults = Faults()
    faults.lines += filter(None, [version_fault(Path())])
    params = faults.attempt(load_params)
    folders = [path for path in sorted(CONSTRUCTIONS_FOLDER.glob("*")) if path.is_dir()]
    needed = _is_there(PEOPLE_FILE) or any(has_pairs(folder.name) for folder in folders)
    people = faults.attempt(load_people) if needed else None
    if people is not None:
        faults.lint(PEOPLE_FILE, lint_people(people))
    checked = {folder: _check_construction(folder, people, faults) for folder in folders}
    constructions = {folder.name: one.construction for folder, one in checked.items()}
    items = {folder / "items.yaml": one.items for folder, one in checked.items() if one.items is not None}
    for path, found in lint_premises(items).items():
        faults.lint(path, found)
    prompts = _read_prompts(params, faults)
    if _is_there(WORDING_FILE):
        faults.attempt(load_wording)
    if params is not None:
        faults.lines += [f"{PARAMS_FILE}: {fault}" for fault in _faults_of_grid(params, constructions)]
        if params.build_prompts is not None:
            unknown = [f"{PARAMS_FILE}: {fault}" for fault in _unknown_prompts(params.build_prompts, prompts)]
            faults.lines += unknown
            if not unknown:
                _check_questions(params, prompts, faults)
        _check_frames(params, prompts, people, faults)
        if params.ask_pairs is not None and prompts.preferences is not None:
            _check_prompt("ask_pairs", params.ask_pairs.prompt, prompts.preferences.prompts, faults)
    return sorted(dict.fromkeys(faults.lines), key=lambda line: re.split("[:,]", line, maxsplit=1)[0])


def _read_prompts(params: Params | None, faults: Faults) -> Prompts:
    """Read the files of prompts; one that nothing needs may be absent."""

    def read(file: str, load: Callable[[], T], *parts: str) -> T | None:
        needed = params is None or any(_names(params, part) for part in parts)
        return faults.attempt(load) if needed or _is_there(PROMPTS_FOLDER / file) else None

    return Prompts(
        read("inference.yaml", load_inference_prompts, "prompts.constructions"),
        read("reasoning.yaml", load_reasoning_prompts, "prompts.constructions"),
        read("continuations.yaml", load_continuations, "prompts.constructions"),
        read(
            "frames.yaml", lambda: read_prompts(WritingPrompts, PROMPTS_FOLDER / "frames.yaml"), "frames.constructions"
        ),
        read("preferences.yaml", load_preference_prompts, "pairs.llms", "benchmarks.llms"),
    )


def _check_construction(folder: Path, people: People | None, faults: Faults) -> Checked:
    """Check every file of a construction, first whether it can be read, then whether its items hold."""
    name = folder.name
    construction = faults.attempt(load_construction, name)
    sound = construction or load_sound_parts(name)
    if sound.grammar is not None:
        _check_grammars(folder, sound, "generated", faults)
    if sound.balanced is not None:
        _check_grammars(folder, sound.for_source("balanced"), "balanced", faults)

    def read(file: str, load: Callable[[], T], lint: Callable[[T], Iterable[Fault]] | None = None) -> T | None:
        content = faults.attempt(load) if _is_there(folder / file) else None
        if content is not None and lint is not None:
            faults.lint(folder / file, lint(content))
        return content

    read("pattern.yaml", lambda: load_pattern(name, sound))
    read("labels.tsv", lambda: read_labels(folder / "labels.tsv"))
    read("ratings.tsv", lambda: read_ratings(folder / "ratings.tsv"))
    if people is None:
        read("pairs.yaml", lambda: _pairs_alone(folder / "pairs.yaml"))
    else:
        read("pairs.yaml", lambda: load_pairs(name, people), lambda content: lint_pairs(content, people))
    read("scenarios.yaml", lambda: load_scenarios(name), lint_scenarios)
    return Checked(construction, read("items.yaml", lambda: load_items(name), lint_items))


def _check_grammars(folder: Path, construction: Construction, source: Source, faults: Faults) -> None:
    """Check both grammars of a pair, first each by itself, so that the faults of both are reported."""
    rules = construction.rules()
    required = [*rules.start.values(), *rules.content]
    read = [faults.attempt(read_grammar, folder / grammar_file(source, split), required) for split in SPLITS]
    if None not in read:
        faults.attempt(load_grammars, folder.name, construction, source=source)


def _faults_of_grid(params: Params, constructions: Mapping[str, Construction | None]) -> Iterator[str]:
    """Compare the parts of the grid with the files of the constructions that they name."""
    for part, file in _FILES.items():
        for name in _names(params, part):
            path = CONSTRUCTIONS_FOLDER / name / file
            if not _is_there(path):  # a path that exists but is not a file is reported separately
                yield f"grid.{part}: {name} needs {path}, and there is no such file; write it, or take {name} out"
    for name in params.grid.sentences:
        construction = constructions[name]
        if construction is not None and construction.grammar is None:
            yield f"grid.sentences: {name} has no grammar in its construction.yaml; write it, or take {name} out"
    for name, sources in params.grid.recognition.constructions.items():
        read = constructions[name]
        if read is not None:
            for source in sources:
                yield from _faults_of_source(params, name, read, source)
    for slug, corpus in (params.corpora or {}).items():
        if isinstance(corpus, InstalledCorpus) and not Path(corpus.packages).is_file():
            yield f"corpora.{slug}.packages: there is no file {corpus.packages}"


def _faults_of_source(params: Params, name: str, construction: Construction, source: Source) -> Iterator[str]:
    """Compare one source of a construction's sentences with what its construction.yaml has."""
    place = f"grid.recognition.constructions.{name}"
    if source == "balanced" and construction.balanced is None:
        yield f"{place}: its construction.yaml has no section balanced; write it, or take balanced out"
    elif not construction.for_source(source).features and not getattr(params.build_recognition, source).all_sentences:
        yield (
            f"{place}: its construction.yaml has no features, and build_recognition.{source}.all_sentences is "
            "false, so there is no subset to probe; give features, or set it to true"
        )


def _is_there(path: Path) -> bool:
    """Return whether there is anything under a path; its reader says whether it is a file."""
    return path.exists() or path.is_symlink()


def _names(params: Params, part: str) -> Collection[str]:
    """Return what a part of the grid names."""
    names: Any = params.grid
    for key in part.split("."):
        names = getattr(names, key)
    return cast(Collection[str], names)


def _unknown_prompts(settings: BuildPrompts, prompts: Prompts) -> Iterator[str]:
    """Compare the names of prompts in params.yaml with the files that define them, except for files with faults."""
    asked: list[tuple[str, str, list[str], Collection[str]]] = []
    if prompts.inference:
        asked.append(("inference_prompts", "prompt", settings.inference_prompts, prompts.inference.prompts))
    if prompts.reasoning:
        asked.append(("reasoning_prompts", "prompt", settings.reasoning_prompts, prompts.reasoning.prompts))
    if prompts.continuations:
        own, known = settings.continuations, prompts.continuations
        asked.append(("continuations.inference", "continuation", own.inference, known.inference))
        asked.append(("continuations.reasoning", "continuation", own.reasoning, known.reasoning))
    for key, kind, names, allowed in asked:
        for number, name in enumerate(names):
            if name not in allowed:
                yield f"build_prompts.{key}[{number}]: {kind} '{name}' is unknown{suggest(name, list(allowed))}"


def _check_questions(params: Params, prompts: Prompts, faults: Faults) -> None:
    """Build every question that the grid asks for, as far as what it is built of has no fault."""
    settings, seed = params.build_prompts, params.seed
    place = f"{PARAMS_FILE}: build_prompts: "
    for name in params.grid.prompts.constructions:
        if absent := [path for path in material_files(name, settings) if not path.is_file()]:
            imported = [path for path in absent if CONSTRUCTIONS_FOLDER not in path.parents]
            faults.lines += [f"{path}: there is no such file; the README says how to import it" for path in imported]
            continue
        pool = faults.attempt(load_pool, name, settings)
        if pool is None or (material := faults.attempt(load_material, name, settings, pool, seed=seed)) is None:
            continue
        if prompts.inference and prompts.reasoning:
            asked = (name, material, prompts.inference, prompts.reasoning, settings)
            faults.attempt(build_questions, *asked, seed=seed, place=place)
        if prompts.continuations:
            faults.attempt(build_choices, name, material, prompts.continuations, settings, seed=seed, place=place)


def _check_frames(params: Params, prompts: Prompts, people: People | None, faults: Faults) -> None:
    """Check what write_frames needs: a prompt, and pairs that the filters can ask about."""
    if params.write_frames is not None and prompts.writing is not None:
        _check_prompt("write_frames", params.write_frames.prompt, prompts.writing.prompts, faults)
    for name in params.grid.frames.constructions:
        if people and (pairs := faults.attempt(load_pairs, name, people)):
            contexts = [variant.context for variant in pairs.variants.values()]
            faults.attempt(require_sentences, name, pairs.tests, contexts, place=f"{PARAMS_FILE}: grid.frames: ")


def _check_prompt(section: str, name: str, known: Collection[str], faults: Faults) -> None:
    if name not in known:
        faults.lines.append(f"{PARAMS_FILE}: {section}.prompt: prompt '{name}' is unknown{suggest(name, list(known))}")


def _pairs_alone(path: Path) -> PairsFile:
    """Read minimal pairs as far as that can be done without the people."""
    return validate(PairsFile, read_yaml(path, ConstructionError), path, ConstructionError)
