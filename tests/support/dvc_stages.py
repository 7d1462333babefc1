"""The stages of a project as DVC finds them, in the order in which they can run."""

import os
from collections.abc import Iterator
from pathlib import Path

import networkx
from dvc.repo import Repo


def generations_of(folder: Path) -> Iterator[list]:
    """Yield the stages of a project's dvc.yaml; those that are yielded together do not need each other."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with Repo() as repo:
            found = list(networkx.topological_generations(repo.index.graph.reverse()))
    finally:
        os.chdir(before)
    for stages in found:
        yield sorted(
            (one for one in stages if one.cmd and one.path_in_repo == "dvc.yaml"), key=lambda one: one.addressing
        )
