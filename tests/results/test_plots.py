"""Plots and sentences: every verdict has one, and what a picture shows is what the rates say."""

from dataclasses import asdict
from io import StringIO
from itertools import product
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import cxprobe
from conftest import ROOT
from cxprobe.constructions.construction import Construction
from cxprobe.errors import DataError
from cxprobe.results.findings import Baseline, Finding, lead_findings
from cxprobe.results.plots import as_svg, curves, dots, mark_of, overview, row_names
from cxprobe.results.sentences import headline, in_sum, sentence
from cxprobe.results.task import ConstructionFiles
from cxprobe.results.verdict import EVERY_VERDICT, SIGNS, Effects, frames_needed
from cxprobe.stats import Estimate, Mean

RATE, NEUTRAL = Estimate(0.975, 0.87, 1.0, 40), Estimate(0.675, 0.52, 0.8, 40)


def nats(value: float, half: float = 0.03) -> Mean:
    return Mean.of(Estimate(value, value - half, value + half, 40))


LEVELS = {"neutral": nats(0.05), "rival_near": nats(0.11)}
EFFECTS = Effects(nats(0.17), nats(0.2), LEVELS, {"neutral": nats(0.12), "rival_near": nats(0.06)})
TOY = SimpleNamespace(name="Toy", expects="the first person to be the giver")
NAMES = {"toy": "Toy", "other": "Other"}


def found(key="adds_part", construction="toy", model="m", question="meaning", **changes) -> Finding:
    row = {"task": "pairs", "model": model, "question": question, "verdict": key, "chance": 0.5, **asdict(RATE)}
    row |= {"control": RATE.value, "control_low": RATE.low, "control_high": RATE.high, "control_n": RATE.n}
    known = {"baseline": Baseline("rival_near", NEUTRAL), "effects": EFFECTS}
    return Finding(row, construction, "contrast", **(known | changes))


def said(finding: Finding) -> str:
    return sentence(finding, "SmolLM2", TOY).replace("\u00a0", " ")


def test_a_contrast_is_told_with_what_is_added_to_which_rival_in_nats_and_in_units_of_the_control():
    assert said(found()) == (
        "SmolLM2 expects the first person to be the giver, in part without the construction: it adds 0.060 nats "
        "[0.030, 0.090] (30 % [15, 47] of the control) to the contrast after the rival “near”, in 40 frames."
    )


def test_a_contrast_of_which_nothing_is_added_names_the_rival_that_shows_it_and_not_the_nearest():
    less = {"neutral": nats(-0.1, 0.01), "rival_near": nats(-0.12, 0.3)}
    text = said(found("adds_nothing", effects=EFFECTS._replace(less=less)))
    assert text.startswith("Whether SmolLM2 expects the first person to be the giver does not depend on the construc")
    assert "it adds -0.100 nats [-0.110, -0.090] (" in text
    assert (
        "after a neutral sentence, which decides, in 40 frames; less than a fifth of the control counts as nothing."
        in text
    )


def test_an_undecided_contrast_names_which_of_the_two_reasons_and_the_frames_that_would_settle_it():
    assert "it is right in 98 % [87, 100] of 40 frames, and not shown to understand the control" in said(
        found("fails_control")
    )
    effects = EFFECTS._replace(less={"neutral": nats(0.12), "rival_near": nats(0.03, 0.06)})
    assert f"; some {frames_needed(effects)} frames would settle it." in said(found("too_few", effects=effects))


@pytest.mark.parametrize("key", EVERY_VERDICT)
@pytest.mark.parametrize("question", ["form", "meaning", "words", "used"])
def test_every_verdict_on_every_question_is_a_whole_sentence(key, question):
    text = said(found(key, question=question, effects=None, baseline=Baseline("ngrams", NEUTRAL)))
    assert text.endswith(".")
    assert "SmolLM2" in text
    assert "{" not in text


def test_a_question_has_one_rate_on_the_first_page_and_a_contrast_comes_before_others():
    pairs = found("no_difference", effects=None)
    few = found("smoke_test", construction="other", effects=None)
    leads = lead_findings([pairs, found(), few, found(model="n"), found(headline=False, question="form")], ["n", "m"])
    assert [(one.model, one.row["verdict"]) for one in leads] == [("n", "adds_part"), ("m", "adds_part")]


def test_the_counts_of_the_heading_are_those_of_the_paragraph():
    form = found("above_baseline", question="form", effects=None)
    leads = [found(), found("too_few", "other"), form]
    said = "1 of 2 constructions adds to what m expects (1 undecided); it recognises 1 of 1 forms."
    assert headline(leads, str) == said
    assert in_sum(leads, NAMES).replace("\u00a0", " ") == (
        "Meaning of 2 constructions: adds a part in 1: Toy (30 % of the control); undecided (too few frames) in "
        "1: Other (30 % of the control). Form of 1 construction: above the best baseline in 1: Toy."
    )


def test_what_is_drawn_of_a_contrast_is_what_is_tested():
    mark = mark_of(found(), "Toy", "meaning")
    assert mark.others == pytest.approx({"neutral": 0.25, "rival_near": 0.55})
    assert mark.rate.value == pytest.approx(0.85)
    assert (mark.rate.low > mark.others["rival_near"]) == (EFFECTS.adds.low > 0)
    fails = mark_of(found("fails_control", effects=EFFECTS._replace(control=nats(0.01))), "Toy", "meaning")
    assert np.isnan(fails.rate.value)
    [axes] = dots([mark, fails._replace(row="Other")]).axes
    assert {"the control is failed"} <= {text.get_text() for text in axes.texts}
    drawn = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "|"]
    assert drawn == pytest.approx([0.25, 0.55])


