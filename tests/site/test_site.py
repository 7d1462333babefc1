"""The report as pages: what is shown of which model, what each number says, and pages that need nothing else."""

import re
import shutil
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from chromium import CHROMIUM, browser
from html_page import Page
from matplotlib.figure import Figure
from mlflow.utils.search_utils import SearchUtils

from conftest import ROOT, change_params, shrink, write_shrunk_project
from cxprobe.files.tables import write_table
from cxprobe.lines import LINES
from cxprobe.lm.params import SeriesEntry
from cxprobe.project.params import load_params
from cxprobe.report.findings import (
    ABOVE_BLIND,
    ABOVE_CHANCE,
    BELOW,
    NO_BLIND,
    NO_DIFFERENCE,
    NO_RATE,
    PREFERENCE,
    SMOKE_TEST,
    AgainstBlind,
    Blind,
    Finding,
    ReportModels,
)
from cxprobe.report.inputs import ReportInputs
from cxprobe.report.params import LineParams
from cxprobe.report.published import published_table
from cxprobe.report.tables import with_blanks
from cxprobe.report.words import interval
from cxprobe.run.stage import Stage
from cxprobe.site.pages import findings_of, render_pages, runs_in_mlflow
from cxprobe.stats import Estimate

PARAMS = ROOT / "params.yaml"
ORDERS = ("both", "both_low", "both_high", "both_n", "margin", "margin_low", "margin_high")
INTERVAL = re.compile(r"\d+\u00a0% \[[\d.]+,\u00a0[\d.]+\]")


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.504, 0.954, "[50.4, 95]"), (0.1, 0.496, "[10, 49.6]"), (0.582, 0.931, "[58, 93]"), (0.34, 0.36, "[34, 36]")],
)
def test_a_limit_beside_chance_does_not_read_as_chance(low, high, said):
    assert interval(Estimate(0.6, low, high, 100)).replace("\u00a0", " ") == said


def finding(value=0.7, low=0.6, high=0.8, n=100, **changes) -> Finding:
    given = {
        "line": "pairs",
        "construction": "toy",
        "model": "mlm",
        "question": "meaning",
        "way": "minimal pairs",
        "rate": Estimate(value, low, high, n),
        "chance": 0.5,
        "blind": Blind("shorter", Estimate(0.5, 0.4, 0.59, 100)),
        "table": "report_pairs/accuracy",
        "source": "own",
    }
    return Finding(**given | changes)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_shrunk_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def with_params(folder: Path, lines: list[str], **sections):
    """Return parameters in which some lines of work run, with changes to their sections."""

    def change(params: dict) -> None:
        shrink(params)
        for line in LINES:
            if line not in lines:
                lists = ("models", "llms", "probed", "constructions", "benchmarks")
                params[line] |= {name: type(params[line][name])() for name in lists if name in params[line]}
            params[line] |= sections.get(line, {})
        if "pairs" not in lines:
            params["pairs"]["probe"] = None

    change_params(folder, PARAMS, change)
    return load_params()


def rates(**models: tuple[float, float, float, int]) -> pd.DataFrame:
    rows = [(model.replace("_", "-"), *rate) for model, rate in models.items()]
    return pd.DataFrame(rows, columns=["model", "accuracy", "low", "high", "n"])


def write_report(folder: Path, line: str, figures=(), **tables: pd.DataFrame) -> None:
    """Write tables of a report; what is not there has not run."""
    place = folder / "results" / f"report_{line}"
    for name, table in ({"accuracy": pd.DataFrame(columns=["model"])} | tables).items():
        write_table(table, place / ("" if name == "accuracy" else "tables") / f"{name}.csv")
    (place / "figures").mkdir()
    for name in figures:
        Figure(figsize=(1, 1)).savefig(place / "figures" / f"{name}.png", metadata={"Title": f"Title of\n{name}"})


def pairs_accuracy(**models) -> pd.DataFrame:
    accuracy = rates(**models).assign(construction="toy", tests="meaning", words="real")
    return accuracy.assign(**dict.fromkeys(ORDERS, ""))


def in_every_variant(accuracy: pd.DataFrame) -> pd.DataFrame:
    ends = {"every_variant_low": 0.4, "every_variant_high": 0.8, "every_variant_n": 30}
    return accuracy.assign(every_variant=0.6, **ends)


