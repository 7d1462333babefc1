"""make_greetings: names -> greetings in two orders of words."""

import pandas as pd
from cxprobe.tasks.greetings.items import make_greetings as greet
from cxprobe.tasks.greetings.params import GreetingsStage

from cxprobe.files.tables import write_table
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def make_greetings(stage: Stage[GreetingsStage]) -> Outcome:
    section = stage.params.greetings
    items = pd.concat([greet(name, section.make.names) for name in section.constructions], ignore_index=True)
    write_table(items, stage.data / "items.parquet")
    return Outcome(counts={"items": len(items)})


if __name__ == "__main__":
    run_stage(make_greetings, GreetingsStage)
