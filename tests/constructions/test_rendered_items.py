"""All items of the project are worded as they were: rendered.tsv has a hash of the texts of each construction and task.

A change of the code that renders them changes no hash. Who changes items on purpose writes the file anew:
`python tests/constructions/test_rendered_items.py`.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from cxprobe.cli.init import preset_text
from cxprobe.constructions.construction import load_people
from cxprobe.project.params import whole_params
from cxprobe.tasks.interventions.make import draw_base_and_source, load_labelled
from cxprobe.tasks.pairs.frames import load_pairs
from cxprobe.tasks.pairs.make import build_pairs
from cxprobe.tasks.pairs.params import FORM
from cxprobe.tasks.prompts.make import build_tables, load_material, load_wording
from cxprobe.tasks.scenarios.make import enumerate_items, fill_texts
from cxprobe.tasks.scenarios.rules import load_scenarios

KNOWN = Path(__file__).with_name("rendered.tsv")
ROOT = Path(__file__).parents[2]

ONE_PROMPT = {"inference_prompts": ["paper-2"], "reasoning_prompts": ["paper-2"]}


# The parameters of the preset that has something of everything.
PARAMS = whole_params().model_validate(YAML(typ="safe").load(preset_text("bundled", ROOT / "presets")))


def hash_of(texts: Iterable[object]) -> str:
    return sha256("\n".join(map(str, texts)).encode()).hexdigest()


def folders_with(file: str) -> list[str]:
    return sorted(path.parent.name for path in Path("constructions").glob(f"*/{file}"))


def hashes_of_pairs() -> Iterator[tuple[str, str, str]]:
    """Yield the hashes of all pairs of all frames, with real words and pseudowords."""
    people = load_people()
    names = [*folders_with("pairs.yaml"), *(name + FORM for name in folders_with("form_pairs.yaml"))]
    contents = {name: load_pairs(name, people) for name in names}
    for name, content in contents.items():
        pairs_per_condition = PARAMS.pairs.make.pairs_per_condition.model_copy(
            update={content.tests: len(content.frames)}
        )
        changed = {"pairs_per_condition": pairs_per_condition, "pseudowords": len(content.frames)}
        settings = PARAMS.pairs.make.model_copy(update=changed)
        table = build_pairs(name, content, people, settings, PARAMS.seed)
        texts = table[["id", "words", "variant", "context", "good", "bad", "cluster_wording"]]
        yield "pairs", name, hash_of(texts.to_numpy().tolist())


def hashes_of_prompts() -> Iterator[tuple[str, str, str]]:
    """Yield the hashes of all items, and of their questions."""
    settings = PARAMS.prompts.make.model_copy(update={"premises": None, "control_premises": None, **ONE_PROMPT})
    for name in folders_with("items.yaml"):
        material = load_material(name, settings, seed=PARAMS.seed)
        made = build_tables(name, material, load_wording(), settings, seed=PARAMS.seed)
        for kind in ("items", "questions"):
            texts = made[kind].drop(columns="control", errors="ignore")  # a later column
            yield kind, name, hash_of(texts.to_numpy().tolist())


def hashes_of_scenarios() -> Iterator[tuple[str, str, str]]:
    """Yield the hashes of all texts of a share of the items, and those of the items' words."""
    for name in folders_with("scenarios.yaml"):
        scenarios = load_scenarios(name)
        items = enumerate_items(scenarios, share=0.1, seed=PARAMS.seed)
        texts = fill_texts(scenarios, items, own_texts=True, seed=PARAMS.seed)
        yield "scenarios", name, hash_of([*items.to_numpy().tolist(), *texts.to_numpy().tolist()])


def hashes_of_interventions() -> Iterator[tuple[str, str, str]]:
    """Yield the hashes of sentences in two parts, with the places of all regions."""
    people = load_people()
    for name in folders_with("interventions.yaml"):
        labelled = load_labelled(name, people)
        items = draw_base_and_source(name, labelled, people, {"test": 200, "train": 200}, PARAMS.seed)
        yield "interventions", name, hash_of(items.to_numpy().tolist())


TASKS = {
    "pairs": hashes_of_pairs,
    "prompts": hashes_of_prompts,
    "scenarios": hashes_of_scenarios,
    "interventions": hashes_of_interventions,
}


@pytest.mark.parametrize("task", TASKS)
def test_items_are_worded_as_they_were(task, monkeypatch):
    monkeypatch.chdir(ROOT)
    rows = [line.split("\t") for line in KNOWN.read_text().splitlines()]
    known = {(kind, name): digest for of, kind, name, digest in rows if of == task}
    assert {(kind, name): digest for kind, name, digest in TASKS[task]()} == known


if __name__ == "__main__":
    lines = ["\t".join((task, *row)) for task, hashes in TASKS.items() for row in hashes()]
    KNOWN.write_text("\n".join(lines) + "\n")
