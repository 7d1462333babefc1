"""Imported sets through the stages: built, asked, judged and reported beside our own and beside published results."""

import importlib.util
import shutil

import pandas as pd
import pytest

from conftest import ROOT, write_toy_construction
from cxprobe.files.tables import read_table, write_table
from cxprobe.lm.language_models import write_model_facts
from cxprobe.lm.params import ModelFacts
from cxprobe.run.params import load_params
from cxprobe.run.stage import Outcome, Stage

REASONING = """Ex Num\tType\tText\tOutput\tOriginal Text\tOption A\tOption B\tOption C\tTarget
7\tBase\tThe older, the calmer. Bo is older than Al. Who is calmer?\t?\t\tAl\tBo\tnot enough info\tB
7\tShort Calibration\tBo is older than Al. Who is calmer?.\t?\t\tAl\tBo\tnot enough info\tC
"""
FREE_FORM = """CxN Type\tNumber\tP/H/R\tAnnotation Targets
toy\t1\tpremise\tThe king drew the cats.
\t1\thypothesis\tThe cats were asleep.
\t1\trelation\t1 (neutral)
\t2\tpremise\tThe king drew the cats.
\t2\thypothesis\tThe king made a picture.
\t2\trelation\t0 (entailment)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the toy construction, the project's prompts, published results and files to import."""
    folder = tmp_path_factory.mktemp("project")
    write_toy_construction(folder / "constructions")
    for name in ("prompts", "published"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "reasoning.tsv").write_text(REASONING)
    (folder / "free.tsv").write_text(FREE_FORM)
    return folder


