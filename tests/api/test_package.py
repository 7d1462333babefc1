"""What `import cxprobe` gives: every public name, at once and cheaply, with an example that runs, and no others."""

import doctest
import gc
import inspect
import json
import subprocess
import sys
import weakref
from importlib.metadata import version

import pytest

import cxprobe
from cxprobe import api, errors


def after(code: str) -> set[str]:
    """Return the top-level modules that a new Python has loaded after running some code."""
    printed = f"{code}\nimport json, sys\nprint(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", printed], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


def test_the_package_gives_the_names_of_its_interface_the_error_and_the_version_and_no_others():
    defined = {name for name, value in vars(api).items() if getattr(value, "__module__", "") == api.__name__}
    public = {name for name in defined if not name.startswith("_")} | {"evaluate"}  # which reads files of answers
    assert set(cxprobe.__all__) == {*public, "CxprobeError"}
    assert {*cxprobe.__all__, "__version__"} <= set(dir(cxprobe))
    assert all(getattr(cxprobe, name) is getattr(api, name) for name in public)
    assert cxprobe.CxprobeError is errors.CxprobeError
    assert cxprobe.__version__ == version("cxprobe")
    with pytest.raises(AttributeError, match="no attribute 'surprise'"):
        cxprobe.surprise  # noqa: B018


def test_importing_the_package_and_listing_its_names_imports_no_other_package():
    listed = after("import cxprobe\nassert 'load' in dir(cxprobe)")
    assert listed - after("import typing, importlib, re") == {"cxprobe"}


def test_a_model_in_a_reference_cycle_is_garbage_after_its_last_use():
    lm = cxprobe.load("mini-clm", device="cpu")
    lm.model.read_by = lm
    model = weakref.ref(lm.model)
    assert gc.isenabled()
    vars(cxprobe).pop("load")
    assert cxprobe.load is api.load  # looked up anew, while the model is in use
    del lm
    gc.collect()
    assert model() is None


FUNCTIONS = [getattr(cxprobe, name) for name in cxprobe.__all__ if inspect.isfunction(getattr(cxprobe, name))]
METHODS = [
    method
    for owner in (api.Encoder, api.LanguageModel)
    for name, method in vars(owner).items()
    if inspect.isfunction(method) and not name.startswith("_")
]


@pytest.mark.pipeline
@pytest.mark.parametrize("one", [*FUNCTIONS, *METHODS], ids=lambda one: one.__qualname__)
def test_every_public_function_has_an_example_that_runs(one, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestFinder(recurse=False).find(one, one.__qualname__, globs={})
    assert sum(len(found.examples) for found in examples) > 0
    for found in examples:
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found).failed == 0
