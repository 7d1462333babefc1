"""The code of a script: what counts as a change, and which modules are reached."""

import ast
import os
import shutil

import pytest
from toy_stages import TOY, write_toy_project

from conftest import ROOT, run
from cxprobe.files.code import (
    WITHOUT_EFFECT,
    code_digest,
    computing_code,
    reached_code,
    reached_files,
    reached_modules,
    write_code,
)
from cxprobe.tasks.registry import TASKS

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
CHANGES = [  # what is replaced in it, by what, and whether this counts
    ("# of all", "# of each", False),
    ("What it is about.", "What it is.", False),
    ('"""Work."""', '"""Work well."""', False),
    ('"""A kind."""', '"""A class."""', False),
    ("Its name.", "The name.", False),
    ("At most so many.", "The most.", False),
    ("work(n: int = 1)", "work(\n    n: int = 1,\n)", False),
    ("return n", "return (n)", False),
    ("LIMIT = 3", "LIMIT = 4", True),
    ("int = 1", "int = 2", True),
    ("n > LIMIT", "n >= LIMIT", True),
    ("    return n", "        return n", True),
    ("return n", 'return "n"', True),
]


@pytest.mark.parametrize(("old", "new", "counts"), CHANGES)
def test_code_counts_and_comments_docstrings_and_layout_do_not(tmp_path, old, new, counts):
    assert old in CODE
    (tmp_path / "old.py").write_text(CODE)
    (tmp_path / "new.py").write_text(CODE.replace(old, new))
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


PIPELINES = ROOT / "pipelines"
DECISIVE = (
    *(f"models/{name}" for name in ("masked", "causal", "loading", "embedding")),
    *("probing", "stats", "run/results", "tasks/pairs/params"),
    *(f"tasks/{task}/evaluate" for task in TASKS),
)


@pytest.fixture(scope="module")
def lists(tmp_path_factory) -> dict[str, dict[str, str]]:
    """Script -> name of each file that it reaches -> its digest."""
    folder = tmp_path_factory.mktemp("code")
    write_code(PIPELINES, folder)
    lines = {path: path.read_text().splitlines() for path in folder.rglob("*.txt")}
    return {
        path.relative_to(folder).with_suffix("").as_posix(): {line.split()[1]: line.split()[0] for line in listed}
        for path, listed in lines.items()
    }


def test_every_script_has_a_list_and_is_in_it(lists):
    assert set(lists) == set(reached_code(PIPELINES))
    scripts = {path.stem for path in PIPELINES.glob("*.py")}
    assert {script.split("/")[0] for script in lists} == scripts
    for name, files in lists.items():
        script, _, task = name.partition("/")
        assert files[f"{script}.py"] == code_digest(PIPELINES / f"{script}.py") or task
        assert not task or f"cxprobe.tasks.{task}.params" in files


@pytest.mark.parametrize("module", DECISIVE)
def test_a_module_is_in_the_lists_of_the_scripts_that_reach_it_by_what_it_does(lists, module):
    name = f"cxprobe.{module.replace('/', '.')}"
    reaching = {script: files[name] for script, files in lists.items() if name in files}
    assert {*reaching.values()} == {code_digest(ROOT / "src" / "cxprobe" / f"{module}.py")}
    if module.startswith("tasks/"):
        task = module.split("/")[1]
        assert f"evaluate/{task}" in reaching
        assert {script.rpartition("/")[2] for script in reaching} <= {task, "report", "list_files"}


@pytest.mark.pipeline
def test_modules_without_effect_change_no_output(tmp_path, empty_store):
    source = tmp_path / "src" / "cxprobe"
    shutil.copytree(ROOT / "src" / "cxprobe", source, ignore=shutil.ignore_patterns("__pycache__", "bundled"))
    for module in WITHOUT_EFFECT:
        path = source.parent / f"{module.replace('.', '/')}.py"
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and type(node.value) is int:
                node.value += 1
        path.write_text(ast.unparse(tree))
    outputs = []
    for folder, src in ((tmp_path / "before", ROOT / "src"), (tmp_path / "after", source.parent)):
        folder.mkdir()
        write_toy_project(folder, empty_store)
        paths = os.pathsep.join(map(str, (src, ROOT / "tests", ROOT / "tests" / "support")))
        run(folder, "python", str(TOY), TOY_STAGE="evaluate_pairs", PYTHONPATH=paths)
        files = [path for name in ("data/evaluate_pairs", "results") for path in (folder / name).rglob("*")]
        outputs.append({path.relative_to(folder): path.read_bytes() for path in files if path.is_file()})
    assert outputs[0] == outputs[1] != {}


def test_imports_inside_of_functions_count_and_those_for_type_checkers_do_not(tmp_path):
    script = tmp_path / "new.py"
    script.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from cxprobe.probing import fit\n"
        "def work():\n    from cxprobe import seeding\n"
    )
    assert set(reached_files(script)) == {"cxprobe", "cxprobe.errors", "cxprobe.seeding"}


def test_pages_depend_on_their_templates_and_verdicts_on_their_texts():
    reached = reached_files(PIPELINES / "report.py")
    assert {"results/templates/index.html", "results/verdict.yaml"} <= reached.keys()
