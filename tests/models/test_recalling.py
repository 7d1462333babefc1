"""Answers are read back from what an earlier run wrote: whoever has pulled outputs pays for what is new alone."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from counted import count_rows
from model_folders import change, save_sound, spec
from scored import measured
from tiny_lms import sentences_that_begin_alike

from conftest import run
from cxprobe.files.arrays import read_features
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import SCRATCH
from cxprobe.models.embedding import embed_texts, load_encoder
from cxprobe.models.scoring import load_language_model, measure_texts
from cxprobe.models.texts import ScoringConfig, token_scores_of
from cxprobe.segmentation import Span
from cxprobe.tasks.scenarios.measure import fill_masks

pytestmark = pytest.mark.pipeline

OUTPUT = Path("data/score/tiny")
OLD = sentences_that_begin_alike()[:20]
NEW = [*OLD[5:], "the king waits today", "the old queen sings"]
DVC = f"stages: {{score: {{cmd: 'true', outs: [{OUTPUT}]}}}}"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A project of DVC with one stage."""
    monkeypatch.chdir(tmp_path)
    run(tmp_path, "git", "init", "--quiet")
    run(tmp_path, "dvc", "init", "--quiet")
    Path("dvc.yaml").write_text(DVC)
    for kind in ("bert", "gpt2"):
        save_sound(tmp_path, kind)
    return tmp_path


def commit():
    """Let DVC keep the output as after a run; then take away what no clone has, and what DVC removes before a run."""
    run(Path.cwd(), "dvc", "commit", "--quiet", "--force")
    shutil.rmtree(SCRATCH)
    shutil.rmtree(OUTPUT)


def scored(kind, texts, bos="as_tokenizer"):
    """Score texts as a stage does; return the table, and how many tokens the model computed."""
    model = measured("tiny", spec(kind, bos=bos), load_language_model)
    seen = count_rows(model.loaded)
    how = ScoringConfig(["pll", "pll_word_l2r"], 24)
    places = {text: 3 * (number % 2) for number, text in enumerate(texts)}
    assert measure_texts(model, [places], how, OUTPUT / "part")
    return token_scores_of(read_table(OUTPUT / "part" / "tokens.parquet")), seen.tokens


def embedded(kind, texts, end=None):
    """Embed texts, or their spans up to a character."""
    model = measured("tiny", spec(kind), load_encoder)
    seen = count_rows(model.loaded)
    spans = end and {"a": [Span(0, end)] * len(texts)}
    how = {"token_budget": 96, "folder": OUTPUT}
    assert embed_texts(model, {"a": texts}, spans=spans, **how)
    return read_features(OUTPUT / "a").vectors.copy(), seen.rows


def filled(kind, texts):
    model = measured("tiny", spec(kind), load_language_model)
    seen = count_rows(model.loaded)
    masked = pd.DataFrame({"text": [f"the [MASK] cat: {text}" for text in texts], "first": "old", "second": "young"})
    scores, _ = fill_masks(model, {"toy": masked}, 96, OUTPUT)
    write_table(scores, OUTPUT / "scores.parquet")
    return scores[["log_p_first", "log_p_second"]].to_numpy(), seen.rows


def numbers(found):
    return np.concatenate([one.log_probs for one in found]) if isinstance(found, list) else found


@pytest.mark.parametrize(
    ("measure", "kind"), [(scored, "bert"), (scored, "gpt2"), (embedded, "bert"), (embedded, "gpt2"), (filled, "bert")]
)
def test_what_was_pulled_is_not_computed_again_and_the_numbers_are_the_same(measure, kind):
    old, every = measure(kind, OLD)
    commit()
    found, rows = measure(kind, OLD)
    assert rows == 0
    np.testing.assert_array_equal(numbers(found), numbers(old))
    commit()
    found, rows = measure(kind, NEW)
    assert 0 < rows < every / 2
    shutil.rmtree(SCRATCH)
    shutil.rmtree(OUTPUT)
    Path("dvc.lock").unlink()
    np.testing.assert_allclose(numbers(found), numbers(measure(kind, NEW)[0]), atol=1e-5)


def test_answers_to_another_question_of_another_model_or_of_damaged_files_are_computed_anew():
    _, every = scored("gpt2", OLD)
    _, vectors = embedded("bert", OLD)
    commit()
    assert scored("gpt2", OLD, bos="add")[1] >= len(OLD)
    change(Path("bert/config.json"), hidden_act="relu")
    shutil.rmtree(SCRATCH)
    assert embedded("bert", OLD)[1] == vectors
    for path in Path(".dvc/cache/files/md5").rglob("*"):
        if path.is_file() and path.read_bytes()[:4] == b"PAR1":
            path.chmod(0o644)
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
    shutil.rmtree(SCRATCH)
    assert scored("gpt2", OLD)[1] == every


def test_vectors_of_spans_that_were_pulled_are_those_of_the_same_spans():
    vectors, every = embedded("bert", OLD, end=3)
    commit()
    found, rows = embedded("bert", OLD, end=3)
    assert rows == 0
    np.testing.assert_array_equal(found, vectors)
    commit()
    other, rows = embedded("bert", OLD, end=7)
    assert rows == every
    assert np.abs(other - vectors).max() > 1e-3
    commit()
    assert embedded("bert", OLD)[1] == every
