"""A model of the hub, loaded by the ordinary code from a hub that runs on this machine."""

import json
import os
import subprocess
import sys

import pytest
from hub_server import NAME, running_hub
from model_folders import rewrite
from tiny_lms import save_lm

TOKEN = "hf_MayReadThePrivateModel"
# Prints what `load` says of the model at some revisions.
LOAD = f"""
import json, sys
import cxprobe
from cxprobe.errors import ModelError
def load(revision):
    try:
        model = cxprobe.load({NAME!r}, revision=revision)
    except ModelError as error:
        return str(error)
    return [model._loaded.fingerprint, model.score(["the red cat runs."])["sum"][0]]
print(json.dumps([load(revision) for revision in json.load(sys.stdin)]))
"""


@pytest.mark.slow
def test_a_private_model_is_loaded_of_one_commit_though_its_branch_moves_and_the_token_is_written_nowhere(tmp_path):
    save_lm(tmp_path / "first", "gpt2")
    save_lm(tmp_path / "second", "gpt2")
    rewrite(tmp_path / "second", lambda weights: weights["transformer.ln_f.weight"].mul_(2))
    home = tmp_path / "home"
    with running_hub(TOKEN) as (hub, address):

        def load(*revisions, **changed):
            """Load in a new process: the hub's client reads its environment when it is imported."""
            own = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
            own |= {"HF_ENDPOINT": address, "HF_HOME": str(home), "HOME": str(home), "OMP_NUM_THREADS": "1"} | changed
            command, asked = (sys.executable, "-c", LOAD), json.dumps(revisions)
            done = subprocess.run(command, env=own, input=asked, capture_output=True, text=True, check=True)
            return json.loads(done.stdout)

        second, first = hub.commit(tmp_path / "second"), hub.commit(tmp_path / "first")
        [refused] = load(None)
        assert "a private or gated model needs a token in the environment variable HF_TOKEN" in refused
        hub.moves = second
        moved, of_first, of_second = load(None, first, second, HF_TOKEN=TOKEN)
        assert hub.main == second
        assert moved == of_first
        assert (moved[0], of_second[0]) == (f"commit {first}", f"commit {second}")
        assert moved[1] != of_second[1]
        cached = load(first, HF_HUB_OFFLINE="1")
        assert cached == [of_first]
    files = [path for path in home.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []
