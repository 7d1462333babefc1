from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from paired import fitting_size

from results import LeftOut, Ratio, as_markdown, as_text, ratios_of


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--table", type=Path, help="write the ratios of this run to a Markdown file")


@pytest.fixture(scope="session")
def found(request) -> Iterator[list[Ratio | LeftOut]]:
    """All ratios of this run, and what was left out, which become a page if one is asked for."""
    ratios: list[Ratio | LeftOut] = []
    yield ratios
    if path := request.config.getoption("--table"):
        path.write_text(as_markdown(ratios))


@pytest.fixture
def show(found, capsys) -> Callable[..., None]:
    """Print what was timed, and keep its ratios for the page."""

    def show(title, seconds, unit, amount, goals=None):
        own = ratios_of(title, seconds, goals or {})
        found.extend(own)
        with capsys.disabled():
            print(as_text(title, seconds, unit, amount))
            for one in own:
                low, high = min(one.ratios), max(one.ratios)
                print(f"    {low:.2f} to {high:.2f} times as fast as: {one.peer}")

    return show


@pytest.fixture
def fit(found) -> Callable[..., int]:
    """Say how many items this processor can do in a sensible time, after a first short measurement.

    What takes longer than that, such as bfloat16 where it is emulated, is left out, and the page says so.
    """

    def fit(title, ways_of, most):
        number, seconds = fitting_size(ways_of, most)
        if not number:
            left_out = LeftOut(title, f"left out: this processor takes {seconds:.1f} s for one of them in each round")
            found.append(left_out)
            pytest.skip(f"{title}: {left_out.why}")
        return number

    return fit
