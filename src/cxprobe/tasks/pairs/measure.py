"""Minimal pairs measured: how probable each token of every pair is, or which text a baseline prefers."""

from collections.abc import Mapping

from cxprobe.files.tables import read_table
from cxprobe.models.language_models import read_model_facts, write_model_facts
from cxprobe.models.ngrams import prepend_contexts
from cxprobe.models.pairs import (
    Sources,
    check_scored,
    measure_baseline,
    pairs_shown_to,
    scoring_model,
    texts_of_pairs,
)
from cxprobe.models.params import ContinuationAlone, Member
from cxprobe.models.scoring import measure_texts
from cxprobe.models.texts import ScoringConfig, distinct_texts, pairs_of
from cxprobe.run.stage import Stage
from cxprobe.tasks.pairs.params import PairsStage
from cxprobe.tasks.pairs.sources import OWN_PAIRS, first_items, folder_of, made_files


def measure(stage: Stage[PairsStage], member: Member) -> Mapping[str, float] | None:
    """Measure a model or baseline on the pairs of each source: the files of `measure_texts` or `measure_baseline`."""
    section, root = stage.params.pairs, stage.data / member.inside
    how = ScoringConfig(section.score.schemes, section.score.token_budget)
    tables = {name: [read_table(stage.use(path)) for path in paths] for name, paths in made_files(section).items()}
    if OWN_PAIRS in tables:
        tables[OWN_PAIRS] = [first_items(table, section.models[stage.item]) for table in tables[OWN_PAIRS]]
    sources: Sources = {name: [pairs_of(table) for table in portions] for name, portions in tables.items()}
    model, shown = scoring_model(stage, member), pairs_shown_to(member, sources)
    if model is not None:
        # By the scores that will decide, so that a model that lacks them is refused before it scores anything.
        scores = {name: [benchmark.score] for name, benchmark in section.benchmarks.items()} | {
            OWN_PAIRS: section.evaluate.scores
        }
        for source, portions in shown.items():
            for pairs in portions:
                check_scored(model.described, pairs, scores[source])
    counts: dict[str, float] = {}
    writes = True
    for source, portions in shown.items():
        folder = root / folder_of(source)
        pairs = [pair for portion in sources[source] for pair in portion]
        counted: Mapping[str, float] | None
        if model is None:
            counted = measure_baseline(member, pairs, folder, stage.params.seed)
        else:
            texts = distinct_texts(texts_of_pairs(model.described, portion) for portion in portions)
            counted = measure_texts(model, texts, how, folder)
        if counted is None:
            writes = False
            continue
        if isinstance(member.spec, ContinuationAlone):
            prepend_contexts(pairs, folder)
        write_model_facts(read_model_facts(folder), root)
        before = "" if source == OWN_PAIRS else f"{source}."
        counts |= {before + name: number for name, number in {"pairs": len(pairs), **counted}.items()}
    return counts if writes else None
