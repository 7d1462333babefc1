"""The formats of files that the project reads: a small sound file of each, and how it is read."""

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from mutations import Kind

from conftest import (
    PEOPLE,
    ROOT,
    change_params,
    shrink,
    write_toy_construction,
    write_toy_labels,
)
from cxprobe.constructions import (
    grammar_file,
    load_construction,
    load_items,
    load_pairs,
    load_pattern,
    load_people,
    load_scenarios,
    load_sound_parts,
    read_labels,
)
from cxprobe.make.pairs import read_aann, read_blimp, read_paired_focus, read_pairs
from cxprobe.make.prompting import (
    load_continuations,
    load_inference_prompts,
    load_preference_prompts,
    load_reasoning_prompts,
)
from cxprobe.make.prompting.templates import read_prompts
from cxprobe.make.prompting.writing import WritingPrompts
from cxprobe.make.sentences import load_grammars
from cxprobe.params import load_params
from cxprobe.records import Pair


class Format(NamedTuple):
    """A format of files.

    Attributes:
        path: Where its file is in a project.
        kind: How it is mutated.
        read: Reads the file of the project in a folder.
    """

    path: str
    kind: Kind
    read: Callable[[Path], Any]

    @property
    def is_compressed(self) -> bool:
        return self.path.endswith(".gz")


def _construction(project: Path) -> Any:
    load_sound_parts("toy", project / "constructions")
    return load_construction("toy", project / "constructions")


def _pattern(project: Path) -> Any:
    return load_pattern("toy", load_construction("toy", project / "constructions"), project / "constructions")


def _grammars(project: Path) -> Any:
    construction = load_construction("toy", project / "constructions")
    grammars = load_grammars("toy", construction, project / "constructions")
    return {split: grammar.productions() for split, grammar in grammars.items()}


def _pairs(project: Path) -> Any:
    return load_pairs("toy", load_people(project / "lexicon" / "people.yaml"), project / "constructions")


def _prompts(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    return lambda project: read(project / "prompts")


def _others(read: Callable[[Path], list[Pair]], path: str) -> Callable[[Path], list[Pair]]:
    """Return a reader of a benchmark that also looks at what it accepts: no text that no model can be asked."""

    def checked(project: Path) -> list[Pair]:
        pairs = read(project / path)
        assert len({pair.id for pair in pairs}) == len(pairs) > 0
        for pair in pairs:
            texts = (pair.context, pair.good, pair.bad, pair.item, *pair.groups.values(), *pair.clusters.values())
            assert all(isinstance(text, str) and "\0" not in text for text in texts), pair
            assert all((pair.id.strip(), pair.item.strip(), pair.good.strip(), pair.bad.strip())), pair
            "".join((pair.id, *texts)).encode()  # no half of a surrogate pair
        return pairs

    return checked


TOY = "constructions/toy"
FORMATS = {
    "params": Format(
        "params.yaml", "yaml", lambda project: load_params(project / "params.yaml", project / "constructions")
    ),
    "construction": Format(f"{TOY}/construction.yaml", "yaml", _construction),
    "pattern": Format(f"{TOY}/pattern.yaml", "yaml", _pattern),
    "pairs": Format(f"{TOY}/pairs.yaml", "yaml", _pairs),
    "scenarios": Format(
        f"{TOY}/scenarios.yaml", "yaml", lambda project: load_scenarios("toy", project / "constructions")
    ),
    "items": Format(f"{TOY}/items.yaml", "yaml", lambda project: load_items("toy", project / "constructions")),
    "people": Format("lexicon/people.yaml", "yaml", lambda project: load_people(project / "lexicon" / "people.yaml")),
    "labels": Format(f"{TOY}/labels.tsv", "tsv", lambda project: read_labels(project / TOY / "labels.tsv")),
    "grammar": Format(f"{TOY}/{grammar_file('generated', 'train')}", "cfg", _grammars),
    **{
        f"prompts of {name}": Format(f"prompts/{name}.yaml", "yaml", _prompts(read))
        for name, read in (
            ("inference", load_inference_prompts),
            ("reasoning", load_reasoning_prompts),
            ("continuations", load_continuations),
            ("preferences", load_preference_prompts),
            ("frames", lambda folder: read_prompts(WritingPrompts, folder / "frames.yaml")),
        )
    },
    **{
        path.partition("/")[2]: Format(path, kind, _others(read, path))
        for path, kind, read in (
            ("others/blimp.jsonl", "jsonl", read_blimp),
            ("others/blimp.jsonl.gz", "jsonl", read_blimp),
            ("others/pairs.tsv", "tsv", read_pairs),
            ("others/pairs.csv", "csv", read_pairs),
            ("others/pairs.jsonl", "jsonl", read_pairs),
            ("others/focus.tsv", "tsv", read_paired_focus),
            ("others/aann.csv", "csv", read_aann),
        )
    },
}


def make_sound_project(folder: Path) -> None:
    """Write a sound file of every format into a folder."""
    write_toy_construction(folder / "constructions")
    write_toy_labels(folder / "constructions")
    for name in ("lexicon", "others"):
        (folder / name).mkdir()
    (folder / "lexicon" / "people.yaml").write_text(PEOPLE)
    change_params(folder, ROOT / "presets" / "embedded.yaml", shrink)
    shutil.copytree(ROOT / "prompts", folder / "prompts")
    others = folder / "others"
    blimp = "".join(json.dumps(row) + "\n" for row in BLIMP_ROWS)
    (others / "blimp.jsonl").write_text(blimp)
    (others / "blimp.jsonl.gz").write_bytes(gzip.compress(blimp.encode(), mtime=0))
    (others / "pairs.tsv").write_text("".join("\t".join(row) + "\n" for row in GENERIC_ROWS))
    (others / "pairs.csv").write_text("".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in GENERIC_ROWS))
    columns, *rows = GENERIC_ROWS
    (others / "pairs.jsonl").write_text(
        "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
    )
    (others / "focus.tsv").write_text("".join("\t".join(row) + "\n" for row in focus_rows()))
    (others / "aann.csv").write_text(AANN_TEXT)


