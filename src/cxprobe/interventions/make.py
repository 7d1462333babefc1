"""Items: a base and a source sentence with the same words, except where the label decides."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cxprobe.constructions.people import People
from cxprobe.interventions.names import FRAME_OF_ITEM
from cxprobe.interventions.sentences import LabelledSentences, fill_labelled
from cxprobe.seeding import generator_for


def draw_base_and_source(
    name: str, labelled: LabelledSentences, people: People, sizes: Mapping[str, int], seed: int
) -> pd.DataFrame:
    """Draw items for each part.

    No frame, row of fillers or person is in two parts. Frames take turns; the other words are drawn. Each label is the
    base as often as the other, and every sentence is asked equally often.

    Args:
        name: The construction.
        labelled: Its sentences.
        people: The people.
        sizes: Part (`TRAIN`, `TEST`) -> the number of its items.
        seed: The project's seed.

    Returns:
        One row an item: id, construction, part, sentence (its name), regions (their names), cluster_frame, base and
        source (their labels), and of both sides before, answer, after, and ends (of each region the character after its
        last), as in base_before.
    """
    content, rng = labelled.content, generator_for(seed, "interventions", name)
    numbers = {group: len(rows) for group, rows in labelled.groups.items()}
    numbers |= {slot: len(people.types[kind].nouns) for slot, kind in content.people.items()}
    divided = {key: np.array_split(rng.permutation(number), len(sizes)) for key, number in numbers.items()}
    rows, labels, sentences = list[dict[str, object]](), list(content.labels), list(content.sentences)
    for position, (part, size) in enumerate(sizes.items()):
        frames = divided["frames"][position]
        for item in range(size):
            drawn = {key: int(rng.choice(shares[position])) for key, shares in divided.items()}
            drawn["frames"] = int(frames[item % len(frames)])
            values = {slot: words for group, of in labelled.groups.items() for slot, words in of[drawn[group]].items()}
            values |= {slot: people.types[kind].nouns[drawn[slot]] for slot, kind in content.people.items()}
            turn = item + item // len(frames)  # so that a frame is asked with either label
            sides = dict(zip(("base", "source"), labels if turn % 2 == 0 else labels[::-1], strict=True))
            sentence = sentences[(turn // 2) % len(sentences)]
            row: dict[str, object] = {"id": f"{name}/{part}/{item}", "construction": name, "part": part}
            row |= {"sentence": sentence, "regions": list(labelled.regions)}
            row |= {FRAME_OF_ITEM: f"{name} {drawn['frames']}", **sides}
            for side, label in sides.items():
                filled = fill_labelled(content, content.sentences[sentence], label, values)
                row |= {f"{side}_{field}": getattr(filled, field) for field in ("before", "answer", "after")}
                row[f"{side}_ends"] = [region.end for region in filled.regions.values()][-len(labelled.regions) :]
            rows.append(row)
    return pd.DataFrame(rows)
