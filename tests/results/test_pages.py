"""The report as pages: what is shown of which model, what each number says, and pages that need nothing else."""

import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from html_page import Page
from mlflow.utils.search_utils import SearchUtils

from conftest import change_params, toy_params, write_toy_files
from cxprobe.files.tables import write_table
from cxprobe.models.params import Series
from cxprobe.project.params import load_params
from cxprobe.results.findings import Finding, ReportModels
from cxprobe.results.pages import _better, render_pages, runs_in_mlflow
from cxprobe.results.schema import OF_CONTROL, OF_DIFFERENCE, RATES, write_rates
from cxprobe.results.task import ReportInputs
from cxprobe.results.words import with_blanks
from cxprobe.run.stage import Stage
from cxprobe.tasks.registry import TASKS

INTERVAL = re.compile(r"\d+\u00a0% \[[\d.]+,\u00a0[\d.]+\]")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_toy_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_params(folder: Path, tasks: list[str], **sections):
    """Return parameters in which some tasks run, with changes to their sections."""

    def change(params: dict) -> None:
        for task in TASKS:
            if task not in tasks:
                lists = ("models", "llms", "constructions", "benchmarks")
                params[task] |= {name: type(params[task][name])() for name in lists if name in params[task]}
            params[task] |= sections.get(task, {})

    change_params(folder, toy_params(), change)
    return load_params()


def write_task_rates(folder: Path, task: str, *rows: dict) -> None:
    """Write rates of a task that decide; what a row does not say is absent."""
    question = {"recognition": "form"}.get(task, "meaning")
    row = dict.fromkeys(RATES, "") | dict.fromkeys([*OF_DIFFERENCE, *OF_CONTROL], np.nan)
    row |= {"task": task, "construction": "toy", "measure": "accuracy", "chance": 0.5, "decides": True}
    row |= {"question": question, "low": 0.4, "high": 0.99, "n": 50, "ties": 0}
    table = pd.DataFrame([row | one for one in rows])
    write_rates(table, folder / f"data/evaluate_{task}/rates.parquet")
    write_table(with_blanks(table), folder / f"results/evaluate_{task}/rates.csv")


def rate_of_pairs(model: str, value: float, low: float, high: float, n: int, verdict="", **more) -> dict:
    """Return the rate of a model on pairs with real words."""
    known = {"model": model, "source": "real", "condition": "", "verdict": verdict}
    return known | {"value": value, "low": low, "high": high, "n": n} | more


def models_of(params) -> ReportModels:
    return ReportModels.of({name: params.params_of(name) for name in TASKS})


def read(params):
    sections = {name: params.params_of(name) for name in TASKS}
    inputs, models = ReportInputs(Stage("report", "", params), sections, TASKS), models_of(params)
    return inputs, models, [one for one in inputs.findings() if one.model in models.with_pages]


def pages_of(params) -> dict[str, str]:
    return render_pages(*read(params), {})


@pytest.fixture
def pages(folder):
    """The pages of a run with pairs alone: two models, baselines, and the mock model too."""
    params = with_params(folder, ["pairs"], pairs={"llms": {"mock": {}}})
    write_task_rates(
        folder,
        "pairs",
        rate_of_pairs("mlm", 0.7, 0.65, 0.75, 300, "above_baseline", baseline="shorter"),
        rate_of_pairs("clm", 0.5, 0.4, 0.6, 90, "no_difference", baseline="shorter"),
        rate_of_pairs("mock", 0.5, 0.1, 0.9, 4, "smoke_test", baseline="shorter"),
        rate_of_pairs("shorter", 0.52, 0.44, 0.6, 300),
        rate_of_pairs("first-mentioned", 0.5, 0.42, 0.58, 300),
    )
    return pages_of(params)


def text_of(page: str) -> str:
    """Return what a page says, without its style."""
    body = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).replace("\u00a0", " ").split())


def test_a_placebo_stands_on_its_own_page_alone(folder):
    file = folder / "constructions" / "toy" / "construction.yaml"
    params = with_params(folder, ["recognition"])
    own = {"model": "one", "source": "generated", "value": 0.9, "low": 0.8, "high": 0.95, "verdict": "above_chance"}
    write_task_rates(folder, "recognition", own)
    *_, (found,) = read(params)
    assert (found.question, found.way, found.headline) == ("form", "probe, generated sentences", True)
    first = text_of(pages_of(params)["index.html"])
    assert "one recognises 0 of 1 forms." in first
    file.write_text(f"placebo: true\n{file.read_text()}")
    pages = pages_of(params)
    assert "90 % [80, 95] of 50 items" not in text_of(pages["index.html"])
    assert "90 % [80, 95] of 50 items" in text_of(pages["constructions/toy.html"])


def test_the_first_page_has_a_picture_that_a_narrow_screen_scrolls(pages):
    index = Page(pages["index.html"])
    [picture] = index.all("svg")
    assert re.fullmatch(r"width: \d+px", picture["attrs"]["style"])
    assert "constructions/toy.html" in pages["overview.svg"]


def test_a_run_of_nothing_has_pages_too(folder):
    assert set(pages_of(with_params(folder, []))) == {"index.html", "methods.html", "figures.html"}


def test_a_mock_model_is_shown_beside_no_other(pages):
    assert "models/mock.html" not in pages
    body = re.sub(r"<footer>.*</footer>", "", pages["index.html"], flags=re.DOTALL)
    assert ">mock<" not in body
    assert "mock" not in pages["constructions/toy.html"].split("<footer>")[0].replace("The mock model answers", "")
    assert "Not shown: mock" in pages["index.html"]