def read(params):
    sections = sections_of(params)
    return ReportInputs(Stage("report", "", params), sections, list(LINES.values())), ReportModels.of(sections)


def sections_of(params) -> dict[str, LineParams]:
    return {name: params.params_of(name) for name in LINES}


def pages_of(params) -> dict[str, str]:
    run, cast = read(params)
    return render_pages(run, cast, findings_of(run, cast))


@pytest.fixture
def pages(folder):
    """The pages of a run with pairs alone: two models, a blind panel, and the mock model asked too."""
    params = with_params(folder, ["pairs"], pairs={"llms": {"mock": {}}})
    accuracy = pairs_accuracy(mlm=(0.7, 0.65, 0.75, 300), clm=(0.5, 0.4, 0.6, 90), mock=(0.5, 0.1, 0.9, 4))
    blind = pairs_accuracy(shorter=(0.52, 0.44, 0.6, 300), first_mentioned=(0.5, 0.42, 0.58, 300))
    write_report(folder, "pairs", accuracy=pd.concat([accuracy, blind]))
    return pages_of(params)


@pytest.mark.parametrize(
    ("one", "verdict"),
    [
        (finding(low=0.6), ABOVE_BLIND),
        (finding(low=0.59), ABOVE_CHANCE),
        (finding(low=0.59, against=AgainstBlind(True, None)), ABOVE_BLIND),
        (finding(low=0.6, against=AgainstBlind(False, None)), ABOVE_CHANCE),
        (finding(low=0.6, blind=None), NO_BLIND),
        (finding(0.55, 0.5, 0.6), NO_DIFFERENCE),
        (finding(0.5, 0.4, 0.6, preference="always the first"), PREFERENCE),
        (finding(0.7, 0.6, 0.8, preference="always the first"), ABOVE_BLIND),
        (finding(0.3, 0.2, 0.4), BELOW),
        (finding(0.9, 0.49, 1.0), SMOKE_TEST),
        (finding(0.5, 0.2, 0.8, preference="always the first"), PREFERENCE),
        (finding(rate=None), NO_RATE),
    ],
)
def test_a_verdict_follows_from_the_stated_rule(one, verdict):
    assert one.verdict == verdict


@pytest.mark.parametrize(
    ("low", "p_holm", "verdict"),
    [(0.01, float("nan"), ABOVE_BLIND), (-0.01, float("nan"), ABOVE_CHANCE), (0.01, 0.06, ABOVE_CHANCE)],
)
def test_a_model_is_above_the_best_blind_one_by_the_difference_on_the_same_items(folder, low, p_holm, verdict):
    accuracy = pairs_accuracy(mlm=(0.7, 0.65, 0.75, 300), shorter=(0.6, 0.5, 0.7, 300))
    compared = {"construction": "toy", "compares": "best blind", "first": "mlm", "second": "shorter"}
    numbers = {"difference": 0.1, "low": low, "high": 0.2, "n": 300, "p": p_holm, "p_holm": p_holm, "detectable": 0.1}
    write_report(folder, "pairs", accuracy=accuracy, comparisons=with_blanks(pd.DataFrame([compared | numbers])))
    run, cast = read(with_params(folder, ["pairs"]))
    assert [one.verdict for one in findings_of(run, cast) if one.model == "mlm"] == [verdict]


def test_the_best_blind_model_is_the_one_with_the_highest_rate_and_of_two_the_first_of_the_grid(folder):
    cast = ReportModels.of(sections_of(with_params(folder, ["pairs"])))
    first, second, *_ = cast.blind
    table = rates(mlm=(0.9, 0.8, 1.0, 10), **{slug.replace("-", "_"): (0.6, 0.5, 0.7, 10) for slug in (second, first)})
    assert cast.best(table).model == first
    assert cast.best(table[table["model"] == "mlm"]) is None


def text_of(page: str) -> str:
    """Return what a page says, without its style."""
    body = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).replace("\u00a0", " ").split())