def run_script(stage: str, kind: str, item: dict[str, str]) -> Outcome:
    spec = importlib.util.spec_from_file_location(stage, ROOT / "pipelines" / kind / f"{stage}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    files = {"format": "reasoning", "constructions": {"toy": "reasoning.tsv"}, "rows": None, "doubtful": "keep"}
    asked = params.build_prompts.model_dump() | {
        "files": {"free-form": "free.tsv", "official": files},
        "inference_prompts": ["short", "expert", "long"],
        "shots": [{"number": 0, "sources": [], "of_the_construction": True}],
        "premises": None,
        "option_orders": "paper",
    }
    grid = params.grid.prompts.model_copy(update={"models": [], "llms": ["mock"], "constructions": ["toy"]})
    changes = {"grid": params.grid.model_copy(update={"prompts": grid})}
    changes["build_prompts"] = type(params.build_prompts).model_validate(asked)
    return getattr(script, stage)(Stage(stage, item, params.model_copy(update=changes)))


@pytest.fixture(scope="module")
def report(project):
    """What is built and what is reported, where a model is right with one prompt and never with the others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        built = run_script("build_prompts", "make", {})
        questions = read_table(project / "data/build_prompts/toy/questions.parquet")
        is_right = questions["prompt"].isin(["expert", "plain"])
        replies = pd.DataFrame({"id": questions["id"], "reply": questions["gold"].where(is_right, "?")})
        folder = project / "data/ask_llms/mock/toy"
        write_table(replies.assign(failed=False, error=""), folder / "replies.parquet")
        write_model_facts(ModelFacts("an-llm", "instructed", None, ""), folder)
        run_script("judge_replies", "judge", {"llm": "mock"})
        return built, run_script("report_prompts", "report", {})


def test_every_set_is_counted_and_every_repair_has_its_file(report):
    built, _ = report
    assert set(built.tables["questions"]["set"]) == {"templatic", "challenge", "reasoning", "free-form", "official"}
    repairs = built.tables["repairs"]
    assert set(repairs["file"]) == {"official/toy"}
    assert repairs["line"].tolist() == [1, 3]
    assert repairs["what"].iloc[0].startswith("no item has the test Recency Bias, Vocabulary Bias")
    assert repairs["what"].iloc[1] == "'?.' at the end of the text was read as '?'"
    assert built.counts["repairs"] == 2


def test_sets_are_judged_apart(report):
    _, reported = report
    by_test = reported.tables["tables/accuracy_by_test"]
    assert by_test.groupby("set")["test"].nunique().to_dict() == {"official": 2, "reasoning": 8}
    assert set(reported.tables["tables/accuracy_answerable"]["set"]) == {"official", "reasoning"}
    assert {"free-form", "official"} <= set(reported.tables["accuracy"]["set"])
    panels = [axes.get_title() for axes in reported.figures["figures/reasoning_tests"].axes]
    assert panels == ["toy, official", "toy, reasoning"]
    shown = [axes.get_title() for axes in reported.figures["figures/inference_beside_published"].axes]
    assert set(shown) == {"CxNLI", "CxNLI challenge", "CxNLI freeform"}


def test_the_best_prompt_stands_above_the_published_best_and_the_mean_below(report):
    table = report[1].tables["tables/inference_beside_published"]
    own = table[(table["set"] == "CxNLI") & (table["shots"] == 0) & ~table["chain_of_thought"].astype(bool)]
    assert own["over_prompts"].tolist() == ["best prompt"] * 6 + ["mean over prompts"]
    assert own["source"].iloc[[0, 1, -1]].tolist() == ["this run", "Scivetti et al. 2025, Table 2", "this run"]
    assert own["prompt"].iloc[[0, -1]].tolist() == ["expert", "all 3"]
    assert own["accuracy"].iloc[0].startswith("100.0 (")
    assert own["accuracy"].iloc[-1].startswith("33.3 (")
    assert own["n"].iloc[[0, -1]].tolist() == ["6", "18"]


def test_the_best_prompt_of_multiple_choice_is_that_over_all_constructions(report):
    table = report[1].tables["tables/reasoning_beside_published"]
    ours = table[table["source"] == "this run"]
    assert ours.groupby("items")["construction"].agg(set).to_dict() == {
        "official": {"toy", "all"},
        "reasoning": {"toy", "all"},
    }
    best = ours[ours["over_prompts"] == "best prompt"]
    assert set(best["prompt"]) == {"plain"}
    assert best["accuracy"].str.startswith("100.0 (").all()
    assert ours.loc[ours["over_prompts"] == "mean over prompts", "accuracy"].str.startswith("50.0 (").all()
    assert set(table.loc[table["source"] != "this run", "over_prompts"]) == {"best prompt"}


def test_every_prompt_has_a_row_beside_those_of_the_paper(report):
    table = report[1].tables["tables/every_prompt_beside_published"]
    assert set(table["over_prompts"]) == {"one prompt"}
    paper = table[table["source"].str.startswith("Scivetti")]
    assert sorted(set(paper["source"])) == [f"Scivetti et al. 2025, Table {number}" for number in (10, 11, 9)]
    assert paper.groupby(["set", "model"])["prompt"].nunique().eq(7).all()
    ours = table[(table["source"] == "this run") & (table["items"] == "templatic")]
    assert dict(zip(ours["prompt"], ours["accuracy"].str.partition(" ")[0], strict=True)) == {
        "expert": "100.0",
        "long": "0.0",
        "short": "0.0",
    }


def test_free_form_hypotheses_stand_next_to_templatic_ones(report):
    table = report[1].tables["tables/free_form_beside_templatic"]
    ours = table[table["source"] == "this run"]
    assert ours["set"].tolist() == ["CxNLI", "CxNLI-freeform"] * 2
    assert ours["items"].tolist() == ["templatic", "free-form"] * 2
    paper = table[(table["source"] != "this run") & (table["shots"] == 0) & ~table["chain_of_thought"].astype(bool)]
    first = paper.groupby("model", sort=False)["set"].agg(list)
    assert first["gpt-4o-2024-05-13"] == ["CxNLI", "CxNLI-freeform"]
    sources = set(paper["source"])
    assert {"Scivetti et al. 2025, Table 2", "Scivetti et al. 2025, Table 6"} <= sources
