"""All faults of the files that people write: params.yaml, and what is in constructions/, lexicon/ and prompts/.

Each line of work knows what is wrong with its own files; here they are all asked, and compared with params.yaml.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    Construction,
    GrammarSource,
    grammar_file,
    load_construction,
    load_sound_parts,
    sentences_of,
)
from cxprobe.constructions.faults import Fault, lint_people, with_lines
from cxprobe.constructions.people import PEOPLE_FILE, People, load_people
from cxprobe.constructions.sentences import SPLITS
from cxprobe.corpora.params import InstalledCorpus
from cxprobe.corpora.pattern import load_pattern, require_slots
from cxprobe.errors import CxprobeError
from cxprobe.files.reading import one_line
from cxprobe.files.schema import suggest
from cxprobe.lm.folders import pin_faults
from cxprobe.lm.prompts import PROMPTS_FOLDER, read_prompt_file
from cxprobe.pairs.asking import load_preference_prompts
from cxprobe.pairs.checks import lint_pairs
from cxprobe.pairs.frame_prompts import WritingPrompts, require_sentences
from cxprobe.pairs.frames import load_pairs, pairs_file, read_pairs_file
from cxprobe.pairs.params import FORM
from cxprobe.people.labels import read_labels
from cxprobe.people.ratings import read_ratings
from cxprobe.people.wording import WORDING_FILE, load_wording
from cxprobe.prompts.checks import lint_items, lint_premises
from cxprobe.prompts.items import ConstructionItems, load_items
from cxprobe.prompts.make import (
    Material,
    build_choices,
    build_questions,
    check_sets,
    load_material,
    material_files,
)
from cxprobe.prompts.params import Wording
from cxprobe.prompts.wording import InferencePrompts, ReasoningPrompts, load_continuations, load_prompts
from cxprobe.recognition.grammar import read_grammar
from cxprobe.recognition.sentences import load_grammars
from cxprobe.run.params import PARAMS_FILE, Params, load_params
from cxprobe.run.project import version_fault
from cxprobe.scenarios.checks import lint_scenarios
from cxprobe.scenarios.rules import load_scenarios

T = TypeVar("T")
_PIPELINE = "en_ewt_cxprobe"  # as in dvc.yaml


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


def find_faults() -> list[str]:
    """Return every fault of every file, a line each, sorted by file. No model is loaded, and nothing is written."""
    faults = Faults()
    faults.lines += filter(None, [version_fault(Path())])
    params = faults.attempt(load_params)
    folders = [path for path in sorted(CONSTRUCTIONS_FOLDER.glob("*")) if path.is_dir()]
    people = None
    if _is_there(PEOPLE_FILE) or any(any(folder.glob("*pairs.yaml")) for folder in folders):
        people = faults.attempt(load_people)
    if people is not None:
        faults.lint(PEOPLE_FILE, lint_people(people))
    constructions: dict[str, Construction | None] = {}
    items: dict[Path, ConstructionItems] = {}
    for folder in folders:
        constructions[folder.name], content = _check_construction(folder, people, faults)
        if content is not None:
            items[folder / "items.yaml"] = content
    for path, found in lint_premises(items).items():
        faults.lint(path, found)
    if _is_there(WORDING_FILE):
        faults.attempt(load_wording)
    prompts = _read_prompts(params, faults)
    if params is not None:
        pins = pin_faults(params.models)
        compared = (*_faults_of_constructions(params, constructions), *_unknown_prompts(params, prompts), *pins)
        faults.lines += [f"{PARAMS_FILE}: {fault}" for fault in compared]
        if not any("prompts.make." in fault for fault in compared):
            _check_questions(params, prompts, faults)
        for name in (name for name, sources in params.recognition.constructions.items() if "marked" in sources):
            faults.attempt(require_slots, name)
        for name in params.pairs.frames.constructions if params.pairs.frames else ():
            if people and (pairs := faults.attempt(load_pairs, name, people)):
                contexts = [variant.context for variant in pairs.variants.values()]
                place = f"{PARAMS_FILE}: pairs.frames.constructions: "
                faults.attempt(require_sentences, name, pairs.tests, contexts, place=place)
    return sorted(dict.fromkeys(faults.lines), key=lambda line: re.split("[:,]", line, maxsplit=1)[0])


def _check_construction(
    folder: Path, people: People | None, faults: Faults
) -> tuple[Construction | None, ConstructionItems | None]:
    """Check every file of a construction, first whether it can be read, then whether its items hold.

    Returns:
        Its construction.yaml and its items.yaml; None for one that has faults, or is not there.
    """
    name = folder.name
    if name.endswith(FORM):
        faults.lines.append(f"{folder}: what ends in {FORM} are the pairs of form of a construction; rename the folder")
    construction = faults.attempt(load_construction, name)
    sound = construction or load_sound_parts(name)
    sources: tuple[tuple[GrammarSource, bool], ...] = (
        ("generated", sound.grammar is not None),
        ("balanced", sound.balanced is not None),
    )
    for source in (source for source, described in sources if described):
        described = sound.for_source(source)
        required = [*described.rules().start.values(), *described.rules().content]
        # Each grammar by itself first, so that the faults of both are reported.
        grammars = [faults.attempt(read_grammar, folder / grammar_file(source, split), required) for split in SPLITS]
        if None not in grammars:
            faults.attempt(load_grammars, name, described, source=source)

    def read(file: str, load: Callable[[], T], lint: Callable[[T], Iterable[Fault]] = lambda _: ()) -> T | None:
        content = faults.attempt(load) if _is_there(folder / file) else None
        if content is not None:
            faults.lint(folder / file, lint(content))
        return content

    read("pattern.yaml", lambda: load_pattern(name, sound))
    read("labels.tsv", lambda: read_labels(folder / "labels.tsv"))
    read("ratings.tsv", lambda: read_ratings(folder / "ratings.tsv"))
    for pairs in (name, name + FORM):
        read(
            pairs_file(pairs).name,
            partial(read_pairs_file, pairs),
            lambda content: lint_pairs(content, people) if people else (),  # without them as far as it goes
        )
    read("scenarios.yaml", lambda: load_scenarios(name), lint_scenarios)
    return construction, read("items.yaml", lambda: load_items(name), lint_items)


def _faults_of_constructions(params: Params, constructions: Mapping[str, Construction | None]) -> Iterator[str]:
    """Compare the constructions that the lines name with their files."""
    frames = params.pairs.frames.constructions if params.pairs.frames else []
    needed = [("mining.constructions", name, "pattern.yaml") for name in params.mining.constructions]
    needed += [("scenarios.constructions", name, "scenarios.yaml") for name in params.scenarios.constructions]
    needed += [("pairs.constructions", name, "pairs.yaml") for name in params.pairs.constructions]
    needed += [("pairs.frames.constructions", name, "pairs.yaml") for name in frames]
    needed += [("prompts.constructions", name, "items.yaml") for name in params.prompts.constructions]
    for name, sources in params.recognition.constructions.items():
        files = {"generated": "grammars/train.cfg", "mined": "labels.tsv", "marked": "labels.tsv"}
        needed += [("recognition.constructions", name, files[source]) for source in sources if source in files]
        construction = constructions[name]
        place = f"recognition.constructions.{name}"
        for source in sources:
            if construction is None:
                break  # its faults have been told
            if source == "generated" and construction.grammar is None:
                yield f"{place}: {name} has no grammar in its construction.yaml; write it, or take generated out"
            elif source == "balanced" and construction.balanced is None:
                yield f"{place}: its construction.yaml has no section balanced; write it, or take balanced out"
            elif not construction.for_source(source).features and not (
                getattr(params.recognition.make, drawn := sentences_of(source)).all_sentences
            ):
                yield (
                    f"{place}: its construction.yaml has no features, and recognition.make.{drawn}.all_sentences is "
                    "false, so there is no subset to probe; give features, or set it to true"
                )
    for part, name, file in needed:
        path = pairs_file(name) if file == "pairs.yaml" else CONSTRUCTIONS_FOLDER / name / file
        if not _is_there(path):  # a path that exists but is not a file is reported separately
            yield f"{part}: {name} needs {path}, and there is no such file; write it, or take {name} out"
    pipelines = {"parser": params.mining.parser, "tagger": params.mining.tagger} if params.mining.constructions else {}
    for key, name in pipelines.items():
        folder = Path("models", key, _PIPELINE)
        if not folder.is_dir():
            yield (
                f"mining.{key}: there is no folder {folder}, which dvc.yaml needs for mining; copy it from the project "
                "that `cxprobe init` makes, or name nothing in mining.constructions"
            )
        elif not (Path(name).is_dir() or (name.isidentifier() and find_spec(name))):
            yield f"mining.{key}: '{name}' is neither a folder nor an installed package; install it, or name another"
    for slug, corpus in params.corpora.items():
        if isinstance(corpus, InstalledCorpus) and not Path(corpus.packages).is_file():
            yield f"corpora.{slug}.packages: there is no file {corpus.packages}"


def _read_prompts(params: Params | None, faults: Faults) -> dict[str, Any]:
    """Return the files of prompts by name; those are absent that have faults, or that nothing needs."""
    asked = params is None or bool(params.prompts.constructions)
    wording: Wording = "own" if params is None else params.prompts.make.wording
    files: list[tuple[str, Callable[[], Any], bool]] = [
        ("inference", lambda: load_prompts(InferencePrompts, wording=wording), asked),
        ("reasoning", lambda: load_prompts(ReasoningPrompts, wording=wording), asked),
        ("continuations", load_continuations, asked),
        ("preferences", load_preference_prompts, params is None or bool(params.pairs.llms)),
        (
            "frames",
            lambda: read_prompt_file(WritingPrompts, PROMPTS_FOLDER / "frames.yaml"),
            params is None or bool(params.pairs.writers),
        ),
    ]
    read = {
        name: faults.attempt(load)
        for name, load, needed in files
        if needed or _is_there(PROMPTS_FOLDER / f"{name}.yaml")
    }
    return {name: content for name, content in read.items() if content is not None}


def _unknown_prompts(params: Params, prompts: Mapping[str, Any]) -> Iterator[str]:
    """Compare the names of prompts in params.yaml with the files that define them, except for files with faults."""
    ask, frames, make = params.pairs.ask, params.pairs.frames, params.prompts.make
    asked: list[tuple[str, str, str, list[str]]] = []  # place in params.yaml, file, section of the file, names
    if ask is not None:
        asked.append(("pairs.ask.prompt", "preferences", "prompts", [ask.prompt]))
    if frames is not None:
        asked.append(("pairs.frames.prompt", "frames", "prompts", [frames.prompt]))
    for kind in ("inference", "reasoning"):
        for part in ("prompts.make", "prompts.make.variation") if make.variation else ("prompts.make",):
            asked.append((f"{part}.{kind}_prompts", kind, "prompts", params.names_of(f"{part}.{kind}_prompts")))
        continued = f"prompts.make.continuations.{kind}"
        asked.append((continued, "continuations", kind, params.names_of(continued)))
    for place, file, section, names in asked:
        known = getattr(prompts[file], section) if file in prompts else names
        for number, name in enumerate(names):
            if name not in known:
                where = place if place.endswith(".prompt") else f"{place}[{number}]"
                kind = "continuation" if file == "continuations" else "prompt"
                yield f"{where}: {kind} '{name}' is unknown{suggest(name, list(known))}"


def _check_questions(params: Params, prompts: Mapping[str, Any], faults: Faults) -> None:
    """Build every question that params.yaml asks for, as far as what it is built of has no fault."""
    settings, seed, place = params.prompts.make, params.seed, f"{PARAMS_FILE}: "
    materials: list[Material] = []
    for name in params.prompts.constructions:
        if absent := [path for path in material_files(name, settings) if not path.is_file()]:
            imported = [path for path in absent if CONSTRUCTIONS_FOLDER not in path.parents]
            faults.lines += [f"{path}: there is no such file; the README says how to import it" for path in imported]
            continue
        material = faults.attempt(load_material, name, settings, seed=seed)
        if material is None:
            continue
        materials.append(material)
        if "inference" in prompts and "reasoning" in prompts:
            asked = (name, material, prompts["inference"], prompts["reasoning"], settings)
            faults.attempt(build_questions, *asked, seed=seed, place=place)
        if "continuations" in prompts:
            faults.attempt(build_choices, name, material, prompts["continuations"], settings, seed=seed, place=place)
    if len(materials) == len(params.prompts.constructions):
        faults.attempt(check_sets, materials, settings, place=place)


def _is_there(path: Path) -> bool:
    """Return whether there is anything under a path; its reader says whether it is a file."""
    return path.exists() or path.is_symlink()
