"""What the code of a script is: found by changing the code, in a copy."""

import ast
import json
import os
import shutil
import subprocess
import sys

import pytest
from stage_process import StageProcess
from toy_stages import TOY, write_toy_project

from conftest import ROOT
from cxprobe.run.code import WITHOUT_EFFECT, reached_files
from cxprobe.tasks.registry import TASKS

PIPELINES = ROOT / "pipelines"
SCRIPTS = sorted(PIPELINES.rglob("*.py"))
DECISIVE = (
    *(f"models/{name}" for name in ("masked", "causal", "logits", "embedding", "candidates")),
    *("probing", "stats", "run/results", "tasks/pairs/params"),
    *(f"tasks/{task}/evaluate" for task in TASKS),
)
# Writes the code of all scripts of a copy: as it is, in another layout with other docstrings, and with one constant
# changed in each of some modules. Prints change -> script -> its list.
LISTING = """
import ast, json, sys
from pathlib import Path
from cxprobe.run.code import write_code

def listed():
    write_code(Path("pipelines"), Path("code"))
    return {str(path.relative_to("code").with_suffix("")): path.read_text() for path in Path("code").rglob("*.txt")}

def rewritten(path, *, constant):
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree))
    constants = [node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    texts = [constant for constant in constants if isinstance(constant.value, str)]
    if constant:
        (changed, *_) = [node for node in nodes if isinstance(node, ast.Constant) and node not in texts]
        changed.value = "changed"
    else:
        for text in texts:
            text.value = "Another docstring."
    path.write_text(ast.unparse(tree) + "\\n# another comment\\n")

package = Path("src/cxprobe")
lists = {"": listed()}
for path in [*package.rglob("*.py"), *Path("pipelines").rglob("*.py")]:
    rewritten(path, constant=False)
lists["docstrings"] = listed()
for module in sys.argv[1:]:
    path = package / f"{module}.py"
    before = path.read_text()
    rewritten(path, constant=True)
    lists[module] = listed()
    path.write_text(before)
print(json.dumps(lists))
"""


@pytest.fixture(scope="module")
def lists(tmp_path_factory) -> dict[str, dict[str, str]]:
    """Change of the code -> script -> the list of its modules."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("src", "pipelines"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "bundled"))
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-c", LISTING, *DECISIVE]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_comments_docstrings_and_layout_change_nothing(lists):
    assert set(lists[""]) == {script.relative_to(PIPELINES).with_suffix("").as_posix() for script in SCRIPTS}
    assert lists["docstrings"] == lists[""]


@pytest.mark.parametrize("module", DECISIVE)
def test_a_constant_changes_the_scripts_that_reach_its_module_and_no_other(lists, module):
    name = f"cxprobe.{module.replace('/', '.')}"
    changed = {script for script, text in lists[module].items() if text != lists[""][script]}
    assert changed == {script for script, text in lists[""].items() if f"  {name}\n" in text}
    if module.startswith("tasks/"):
        task = module.split("/")[1]
        assert f"evaluate/{task}" in changed
        assert {script.rpartition("/")[2] for script in changed} <= {task, "report"}
    assert changed


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
        assert StageProcess(folder, TOY, TOY_STAGE="evaluate_pairs", PYTHONPATH=paths).wait().code == 0
        files = [path for name in ("data/evaluate_pairs", "results") for path in (folder / name).rglob("*")]
        outputs.append({path.relative_to(folder): path.read_bytes() for path in files if path.is_file()})
    assert outputs[0] == outputs[1] != {}


def test_imports_inside_of_functions_count_and_those_for_type_checkers_do_not(tmp_path):
    script = tmp_path / "new.py"
    script.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from cxprobe.probing import fit\n"
        "def work():\n    from cxprobe import seeding\n"
    )
    assert set(reached_files(script, tmp_path)) == {"new.py", "cxprobe", "cxprobe.errors", "cxprobe.seeding"}


def test_pages_depend_on_their_templates():
    assert any(name.endswith("index.html") for name in reached_files(PIPELINES / "report.py", PIPELINES))
