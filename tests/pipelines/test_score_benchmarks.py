"""Benchmarks of others as a stage: what would go missing is refused before a model is read."""

import importlib.util
import json

import pytest

from conftest import ROOT
from cxprobe.errors import DataError
from cxprobe.params import Benchmark, load_params
from cxprobe.stage import Stage


@pytest.mark.parametrize("score", ["given_context", "pmi"])
def test_a_score_that_needs_a_context_is_refused_where_a_pair_has_none(tmp_path, monkeypatch, score):
    raw = tmp_path / "data" / "raw" / "own"
    raw.mkdir(parents=True)
    rows = [
        {"id": "with", "context": "Ann sang.", "good": "She sang.", "bad": "She slept.", "kind": "x"},
        {"id": "without", "context": "", "good": "She sings.", "bad": "She sing.", "kind": "x"},
    ]
    (raw / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location("score_benchmarks", ROOT / "pipelines" / "score_benchmarks.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "load_language_model", lambda *_: pytest.fail("a model was read"))
    params = load_params(ROOT / "presets" / "embedded.yaml", ROOT / "constructions")
    own = Benchmark(format="pairs", files="*.jsonl", by=["kind"], score=score, pairs_per_file=None)
    params = params.model_copy(update={"benchmarks": {"own": own}})
    stage = Stage("score_benchmarks", {"model": "mini-mlm", "benchmark": "own"}, params)
    with pytest.raises(
        DataError, match=rf"score is {score}, which needs a context; 1 of 2 pairs have none, such as without"
    ):
        script.score_benchmarks(stage)
