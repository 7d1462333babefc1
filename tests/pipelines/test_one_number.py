"""One number, one place: a rate is the same wherever it is shown, and the plain mean of its responses."""

import re
from html import unescape

import pandas as pd
import pytest
from command_line import call
from mlflow import MlflowClient
from whole_project import runs
from written_pages import fences

import cxprobe
from conftest import ROOT
from cxprobe.files.tables import read_table
from cxprobe.files.writing import significant
from cxprobe.results.findings import estimate_of
from cxprobe.results.rates import divided_by
from cxprobe.results.schema import as_written, facet_columns
from cxprobe.results.words import share
from cxprobe.tasks.registry import TASKS

pytestmark = pytest.mark.pipeline
KEYS = ["task", "model", "construction", "source", "measure"]


@pytest.fixture(scope="module")
def rates(finished_project) -> pd.DataFrame:
    """The rates of all tasks of a finished project, which have the facets of all."""
    paths = [finished_project / "data" / f"evaluate_{task}" / "rates.parquet" for task in TASKS]
    every = pd.concat([read_table(path) for path in paths if path.exists()], ignore_index=True)
    return every.fillna(dict.fromkeys(facet_columns(every), ""))


def test_thirty_rates_are_the_same_in_both_tables(finished_project, rates):
    deciding = rates[rates["decides"]].sample(10, random_state=1)
    others = rates.drop(deciding.index).sample(20, random_state=2)
    for rate in [*deciding.to_dict("records"), *others.to_dict("records")]:
        results = finished_project / "results" / f"evaluate_{rate['task']}"
        table = as_written(pd.read_csv(results / "rates.csv"))
        facets = facet_columns(table)
        divided = [name for name in facets if rate[name]]
        of_facet = divided_by(table, *divided)
        if len(of_facet):  # git does not keep those of some facets
            place = [*KEYS, *divided]
            (row,) = of_facet[(of_facet[place] == [rate[key] for key in place]).all(axis=1)].to_dict("records")
            assert (row["value"], row["n"]) == (pytest.approx(significant(rate["value"])), rate["n"])


def test_runs_of_mlflow_have_the_rates_that_decide_in_percent(finished_project, rates):
    client, compared = MlflowClient(f"sqlite:///{finished_project / 'mlruns' / 'mlflow.db'}"), 0
    deciding = rates[rates["decides"] & (rates["verdict"] != "") & (rates["measure"] == "accuracy")]
    for experiment in client.search_experiments():
        for one in runs(finished_project, experiment.name):
            of_task = deciding[deciding["task"] == experiment.name]
            of_run = of_task[of_task["model"] == one.data.params.get("model")]
            for rate in of_run.to_dict("records"):
                names = [name for name in one.data.metrics if name.endswith(f"/{rate['construction']}")]
                if one.data.tags["role"] == "model" and len(names) == 1:
                    assert one.data.metrics[names[0]] == pytest.approx(significant(100 * rate["value"]))
                    compared += 1
    assert compared


def test_rates_that_decide_are_the_means_of_the_responses_that_the_export_has(
    finished_project, rates, tmp_path, monkeypatch
):
    monkeypatch.chdir(finished_project)
    assert call("export", "csv", tmp_path / "answers.csv")[0] == 0
    answers = pd.read_csv(tmp_path / "answers.csv", keep_default_na=False, low_memory=False)
    deciding = answers[answers["decides"] == True]  # noqa: E712  # as text, where columns are mixed
    means = deciding.assign(value=pd.to_numeric(deciding["value"])).groupby(KEYS)["value"].mean()
    shares = rates[rates["decides"] & (rates["construction"] != "all") & (rates["measure"] == "accuracy")]
    for rate in shares.to_dict("records"):
        assert means[tuple(rate[key] for key in KEYS)] == pytest.approx(rate["value"], abs=1e-6)


def test_pages_show_rates_as_they_are(finished_project, rates):
    pages = [path.read_text() for path in (finished_project / "results/report").rglob("*.html")]
    texts = " ".join(unescape(re.sub(r"<[^>]+>", " ", page)) for page in pages)
    answers = (rates["question"] != "") & (rates["verdict"] != "")
    shown = rates[rates["decides"] & answers & (rates["construction"] != "all")]
    assert len(shown)
    for rate in shown.to_dict("records"):
        if rate["model"] != "mock":
            unit = "frames" if rate["condition"] else "items"
            assert share(estimate_of(rate), unit) in texts, rate


def test_compare_asks_the_frames_of_the_pipeline_and_gives_its_rates(finished_project, rates, monkeypatch):
    monkeypatch.chdir(finished_project)
    found = cxprobe.Survey(cxprobe.load("models/clm"), "toy", frames=4, folder="constructions").measure()
    both = []
    for table, model in ((rates, "clm"), (found, "models/clm")):
        of_it = table[(table["model"] == model) & (table["construction"] == "toy") & (table["measure"] == "contrast")]
        both.append(divided_by(of_it, "condition").set_index("condition")[["value", "low", "high", "n"]].sort_index())
    assert len(both[0]) > 4
    shared = both[0].index.difference(["shuffled", "less_shuffled"])  # which compare does not ask
    pd.testing.assert_frame_equal(both[0].loc[shared], both[1], check_dtype=False, atol=1e-5)


def test_a_number_is_checked_as_its_page_does(finished_project, monkeypatch):
    monkeypatch.chdir(finished_project)
    [text] = fences(ROOT / "docs/howto/check-a-number.md", "python")
    names: dict = {}
    exec(text.replace('"smollm2-135m", "ditransitive"', '"clm", "toy"'), names)
    row = names["place"].loc["construction", "value"]
    assert names["by_frame"].mean() == pytest.approx(row)
    assert names["margins"].mean() == pytest.approx(names["by_frame"].loc[names["frame"]], abs=1e-5)
