"""All faults of the files that people write: params.yaml, and what is in constructions/, lexicon/ and prompts/.

Each task checks its own files; here all of them run, and files are compared with params.yaml.
"""

import re
from functools import partial
from pathlib import Path

from cxprobe.constructions.checking import FoundFaults, is_there
from cxprobe.constructions.construction import (
    CONSTRUCTIONS_FOLDER,
    PEOPLE_FILE,
    lint_people,
    load_construction,
    load_people,
)
from cxprobe.corpora.pattern import load_wanted
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import read_yaml
from cxprobe.labels import read_labels
from cxprobe.models.checkpoints import pin_faults
from cxprobe.project.params import load_params
from cxprobe.results.rates import ALL
from cxprobe.run.params import PARAMS_FILE
from cxprobe.tasks.registry import TASKS

SCAFFOLD = Path(__file__).parent / "templates" / "construction"
"""What `cxprobe add construction` writes."""


def find_faults(name: str = "") -> FoundFaults:
    """Return every fault of every file, sorted by file, and notes. No model is loaded, and nothing is written.

    Args:
        name: The construction whose files are read, params.yaml and people aside; "" for all files.
    """
    faults = FoundFaults()
    params = faults.attempt(load_params)
    folders = [path for path in sorted(CONSTRUCTIONS_FOLDER.glob(name or "*")) if path.is_dir()]
    if is_there(PEOPLE_FILE) or any(CONSTRUCTIONS_FOLDER.glob("*/*pairs.yaml")):
        people = faults.attempt(load_people)
        if people is not None:
            faults.lint(PEOPLE_FILE, lint_people(people))
    for folder in folders:
        if folder.name == ALL:
            faults.lines.append(f"{folder}: results call all constructions together so; rename the folder")
        faults.attempt(load_construction, folder.name)
        faults.read(folder / "pattern.yaml", partial(load_wanted, folder.name))
        faults.read(folder / "labels.tsv", partial(read_labels, folder / "labels.tsv"))
        for task in TASKS.values():
            task.check_construction(folder, faults)
        _check_examples(folder, faults)
    for task in TASKS.values() if not name else ():
        task.check(params, faults)
    if params is not None and not name:
        for name in params.mining.constructions:
            faults.require("mining.constructions", name, CONSTRUCTIONS_FOLDER / name / "pattern.yaml")
        for key, name in {"parser": params.mining.parser, "tagger": params.mining.tagger}.items():
            if not Path(name).is_dir():
                faults.lines.append(
                    f"{PARAMS_FILE}: mining.{key}: there is no folder {name}, which dvc.yaml needs; copy that of the "
                    "project that `cxprobe init` makes, or write an installed pipeline into a folder, whose changes "
                    "DVC sees (`spacy.load(NAME).to_disk(FOLDER)`)"
                )
        faults.lines += [f"{PARAMS_FILE}: {fault}" for fault in pin_faults(params.models)]
    faults.lines = sorted(dict.fromkeys(faults.lines), key=lambda line: re.split("[:,]", line, maxsplit=1)[0])
    return faults


def _check_examples(folder: Path, faults: FoundFaults) -> None:
    """Refuse the pattern that `cxprobe add construction` has written, and note its other files that nobody changed."""
    for example in sorted(SCAFFOLD.glob("*.yaml")):
        path = folder / example.name
        content = FoundFaults().attempt(read_yaml, path, ConstructionError)  # whose own faults have been reported
        if content != read_yaml(example, ConstructionError):
            continue
        if path.name == "pattern.yaml":
            faults.lines.append(f"{path}: finds the example's comparatives; write your own pattern, or delete the file")
        else:
            faults.notes.append(f"{path}: is the example still; replace its content, or delete the file")
