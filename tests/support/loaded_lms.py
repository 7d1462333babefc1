"""Tiny language models, loaded once for all tests, which leave them as they were."""

from functools import cache

import numpy as np
import pytest
from model_folders import spec
from tiny_lms import save_lm

from cxprobe.models.loading import open_source
from cxprobe.models.pairs import load_language_model


@pytest.fixture(scope="session")
def lms(tmp_path_factory):
    """Return a function that returns the model of a kind."""
    folder = tmp_path_factory.mktemp("lms")

    @cache
    def loaded(kind, dtype="float32"):
        save_lm(folder / kind, kind)
        return load_language_model(open_source("tiny", spec(folder / kind, dtype=dtype)))

    return loaded


@pytest.fixture
def untouched(lms, monkeypatch):
    """Return a function that returns a model which must not be called."""

    def refuse(*_args, **_options):
        raise AssertionError("the model was called")

    def silent(kind):
        monkeypatch.setattr(lms(kind).model, "forward", refuse)
        return lms(kind)

    return silent


def assert_alike(found, expected, atol=1e-5):
    """Compare the scores of the same texts; other batches round differently."""
    for one, other in zip(found, expected, strict=True):
        assert (one.text, one.scheme) == (other.text, other.scheme)
        np.testing.assert_allclose(one.log_probs, other.log_probs, atol=atol, rtol=0)
