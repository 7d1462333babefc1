"""The store of answers: nothing that was added is lost, whatever ends the process, and nothing wrong is found."""

import hashlib
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.files.writing import SCRATCH
from cxprobe.models.causal import CausalLM
from cxprobe.models.embedding import LoadedEncoder
from cxprobe.models.masked import MaskedLM
from cxprobe.models.store import AnswerStore, answers_folder, key_of

KEYS = [key_of(np.array([number], dtype=np.int32)) for number in range(20)]
ANSWERS = st.dictionaries(
    st.one_of(st.sampled_from(KEYS), st.binary(min_size=16, max_size=16)),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4).map(np.array),
    max_size=5,
)


def numbers(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


@settings(deadline=None, max_examples=25)  # each writes files
@given(st.lists(st.tuples(ANSWERS, st.booleans()), max_size=4))
def test_what_any_process_has_added_is_found_exactly(tmp_path_factory, sessions):
    folder = tmp_path_factory.mktemp("store")
    expected = {}
    for added, in_parts in sessions:
        with AnswerStore(folder, seconds=0 if in_parts else 60) as store:
            for key, values in added.items():
                store.add({key: values})
            expected |= added
            assert set(store.find(list(added))) == set(added)
    with AnswerStore(folder) as store:
        found = store.find([*expected, *KEYS])
        # Who adds a key again may find either answer: a store is only asked for what it does not have.
        assert set(found) == set(expected)
        for key, values in found.items():
            assert any(np.array_equal(values, added[key]) for added, _ in sessions if key in added)


def test_any_changed_bit_and_any_lost_end_is_noticed_with_a_warning(tmp_path):
    for number, key in enumerate(KEYS[:2]):
        with AnswerStore(tmp_path) as store:
            store.add({key: np.full((2, 3), number, dtype=np.float32)})
    broken = min(tmp_path.glob("*.answers"))
    sound, rng = broken.read_bytes(), np.random.default_rng(0)
    bits = [8 * place + int(rng.integers(8)) for place in range(len(sound))]
    for damaged in (*(flipped(sound, bit) for bit in bits), *(sound[:length] for length in (0, 10, len(sound) - 1))):
        broken.write_bytes(damaged)
        with AnswerStore(tmp_path) as store, pytest.warns(UserWarning, match=f"{broken.name} is damaged .* delete it"):
            assert len(store.find(KEYS)) == 1


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def save(folder, *arrays):
    """Write a file whose name is right, whatever is in it."""
    content = BytesIO()
    for array in arrays:
        np.save(content, array)
    (folder / f"{hashlib.sha256(content.getvalue()).hexdigest()}.a.answers").write_bytes(content.getvalue())


EVIL = np.array([{"a": 1}], dtype=object)
TWO = np.array(KEYS[:2], dtype="S16")


@pytest.mark.parametrize(
    "arrays",
    [
        (EVIL, np.array([0, 1]), numbers(1.0)),
        (TWO[:1], np.array([0, 1]), EVIL),
        (TWO, np.array([0, 1]), numbers(1.0)),
        (TWO, np.array([0, 1, 3]), numbers(1.0, 2.0)),
        (TWO[:0], np.array([0]), numbers()),
    ],
)
def test_pickled_objects_are_not_opened(tmp_path, arrays):
    save(tmp_path, *arrays)
    with AnswerStore(tmp_path) as store, pytest.warns(UserWarning, match="is damaged"):
        assert store.find(KEYS) == {}


def test_an_answer_that_is_not_finite_is_not_kept(tmp_path):
    with AnswerStore(tmp_path) as store:
        store.add({KEYS[0]: numbers(1.0, np.nan), KEYS[1]: numbers(-np.inf), KEYS[2]: numbers(1.0)})
        assert set(store.find(KEYS)) == {KEYS[2]}


def test_the_folder_is_named_by_all_that_decides(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = SimpleNamespace(kind="masked", fingerprint="sha256 a", decisive=("float32",))
    changes = [{}, {"kind": "causal"}, {"fingerprint": "sha256 b"}, {"decisive": ("bfloat16",)}]
    folders = {answers_folder("mini", SimpleNamespace(**vars(model) | change), "cpu") for change in changes}
    folders.add(answers_folder("mini", model, "cuda"))
    assert len(folders) == len(changes) + 1
    assert {folder.parent for folder in folders} == {tmp_path / SCRATCH / "answers"}


@pytest.mark.parametrize("kind", [MaskedLM, CausalLM, LoadedEncoder])
def test_the_folder_is_named_by_the_code_of_the_module_that_computes_the_kind(monkeypatch, kind):
    config = SimpleNamespace(to_dict=dict, _attn_implementation="sdpa")
    model = kind("tiny", SimpleNamespace(config=config), None, "sha256 0", 64)
    folder, asked = answers_folder("tiny", model, "cpu"), []
    monkeypatch.setattr("cxprobe.models.loading.computing_code", lambda module: asked.append(module) or "changed")
    assert answers_folder("tiny", model, "cpu") != folder
    assert asked == [kind.__module__]
