"""The data set for the Hugging Face hub: `datasets` loads it without a network; the card says what it is."""

import shutil
from pathlib import Path

import datasets
import pandas as pd
import pytest
from command_line import call
from exported_project import MEANING, PAIRS
from huggingface_hub import DatasetCard

from cxprobe.tasks.registry import TASKS

pytestmark = pytest.mark.pipeline

pytest_plugins = ["exported_project"]


@pytest.fixture
def project(made_project, tmp_path, monkeypatch):
    """A copy of the small project, which is the working directory; nothing is fetched."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    monkeypatch.chdir(shutil.copytree(made_project[0], tmp_path / "project"))


@pytest.fixture
def said(project):
    """What the command prints, which has written the folder hf."""
    return export("hf", "hf")


def export(*words, code=0):
    found, output = call("export", *words)
    assert found == code, output
    return output


def load(name, split="test"):
    return datasets.load_dataset("hf", name, split=split, cache_dir="cache")


def test_every_configuration_loads_by_its_name_with_the_rows_of_the_project(said):
    loaded = load("pairs")
    names = loaded.features["construction"].names
    rows = loaded.to_pandas()
    assert f"pairs: {len(rows):,} rows" in said
    for name in PAIRS:
        own = pd.read_parquet(f"data/make_pairs/{name}.parquet")[["id", "context", "good", "bad"]]
        found = rows.loc[rows["construction"] == names.index(name), list(own)]
        assert found.to_numpy().tolist() == own.to_numpy().tolist()
    items = pd.read_parquet(f"data/make_prompts/{MEANING}/items.parquet")
    for configuration, kind in (("nli", "inference"), ("reasoning", "reasoning")):
        assert load(configuration)["id"] == items.loc[items["kind"] == kind, "id"].tolist()
    texts = pd.read_parquet(f"data/make_scenarios/{MEANING}/texts.parquet")
    assert load("scenarios")["text"] == texts["text"].tolist()


def test_labels_are_class_labels_and_lists_are_lists(said):
    nli, reasoning, pairs = (load(name).features for name in ("nli", "reasoning", "pairs"))
    assert nli["label"].names == ["entailment", "neutral", "contradiction"]
    assert reasoning["label"].names == ["A", "B", "C"]
    assert reasoning["options"] == datasets.List(datasets.Value("string"))
    assert pairs["clusters"] == datasets.List(datasets.Value("string"))
    assert load("sentences", "train").features["label"].names == ["negative", "positive"]


def test_mined_sentences_stay_out_and_it_is_said(said):
    texts = {row["id"] for split in ("train", "test") for row in load("sentences", split)}
    assert texts == {f"{split}-{label}-generated" for split in ("train", "test") for label in ("positive", "negative")}
    assert "left out: Mined sentences" in said
    assert "Mined sentences" in Path("hf/README.md").read_text()


def test_the_hub_reads_the_header_of_the_card_and_the_card_describes_the_data(said):
    card = DatasetCard.load("hf/README.md")
    assert (card.data.license, card.data.language) == ("mit", ["en"])
    names = {one["config_name"] for one in card.data.configs}
    assert names == {"pairs", "nli", "reasoning", "sentences", "scenarios"}
    rows = sum(len(load(one["config_name"], part["split"])) for one in card.data.configs for part in one["data_files"])
    assert card.data.size_categories == ["n<1K" if rows < 1000 else "1K<n<10K"]
    for name in names - {"sentences"}:  # whose features are described together
        assert all(f"| `{column}` |" in card.text for column in load(name).column_names)
    assert f"| {MEANING} | {len(pd.read_parquet(f'data/make_pairs/{MEANING}.parquet'))} |" in card.text
    assert "No person has judged the items" in card.text


def test_items_of_other_people_stay_out(project, made_params):
    path = f"data/make_prompts/{MEANING}/items.parquet"
    own = pd.read_parquet(path)
    pd.concat([own, own[own["kind"] == "inference"].iloc[[0]].assign(id="asked", set="cxnli")]).to_parquet(path)
    found = TASKS["prompts"].export(made_params).tables["nli"]["id"].tolist()
    assert found == own.loc[own["kind"] == "inference", "id"].tolist()


def test_what_has_not_been_made_is_left_out_and_named_and_nothing_at_all_is_refused(project):
    shutil.rmtree("data/make_prompts")
    assert "left out: prompts: data/make_prompts is missing" in export("hf", "hf")
    Path(f"data/make_pairs/{MEANING}.parquet").unlink()
    said = export("hf", "out", code=2)  # a file that is missing among others is no silent gap
    assert f"data/make_pairs/{MEANING}.parquet is missing" in said
    shutil.rmtree("data")
    for name in ("hf", "csv"):
        assert "dvc repro" in export(name, "out", code=2)
    assert not Path("out").exists()


def test_a_folder_that_has_something_in_it_is_refused_and_left_as_it_is(project):
    Path("full").mkdir()
    Path("full", "mine.txt").touch()
    assert "full: is there already" in export("hf", "full", code=2)
    assert [path.name for path in Path("full").iterdir()] == ["mine.txt"]
