"""Rules for scenarios: a calibration has no answer, and shows the two candidates as the base test shows them."""

from collections.abc import Iterator

from cxprobe.constructions.faults import Fault, Keys, repeated
from cxprobe.tasks.scenarios.rules import Scenarios, example_words, form_and_number
from cxprobe.text.english import faults_of_text
from cxprobe.text.templates import WORD_MASK, fill, render, slots_of


def lint_scenarios(scenarios: Scenarios) -> Iterator[Fault]:
    """Find what is wrong with the tests and the calibrations of a construction.

    Args:
        scenarios: Its scenarios.yaml.

    Returns:
        Faults: calibrations that show one candidate more often than the other where the base test does not, or that are
        a test; the same text twice; and what is wrong with a text that has its words (`faults_of_text`).
    """
    yield from _candidates_shown(scenarios)
    yield from _answerable(scenarios)
    texts = [*_tests(scenarios), *_calibrations(scenarios)]
    for keys, known, text in repeated(texts):
        known_place = ".".join(map(str, known))
        yield Fault(keys, f"{text!r} says the same as {known_place}; take one of them out")
    candidates = "".join(f" {{{slot}}}" for slot in scenarios.candidates)
    for keys, text in texts:
        for turn in range(max(len(words.rows) for words in scenarios.words.values())):
            words = example_words(scenarios, text + candidates, turn)
            for slot in scenarios.candidates:
                asked = render(text, words).replace(WORD_MASK, words[slot])
                yield from (Fault(keys, what) for what in faults_of_text(asked))


def _tests(scenarios: Scenarios) -> Iterator[tuple[Keys, str]]:
    for name, test in scenarios.tests.items():
        yield ("tests", name, "text"), test.text
        yield from ((("tests", name, "others", number, "text"), other.text) for number, other in enumerate(test.others))


def _calibrations(scenarios: Scenarios) -> Iterator[tuple[Keys, str]]:
    for name, calibration in scenarios.calibrations.items():
        yield from ((("calibrations", name, "texts", number), text) for number, text in enumerate(calibration.texts))
        for test, texts in calibration.by_test.items():
            yield from ((("calibrations", name, "by_test", test, number), text) for number, text in enumerate(texts))


def _candidates_shown(scenarios: Scenarios) -> Iterator[Fault]:
    """Find calibrations in whose texts the candidates do not stand as in the base test.

    A text without both is allowed: then it shows how probable they are by themselves. One that shows both equally often
    is too, since a short text repeats less.
    """
    base = _counts(scenarios, scenarios.tests[scenarios.base].text)
    for keys, text in _calibrations(scenarios):
        counts = _counts(scenarios, text)
        if counts != base and len(set(counts.values())) > 1:
            shown, wanted = (
                ", ".join(f"{{{slot}}}: {number}" for slot, number in each.items()) for each in (counts, base)
            )
            yield Fault(
                keys,
                f"{text!r} shows the candidates unequally often ({shown}; the base test {scenarios.base}: {wanted}); a "
                "text without an answer is to favour none of them: show both as the base does, or neither",
            )


def _counts(scenarios: Scenarios, text: str) -> dict[str, int]:
    return {slot: slots_of(text).count(slot) for slot in scenarios.candidates}


def _answerable(scenarios: Scenarios) -> Iterator[Fault]:
    """Find calibrations that are a test with other words, so that they have an answer."""
    tests = {_renamed(scenarios, text): keys[1] for keys, text in _tests(scenarios)}
    for keys, text in _calibrations(scenarios):
        if (test := tests.get(_renamed(scenarios, text))) is not None:
            what = f"{text!r} is the text of {test} but for the numbers of its slots, and has an answer; rewrite it"
            yield Fault(keys, what)


def _renamed(scenarios: Scenarios, text: str) -> str:
    """Return a text whose rows of words are numbered in the order in which they first come.

    The row of the candidates keeps its number, and of a row that is turned the form that comes first is called the
    first one, since items have it both ways round.
    """
    asked = {scenarios.row_of(slot) for slot in scenarios.candidates}
    numbers: dict[tuple[str, int], str] = {}
    forms: dict[tuple[str, int], list[str]] = {}
    names = {}
    for slot in dict.fromkeys(slots_of(text)):
        row = scenarios.row_of(slot)
        number = numbers.setdefault(row, "asked" if row in asked else str(len(numbers) + 1))
        known = forms.setdefault(row, [])
        form, _ = form_and_number(slot)
        if form not in known:
            known.append(form)
        shown = known.index(form) if row[0] == scenarios.turned else form
        names[slot] = f"<{row[0]} {number} {shown}>"
    return " ".join(fill(text, names).split())
