"""Minimal pairs measured: how probable each token of every pair is, or which text a baseline prefers."""

from collections.abc import Mapping

from cxprobe.models.pairs import measure_pairs, pairs_shown_to, scoring_model, texts_of_pairs
from cxprobe.models.params import Member
from cxprobe.models.texts import Pair, ScoringConfig, pairs_of
from cxprobe.run.record import read_model_facts, write_model_facts
from cxprobe.run.stage import Stage
from cxprobe.tasks.pairs.params import PairsStage
from cxprobe.tasks.pairs.sources import OWN_PAIRS, first_items, folder_of, read_sources


def measure(stage: Stage[PairsStage], member: Member) -> Mapping[str, float] | None:
    """Measure a model, a baseline or a file on the pairs of each source: the files of `measure_pairs`."""
    section, root = stage.params.pairs, stage.data / member.inside
    how, seed = ScoringConfig(section.score.schemes, section.score.token_budget), stage.params.seed
    sources: dict[str, list[list[Pair]]] = {}
    for source, table in read_sources(section, stage.use).items():
        asked = first_items(table, section.models[stage.item])
        by = "construction" if source == OWN_PAIRS else "source"
        sources[source] = [pairs_of(portion) for _, portion in asked.groupby(by, sort=False)]
    model = scoring_model(stage, member)
    shown = pairs_shown_to(member, model, sources)
    if not shown:
        print(f"{member.slug}: no pair has a context, so that it is asked about none", flush=True)
        return {"pairs": 0}
    counts: dict[str, float] = {}
    for source, portions in shown.items():
        folder = root / folder_of(source)
        counted = measure_pairs(model, member, sources[source], portions, texts_of_pairs, how, folder, seed)
        if counted is not None:
            write_model_facts(read_model_facts(folder), root)
            before = "" if source == OWN_PAIRS else f"{source}."
            counts |= {before + name: number for name, number in counted.items()}
    return counts or None
