"""The golden run: a part of the recorded rates of each task is what the stages compute with bundled models."""

from pathlib import Path

import pandas as pd
import pytest
from ruamel.yaml import YAML
from stage_work import do_work, measure

from conftest import ROOT
from cxprobe.cli.init import preset_text
from cxprobe.files.tables import read_table
from cxprobe.project.params import load_params
from cxprobe.results.schema import as_written, facet_columns

pytestmark = pytest.mark.pipeline
CC, LEARNT = "comparative-correlative", "subject-verb-agreement"
KEYS = ["model", "construction", "source", "measure"]


# Task -> the preset, the part of the section that is run again, its entry of models, and whose rates are compared.
PARTS = {
    "recognition": ("quick", {"constructions": {CC: ["generated"]}}, "baselines-recognition", "bag-of-words"),
    "scenarios": ("quick", {"constructions": ["let-alone"]}, "mini-mlm", "mini-mlm"),
    "contrasts": ("further", {"constructions": ["resultative"]}, "taught-clm", "taught-clm"),
    "pairs": ("further", {"constructions": ["resultative"], "llms": {}}, "taught-clm", "taught-clm"),
    "prompts": ("further", {"llms": {}}, "baselines-prompts", "hypothesis-by-premise"),
    "interventions": ("further", {"constructions": [LEARNT], "make": {"learn": [LEARNT]}}, "taught-clm", "taught-clm"),
}


@pytest.mark.parametrize("task", PARTS)
def test_rates_in_git_are_computed_again(task, tmp_path, monkeypatch):
    preset, section, entry, model = PARTS[task]
    content = YAML(typ="safe").load(preset_text(preset, ROOT / "presets"))
    made = content[task].get("make", {}) | section.get("make", {})
    content[task] |= {**section, "models": {entry: content[task]["models"][entry]}, "make": made}
    for name in ("constructions", "lexicon", "models", "prompts", "published"):
        (tmp_path / name).symlink_to(ROOT / name)
    YAML().dump(content, tmp_path / "params.yaml")
    monkeypatch.chdir(tmp_path)
    params = load_params(Path("params.yaml"), Path("constructions")).params_of(task)
    do_work("make", task, params)
    assert not measure(task, params, entry).faults
    outcome = do_work("evaluate", task, params)
    assert not outcome.faults
    computed = outcome.tables["rates"].set_index("model").loc[[model]].reset_index()
    recorded = as_written(read_table(ROOT / f"recorded/{preset}.csv")).query("task == @task and construction != 'all'")
    both = computed.merge(recorded, on=[*KEYS, *facet_columns(computed)], suffixes=("", "_recorded"))
    assert not both.empty
    for column in ("value", "n"):
        recorded_values = pd.to_numeric(both[f"{column}_recorded"]).to_numpy()
        assert pd.to_numeric(both[column]).to_numpy() == pytest.approx(recorded_values, abs=0.02, nan_ok=True)
