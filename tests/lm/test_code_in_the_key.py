"""Answers are kept under the code that computed them: changed code asks again, a changed comment does not."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cxprobe

USED_BY = {  # module: a constant of it, what it becomes, and the kinds of models that are computed by it
    "masked": ("PORTION = 2048", "PORTION = 2047", {"masked"}),
    "causal": ("_ROW = 256", "_ROW = 128", {"causal"}),
    "logits": ("_ROWS = 128", "_ROWS = 64", {"masked", "causal"}),
    "embedding": ("_BLOCK = 1024", "_BLOCK = 512", {"encoder"}),
}
# Prints, for each line of JSON with texts of modules, the folders of answers of each kind of model with this code.
PROGRAM = """
import json, sys
from pathlib import Path
from types import SimpleNamespace

import cxprobe
from cxprobe.files.code import computing_code
from cxprobe.lm.causal import CausalLM
from cxprobe.lm.embedding import LoadedEncoder
from cxprobe.lm.masked import MaskedLM
from cxprobe.lm.store import answers_folder

config = SimpleNamespace(to_dict=lambda: {"layers": 2}, _attn_implementation="sdpa")
weights = SimpleNamespace(config=config, dtype="float32")
given = ("tiny", weights, None, "sha256 0", 64)
models = {"masked": MaskedLM(*given), "causal": CausalLM(*given), "encoder": LoadedEncoder(*given)}
for line in sys.stdin:
    for name, code in json.loads(line).items():
        Path(cxprobe.__file__).with_name("lm").joinpath(name).with_suffix(".py").write_text(code)
    computing_code.cache_clear()
    print(json.dumps({kind: answers_folder("tiny", model, "cpu").name for kind, model in models.items()}))
"""


@pytest.fixture(scope="module")
def changed_kinds(tmp_path_factory):
    """Return the kinds whose folder changes if the code of a module changes, or its comments, by module."""
    folder = tmp_path_factory.mktemp("copy")
    source = Path(cxprobe.__file__).parent
    shutil.copytree(source, folder / "cxprobe", ignore=shutil.ignore_patterns("__pycache__"))
    changes = [{}]
    for name, (old, new, _) in USED_BY.items():
        code = (source / "lm" / f"{name}.py").read_text()
        assert code.count(old) == 1
        docstring = code.index('    """Return')
        other_text = code[:docstring] + code[docstring:].replace("Return", "Give back", 1) + "# The end.\n"
        changes += [{name: code.replace(old, new)}, {name: other_text}, {name: code}]
    printed = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="".join(json.dumps(change) + "\n" for change in changes),
        env={"PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    before, *after = map(json.loads, printed)
    names = [(name, what) for name in USED_BY for what in ("code", "text", "as before")]
    return {
        key: {kind for kind in before if folders[kind] != before[kind]}
        for key, folders in zip(names, after, strict=True)
    }


@pytest.mark.parametrize("name", USED_BY)
def test_changed_code_changes_the_folder_of_the_models_that_use_it_and_no_other(changed_kinds, name):
    assert changed_kinds[name, "code"] == USED_BY[name][2]
    assert not changed_kinds[name, "as before"]


@pytest.mark.parametrize("name", USED_BY)
def test_a_changed_comment_or_docstring_keeps_every_folder(changed_kinds, name):
    assert not changed_kinds[name, "text"]
