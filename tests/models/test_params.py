"""Models in params.yaml: checkpoints, their untrained random_controls, and sets of baselines."""

from pathlib import Path

import pytest

from conftest import ROOT, change_params
from cxprobe.errors import ParamsError
from cxprobe.models.params import members_of, series_of
from cxprobe.project.params import load_params

SET = {"by-length": {"kind": "shorter"}, "by-words": {"kind": "unigrams", "language": "en"}}


def load_changed(folder: Path, change):
    change_params(folder, ROOT / "params.yaml", change)
    return load_params(folder / "params.yaml", ROOT / "constructions")


def add(slug: str, entry: dict, *lines: str):
    """Return a change that adds a model, and puts it into some tasks."""

    def change(params):
        params["models"][slug] = entry
        for line in lines:
            params[line]["models"][slug] = {}

    return change


def baselines(**members: dict) -> dict:
    return {"kind": "baselines", "members": members}


def series(**places: float) -> dict:
    checkpoints = {name: random_control(at=at) for name, at in places.items()}
    return {"kind": "series", "axis": "training_tokens", "checkpoints": checkpoints}


def random_control(**changes) -> dict:
    return {"name": "models/mini-mlm", "revision": None, "sha256": None, "dtype": "float32"} | changes


MEMBERS = [  # slug, entry, where its files are, state and label; and whether it is a baseline, and asked in words
    ("mini-mlm", "mini-mlm", Path(), "trained", "mini-mlm", False, False),
    ("by-length", "panel", Path("by-length"), "none", "by-length (baseline)", True, False),
    ("by-words", "panel", Path("by-words"), "none", "by-words (baseline)", True, False),
    ("early", "grown", Path("early"), "trained", "early", False, False),
    ("late", "grown", Path("late"), "trained", "late", False, False),
    ("control", "control", Path(), "random", "control (random weights)", False, False),
    ("mock", "mock", Path(), "trained", "mock (asked)", False, True),
]


def test_an_entry_stands_for_its_members_which_say_what_they_are(tmp_path):
    def change(params):
        control = random_control(weights="random", seed=1)
        params["models"] |= {"panel": baselines(**SET), "grown": series(early=1e5, late=1e6), "control": control}

    params = load_changed(tmp_path, change)
    found = members_of(params.models, ["mini-mlm", "panel", "grown", "control"], params.llms, ["mock"])
    names = ("slug", "entry", "inside", "state", "label", "is_baseline", "is_asked")
    assert [tuple(getattr(one, name) for name in names) for one in found] == MEMBERS
    [(slug, grown)] = series_of(params.models, ["mini-mlm", "grown"]).items()
    assert (slug, grown.axis, grown.models) == ("grown", "training_tokens", {"early": 1e5, "late": 1e6})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dtype": "bfloat16"}, r"it differs from mini-mlm in dtype \(bfloat16 and float32\)"),
        ({"bos": "add"}, r"it differs from mini-mlm in bos \(add and as_tokenizer\)"),
        ({"revision": "v2", "sha256": "0" * 64}, r"in revision \(v2 and None\), sha256 \(0"),
        ({"name": "models/mini-clm-2"}, "no trained model has its name, models/mini-clm-2"),
    ],
)
def test_a_random_control_that_differs_in_more_than_its_weights_is_refused(tmp_path, changes, message):
    with pytest.raises(ParamsError, match=f"models.control: .*{message}.*; a random-weights control has all keys"):
        load_changed(tmp_path, add("control", random_control(weights="random", seed=1, **changes)))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (random_control(weights="random"), "models.new: seed is None and weights is random"),
        (random_control(weights="random", seed=1, load={"device_map": "cpu"}), "leave out load"),
        (random_control(seed=1), "models.new: seed is 1 and weights is trained"),
        (baselines(**{"mini-mlm": {"kind": "shorter"}}), "models.new: mini-mlm: the name is taken by models.mini-mlm"),
        (series(a=1, b=1), "models.new: checkpoints: at is [1.0, 1.0]; "),
    ],
)
def test_an_entry_with_a_fault_is_refused_with_its_place(tmp_path, entry, message):
    with pytest.raises(ParamsError) as raised:
        load_changed(tmp_path, add("new", entry))
    assert message in str(raised.value)


def test_a_baseline_model_is_refused_where_it_cannot_be_asked(tmp_path):
    with pytest.raises(ParamsError) as raised:
        load_changed(tmp_path, add("panel", baselines(**SET), "recognition"))
    assert "has by-words, and unigrams cannot be asked here; recognition asks word_ngrams" in str(raised.value)
