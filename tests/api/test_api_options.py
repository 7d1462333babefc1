"""Values that an option does not have are refused where they are given, whatever the type checker was told."""

import pytest
from tiny_lms import save_lm

import cxprobe
from cxprobe.errors import DataError

TEXTS = ["the old cat runs."]


@pytest.fixture(scope="module")
def lm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("options") / "bert"
    save_lm(folder, "bert")
    return cxprobe.load(str(folder), device="cpu")


@pytest.mark.parametrize(
    ("method", "option", "value", "message"),
    [
        ("surprisal", "by", "wort", "by is 'wort'; did you mean 'word'[?] .allowed: token, word"),
        ("surprisal", "bos", "ad", "bos is 'ad'; did you mean 'add'"),
        ("surprisal", "scheme", "x", "scheme is 'x' .allowed: pll, pll_word_l2r"),
        ("score", "scheme", "pl", "did you mean 'pll'"),
        ("score", "bos", None, "bos is None; did you mean 'none'"),
        ("features", "pooling", "avg", "pooling is 'avg' .allowed: first, last, mean"),
        ("features", "layers", "alle", "layers is 'alle'; did you mean 'all'"),
        ("features", "layers", -1, 'layers is -1; give "all", or a list of whole numbers'),
        ("features", "layers", ["last"], "layers is .'last'.; give"),
        ("features", "layers", [7], "there is no layer 7"),
    ],
)
def test_a_model_refuses_a_value_that_an_option_does_not_have(lm, method, option, value, message):
    with pytest.raises(DataError, match=message):
        getattr(lm, method)(TEXTS, **{option: value})


@pytest.mark.parametrize("option", ["score", "scheme", "bos"])
def test_compare_refuses_it_too(lm, option):
    with pytest.raises(DataError, match=f"{option} is 'mean' .allowed: "):
        lm.compare(["the cat runs."], ["the cat run."], **{option: "mean"})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: cxprobe.sentences("comparative-correlative", source="balnced"), "source is 'balnced'; did you mean"),
        (lambda: cxprobe.minimal_pairs("let-alone", pseudowords="wugy"), "pseudowords is 'wugy'; did you mean 'wuggy'"),
        (lambda: cxprobe.load("mini-clm", dtype="float3"), "dtype is 'float3'; did you mean 'float32'"),
        (lambda: cxprobe.load_encoder("mini-clm", dtype=32), "dtype is 32 .allowed: bfloat16, float16, float32"),
    ],
)
def test_items_and_loading_refuse_it_too(asked, message):
    with pytest.raises(DataError, match=message):
        asked()
