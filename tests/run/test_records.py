from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from toy_stages import (
    BLIND,
    FACTS,
    TWIN,
    figure,
    fit_probes,
    judge_pairs,
    judge_panel,
    judged_run,
    load_toy_params,
    report_pairs,
)

from cxprobe.errors import DataError
from cxprobe.files.schema import Closed
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DiskFullError, read_json, write_json
from cxprobe.lm.params import Model
from cxprobe.run.record import Dataset
from cxprobe.run.results import prepare_data, read_records, write_results
from cxprobe.run.stage import Outcome, Stage

pytestmark = pytest.mark.pipeline

pytest_plugins = ["small_disks", "tracked_workspace"]

MD5 = "5d41402abc4b2a76b9719d911017c592"


def stage(name) -> Stage:
    return Stage(name, {"model": "tiny"}, load_toy_params())


def written(work, name=None):
    """Run the work of a stage and write its results, without tracking."""
    ran = stage(name or work.__name__)
    return write_results(ran, work(ran), f"{ran.name}@tiny")


def files(folder) -> set[str]:
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()}


def test_a_measuring_stage_has_one_record_beside_its_results(workspace):
    (record,) = written(fit_probes)
    assert files("results/fit_probes/tiny") == {"record.json", "counts.csv", "settings.csv", "figures/history.png"}
    assert (record.experiment, record.name) == ("stages", "fit_probes · tiny")
    assert (record.stage, record.item, record.dvc_stage) == ("fit_probes", {"model": "tiny"}, "fit_probes@tiny")
    assert record.params["model"] == "tiny"
    assert record.params["fit_probes.C"] == "1.0"
    assert "fit_probes.jobs" not in record.params
    assert record.series == {"loss": [(0, 0.5), (1, 0.25)]}
    assert record.inputs == {"input.txt": MD5}
    assert [trial.status for trial in record.trials] == ["FINISHED", "FAILED"]
    assert record.dataset is None


def test_numbers_in_results_have_six_significant_digits_and_whole_numbers_stay_exact(workspace):
    (record,) = written(fit_probes)
    assert record.metrics == {"probes": 1_234_567, "accuracy": 0.333333}
    counts = Path("results/fit_probes/tiny/counts.csv").read_text()
    assert counts == "count,value\nprobes,1234567\naccuracy,0.333333\n"
    assert read_table(Path("results/fit_probes/tiny/settings.csv"))["C"].tolist() == [0.333333]


def test_a_judging_stage_has_one_record_a_run_and_its_headline(workspace):
    toy, every = written(judge_pairs)
    own = {
        f"runs/{name}/written/{file}"
        for name in ("toy", "all")
        for file in ("record.json", "accuracy.png", "accuracy_by_order.csv")
    }
    assert files("results/judge_pairs/tiny") == {"metrics.json", *own}
    assert read_json(Path("results/judge_pairs/tiny/metrics.json")) == {"meaning": {"accuracy": 0.666667, "n": 4}}
    assert (toy.experiment, toy.name, every.name) == ("pairs", "tiny · toy", "tiny · all")
    assert toy.dataset == Dataset("input.txt", MD5, 4)
    assert toy.facts == {"weights": "sha256 abc"}
    assert toy.params == {
        "model": "tiny",
        "model_name": "models/tiny",
        "model_kind": "masked",
        "model_weights": "trained",
        "model_precision": "unknown",
        "model_parameters": "1234",
        "construction": "toy",
        "source": "written",
        "seed": "7",
        "fit_probes.C": "1.0",
        "fit_probes.names": '["a", "b"]',
        "fit_probes.revision": "null",
    }


def test_the_runs_of_a_panel_have_a_folder_and_a_name_for_each_of_its_models(workspace):
    records = written(judge_panel, "judge_pairs")
    folders = [f"results/judge_pairs/tiny/runs/{model}" for model in ("shorter", "first-mentioned")]
    assert [str(one.folder) for one in records] == [
        f"{folder}/{construction}/written" for folder in folders for construction in ("toy", "all")
    ]
    assert all((one.folder / "record.json").is_file() for one in records)
    assert [one.name for one in records] == [
        "shorter (blind) · toy",
        "shorter (blind) · all",
        "first-mentioned (blind) · toy",
        "first-mentioned (blind) · all",
    ]
    assert {one.experiment for one in records} == {"pairs"}
    assert [one.params["model"] for one in records] == ["shorter", "shorter", "first-mentioned", "first-mentioned"]


def test_a_panel_of_one_model_has_the_folders_of_a_panel(workspace):
    (record,) = written(lambda stage: Outcome(runs=[judged_run(stage, model="shorter", facts=BLIND)]), "judge_pairs")
    assert record.folder == Path("results/judge_pairs/tiny/runs/shorter/toy/written")


def test_a_model_that_is_asked_in_words_needs_no_folder_of_its_own(workspace):
    asked = Stage("judge_replies", {"llm": "mock"}, load_toy_params())
    (record,) = write_results(asked, Outcome(runs=[judged_run(asked, model="mock")]), "")
    assert record.folder == Path("results/judge_replies/mock/runs/toy/written")


