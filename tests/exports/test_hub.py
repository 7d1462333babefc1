"""The data set for the Hugging Face hub: `datasets` loads it without a network; the card says what it is."""

import hashlib
import json

import datasets
import mlcroissant
import pandas as pd
import pytest
from exported_project import FORM, MEANING, PAIRS, RULE, UNBALANCED
from huggingface_hub import DatasetCard

from cxprobe.errors import DataError
from cxprobe.exports.croissant import croissant_text
from cxprobe.exports.hub import card_text, parquet_files
from cxprobe.exports.project import (
    Made,
    People,
    read_blind_rates,
    read_configurations,
    read_made,
    read_people,
    read_prompts,
)
from cxprobe.exports.writing import write_files

pytestmark = pytest.mark.pipeline

pytest_plugins = ["exported_project"]

MADE = Made("0.1.0", 7, {"build_pairs": {"pseudowords": None}}, "a" * 40, False)
NOBODY = People(0, 0, 0)
NO_RATES = pd.DataFrame(columns=["configuration", "construction", "part", "model", "accuracy", "low", "high", "n"])


@pytest.fixture
def found(made_params):
    return read_configurations(made_params)


@pytest.fixture
def folder(found, made_params, tmp_path, monkeypatch):
    """The folder of an exported data set; nothing is fetched, and nothing is cached outside of it."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    files = parquet_files(found.configurations)
    card = card_text(found.configurations, MADE, read_blind_rates(made_params), NOBODY, found.left_out)
    croissant = croissant_text(found.configurations, files, MADE)
    written = tmp_path / "hf"
    write_files(files | {"README.md": card.encode(), "croissant.json": croissant.encode()}, written)
    return written


def load(folder, name, split="test"):
    return datasets.load_dataset(str(folder), name, split=split, cache_dir=str(folder.parent / "cache"))


def test_every_configuration_loads_by_its_name_with_the_rows_of_the_project(folder, made_params):
    for name in PAIRS:
        own = pd.read_parquet(f"data/build_pairs/{name}.parquet")
        loaded = load(folder, "pairs").to_pandas()
        names = load(folder, "pairs").features["construction"].names
        rows = loaded[loaded["construction"] == names.index(name)]
        assert rows[["id", "context", "good", "bad"]].to_numpy().tolist() == (
            own[["id", "context", "good", "bad"]].to_numpy().tolist()
        )
    items = pd.read_parquet(f"data/build_prompts/{MEANING}/items.parquet")
    for configuration, kind in (("nli", "inference"), ("reasoning", "reasoning")):
        assert load(folder, configuration)["id"] == items.loc[items["kind"] == kind, "id"].tolist()
    texts = pd.read_parquet(f"data/build_scenarios/{MEANING}/texts.parquet")
    assert load(folder, "scenarios")["text"] == texts["text"].tolist()


def test_labels_are_class_labels_and_lists_are_lists(folder):
    nli, reasoning, pairs = (load(folder, name).features for name in ("nli", "reasoning", "pairs"))
    assert nli["label"].names == ["entailment", "neutral", "contradiction"]
    assert reasoning["label"].names == ["A", "B", "C"]
    assert reasoning["options"] == datasets.List(datasets.Value("string"))
    assert pairs["clusters"] == datasets.List(datasets.Value("string"))
    assert load(folder, "sentences", "train").features["label"].names == ["negative", "positive"]


def test_the_label_of_an_item_is_its_gold_answer(folder, made_params):
    gold = pd.read_parquet(f"data/build_prompts/{MEANING}/items.parquet").set_index("id")["gold"]
    for row in load(folder, "nli"):
        assert str(row["label"]) == gold[row["id"]]
    for row in load(folder, "reasoning"):
        assert "ABC"[row["label"]] == gold[row["id"]]
        assert len(row["options"]) == 3


def test_the_right_candidate_of_a_test_is_one_of_the_two_and_a_calibration_has_none(folder):
    rows = load(folder, "scenarios").to_pandas()
    tests = rows["right"] != ""
    assert 0 < tests.sum() < len(rows)
    assert all(row.right in list(row.candidates) for row in rows[tests].itertuples())


def test_mined_sentences_stay_out_and_the_card_says_so(folder, found):
    texts = {row["id"] for split in ("train", "test") for row in load(folder, "sentences", split)}
    assert texts == {f"{split}-{label}-generated" for split in ("train", "test") for label in ("positive", "negative")}
    assert any("Mined sentences" in line for line in found.left_out)
    assert "Mined sentences" in (folder / "README.md").read_text()


def test_the_hub_reads_the_header_of_the_card(folder, found):
    card = DatasetCard.load(folder / "README.md")
    assert card.data.license == "mit"
    assert card.data.language == ["en"]
    assert card.data.size_categories == ["n<1K" if sum(map(len, found.configurations)) < 1000 else "1K<n<10K"]
    assert {one["config_name"] for one in card.data.configs} == {"pairs", "nli", "reasoning", "sentences", "scenarios"}
    assert "fill-mask" in card.data.task_categories


def test_the_card_describes_every_column_and_gives_sizes_and_settings(folder, found):
    card = (folder / "README.md").read_text()
    for configuration in found.configurations:
        for column in configuration.columns:
            assert f"| `{column.name}` |" in card
    pairs = pd.read_parquet(f"data/build_pairs/{MEANING}.parquet")
    assert f"| {MEANING} | {len(pairs)} |" in card
    assert "with the seed 7" in card
    assert "a" * 40 in card


def test_the_card_gives_what_blind_models_get_without_cells_in_which_one_answer_is_always_right(folder):
    card = (folder / "README.md").read_text()
    (row,) = [line for line in card.splitlines() if line.startswith(f"| pairs | {MEANING} | real")]
    assert f"| {RULE} | 50.0% [" in row
    assert not [line for line in card.splitlines() if line.startswith(f"| pairs | {UNBALANCED} |")]
    assert "No blind model has been judged on: nli, reasoning, sentences, scenarios." in card


def test_the_best_blind_model_of_a_part_stands_in_the_card(found):
    row = {"configuration": "pairs", "construction": FORM, "part": "real", "low": 0.4, "high": 0.9, "n": 12}
    rates = pd.DataFrame([{**row, "model": "weak", "accuracy": 0.5}, {**row, "model": "strong", "accuracy": 0.75}])
    card = card_text(found.configurations, MADE, rates, NOBODY, [])
    assert f"| pairs | {FORM} | real | strong | 75.0% [40.0%, 90.0%] | 12 | 2 |" in card
    assert "| weak |" not in card


def test_the_card_says_whether_people_have_judged_the_items(found, made_params):
    assert read_people(made_params) == NOBODY
    texts = [card_text(found.configurations, MADE, NO_RATES, people, []) for people in (NOBODY, People(30, 10, 3))]
    assert "No person has judged the items yet" in texts[0]
    assert "People have judged 10 items (30 ratings by 3 raters" in texts[1]
    assert "No person" not in texts[1]


def test_the_same_data_give_the_same_bytes(found):
    assert parquet_files(found.configurations) == parquet_files(found.configurations)


def test_mlcroissant_finds_the_metadata_valid_and_reads_the_records(folder):
    dataset = mlcroissant.Dataset(folder / "croissant.json")
    assert not dataset.metadata.issues.errors
    first = next(iter(dataset.records("reasoning-test")))
    loaded = load(folder, "reasoning")[0]
    assert first["reasoning-test/text"].decode() == loaded["text"]
    assert [option.decode() for option in first["reasoning-test/options"]] == loaded["options"]
    assert first["reasoning-test/label"] == loaded["label"]


def test_the_metadata_have_the_digest_of_every_file(folder):
    content = json.loads((folder / "croissant.json").read_text())
    for file in content["distribution"]:
        assert file["sha256"] == hashlib.sha256((folder / file["contentUrl"]).read_bytes()).hexdigest()
    assert {file["contentUrl"] for file in content["distribution"]} == {
        str(path.relative_to(folder)) for path in folder.rglob("*.parquet")
    }


def test_items_of_other_people_stay_out(made_params):
    path = f"data/build_prompts/{MEANING}/choices.parquet"
    own = pd.read_parquet(path)
    shown = own.iloc[[0]].assign(id="shown", examples="cxnli-train", shots=1)
    asked = own.iloc[[0]].assign(id="asked", set="cxnli")
    pd.concat([own, shown, asked]).to_parquet(path)
    try:
        assert read_prompts(made_params, "choices")["id"].tolist() == own["id"].tolist()
    finally:
        own.to_parquet(path)


def test_a_package_that_is_not_installed_is_named_with_what_installs_it(found, monkeypatch):
    monkeypatch.setattr("cxprobe.exports.hub.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"datasets is not installed.*pip install 'cxprobe\[exports\]'"):
        parquet_files(found.configurations)


def test_how_the_data_were_made_is_read_from_the_parameters(made_params):
    made = read_made(made_params)
    assert made.seed == made_params.seed
    assert made.settings["build_pairs"]["per_cell"] == {"meaning": 1, "form": 3}
