"""What people wait for every day, as whole processes: commands against a bare interpreter or a bare forward pass."""

import subprocess
import sys

import pytest
from paired import take_turns
from test_likelihood import sentences

ROUNDS = 5
BARE = "python -c pass"
FORWARD = "transformers: load, and a padded forward pass"
IMPORTED = "import torch, transformers"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everyday") / "project"
    subprocess.run(["cxprobe", "init", folder, "--preset", "pairs"], check=True, capture_output=True)
    return folder


def process(folder, *command):
    return lambda: subprocess.run(command, cwd=folder, check=True, capture_output=True)


def python(folder, code):
    return process(folder, sys.executable, "-c", code)


def forward_of(file):
    return f"""
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
model = AutoModelForCausalLM.from_pretrained("models/mini-clm").eval()
tokenizer = AutoTokenizer.from_pretrained("models/mini-clm")
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
with torch.inference_mode():
    model(**tokenizer(open({file!r}).read().splitlines(), padding=True, return_tensors="pt"))
"""


@pytest.mark.parametrize(
    ("title", "command"),
    [
        ("import cxprobe", [sys.executable, "-c", "import cxprobe"]),
        ("cxprobe --help", ["cxprobe", "--help"]),
        ("cxprobe check", ["cxprobe", "check"]),
    ],
)
def test_a_command_against_a_bare_interpreter(title, command, project, show):
    ways = {title: process(project, *command), BARE: python(project, "pass")}
    show(f"{title}, as a process", take_turns(ways, ROUNDS), "runs/s", 1)


def test_scores_of_twenty_rows_against_a_bare_forward_pass(project, show):
    (project / "mine.txt").write_text("\n".join(sentences()[:20]) + "\n")
    ways = {
        "cxprobe score": process(project, "cxprobe", "score", "mine.txt", "--model", "mini-clm", "-o", "out.tsv"),
        FORWARD: python(project, forward_of("mine.txt")),
        IMPORTED: python(project, IMPORTED),
    }
    show("cxprobe score of 20 rows, as a process", take_turns(ways, ROUNDS), "runs/s", 1)


def test_a_number_after_one_word_of_a_frame_has_changed(project, show):
    file, words = (
        project / "constructions" / "conative" / "contrasts.yaml",
        iter(["kettle", "pumpkin", "bucket", "bottle", "melon", "barrel"]),
    )
    before = file.read_text()

    def change():
        file.write_text(before.replace("ball", next(words)))
        process(project, "cxprobe", "compare", "conative", "--frames", "20", "--model", "mini-clm")()

    ways = {"cxprobe compare conative": change, IMPORTED: python(project, IMPORTED)}
    show("one word of a frame changed, 20 frames asked again", take_turns(ways, ROUNDS), "runs/s", 1)
