"""The orders in which the options of a multiple-choice item are shown, and which letter the right one then has.

An order names the options by their letters in the paper's order, in which A and B are the readings and C is that there
is not enough information: in "BCA" the option that is shown as A is the item's B.
"""

from collections.abc import Mapping
from typing import Literal

PAPER = "ABC"
ORDERS: Mapping[Literal["paper", "rotated"], tuple[str, ...]] = {"paper": (PAPER,), "rotated": (PAPER, "BCA", "CAB")}


def shown_options(a: str, b: str, c: str, order: str) -> dict[str, str]:
    """Return letter -> the option that is shown with it.

    Args:
        a: The item's option A.
        b: Its option B.
        c: That there is not enough information.
        order: A permutation of "ABC".
    """
    options = dict(zip(PAPER, (a, b, c), strict=True))
    return {letter: options[own] for letter, own in zip(PAPER, order, strict=True)}


def shown_letter(letter: str, order: str) -> str:
    """Return the letter with which the item's option ``letter`` is shown in an order."""
    return PAPER[order.index(letter)]
