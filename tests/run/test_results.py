import re
from pathlib import Path

import pytest
from toy_stages import evaluate_pairs, measure_pairs, report
from typer.testing import CliRunner

from cxprobe.cli import app
from cxprobe.files.writing import DiskFullError, read_json
from cxprobe.project.params import load_params
from cxprobe.run.record import Dataset
from cxprobe.run.results import read_runs, write_results
from cxprobe.run.stage import Stage

pytestmark = pytest.mark.pipeline

pytest_plugins = ["small_disks", "toy_stages"]

MD5 = "5d41402abc4b2a76b9719d911017c592"


def stage(name: str) -> Stage:
    return Stage(name, "mlm" if name.startswith("measure") else "", load_params())


def written(work, name=None):
    """Run the work of a stage and write its results, without tracking."""
    ran = stage(name or work.__name__)
    return write_results(ran, work(ran))


def contents(folder: str) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file()}


def test_a_judging_stage_has_its_metrics_its_inputs_and_one_record_a_run_trained_models_last(workspace):
    runs = written(evaluate_pairs)
    folders = ("runs/mlm", "runs/mlm/toy/own", "runs/shorter")
    files = {f"{run}/{file}" for run in folders for file in ("accuracy.png", "accuracy_by_order.csv")}
    files |= {"runs/mlm/record.json", "runs/shorter/record.json"}
    assert set(contents("results/evaluate_pairs")) == files | {"runs/inputs.json"}
    assert read_json(Path("results/metrics/pairs/mlm.json")) == {"meaning": 66.7, "n": 4}
    assert read_json(Path("results/evaluate_pairs/runs/inputs.json")) == {"input.txt": MD5}
    assert [run.facts.state for run in runs] == ["none", "trained"]
    toy = runs[1].children[0]
    assert (toy.experiment, toy.dataset, toy.part["construction"]) == ("pairs", Dataset("input.txt", MD5, 4), "toy")
    assert toy.metrics["accuracy"] == 0.6667  # as the file has it
    assert toy.artifacts == ["accuracy_by_order.csv", "accuracy.png"]


@pytest.mark.parametrize("work", [measure_pairs, evaluate_pairs, report])
def test_a_second_run_writes_the_same_bytes_and_removes_what_was_there_before(workspace, work):
    runs = written(work)
    first = contents("results")
    folder = Path("results") / work.__name__
    (folder / "runs" / "old").mkdir(parents=True)
    (folder / "runs" / "old" / "record.json").write_text("{}")
    (folder / ".gitignore").write_text("/runs\n")
    if work is evaluate_pairs:
        Path("results/metrics/pairs/old.json").write_text("{}")
    if work is measure_pairs:
        (folder / "mlm" / "old.csv").write_text("")
        (folder / "runs" / "old" / "record.json").unlink()
    assert written(work) == runs
    assert contents("results") == first | {f"{folder.name}/.gitignore": b"/runs\n"}


def test_records_are_read_as_they_were_written_and_without_those_that_a_killed_run_has_left(workspace):
    runs = written(evaluate_pairs)
    unfinished = Path("results/evaluate_pairs/.partial/runs")
    unfinished.mkdir(parents=True)
    (unfinished / "record.json").write_bytes((runs[0].folder / "record.json").read_bytes())
    read, faults = read_runs()
    assert sorted(read, key=lambda run: run.folder) == sorted(runs, key=lambda run: run.folder)
    assert faults == []
    written(evaluate_pairs)
    assert not unfinished.exists()


def test_of_damaged_changed_and_exchanged_records_each_is_named_and_the_others_are_read(workspace):
    first, second, *others = [run.folder / "record.json" for run in written(evaluate_pairs)]
    sound = first.read_bytes()
    digits = [match.start() for match in re.finditer(rb"[0-9]", sound)]
    damaged = [sound.replace(b"1", b"2", 1), second.read_bytes(), b"", b"[]", b"{}", b'{"digest": 1}', b"[" * 100_000]
    damaged += [sound[: len(sound) // part] for part in (2, 3, 5)] + [b"\xff" + sound, b'{"metrics": {}}']
    damaged += [sound[:at] + b"%d" % ((sound[at] - 47) % 10) + sound[at + 1 :] for at in digits[::10]]
    for content in damaged:
        first.write_bytes(content)
        read, [fault] = read_runs()
        assert fault.startswith(f"{first} is not as its stage wrote it"), fault
        assert {run.folder for run in read} == {path.parent for path in (second, *others)}
    first.unlink()
    first.mkdir()
    assert read_runs()[1][0].startswith(f"{first} is not as its stage wrote it (IsADirectoryError")


def test_a_sync_names_a_damaged_record_and_writes_the_others(workspace):
    runs = written(evaluate_pairs)
    path = runs[0].folder / "record.json"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    done = CliRunner().invoke(app, ["sync"])
    assert done.exit_code == 2
    assert f"{len(runs) - 1} runs have a record under results/; {len(runs) - 1} of them were new" in done.stdout
    assert f"{path} is not as its stage wrote it" in done.stderr


def test_results_that_cannot_all_be_written_leave_the_old_ones_as_they_were(workspace, file_limit):
    for work in (measure_pairs, evaluate_pairs, report):
        written(work)
    before = contents("results")
    file_limit(4_000)  # smaller than a figure
    for work in (measure_pairs, evaluate_pairs, report):
        with pytest.raises(DiskFullError, match=r"\.png: the disk is full"):
            written(work)
    assert contents("results") == before
