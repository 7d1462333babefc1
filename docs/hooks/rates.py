"""Numbers of the recorded run in the text of a page, read from the results that git keeps.

Between ``<!-- results/judge_prompts/metrics.json: mini-clm/inference -->`` and ``<!-- -->`` stands "44 % [37, 52],
n = 336", as in the report. What stands after the colon is the path of a rate in the JSON file, usually a model and a
name. For a table it says which row is meant: ``results/evaluate_scenarios/rates.csv: model=mini-mlm,
construction=let-alone, facet=scenario, level=S1`` on one line.

`python docs/hooks/rates.py` writes the numbers, and the verdicts of the report, into the pages anew.
"""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cxprobe.results.verdict import VERDICTS
from cxprobe.results.words import in_full, percent
from cxprobe.stats import Estimate

PLACE = re.compile(r"(<!-- (results/[\w/.-]+): (.+?) -->).*?(<!-- -->)")
VERDICTS_PLACE = re.compile(r"(<!-- verdicts -->\n).*?(?=\n\n)", re.S)


def fill_rates(text: str, folder: Path) -> str:
    """Return a page with every number, and the table of verdicts, in its place.

    Args:
        text: The page, in Markdown.
        folder: The project's folder.

    Raises:
        ValueError: A file lacks what the text names, or a table has several rows of the description.
    """
    text = VERDICTS_PLACE.sub(lambda found: found[1] + describe_verdicts(), text)
    return PLACE.sub(lambda found: found[1] + _shown(read_rate(folder / found[2], found[3])) + found[4], text)


def describe_verdicts() -> str:
    """Return the verdicts of the report and their rules as a table."""
    rows = [f"| {one.sign} {one.words} | {one.rule} |" for one in VERDICTS.values()]
    return "\n".join(["| verdict | when it is given |", "|---|---|", *rows])


def read_rate(path: Path, key: str) -> Mapping[str, Any]:
    """Return a rate: accuracy, and low, high and n as far as the file has them."""
    if not path.is_file():
        raise ValueError(f"{path} is not there; the numbers of a page are those of results in git")
    if path.suffix == ".csv":
        wanted = dict(part.split("=", 1) for part in key.split(", "))
        with path.open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if wanted.items() <= row.items()]
        if len(rows) != 1:
            raise ValueError(f"{path} has {len(rows)} rows with {wanted}; describe one")
        return rows[0] if "accuracy" in rows[0] else {**rows[0], "accuracy": rows[0]["value"]}
    rate = json.loads(path.read_text())
    for step in key.split("/"):
        if not isinstance(rate, dict) or step not in rate:
            raise ValueError(f"{path} has no '{key}'")
        rate = rate[step]
    rate = rate if isinstance(rate, dict) else {"accuracy": rate}
    if "accuracy" not in rate:
        raise ValueError(f"{path}: '{key}' has no accuracy")
    return rate


def estimate(rate: Mapping[str, Any]) -> Estimate:
    """Return a rate that has an interval and a number of items."""
    return Estimate(float(rate["accuracy"]), float(rate["low"]), float(rate["high"]), int(float(rate["n"])))


def _shown(rate: Mapping[str, Any]) -> str:
    return in_full(estimate(rate)) if "low" in rate else percent(float(rate["accuracy"]))


if __name__ == "__main__":
    root = Path(__file__).parents[2]
    for page in (root / "docs").rglob("*.md"):
        page.write_text(fill_rates(page.read_text(), root))