def test_the_first_sentences_say_what_was_found_about_each_model(pages, folder):
    first = re.findall(r'<p class="lead"><strong>(.*?)</strong> (.*?)</p>', pages["index.html"])
    assert first == [
        ("mlm", "expects the meaning in 1 of 1 by minimal pairs."),
        ("clm", "expects the meaning in none of 1 by minimal pairs."),
    ]
    nothing = pages_of(with_params(folder, []))["index.html"]
    assert "There is no rate." in nothing


def test_a_placebo_stands_in_the_overview_and_is_not_counted_among_constructions(folder):
    file = folder / "constructions" / "toy" / "construction.yaml"
    params = with_params(folder, ["recognition"])
    table = rates(one=(0.9, 0.8, 0.95, 100)).assign(
        construction="toy", source="generated", layer=1, control_majority=0.5
    )
    write_report(folder, "recognition", accuracy=table, recognition=table)
    assert "knows the form in none of 1 by a probe." in text_of(pages_of(params)["index.html"])
    file.write_text(f"placebo: true\n{file.read_text()}")
    page = text_of(pages_of(params)["index.html"])
    assert " of 1 by a probe" not in page
    assert "90 % [80, 95]" in page


def test_the_overview_is_a_table_for_each_way_of_asking_with_a_row_for_each_construction(folder):
    shutil.copytree(folder / "constructions" / "toy", folder / "constructions" / "agreement")
    params = with_params(folder, ["pairs", "recognition"], pairs={"constructions": ["toy", "agreement"]})
    meaning = pairs_accuracy(mlm=(0.7, 0.65, 0.75, 300), clm=(0.5, 0.2, 0.8, 9), shorter=(0.52, 0.44, 0.6, 300))
    form = in_every_variant(pairs_accuracy(mlm=(0.9, 0.8, 0.95, 60), shorter=(1.0, 0.9, 1.0, 60)))
    pairs = pd.concat([meaning, form.assign(construction="agreement", tests="form")])
    write_report(folder, "pairs", accuracy=with_blanks(pairs))
    probes = rates(one=(0.9, 0.8, 0.95, 50)).assign(construction="toy", source="generated")
    write_report(folder, "recognition", recognition=probes.assign(layer=1, control_majority=0.5))
    index = pages_of(params)["index.html"]
    tables = [text_of(one) for one in re.findall(r'<table class="grid folds".*?</table>', index, re.DOTALL)]
    probed, form, meaning = tables
    titles = re.findall(r'<h2 class="grid">.*?</h2>', index)
    assert [text_of(one) for one in titles] == [
        "Does it recognise the form? Asked by a probe.",
        "Does it recognise the form? Asked by minimal pairs.",
        "Does it expect the meaning? Asked by minimal pairs.",
    ]
    assert "above chance; no blind model ran: 90 % [80, 95], n = 50 none" in probed
    assert "not shown to be above the best blind model: 90 % [80, 95], n = 60" in form
    assert "above chance too: shorter 100 % [90, 100], n = 60" in form
    assert "above the best blind model: 70 % [65, 75], n = 300" in meaning
    assert "too few items: 4.5 of 9 right" in meaning
    assert meaning.endswith("shorter 52 % [44, 60], n = 300")


def test_pairs_of_form_stand_in_the_column_of_form_of_their_construction(folder):
    of_toy = folder / "constructions" / "toy"
    meaning = (of_toy / "pairs.yaml").read_text()
    (of_toy / "form_pairs.yaml").write_text(meaning.replace("tests: meaning", "tests: form"))
    params = with_params(folder, ["pairs"], pairs={"constructions": ["toy", "toy-form"]})
    own = pairs_accuracy(mlm=(0.52, 0.48, 0.56, 300), shorter=(0.5, 0.45, 0.55, 300))
    form = in_every_variant(pairs_accuracy(mlm=(0.9, 0.8, 0.95, 60), shorter=(0.49, 0.4, 0.58, 60)))
    accuracy = pd.concat([own, form.assign(construction="toy-form", tests="form")]).assign(clusters=40)
    write_report(folder, "pairs", accuracy=with_blanks(accuracy))
    run, cast = read(params)
    assert list(run.constructions) == ["toy"]
    found = findings_of(run, cast)
    assert [(one.question, one.construction, one.run, one.way, one.rate.n, one.blind.rate.n) for one in found] == [
        ("meaning", "toy", "toy", "minimal pairs", 300, 300),
        ("form", "toy", "toy-form", "minimal pairs of form", 60, 60),
    ]
    assert [one.verdict for one in found] == [NO_DIFFERENCE, ABOVE_BLIND]
    assert found[1].note.startswith("right in all variants: 60")
    assert "construction%20%3D%20%27toy-form%27" in runs_in_mlflow(found[1], 1, "http://host:1")
    page = text_of(pages_of(params)["constructions/toy.html"])
    assert "minimal pair of form, variant A" in page
    assert "shorter form real 49 %" in page
    assert "shorter meaning real 50 %" in page


