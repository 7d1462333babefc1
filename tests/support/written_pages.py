"""The pages that people write: where they are, and the blocks of code in them. And the hooks that make the others."""

import re
import sys
from pathlib import Path

from conftest import ROOT

sys.path.append(str(ROOT / "docs" / "hooks"))

OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "models/taught-clm/README.md")
PAGES = [*(ROOT / name for name in OUTSIDE), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:^ {4}.*\n)+", re.M)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def fences(page: Path, language: str) -> list[str]:
    """Return the blocks of code of one language."""
    return [text for kind, text in FENCE.findall(page.read_text()) if kind == language]


def code(page: Path) -> list[str]:
    """Return every line of code: of indented blocks, of blocks between fences, and between backticks."""
    text = page.read_text()
    blocks = [block for _, block in FENCE.findall(text)]
    rest = FENCE.sub("", text)
    blocks += INDENTED.findall(rest)
    lines = [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return lines + re.findall(r"`([^`\n]+)`", INDENTED.sub("", rest))
