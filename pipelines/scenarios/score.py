"""score_scenarios: all scenarios, a masked model, a series or blind ones -> how probable each candidate word is."""

import pandas as pd

from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.lm.candidates import Usable, drop_items
from cxprobe.lm.language_models import write_model_facts
from cxprobe.lm.loading import load_masked_lm
from cxprobe.lm.ngrams import blind_facts
from cxprobe.lm.params import Member, Rule, members_of
from cxprobe.lm.scoring import MeasuredModel
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.scenarios.blind import fill_blindly
from cxprobe.scenarios.measure import SCORES_FILE, fill_masks

NONE_DROPPED = pd.DataFrame(columns=["word", "reason", "items"])


def score_scenarios(stage: Stage) -> Outcome | None:
    made = {
        name: [read_table(stage.use(DATA / "make_scenarios" / name / f"{kind}.parquet")) for kind in ("items", "texts")]
        for name in stage.params.scenarios.constructions
    }
    counts, writes = dict[str, float](), True
    for member in members_of(stage.params.models, [stage.item]):
        counted = _score(stage, member, made)
        writes = writes and counted is not None
        before = f"{member.slug}." if member.inside.parts else ""
        counts |= {before + name: count for name, count in (counted or {}).items()}
    return Outcome(counts=counts) if writes else None  # else this process only helps to fill the store


def _score(stage: Stage, member: Member, made: dict[str, list[pd.DataFrame]]) -> dict[str, float] | None:
    """Write what one model answers about all constructions, and return what was counted."""
    folder = stage.data / member.inside
    if isinstance(member.spec, Rule):
        asked = {name: Usable(items, texts, NONE_DROPPED, 0) for name, (items, texts) in made.items()}
        every = [own.texts.assign(construction=name) for name, own in asked.items()]
        scores, counts = fill_blindly(member.spec.kind, pd.concat(every, ignore_index=True)), dict[str, float]()
        facts = blind_facts(member.spec.kind)
    else:
        model = MeasuredModel.of(stage, member.slug, member.spec, load_masked_lm)
        place = f"models.{member.slug}"
        asked = {name: drop_items(model.described, *own, place=f"{place}, {name}") for name, own in made.items()}
        texts = {name: own.texts for name, own in asked.items()}
        filled = fill_masks(model, texts, stage.params.scenarios.score.token_budget, folder)
        if filled is None:
            return None
        scores, counts = filled
        facts = model.facts
    dropped = pd.concat([own.dropped.assign(construction=name) for name, own in asked.items()], ignore_index=True)
    write_table(scores, folder / SCORES_FILE)
    write_table(dropped, folder / "dropped.parquet")
    write_model_facts(facts, folder)
    left_out = sum(own.dropped_items for own in asked.values())
    of_texts = {"texts": len(scores), "distinct_texts": scores["text"].nunique()}
    return {"items": sum(len(own.items) for own in asked.values()), "dropped_items": left_out, **of_texts, **counts}


if __name__ == "__main__":
    run_stage(score_scenarios, "models")
