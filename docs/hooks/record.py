"""The recorded runs: rates of all tasks as tables in git, which the documentation and the README's picture read.

After `make repro PRESET=quick`, or `PRESET=further`, `python docs/hooks/record.py` writes the table of that preset, and
its entry in recorded/run.json.
"""

import json
import subprocess
from datetime import date
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from cxprobe.cli.init import preset_text
from cxprobe.results.rates import divided_by
from cxprobe.results.schema import in_columns

RECORDED = Path("recorded")
PRESETS = ("quick", "further")
"""The default, and further models on its items."""
# Of the facets, those that the documentation or the picture names, by their columns; results/ has all of them.
FACETS = (
    (),
    ("condition",),
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
        root: The project's folder.

    Raises:
        ValueError: params.yaml is that of no preset that is recorded.
    """
    params = (root / "params.yaml").read_text()
    made_from = [name for name in PRESETS if preset_text(name, root / "presets") == params]
    if not made_from:
        raise ValueError(f"params.yaml is that of none of {', '.join(PRESETS)}; write one by `cxprobe preset`")
    [preset] = made_from
    tables = []
    for file in sorted(root.glob("results/evaluate_*/rates.csv")):
        rates = pd.read_csv(file, dtype=str, keep_default_na=False)
        kept = pd.concat([divided_by(rates, *columns) for columns in FACETS])
        tables.append(kept[~kept.index.duplicated()].sort_index())  # a task has some of the columns
    together = in_columns(pd.concat(tables, ignore_index=True).fillna(""))
    together.to_csv(root / RECORDED / f"{preset}.csv", index=False, lineterminator="\n")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    )
    run = {"version": version("cxprobe"), "commit": commit.stdout.strip(), "date": str(date.today())}
    path = root / RECORDED / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), preset: run}, indent=2) + "\n")


if __name__ == "__main__":
    record(Path(__file__).parents[2])
