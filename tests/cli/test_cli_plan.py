"""`cxprobe plan`: counts against what the make stages make of the same files."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PEOPLE, ROOT, change_params, project_environment, shrink, write_toy_construction
from cxprobe.cli.plan import plan, plan_of
from cxprobe.constructions.people import load_people
from cxprobe.errors import CxprobeError
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import build_pairs
from cxprobe.run.params import load_params
from cxprobe.scenarios.make import enumerate_items, fill_texts
from cxprobe.scenarios.rules import load_scenarios

HEAVY = {"datatrove", "mlflow", "pytorch_lightning", "transformers"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder with all that `cxprobe plan` reads."""
    write_toy_construction(tmp_path / "constructions")
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "lexicon" / "people.yaml").write_text(PEOPLE)
    for name in ("prompts", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    change_params(tmp_path, ROOT / "presets" / "embedded.yaml", shrink)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(folder, edit):
    change_params(folder, folder / "params.yaml", edit)


def made(folder):
    return {(one.stage, one.what): (one.number, one.about) for one in plan_of(folder / "params.yaml").made}


def texts(folder, stage):
    found = plan_of(folder / "params.yaml")
    return {one.model: one.texts for one in found.measured if one.stage == stage}


def test_pairs_and_their_texts_are_those_that_are_built(folder):
    params = load_params()
    pairs = build_pairs("toy", load_pairs("toy", load_people()), load_people(), params.build_pairs, params.seed).pairs
    members = {context + end for context, *ends in pairs[["context", "good", "bad"]].to_numpy() for end in ends}
    ends = {end.strip() for end in (*pairs["good"], *pairs["bad"])}
    assert made(folder)["build_pairs", "pairs of toy"] == (len(pairs), False)
    assert texts(folder, "score_pairs") == {"mlm": len(members | ends), "clm": len(members | ends)}


def test_scenarios_are_counted_as_they_are_built(folder):
    scenarios = load_scenarios("toy")
    items = enumerate_items(scenarios, share=1.0, seed=load_params().seed)
    built = fill_texts(scenarios, items, seed=load_params().seed)
    assert made(folder)["build_scenarios", "texts of toy"] == (len(built), False)
    assert texts(folder, "fill_scenarios") == {"mlm": built["text"].nunique()}


def test_sentences_beyond_a_sample_are_estimated_in_proportion(folder):
    exact = made(folder)["build_recognition", "sentences of toy, generated"]

    def more(params):
        params["generate_sentences"]["per_label"] = 60
        params["build_recognition"]["generated"] |= {"train_per_label": 60, "test_per_label": 60}

    change(folder, more)
    number, about = made(folder)["build_recognition", "sentences of toy, generated"]
    assert not exact[1]
    assert about
    assert number == pytest.approx(10 * exact[0], rel=0.2)


def test_questions_are_counted_as_items_times_settings(folder):
    def edit(params):
        params["build_prompts"] |= {"premises": None, "chain_of_thought": [False]}

    change(folder, edit)
    single = made(folder)["build_prompts", "questions on toy"][0]
    change(folder, lambda params: params["build_prompts"].update(chain_of_thought=[False, True]))
    assert made(folder)["build_prompts", "questions on toy"] == (2 * single, False)
    (asked,) = plan_of(folder / "params.yaml").asked
    assert asked.requests == 2 * single


def test_a_file_that_is_not_imported_is_estimated_from_its_known_size_and_told(folder):
    before = plan_of(folder / "params.yaml").asked[0]
    file = "data/cxnli/CxNLI/CxNLI_3_examples_test.tsv"
    change(folder, lambda params: params["build_prompts"].update(files={"cxnli": file}))
    found = plan_of(folder / "params.yaml")
    assert found.asked[0].about
    assert found.asked[0].requests > before.requests
    assert any("CxNLI_3_examples_test.tsv (set cxnli) is not imported" in note for note in found.notes)
    change(folder, lambda params: params["build_prompts"].update(files={"other": "data/other.tsv"}))
    found = plan_of(folder / "params.yaml")
    assert found.asked[0].requests == before.requests
    assert any("docs/plan.yaml has no size of it: not counted" in note for note in found.notes)


@pytest.mark.parametrize("own", [["templatic"], ["templatic", "reasoning"]])
def test_multiple_choice_that_is_not_imported_is_estimated_whether_own_items_are_asked_or_not(folder, own):
    change(folder, lambda params: params["build_prompts"].update(sets=own))
    settings = load_params().build_prompts
    each = 3 * len(settings.reasoning_prompts) * len(settings.chain_of_thought)  # in three orders
    before = plan_of(folder / "params.yaml").asked[0].requests
    content = {"format": "reasoning", "rows": None, "doubtful": "keep"}
    content["constructions"] = {"toy": "data/way_manner_QA_CxReasoning.tsv"}
    change(folder, lambda params: params["build_prompts"].update(files={"choice": content}))
    assert plan_of(folder / "params.yaml").asked[0].requests == before + 140 * each


def test_a_subset_that_is_not_imported_is_as_large_as_the_file_that_chooses_it(folder):
    change(folder, lambda params: params["build_prompts"].update(sets=["reasoning"]))
    settings = load_params().build_prompts
    each = 3 * len(settings.reasoning_prompts) * len(settings.chain_of_thought)
    before = plan_of(folder / "params.yaml").asked[0].requests
    chooses = "data/comparative_correlative_let_alone_way_manner_prompt_test.tsv"
    content = {"format": "reasoning", "rows": chooses, "doubtful": "keep", "constructions": {"toy": "data/any.tsv"}}
    change(folder, lambda params: params["build_prompts"].update(files={"choice": content}))
    assert plan_of(folder / "params.yaml").asked[0].requests == before + 114 * each


def test_an_imported_file_is_counted_item_by_item_unless_imports_are_left_out(folder):
    rows = ["CxN Type\tNumber\tP/H/R\tAnnotation Targets"]
    for number in range(3):
        rows += [f"toy\t{number}\tpremise\tThe dog {number} ran.", f"\t{number}\thypothesis\tIt moved {number} times."]
        rows.append(f"\t{number}\trelation\t1 (neutral)")
    (folder / "data").mkdir()
    (folder / "data" / "own.tsv").write_text("\n".join(rows) + "\n")
    before = plan_of(folder / "params.yaml").asked[0].requests
    change(folder, lambda params: params["build_prompts"].update(files={"own": "data/own.tsv"}))
    settings = load_params().build_prompts
    each = len(settings.inference_prompts) * len(settings.shots) * len(settings.chain_of_thought)
    assert plan_of(folder / "params.yaml").asked[0].requests == before + 3 * each
    assert plan_of(folder / "params.yaml", imports=False).asked[0].requests == before


def test_a_benchmark_that_is_not_there_has_its_known_size(folder):
    def edit(params):
        params["grid"]["benchmarks"] = {"models": ["clm"], "llms": [], "benchmarks": ["blimp"]}

    change(folder, edit)
    assert made(folder)["build_benchmarks", "pairs of blimp"] == (67_000, True)
    (folder / "data" / "raw" / "blimp").mkdir(parents=True)
    row = '{"sentence_good": "A dog runs.", "sentence_bad": "A dog run.", "field": "syntax", '
    row += '"linguistics_term": "agreement", "UID": "toy", "pairID": "0"}\n'
    (folder / "data" / "raw" / "blimp" / "toy.jsonl").write_text(row)
    assert made(folder)["build_benchmarks", "pairs of blimp"] == (1, False)
    assert texts(folder, "score_benchmarks") == {"clm": 2}


def requests(folder):
    return {(one.stage, one.llm): (one.requests, one.about) for one in plan_of(folder / "params.yaml").asked}


def test_every_pair_is_asked_about_twice_and_as_many_as_are_drawn(folder):
    def edit(params):
        params["grid"]["pairs"]["llms"] = ["mock"]
        params["ask_pairs"]["pairs_per_construction"] = None

    change(folder, edit)
    whole = made(folder)["build_pairs", "pairs of toy"][0]
    assert requests(folder)["ask_pairs", "mock"] == (2 * whole, False)
    change(folder, lambda params: params["ask_pairs"].update(pairs_per_construction=3))
    assert requests(folder)["ask_pairs", "mock"] == (2 * 2 * 3, False)  # with real words and with pseudowords


def test_a_benchmark_is_asked_about_by_group_or_as_a_whole_where_it_is_not_there(folder):
    def edit(params):
        params["grid"]["benchmarks"] = {"models": [], "llms": ["mock"], "benchmarks": ["blimp"]}
        params["ask_pairs"]["pairs_per_construction"] = 1

    change(folder, edit)
    assert requests(folder)["ask_benchmarks", "mock"] == (2 * 67_000, True)
    assert any("blimp: its groups are not known" in note for note in plan_of(folder / "params.yaml").notes)
    (folder / "data" / "raw" / "blimp").mkdir(parents=True)
    rows = [
        f'{{"sentence_good": "A dog {of}.", "sentence_bad": "A dog {of}s.", "field": "syntax", '
        f'"linguistics_term": "{of}", "UID": "toy", "pairID": "{number}"}}'
        for number, of in enumerate(("run", "run", "sit"))
    ]
    (folder / "data" / "raw" / "blimp" / "toy.jsonl").write_text("\n".join(rows))
    assert requests(folder)["ask_benchmarks", "mock"] == (2 * 2, False)


def test_the_command_prints_a_plan_of_any_preset(folder, capsys):
    for name in ("constructions", "lexicon"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    plan(ROOT / "presets" / "pairs.yaml")
    page = capsys.readouterr().out
    assert page.startswith(f"What {ROOT}/presets/pairs.yaml asks for\n")
    assert "measure  score_pairs 2" in page
    assert "build_recognition" not in page


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("docs/plan.yaml", "models: [", "docs/plan.yaml, line"),
        ("params.yaml", "seed: [", "params.yaml, line"),
        ("dvc.yaml", "stages: [", "dvc.yaml, line"),
        ("constructions/toy/pairs.yaml", "tests: [", "constructions/toy/pairs.yaml, line"),
    ],
)
def test_a_damaged_file_is_told_and_nothing_is_planned(folder, file, text, message):
    (folder / file).write_text(text)
    with pytest.raises(CxprobeError) as fault:
        plan_of(Path("params.yaml"))
    assert str(fault.value).startswith(message)


@pytest.mark.pipeline
def test_no_model_is_needed_nor_any_package_that_runs_one(folder):
    code = (
        "import sys; from pathlib import Path; from cxprobe.cli.plan import plan; plan(Path('params.yaml'));"
        f"print(*sorted(set(sys.modules) & {HEAVY}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=project_environment(ROOT), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == ""
