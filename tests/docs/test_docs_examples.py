"""The Python of every page runs as it stands, from any folder; so do the notebooks."""

import json

import matplotlib as mpl
import pytest
from written_pages import PAGES, fences, name_of

from conftest import ROOT

pytestmark = pytest.mark.pipeline

NOTEBOOKS = [ROOT / "notebooks" / f"{name}.ipynb" for name in ("probe_a_construction", "score_your_sentences")]
# That page reads the results of a project: tests/pipelines/test_one_number.py.
WITH_PYTHON = [page for page in PAGES if fences(page, "python") and page.name != "check-a-number.md"]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working folder that is no project, and figures that need no screen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(mpl.rcParams, "backend", "agg")
    return tmp_path


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name_of)
def test_the_python_of_a_page_runs(page, elsewhere):
    names: dict[str, object] = {}
    for number, text in enumerate(fences(page, "python"), start=1):
        exec(compile(text, f"{name_of(page)}, example {number}", "exec"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, elsewhere):
    names: dict[str, object] = {}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
