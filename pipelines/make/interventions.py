"""make_interventions: labelled sentences and their frames -> pairs of a base and a source sentence."""

import pandas as pd

from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.tables import write_table
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.interventions.make import draw_base_and_source, neutral_items
from cxprobe.tasks.interventions.names import TEST, TRAIN
from cxprobe.tasks.interventions.params import InterventionsStage
from cxprobe.tasks.interventions.sentences import NEUTRAL_FILE, interventions_file, load_labelled, load_neutral


def make_interventions(stage: Stage[InterventionsStage]) -> Outcome:
    section, people = stage.params.interventions, load_people(stage.use(PEOPLE_FILE))
    regions = section.make.regions
    tables = []
    for name in section.constructions:
        stage.use(interventions_file(name))
        labelled = load_labelled(name, people)
        sizes = {TEST: section.make.test}
        if section.make.learn is None or name in section.make.learn:
            sizes[TRAIN] = section.make.train
        tables.append(draw_base_and_source(name, labelled, people, sizes, stage.params.seed, regions))
    tables.append(neutral_items(load_neutral(stage.use(NEUTRAL_FILE))))
    items = pd.concat(tables, ignore_index=True)
    write_table(items, stage.data / "items.parquet")
    return Outcome(counts={"constructions": len(section.constructions), "items": len(items)})


if __name__ == "__main__":
    run_stage(make_interventions, InterventionsStage)
