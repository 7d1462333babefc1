"""The files that people write in a small project: parameters, a construction with labels, people, prompts."""

import shutil
from pathlib import Path

from conftest import ROOT, TOY_PROJECT, change_params, shrink, write_toy_construction, write_toy_labels


def write_toy_files(folder: Path) -> None:
    write_toy_construction(folder / "constructions")
    write_toy_labels(folder / "constructions")
    shutil.copytree(TOY_PROJECT / "lexicon", folder / "lexicon")
    shutil.copytree(ROOT / "prompts", folder / "prompts")
    for name in ("tagger", "parser"):
        (folder / "models" / name / "en_ewt_cxprobe").mkdir(parents=True)
    change_params(folder, ROOT / "params.yaml", shrink)
