"""The commands for a file of texts, as they are typed, in a folder that is no project."""

import io

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import cxprobe
from cxprobe.cli import app

SENTENCES = "The more, the merrier.\nShe smiles.\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text(SENTENCES)


@pytest.fixture(scope="module")
def lm():
    return cxprobe.load("mini-clm", device="cpu")


def typed(*words, given=None):
    return CliRunner().invoke(app, [*words], input=given)


@pytest.mark.parametrize("given", [None, SENTENCES])
def test_score_prints_a_table_of_the_scores(lm, given):
    done = typed("score", "-" if given else "mine.txt", "--model", "mini-clm", "--device", "cpu", given=given)
    assert done.exit_code == 0, done.output
    table = pd.read_csv(io.StringIO(done.stdout), sep="\t")
    np.testing.assert_allclose(table["sum"], lm.score(SENTENCES.splitlines())["sum"], atol=1e-5)
    assert table["text"].tolist() == SENTENCES.splitlines()


def test_score_keeps_the_columns_of_a_table(tmp_path):
    (tmp_path / "mine.csv").write_text("id,sentence\na,She smiles.\n")
    assert typed("score", "mine.csv", "--model", "mini-clm", "-o", "out.jsonl").exit_code == 0
    assert {"id", "sum", "per_token", "tokens"} <= set(pd.read_json(tmp_path / "out.jsonl", lines=True).columns)
    (tmp_path / "mine.csv").write_text("sum,sentence\na,She smiles.\n")
    done = typed("score", "mine.csv", "--model", "mini-clm")
    assert done.exit_code == 2
    assert "has the columns sum already" in done.stderr


def test_words_have_a_row_each(tmp_path, lm):
    done = typed("score", "mine.txt", "--model", "mini-clm", "--by", "word", "-o", "out.parquet", "--device", "cpu")
    assert done.exit_code == 0, done.output
    expected = lm.surprisal(SENTENCES.splitlines())
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), expected, check_dtype=False, atol=1e-4)
