"""Numbers of the recorded run in the text of a page, read from the results that git keeps.

``{{ results/judge_probes/minilm/metrics.json: comparative-correlative, balanced }}`` becomes "68 % [63, 73] (n = 720)".
What stands after the colon is a key of the JSON file, with a slash before each further level; a dot is the whole file.
For a table it says which row is meant:
``{{ results/report_scenarios/accuracy.csv: model=mini-mlm, construction=let-alone, scenario=S1 }}``.
"""

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path

PLACE = re.compile(r"\{\{ (results/[\w/.-]+): (.+?) \}\}")


def fill_rates(text: str, folder: Path) -> str:
    """Return a page with every number in its place.

    Args:
        text: The page, in Markdown.
        folder: The project's folder.

    Raises:
        ValueError: A file lacks what the text names, or a table has several rows of the description.
    """
    return PLACE.sub(lambda found: _shown(_read(folder, found[1], found[2]), found[0]), text)


def _read(folder: Path, file: str, key: str) -> Mapping[str, object]:
    """Return a rate: accuracy, low, high, n, as far as the file has them."""
    path = folder / file
    if not path.is_file():
        raise ValueError(f"{file} is not there; the numbers of a page are those of results in git")
    if path.suffix == ".csv":
        return _row(path, dict(part.split("=", 1) for part in key.split(", ")))
    found = json.loads(path.read_text())
    for step in [] if key == "." else key.split("/"):
        if not isinstance(found, dict) or step not in found:
            raise ValueError(f"{file} has no '{key}'")
        found = found[step]
    return found if isinstance(found, dict) else {"accuracy": found}


def _row(path: Path, wanted: Mapping[str, str]) -> Mapping[str, object]:
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if all(row[key] == value for key, value in wanted.items())]
    if len(rows) != 1:
        raise ValueError(f"{path} has {len(rows)} rows with {dict(wanted)}; describe one")
    return rows[0]


def _shown(rate: Mapping[str, object], place: str) -> str:
    if "accuracy" not in rate:
        raise ValueError(f"{place}: there is no accuracy")
    percent = {key: round(100 * float(str(rate[key]))) for key in ("accuracy", "low", "high") if key in rate}
    interval = f" [{percent['low']}, {percent['high']}]" if {"low", "high"} <= percent.keys() else ""
    if "low" in percent and "high" not in percent:
        interval = f", at least {percent['low']} %"
    n = f" (n = {float(str(rate['n'])):,.0f})" if "n" in rate else ""
    return f"{percent['accuracy']} %{interval}{n}"
