"""The examples in the docstrings of the public interface run as they stand, from any folder."""

import doctest
import inspect

import pytest

import cxprobe
from cxprobe import api

pytestmark = pytest.mark.pipeline

FUNCTIONS = [getattr(cxprobe, name) for name in cxprobe.__all__ if inspect.isfunction(getattr(cxprobe, name))]
METHODS = [
    method
    for owner in (api.Encoder, api.LanguageModel)
    for name, method in vars(owner).items()
    if inspect.isfunction(method) and not name.startswith("_")
]


@pytest.mark.parametrize("one", [*FUNCTIONS, *METHODS], ids=lambda one: one.__qualname__)
def test_every_public_function_has_an_example_that_runs(one, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestFinder(recurse=False).find(one, one.__qualname__, globs={})
    assert sum(len(found.examples) for found in examples) > 0
    for found in examples:
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found).failed == 0