BLIMP_ROWS = [
    {
        "sentence_good": f"{name} sees herself.",
        "sentence_bad": f"{name} sees himself.",
        "field": "syntax/semantics",
        "linguistics_term": "binding",
        "UID": "toy_paradigm",
        "simple_LM_method": True,
        "pairID": str(number),
    }
    for number, name in enumerate(("Ann", "Zoë", "Mia"))
]
GENERIC_ROWS = [
    ["id", "item", "context", "good", "bad", "construction", "cluster_frame"],
    ["1", "one", "Who is there?", "It is Ann.", "It is a Ann.", "toy", "frame-1"],
    ["2", "one", "", "It is Bo, too.", "It are Bo, too.", "toy", "frame-1"],
    ["3", "two", "Who left?", "It was Zoë.", "It were Zoë.", "other", "frame-2"],
]
AANN_TEXT = """\
idx,sentence,prefixes,aann,default_ann,order_swap,no_article,no_modifier,no_numeral
1,"She ate, I hear, a lovely two pies.","She ate,",a lovely two pies,two lovely pies,a two lovely pies,lovely two pies,\
a two pies,a lovely pies
2,A lovely two men sang.,,A lovely two men,two lovely men,a two lovely men,lovely two men,a two men,a lovely men
"""


def focus_rows() -> list[list[str]]:
    """Return a header and a block of eight rows in the shape of the paired-focus tables."""
    columns = [
        "Swapped_Condition",
        "Swapped_Stimulus",
        "Let-Alone",
        "Sentence",
        "Plain Verb",
        "Noun",
        "Pronoun",
        "Modal",
    ]
    text = "We can't lift a red lid{} a blue lid. Lifting a red lid is <MASK> than lifting a blue lid."
    rows = [
        [condition, stimulus, one, text.format(joined), "lift", "lid", "We", "can't"]
        for one, joined in (("1", ", much less"), ("0", ", or"))
        for condition in "01"
        for stimulus in "01"
    ]
    return [columns, *rows]