def test_the_runs_of_models_twins_and_blind_models_have_the_same_params_and_say_what_they_are(workspace):
    (trained, _), (blind, *_) = written(judge_pairs), written(judge_panel, "judge_pairs")
    (twin,) = written(lambda stage: Outcome(runs=[judged_run(stage, facts=TWIN)]), "judge_pairs")
    assert list(trained.params) == list(blind.params) == list(twin.params)
    assert [one.params["model_weights"] for one in (trained, twin, blind)] == ["trained", "random", "none"]
    assert [one.params["model_kind"] for one in (trained, twin, blind)] == ["masked", "masked", "blind"]
    assert (twin.name, twin.facts["weights"]) == ("tiny (random weights) · toy", "random, seed 1, of sha256 abc")
    assert blind.params["model_parameters"] == "unknown"


TINY = {"name": "models/tiny", "revision": None, "sha256": None, "dtype": "float32"}
SHORTER = {"kind": "blind", "members": {"shorter": {"kind": "shorter"}}}


@pytest.mark.parametrize(
    ("entry", "model", "facts"),
    [
        (TINY, "tiny", FACTS),
        (TINY | {"weights": "random", "seed": 1}, "tiny", TWIN),
        (SHORTER, "shorter", BLIND),
    ],
    ids=["trained", "twin", "blind"],
)
def test_a_run_whose_weights_are_not_those_of_params_is_refused(workspace, entry, model, facts):
    class Models(Closed):
        models: dict[str, Model]

    params = Models.model_validate({"models": {"tiny": entry}})
    ran = Stage("judge_pairs", {"model": "tiny"}, params)
    for own in (FACTS, TWIN, BLIND):
        toy = replace(judged_run(stage("judge_pairs")), model=model, facts=own, dataset=None)
        if own is facts:
            assert len(write_results(ran, Outcome(runs=[toy]), "")) == 1
            continue
        with pytest.raises(DataError, match=rf"weights of {model} are '{own.state}', and models.tiny in params.yaml"):
            write_results(ran, Outcome(runs=[toy]), "")


def test_runs_with_several_sources_are_told_apart_by_their_names(workspace):
    def judge_probes(stage: Stage) -> Outcome:
        return Outcome(runs=[judged_run(stage, source=source) for source in ("generated", "mined")])

    assert [record.name for record in written(judge_probes)] == ["tiny · generated · toy", "tiny · mined · toy"]


def test_a_report_has_its_record_among_its_tables_and_the_runs_of_series_too(workspace):
    own, judged = written(report_pairs)
    assert files("results/report_pairs/tiny") == {
        "accuracy.csv",
        "tables/words.csv",
        "tables/record.json",
        "figures/accuracy.png",
        *(f"tables/runs/tinies/toy/series/{file}" for file in ("record.json", "accuracy.png", "accuracy_by_order.csv")),
    }
    assert (own.experiment, judged.experiment) == ("stages", "pairs")
    assert own.artifacts == [Path("accuracy.csv"), Path("tables/words.csv"), Path("figures/accuracy.png")]


@pytest.mark.parametrize("work", [fit_probes, judge_pairs, report_pairs])
def test_a_second_run_writes_the_same_bytes(workspace, work):
    written(work)
    first = {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()}
    written(work)
    assert {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()} == first


@pytest.mark.parametrize("work", [fit_probes, judge_pairs, report_pairs])
def test_records_are_read_as_they_were_written(workspace, work):
    records = written(work)
    assert sorted(read_records(), key=lambda one: one.name) == sorted(records, key=lambda one: one.name)


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("build_pairs", ["data/build_pairs/tiny", "results/build_pairs/tiny"]),
        ("score_pairs", ["data/score_pairs/tiny", "results/score_pairs/tiny"]),
        ("judge_pairs", ["data/judge_pairs/tiny", "results/judge_pairs/tiny/runs"]),
        ("report_pairs", ["results/report_pairs/tiny/tables", "results/report_pairs/tiny/figures"]),
    ],
)
def test_a_stage_that_makes_nothing_has_its_outputs_all_the_same(workspace, name, outputs):
    written(lambda _: Outcome(), name)
    prepare_data(stage(name))
    assert [output for output in outputs if not Path(output).is_dir()] == []


def test_data_in_a_single_file_gets_no_folder_beside_it(workspace):
    Path("data/build_benchmarks").mkdir(parents=True)
    Path("data/build_benchmarks/tiny.parquet").write_bytes(b"")
    prepare_data(stage("build_benchmarks"))
    assert files("data") == {"build_benchmarks/tiny.parquet"}
    assert not Path("data/build_benchmarks/tiny").exists()


def test_the_data_of_another_item_does_not_stand_for_this_one(workspace):
    Path("data/score_pairs/tiny-2").mkdir(parents=True)
    prepare_data(stage("score_pairs"))
    assert Path("data/score_pairs/tiny").is_dir()


