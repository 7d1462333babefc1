"""What needs which package: the core works where no extra is installed, and the rest says which extra it needs."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from conftest import ROOT
from cxprobe.errors import EXTRAS

pytestmark = pytest.mark.pipeline

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FIVE_LINES = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
MODULES = packages_distributions()  # module -> the distributions that bring it

# As in an installation without extras, `import` finds no package that only they bring.
BLOCKED = """
import json, os, sys
sys.modules |= dict.fromkeys(json.loads(os.environ["BLOCKED"]))
"""
COMMANDS = """
from cxprobe.cli import app
for words in json.loads(sys.argv[1]):
    app(words, standalone_mode=False)
"""


def named(requirements):
    return {canonicalize_name(Requirement(one).name) for one in requirements}


def brought_by(requirements):
    """Return the distributions that an installer gets for some requirements, as far as they are installed."""
    waiting, seen = [Requirement(one) for one in requirements], set()
    while waiting:
        one = waiting.pop()
        name, extras = canonicalize_name(one.name), one.extras or {""}
        if (name, *sorted(extras)) in seen:
            continue
        seen.add((name, *sorted(extras)))
        try:
            further = [Requirement(text) for text in requires(name) or []]
        except PackageNotFoundError:  # for another system, or another version of Python
            continue
        waiting += [
            needed
            for needed in further
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras)
        ]
    return {name for name, *_ in seen} | {"cxprobe"}


@pytest.fixture(scope="module")
def run_bare():
    """Return a function that runs code in a Python that has only what cxprobe without extras brings."""
    there = brought_by(PROJECT["dependencies"])
    blocked = [module for module, of in MODULES.items() if not there & set(map(canonicalize_name, of))]
    assert {"dvc", "mlflow", "spacy", "datatrove"} <= set(blocked)
    environment = os.environ | {"BLOCKED": json.dumps(blocked), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}

    def run(folder, code, *arguments):
        command = [sys.executable, "-c", BLOCKED + code, *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    return run


def imported_packages():
    """Return the packages of others that some module of cxprobe imports, wherever in it."""
    found = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.partition(".")[0])
    return found - {"cxprobe", *sys.stdlib_module_names}


def test_every_package_that_is_imported_is_a_dependency_or_in_the_extra_that_messages_name():
    of_core = named(PROJECT["dependencies"])
    for module in imported_packages() - {"pydantic_core", "tokenizers"}:  # of pydantic, and of transformers
        distributions = set(map(canonicalize_name, MODULES.get(module, [module])))
        extras = [extra for extra, modules in EXTRAS.items() if module in modules]
        if not extras:
            assert distributions & of_core, module
        for extra in extras:
            assert distributions & named(PROJECT["optional-dependencies"][extra]), module


def test_the_five_lines_of_the_readme_and_the_commands_for_texts_work_without_extras(run_bare, tmp_path):
    (tmp_path / "texts.txt").write_text("The more, the merrier.\n")
    (tmp_path / "pairs.tsv").write_text("good\tbad\nTwo dogs sleep.\tTwo dogs sleeps.\nShe runs.\tShe run.\n")
    files = {"score": ("texts.txt", "score.parquet"), "compare": ("pairs.tsv", "compare.csv")}
    commands = [[name, file, "--model", "mini-clm", "--output", out] for name, (file, out) in files.items()]
    done = run_bare(tmp_path, FIVE_LINES + COMMANDS, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / out).stat().st_size > 0 for _, out in files.values())


@pytest.mark.parametrize(("words", "package"), [(["init", "study"], "dvc"), (["sync"], "mlflow")])
def test_a_command_that_needs_an_extra_says_which(words, package, run_bare, tmp_path):
    (tmp_path / "params.yaml").write_text("{}\n")
    done = run_bare(tmp_path, COMMANDS, json.dumps([words]))
    assert done.returncode == 2, done.stderr
    assert done.stderr == f"{package} is not installed, and this needs it; run `pip install 'cxprobe[pipeline]'`\n"
