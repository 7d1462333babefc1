from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from results import Ratio, as_markdown, as_text, ratios_of


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--table", type=Path, help="write the ratios of this run to a Markdown file")


@pytest.fixture(scope="session")
def found(request) -> Iterator[list[Ratio]]:
    """All ratios of this run, which become a page if one is asked for."""
    ratios: list[Ratio] = []
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
