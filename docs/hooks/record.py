"""The recorded run: rates of all tasks as one table in git, which the documentation and the README's picture read.

After `make repro PRESET=recorded`, `python docs/hooks/record.py` writes recorded/rates.csv and recorded/run.json anew.
"""

import csv
import json
import subprocess
from datetime import date
from importlib.metadata import version
from pathlib import Path

RATES = Path("recorded/rates.csv")
# Of the facets, those that the documentation or the picture names; results/ has all of them.
FACETS = ("", "all_items", "condition", "learnt", "scenario", "setting", "test", "tests", "used")


def record(root: Path) -> None:
    """Write the rates of the finished run of a project, with the version of the code and the date.

    Args:
        root: The project's folder, whose params.yaml is that of the preset recorded.
    """
    rows = []
    for file in sorted(root.glob("results/evaluate_*/rates.csv")):
        with file.open(newline="") as opened:
            rows += [row for row in csv.DictReader(opened) if row["facet"] in FACETS]
    with (root / RATES).open("w", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    )
    run = {
        "preset": "recorded",
        "version": version("cxprobe"),
        "commit": commit.stdout.strip(),
        "date": str(date.today()),
    }
    (root / RATES).with_name("run.json").write_text(json.dumps(run, indent=2) + "\n")


if __name__ == "__main__":
    record(Path(__file__).parents[2])
