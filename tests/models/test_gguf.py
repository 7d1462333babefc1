"""Models in GGUF files: the same numbers as of the same weights in a folder, and a cache without halves."""

import hashlib
import json
import sys
from pathlib import Path

import gguf
import numpy as np
import pandas as pd
import pytest
import torch
from model_folders import refusal, spec
from scored import log_probs_of
from tiny_lms import byte_bpe, save_lm
from transformers import AutoModelForCausalLM

import cxprobe
from cxprobe.errors import ModelError
from cxprobe.models.asking import replies_to
from cxprobe.models.checkpoints import PACKAGED
from cxprobe.models.embedding import load_encoder
from cxprobe.models.loading import open_source
from cxprobe.models.pairs import load_language_model
from cxprobe.models.params import Llm
from cxprobe.models.store import answers_folder

TEXTS = ["the old cat runs.", "we say that the fox eats, too."]
SPECIAL = {"bos": "<|im_start|>", "eos": "<|im_end|>", "pad": "<|endoftext|>"}
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['role'] }}{{ m['content'] }}<|im_end|>{% endfor %}"
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    **{f"self_attn.{name}_proj": f"attn_{name}" for name in "qkv"},
    "self_attn.o_proj": "attn_output",
    **{f"mlp.{name}_proj": f"ffn_{name}" for name in ("gate", "up", "down")},
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cxprobe"


