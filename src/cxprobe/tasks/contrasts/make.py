"""Contrasts made: the frames of every construction in all conditions, as pairs."""

from collections import Counter

from cxprobe.constructions.people import PEOPLE_FILE, load_people
from cxprobe.files.tables import write_table
from cxprobe.models.texts import pair_table
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.contrasts.frames import contrast_pairs, contrasts_file, load_contrasts
from cxprobe.tasks.contrasts.params import ContrastsStage


def make(stage: Stage[ContrastsStage]) -> Outcome:
    """Make ``<construction>.parquet``: one row a pair, see `contrast_pairs`."""
    section, people = stage.params.contrasts, load_people(stage.use(PEOPLE_FILE))
    contents = {}
    for name in section.constructions:  # all of them are read before the first is used
        stage.use(contrasts_file(name))
        contents[name] = load_contrasts(name, people)
    counts = Counter[str](constructions=len(contents))
    for name, content in contents.items():
        pairs = contrast_pairs(name, content, people, section.make, stage.params.seed)
        write_table(pair_table(pairs), stage.data / f"{name}.parquet")
        counts["pairs"] += len(pairs)
    return Outcome(counts=counts)