def test_every_interval_is_followed_by_its_number_of_items(pages):
    sizes = re.compile(r",? ?n\u00a0=\u00a0[\d,]+| of [\d,]+|, n = [\d,]+|</td><td>[\d,]+")
    for path, text in pages.items():
        for found in INTERVAL.finditer(text):
            assert sizes.match(text, found.end()), (path, found[0])


def test_pages_fetch_nothing(pages):
    for text in pages.values():
        page = Page(text)
        assert "@import" not in text
        assert not page.all("script")
        assert {link["attrs"]["href"] for link in page.all("link")} <= {"data:,"}


def test_links_lead_to_pages_tables_and_places_that_exist(pages, folder):
    place = folder / "results" / "report"
    (folder / "data/make_pairs").mkdir(parents=True)  # what a number of a page is checked by
    (folder / "data/evaluate_pairs/responses.parquet").touch()
    for path, text in pages.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    for path, text in pages.items():
        for link in Page(text).all("a"):
            address = link["attrs"].get("href") or ""
            if address.startswith("http"):
                continue
            file, _, anchor = address.partition("#")
            target = (place / path).parent / file if file else place / path
            assert target.resolve().exists(), (path, address)
            assert not anchor or f'id="{anchor}"' in target.read_text(), (path, address)


def test_the_overview_has_the_sentences_on_which_the_best_baseline_gets_least(folder):
    params = with_params(folder, ["recognition"])
    baseline = models_of(params).baseline[0]
    one = {"model": "one", "value": 0.9, "baseline": baseline, "verdict": "above_chance"}
    values = {"generated": 0.98, "balanced": 0.5}
    rows = [
        row | {"source": source} for source in values for row in (one, {"model": baseline, "value": values[source]})
    ]
    write_task_rates(folder, "recognition", *rows)
    *_, found = read(params)
    assert [(one.row["source"], one.headline) for one in found] == [("generated", False), ("balanced", True)]


def test_earlier_checkpoints_and_random_controls_are_not_in_the_overview(folder):
    params = with_params(folder, ["pairs", "recognition"])
    step = params.models["clm"].model_dump()
    points = {f"step-{at}": step | {"at": at} for at in (10, 20)}
    series = Series.model_validate({"kind": "series", "axis": "training_tokens", "checkpoints": points})
    pairs = params.pairs.model_copy(update={"models": {**params.pairs.models, "grown": {}}})
    grown = params.model_copy(update={"pairs": pairs, "models": params.models | {"grown": series}})
    models = models_of(grown)
    assert models.earlier == ["step-10"]
    assert "step-20" in models.shown
    assert "one-random" in models.random_controls
    assert {"step-10", "one-random", *models.baseline}.isdisjoint(models.shown)


def test_the_address_of_a_run_is_a_search_that_mlflow_reads():
    row = {"task": "pairs", "model": "mlm", "construction": "toy", "source": "own"}
    finding = Finding(row, "toy", "minimal pairs", None)
    address = unquote(runs_in_mlflow(finding, 4, "http://host:1"))
    assert address.startswith("http://host:1/#/compare-experiments")
    assert 'experiments=["1", "2", "3", "4"]' in address
    parsed = SearchUtils.parse_search_filter(address.partition("searchFilter=")[2])
    assert {(one["type"], one["key"], one["value"]) for one in parsed} == {
        ("parameter", "model", "mlm"),
        ("tag", "role", "part"),
        ("tag", "dvc.stage", "evaluate_pairs"),
    }


def test_text_of_a_construction_is_no_markup(folder):
    file = folder / "constructions" / "toy" / "construction.yaml"
    file.write_text(re.sub("gloss: .*", 'gloss: "x < y & more"', file.read_text()))
    params = with_params(folder, ["pairs"])
    write_task_rates(folder, "pairs", rate_of_pairs("mlm", 0.7, 0.6, 0.8, 30, "no_baseline"))
    page = pages_of(params)["constructions/toy.html"]
    assert "x &lt; y &amp; more" in page


def test_the_first_page_says_which_model_is_better_at_what_by_the_corrected_differences():
    row = {"task": "pairs", "construction": "toy-form", "source": "real", "question": "form"}
    meaning = {"task": "contrasts", "construction": "toy", "source": "own", "question": "meaning", "model": "n"}
    rows = [row | {"model": "m"}, row | {"model": "n"}, meaning]
    findings = [Finding(one, "toy", "minimal pairs", None) for one in rows]
    compared = {"construction": "toy-form", "source": "real", "compares": "models", "first": "m", "second": "n"}
    named = SimpleNamespace(construction=SimpleNamespace(name="Toy"))
    unknown = "{} is not shown to be better than {} at anything that both were asked."
    for difference, p, said in (
        (-0.2, 0.01, [unknown.format("m", "n"), "n is better than m at the form (pairs) of Toy (20 points)."]),
        (-0.2, 0.2, [unknown.format("m", "n"), unknown.format("n", "m")]),
    ):
        table = pd.DataFrame([compared | {"difference": difference, "p_holm": p}])
        inputs = SimpleNamespace(tasks=["pairs"], constructions={"toy": named}, table=lambda _, table=table: table)
        alone = "Only n was asked about meaning."
        assert _better(findings, inputs, ReportModels({}, shown=["m", "n"])) == [*said, alone]
