"""score_pairs: all minimal pairs, a model, a series or blind ones -> how probable each token is, or preferences."""

from collections.abc import Mapping, Sequence

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.lm.loading import load_language_model
from cxprobe.lm.ngrams import put_behind_contexts, without_contexts
from cxprobe.lm.params import ContinuationAlone, Member, ModelSpec, ServedModel, members_of
from cxprobe.lm.scores import CONTEXT_SCORES
from cxprobe.lm.scoring import HowToScore, MeasuredModel, distinct_texts, measure_texts
from cxprobe.lm.texts import Pair
from cxprobe.pairs.blind import measure_blindly
from cxprobe.pairs.make import pairs_of
from cxprobe.pairs.measure import check_scored, texts_of_pairs
from cxprobe.pairs.sources import OWN_PAIRS, first_items, folder_of, made_files
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

Sources = Mapping[str, Sequence[Sequence[Pair]]]  # source -> its pairs in portions, such as constructions


def score_pairs(stage: Stage) -> Outcome | None:
    section = stage.params.pairs
    how = HowToScore(section.score.schemes, section.score.bos, section.score.token_budget)
    tables = {name: [read_table(stage.use(path)) for path in paths] for name, paths in made_files(section).items()}
    if OWN_PAIRS in tables:
        tables[OWN_PAIRS] = [first_items(table, section.score.fewer.get(stage.item)) for table in tables[OWN_PAIRS]]
    sources: Sources = {name: [pairs_of(table) for table in portions] for name, portions in tables.items()}
    # What they will be judged by, so that a model whose answers would not do is refused before it is asked.
    scores = {name: [benchmark.score] for name, benchmark in section.benchmarks.items()} | {
        OWN_PAIRS: section.judge.scores
    }
    own = [pair for pairs in sources.get(OWN_PAIRS, ()) for pair in pairs]
    if own and section.judge.score in CONTEXT_SCORES and not any(pair.context for pair in own):
        raise DataError(f"pairs.judge.score: {section.judge.score} needs a context, and no pair has one; take another")
    members = members_of(stage.params.models, [stage.item])
    shown = {member.slug: _shown(member, sources) for member in members}
    counts = {"pairs": float(sum(len(pairs) for portions in sources.values() for pairs in portions))}
    writes = True
    for member in members:
        model = _model_of(stage, member)
        if model is not None:
            for source, portions in shown[member.slug].items():
                for pairs in portions:
                    check_scored(model.described, pairs, how.bos, scores[source])
        for source, portions in shown[member.slug].items():
            folder = stage.data / member.inside / folder_of(source)
            pairs = [pair for portion in sources[source] for pair in portion]
            counted: dict[str, float] | None
            if model is None:
                counted = measure_blindly(member, pairs, folder, stage.params.seed)
            else:
                texts = distinct_texts(texts_of_pairs(model.described, own, how.bos) for own in portions)
                counted = measure_texts(model, texts, how, folder)
            if counted is None:
                writes = False  # this process only helps to fill the store
                continue
            if isinstance(member.spec, ContinuationAlone):
                put_behind_contexts(pairs, folder)
            before = [*folder_of(source).parts[1:], *([member.slug] if member.inside.parts else [])]
            counts |= {".".join([*before, name]): number for name, number in counted.items()}
    return Outcome(counts=counts) if writes else None


def _shown(member: Member, sources: Sources) -> Sources:
    """Return the pairs that a model is asked about: all, or the second sentences of those with a context."""
    if not isinstance(member.spec, ContinuationAlone):
        return sources
    alone = {name: [without_contexts(pairs) for pairs in portions] for name, portions in sources.items()}
    shown = {name: portions for name, portions in alone.items() if any(portions)}
    if not shown:
        raise DataError(
            f"{member.slug}: no pair has a context, so that the continuation alone is the whole text and the model is "
            "not blind; take continuation_alone out of this panel"
        )
    return shown


def _model_of(stage: Stage, member: Member) -> MeasuredModel | None:
    """Return the model that scores texts; None for a rule, or for counts of words."""
    match member.spec:
        case ModelSpec() | ServedModel():
            return MeasuredModel.of(stage, member.slug, member.spec, load_language_model)
        case ContinuationAlone(checkpoint=spec):
            # Under the key of its own entry, so that both use one store of answers.
            slug = next((key for key, entry in stage.params.models.items() if entry == spec), member.slug)
            return MeasuredModel.of(stage, slug, spec, load_language_model)
    return None


if __name__ == "__main__":
    run_stage(score_pairs, "models")
