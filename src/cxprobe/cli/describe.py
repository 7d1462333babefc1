"""The command ``cxprobe describe``."""

from typing import Annotated

import typer


def describe(
    blind: Annotated[
        str, typer.Option(help="A construction: only print what blind models get on its items, before any run.")
    ] = "",
) -> None:
    """Write constructions/README.md: each construction, examples of its items, and the accuracies of blind models."""
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
    from cxprobe.files.writing import write_bytes
    from cxprobe.site.constructions import make_page

    if blind:
        _print_blind_rates(blind)
        return
    path = CONSTRUCTIONS_FOLDER / "README.md"
    write_bytes(make_page().encode(), path)
    print(f"{path} says what the data say")


def _print_blind_rates(construction: str) -> None:
    """Print the rates of the blind models of params.yaml on a construction's items, best first."""
    import pandas as pd

    from cxprobe.constructions.construction import load_construction
    from cxprobe.lines import LINES
    from cxprobe.project.params import load_params
    from cxprobe.report.words import in_full
    from cxprobe.stats import Estimate

    load_construction(construction)  # which says what a wrong name should be
    params = load_params()
    of_lines = [line.blind_rates(construction, params) for line in LINES.values()]
    rates = pd.concat([pd.DataFrame({"items": []}), *of_lines])
    if rates.empty:
        print(f"{construction} has neither pairs nor items of prompts, so there is nothing to ask blind models about")
    for items, table in rates.groupby("items", sort=False):
        print(f"{items}:")
        for row in table.sort_values("accuracy", ascending=False, kind="stable").to_dict("records"):
            rate = Estimate(row["accuracy"], row["low"], row["high"], int(row["n"]))
            print(f"  {row['model']}: {in_full(rate)}".replace("\u00a0", " "))
