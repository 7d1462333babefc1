"""Reading constructions/<name>/scenarios.yaml: all its faults at once, each with its place."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from cxprobe.errors import ConstructionError
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.scenarios.schema import Calibration, Scenarios
from cxprobe.scenarios.templates import form_and_number, slots_of
from cxprobe.schema import read_yaml, suggest, validate


def load_scenarios(name: str, constructions: Path = CONSTRUCTIONS_FOLDER) -> Scenarios:
    """Read and check ``constructions/<name>/scenarios.yaml``.

    Raises:
        ConstructionError: One line for every fault of the file.
    """
    path = constructions / name / "scenarios.yaml"
    scenarios = validate(Scenarios, read_yaml(path, ConstructionError), path, ConstructionError, {})
    # What uses words is looked at only if these are right.
    if faults := list(_faults_of_words(scenarios)) or [
        *_faults_of_tests(scenarios),
        *_faults_of_calibrations(scenarios),
    ]:
        raise ConstructionError("\n".join(f"{path}: {fault}" for fault in faults))
    return scenarios


def _faults_of_words(scenarios: Scenarios) -> Iterator[str]:
    forms = [form for words in scenarios.words.values() for form in words.forms]
    for form in sorted({form for form in forms if forms.count(form) > 1}):
        yield f"words: the form {form} stands here more than once; a slot could not tell which it means"
    items = scenarios.items
    for kind, counts, draws in (("cross", items.cross, 1), ("draw", items.draw, items.draws)):
        for name, count in counts.items():
            place = f"items.{kind}.{name}"
            if name not in scenarios.words:
                yield f"{place}: '{name}' is not in words{suggest(name, list(scenarios.words))}"
            elif (rows := len(scenarios.words[name].rows)) < count * draws:
                yield f"{place}: needs {count * draws} rows, words.{name} has {rows}; add words, or take fewer"
    for name in sorted(items.cross.keys() & items.draw.keys()):
        yield f"items.draw.{name}: it is crossed too; take it out of the one or the other"


def _faults_of_tests(scenarios: Scenarios) -> Iterator[str]:
    own, candidates = scenarios.slots_of_items(), list(scenarios.candidates)
    if candidates[0] == candidates[1]:
        yield f"candidates: both are {candidates[0]}; there would be nothing to choose"
    yield from _unknown("candidates", candidates, own)
    for slot in candidates:
        if slot in own and scenarios.row_of(slot)[0] not in scenarios.items.cross:
            yield f"candidates: the words of {slot} are drawn; cross them, so that each is right as often as wrong"
    if scenarios.base not in scenarios.tests:
        yield f"base: '{scenarios.base}' is not in tests{suggest(scenarios.base, list(scenarios.tests))}"
    for name, test in scenarios.tests.items():
        if test.answer not in candidates:
            yield f"tests.{name}.answer: '{test.answer}' is no candidate{suggest(test.answer, candidates)}"
        yield from _unknown(f"tests.{name}.text", slots_of(test.text), own)


def _faults_of_calibrations(scenarios: Scenarios) -> Iterator[str]:
    own = scenarios.slots_of_items()
    for name in sorted((scenarios.tests.keys() | {"none"}) & scenarios.calibrations.keys()):
        yield f"calibrations.{name}: the name is taken; choose another"
    for name, calibration in scenarios.calibrations.items():
        place = f"calibrations.{name}"
        nowhere = [slot for slot in calibration.vary if form_and_number(slot)[0] not in scenarios.forms]
        if nowhere:
            yield from _unknown(f"{place}.vary", nowhere, own)
            continue
        varied = {scenarios.row_of(slot) for slot in calibration.vary}
        asked = [slot for slot in scenarios.candidates if slot in own and scenarios.row_of(slot) in varied]
        if asked:
            yield f"{place}.vary: the row of {', '.join(asked)} is asked for, so it must stay the item's own"
        for text in calibration.texts:
            yield from _faults_of_calibration_text(scenarios, calibration, place, text)


def _faults_of_calibration_text(scenarios: Scenarios, calibration: Calibration, place: str, text: str) -> Iterator[str]:
    known, slots = [*scenarios.slots_of_items(), *calibration.vary], slots_of(text)
    yield from _unknown(f"{place}.texts", slots, known)
    for slot in calibration.vary:
        if slot not in slots:
            yield f"{place}.vary: {slot} is not in {text!r}"
    varied = {scenarios.row_of(slot) for slot in calibration.vary}
    kept = {scenarios.row_of(slot) for slot in slots if slot in known} - varied
    for name in sorted({name for name, _ in varied}):
        new, old = (sum(set_ == name for set_, _ in rows) for rows in (varied, kept))
        needed, rows = new * calibration.draws + old, len(scenarios.words[name].rows)
        if needed > rows:
            yield f"{place}: needs {needed} rows, words.{name} has {rows}; add words, or lower draws"


def _unknown(place: str, slots: Iterable[str], known: list[str]) -> Iterator[str]:
    for slot in slots:
        if slot not in known:
            yield f"{place}: unknown slot '{slot}'{suggest(slot, known)}"