def write_gguf(folder: Path, kind: str = "Q4_1", architecture: str = "llama") -> tuple[Path, Path]:
    """Write a tiny Llama as a GGUF file, and a folder with what its weights are after de-quantising; return both."""
    tokenizer = byte_bpe(SPECIAL, adds=False)
    save_lm(folder / "same", "llama", tokenizer)
    model = AutoModelForCausalLM.from_pretrained(folder / "same")
    config, path = model.config, folder / f"tiny.{kind}.gguf"
    quantised = gguf.GGMLQuantizationType[kind]
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32 if kind == "F32" else gguf.LlamaFileType[f"MOSTLY_{kind}"])
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(config.vocab_size)
    said = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    tokens = sorted(said["vocab"], key=said["vocab"].__getitem__)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in SPECIAL.values() else 1 for token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in said["merges"]])
    for name, token in SPECIAL.items():
        getattr(writer, f"add_{name}_token_id")(said["vocab"][token])
    writer.add_chat_template(TEMPLATE)
    weights = model.state_dict()
    for name, tensor in weights.items():
        numbers = tensor.numpy()
        if numbers.ndim == 2 and kind != "F32":
            rounded = gguf.quantize(numbers, quantised)
            weights[name] = torch.from_numpy(gguf.dequantize(rounded, quantised).copy())
        if "q_proj" in name or "k_proj" in name:  # llama.cpp has the halves of a head's rotary dimensions interleaved
            heads = config.num_attention_heads
            numbers = numbers.reshape(heads, 2, -1, numbers.shape[1]).swapaxes(1, 2).reshape(numbers.shape)
        own = name.removesuffix(".weight").removeprefix("model.layers.")
        number, _, rest = own.partition(".")
        stored = f"blk.{number}.{NAMES[rest]}" if number.isdigit() else NAMES[own]
        is_rounded = numbers.ndim == 2 and kind != "F32"
        data = gguf.quantize(np.ascontiguousarray(numbers), quantised) if is_rounded else numbers
        writer.add_tensor(f"{stored}.weight", data, raw_dtype=quantised if is_rounded else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    model.load_state_dict(weights)
    model.save_pretrained(folder / "same")
    return path, folder / "same"


@pytest.mark.parametrize("kind", ["F32", "Q4_1"])
def test_a_gguf_file_gives_the_numbers_of_its_weights_in_a_folder(tmp_path, kind):
    path, same = write_gguf(tmp_path, kind)
    model, expected = (load_language_model(open_source("tiny", spec(one, bos="<|endoftext|>"))) for one in (path, same))
    np.testing.assert_allclose(log_probs_of(model, TEXTS), log_probs_of(expected, TEXTS), atol=1e-5, rtol=0)
    vectors, others = (
        load_encoder(open_source("tiny", spec(one))).model(torch.tensor([[1, 2, 3]]))[0] for one in (path, same)
    )
    torch.testing.assert_close(vectors, others)
    assert model.tokenizer.chat_template == TEMPLATE
    assert model.facts.precision == f"{kind}, de-quantised to float32"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert model.facts.weights == f"sha256 {digest}"
    with pytest.raises(ModelError, match=f"sha256 is 0{{64}}, and the files of {path} have {digest}"):
        load_language_model(open_source("tiny", spec(path, sha256="0" * 64)))


def test_a_file_is_dequantised_once_and_another_file_of_its_name_anew(tmp_path, cache, capfd):
    path, _ = write_gguf(tmp_path)
    first = load_language_model(open_source("tiny", spec(path)))
    assert f"{path}: de-quantising 0 MB into {cache}" in capfd.readouterr().err
    again = load_language_model(open_source("tiny", spec(path)))
    assert "de-quantising" not in capfd.readouterr().err
    assert answers_folder("tiny", first, "cpu") == answers_folder("tiny", again, "cpu")
    with path.open("ab") as file:
        file.write(bytes(32))
    load_language_model(open_source("tiny", spec(path)))
    assert len([folder for folder in cache.iterdir() if folder.is_dir()]) == 2


@pytest.mark.parametrize("part", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_converted_file_that_is_changed_or_gone_is_refused_and_without_a_record_all_are_made_anew(
    tmp_path, cache, part
):
    path, _ = write_gguf(tmp_path)
    expected = log_probs_of(load_language_model(open_source("tiny", spec(path, bos="none"))), TEXTS)
    [folder] = (folder for folder in cache.iterdir() if folder.is_dir())
    content = (folder / part).read_bytes()
    (folder / part).write_bytes(content[:-64] + bytes(64))
    assert f"{part} of {folder} changed after the file was de-quantised" in refusal(load_language_model, path)
    (folder / part).unlink()
    assert "remove the folder, and it is made again" in refusal(load_language_model, path)
    (folder / "conversion.json").unlink()
    again = log_probs_of(load_language_model(open_source("tiny", spec(path, bos="none"))), TEXTS)
    np.testing.assert_array_equal(again, expected)


def test_what_cannot_be_dequantised_is_refused_with_a_way_out(tmp_path, monkeypatch):
    path, _ = write_gguf(tmp_path, architecture="wavenet")
    assert "GGUF model with architecture wavenet is not supported yet" in refusal(load_language_model, path)
    path.write_bytes(path.read_bytes()[:5000])
    assert "take the model's checkpoint in safetensors" in refusal(load_language_model, path)
    assert "there is no file" in refusal(load_language_model, tmp_path / "absent.gguf")
    monkeypatch.setattr("cxprobe.models.loading.find_spec", lambda name: None)
    assert "pip install 'cxprobe[gguf]'" in refusal(load_language_model, path)


def test_a_short_name_is_loaded_with_what_its_documents_began_with(tmp_path, monkeypatch):
    package = tmp_path / "tiny_package"
    package.mkdir()
    (package / "__init__.py").touch()
    path, _ = write_gguf(package)
    monkeypatch.syspath_prepend(tmp_path)
    entry = spec(f"package:tiny_package/{path.name}", bos="<|endoftext|>")
    monkeypatch.setitem(PACKAGED, "tiny", entry)
    lm = cxprobe.load("tiny", device="cpu")
    assert lm.score(TEXTS)["sum"].tolist() == lm.score(TEXTS, bos="<|endoftext|>")["sum"].tolist()
    assert lm.score(TEXTS)["tokens"].gt(lm.score(TEXTS, bos="as_tokenizer")["tokens"]).all()
    assert "tiny_package" not in sys.modules


@pytest.mark.pipeline
def test_a_model_of_a_package_is_asked_in_words_without_a_network(tmp_path, monkeypatch):
    pytest.importorskip("inspect_ai")
    file, _ = write_gguf(tmp_path)
    monkeypatch.setitem(PACKAGED, "tiny", spec(file))
    llm = {"name": "hf/tiny", "base_url": None, "arguments": {"device": "cpu"}, "max_tokens": 3, "connections": 2}
    asked = Llm.model_validate(llm | {"retries": 0, "timeout": 60})
    names = ["one", "two", "three", "four"]
    questions = pd.DataFrame({"id": names, "question": [f"Is {name} even?" for name in names]})
    first, again = (replies_to(questions, asked, tmp_path / scratch, "asking") for scratch in ("a", "b"))
    assert first[["id", "error"]].to_numpy().tolist() == [[name, ""] for name in names]
    assert first.equals(again)
