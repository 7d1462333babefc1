"""Items: a base and a source sentence with the same words, except where the label decides."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from cxprobe.constructions.people import PEOPLE_FILE, People, load_people
from cxprobe.files.tables import write_table
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.tasks.interventions.names import FRAME_OF_ITEM, NEUTRAL, TEST, TRAIN
from cxprobe.tasks.interventions.params import InterventionsStage, Regions
from cxprobe.tasks.interventions.sentences import (
    LAST,
    MIDDLE,
    NEUTRAL_FILE,
    LabelledSentences,
    fill_labelled,
    interventions_file,
    load_labelled,
    load_neutral,
)


def neutral_items(sentences: Sequence[str]) -> pd.DataFrame:
    """Return an item for each neutral sentence, whose source is the next one; the answers are their last words.

    Returns:
        One row a sentence, with the columns of `draw_base_and_source`; all are in the part `TEST`.
    """
    rows = []
    for number, base in enumerate(sentences):
        row: dict[str, object] = {
            "id": f"neutral/{number}",
            "construction": NEUTRAL,
            "part": TEST,
            "sentence": base,
            "tests": "",
            "control": "",
            "regions": [MIDDLE, LAST],
            FRAME_OF_ITEM: f"neutral {number}",
        }
        turned = {"base": base, "source": sentences[(number + 1) % len(sentences)]}
        for label, (side, sentence) in zip("ab" if number % 2 else "ba", turned.items(), strict=True):
            *words, answer = sentence.removesuffix(".").split()
            before = " ".join(words)
            middle = " ".join(words[: (len(words) + 1) // 2])
            row[side] = label
            row |= {f"{side}_before": before, f"{side}_answer": answer, f"{side}_after": "."}
            row[f"{side}_ends"] = [len(middle), len(before)]
        rows.append(row)
    return pd.DataFrame(rows)


def draw_base_and_source(
    name: str,
    labelled: LabelledSentences,
    people: People,
    sizes: Mapping[str, int],
    seed: int,
    regions: Regions = "all",
) -> pd.DataFrame:
    """Draw items for each part.

    No frame, row of fillers or person is in two parts. Frames take turns; the other words are drawn. Each label is the
    base as often as the other, and every sentence is asked equally often.

    Args:
        name: The construction.
        labelled: Its sentences.
        people: The people.
        sizes: Part (see `cxprobe.tasks.interventions.names`) -> the number of its items.
        seed: The project's seed.
        regions: Which regions, see `cxprobe.tasks.interventions.params.MakeInterventions`.

    Returns:
        One row an item: id, construction, tests, control ("" for none), part, sentence (its name), regions (their
        names), cluster_frame, base and source (their labels), and of both sides before, answer, after, and ends (of
        each region the character after its last), as in base_before.
    """
    content = labelled.content
    rng = generator_for(seed, "interventions", name)
    groups = dict(labelled.groups)  # group of fillers, or slot of a person -> its rows
    for slot, kind in content.people.items():
        groups[slot] = [{slot: noun} for noun in people.types[kind].nouns]
    divided = {group: np.array_split(rng.permutation(len(of)), len(sizes)) for group, of in groups.items()}
    labels, sentences = list(content.labels), list(content.sentences)
    step = max(len(labelled.regions) - 1, 1) if regions == "ends" else 1
    rows = []
    for position, (part, size) in enumerate(sizes.items()):
        frames = divided["frames"][position]
        for item in range(size):
            drawn = {group: int(rng.choice(shares[position])) for group, shares in divided.items()}
            drawn["frames"] = int(frames[item % len(frames)])
            values = dict[str, str]()
            for group, of in groups.items():
                values |= of[drawn[group]]
            turn = item + item // len(frames)  # so that a frame is asked with either label
            sides = dict(zip(("base", "source"), labels if turn % 2 == 0 else labels[::-1], strict=True))
            sentence = sentences[(turn // 2) % len(sentences)]
            row: dict[str, object] = {
                "id": f"{name}/{part}/{item}",
                "construction": name,
                "part": part,
                "tests": content.tests,
                "control": content.control or "",
                "sentence": sentence,
                "regions": list(labelled.regions)[::step],
                FRAME_OF_ITEM: f"{name} {drawn['frames']}",
                **sides,
            }
            for side, label in sides.items():
                filled = fill_labelled(content, content.sentences[sentence], label, values)
                row |= {f"{side}_{field}": getattr(filled, field) for field in ("before", "answer", "after")}
                ends = [region.end for region in filled.regions.values()]
                row[f"{side}_ends"] = ends[-len(labelled.regions) :][::step]
            rows.append(row)
    return pd.DataFrame(rows)


def make(stage: Stage[InterventionsStage]) -> Outcome:
    """Make ``items.parquet``: pairs of a base and a source sentence from labelled sentences and their frames."""
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
