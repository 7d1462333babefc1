"""Words for an example of a scenario's text."""

from cxprobe.constructions.scenarios import Scenarios
from cxprobe.constructions.templates import form_and_number, slots_of


def example_words(scenarios: Scenarios, text: str) -> dict[str, str]:
    """Return slot -> word for the slots of a text: those of row 1 have the words of the first row of their set, etc.

    Args:
        scenarios: The words.
        text: A text of a test or of a calibration.
    """
    words = {}
    for slot in slots_of(text):
        form, number = form_and_number(slot)
        known = scenarios.words[scenarios.forms[form]]
        words[slot] = known.rows[(number - 1) % len(known.rows)][known.forms.index(form)]
    return words
