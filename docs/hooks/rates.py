"""Numbers of the recorded run in the text of a page, read from the table that git keeps.

Between ``<!-- recorded: model=mini-mlm, construction=let-alone, facet=scenario, level=S1, measure=accuracy -->`` and
``<!-- -->`` stands "44 % [37, 52], n = 336", as in the report. The comment describes a row of recorded/rates.csv.

`python docs/hooks/rates.py` writes the numbers, and the verdicts of the report, into the pages anew.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cxprobe.results.verdict import BESIDE_CONTROL, VERDICTS
from cxprobe.results.words import in_full
from cxprobe.stats import Estimate

RATES = Path("recorded/rates.csv")
PLACE = re.compile(r"(<!-- recorded: (.+?) -->).*?(<!-- -->)")
CONTRASTS_PLACE = re.compile(r"(<!-- contrasts: (\S+) -->\n).*?(?=\n\n)", re.S)
VERDICTS_PLACE = re.compile(r"(<!-- verdicts -->\n).*?(?=\n\n)", re.S)


def fill_rates(text: str, folder: Path) -> str:
    """Return a page with every number, and the table of verdicts, in its place.

    Args:
        text: The page, in Markdown.
        folder: The project's folder.

    Raises:
        ValueError: The table has no row, or several, of the description.
    """
    text = VERDICTS_PLACE.sub(lambda found: found[1] + describe_verdicts(), text)
    if not PLACE.search(text) and not CONTRASTS_PLACE.search(text):
        return text
    with (folder / RATES).open(newline="") as file:
        rows = list(csv.DictReader(file))
    text = CONTRASTS_PLACE.sub(lambda found: found[1] + describe_contrasts(rows, found[2]), text)
    return PLACE.sub(lambda found: found[1] + in_full(read_rate(rows, found[2])) + found[3], text)


def describe_verdicts() -> str:
    """Return the verdicts of the report and their rules as a table."""
    rows = [f"| {one.sign} {one.words} | {one.rule} |" for one in VERDICTS.values()]
    return "\n".join(["| verdict | when it is given |", "|---|---|", *rows])


def describe_contrasts(rows: Sequence[Mapping[str, str]], model: str) -> str:
    """Return the form, the meaning and the verdict of each construction that has contrasts, as a table."""
    of_model = [row for row in rows if row["model"] == model]
    forms = {
        row["construction"]: row
        for row in of_model
        if (row["facet"], row["measure"]) == ("", "accuracy") and row["source"] == "real"
    }
    by_place = {
        (row["construction"], row["level"], row["measure"]): row for row in of_model if row["facet"] == "condition"
    }
    lines = ["| construction | form | meaning | control | above neutral | above rival | verdict |", "|" + "---|" * 7]
    for name in dict.fromkeys(row["construction"] for row in of_model if row["facet"] == "condition"):
        shares = [by_place[name, level, "above_zero"] for level in ("construction", "control")]
        nats = [by_place[name, level, "contrast"] for level in ("less_neutral", "less_rival")]
        cells = [in_full(estimate(row)) for row in (forms[f"{name}-form"], *shares)]
        cells += [f"{float(row['value']):+.3f} [{float(row['low']):+.3f}, {float(row['high']):+.3f}]" for row in nats]
        lines.append(f"| {' | '.join([name, *cells, BESIDE_CONTROL[shares[0]['verdict']].words])} |")
    return "\n".join(lines)


def read_rate(rows: Sequence[Mapping[str, str]], key: str) -> Estimate:
    """Return the rate of the row that a description names: columns and their values, such as "model=mini-mlm, n=24"."""
    wanted = dict(part.split("=", 1) for part in key.split(", "))
    found = [row for row in rows if wanted.items() <= row.items()]
    if len(found) != 1:
        raise ValueError(f"{RATES} has {len(found)} rows with {wanted}; describe one")
    return estimate(found[0])


def estimate(row: Mapping[str, str]) -> Estimate:
    """Return the value of a row with its interval and number of items."""
    return Estimate(float(row["value"]), float(row["low"]), float(row["high"]), int(float(row["n"])))


if __name__ == "__main__":
    root = Path(__file__).parents[2]
    for page in (root / "docs").rglob("*.md"):
        page.write_text(fill_rates(page.read_text(), root))
