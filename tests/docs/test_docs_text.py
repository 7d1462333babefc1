"""What the pages say is so: commands, options, stages, parameters, files, links and names of Python exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from typer.main import get_command
from written_pages import PAGES, code, fences, name_of

from conftest import ROOT
from cxprobe.cli import app
from cxprobe.errors import ParamsError
from cxprobe.files.schema import read_yaml
from cxprobe.project.params import load_params, whole_params

STAGES = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)
# The list of changes names what is gone.
every_present_page = pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "CHANGELOG"], ids=name_of)


@every_present_page
def test_commands_that_are_named_exist_with_their_options(page):
    for line in code(page):
        for call in re.findall(r"(?:^|&& |; |\| )cxprobe ((?!\d)[a-z-]+[^#|&]*)", line):
            command, words = get_command(app), call.split()
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            own = {name for one in command.params for name in one.opts}
            unknown = hasattr(command, "commands") and words and not words[0].startswith("--")
            assert not unknown, f"{line}: there is no such command"
            asked = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
            assert asked <= own | {"--help", "--install-completion", "--show-completion"}, line


@every_page
def test_stages_that_are_named_exist(page):
    for line in code(page):
        for words in re.findall(r"dvc (?:repro|exp run|commit) ([^#]*)", line):
            named = [word.split("@")[0] for word in words.split() if re.fullmatch(r"[a-z]+_[a-z_]+(@\S+)?", word)]
            assert set(named) <= set(STAGES), line
        for script in re.findall(r"pipelines/run (\w+)", line):
            assert (ROOT / "pipelines" / f"{script}.py").exists(), line
        for name in re.findall(
            r"(?:data|results)/((?:list|mine|make|measure|score|ask|probe|write|judge|evaluate|report)_\w+)", line
        ):
            assert name in STAGES, line


@every_present_page
def test_parameters_that_are_named_exist(page):
    sections = "|".join(
        name for name, field in whole_params().model_fields.items() if hasattr(field.annotation, "model_fields")
    )
    for line in code(page):
        for name in re.findall(rf"(?<![\w/.])((?:{sections})(?:\.\w+)+)(?![\w/.([])", line):
            if name.endswith((".yaml", ".tsv", ".csv", ".parquet", ".py")):
                continue
            content = read_yaml(ROOT / "params.yaml", ParamsError)
            *path, last = name.split(".")
            for key in path:
                content = content.get(key) or {}
            assert not content or last in content, (name, line)


@every_page
def test_presets_that_are_named_exist(page):
    for line in code(page):
        for name in re.findall(r"(?:cxprobe preset|--preset|presets/)\s*([a-z]\w+)", line):
            assert (ROOT / "presets" / f"{name}.yaml").exists(), line


@pytest.fixture(scope="module")
def constructions(tmp_path_factory):
    """A folder of constructions with all that there are, and the one that a tutorial makes."""
    folder = tmp_path_factory.mktemp("shown") / "constructions"
    folder.mkdir()
    for path in (ROOT / "constructions").glob("*/"):
        (folder / path.name).symlink_to(path)
    (folder / "benefactive").symlink_to(ROOT / "constructions" / "ditransitive")
    return folder


@every_page
def test_parameters_that_are_shown_are_allowed(page, tmp_path, constructions):
    for text in fences(page, "yaml"):
        shown = YAML(typ="safe").load(text)
        if isinstance(shown, dict) and set(shown) <= set(whole_params().model_fields):
            path = tmp_path / "params.yaml"
            with path.open("w") as file:
                YAML(typ="safe").dump(merged(read_yaml(ROOT / "params.yaml", ParamsError), shown), file)
            assert load_params(path, constructions), text


def merged(whole, part):
    """Return a mapping with what another adds to it: keys at every level, and entries of lists."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return whole | {key: merged(whole.get(key), value) for key, value in part.items()}
    if isinstance(whole, list) and isinstance(part, list) and all(isinstance(one, str) for one in whole):
        return [*whole, *(one for one in part if one not in whole)]
    return part


FOLDERS = r"(?:src|pipelines|presets|prompts|lexicon|corpora|published|tests|docs|notebooks|models|constructions|\.ci)"


@every_present_page
def test_files_of_the_project_that_are_named_exist(page):
    for text in code(page):
        for path in re.findall(rf"(?<![\w/<]){FOLDERS}/[\w./-]*(?![\w<*{{])", text):
            mine = re.match(r"constructions/benefactive|docs/?$|prompts/\S+/shots$", path)  # the last is a row of rates
            assert mine or "<" in text or "https://" in text or "*" in text or (ROOT / path).exists(), (path, text)


SOURCE = ROOT / "src"
MODULES = sorted(SOURCE.rglob("*.py"))
NAME = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.\w+)*)`(?!`)")  # what is code and no name has two backticks


@cache
def identifiers_of(path: Path) -> set[str]:
    """Return every name that the code of a module defines or uses, and its texts, such as those of ``__all__``."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    return {getattr(node, field, None) for node in nodes for field in ("name", "id", "arg", "attr", "value")}


def is_there(name: str) -> bool:
    """Return whether the module that a name begins with has the rest of it."""
    path, parts = SOURCE, name.split(".")
    while parts and (path / parts[0]).is_dir():
        path /= parts.pop(0)
    if parts and (path / f"{parts[0]}.py").is_file():
        return {*parts[1:]} <= identifiers_of(path / f"{parts[0]}.py")
    return {*parts} <= identifiers_of(path / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_names_of_python_in_docstrings_exist(path):
    texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Expr)]
    docstrings = [text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)]
    known = {"cxprobe", *identifiers_of(path), *(beside.stem for beside in path.parent.glob("*.py"))}
    for name in [name for text in docstrings for name in NAME.findall(text)]:
        first, *rest = name.split(".")
        assert first in known, name
        # What the first of them has may be defined in another module.
        assert is_there(name) if first == "cxprobe" else {*rest} <= set().union(*map(identifiers_of, MODULES)), name


@every_present_page
def test_names_of_python_on_pages_exist(page):
    for name in [line for line in code(page) if re.fullmatch(r"cxprobe(\.\w+){2,}", line)]:
        assert is_there(name), name


@every_present_page
def test_links_of_a_page_lead_to_files(page):
    targets = re.findall(r"\]\((?!https?://|mailto:)([^)#\s]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []
