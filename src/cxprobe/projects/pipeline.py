"""The dvc.yaml of a project: as in the repository, but without the source, which a project does not have."""

import re

from cxprobe.projects.version import VERSION_FILE

_HEAD = f"""\
# Written by `cxprobe init`: do not change it, since `cxprobe init --upgrade .` writes it anew. In the repository of
# cxprobe a stage depends on the modules that it reaches; here it depends on {VERSION_FILE}, which says which version
# of the package the project was made for.
#
"""
_SOURCE = re.compile(r"^( +- )src/\S+$")


def without_source(text: str) -> str:
    """Return a dvc.yaml in which each stage depends on the version in place of its modules of ``src/``.

    Args:
        text: The dvc.yaml of the repository, whose lists have one entry a line.
    """
    lines: list[str] = []
    named = False
    for line in text.splitlines():
        if line.strip() == "deps:":
            named = False
        if match := _SOURCE.match(line):
            if named:
                continue
            line, named = f"{match[1]}{VERSION_FILE}", True
        lines.append(line)
    return _HEAD + "\n".join(lines) + "\n"
