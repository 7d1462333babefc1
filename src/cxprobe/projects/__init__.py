"""Projects: the files that a project's folder consists of, which an installed cxprobe carries.

`carried_files` says where they are, `create_project` makes a folder of them in which ``dvc repro`` works, and
`upgrade_project` takes over those of another version. `add_construction` and `add_model` begin a part of a project:
commented files, and an entry of params.yaml. `require_project` refuses to work elsewhere.
"""

from cxprobe.projects.carried import carried_files
from cxprobe.projects.finding import (
    carried_models,
    construction_names,
    is_project,
    model_names,
    preset_names,
    require_construction,
    require_project,
)

__all__ = [
    "carried_files",
    "carried_models",
    "construction_names",
    "is_project",
    "model_names",
    "preset_names",
    "require_construction",
    "require_project",
]