def test_results_of_an_earlier_run_are_gone(workspace):
    for path in ("results/judge_pairs/tiny/runs/old/record.json", "results/judge_pairs/tiny/notes.txt"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("{}")
    written(judge_pairs)
    assert not Path("results/judge_pairs/tiny/runs/old").exists()
    assert Path("results/judge_pairs/tiny/notes.txt").exists()


def test_two_runs_in_one_folder_are_refused(workspace):
    with pytest.raises(ValueError, match=r"more than one run for results/judge_pairs/tiny/runs/toy/written"):
        written(lambda stage: Outcome(runs=[judged_run(stage), judged_run(stage)]), "judge_pairs")


@pytest.mark.parametrize(
    ("name", "outcome", "part"),
    [
        ("build_pairs", Outcome(headline={"accuracy": 1.0}), "headline"),
        ("judge_pairs", Outcome(counts={"pairs": 1}), "counts"),
        ("judge_pairs", Outcome(tables={"table": pd.DataFrame({"a": [1]})}), "tables"),
        ("judge_pairs", Outcome(figures={"figure": figure()}), "figures"),
        ("report_pairs", Outcome(headline={"accuracy": 1.0}), "headline"),
    ],
)
def test_what_a_kind_of_stage_cannot_have_is_refused(workspace, name, outcome, part):
    with pytest.raises(ValueError, match=f"{name}: the outcome of a stage that .* cannot have {part}"):
        written(lambda _: outcome, name)


@pytest.mark.parametrize(
    "headline", [{f"number {n}": n for n in range(13)}, {"a": {"b": {"c": 1}}}], ids=["too many", "too deep"]
)
def test_a_headline_that_does_not_fit_on_a_line_is_refused(workspace, headline):
    with pytest.raises(ValueError, match="at most 12 are allowed, at most 2 deep"):
        written(lambda _: Outcome(headline=headline), "judge_pairs")


def test_the_headline_of_a_panel_may_have_two_numbers_for_each_model(workspace):
    def judge_many(stage: Stage, *, numbers: int) -> Outcome:
        models = [f"blind-{number}" for number in range(8)]
        headline = {model: dict.fromkeys(["accuracy", "n", "low"][:numbers], 0.5) for model in models}
        return Outcome(headline=headline, runs=[judged_run(stage, model=model, facts=BLIND) for model in models])

    assert len(written(lambda stage: judge_many(stage, numbers=2), "judge_pairs")) == 8
    with pytest.raises(ValueError, match=r"headline has 24 numbers, .* at most 16 are allowed"):
        written(lambda stage: judge_many(stage, numbers=3), "judge_pairs")


def test_a_data_set_must_be_an_input(workspace):
    def judge_pairs(stage: Stage) -> Outcome:
        run = judged_run(stage)
        stage.inputs.clear()
        return Outcome(runs=[run])

    with pytest.raises(ValueError, match=r"the data set input\.txt is not an input of the stage"):
        written(judge_pairs)


def test_a_record_of_another_version_names_its_file(workspace):
    write_json({"metrics": {}}, Path("results/judge_pairs/tiny/runs/toy/written/record.json"))
    with pytest.raises(DataError, match=r"toy/written/record\.json is not a record of this version of cxprobe"):
        read_records()


def test_results_that_cannot_all_be_written_leave_the_old_ones_as_they_were(workspace, file_limit):
    for work in (fit_probes, judge_pairs, report_pairs):
        written(work)
    before = {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()}
    file_limit(4_000)  # smaller than a figure
    for work in (fit_probes, judge_pairs, report_pairs):
        with pytest.raises(DiskFullError, match=r"\.png: the file is larger than the disk"):
            written(work)
    assert {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()} == before
    assert not list(Path("results").rglob(".partial"))


@pytest.mark.parametrize("work", [fit_probes, judge_pairs, report_pairs])
@pytest.mark.parametrize("number", range(4))
def test_results_that_cannot_be_exchanged_go_back(workspace, monkeypatch, work, number):
    written(work)
    before = {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()}
    renamed, rename = [], Path.rename

    def fail_once(source: Path, target: Path) -> Path:
        renamed.append(source)
        if len(renamed) == number + 1 and "old" not in source.parts:
            raise PermissionError("not allowed")
        return rename(source, target)

    with monkeypatch.context() as broken, pytest.raises(PermissionError):
        broken.setattr(Path, "rename", fail_once)
        written(work)
    assert {path: path.read_bytes() for path in Path("results").rglob("*") if path.is_file()} == before


def test_records_of_results_that_a_killed_run_has_left_do_not_count(workspace):
    records = written(fit_probes)
    unfinished = Path("results/fit_probes/tiny/.partial/new")
    unfinished.mkdir(parents=True)
    (unfinished / "record.json").write_bytes(Path("results/fit_probes/tiny/record.json").read_bytes())
    assert read_records() == records
    written(fit_probes)
    assert not unfinished.parent.exists()
