"""score_pairs: all minimal pairs, a model or blind ones -> how probable each token is, or preferences."""

from collections.abc import Sequence
from functools import partial

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.loading import load_language_model
from cxprobe.lm.ngrams import put_behind_contexts, refuse_without_contexts, without_contexts
from cxprobe.lm.params import ContinuationAlone, Member, ModelSpec, ServedModel, members_of
from cxprobe.lm.precision import require_agreement
from cxprobe.lm.scoring import HowToScore
from cxprobe.lm.texts import Pair
from cxprobe.pairs.blind import measure_blindly
from cxprobe.pairs.make import pairs_of
from cxprobe.pairs.measure import measure_pairs
from cxprobe.pairs.params import ScorePairs
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

Portions = Sequence[Sequence[Pair]]
Counts = dict[str, float]
Checkpoint = ModelSpec | ServedModel


def score_pairs(stage: Stage) -> Outcome | None:
    files = [stage.use(DATA / "build_pairs" / f"{name}.parquet") for name in stage.params.grid.pairs.constructions]
    pairs = [pairs_of(read_table(file)) for file in files]
    counts: Counts = {"pairs": sum(map(len, pairs))}
    for member in members_of(stage.params.models, [stage.item["model"]]):
        before = f"{member.slug}." if member.inside.parts else ""
        if (found := _score(stage, member, pairs)) is None:  # this process only helps to fill the store
            return None
        counts |= {before + name: count for name, count in found.items()}
    return Outcome(counts=counts)


def _score(stage: Stage, member: Member, pairs: Portions) -> Counts | None:
    """Write what one model answers, and return what was counted."""
    folder, every = stage.data / member.inside, [pair for own in pairs for pair in own]
    match member.spec:
        case ModelSpec() | ServedModel():
            return _ask(stage, member, member.spec, pairs, stage.params.score_pairs)
        case ContinuationAlone(checkpoint=checkpoint):
            refuse_without_contexts(member.slug, every)
            alone = [without_contexts(own) for own in pairs]
            counts = _ask(stage, member, checkpoint, alone, stage.params.score_pairs.on_one_device())
            put_behind_contexts(every, folder)
            return counts
    return measure_blindly(member, every, folder)


def _ask(stage: Stage, member: Member, spec: Checkpoint, pairs: Portions, settings: ScorePairs) -> Counts | None:
    """Write what a checkpoint answers; under the key of its own entry, so that both use one store of answers."""
    params, processes = stage.params, stage.job.start(settings.for_model(spec))
    slug = next((key for key, entry in params.models.items() if entry == spec), member.slug)
    load = partial(load_language_model, device=processes.device)
    how = HowToScore(settings.schemes, settings.bos, settings.token_budget)
    check = partial(require_agreement, slug, spec, load, params.precision, params.seed)
    what, folder = f"{stage.name} {member.slug}", stage.data / member.inside
    return measure_pairs(slug, load(slug, spec), pairs, how, check, processes=processes, what=what, folder=folder)


if __name__ == "__main__":
    run_stage(score_pairs, "model")
