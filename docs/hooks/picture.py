"""The picture of the README and its text alternative, drawn from the results that git keeps.

`python docs/hooks/picture.py` writes docs/images/overview.svg and the text in README.md anew; a test compares both with
the results.
"""

import re
from pathlib import Path

import pandas as pd

import cxprobe
from cxprobe.results.overview import Picture

ROOT = Path(__file__).parents[2]
PICTURE = Path("docs/images/overview.svg")
RATES = Path("recorded/rates.csv")
MODELS = ["smollm2-135m"]


def draw(root: Path) -> Picture:
    """Return the picture of the recorded run of a project."""
    rates = pd.read_csv(root / RATES, dtype={"level": str})
    return cxprobe.overview(rates, models=MODELS, folder=root / "constructions")


def write(root: Path) -> None:
    """Write the picture, and its text alternative into the README."""
    picture = draw(root)
    (root / PICTURE).write_text(picture.svg)
    said = f"![{picture.said}]({PICTURE}"
    readme = root / "README.md"
    readme.write_text(re.sub(r"!\[[^\]]*\]\(" + re.escape(str(PICTURE)), lambda _: said, readme.read_text()))


if __name__ == "__main__":
    write(ROOT)
