"""Presets: a file says what differs from base.yaml; the whole params.yaml, which DVC reads, is written from both."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from cxprobe.errors import ParamsError
from cxprobe.files.schema import read_yaml, suggest

BASE = "base"
_EXTENDS = "extends"  # the key of a preset that names those which it begins with
_HEAD = """\
# yaml-language-server: $schema=params.schema.json
# Made from the preset {name} by `cxprobe preset {name}`, and yours to change.
"""


def preset_names(folder: Path) -> list[str]:
    """Return the names of the presets of a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml") if path.stem != BASE)


def preset_text(name: str, folder: Path, only: str = "") -> str:
    """Return the params.yaml of a preset, with the comments of base.yaml and of the preset.

    Mappings are merged key by key; one in braces, and anything else, takes the place of what base.yaml has.

    Args:
        name: The preset.
        folder: The folder with base.yaml and the presets.
        only: The figure or table to make, of the section ``only`` of the preset; "" for all.

    Raises:
        ParamsError: The preset, figure or table does not exist, or a file is not valid YAML.
    """
    names = preset_names(folder)
    if name not in names:
        raise ParamsError(f"there is no preset '{name}'{suggest(name, names)}")
    roundtrip = YAML()
    roundtrip.width = 200
    roundtrip.preserve_quotes = True
    roundtrip.indent(mapping=2, sequence=4, offset=2)
    roundtrip.representer.add_representer(
        type(None), lambda representer, _: representer.represent_scalar("tag:yaml.org,2002:null", "null")
    )
    content = _load(roundtrip, folder / f"{BASE}.yaml")
    for file in _extended(name, folder):
        _merge(content, _load(roundtrip, file))
    parts = content.pop("only", {})  # figure or table -> what differs where nothing else is wanted
    if only:
        if only not in parts:
            raise ParamsError(f"the preset {name} has no part '{only}'{suggest(only, list(parts))}")
        _merge(content, parts[only])
    content.ca.comment = None  # what base.yaml says about itself
    written = StringIO()
    roundtrip.dump(content, written)
    # Merged comments bring empty lines into the middle of sections.
    text = re.sub(r"\n\n+(?= )", "\n", re.sub(r"\n{3,}", "\n\n", written.getvalue().strip("\n")))
    return _HEAD.format(name=f"{name} --only {only}" if only else name) + text + "\n"


def _extended(name: str, folder: Path) -> list[Path]:
    """Return the files that make up a preset, in the order in which they are merged."""
    file = folder / f"{name}.yaml"
    files = [path for other in read_yaml(file, ParamsError).get(_EXTENDS, ()) for path in _extended(other, folder)]
    return [*files, file]


def _load(roundtrip: YAML, file: Path) -> CommentedMap:
    read_yaml(file, ParamsError)  # which refuses what is no plain YAML
    content: CommentedMap = roundtrip.load(file.read_text(encoding="utf-8"))
    content.pop(_EXTENDS, None)
    return content


def _merge(content: Any, other: Any) -> None:
    """Write the values of a mapping into another, with the comments beside them."""
    for key, value in other.items():
        old = content.get(key)
        are_mappings = isinstance(old, CommentedMap) and isinstance(value, CommentedMap)
        if are_mappings and old and value and not value.fa.flow_style():  # an empty one empties
            _merge(old, value)
        else:
            content[key] = value
            if key in other.ca.items:
                content.ca.items[key] = other.ca.items[key]
