"""What a distribution has beside the package: all files of a project, so that an installed cxprobe can make one."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLED = "src/cxprobe/project/bundled.py"
# Target of a build -> the folder that gets the files. A wheel is made of a source distribution too.
FOLDERS = {"wheel": "cxprobe/bundled/", "sdist": ""}


class CarriedFiles(BuildHookInterface):
    """Puts the files of a project into a distribution; hatchling calls it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, except to an editable installation, which is the repository itself."""
        if version == "editable":
            return
        root, folder = Path(self.root), FOLDERS[self.target_name]
        paths = runpy.run_path(str(root / BUNDLED))["bundled_paths"](root)
        build_data["force_include"] |= {str(root / path): folder + path.as_posix() for path in paths}