def test_a_construction_without_a_rate_says_why_in_the_overview(folder):
    params = with_params(folder, ["pairs"])
    wording = {"right": "one", "wrong": "two", "variant": "A", "reason": "'one' is right in all"}
    unbalanced = pairs_accuracy(mlm=(0.9, 0.8, 0.95, 60)).assign(**wording)
    write_report(folder, "pairs", unbalanced=unbalanced)
    assert "no rate : one answer is always right in each wording" in text_of(pages_of(params)["index.html"])


def test_the_page_names_the_variants_that_the_rate_leaves_out(folder):
    params = with_params(folder, ["pairs"])
    reason = "'one' is right and 'two' is wrong in all 60 pairs"
    wording = {"right": "one", "wrong": "two", "variant": "B", "reason": reason}
    accuracy = pairs_accuracy(mlm=(0.9, 0.8, 0.95, 60))
    write_report(folder, "pairs", unbalanced=accuracy.assign(**wording), accuracy=accuracy)
    assert f"left out of the rate (B: {reason})" in text_of(pages_of(params)["constructions/toy.html"])


def test_published_values_stand_only_where_something_was_published():
    table = pd.DataFrame({"model": ["mlm"], "source": ["this run"]})
    assert not published_table(table, "t", "p", ReportModels({})).rows
    both = pd.concat([table, table.assign(source="Oba & Sugawara 2026")])
    assert len(published_table(both, "t", "p", ReportModels({})).rows) == 2


def test_what_did_not_run_is_not_asked_and_never_zero(pages):
    index = pages["index.html"]
    assert index.count("Not asked.") == 3  # form, words and use
    assert "0\u00a0% [0" not in index
    assert "70\u00a0%" in index


def test_a_run_of_nothing_has_pages_too(folder):
    pages = pages_of(with_params(folder, []))
    assert set(pages) == {"index.html", "methods.html", "figures.html"}


def test_a_mock_model_is_shown_beside_no_other(pages):
    assert "models/mock.html" not in pages
    body = re.sub(r"<footer>.*</footer>", "", pages["index.html"], flags=re.DOTALL)
    assert ">mock<" not in body
    assert "mock" not in pages["constructions/toy.html"].split("<footer>")[0].replace("The mock model answers", "")
    assert "Not shown: mock" in pages["index.html"]


def test_every_interval_is_followed_by_its_number_of_items(pages):
    for path, text in pages.items():
        for found in INTERVAL.finditer(text):
            rest = text[found.end() : found.end() + 30]
            assert re.match(r",? ?n\u00a0=\u00a0[\d,]+|</td><td>[\d,]+", rest), (path, found[0], rest)


def test_pages_need_nothing_else_and_every_picture_says_in_words_what_it_shows(pages):
    for path, text in pages.items():
        page = Page(text)
        assert "@import" not in text
        assert not [script for script in page.all("script") if "src" in script["attrs"]]
        assert {link["attrs"]["href"] for link in page.all("link")} == {"data:,"}
        for picture in page.all("svg"):
            assert re.search(r"\d", picture["attrs"]["aria-label"]), path
            assert picture["attrs"]["role"] == "img"


@pytest.mark.pipeline
@pytest.mark.skipif(CHROMIUM is None or sys.platform != "linux", reason="needs Chromium")
def test_no_page_is_cut_on_a_phone(pages, folder):
    """Tables with a caption are reference, and may be scrolled."""
    cut = """[...document.querySelectorAll("main *")].filter(one => !one.closest("table:has(caption), .bar, .unseen"))
        .filter(one => one.getBoundingClientRect().right > document.documentElement.clientWidth)
        .map(one => one.innerText)"""
    labels = """[...document.querySelectorAll(".grid td")].map(one => getComputedStyle(one, "::before").content)"""
    with browser(folder / "profile") as tab:
        tab.resize(390, 844)
        for name, text in pages.items():
            (folder / "page.html").write_text(text)
            tab.open((folder / "page.html").as_uri())
            assert tab.run(cut) == [], name
            assert tab.run("document.documentElement.scrollWidth <= innerWidth"), name
            if name == "index.html":
                assert set(tab.run(labels)) == {'"mlm"', '"clm"', '"best blind model"'}


