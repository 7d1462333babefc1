"""measure_pairs: all minimal pairs, a model, a series or baselines -> how probable each token is, or preferences."""

from collections.abc import Mapping

from cxprobe.files.tables import read_table
from cxprobe.models.measuring import measure_members
from cxprobe.models.ngrams import prepend_contexts
from cxprobe.models.params import ContinuationAlone, Member
from cxprobe.models.scoring import measure_texts
from cxprobe.models.texts import ScoringConfig, distinct_texts, read_pair_answers
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.pairs.make import pairs_of
from cxprobe.tasks.pairs.measure import (
    Sources,
    check_scored,
    contrasts_in_words,
    measure_baseline,
    pairs_shown_to,
    scoring_model,
    texts_of_pairs,
)
from cxprobe.tasks.pairs.params import PairsStage
from cxprobe.tasks.pairs.sources import OWN_PAIRS, first_items, folder_of, made_files


def measure_pairs(stage: Stage[PairsStage]) -> Outcome | None:
    section = stage.params.pairs
    how = ScoringConfig(section.score.schemes, section.score.token_budget)
    tables = {name: [read_table(stage.use(path)) for path in paths] for name, paths in made_files(section).items()}
    if OWN_PAIRS in tables:
        tables[OWN_PAIRS] = [first_items(table, section.models[stage.item]) for table in tables[OWN_PAIRS]]
    sources: Sources = {name: [pairs_of(table) for table in portions] for name, portions in tables.items()}
    # The scores that will decide, so that a model that lacks them is refused before it scores anything.
    scores = {name: [benchmark.score] for name, benchmark in section.benchmarks.items()} | {
        OWN_PAIRS: section.evaluate.scores
    }

    def score(member: Member) -> Mapping[str, float] | None:
        model, shown = scoring_model(stage, member), pairs_shown_to(member, sources)
        if model is not None:
            for source, portions in shown.items():
                for pairs in portions:
                    check_scored(model.described, pairs, scores[source])
        counts: dict[str, float] = {}
        writes = True
        for source, portions in shown.items():
            folder = stage.data / member.inside / folder_of(source)
            pairs = [pair for portion in sources[source] for pair in portion]
            counted: Mapping[str, float] | None
            if model is None:
                counted = measure_baseline(member, pairs, folder, stage.params.seed)
            else:
                texts = distinct_texts(texts_of_pairs(model.described, portion) for portion in portions)
                has_contrasts = source == OWN_PAIRS and bool(section.contrasts)
                printed: list[str] = []
                # The first contrast alone is known minutes before the others.
                for end in [1, len(texts)] if has_contrasts else [len(texts)]:
                    counted = measure_texts(model, texts[:end], how, folder)
                    if counted and has_contrasts:
                        lines = contrasts_in_words(pairs, read_pair_answers(folder))
                        print(*(line for line in lines if line not in printed), sep="\n", flush=True)
                        printed = lines
            if counted is None:
                writes = False
                continue
            if isinstance(member.spec, ContinuationAlone):
                prepend_contexts(pairs, folder)
            before = "" if source == OWN_PAIRS else f"{source}."
            counts |= {before + name: number for name, number in {"pairs": len(pairs), **counted}.items()}
        return counts if writes else None

    return measure_members(stage, score)


if __name__ == "__main__":
    run_stage(measure_pairs, PairsStage, "models")
