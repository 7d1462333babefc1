"""A rate as a bar: where its marks stand, how heavy they are, and what the picture says in words."""

from dataclasses import dataclass
from math import log10

from cxprobe.report.site.findings import Blind
from cxprobe.report.site.words import in_full, percent
from cxprobe.stats import Estimate

WIDTH, HEIGHT, MARGIN = 200.0, 20.0, 8.0


@dataclass(frozen=True)
class Bar:
    """A rate with its interval on a scale from 0 to 100 %, beside chance and the best blind model.

    Attributes:
        rate: The rate.
        chance: Drawn as a dotted line, in [0, 1].
        blind: The best blind model, drawn as a tick with its interval behind it; None for none.
        name: Whose rate it is.
    """

    rate: Estimate
    chance: float
    blind: Blind | None
    name: str

    @staticmethod
    def x(rate: float) -> float:
        """Return where a rate stands, from the left."""
        return round(MARGIN + rate * (WIDTH - 2 * MARGIN), 2)

    @property
    def weight(self) -> float:
        """From 0.25 for a few items to 1 for a thousand and more: how strong the marks are."""
        return weight_of(self.rate.n)

    @property
    def radius(self) -> float:
        """Of the mark of the rate."""
        return round(2.2 + 2.8 * self.weight, 2)

    @property
    def thickness(self) -> float:
        """Of the line of the interval."""
        return round(1 + 2.2 * self.weight, 2)

    @property
    def words(self) -> str:
        """What the picture shows."""
        said = [f"{self.name}: {in_full(self.rate)}", f"chance {percent(self.chance)}"]
        if self.blind is not None:
            said.insert(1, f"best blind model, {self.blind.model}: {in_full(self.blind.rate)}")
        return "; ".join(said)


def weight_of(n: int) -> float:
    """Return how heavy a mark for n items is: 0.25 for one or none, 1 for a thousand and more."""
    return round(min(1.0, 0.25 + 0.25 * log10(max(n, 1))), 3)