def test_links_lead_to_pages_tables_and_places_that_exist(pages, folder):
    place = folder / "results" / "report"
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
            assert target.resolve().is_file(), (path, address)
            assert not anchor or f'id="{anchor}"' in target.read_text(), (path, address)


def test_text_of_a_construction_is_no_markup(folder):
    file = folder / "constructions" / "toy" / "construction.yaml"
    file.write_text(re.sub("gloss: .*", 'gloss: "x < y & more"', file.read_text()))
    params = with_params(folder, ["pairs"])
    write_report(folder, "pairs", accuracy=pairs_accuracy(mlm=(0.7, 0.6, 0.8, 30)))
    page = pages_of(params)["constructions/toy.html"]
    assert "x &lt; y &amp; more" in page


def test_the_overview_has_the_sentences_on_which_the_blind_get_least(folder):
    params = with_params(folder, ["recognition"])
    blind = ReportModels.of(sections_of(params)).blind[0].replace("-", "_")
    own = [
        rates(one=(0.9, 0.8, 0.95, 50), **{blind: (value, 0.4, 0.99, 50)}).assign(source=source)
        for source, value in (("generated", 0.98), ("balanced", 0.5))
    ]
    table = pd.concat(own).assign(construction="toy", layer=1, control_majority=0.5)
    write_report(folder, "recognition", recognition=table)
    found = findings_of(*read(params))
    assert [(one.source, one.headline) for one in found] == [("generated", False), ("balanced", True)]
    construction = pages_of(params)["constructions/toy.html"]
    assert "Probe, generated sentences: these items can be solved" not in construction  # its interval has chance in it
    assert "generated sentences" in construction


def test_a_model_that_is_right_with_rivals_alone_has_a_fixed_preference(folder):
    params = with_params(folder, ["pairs"])
    sides = (("construction", (0.0, 0.0, 0.3, 8)), ("rival", (1.0, 0.7, 1.0, 8)))
    sentences = pd.concat(
        pairs_accuracy(mlm=rate, clm=(0.5, 0.3, 0.7, 8)).assign(sentence=name, variant="A") for name, rate in sides
    )
    accuracy = pairs_accuracy(mlm=(0.5, 0.3, 0.7, 16), clm=(0.5, 0.3, 0.7, 16))
    write_report(folder, "pairs", accuracy=accuracy, sentences=sentences)
    by_model = {one.model: one for one in findings_of(*read(params))}
    assert by_model["mlm"].verdict == PREFERENCE
    assert "sentences with the construction" in by_model["mlm"].preference
    assert by_model["clm"].verdict == NO_DIFFERENCE


def test_a_model_that_keeps_to_one_word_in_scenarios_has_a_fixed_preference(folder):
    params = with_params(folder, ["scenarios"])
    run_of = {"construction": "toy", "scenario": "S1"}
    flips = rates(mlm=(0.98, 0.9, 0.99, 60)).rename(columns={"accuracy": "flips"}).assign(calibration="none")
    accuracy = rates(mlm=(0.5, 0.4, 0.6, 60)).assign(**run_of)
    write_report(folder, "scenarios", accuracy=accuracy, **{"toy/flips": flips.assign(scenario="S3")})
    (one,) = findings_of(*read(params))
    assert one.verdict == PREFERENCE
    assert one.preference.startswith("it keeps to the same word in 98")
    assert "(S3: the other word right)" in one.preference


