import numpy as np
import pytest
import torch

from cxprobe.errors import DataError
from cxprobe.files.arrays import read_features
from cxprobe.lm.embedding import collate, extract, mean_of_each_layer, tokenise
from cxprobe.lm.loading import load_encoder
from cxprobe.lm.params import ModelSpec
from cxprobe.recognition.params import ExtractFeatures
from cxprobe.run.processes import Job

WORDS = ["the", "old", "red", "cat", "dog", "runs", "sings", "now", "we", "say", "that", "in", "garden", "today"]
SETTINGS = ExtractFeatures(
    token_budget=64,
    special_tokens=False,
    accelerator="cpu",
    devices=1,
    num_nodes=1,
    strategy="auto",
)
ALONE = Job().start(SETTINGS)


@pytest.fixture(scope="module")
def encoder(tiny_bert):
    return load_encoder("tiny", ModelSpec(name=str(tiny_bert), revision=None, sha256=None, dtype="float32"))


@pytest.fixture(scope="module")
def tokens(encoder):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, 20))) for _ in range(57)]
    return tokenise(encoder, [f"s{number}" for number in range(57)], texts, special_tokens=False)


def test_features_equal_a_plain_loop_over_single_sentences(encoder, tokens, tmp_path):
    done = extract(encoder, tokens, SETTINGS, processes=ALONE, scratch=tmp_path / "scratch", output=tmp_path / "out")
    features = read_features(tmp_path / "out")
    assert features.vectors.shape == (3, 57, 32)
    assert sorted(features.ids) == sorted(one.id for one in tokens)
    by_id = {one.id: one for one in tokens}
    with torch.inference_mode():
        plain = [mean_of_each_layer(encoder.model, collate(0, [by_id[id_]], pad=0))[:, 0] for id_ in features.ids]
    np.testing.assert_allclose(features.vectors, torch.stack(plain, dim=1).numpy(), atol=1e-5)
    assert (done.sentences, done.resumed) == (57, 0)
    assert done.tokens == sum(len(one.ids) for one in tokens)


def test_a_killed_extraction_goes_on_where_it_stopped(encoder, tokens, tmp_path, monkeypatch):
    extract(encoder, tokens, SETTINGS, processes=ALONE, scratch=tmp_path / "whole-scratch", output=tmp_path / "whole")
    written = []

    def write_then_die(array, path, ids):
        if len(written) == 5:
            raise KeyError("killed")
        written.append(path)
        real(array, path, ids)

    from cxprobe.lm import embedding as extraction

    real = extraction.write_array
    monkeypatch.setattr(extraction, "write_array", write_then_die)
    with pytest.raises(KeyError):
        extract(encoder, tokens, SETTINGS, processes=ALONE, scratch=tmp_path / "scratch", output=tmp_path / "out")
    monkeypatch.setattr(extraction, "write_array", real)
    assert not (tmp_path / "out").exists()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "scratch").glob("*.npy")}
    assert len(before) == 5
    broken = min(before)
    broken.write_bytes(broken.read_bytes()[:200])  # as a power cut may leave it
    done = extract(encoder, tokens, SETTINGS, processes=ALONE, scratch=tmp_path / "scratch", output=tmp_path / "out")
    assert done.resumed == 4  # the broken one was made again
    np.testing.assert_array_equal(read_features(tmp_path / "out").vectors, read_features(tmp_path / "whole").vectors)


def test_progress_counts_every_sentence_once_also_those_of_an_earlier_run(encoder, tokens, tmp_path, monkeypatch):
    from cxprobe.lm import embedding as extraction

    folders = {"scratch": tmp_path / "scratch", "output": tmp_path / "out"}
    monkeypatch.setattr(extraction, "merge_features", lambda parts, folder: 1 / 0)
    first, second = [], []
    with pytest.raises(ZeroDivisionError):
        extract(encoder, tokens, SETTINGS, processes=ALONE, **folders, progress=first.append)
    assert first[0] == 0
    assert len(first) > 5
    assert sum(first) == 57
    monkeypatch.undo()
    extract(encoder, tokens, SETTINGS, processes=ALONE, **folders, progress=second.append)
    assert second == [57]


def test_a_run_killed_after_its_last_batch_only_merges(encoder, tokens, tmp_path, monkeypatch):
    from cxprobe.lm import embedding as extraction

    real = extraction.merge_features
    monkeypatch.setattr(extraction, "merge_features", lambda parts, folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        extract(encoder, tokens, SETTINGS, processes=ALONE, scratch=tmp_path / "scratch", output=tmp_path / "out")
    monkeypatch.setattr(extraction, "merge_features", real)
    done = extract(encoder, tokens, SETTINGS, processes=ALONE, scratch=tmp_path / "scratch", output=tmp_path / "out")
    assert done.resumed == done.batches


def test_numbers_that_are_not_finite_stop_the_run_and_name_the_sentences(tiny_bert, tokens, tmp_path):
    broken = load_encoder("tiny", ModelSpec(name=str(tiny_bert), revision=None, sha256=None, dtype="float32"))
    word = broken.tokenizer.convert_tokens_to_ids("dog")
    with torch.no_grad():
        broken.model.embeddings.word_embeddings.weight[word] = float("nan")
    with_dog = [one.id for one in tokens if word in one.ids]
    with pytest.raises(DataError, match="not finite for") as raised:
        extract(broken, tokens, SETTINGS, processes=ALONE, scratch=tmp_path / "scratch", output=tmp_path / "out")
    named = str(raised.value).split("not finite for ")[1].split(" (")[0].split(", ")
    assert named
    assert set(named) <= set(with_dog)
