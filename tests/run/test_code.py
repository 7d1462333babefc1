from pathlib import Path

import pytest

from conftest import ROOT
from cxprobe.run.code import reached_files, write_code

SCRIPTS = sorted((ROOT / "pipelines").glob("*/*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_script_reaches_its_own_line_of_work_and_no_other(script):
    lines = {"recognition", "scenarios", "pairs", "prompts"}
    reached = {name.split(".")[1] for name in reached_files(script) if name.startswith("cxprobe.")}
    if script.parent.name in lines:
        assert reached & lines <= {script.parent.name}


def test_tracking_and_params_decide_on_no_number_and_reading_does():
    names = set(reached_files(ROOT / "pipelines" / "pairs" / "make.py"))
    assert not [name for name in names if name.startswith("cxprobe.run") or name.endswith(".params")]
    assert {"pairs/make.py", "cxprobe.pairs.make", "cxprobe.files.reading"} <= names


def test_imports_inside_of_functions_count_and_those_for_type_checkers_do_not(tmp_path):
    script = tmp_path / "pairs" / "new.py"
    script.parent.mkdir()
    script.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from cxprobe.probing import fit\n"
        "def work():\n    from cxprobe import english\n"
    )
    assert set(reached_files(script)) == {"pairs/new.py", "cxprobe", "cxprobe.english"}


def test_pages_depend_on_their_templates():
    assert any(name.endswith("index.html") for name in reached_files(ROOT / "pipelines" / "report" / "site.py"))


def test_each_script_has_a_file_that_changes_with_its_code_alone(tmp_path):
    pipelines, folder = tmp_path / "pipelines", tmp_path / "code"
    for name in ("make", "score"):
        (pipelines / "toys").mkdir(parents=True, exist_ok=True)
        (pipelines / "toys" / f"{name}.py").write_text(f"# {name}\nimport cxprobe.english\n")
    assert write_code(pipelines, folder) == 2
    before = {path.name: path.read_text() for path in folder.rglob("*.txt")}
    (pipelines / "toys" / "make.py").write_text("# another\nimport cxprobe.english\n")
    write_code(pipelines, folder)
    after = {path.name: path.read_text() for path in folder.rglob("*.txt")}
    assert set(after) == {"make.txt", "score.txt"}
    assert [name for name in after if after[name] != before[name]] == ["make.txt"]
    assert len(after["score.txt"].splitlines()) == 2


def test_every_script_is_a_stage_of_its_name():
    for script in SCRIPTS:
        stage = f"{script.stem}_{script.parent.name}"
        special = {"site_report": "report", "mine_corpora": "mine_sentences"}
        text = Path(script).read_text()
        assert text.startswith(f'"""{special.get(stage, stage)}: '), script
