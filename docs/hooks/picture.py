"""The picture of the README and what it says in words, drawn from the recorded run of the default.

`python docs/hooks/picture.py` writes docs/images/overview.svg and the texts in README.md anew; a test compares both
with the results.
"""

import re
from pathlib import Path

import pandas as pd

import cxprobe
from cxprobe.results.plots import Picture

ROOT = Path(__file__).parents[2]
PICTURE = Path("docs/images/overview.svg")
RATES = Path("recorded/quick.csv")
MODELS = ["smollm2-135m"]


def draw(root: Path) -> Picture:
    """Return the picture of the recorded run of a project."""
    return cxprobe.overview(pd.read_csv(root / RATES), models=MODELS, folder=root / "constructions")


def write(root: Path) -> None:
    """Write the picture, and into the README its headline, also as text alternative, and a line for each question."""
    picture = draw(root)
    (root / PICTURE).write_text(picture.svg)
    headline, *questions = re.split(r"(?<=\.) (?=Meaning|Form|Prompts|Use)", picture.said)
    readme = root / "README.md"
    text = re.sub(r"!\[[^\]]*\]\(", lambda _: f"![{headline}](", readme.read_text(), count=1)
    text = re.sub(r"(<!-- headline -->\n).*\n", lambda found: f"{found[1]}**{headline}**\n", text)
    shown = "".join(f"- {question}\n" for question in questions)
    readme.write_text(re.sub(r"(<!-- picture -->\n)(- .*\n)+", lambda found: found[1] + shown, text))


if __name__ == "__main__":
    write(ROOT)
