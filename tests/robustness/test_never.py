"""What the code never does, as SECURITY.md says; and that the tests which SECURITY.md names exist."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT, change_params
from cxprobe.errors import ParamsError
from cxprobe.project.params import load_params

MODULES = sorted(path for folder in ("src", "pipelines", "models") for path in (ROOT / folder).rglob("*.py"))
PICKLES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal"}
LISTENERS = {"socket", "socketserver", "http.server", "wsgiref", "xmlrpc.server", "flask", "uvicorn", "gunicorn"}
RUNNERS = {"eval", "exec", "compile", "__import__", "pd.eval", "os.system", "os.popen"}
RUNNERS |= {"subprocess.getoutput", "subprocess.getstatusoutput", "torch.hub.load"}
UNPICKLERS = {"joblib.load", "pd.read_pickle", "yaml.load"}  # of PyYAML's
SAFE = {"np.load": ("allow_pickle", False), "torch.load": ("weights_only", True)}  # with this keyword


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(), str(path))))


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def imports(path: Path) -> Iterator[tuple[str, ast.AST]]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node
            yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    yield from ((ast.unparse(node.func), node) for node in nodes(path) if isinstance(node, ast.Call))


def keyword(call: ast.Call, name: str) -> object:
    return next((ast.literal_eval(one.value) for one in call.keywords if one.arg == name), None)


@pytest.mark.parametrize("forbidden", [PICKLES, LISTENERS], ids=["pickle", "listening"])
def test_no_module_imports_what_unpickles_or_listens(forbidden):
    assert not [place(path, node) for path in MODULES for name, node in imports(path) if name in forbidden]


def test_what_could_bring_pickled_objects_is_opened_without_them():
    for path in MODULES:
        for name, call in calls(path):
            assert name not in UNPICKLERS, place(path, call)
            if name in SAFE:
                option, value = SAFE[name]
                assert keyword(call, option) is value, place(path, call)


def test_no_text_is_run_as_code_or_in_a_shell():
    assert [place(path, call) for path in MODULES for name, call in calls(path) if name in RUNNERS] == []


def test_programs_get_lists_of_arguments_and_no_shell():
    for path in MODULES:
        for name, call in calls(path):
            if name.startswith("subprocess."):
                assert isinstance(call.args[0], ast.List), place(path, call)
                assert not keyword(call, "shell"), place(path, call)


def test_code_of_a_checkpoint_is_asked_for_nowhere():
    said = [
        (place(path, node), node.value)
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Constant) and node.value == "trust_remote_code"
    ]
    loading = ["src/cxprobe/models/checkpoints.py", "src/cxprobe/models/loading.py"]
    assert [name.split(":")[0] for name, _ in said] == loading
    assert all('"trust_remote_code": False' in (ROOT / path).read_text() for path in loading)
    keywords = {one.arg for path in MODULES for _, call in calls(path) for one in call.keywords}
    assert "trust_remote_code" not in keywords


@pytest.mark.parametrize("name", ["x; touch stolen", "$(touch stolen)", "../x", "a b", "`x`", "x&", "-x", "x\ny"])
def test_a_name_in_params_that_a_shell_would_take_for_a_command_is_refused(tmp_path, name):
    def add(params: dict) -> None:
        params["models"][name] = next(iter(params["models"].values()))
        params["pairs"]["models"] = {name: {}}

    change_params(tmp_path, ROOT / "params.yaml", add)
    with pytest.raises(ParamsError, match=r"params.yaml: models"):
        load_params(tmp_path / "params.yaml", ROOT / "constructions")


def test_every_test_that_the_security_page_names_exists():
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text())
    assert len(named) >= 15
    for file, test in named:
        defined = {node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)}
        assert test in defined, f"{file} has no {test}"


def test_every_promise_of_the_security_page_names_a_test():
    promises = re.split(r"^## ", (ROOT / "SECURITY.md").read_text(), flags=re.M)[1:]
    titles = {promise.splitlines()[0]: "`tests/" in promise for promise in promises}
    assert [title for title, has_test in titles.items() if not has_test] == ["What you have to see to yourself"]
