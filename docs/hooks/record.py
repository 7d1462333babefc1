"""The recorded run: rates of all tasks as one table in git, which the documentation and the README's picture read.

After `make repro PRESET=recorded`, `python docs/hooks/record.py` writes recorded/rates.csv and recorded/run.json anew.
"""

import json
import subprocess
from datetime import date
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from cxprobe.results.rates import divided_by
from cxprobe.results.schema import in_columns

RATES = Path("recorded/rates.csv")
# Of the facets, those that the documentation or the picture names, by their columns; results/ has all of them.
FACETS = (
    (),
    ("items",),
    ("condition",),
    ("condition", "wording"),
    ("learnt", "intervention"),
    ("scenario", "calibration"),
    ("shots", "chain_of_thought", "examples"),
    ("chain_of_thought", "answerable", "test"),
    ("tests",),
    ("intervention", "region", "layer"),
)


def record(root: Path) -> None:
    """Write the rates of the finished run of a project, with the version of the code and the date.

    Args:
        root: The project's folder, whose params.yaml is that of the preset recorded.
    """
    tables = []
    for file in sorted(root.glob("results/evaluate_*/rates.csv")):
        rates = pd.read_csv(file, dtype=str, keep_default_na=False)
        tables.append(pd.concat([divided_by(rates, *columns) for columns in FACETS]).sort_index())
    together = in_columns(pd.concat(tables, ignore_index=True).fillna(""))
    together.to_csv(root / RATES, index=False, lineterminator="\n")
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
