"""Which forms of a pattern a run looks for: those that pattern.yaml enables, less what the parameters leave out."""

from collections.abc import Sequence

from cxprobe.constructions import Pattern
from cxprobe.errors import ParamsError
from cxprobe.schema import suggest


def leave_out(pattern: Pattern, names: Sequence[str], place: str) -> Pattern:
    """Return a pattern in which some forms are not looked for.

    The examples of the pattern are checked with all of its forms (`check_examples`), so do that first.

    Args:
        pattern: The pattern.
        names: Names of its forms; a form of that name is left out of every part that has it.
        place: Where the names are from, for messages, such as "mine_sentences.left_out.<construction>".

    Raises:
        ParamsError: A name is not in the pattern, or a part has no form left.
    """
    known = {form.name for part in pattern.parts for form in part.patterns}
    unknown = [
        f"{place}: '{name}' is not in its pattern.yaml{suggest(name, list(known))}"
        for name in names
        if name not in known
    ]
    if unknown:
        raise ParamsError("\n".join(unknown))
    parts = []
    for number, part in enumerate(pattern.parts):
        kept = [form for form in part.patterns if form.name not in names]
        if not any(form.enabled for form in kept):
            raise ParamsError(f"{place}: parts[{number}] of its pattern.yaml has no form left; leave fewer out")
        parts.append(part.model_copy(update={"patterns": kept}))
    return pattern.model_copy(update={"parts": parts})
