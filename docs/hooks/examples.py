"""Docstrings as mkdocstrings reads them."""

import re

import griffe


class Docstrings(griffe.Extension):
    """Lets ``Example:`` be shown as code, which griffe does for ``Examples:`` alone; and ``<name>`` be no tag."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Write an object's docstring as Markdown needs it; lines of examples stay as they are."""
        if obj.docstring:
            text = re.sub(r"^(\s*)Example:$", r"\1Examples:", obj.docstring.value, flags=re.M)
            prose, examples, code = text.partition("Examples:\n")
            parts = re.split(r"(`+[^`]*`+)", prose)
            prose = "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)
            obj.docstring.value = prose + examples + code
