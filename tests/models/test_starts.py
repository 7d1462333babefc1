import numpy as np
import pytest
import torch
from test_training import SIZES, settings
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertForMaskedLM, BertModel

from conftest import tiny_tokenizer
from cxprobe.errors import ModelError
from cxprobe_pretraining import make_tokenizer, save_model, start_model, trim_encoder, trim_tokenizer, trim_vocabulary

TOKENIZER = tiny_tokenizer()
OLD = dict(sorted(TOKENIZER.get_vocab().items(), key=lambda entry: entry[1]))


def encoder() -> BertModel:
    torch.manual_seed(0)
    return BertModel(BertConfig(vocab_size=len(OLD), max_position_embeddings=64, **SIZES)).eval()


def trimmed():
    return trim_vocabulary(OLD, np.zeros(len(OLD), dtype=np.int64), {"fox": [OLD["fox"]]}, 80)


def test_a_trimmed_encoder_gives_the_same_vectors_for_the_pieces_it_kept():
    vocabulary = trimmed()
    full, small = encoder(), trim_encoder(encoder(), vocabulary, positions=32).eval()
    new = torch.tensor([[vocabulary.pieces.index(piece) for piece in ("[CLS]", "fox", "a", "[SEP]")]])
    old = torch.tensor([[OLD[piece] for piece in ("[CLS]", "fox", "a", "[SEP]")]])
    with torch.no_grad():
        torch.testing.assert_close(small(new).last_hidden_state, full(old).last_hidden_state)
    assert small.config.max_position_embeddings == 32


def test_more_positions_than_there_are_are_refused():
    with pytest.raises(ModelError, match="no BERT with at least 65 positions"):
        trim_encoder(encoder(), trimmed(), positions=65)


@pytest.fixture
def start(tmp_path):
    vocabulary = trimmed()
    tokenizer = make_tokenizer(trim_tokenizer(TOKENIZER.backend_tokenizer.to_str(), vocabulary), 32)
    trim_encoder(encoder(), vocabulary, 32).save_pretrained(tmp_path / "start")
    tokenizer.save_pretrained(tmp_path / "start")
    return tmp_path / "start"


def test_a_new_head_guesses_by_frequency_and_is_tied_to_the_embeddings(start):
    tokenizer = AutoTokenizer.from_pretrained(start)
    counts = np.arange(len(tokenizer))
    model = start_model(settings(start=str(start)), tokenizer, counts)
    np.testing.assert_allclose(np.exp(model.cls.predictions.bias.detach().numpy()).sum(), 1, rtol=1e-5)
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    assert model.cls.predictions.decoder.bias is model.cls.predictions.bias


def test_a_start_without_a_body_is_refused(start, tmp_path):
    model = BertForMaskedLM(BertConfig(vocab_size=80, max_position_embeddings=32, **SIZES))
    weights = {name: weight for name, weight in model.state_dict().items() if "attention" not in name}
    model.save_pretrained(tmp_path / "broken", state_dict=weights)
    with pytest.raises(ModelError, match=r"lacks \d+ weights of the body"):
        start_model(settings(start=str(tmp_path / "broken")), AutoTokenizer.from_pretrained(start), np.zeros(80))


def test_a_saved_model_is_half_as_large_and_loads_whole_in_float32(start, tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(start)
    model = start_model(settings(start=str(start)), tokenizer, np.zeros(80)).eval()
    save_model(model, tokenizer, tmp_path / "saved")
    loaded, report = AutoModelForMaskedLM.from_pretrained(tmp_path / "saved", output_loading_info=True)
    assert not any(report[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert loaded.dtype == torch.float32
    weights = sum(weight.numel() for weight in model.parameters())
    assert (tmp_path / "saved" / "model.safetensors").stat().st_size < 2 * weights + 8000
    ids = torch.tensor([[2, 7, 8, 3]])
    with torch.no_grad():
        torch.testing.assert_close(loaded.eval()(ids).logits, model(ids).logits, atol=1e-2, rtol=1e-2)
