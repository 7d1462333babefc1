"""What baselines get on pairs before any run."""

import pytest

from conftest import ROOT
from cxprobe.project.params import load_params
from cxprobe.tasks.pairs.preview import baseline_rates

OUTCOME = ROOT / "constructions" / "control-outcome" / "pairs.yaml"  # "nobody knows" or "everyone saw"


@pytest.mark.parametrize(("tests", "answered"), [("meaning", ["A", "B"]), ("control", [])])
def test_a_variant_of_meaning_that_single_words_answer_is_said_to_ask_nothing(tests, answered, tmp_path, monkeypatch):
    path = tmp_path / "constructions" / "told" / "pairs.yaml"
    path.parent.mkdir(parents=True)
    constructions = [f"constructions/{one.name}" for one in OUTCOME.parents[1].iterdir()]
    for part in ("lexicon", "models", "params.yaml", *constructions):
        (tmp_path / part).symlink_to(ROOT / part)
    path.write_text(OUTCOME.read_text().replace("tests: control", f"tests: {tests}"))
    monkeypatch.chdir(tmp_path)
    rates = baseline_rates("told", load_params())
    said = rates[rates["items"].str.contains("single words answer it")]
    assert [items.split()[3] for items in said["items"]] == answered
    assert set(said["model"]) <= {"trained-bag-of-words"}
    assert (said["low"] > 0.5).all()
