"""A notebook as a page: its text as it is, its code in blocks. Nothing is run, and a notebook in git has no outputs."""

import json
from pathlib import Path


def notebook_page(path: Path) -> str:
    """Return the Markdown of a notebook, which says in its first cell what it is."""
    cells = json.loads(path.read_text())["cells"]
    note = f"*This page is the notebook `notebooks/{path.name}`; its tests run it.*"
    parts = [_cell(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return "\n\n".join([parts[0], note, *parts[1:]]) + "\n"


def _cell(kind: str, text: str) -> str:
    return f"```python\n{text}\n```" if kind == "code" else text
