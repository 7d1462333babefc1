"""Numbers of the recorded runs, the verdicts and the names of the package as tables in pages.

A comment above a table says what fills it, so that no number is typed by hand:

- ``<!-- rates -->``: the last cell of each line names a row of recorded/quick.csv, or of
  recorded/further.csv where that has none, as `pairs/mini-clm/all/real/accuracy/tests=form`; the cell before it has
  the rate.
- ``<!-- rates: recognition/{column}/{row}/accuracy -->``: the first cell of a line is its {row}, the head has the
  {column}.
- ``<!-- contrasts: MODEL -->`` or ``<!-- contrasts: CONSTRUCTION -->``, ``<!-- verdicts -->`` and ``<!-- names -->``:
  the whole table is written.

`python docs/hooks/rates.py` writes all of them anew.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import cxprobe
from cxprobe.results.rates import ALL
from cxprobe.results.schema import KEYS, MEASURES
from cxprobe.results.schema import RATES as RATES_COLUMNS
from cxprobe.results.verdict import ADDS, BESIDE_CONTROL, VERDICTS
from cxprobe.results.words import in_full
from cxprobe.stats import Estimate

RATES = (Path("recorded/quick.csv"), Path("recorded/further.csv"))
"""A rate that both runs have, such as that of a baseline, is the first one's."""
TABLE = re.compile(r"<!-- (rates|contrasts|verdicts|names)(?:: (\S+))? -->\n(?:\|.*\n)+")
METHODS = {
    "LanguageModel": ("surprisal", "score", "compare", "fill"),
    "Encoder": ("features",),
}


def fill_tables(text: str, folder: Path) -> str:
    """Return a page with every generated table as it is now.

    Args:
        text: The page, in Markdown.
        folder: The project's folder.

    Raises:
        ValueError: The rates have no row, or several, of a name.
    """
    if not TABLE.search(text):
        return text
    rows = read_rows(folder)

    def filled(found: re.Match[str]) -> str:
        kind, about = found[1], found[2] or ""
        comment, head, rule, *lines = found[0].splitlines()
        match kind:
            case "verdicts":
                table = describe_verdicts()
            case "names":
                table = describe_names()
            case "contrasts":
                table = describe_contrasts(rows, about)
            case _:
                columns = _cells(head)[1:] if about else []
                table = [head, rule, *(_with_rates(_cells(line), columns, about, rows) for line in lines)]
        return "\n".join([comment, *table]) + "\n"

    return TABLE.sub(filled, text)


def read_rows(folder: Path) -> list[dict[str, str]]:
    """Return the rates of the recorded runs of a project, each place's once, with the facets of both."""
    rows: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
    for path in RATES:
        with (folder / path).open(newline="") as file:
            for row in csv.DictReader(file):
                names = [
                    name for name in row if row[name] and (name in (*KEYS, "measure") or name not in RATES_COLUMNS)
                ]
                rows.setdefault(tuple((name, row[name]) for name in sorted(names)), row)
    columns = dict.fromkeys(name for row in rows.values() for name in row)
    return [dict.fromkeys(columns, "") | row for row in rows.values()]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _with_rates(cells: list[str], columns: Sequence[str], about: str, rows: Sequence[Mapping[str, str]]) -> str:
    if columns:
        keys = [about.format(column=column, row=cells[0]) for column in columns]
        return _line([cells[0], *(read_rate(rows, key) for key in keys)])
    return _line([*cells[:-2], read_rate(rows, cells[-1].strip("`")), cells[-1]])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def describe_verdicts() -> list[str]:
    """Return the verdicts of the report and their rules as a table."""
    verdicts = {**BESIDE_CONTROL, **VERDICTS}
    rows = [_line([f"{one.sign} {one.words}", f"`{key}`", one.rule]) for key, one in verdicts.items()]
    return ["| verdict | in tables | when it is given |", "|---|---|---|", *rows]


def describe_names() -> list[str]:
    """Return the public names of the package, and what each is in a line, as a table."""
    lines = ["| name | what it is or returns |", "|---|---|"]
    for name in cxprobe.__all__:
        lines.append(_line([f"`{name}`", _first_line(getattr(cxprobe, name))]))
        for method in METHODS.get(name, ()):
            lines.append(_line([f"`{name}.{method}`", _first_line(getattr(getattr(cxprobe, name), method))]))
    return lines


def _first_line(described: object) -> str:
    return str(described.__doc__).strip().splitlines()[0].replace("``", "`").replace("|", "\\|")


def describe_contrasts(rows: Sequence[Mapping[str, str]], about: str) -> list[str]:
    """Return the form, meaning, what is added and the verdict as a table.

    Args:
        rows: The recorded rates.
        about: A model, for a line for each construction; or a construction, for a line for each model with a verdict.
    """
    forms = {
        (row["model"], row["construction"]): in_words(row)
        for row in rows
        if (row["measure"], row["source"], row["decides"]) == ("accuracy", "real", "True")
    }
    of_contrasts = [row for row in rows if row["condition"] and not row.get("wording") and row["construction"] != ALL]
    by_place = {(row["model"], row["construction"], row["condition"], row["measure"]): row for row in of_contrasts}
    by_model = any(row["model"] == about for row in of_contrasts)
    head = "construction" if by_model else "model"
    lines = [f"| {head} | form | meaning | control | adds | nearest | verdict |", "|" + "---|" * 7]
    for model, name in dict.fromkeys(key[:2] for key in by_place if about in key[:2]):
        shares = [by_place[model, name, condition, "above_zero"] for condition in ("construction", "control")]
        if verdict := shares[0]["verdict"]:
            adds = by_place[model, name, ADDS, "contrast"]
            numbers = [forms.get((model, f"{name}-form"), ""), *(in_words(row) for row in (*shares, adds))]
            cells = [name if by_model else model, *numbers, adds["baseline"], BESIDE_CONTROL[verdict].words]
            lines.append(_line(cells))
    return lines


def read_rate(rows: Sequence[Mapping[str, str]], key: str) -> str:
    """Return the rate of the row that a key names: task/model/construction/source/measure, and column=value of facets.

    Facets that the key does not name are undivided.
    """
    *place, last = key.split("/")
    facets = dict(part.split("=", 1) for part in last.split(",")) if "=" in last else {}
    names = ("task", "model", "construction", "source", "measure")
    wanted = dict(zip(names, place if facets else [*place, last], strict=True))
    undivided = [name for name in rows[0] if name not in RATES_COLUMNS and name not in facets]
    wanted |= facets | dict.fromkeys(undivided, "")
    found = [row for row in rows if wanted.items() <= row.items()]
    if len(found) != 1:
        raise ValueError(f"recorded/ has {len(found)} rows with {key}; name one")
    return in_words(found[0])


def in_words(row: Mapping[str, str]) -> str:
    """Return a rate as "44 % [37, 52], n = 336", and what is in nats as "+0.77 [+0.34, +1.20]"."""
    rate = Estimate(float(row["value"]), float(row["low"]), float(row["high"]), int(float(row["n"])))
    if MEASURES[row["measure"]].greatest == 1:
        return in_full(rate)
    return f"{rate.value:+.3f} [{rate.low:+.3f}, {rate.high:+.3f}]"


if __name__ == "__main__":
    root = Path(__file__).parents[2]
    for page in (root / "README.md", root / "models/taught-clm/README.md", *(root / "docs").rglob("*.md")):
        page.write_text(fill_tables(page.read_text(), root))
