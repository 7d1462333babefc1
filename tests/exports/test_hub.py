"""The data set for the Hugging Face hub: `datasets` loads it without a network; the card says what it is."""

import datasets
import pandas as pd
import pytest
from exported_project import MEANING, PAIRS
from huggingface_hub import DatasetCard

from cxprobe.errors import DataError
from cxprobe.exports.hub import card_text, parquet_files, read_configurations
from cxprobe.exports.project import write_files
from cxprobe.lines import LINES
from cxprobe.people.ratings import Rating

pytestmark = pytest.mark.pipeline

pytest_plugins = ["exported_project"]


@pytest.fixture
def found(made_params):
    """The configurations of the small project, and what is left out."""
    return read_configurations(made_params)


@pytest.fixture
def folder(found, made_params, tmp_path, monkeypatch):
    """The folder of an exported data set; nothing is fetched, and nothing is cached outside of it."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    configurations, left_out = found
    card = card_text(made_params, configurations, left_out)
    written = tmp_path / "hf"
    write_files(parquet_files(configurations) | {"README.md": card.encode()}, written)
    return written


def load(folder, name, split="test"):
    return datasets.load_dataset(str(folder), name, split=split, cache_dir=str(folder.parent / "cache"))


def test_every_configuration_loads_by_its_name_with_the_rows_of_the_project(folder, made_params):
    for name in PAIRS:
        own = pd.read_parquet(f"data/make_pairs/{name}.parquet")
        loaded = load(folder, "pairs").to_pandas()
        names = load(folder, "pairs").features["construction"].names
        rows = loaded[loaded["construction"] == names.index(name)]
        assert rows[["id", "context", "good", "bad"]].to_numpy().tolist() == (
            own[["id", "context", "good", "bad"]].to_numpy().tolist()
        )
    items = pd.read_parquet(f"data/make_prompts/{MEANING}/items.parquet")
    for configuration, kind in (("nli", "inference"), ("reasoning", "reasoning")):
        assert load(folder, configuration)["id"] == items.loc[items["kind"] == kind, "id"].tolist()
    texts = pd.read_parquet(f"data/make_scenarios/{MEANING}/texts.parquet")
    assert load(folder, "scenarios")["text"] == texts["text"].tolist()


def test_labels_are_class_labels_and_lists_are_lists(folder):
    nli, reasoning, pairs = (load(folder, name).features for name in ("nli", "reasoning", "pairs"))
    assert nli["label"].names == ["entailment", "neutral", "contradiction"]
    assert reasoning["label"].names == ["A", "B", "C"]
    assert reasoning["options"] == datasets.List(datasets.Value("string"))
    assert pairs["clusters"] == datasets.List(datasets.Value("string"))
    assert load(folder, "sentences", "train").features["label"].names == ["negative", "positive"]


def test_the_right_candidate_of_a_test_is_one_of_the_two_and_a_calibration_has_none(folder):
    rows = load(folder, "scenarios").to_pandas()
    tests = rows["right"] != ""
    assert 0 < tests.sum() < len(rows)
    assert all(row.right in list(row.candidates) for row in rows[tests].itertuples())


def test_mined_sentences_stay_out_and_the_card_says_so(folder, found):
    texts = {row["id"] for split in ("train", "test") for row in load(folder, "sentences", split)}
    assert texts == {f"{split}-{label}-generated" for split in ("train", "test") for label in ("positive", "negative")}
    assert any("Mined sentences" in line for line in found[1])
    assert "Mined sentences" in (folder / "README.md").read_text()


def test_the_hub_reads_the_header_of_the_card(folder, found):
    card = DatasetCard.load(folder / "README.md")
    rows = sum(len(table) for one in found[0].values() for table in one.splits.values())
    assert card.data.license == "mit"
    assert card.data.language == ["en"]
    assert card.data.size_categories == ["n<1K" if rows < 1000 else "1K<n<10K"]
    assert {one["config_name"] for one in card.data.configs} == {"pairs", "nli", "reasoning", "sentences", "scenarios"}
    assert "fill-mask" in card.data.task_categories


def test_the_card_describes_every_column_and_gives_sizes_and_settings(folder, found, made_params):
    card = (folder / "README.md").read_text()
    for name, configuration in found[0].items():
        for table in configuration.splits.values():
            measured = {"length"} if name == "sentences" else set()  # features are described together
            assert set(table.columns) - measured == set(configuration.columns)
        for column, about in configuration.columns.items():
            assert f"| `{column}` | {about}" in card
    pairs = pd.read_parquet(f"data/make_pairs/{MEANING}.parquet")
    assert f"| {MEANING} | {len(pairs)} |" in card
    assert f"with the seed {made_params.seed}" in card
    assert 'pairs.make: {"per_cell": {"meaning": 1, "form": 3, "control": 1}' in card
    assert "(0 entailment, 1 neutral, 2 contradiction)" in card


def test_the_card_says_whether_people_have_judged_the_items(found, made_params, monkeypatch):
    assert "No person has judged the items yet" in card_text(made_params, found[0], [])
    ratings = [Rating("pairs", item, "f", rater, "A", "A") for item in "ab" for rater in "xyz"]
    monkeypatch.setattr("cxprobe.exports.hub.read_ratings", lambda path: ratings if MEANING in path.parts else [])
    card = card_text(made_params, found[0], [])
    assert "People have judged 2 items (6 ratings by 3 raters" in card
    assert "No person" not in card


def test_items_of_other_people_stay_out(made_params):
    path = f"data/make_prompts/{MEANING}/choices.parquet"
    own = pd.read_parquet(path)
    shown = own.iloc[[0]].assign(id="shown", examples="cxnli-train", shots=1)
    asked = own.iloc[[0]].assign(id="asked", set="cxnli")
    pd.concat([own, shown, asked]).to_parquet(path)
    try:
        assert LINES["prompts"].choices(made_params).choices["id"].tolist() == own["id"].tolist()
    finally:
        own.to_parquet(path)


def test_a_package_that_is_not_installed_is_named_with_what_installs_it(made_params, monkeypatch):
    monkeypatch.setattr("cxprobe.exports.hub.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"datasets is not installed.*pip install 'cxprobe\[exports\]'"):
        read_configurations(made_params)
