"""The commands ``cxprobe compare`` and ``cxprobe score``, as they are typed, in a folder that is no project."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import cxprobe
from cxprobe.cli import app
from cxprobe.results.schema import RATES

SENTENCES = "The more, the merrier.\nShe smiles.\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text(SENTENCES)


@pytest.fixture(scope="module")
def lm():
    return cxprobe.load("mini-clm", device="cpu")


def run(*words, given=None):
    return CliRunner().invoke(app, [*words, "--model", "mini-clm", "--device", "cpu"], input=given)


def typed(*words):
    return run("compare", *words)


def test_compare_says_the_rate_with_its_interval_and_groups(tmp_path):
    (tmp_path / "p.tsv").write_text("good\tbad\tverb\nShe sleeps.\tShe sleep.\ta\nHe runs.\tHe run.\tb\n")
    done = typed("p.tsv", "--by", "verb", "-o", "out.tsv")
    assert done.exit_code == 0, done.output
    first, second = done.stdout.splitlines()[:2]
    assert first.endswith("n = 2, not clustered (no two pairs share a cluster)")
    assert "rests on 2 clusters; with fewer than 6" in second
    assert set(pd.read_csv(tmp_path / "out.tsv", sep="\t")["accuracy"]) <= {0.0, 0.5, 1.0}
    done = typed("p.tsv", "--by", "vreb")
    assert done.exit_code == 2
    assert "there is no column 'vreb'; did you mean 'verb'?" in done.stderr


def test_the_columns_of_blimp_are_pairs_and_are_compared_as_in_the_pipeline(tmp_path, lm):
    row = {"sentence_good": "The dogs sleep.", "sentence_bad": "The dogs sleeps so.", "UID": "agreement"}
    (tmp_path / "blimp.jsonl").write_text(json.dumps(row) + "\n")
    assert typed("blimp.jsonl", "-o", "out.jsonl").exit_code == 0
    [found] = pd.read_json(tmp_path / "out.jsonl", lines=True).to_dict("records")
    expected = lm.compare([row["sentence_good"]], [row["sentence_bad"]], score="per_token").table["margin"]
    assert found["margin"] == pytest.approx(expected[0], abs=1e-5)


def test_a_file_with_conditions_has_contrasts_and_a_verdict(tmp_path):
    lines = ["good\tbad\tframe\tcondition"]
    for frame, verb in enumerate(["sleep", "run", "walk"]):
        good, bad = f"The dogs {verb}.", f"The dogs {verb}s."
        for condition, texts in {"construction": (good, bad), "control": (good, bad), "neutral": (bad, good)}.items():
            lines.append("\t".join([*texts, str(frame), condition]))
    (tmp_path / "mine.tsv").write_text("\n".join(lines) + "\n")
    done = typed("mine.tsv")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("accuracy by sum ")
    assert "less_neutral" in done.stdout
    assert "verdict on the contrasts: none with 3 frames; it takes 16" in done.stdout


def test_a_construction_is_shown_with_its_form_meaning_control_and_baseline():
    done = typed("conative", "--frames", "2", "-o", "rates.csv")
    assert done.exit_code == 0, done.output
    head, row = done.stdout.splitlines()[1:3]
    assert head.split() == ["construction", "form", "best", "baseline", "meaning", "adds", "control"]
    assert row.startswith("conative ")
    assert "A verdict needs --all" in done.stdout
    assert "A verdict on meaning needs --frames 16, and as many rows of held_out; 2 were asked" in done.stdout
    rates = pd.read_csv("rates.csv", keep_default_na=False)
    assert {*RATES, "condition"} <= {*rates}
    assert {"conative", "conative-form"} <= {*rates["construction"]}


def test_two_models_have_a_table_each_and_one_of_their_differences_and_the_rates_are_written(tmp_path):
    done = typed("conative", "--frames", "2", "-o", "rates.csv", "--model", "taught-clm")
    assert done.exit_code == 0, done.output
    titles = [line for line in done.stdout.splitlines() if line.endswith(":")]
    assert titles[:2] == ["taught-clm:", "mini-clm:"]
    assert titles[2].startswith("taught-clm less mini-clm, on the same items")
    assert "seconds, by a short trial" in done.stderr
    assert {"taught-clm", "mini-clm"} <= {*pd.read_csv("rates.csv")["model"]}


def test_a_second_model_that_cannot_be_loaded_is_told_before_the_first_is_measured(monkeypatch):
    monkeypatch.setattr(cxprobe.Survey, "measure", lambda *_: pytest.fail("it was measured"))
    done = CliRunner().invoke(app, ["compare", "conative", "--model", "mini-clm", "--model", "./nowhere"])
    assert isinstance(done.exception, SystemExit)
    assert "nowhere" in done.stderr


def test_what_cannot_be_compared_is_told_before_pytorch_is_loaded(tmp_path):
    (tmp_path / "mine.tsv").write_text("right\tbad\na\tb\n")
    faults = {
        "conativ": "no file of pairs and no construction; did you mean 'conative'?",
        "let_alone": "no file of pairs and no construction; did you mean 'let-alone'?",
        "--all mine.tsv": "name a file or a construction, or give --all",
        "conative --score sum": "--score: goes with a file of pairs",
        "mine.tsv": "there is no column 'good'",
    }
    code = f"""
import sys
from cxprobe.cli import app
for words in {[*faults]}:
    try: app(["compare", *words.split(), "--model", "mini-clm"])
    except SystemExit as ended: print(ended.code)
print("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [*["2"] * 5, "False"]
    for told, said in zip(done.stderr.splitlines(), faults.values(), strict=True):
        assert said in told


def test_score_prints_a_table_of_the_scores(lm):
    done, of_input = run("score", "mine.txt"), run("score", "-", given=SENTENCES)
    assert (done.exit_code, done.stdout) == (0, of_input.stdout), done.output
    table = pd.read_csv(io.StringIO(done.stdout), sep="\t")
    np.testing.assert_allclose(table["sum"], lm.score(SENTENCES.splitlines())["sum"], atol=1e-5)
    assert table["text"].tolist() == SENTENCES.splitlines()


def test_score_keeps_the_columns_of_a_table(tmp_path):
    (tmp_path / "mine.csv").write_text("id,sentence\na,She smiles.\n")
    assert run("score", "mine.csv", "-o", "out.jsonl").exit_code == 0
    assert {"id", "sum", "per_token", "tokens"} <= set(pd.read_json(tmp_path / "out.jsonl", lines=True).columns)
    (tmp_path / "mine.csv").write_text("sum,sentence\na,She smiles.\n")
    done = run("score", "mine.csv")
    assert done.exit_code == 2
    assert "has the columns sum already" in done.stderr


def test_words_have_a_row_each(tmp_path, lm):
    done = run("score", "mine.txt", "--by", "word", "-o", "out.parquet")
    assert done.exit_code == 0, done.output
    expected = lm.surprisal(SENTENCES.splitlines())
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), expected, check_dtype=False, atol=1e-4)
