"""The ready views of MLflow's page of runs, read with a client as the page reads them."""

import base64
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient

from conftest import ROOT
from cxprobe.lines import all_experiments
from cxprobe.run.experiments import VIEW_TAG, views_of
from cxprobe.run.record import Dataset, RunContext, RunRecord
from cxprobe.run.tracking import add_runs, sync, tracking_uri, view_links

pytestmark = pytest.mark.pipeline

pytest_plugins = ["toy_stages"]

EXPERIMENTS = all_experiments()
CONTEXT = RunContext(1000, 1500, "c0ffee", False, {}, "")


def record(experiment="pairs", model="tiny", construction="all", weights="trained", source="own", **more) -> RunRecord:
    params = {"model": model, "model_kind": "masked", "model_weights": weights, "construction": construction}
    made = RunRecord(
        experiment=experiment,
        name=f"{model} · {construction}",
        stage=f"judge_{experiment}",
        params=params | {"source": source},
        metrics={"accuracy": 0.9, "low": 0.8, "high": 0.95, "n": 40},
        series={},
        dataset=Dataset("data/make_pairs/toy.parquet", "5d41402abc4b2a76b9719d911017c592", 40),
        inputs={},
        weights="sha256 abc",
        folder=Path("results/judge_pairs/runs/tiny/toy/own"),
        artifacts=[],
        trials=[],
    )
    return replace(made, **more)


RECORDS = [
    record(model="shorter", weights="none", construction="toy"),
    record(model="shorter", weights="none"),
    record(construction="toy", metrics={"accuracy": 0.7, "low": 0.6, "high": 0.8, "n": 20, "bias_order": 0.1}),
    record(),
    record(
        model="steps",
        params=record(model="steps").params | {"model_kind": "series"},
        metrics={"n": 40},
        series={"by_training_tokens.accuracy": [(10, 0.5), (20, 0.9)]},
    ),
]


def saved_views(experiment: str) -> dict[str, dict]:
    """Return the views of an experiment by their ids, with the state of the page."""
    client = MlflowClient(tracking_uri())
    tags = client.get_experiment_by_name(experiment).tags
    views = {key.removeprefix(VIEW_TAG): json.loads(value) for key, value in tags.items() if key.startswith(VIEW_TAG)}
    for view in views.values():
        scheme, _, packed = view["state"].partition(";")
        assert scheme == "deflate"
        view["state"] = json.loads(zlib.decompress(base64.b64decode(packed)))
    return views


def runs_in(view: dict, experiment: str = "pairs") -> list[str]:
    """Return the names of the runs that a view shows, in its order."""
    client, state = MlflowClient(tracking_uri()), view["state"]
    order = f"{state['orderByKey']} {'ASC' if state['orderByAsc'] else 'DESC'}"
    number = client.get_experiment_by_name(experiment).experiment_id
    return [run.info.run_name for run in client.search_runs([number], state["searchFilter"], order_by=[order])]


@pytest.mark.parametrize(
    "write",
    [lambda: add_runs(RECORDS, CONTEXT, EXPERIMENTS), lambda: sync(RECORDS, EXPERIMENTS)],
    ids=["stage", "sync"],
)
def test_a_stage_and_a_sync_write_views_that_find_their_runs(workspace, write):
    write()
    views = saved_views("pairs")
    assert {name: view["name"] for name, view in views.items()} == {
        "models-all": "Models on all constructions",
        "models-toy": "Models on toy",
        "model": "tiny on each construction",
        "blind": "Trained models beside blind ones and twins",
        "biases": "Biases",
        "curves": "Accuracy over a training, or by size",
    }
    assert runs_in(views["models-toy"]) == ["shorter · toy", "tiny · toy"]
    assert runs_in(views["model"]) == ["tiny · toy"]
    assert sorted(runs_in(views["blind"])) == ["shorter · all", "tiny · all"]
    assert runs_in(views["curves"]) == ["steps · all"]
    of_one = re.search(r'params\.construction = "\w+"', (ROOT / "docs/howto/mlflow.md").read_text())[0]
    views["model"]["state"]["searchFilter"] = of_one.replace("ditransitive", "toy")
    assert runs_in(views["model"]) == ["shorter · toy", "tiny · toy"]


def test_the_view_of_one_model_is_of_the_first_trained_one_and_not_of_the_first_by_name():
    records = [*RECORDS, record(model="a-later-one", construction="toy")]
    assert next(view.name for view in views_of(EXPERIMENTS["pairs"], records) if view.id == "model").startswith("tiny")


@pytest.mark.parametrize(
    ("sources", "source"), [(("balanced", "generated", "mined"), "generated"), (("mined",), "mined")]
)
def test_views_are_about_one_source_of_items_but_that_of_a_model_which_shows_all(sources, source):
    records = [record("recognition", construction="toy", source=name) for name in sources]
    views = {view.id: view for view in views_of(EXPERIMENTS["recognition"], records)}
    assert "params.source" in views.pop("model").columns
    assert all(f'params.source = "{source}"' in view.search for view in views.values())


def test_a_view_is_written_once_brought_up_to_date_and_left_alone_when_a_person_has_changed_it(workspace):
    sync(RECORDS, EXPERIMENTS)
    client = MlflowClient(tracking_uri())
    number = client.get_experiment_by_name("pairs").experiment_id
    before = client.get_experiment(number).tags
    sync(RECORDS, EXPERIMENTS)
    assert client.get_experiment(number).tags == before
    # The page writes four keys.
    theirs = {"name": "Mine", "createdAt": 5, "updatedAt": 6, "state": "deflate;"}
    client.set_experiment_tag(number, f"{VIEW_TAG}biases", json.dumps(theirs))
    sync([record(model="another"), *RECORDS], EXPERIMENTS)
    after = client.get_experiment(number).tags
    assert json.loads(after[f"{VIEW_TAG}biases"]) == theirs
    assert json.loads(after[f"{VIEW_TAG}model"])["name"] == "another on each construction"
    assert json.loads(after[f"{VIEW_TAG}model"])["createdAt"] == json.loads(before[f"{VIEW_TAG}model"])["createdAt"]


def test_links_lead_to_the_views_and_those_of_charts_into_the_charts(workspace):
    sync(RECORDS, EXPERIMENTS)
    number = MlflowClient(tracking_uri()).get_experiment_by_name("pairs").experiment_id
    links = {name: link for _, name, link in view_links(RECORDS, "http://127.0.0.1:5000", EXPERIMENTS)}
    assert (
        links["Models on all constructions"]
        == f"http://127.0.0.1:5000/#/experiments/{number}/runs?viewStateShareKey=models-all"
    )
    assert links["Biases"].endswith("/runs?viewStateShareKey=biases&compareRunsMode=CHART")
