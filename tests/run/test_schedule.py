import json
import subprocess

import pytest

from cxprobe.run.schedule import Schedule, scheduled

DVC_YAML = """
stages:
  make: {cmd: "true", outs: [{made: {cache: false}}], params: [seed]}
  measure: {matrix: {model: [a, b]}, cmd: "true", deps: [made], outs: ["measured-${item.model}"]}
  other: {cmd: "true", outs: [others], params: [other]}
"""


def test_a_stage_that_begins_says_how_many_are_left_and_how_long_they_take_at_the_speed_of_those_that_have_ended():
    seconds = {"make": 100.0, "measure@a": 200.0, "measure@b": 200.0, "evaluate": 100.0}
    schedule = Schedule([*seconds], seconds, {})
    assert schedule.seconds_left() == 600
    assert schedule.place == "stage 1 of 4 of the pipeline that were not up to date, some 10 min left for all"
    one_by_one = Schedule([*seconds], seconds, {"make": 1100.0, "measure@a": 1300.0})
    assert one_by_one.seconds_left() == 300
    side_by_side = Schedule([*seconds], seconds, {"measure@a": 1300.0, "measure@b": 1300.0})
    assert side_by_side.seconds_left() == 100


def test_the_time_in_which_an_interrupted_run_did_nothing_does_not_count():
    seconds = {"make": 100.0, "measure": 100.0, "evaluate": 100.0}
    assert Schedule([*seconds], seconds, {"make": 1000.0, "measure": 90_000.0}).seconds_left() == 100


def test_of_a_model_that_has_not_run_the_longest_of_the_others_counts_and_where_none_has_no_time_is_given():
    schedule = Schedule(["measure@c"], {"measure@a": 60.0, "measure@b": 300.0}, {})
    assert schedule.seconds_left() == 300
    assert Schedule(["probe"], {"measure@a": 60.0}, {}).place == "stage 1 of 1 of the pipeline that were not up to date"


def test_the_first_stage_finds_what_is_to_run_and_the_others_count_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dvc.yaml").write_text(DVC_YAML)
    (tmp_path / "params.yaml").write_text("seed: 1\nother: 1\n")
    for made in ("made", "others", "measured-a", "measured-b"):
        (tmp_path / made).write_text(made)
    for command in (["dvc", "init", "-q", "--no-scm"], ["dvc", "commit", "-q", "-f"]):
        subprocess.run(command, check=True)
    (tmp_path / "params.yaml").write_text("seed: 2\nother: 1\n")
    for stage in ("make", "measure@a", "measure@b"):
        with scheduled(stage):
            pass
    told = [line.partition(" of the")[0] for line in capsys.readouterr().out.splitlines()]
    assert told == ["stage 1 of 3", "stage 2 of 3", "stage 3 of 3"]
    kept = json.loads((tmp_path / "data/.scratch/schedule/stages/make.json").read_text())
    assert kept["seconds"] == pytest.approx(0, abs=60)
