"""What identifies a model: all that is loaded from its folder; and what a folder alone shows to be wrong."""

import json
import re
import subprocess

import pytest
import torch
from model_folders import both_loaders, change, refusal, rewrite, save_sound, spec
from tiny_lms import tokenizer_of

from cxprobe.lm.folders import digest_of, pin_faults
from cxprobe.lm.loading import load_encoder, load_language_model, load_masked_lm
from cxprobe.lm.scoring import open_answers


@pytest.fixture
def bert(tmp_path):
    return save_sound(tmp_path, "bert")


def change_tokenizer(folder, **values):
    change(folder / "tokenizer.json", **values)


def exchange_words(folder):
    content = json.loads((folder / "tokenizer.json").read_text())
    words = content["model"]["vocab"]
    words["cat"], words["dog"] = words["dog"], words["cat"]
    change_tokenizer(folder, **content)


CHANGES = {
    "two words exchanged": exchange_words,
    "no lower case": lambda folder: change_tokenizer(folder, normalizer=None),
    "another activation": lambda folder: change(folder / "config.json", hidden_act="relu"),
    "another layer norm": lambda folder: change(folder / "config.json", layer_norm_eps=1.0),
    "fewer heads": lambda folder: change(folder / "config.json", num_attention_heads=1),
    "another longest input": lambda folder: change(folder / "tokenizer_config.json", model_max_length=32),
    "a special token": lambda folder: (folder / "special_tokens_map.json").write_text('{"bos_token": "[CLS]"}'),
    "a generation setting": lambda folder: (folder / "generation_config.json").write_text('{"temperature": 2.0}'),
    "a weight": lambda folder: rewrite(folder, lambda weights: weights["cls.predictions.bias"].add_(1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_anything_that_is_loaded_is_refused_by_the_pin_and_seen_by_the_store(bert, name, monkeypatch):
    monkeypatch.chdir(bert.parent)
    pinned, folder = digest_of(bert), open_answers("tiny", load_language_model("tiny", spec(bert)), "cpu").folder
    assert load_language_model("tiny", spec(bert, sha256=pinned)).fingerprint == f"sha256 {pinned}"
    CHANGES[name](bert)
    message = refusal(load_language_model, bert, sha256=pinned)
    assert f": sha256 is {pinned}, and the files of {bert} have {digest_of(bert)}; weights, configuration" in message
    assert [*pin_faults({"tiny": spec(bert, sha256=pinned)})] == [message]
    assert open_answers("tiny", load_language_model("tiny", spec(bert), "meta"), "cpu").folder != folder


def test_a_check_refuses_a_folder_without_a_pin_and_no_model_that_is_elsewhere(bert):
    [fault] = pin_faults({"tiny": spec(bert), "hub": spec("roberta-base"), "away": spec("package:not_installed/model")})
    assert fault.startswith(f"models.tiny: sha256 is null, and the files of {bert} have {digest_of(bert)}; ")
    assert not [*pin_faults({"tiny": spec(bert, sha256=digest_of(bert))})]


def test_the_digest_is_what_sha256sum_says_of_what_it_prints(bert):
    (bert / "pytorch_model.bin").write_bytes(b"not read beside safetensors")
    (bert / "README.md").write_text("not loaded")
    names = "config.json model.safetensors tokenizer.json tokenizer_config.json"
    said = subprocess.run(f"sha256sum {names} | sha256sum", shell=True, cwd=bert, capture_output=True, text=True)
    assert said.stdout.split()[0] == digest_of(bert)


def test_a_random_twin_of_a_folder_without_weights_is_known_by_the_other_files(bert):
    (bert / "model.safetensors").unlink()
    found = load_masked_lm("twin", spec(bert, weights="random", seed=1))
    assert found.fingerprint.startswith(f"random, seed 1, of sha256 {digest_of(bert)}, drawn by torch ")
    for weights, seed in (("trained", None), ("shuffled", 1)):
        assert "cannot be loaded" in refusal(load_masked_lm, bert, weights=weights, seed=seed)


# What the folder alone shows


@both_loaders
@pytest.mark.parametrize("kind", ["bert", "gpt2", "roberta", "deberta-v2"])
def test_a_model_whose_weights_are_all_zero_is_refused(tmp_path, load, kind):
    folder = save_sound(tmp_path, kind)
    rewrite(folder, lambda weights: [value.zero_() for value in weights.values()])
    assert "what it answers is the same at every token" in refusal(load, folder)


@both_loaders
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pre_tokenizer": None}, "are the same tokens, and all texts would have one score"),
        (
            {"normalizer": {"type": "Replace", "pattern": {"Regex": ".*"}, "content": ""}},
            "the tokenizer finds no token in 'The more",
        ),
        ({"post_processor": None}, r"has \[CLS\] and \[SEP\] and puts neither around a text"),
    ],
)
def test_a_tokenizer_that_reads_texts_alike_or_without_their_ends_is_refused(bert, load, change, reason):
    change_tokenizer(bert, **change)
    assert re.search(reason, refusal(load, bert))


def test_a_causal_model_needs_nothing_around_a_text(tmp_path):
    load_language_model("tiny", spec(save_sound(tmp_path, "gpt2")))


def test_a_mask_that_is_another_special_token_is_refused(bert):
    change(bert / "tokenizer_config.json", mask_token="[PAD]")
    assert "the mask token of its tokenizer, '[PAD]', is its pad_token too" in refusal(load_masked_lm, bert)
    tokenizer = tokenizer_of("bert")
    tokenizer.mask_token = None
    tokenizer.save_pretrained(bert)
    assert "has a tokenizer without a mask token" in refusal(load_masked_lm, bert)


@both_loaders
def test_a_masked_model_that_is_a_decoder_is_refused(bert, load):
    change(bert / "config.json", is_decoder=True)
    assert "says that it is a BertForMaskedLM and that is_decoder is true" in refusal(load, bert)


@both_loaders
def test_a_configuration_that_asks_for_tuples_changes_nothing(tmp_path, load):
    one, other = save_sound(tmp_path / "one", "bert"), save_sound(tmp_path / "other", "bert")
    change(one / "config.json", return_dict=False)
    found, expected = (load("tiny", spec(folder)) for folder in (one, other))
    ids = torch.tensor([[2, 9, 10, 3]])
    with torch.inference_mode():
        assert torch.equal(found.model(input_ids=ids)[0], expected.model(input_ids=ids)[0])
    assert found.model.config.return_dict
    assert load is load_encoder or found.model(input_ids=ids).logits.shape[:2] == (1, 4)