def test_pairs_with_two_orders_are_shown_by_what_is_right_in_both_of_them(folder):
    params = with_params(folder, ["pairs"])
    table = pairs_accuracy(mlm=(0.5, 0.45, 0.55, 40), clm=(0.7, 0.6, 0.8, 40), shorter=(0.5, 0.4, 0.6, 40))
    table = table.assign(both=[0.1, 0.5, 0.0], both_low=[0.05, 0.4, 0.0], both_high=[0.2, 0.6, 0.1], both_n=20)
    effect = {"model": "clm", "construction": "toy", "words": "real", "effect": "meaning", "margin": 0.5}
    margins = pd.DataFrame([effect | {"low": 0.2, "high": 0.8}])
    write_report(folder, "pairs", accuracy=table, margins=margins)
    run, cast = read(params)
    found = {(one.model, one.headline): one for one in findings_of(run, cast)}
    prefers, knows = found["mlm", True], found["clm", True]
    assert (prefers.way, prefers.chance, prefers.rate) == (
        "minimal pairs, right in both orders",
        0.25,
        Estimate(0.1, 0.05, 0.2, 20),
    )
    assert prefers.verdict.words == "a fixed preference"
    assert knows.blind == Blind("shorter", Estimate(0.0, 0.0, 0.1, 20))
    assert knows.verdict.words == "above the best blind model"
    assert knows.note.startswith("mean margin +0.500 nats [+0.200, +0.800]; right in one order: 70")
    assert found["mlm", False].rate == Estimate(0.5, 0.45, 0.55, 40)


def test_earlier_checkpoints_and_twins_are_not_in_the_overview(folder):
    params = with_params(folder, ["pairs", "recognition"])
    points = {
        f"step-{at}": {"at": at, "name": "models/clm", "revision": None, "sha256": None, "dtype": "float32"}
        for at in (10, 20)
    }
    series = SeriesEntry.model_validate({"kind": "series", "axis": "training_tokens", "checkpoints": points})
    pairs = params.pairs.model_copy(update={"models": {**params.pairs.models, "grown": {}}})
    grown = params.model_copy(update={"pairs": pairs, "models": params.models | {"grown": series}})
    cast = ReportModels.of(sections_of(grown))
    assert cast.earlier == ["step-10"]
    assert "step-20" in cast.shown
    assert "one-random" in cast.twins
    assert {"step-10", "one-random", *cast.blind}.isdisjoint(cast.shown)


def test_the_address_of_a_run_is_a_search_that_mlflow_reads():
    address = unquote(runs_in_mlflow(finding(), 4, "http://host:1"))
    assert address.startswith("http://host:1/#/compare-experiments")
    assert 'experiments=["1", "2", "3", "4"]' in address
    parsed = SearchUtils.parse_search_filter(address.partition("searchFilter=")[2])
    assert {(one["type"], one["key"], one["value"]) for one in parsed} == {
        ("parameter", "model", "mlm"),
        ("parameter", "construction", "toy"),
        ("parameter", "source", "own"),
        ("tag", "dvc.stage", "judge_pairs"),
    }


def test_a_bar_says_in_words_what_it_shows(pages):
    said = [picture["attrs"]["aria-label"] for picture in Page(pages["constructions/toy.html"]).all("svg")]
    words = {text.replace("\u00a0", " ") for text in said}
    assert "mlm: 70 % [65, 75], n = 300; best blind model, shorter: 52 % [44, 60], n = 300; chance 50 %" in words


def alternatives(page: str) -> dict[str, str]:
    """Return the file of each image of a page with its text."""
    found = [image["attrs"] for image in Page(page).all("img")]
    return {image["src"]: image["alt"].replace("\u00a0", " ") for image in found}


def test_a_figure_stands_with_its_title_on_the_page_of_its_construction_or_of_several(folder):
    write_report(folder, "pairs", figures=["meaning_by_variant", "recognition_toy"], accuracy=pairs_accuracy())
    pages = pages_of(with_params(folder, ["pairs"]))
    numbers = "Its numbers are in the tables of results/report_pairs."
    assert alternatives(pages["figures.html"]) == {
        "../report_pairs/figures/meaning_by_variant.png": f"Title of meaning_by_variant. {numbers}"
    }
    assert alternatives(pages["constructions/toy.html"]) == {
        "../../report_pairs/figures/recognition_toy.png": f"Title of recognition_toy. {numbers}"
    }


