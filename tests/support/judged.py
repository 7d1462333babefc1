"""Items to judge, made up."""

from conftest import ROOT
from cxprobe.people.forms import RatedItem
from cxprobe.people.wording import load_wording

WORDING = load_wording(ROOT / "prompts" / "validation.yaml")


def item(number: int, construction: str = "one", frame: str = "f", gold: str = "A", **stratum: str) -> RatedItem:
    return RatedItem(
        kind="pairs",
        id=f"{construction}-{number}",
        construction=construction,
        frame=frame,
        stratum=stratum,
        text="",
        question="Which?",
        options={"A": f"First of {number}.", "B": f"Second of {number}."},
        gold=gold,
    )


def items(constructions: int, frames: int, values: int) -> list[RatedItem]:
    """Return an item of every frame, variant and order of every construction."""
    return [
        item(number, f"c{construction}", f"f{frame}", "AB"[number % 2], variant=f"v{value}", order=order)
        for construction in range(constructions)
        for number, (frame, value, order) in enumerate(
            (frame, value, order) for frame in range(frames) for value in range(values) for order in ("o", "s")
        )
    ]
