"""Configurations drawn by a seed: valid ones of any shape, with tiny models, and what they need in a folder."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from tiny_lms import save_lm, tokenizer_of
from whole_project import BENCHMARK, write_benchmark

from conftest import ROOT, save_tiny_bert, save_toy_tagger, write_toy_construction, write_toy_corpus
from cxprobe.cli.init import preset_text
from cxprobe.constructions import construction_names
from cxprobe.models.params import RuleOfPairs, RuleOfPrompts, RuleOfScenarios
from cxprobe.tasks.prompts.items import load_items
from cxprobe.tasks.registry import TASKS

KINDS = ("bert", "roberta", "gpt2", "llama")
MASKED = ("bert", "roberta")
TOYS = {"folder": "corpus", "glob": None, "format": "jsonl", "text": "text", "url": "url"}
TAG_NGRAMS = {"kind": "tag_ngrams", "lengths": [1, 2], "tagger": "models/tagger/en_ewt_cxprobe", "sha256": None}
WORD_NGRAMS = {"kind": "word_ngrams", "lengths": [1, 2]}
FOLDS = {"folds_by": "premise", "folds": 2}
NAMES = ("Ann", "Bob", "Eve")
BASE = YAML(typ="safe").load(preset_text("pairs", ROOT / "presets"))
Draw = np.random.Generator


def write_workshop(folder: Path) -> None:
    """Write what all drawn configurations share: constructions, tiny models, taggers, and a corpus."""
    for name in ("lexicon", "prompts", "published"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "constructions").mkdir()
    for construction in (ROOT / "constructions").glob("*/"):
        (folder / "constructions" / construction.name).symlink_to(construction)
    write_toy_construction(folder / "constructions")
    labels = ROOT / "tests/support/toy_project/constructions/toy/labels.tsv"
    (folder / "constructions/toy/labels.tsv").write_text(labels.read_text())
    toy = folder / "constructions/toy/construction.yaml"  # whose name is no formula, whatever it looks like
    toy.write_text(toy.read_text().replace("name: Toy order", r"name: 'Toy $\frac{ $ order'"))
    write_toy_corpus(folder / "corpus")
    for name in ("tagger", "parser"):
        save_toy_tagger(folder / "models" / name / "en_ewt_cxprobe")
    (folder / "models/mini-ngrams").symlink_to(ROOT / "models/mini-ngrams")
    texts = [*(folder / "constructions").glob("*/*.*"), *(folder / "lexicon").glob("*.yaml")]
    words = {word for path in texts for word in re.findall("[A-Za-z]+", path.read_text())}
    for kind in KINDS:
        tokenizer = tokenizer_of(kind, sorted({word.lower() for word in words} if kind == "bert" else words))
        tokenizer.model_max_length = 2048
        save_lm(folder / "tiny" / kind, kind, tokenizer, 2048)
    save_tiny_bert(folder / "tiny" / "encoder", seed=0, max_position_embeddings=2048)


def empty_params() -> dict[str, Any]:
    """Return the content of a params.yaml with all models here, of which no task names any."""
    params = deepcopy(BASE)
    params |= {"models": models(), "llms": llms(), "corpora": {"toys": TOYS}}
    params["mining"] |= {"constructions": {"toy": "toys"}, "watched": ["toys"], "most_faults": 0.1}
    params["mining"]["engine"] = {"kind": "local", "arguments": {"workers": 1}}
    for name in TASKS:
        params[name] |= {"models": {}, "constructions": {} if name == "recognition" else []}
    return params


def draw_params(seed: int, folder: Path) -> dict[str, Any]:
    """Return the content of a params.yaml of some of the tasks, and write its benchmarks below ``folder``."""
    rng = np.random.default_rng(seed)
    params = empty_params() | {"seed": int(rng.integers(2**32))}
    drawn = some(rng, list(TASKS), most=2)
    for name in drawn:
        DRAWS[name](rng, params, folder)
    asked = [slug for name in drawn for slug in params[name]["models"]]
    params["report"] |= {
        "under_methods": [slug for slug in dict.fromkeys(asked) if rng.random() < 0.3],
    }
    return params


def models() -> dict[str, Any]:
    """Return an entry of every kind."""
    specs = {kind: {"name": f"tiny/{kind}", "revision": None, "sha256": None, "dtype": "float32"} for kind in KINDS}
    specs["gpt2"]["bos"] = "add"
    series = {"kind": "series", "axis": "training_tokens", "checkpoints": {}}
    for at, slug in ((10.0, "early"), (1000.0, "late")):
        series["checkpoints"][slug] = specs["llama"] | {"at": at}
    entries = specs | {f"{kind}-random": specs[kind] | {"weights": "random", "seed": 1} for kind in ("bert", "gpt2")}
    entries |= {"encoder": specs["bert"] | {"name": "tiny/encoder"}, "series": series}
    alone = {"kind": "continuation_alone", "checkpoint": specs["gpt2"]}
    classifier = {"kind": "pair_classifier", "folds": 2, "counts": WORD_NGRAMS}
    ngrams = {"kind": "ngrams", "name": "models/mini-ngrams", "sha256": None}
    halves = {kind: {"kind": kind, **FOLDS} for kind in ("hypothesis_only", "premise_only")}
    baselines = {
        "recognition": {"words": WORD_NGRAMS, "tags": TAG_NGRAMS, "positions": {"kind": "positions"}},
        "scenarios": rules(RuleOfScenarios),
        "pairs": {**rules(RuleOfPairs), "ngrams": ngrams, "classifier": classifier, "alone": alone},
        "prompts": {**rules(RuleOfPrompts), **{kind.replace("_", "-"): one for kind, one in halves.items()}},
    }
    for task, members in baselines.items():
        named = {f"{slug}-of-{task}": one for slug, one in members.items()}
        entries[f"baselines-{task}"] = {"kind": "baselines", "members": named}
    return entries


def rules(kinds: Any) -> dict[str, Any]:
    """Return a baseline of each kind of rule."""
    names = re.findall(r"'(\w+)'", str(kinds))
    return {name.replace("_", "-"): {"kind": name} for name in names}


def llms() -> dict[str, Any]:
    """Return two models that always reply the same, of which one never answers."""
    how = {"base_url": None, "max_tokens": 8, "connections": 4, "retries": 0, "timeout": 60}
    replies = {"mock": "Answer: 1", "mute": "I cannot say."}
    return {slug: {"name": "mockllm/model", "arguments": {"reply": reply}} | how for slug, reply in replies.items()}


def some(rng: Draw, known: list[Any], most: int) -> list[Any]:
    """Return one to ``most`` of a list, in a random order."""
    number = min(len(known), int(rng.integers(1, most + 1)))
    return [known[place] for place in rng.permutation(len(known))[:number]]


def one(rng: Draw, *known: Any) -> Any:
    """Return one of some values."""
    return known[int(rng.integers(len(known)))]


def of_tasks(rng: Draw, task: str, most: int = 2) -> list[str]:
    """Return some entries of the constructions that a task may name."""
    return some(rng, [entry for name in construction_names() for entry in TASKS[task].items_in(name)], most)


def draw_recognition(rng: Draw, params: dict[str, Any], folder: Path) -> None:
    section = params["recognition"]
    section["constructions"] = {"toy": some(rng, ["generated", "mined"], 2)}
    if rng.random() < 0.1:  # which has many features, and so takes as long as some others together
        section["constructions"]["comparative-correlative"] = ["balanced"]
    section["models"] = {slug: {} for slug in some(rng, [*KINDS, "bert-random", "encoder", "baselines-recognition"], 2)}
    few = {"train_per_label": 2, "test_per_label": int(rng.integers(1, 3))}
    section["make"] |= {"per_label": 3, "labels": {"folds": 2, "documents_apart": False}}
    for source in ("generated", "balanced", "mined"):
        section["make"][source] = few | {"all_sentences": source == "mined" or bool(rng.random() < 0.5)}
    has_folds = rng.random() < 0.5
    section["probe"]["controls"] = {"folds": 2 if has_folds else None, "control_task": bool(has_folds)}


def draw_scenarios(rng: Draw, params: dict[str, Any], folder: Path) -> None:
    section = params["scenarios"]
    section["constructions"] = of_tasks(rng, "scenarios", 1)
    section["models"] = {slug: {} for slug in some(rng, [*MASKED, "bert-random", "baselines-scenarios"], 2)}
    section["make"] = {"share": 0.0005, "calibrated_by": one(rng, "own_texts", "base_texts")}


def draw_contrasts(rng: Draw, params: dict[str, Any], folder: Path) -> None:
    section = params["contrasts"]
    section["constructions"] = of_tasks(rng, "contrasts")
    frames = one(rng, 1, 2, 16)
    every = [*KINDS, "bert-random", "gpt2-random", "series", "baselines-pairs"]
    section["models"] = {slug: one(rng, {}, {"frames": 1}, {"frames": 2}) for slug in some(rng, every, 2)}
    section["make"] = {"frames": frames, "shuffled": int(rng.integers(frames + 1))}
    section["score"]["scheme"] = one(rng, "pll", "pll_word_l2r")


def draw_pairs(rng: Draw, params: dict[str, Any], folder: Path) -> None:
    section = params["pairs"]
    section["constructions"] = of_tasks(rng, "pairs") if rng.random() < 0.8 else []
    every = [*KINDS, "bert-random", "gpt2-random", "series", "baselines-pairs"]
    section["models"] = {slug: one(rng, {}, {"meaning": 1}) for slug in some(rng, every, 2)}
    section["llms"] = {slug: {} for slug in some(rng, ["mock", "mute"], 1)} if rng.random() < 0.4 else {}
    if section["llms"] and rng.random() < 0.3:
        section["models"] = {}
    number = {kind: int(rng.integers(1, 3)) for kind in ("meaning", "form", "control")}
    section["make"] = {"pairs_per_condition": number, "pseudowords": one(rng, None, 1)}
    section["evaluate"] = {"scheme": "pll", "score": one(rng, "per_token", "sum", "per_character")}
    section["ask"] = {"prompt": "plain", "pairs_per_construction": 1}
    section["benchmarks"] = {}
    for name in some(rng, ["toy-blimp", "others"], 2) if rng.random() < 0.5 or not section["constructions"] else []:
        section["benchmarks"][name] = write_pairs(rng, folder) if name == "others" else BENCHMARK
    if "toy-blimp" in section["benchmarks"]:
        write_benchmark(folder)


def write_pairs(rng: Draw, folder: Path) -> dict[str, Any]:
    """Write pairs of others, among them groups in which one word is always right, and return their entry."""
    rows = [
        f"{group}{number}\t{NAMES[number]} {verb}.\t{NAMES[number]} {other}.\t{group}\tv{number}"
        for group in some(rng, ["let-alone", "only-npi", "agreement"], 2)
        for number in range(int(rng.integers(1, 4)))
        for verb, other in [("runs", "run") if number % 2 == 0 or group == "only-npi" else ("run", "runs")]
    ]
    path = folder / "data/benchmarks/others/pairs.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(["id\tgood\tbad\tphenomenon\tverb", *rows]) + "\n")
    by = one(rng, ["phenomenon"], ["phenomenon", "verb"])
    return {"format": "pairs", "files": "*.tsv", "by": by, "score": one(rng, "sum", "per_token")}


def draw_prompts(rng: Draw, params: dict[str, Any], folder: Path) -> None:
    section = params["prompts"]
    section["constructions"] = of_tasks(rng, "prompts", 1)
    section["models"] = {"baselines-prompts": {}}
    section["llms"] = {slug: {} for slug in some(rng, ["mock", "mute"], 2)} if rng.random() < 0.4 else {}
    if section["llms"] and rng.random() < 0.3:
        section["models"] = {}
    items = load_items(section["constructions"][0])
    parts = {"templatic": items.inference, "challenge": items.inference and items.inference.challenge}
    known = [name for name, part in {**parts, "reasoning": items.reasoning}.items() if part]
    sets = some(rng, known, 3) if section["llms"] else known  # baselines learn from other items than the one asked
    section["make"] |= {"premises": 1, "control_premises": 1, "sets": sets}
    section["make"]["shots"] = section["make"]["shots"][: int(rng.integers(1, 3))]
    for name in ("inference_prompts", "reasoning_prompts"):
        section["make"][name] = section["make"][name][:1]


def draw_interventions(rng: Draw, params: dict[str, Any], folder: Path) -> None:
    section = params["interventions"]
    section["constructions"] = of_tasks(rng, "interventions")
    section["models"] = {slug: {} for slug in some(rng, [*KINDS, "gpt2-random"], 1)}
    learn = one(rng, None, section["constructions"][:1])
    section["make"] = {"train": 12, "test": 12, "learn": learn, "regions": one(rng, "all", "ends")}
    section["measure"] |= {"layers": 1, "steps": 1, "draws": 1}


DRAWS = {
    "recognition": draw_recognition,
    "scenarios": draw_scenarios,
    "contrasts": draw_contrasts,
    "pairs": draw_pairs,
    "prompts": draw_prompts,
    "interventions": draw_interventions,
}