def test_the_same_pairs_asked_in_three_ways_stand_beside_each_other_with_their_agreement(folder):
    params = with_params(folder, ["pairs"])
    write_report(folder, "pairs", accuracy=pairs_accuracy(mlm=(0.5, 0.4, 0.6, 40)))
    ways = [("words", 0.5), ("recognised", 0.9), ("expected", 0.5)]
    rows = [{"way": way, "accuracy": value, "low": value - 0.1, "high": value + 0.1, "n": 40} for way, value in ways]
    counts = {"n": 38, "both_right": 19, "first_alone": 15, "second_alone": 1, "both_wrong": 3}
    agreement = {"first": "recognised", "second": "expected", "kappa": 0.1, "low": -0.1, "high": 0.3} | counts
    place = folder / "results" / "judge_pairs" / "runs" / "ways" / "mlm" / "toy" / "own"
    write_table(pd.DataFrame(rows), place / "ways.csv")
    write_table(pd.DataFrame([agreement]), place / "agreement.csv")
    page = pages_of(params)["constructions/toy.html"].replace("\u00a0", " ")
    section = page.partition("asked in three ways</h2>")[2].partition("<h2>")[0]
    assert "above the best blind model" in section
    assert "not distinguishable from chance" in section
    assert "0.10 [-0.10, 0.30]" in section
    assert "n = 38" in section
    assert "asked in words</td>" not in section  # it was not


def test_the_first_page_says_what_each_model_is(folder):
    params = with_params(folder, ["pairs"])
    described = params.models["mlm"].model_copy(update={"about": "a masked model of 15.5 million parameters"})
    params = params.model_copy(update={"models": {**params.models, "mlm": described}})
    write_report(folder, "pairs", accuracy=pairs_accuracy(mlm=(0.7, 0.65, 0.75, 300)))
    pages = pages_of(params)
    assert "It is a masked model of 15.5 million parameters." in text_of(pages["index.html"])
    assert "a masked model of 15.5 million parameters" in pages["models/mlm.html"]


def test_the_page_of_a_construction_begins_with_what_it_is_and_what_is_asked_and_shows_each_wording_as_text(folder):
    params = with_params(folder, ["pairs"])
    accuracy = pairs_accuracy(mlm=(0.7, 0.65, 0.75, 300)).assign(clusters=25)
    sentences = pairs_accuracy(mlm=(0.7, 0.65, 0.75, 300)).assign(sentence="construction", variant="A")
    write_report(folder, "pairs", accuracy=accuracy, sentences=sentences)
    page = pages_of(params)["constructions/toy.html"]
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert headings[:3] == ["What it is", "What is asked", "Does it recognise the form?"]
    assert headings.index("Reservations") > headings.index("Does it say so?")
    assert "n = 300 from 25 clusters" in text_of(page)
    wordings = page.partition("By wording of the minimal pairs</h2>")[2].partition("<h2>")[0]
    assert " Not: " in wordings
    assert "{" not in text_of(wordings)


@pytest.mark.parametrize(("clusters", "said"), [(3, "only 3 frames "), (1, "only 1 frame "), (30, None)])
def test_minimal_pairs_of_few_frames_have_a_reservation(folder, clusters, said):
    params = with_params(folder, ["pairs"])
    accuracy = pairs_accuracy(mlm=(0.7, 0.65, 0.75, 300)).assign(clusters=clusters)
    write_report(folder, "pairs", accuracy=accuracy)
    page = pages_of(params)["constructions/toy.html"]
    assert (said in page) if said else ("frames (frames that" not in page)


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        ((0.44, 0.40, 0.49, 300), "an untrained model knows nothing"),
        ((0.56, 0.51, 0.6, 300), "above chance on these items"),
    ],
)
def test_a_twin_beside_chance_is_explained_where_its_rate_stands(folder, rate, said):
    params = with_params(folder, ["pairs"])
    twin = params.models["mlm"].model_copy(update={"weights": "random", "seed": 1})
    pairs = params.pairs.model_copy(update={"models": {**params.pairs.models, "mlm-random": {}}})
    params = params.model_copy(update={"pairs": pairs, "models": params.models | {"mlm-random": twin}})
    write_report(folder, "pairs", accuracy=pairs_accuracy(**{"mlm": (0.7, 0.65, 0.75, 300), "mlm-random": rate}))
    assert said in pages_of(params)["constructions/toy.html"]
