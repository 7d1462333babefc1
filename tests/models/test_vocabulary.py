import numpy as np
from tokenizers import Tokenizer

from conftest import tiny_tokenizer
from pretraining.vocabulary import count_pieces, encode_records, trim_tokenizer, trim_vocabulary

OLD = {
    "[PAD]": 0,
    "[unused1]": 1,
    "[UNK]": 2,
    "a": 3,
    "é": 4,
    "##a": 5,
    "β": 6,
    "the": 7,
    "cat": 8,
    "rare": 9,
    "dog": 10,
}


def counts(**seen: int) -> np.ndarray:
    return np.array([seen.get(piece.strip("[]"), 0) for piece in OLD])


def test_special_tokens_and_characters_stay_and_the_frequent_pieces_fill_the_rest():
    vocabulary = trim_vocabulary(OLD, counts(β=1, dog=9, the=5, cat=1), {}, size=7)
    assert vocabulary.pieces == ["[PAD]", "[UNK]", "a", "##a", "β", "the", "dog"]


def test_required_words_are_pieces_with_the_mean_of_what_they_were_cut_into():
    vocabulary = trim_vocabulary(OLD, counts(), {"dog": [10], "cata": [8, 5]}, size=8)
    embeddings = np.random.default_rng(0).normal(size=(len(OLD), 3)).astype(np.float32)
    trimmed = dict(zip(vocabulary.pieces, vocabulary.trim(embeddings), strict=True))
    np.testing.assert_array_equal(trimmed["dog"], embeddings[10])
    np.testing.assert_allclose(trimmed["cata"], (embeddings[8] + embeddings[5]) / 2)
    np.testing.assert_array_equal(trimmed["a"], embeddings[3])


def test_the_trimmed_tokenizer_cuts_text_as_the_old_one_where_the_pieces_are_left():
    tokenizer = tiny_tokenizer().backend_tokenizer
    old = dict(sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1]))
    texts = [["the old cat sings .", "the red dog runs"], ["a fox"]]
    seen = count_pieces(encode_records(tokenizer, texts), len(old))
    vocabulary = trim_vocabulary(old, seen, {"foxes": tokenizer.encode("foxes", add_special_tokens=False).ids}, 75)
    trimmed = Tokenizer.from_str(trim_tokenizer(tokenizer.to_str(), vocabulary))
    assert trimmed.get_vocab_size() == 75
    for text in [sentence for record in texts for sentence in record]:
        assert trimmed.encode(text).tokens == tokenizer.encode(text).tokens
    assert trimmed.encode("foxes").tokens == ["[CLS]", "foxes", "[SEP]"]
    assert trimmed.encode("").ids == [trimmed.token_to_id("[CLS]"), trimmed.token_to_id("[SEP]")]


def test_the_trimmed_tokenizer_straightens_quotes_and_neither_cuts_nor_pads():
    tokenizer = tiny_tokenizer().backend_tokenizer
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=9)
    old = dict(sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1]))
    vocabulary = trim_vocabulary(old, np.zeros(len(old), dtype=np.int64), {}, 75)
    trimmed = Tokenizer.from_str(trim_tokenizer(tokenizer.to_str(), vocabulary))
    typographic, straight = trimmed.encode("the “the’ the the"), trimmed.encode("the \"the' the the")
    assert typographic.ids == straight.ids
    assert len(typographic.ids) > 9
    assert typographic.offsets == straight.offsets