def test_several_models_have_one_heading_that_names_the_ones_that_take_the_most():
    leads = [
        found(),
        found("too_few", "other"),
        found("adds_nothing", model="n"),
        found("above_chance", question="form"),
    ]
    assert headline(leads, str.upper) == (
        "1 of 2 constructions adds to what M expects (the most of 2 models); it recognises 0 of 1 forms "
        "(of 2 models the only one asked)."
    )
    assert headline([found(), found(model="n")], str) == "1 of 1 constructions adds to what m and n expect."
    assert headline([], str) == ""


def test_of_several_models_the_picture_is_a_matrix_with_a_dash_where_one_was_not_asked():
    leads = [found(), found("too_few", "other"), found("adds_nothing", model="n")]
    leads.append(found("above_chance", question="form", model="n", effects=None))
    form, meaning = overview(leads, NAMES).axes
    assert [form.get_title(loc="left"), meaning.get_title(loc="left")] == ["form", "meaning"]
    assert [label.get_text() for label in meaning.get_xticklabels()] == ["m", "n"]
    assert [label.get_text() for label in form.get_yticklabels()] == ["Toy", "Other"]
    assert [one.get_text() for one in meaning.texts] == ["30", "30", "30", "–"]


def test_the_picture_of_a_model_has_a_row_a_construction_and_a_panel_a_question():
    leads = [found(), found("too_few", "other")]
    figure = overview(leads, NAMES, link=lambda one: f"{one.construction}.html")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["meaning"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["Toy", "Other"]
    root = ElementTree.fromstring(as_svg(figure))
    links = {one.attrib["{http://www.w3.org/1999/xlink}href"] for one in root.iter("{http://www.w3.org/2000/svg}a")}
    assert links == {"toy.html", "other.html"}
    assert as_svg(figure) == as_svg(figure)


def test_a_picture_of_a_page_takes_its_colours_and_has_no_ids_that_another_has():
    leads = [found("adds_most"), found("above_baseline", question="form", effects=None)]
    of_overview, of_meaning = (
        as_svg(figure, of_page=True) for figure in (overview(leads, NAMES), dots([mark_of(leads[0], "Toy", "meaning")]))
    )
    assert "var(--good)" in of_overview
    assert "#00694b" not in of_overview
    first, second = ({one.get("id") for one in ElementTree.fromstring(svg).iter()} for svg in (of_overview, of_meaning))
    assert first & second == {None}


def test_marks_of_verdicts_differ_without_colour():
    assert len(set(SIGNS.values())) == len(SIGNS)


def test_rates_of_a_table_are_drawn_in_a_notebook_and_an_unknown_model_is_told():
    rates = pd.read_csv(ROOT / "recorded/quick.csv")
    few = rates[rates["construction"].isin(["let-alone", "let-alone-form"])]
    picture = cxprobe.overview(few, models=["smollm2-135m"], folder=ROOT / "constructions")
    assert " constructions add to what smollm2-135m expects" in picture.said
    assert picture._repr_svg_() == picture.svg
    with pytest.raises(DataError, match="no rate with a verdict is about gpt9"):
        cxprobe.overview(few, models=["gpt9"], folder=ROOT / "constructions")


def test_a_row_has_an_example_from_the_gloss_below_its_name():
    about = {"slots": {"V": "a verb"}, "positive": "all", "sources": ["own"]}
    quoting = Construction(name="Toy", gloss='Two objects ("Ann baked Eve a cake").', **about)
    other = Construction(name="Other", gloss='The word "to".', **about)
    rows = row_names({"toy": ConstructionFiles(quoting, {}), "other": ConstructionFiles(other, {})})
    assert rows == {"toy": "Toy\nAnn baked Eve a cake", "other": "Other"}
    assert "Ann baked Eve a cake" in as_svg(overview([found()], rows))


def test_curves_have_a_colour_and_a_marker_for_each_value_of_a_column():
    places, kinds = ("bias (i)", "changed"), ("ab", "cd")
    table = pd.DataFrame(product((1e6, 1e9, 1e3), places, kinds), columns=["size", "place", "kind"])
    table = table.assign(share=[number / 20 for number in range(12)], low=0.0, high=1.0, n=1200)
    figure = curves(table, "title", x="size", panels="place", colours="kind", value="share", chance=None)
    assert [axes.get_title() for axes in figure.axes] == [f"{place}\n(n = 1,200)" for place in places]
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert list(lines) == [*kinds]
    assert len({(line.get_color(), line.get_marker()) for line in lines.values()}) == 2
    own = table[(table["place"] == places[0]) & (table["kind"] == "ab")].set_index("size")["share"].sort_index()
    assert [*zip(lines["ab"].get_xdata(), lines["ab"].get_ydata(), strict=True)] == [*own.items()]
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["ab", "cd"]


def test_dollar_signs_in_names_are_no_formula():
    name, drawn = r"X $\frac{ $", StringIO()
    assert name in as_svg(overview([found()], {"toy": f"{name}\n{name}"}))
    table = pd.DataFrame({"size": [1e3, 1e6], "place": name, "kind": name, "share": 0.5, "low": 0.4, "high": 0.6})
    with mpl.rc_context({"svg.fonttype": "none"}):
        curves(table, name, x="size", panels="place", colours="kind", value="share").savefig(drawn, format="svg")
    assert drawn.getvalue().count(name) == 3
    assert "<tspan" in drawn.getvalue()  # the powers of ten on its axis are formulas
