"""The figure of a run, and the names of settings in all figures."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.report.dots import dots_of_run


def prompt_accuracy_figure(by_prompt: pd.DataFrame, title: str) -> Figure:
    """Draw the accuracies of one run, a row per set, setting and prompt, with what the best constant answer gets.

    Args:
        by_prompt: Columns set, shots, examples, chain_of_thought, prompt, accuracy, low, high, n, chance.
        title: Of the figure.
    """
    rows = zip(by_prompt["set"], setting_names(by_prompt), by_prompt["prompt"], strict=True)
    return dots_of_run(by_prompt.assign(group=[", ".join(row) for row in rows]), title, chance=None)


def setting_names(table: pd.DataFrame) -> list[str]:
    """Return the names of a table's settings for figures: "0 shots", "3 shots of CxNLI, reasoned".

    Args:
        table: Columns shots, examples, chain_of_thought.
    """
    names = []
    for shots, examples, thought in table[["shots", "examples", "chain_of_thought"]].itertuples(index=False):
        shown = f"{shots} shot{'' if shots == 1 else 's'}" + (f" of {stems(examples)}" if shots else "")
        names.append(shown + (", reasoned" if thought else ""))
    return names


def stems(examples: str) -> str:
    """Return sources of examples, which "+" joins, without their folders and endings."""
    return "+".join(Path(source).stem for source in examples.split("+"))
