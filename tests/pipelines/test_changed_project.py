"""A whole project under DVC after changes: what runs again, and what does not.

`dvc status` says which stages a change reaches at once; one `dvc repro` after several changes, what follows from them.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from stage_work import do_work
from whole_project import change, outdated, runs, stages_that_ran

from conftest import commit, run
from cxprobe.files.tables import read_table
from cxprobe.project.params import load_params
from cxprobe.tasks.registry import TASKS

pytestmark = pytest.mark.pipeline

FEWER = {"meaning": 1, "form": 1, "control": 1}


def test_an_edit_of_code_reaches_what_uses_the_module_and_a_comment_reaches_nothing(project):
    def reached(file: str, code: str) -> set[str]:
        path = project / "src" / "cxprobe" / file
        before = path.read_text()
        path.write_text(f"{before}\n{code}")
        run(project, "python", "pipelines/list_code.py")
        path.write_text(before)
        return {stage for stage in outdated(project) if stage != "list_code"}

    assert reached("tasks/pairs/evaluate.py", "# another comment\n") == set()
    assert reached("run/tracking.py", "_CHANGED = 1\n") == set()
    assert reached("tasks/pairs/evaluate.py", "_CHANGED = 1\n") == {"evaluate_pairs"}


def test_after_several_changes_only_what_follows_from_them_runs_and_what_comes_back_is_tracked_again(project):
    def edit(params: dict) -> None:
        params["recognition"]["models"] = {"one": {}, "two": {}}
        params["pairs"]["models"]["clm"] = FEWER
        params["pairs"]["evaluate"]["score"] = "sum"

    commit(project)
    assert stages_that_ran(run(project, "dvc", "repro").stdout) == []
    assert run(project, "git", "status", "--porcelain").stdout == ""
    asked = answers_kept(project)
    change(project, edit)
    ran = stages_that_ran(run(project, "dvc", "repro").stdout)
    evaluated = ["evaluate_recognition", "evaluate_pairs"]
    assert sorted(ran) == sorted(
        ["embed_recognition@two", "measure_recognition@two", "measure_pairs@clm", *evaluated, "report"]
    )
    assert answers_kept(project) == asked
    assert set(read_table(project / "results/evaluate_recognition/rates.csv")["model"]) == {"one", "two"}
    responses = read_table(project / "data/evaluate_pairs/responses.parquet")
    judged = responses[responses["decides"]].groupby("model").size()
    assert judged["clm"] < judged["mlm"]

    change(project, lambda params: params["pairs"]["evaluate"].update(score="per_token"))
    assert stages_that_ran(run(project, "dvc", "repro", "evaluate_pairs").stdout) == ["evaluate_pairs"]
    found = runs(project, "pairs", "params.model = 'mlm'")
    assert {one.data.params["pairs.evaluate.score"] for one in found} == {"sum", "per_token"}
    assert (project / "results/metrics/pairs/mlm.json").exists()


def answers_kept(folder: Path) -> int:
    """Return how many answers the stores of all models hold."""
    files = (folder / "data/.scratch/answers").glob("*/*.answers")
    return len({key for file in files for key in np.load(file, allow_pickle=False).tolist()})  # the first array


def test_a_new_c_embeds_nothing(project):
    change(project, lambda params: params["recognition"]["probe"].update(C=0.5))
    stages = {stage.partition("@")[0] for stage in outdated(project)}
    assert "measure_recognition" in stages
    assert "embed_recognition" not in stages


def test_a_new_file_of_the_corpus_is_mined(project):
    text = {"text": "Now the old fox runs, the young bird sings.", "url": "toy/new"}
    (project / "corpus" / "2.jsonl").write_text(json.dumps(text) + "\n")
    run(project, "dvc", "repro", "--single-item", "watch_corpora@toys")
    assert set(outdated(project)) == {"mine_sentences@toys"}


# What a stage computes without DVC


def test_a_corrected_frame_costs_its_own_texts(project, monkeypatch):
    monkeypatch.chdir(project)
    params, path = load_params(), project / "constructions/toy/pairs.yaml"

    def ask() -> int:
        do_work("make", "pairs", params)
        for model in ("mlm", "clm"):
            do_work("measure", "pairs", params, model)
        return answers_kept(project)

    asked = answers_kept(project)
    assert ask() == asked  # everything was kept
    path.write_text(path.read_text().replace("gift: a song", "gift: an ode"))
    assert 0 < ask() - asked < asked / 2


def test_a_task_without_models_makes_and_measures_nothing(project, monkeypatch):
    def only_pairs(params):
        for task in TASKS.keys() - {"pairs"}:
            for key in {"models", "llms", "constructions"} & params[task].keys():
                params[task][key] = type(params[task][key])()

    change(project, only_pairs)
    assert not [stage for stage in outdated(project) if "@" in stage]
    monkeypatch.chdir(project)
    params = load_params()
    without_work = {task for task in TASKS if params.params_of(task).nothing_to_do}  # see `cxprobe.run.running`
    assert without_work == TASKS.keys() - {"pairs"}
