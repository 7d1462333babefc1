"""Greetings made: names -> greetings in two orders of words."""

import pandas as pd
from cxprobe.tasks.greetings.items import make_greetings
from cxprobe.tasks.greetings.params import GreetingsStage

from cxprobe.files.tables import write_table
from cxprobe.run.stage import Outcome, Stage


def make(stage: Stage[GreetingsStage]) -> Outcome:
    """Make items.parquet."""
    section = stage.params.greetings
    items = pd.concat([make_greetings(name, section.make.names) for name in section.constructions], ignore_index=True)
    write_table(items, stage.data / "items.parquet")
    return Outcome(counts={"items": len(items)})
