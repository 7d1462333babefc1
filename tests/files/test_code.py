"""The digest of code: what counts as a change, and which modules are reached."""

import pytest

from conftest import ROOT
from cxprobe.files.code import code_digest, computing_code, reached_modules

CODE = '''"""What it is about."""

LIMIT = 3  # of all
"""At most so many."""


def work(n: int = 1) -> int:
    """Work."""
    if n > LIMIT:
        n = n + 1
    return n


class Kind:
    """A kind."""

    name: str
    """Its name."""
'''
OTHER_TEXT = {
    "a comment": ("# of all", "# of each"),
    "a docstring of the module": ("What it is about.", "What it is."),
    "a docstring of a function": ('"""Work."""', '"""Work well."""'),
    "a docstring of a class": ('"""A kind."""', '"""A class."""'),
    "a docstring of an attribute": ("Its name.", "The name."),
    "a docstring of a constant": ("At most so many.", "The most."),
    "another layout": ("work(n: int = 1)", "work(\n    n: int = 1,\n)"),
    "parentheses": ("return n", "return (n)"),
}
OTHER_CODE = {
    "a constant": ("LIMIT = 3", "LIMIT = 4"),
    "a default": ("int = 1", "int = 2"),
    "a comparison": ("n > LIMIT", "n >= LIMIT"),
    "an indentation": ("    return n", "        return n"),
    "a text that is used": ("return n", 'return "n"'),
    "a new statement": ("    return n", "    n = n\n    return n"),
}


@pytest.mark.parametrize(
    ("name", "counts"), [*((one, False) for one in OTHER_TEXT), *((one, True) for one in OTHER_CODE)]
)
def test_code_counts_and_comments_docstrings_and_layout_do_not(tmp_path, name, counts):
    for file, code in (("old.py", CODE), ("new.py", CODE.replace(*(OTHER_TEXT | OTHER_CODE)[name]))):
        (tmp_path / file).write_text(code)
    assert (tmp_path / "old.py").read_text() != (tmp_path / "new.py").read_text()
    assert (code_digest(tmp_path / "old.py") != code_digest(tmp_path / "new.py")) == counts


def test_a_module_reaches_what_it_imports_and_what_that_imports():
    masked = ROOT / "src/cxprobe/models/masked.py"
    reached = reached_modules(masked, "cxprobe.models.").keys()
    assert {"cxprobe.models.loading", "cxprobe.models.checkpoints"} <= reached
    assert not reached & {"cxprobe.models.causal", "cxprobe.models.embedding"}
    assert "cxprobe.errors" in reached_modules(masked)
    assert "cxprobe.errors" not in reached_modules(masked, without=["cxprobe.errors"])


def test_code_of_several_modules_is_that_of_each():
    both = computing_code("cxprobe.models.masked", "cxprobe.models.causal")
    assert both == computing_code("cxprobe.models.causal", "cxprobe.models.masked")
    assert both not in (computing_code("cxprobe.models.masked"), computing_code("cxprobe.models.causal"))
