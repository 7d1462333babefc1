"""Tokenizers that are missing, damaged or another model's, and texts that they do not know: refused with the reason."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from model_folders import both_loaders, change, refusal, save_sound, spec
from tiny_lms import tokenizer_of
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from cxprobe.errors import ModelError
from cxprobe.lm.checks import check_known
from cxprobe.lm.loading import load_encoder

SENTENCE = "the old cat runs, the young dog sings."


@pytest.fixture
def bert(tmp_path):
    return save_sound(tmp_path, "bert")


@both_loaders
@pytest.mark.parametrize("kind", ["bert", "gpt2", "roberta"])
@pytest.mark.parametrize("settings", [True, False])
def test_a_folder_without_a_tokenizer_is_refused(tmp_path, load, kind, settings):
    folder = save_sound(tmp_path, kind)
    (folder / "tokenizer.json").unlink()
    if not settings:
        (folder / "tokenizer_config.json").unlink()
    message = refusal(load, folder)
    assert "has no tokenizer: there is neither tokenizer.json nor" in message or "the tokenizer " in message


def test_transformers_makes_up_a_tokenizer_where_there_is_none(bert):
    """The reason for the refusal: if this fails, transformers refuses by itself."""
    (bert / "tokenizer.json").unlink()
    (bert / "tokenizer_config.json").unlink()
    assert len(AutoTokenizer.from_pretrained(bert)) == 5
    assert "has no tokenizer: there is neither tokenizer.json nor" in refusal(load_encoder, bert)


def test_a_vocabulary_without_a_tokenizer_json_is_enough(tmp_path, bert):
    whole = save_sound(tmp_path / "whole", "bert")
    pieces = tokenizer_of("bert").get_vocab()
    (bert / "vocab.txt").write_text("\n".join(sorted(pieces, key=pieces.get)) + "\n")
    (bert / "tokenizer.json").unlink()
    (bert / "tokenizer_config.json").unlink()
    found, expected = (load_encoder("tiny", spec(folder)).tokenizer for folder in (bert, whole))
    assert found(SENTENCE)["input_ids"] == expected(SENTENCE)["input_ids"]


@both_loaders
def test_a_vocabulary_without_its_merges_is_refused(tmp_path, load):
    folder = save_sound(tmp_path, "gpt2")
    (folder / "vocab.json").write_text(json.dumps(tokenizer_of("gpt2").get_vocab()))
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    assert re.search("tokenizer.*merges", refusal(load, folder))


def tokenizer_with(pieces) -> PreTrainedTokenizerFast:
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    vocabulary = {piece: number for number, piece in enumerate([*names.values(), *pieces])}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


@both_loaders
@pytest.mark.parametrize(
    ("pieces", "reason"),
    [
        (["the", "cat"], r"the tokenizer knows 5 tokens, and the embedding has \d+ rows"),
        ([f"w{n}" for n in range(200)], r"the token 'w\d+' has the id \d+, and the embedding has \d+ rows"),
    ],
    ids=["few", "many"],
)
def test_a_tokenizer_of_another_size_than_the_embedding_is_refused(bert, load, pieces, reason):
    tokenizer_with(pieces).save_pretrained(bert)
    message = refusal(load, bert)
    assert re.search(reason, message)
    assert "tokenizer and weights are of different models" in message


@pytest.mark.parametrize("name", ["pad_token", "mask_token", "bos_token"])
def test_a_special_token_beyond_the_embedding_is_refused(bert, name):
    change(bert / "tokenizer_config.json", **{name: "[NEW]"})
    assert re.search(rf"the token '{name}' has the id \d+, and the embedding has \d+ rows", refusal(load_encoder, bert))


def test_an_added_token_beyond_the_embedding_that_no_text_has_is_taken(bert):
    tokenizer = AutoTokenizer.from_pretrained(bert)
    tokenizer.add_tokens(["<image>"], special_tokens=True)
    tokenizer.save_pretrained(bert)
    assert len(load_encoder("tiny", spec(bert)).tokenizer) == len(tokenizer)


def test_two_tokens_of_one_id_are_refused(bert):
    content = json.loads((bert / "tokenizer.json").read_text())
    content["model"]["vocab"]["cat"] = content["model"]["vocab"]["dog"]
    (bert / "tokenizer.json").write_text(json.dumps(content))
    assert "1 tokens share their id with another" in refusal(load_encoder, bert)


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2"])
def test_an_end_of_the_sentence_with_another_id_than_in_the_vocabulary_is_refused(tmp_path, kind):
    folder = save_sound(tmp_path, kind)
    content = json.loads((folder / "tokenizer.json").read_text())
    steps = content["post_processor"].get("processors", [content["post_processor"]])
    template = next(step for step in steps if "special_tokens" in step)
    first = next(iter(template["special_tokens"].values()))
    first["ids"] = [first["ids"][0] + 1]
    (folder / "tokenizer.json").write_text(json.dumps(content))
    assert re.search(r"the post_processor of tokenizer.json puts the id \d+ for ", refusal(load_encoder, folder))


def test_a_roberta_whose_padding_is_another_than_the_tokenizers_is_refused(tmp_path):
    folder = save_sound(tmp_path, "roberta")
    change(folder / "config.json", pad_token_id=5)
    assert "pad_token_id is 5 in config.json and 1 in the tokenizer" in refusal(load_encoder, folder)


# Unknown tokens


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        (["the cat"], 0),
        (["the cat", "the axolotl sings the"], 2 / 6),
        (["the axolotl"] * 2500, 0.5),
        (["axolotl", ""], 1),
        (["the cat the cat axolotl"], 0.2),
    ],
)
def test_the_share_of_unknown_tokens_is_counted_by_hand_and_the_limit_itself_is_accepted(texts, share):
    model = SimpleNamespace(name="words", tokenizer=tokenizer_with(["the", "cat", "dog"]))
    assert check_known(model, texts, "a text", limit=share) == share
    if share:
        with pytest.raises(ModelError, match=rf"{share:.1%} of the tokens of a text .* at most 19% may be"):
            check_known(model, texts, "a text", limit=0.19)


def test_no_token_has_no_share_and_a_tokenizer_of_bytes_knows_everything():
    words = SimpleNamespace(name="words", tokenizer=tokenizer_with(["the"]))
    assert all(np.isnan(check_known(words, texts, "no text")) for texts in ([], ["", " "]))
    letters = SimpleNamespace(name="bytes", tokenizer=tokenizer_of("bloom"))
    assert check_known(letters, ["the ☃", "naïve"], "a text") == 0


def test_texts_that_a_tokenizer_does_not_know_are_refused_with_the_share_and_words(bert):
    encoder = load_encoder("tiny", spec(bert))
    texts = ["the old cat ☃", "the ½ cat"]
    assert check_known(encoder, texts, "the sentences", limit=0.3) == 2 / 7
    with pytest.raises(
        ModelError, match=r"28\.6% of the tokens of the sentences are unknown .* such as '☃', '½', and at "
    ):
        check_known(encoder, texts, "the sentences")


# Lengths of inputs


@pytest.mark.parametrize("value", ["64", -1, 0, None, True, float("inf"), float("nan"), [64]])
def test_a_longest_input_that_is_no_positive_number_is_refused(bert, value):
    if value is None:
        change(bert / "config.json", max_position_embeddings=-4)
        place = "config.json"
    else:
        change(bert / "tokenizer_config.json", model_max_length=value)
        place = "model_max_length of tokenizer_config.json is "
    assert place in refusal(load_encoder, bert)


def test_a_longest_input_without_room_for_a_word_is_refused(bert):
    change(bert / "tokenizer_config.json", model_max_length=2)
    assert "inputs of 2 tokens leave no room beside 2 special ones" in refusal(load_encoder, bert)
