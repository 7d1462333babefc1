"""How many questions some parameters ask for, counted without a model; files that are not imported are estimated."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cxprobe.lm.prompts import load_inference_prompts, load_reasoning_prompts
from cxprobe.planning.facts import Facts
from cxprobe.planning.plan import Made, Questions
from cxprobe.planning.work import Texts
from cxprobe.prompts.make import Material, build_choices, build_questions, load_continuations, load_material, load_pool
from cxprobe.prompts.params import OWN, BuildPrompts
from cxprobe.run.params import Params

if TYPE_CHECKING:
    import pandas as pd

# What of the project's own takes the place of what is not there: examples, and items as long as those of a file.
_STAND_INS = {"inference": OWN[0], "reasoning": "reasoning"}


class CountedQuestions(NamedTuple):
    """What is asked about items.

    Attributes:
        questions: Those in words.
        answers: The distinct texts that end in an answer.
        made: How many there are of each construction.
        notes: What was estimated, and why.
    """

    questions: Questions
    answers: Texts
    made: list[Made]
    notes: list[str]


class _Absent(NamedTuple):
    """A file that is asked about and is not there: its set, what it has, its name."""

    of: str
    kind: str
    file: str


@dataclass
class _Built:
    """What was built: the lengths of questions, and of the texts with their answers, by the kind of the item."""

    kinds: list[str] = field(default_factory=list)
    questions: list[int] = field(default_factory=list)
    reasoned: list[bool] = field(default_factory=list)
    items: dict[str, set[str]] = field(default_factory=lambda: {kind: set() for kind in _STAND_INS})
    answers: dict[str, str] = field(default_factory=dict)  # text -> kind


def count_questions(params: Params, facts: Facts, *, imports: bool = True) -> CountedQuestions:
    """Return how many questions the parameters ask for, built of the project's items and of files that are imported.

    Of a file that is not there the number of items is that of docs/plan.yaml, each asked as often and at such length as
    those that are there, or as the project's own; examples from such a file are as long as the project's own.

    Args:
        params: The parameters.
        facts: How many items files have that are not there.
        imports: Whether imported files count where they are there; false to take them as absent.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """

    def is_there(path: str) -> bool:
        return imports and Path(path).is_file()

    settings, absent = _usable(params.build_prompts, is_there)
    sources = {source for shots in params.build_prompts.shots for source in shots.sources if source not in OWN}
    without = sorted(source for source in sources if not is_there(source))
    about = bool(absent or without)
    notes = [f"{Path(one).name} is not imported: its examples were taken to be as long as own ones" for one in without]
    more = {kind: sum(_sizes(absent, kind, facts, notes)) for kind in _STAND_INS}
    models = {kind for kind, set_ in _STAND_INS.items() if more[kind] and not _has(settings, kind)}
    settings = settings.model_copy(update={"sets": [*settings.sets, *(_STAND_INS[kind] for kind in models)]})
    made, built = [], _Built()
    for name in params.grid.prompts.constructions:
        if questions := _build(name, _with_stand_ins(settings, without), without, params.seed, models, built):
            made.append(Made("build_prompts", f"questions on {name}", questions, about))
    scale = {kind: _scale(len(built.items[kind]), more[kind], kind in models) for kind in _STAND_INS}
    repeated = _repeats([scale[kind] for kind in built.kinds])
    if extra := int(repeated.sum()) - sum(kind not in models for kind in built.kinds):
        made.append(Made("build_prompts", "questions on files that are not imported", extra, True))
    reasoned = float(repeated[np.array(built.reasoned, dtype=bool)].sum() / max(1, repeated.sum()))
    asked = np.repeat(np.array(built.questions, dtype=np.int64), repeated)
    ends = np.repeat([len(text) for text in built.answers], _repeats([scale[kind] for kind in built.answers.values()]))
    return CountedQuestions(Questions(Texts(asked, about=about), reasoned), Texts(ends, about=about), made, notes)


def _usable(settings: BuildPrompts, is_there: Callable[[str], bool]) -> tuple[BuildPrompts, list[_Absent]]:
    """Return the settings without the files that are not there, and these."""
    absent = [_Absent(of, "inference", path) for of, path in settings.inference_files.items() if not is_there(path)]
    files = {of: path for of, path in settings.files.items() if of not in {one.of for one in absent}}
    for of, own in settings.reasoning_files.items():
        there = {name: path for name, path in own.constructions.items() if is_there(path)}
        if own.rows is not None and not (is_there(own.rows) and len(there) == len(own.constructions)):
            absent.append(_Absent(of, "reasoning", own.rows))  # it chooses among the rows of all of them
            there = {}
        elif own.rows is None:
            absent += [_Absent(of, "reasoning", path) for path in own.constructions.values() if not is_there(path)]
        files[of] = own.model_copy(update={"constructions": there})
        if not there:
            del files[of]
    return settings.model_copy(update={"files": files}), absent


def _sizes(absent: Sequence[_Absent], kind: str, facts: Facts, notes: list[str]) -> Iterator[int]:
    """Give how many items of a kind the files have that are not there, and note each."""
    for one in absent:
        if one.kind != kind:
            continue
        name = Path(one.file).name
        size = facts.files.get(name)
        number = size and (size.inferences if kind == "inference" else size.reasonings)
        if number:
            notes.append(f"{name} (set {one.of}) is not imported: estimated from its {number} items")
            yield number
        else:
            notes.append(f"{name} (set {one.of}) is not imported, and docs/plan.yaml has no size of it: not counted")


def _has(settings: BuildPrompts, kind: str) -> bool:
    """Return whether anything of a kind is asked about."""
    if kind == "reasoning":
        return "reasoning" in settings.sets or bool(settings.reasoning_files)
    return bool(set(OWN) & set(settings.sets)) or bool(settings.inference_files)


def _with_stand_ins(settings: BuildPrompts, without: Sequence[str]) -> BuildPrompts:
    """Return the settings with own examples in place of those in files that are not there."""
    shots = []
    for one in settings.shots:
        sources = [_STAND_INS["inference"] if source in without else source for source in one.sources]
        shots.append(one.model_copy(update={"sources": list(dict.fromkeys(sources))}))
    return settings.model_copy(update={"shots": shots})


def _build(
    name: str, settings: BuildPrompts, without: Sequence[str], seed: int, models: set[str], built: _Built
) -> int:
    """Build all that is asked about a construction, and add its lengths to what was built.

    Returns:
        How many questions there are; those of kinds in ``models``, which are built for their lengths, do not count.
    """
    material = load_material(name, settings, load_pool(name, settings), seed=seed)
    if not any(material.inferences.values()) and not material.reasonings:
        return 0  # all that is asked about it is in files that are not there
    stand_ins = dict.fromkeys(without, material.sources.get(_STAND_INS["inference"], []))
    material = Material(**{**material._asdict(), "sources": {**material.sources, **stand_ins}})
    table = build_questions(name, material, load_inference_prompts(), load_reasoning_prompts(), settings, seed=seed)
    choices, answers = build_choices(name, material, load_continuations(), settings, seed=seed)
    built.kinds.extend(table["kind"])
    built.questions.extend(table["question"].str.len())
    built.reasoned.extend(table["chain_of_thought"])
    for kind, own in table.groupby("kind"):
        built.items[str(kind)].update(own["item"])
    _add_answers(choices, answers, built)
    return int((~table["kind"].isin(models)).sum())


def _add_answers(choices: "pd.DataFrame", answers: "pd.DataFrame", built: _Built) -> None:
    """Add the distinct texts that language models score: each answer after its question, and after any."""
    both = answers.merge(choices.drop_duplicates("id")[["id", "kind", "question", "anywhere"]], on="id")
    for before in ("question", "anywhere"):
        built.answers.update(zip(both[before] + both["text"], both["kind"], strict=True))


def _scale(there: int, more: int, modelled: bool) -> float:
    """Return how many items each one that was built stands for."""
    if not there:
        return 1.0
    return (more if modelled else there + more) / there


def _repeats(weights: Sequence[float]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return how often each is taken so that together they come close to their weights, from one to the next."""
    sums = np.round(np.cumsum(np.array([0.0, *weights]))).astype(np.int64)
    return np.diff(sums)
