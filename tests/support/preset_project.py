"""A preset as a project that runs here: the files that it imports, and tiny models in the places of its own."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from reasoning_tables import PLAIN
from tiny_lms import save_lm, tokenizer_of
from whole_project import write_benchmark

from cxprobe.tasks.registry import TASKS

READ = ("corpora", "lexicon", "models", "prompts", "published")  # of the project, and not changed
RELATIONS = ("entailment", "neutral", "contradiction")
POSITIONS = 2048
# Constructions whose pairs have nothing that others have not: rivals, pseudowords, variants of one's own, form.
ALIKE = ("causative-with", "ditransitive", "caused-motion", "intransitive-motion", "anaphor-agreement", "npi-licensing")
# The kind of a tiny model -> a pattern for names on the hub; the first that fits.
KINDS = {
    "deberta-v2": "deberta-v2",
    "deberta": "deberta",
    "roberta": "berta",
    "bert": "bert|mlm|minilm",
    "llama": "llama|gemma|olmo|smollm",  # Gemma's tokenizer puts something before a text, too
    "gpt2": "",
}


def leave_out_constructions(monkeypatch):
    """Let `cxprobe check` leave out the files of constructions: they take most of its time, and no preset has any."""
    for line in TASKS.values():
        monkeypatch.setattr(type(line), "check_construction", lambda *_: None)


def write_imports(folder: Path, params: dict[str, Any]) -> None:
    """Write a small file of its format for each one that a preset has the reader import."""
    make = params["prompts"]["make"]
    constructions = params["prompts"]["constructions"]
    examples = {path for shots in make["shots"] for path in shots["sources"] if "/" in path}
    asked = [one for one in make["files"].values() if isinstance(one, str)]
    others = [one for one in make["files"].values() if not isinstance(one, str)]
    reasoning = [path for one in others for path in one.values()]
    texts = {path: _inferences(Path(path), constructions, 3) for path in examples}
    texts |= {path: _inferences(Path(path), constructions, 1) for path in asked}
    texts |= {path: PLAIN.replace("\t", _between(path)) for path in reasoning}
    for name in params["pairs"]["benchmarks"]:
        write_benchmark(folder, name)
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def _inferences(path: Path, constructions: list[str], items: int) -> str:
    """Return so many items of each relation for each construction; no two files have the same."""
    rows = [("CxN Type", "Number", "P/H/R", "Annotation Targets")]
    for construction in constructions:
        for number in range(3 * items):
            name = f"the {path.stem} {construction} {number}"
            parts = {"premise": f"The cat of {name} slept.", "hypothesis": f"The dog of {name} ran."}
            parts["relation"] = f"{number % 3} ({RELATIONS[number % 3]})"
            rows += [(construction, str(number), part, text) for part, text in parts.items()]
    return "".join(_between(path.name).join(row) + "\n" for row in rows)


def _between(path: str) -> str:
    """Return what stands between the cells of a file."""
    return "\t" if path.endswith(".tsv") else ","


def cut_down(params: dict[str, Any]) -> None:
    """Let a preset ask little of tiny models, on this machine; which models, lines and settings there are stays."""
    params["compute"] |= {"accelerator": "cpu", "devices": 1, "jobs": 1}
    recognition, pairs, prompts = params["recognition"], params["pairs"], params["prompts"]
    recognition["make"]["per_label"] = 4
    for source in ("generated", "balanced"):
        recognition["make"][source] |= {"train_per_label": 4, "test_per_label": 4}
    for name, sources in [*recognition["constructions"].items()]:
        sources[:] = [source for source in sources if source != "mined"]  # for which a corpus would be read
        if not sources:
            del recognition["constructions"][name]
    controls = recognition["probe"]["controls"]
    controls["folds"] = controls["folds"] and 2
    params["scenarios"]["make"]["share"] = 0.002
    pairs["make"] = {"pairs_per_condition": {"meaning": 1, "form": 2, "control": 1}, "pseudowords": 1}
    params["contrasts"]["make"] |= {"frames": 1, "shuffled": 1}
    params["contrasts"]["constructions"] = params["contrasts"]["constructions"][:2]
    if pairs["ask"]:
        pairs["ask"]["pairs_per_construction"] = 1
    pairs["constructions"] = [name for name in pairs["constructions"] if name not in ALIKE]
    params["interventions"]["make"] |= {"train": 8, "test": 8}
    params["interventions"]["measure"] |= {"layers": 1, "steps": 2, "draws": 1}
    shots = prompts["make"]["shots"]
    prompts["make"] |= {"premises": 1, "shots": shots[:3] + shots[3:][-1:]}
    prompts["constructions"] = [name for name in prompts["constructions"] if name not in ALIKE]
    for name in ("inference_prompts", "reasoning_prompts"):
        prompts["make"][name] = prompts["make"][name][:1]
    for entry in params["models"].values():
        if checkpoints := entry.get("checkpoints"):  # the first and the last of a series
            entry["checkpoints"] = {name: checkpoints[name] for name in [*checkpoints][:: len(checkpoints) - 1]}
    for checkpoint in _checkpoints(params):
        if checkpoint["name"]:
            kind = _kind_of(checkpoint["name"])
            checkpoint |= {"name": f"tiny/{kind}", "revision": None, "sha256": None}
            if kind in ("gpt2", "llama"):
                checkpoint["bos"] = "add"
    for llm in params["llms"].values():
        llm |= {"name": "mockllm/model", "arguments": {"reply": "A"}}


def save_tiny_models(params: dict[str, Any]) -> None:
    """Save the models that `cut_down` has named, in the current folder.

    Their tokenizers know the words of all data that have been made, so that candidates are one token, and texts short.
    """
    words: set[str] = set()
    for path in Path("data").rglob("*.parquet"):
        for _, column in pd.read_parquet(path).select_dtypes(exclude="number").items():
            for text in column.astype(str):
                words.update(re.findall("[A-Za-z]+", text))
    for kind in {checkpoint["name"].removeprefix("tiny/") for checkpoint in _checkpoints(params)} & {*KINDS}:
        own = {word.lower() for word in words} if kind == "bert" else words
        tokenizer = tokenizer_of(kind, sorted(own))
        tokenizer.model_max_length = POSITIONS
        save_lm(Path("tiny") / kind, kind, tokenizer, POSITIONS)


def _checkpoints(params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for entry in params["models"].values():
        inside = entry.get("checkpoints", {}).values()
        baseline = [one["checkpoint"] for one in entry.get("members", {}).values() if "checkpoint" in one]
        yield from [*inside, *baseline] if "kind" in entry else [entry]


def _kind_of(name: str) -> str:
    return next(kind for kind, names in KINDS.items() if re.search(names, name.lower()))
