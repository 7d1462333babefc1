"""build_pairs: a construction's pairs as data -> minimal pairs, as they are and with pseudowords."""

import pandas as pd

from cxprobe.pairs import PEOPLE_FILE, candidates_of, load_pairs, load_people, pair_table, render_pairs, replace_content
from cxprobe.params import CONSTRUCTIONS_FOLDER
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import write_table


def build_pairs(stage: Stage) -> Outcome:
    name, settings = stage.item["construction"], stage.params.build_pairs
    stage.use(CONSTRUCTIONS_FOLDER / name / "pairs.yaml")
    people = load_people(stage.use(PEOPLE_FILE))
    content = load_pairs(name, people)
    contents = {"real": content}
    replaced = pd.DataFrame(columns=["word", "pseudoword", "source"])
    if settings.pseudowords and content.content_slots:
        propose = candidates_of(settings.pseudowords, stage.params.seed)
        pseudo = replace_content(content, propose, stage.params.seed)
        contents["pseudo"], replaced = pseudo.content, pseudo.words
    wanted = settings.per_cell.meaning if content.tests == "meaning" else settings.per_cell.form
    rendered = [render_pairs(name, one, people, wanted, stage.params.seed, words) for words, one in contents.items()]
    table = pair_table([pair for one in rendered for pair in one.pairs])
    write_table(table, stage.data.with_suffix(".parquet"))
    cells = table.groupby(["words", "variant", "noun_type", "order"], as_index=False, sort=False).agg(
        pairs=("id", "size"), frames=("cluster_frame", "nunique")
    )
    return Outcome(
        metrics={
            "pairs": len(table),
            "items": table["item"].nunique(),
            "cells": len(cells),
            "cells_not_filled": int((cells["pairs"] < wanted).sum()),
            "pseudowords": len(replaced),
            "pseudowords_random": int((replaced["source"] == "random").sum()),
        },
        tables={"cells": cells.assign(wanted=wanted, shortfall=wanted - cells["pairs"]), "pseudowords": replaced},
    )


if __name__ == "__main__":
    run_stage(build_pairs, "construction")
