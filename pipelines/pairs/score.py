"""score_pairs: all minimal pairs, a model, a series or blind ones -> how probable each token is, or preferences."""

from collections.abc import Sequence
from pathlib import Path

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.lm.loading import load_language_model
from cxprobe.lm.ngrams import put_behind_contexts, without_contexts
from cxprobe.lm.params import ContinuationAlone, Member, ModelSpec, ServedModel, members_of
from cxprobe.lm.scoring import HowToScore, MeasuredModel
from cxprobe.lm.texts import Pair
from cxprobe.pairs.blind import measure_blindly
from cxprobe.pairs.make import pairs_of
from cxprobe.pairs.measure import measure_pairs
from cxprobe.pairs.sources import folder_of, made_files
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

Counts = dict[str, float]


def score_pairs(stage: Stage) -> Outcome | None:
    sources = {
        source: [pairs_of(read_table(stage.use(path))) for path in paths]
        for source, paths in made_files(stage.params.pairs).items()
    }
    counts: Counts = {"pairs": sum(len(own) for portions in sources.values() for own in portions)}
    writes = True
    for member in members_of(stage.params.models, [stage.item]):
        before = f"{member.slug}." if member.inside.parts else ""
        for source, own in _score(stage, member, sources).items():
            writes = writes and own is not None
            counts |= {".".join([*folder_of(source).parts[1:], before + name]): n for name, n in (own or {}).items()}
    return Outcome(counts=counts) if writes else None  # else this process only helps to fill the store


def _score(stage: Stage, member: Member, sources: dict[str, list[list[Pair]]]) -> dict[str, Counts | None]:
    """Write what one model answers about each source, and return what was counted."""
    folder = stage.data / member.inside
    match member.spec:
        case ModelSpec() | ServedModel() as spec:
            model = MeasuredModel.of(stage, member.slug, spec, load_language_model)
            return {name: _ask(stage, model, pairs, folder / folder_of(name)) for name, pairs in sources.items()}
        case ContinuationAlone(checkpoint=spec):
            shown = {name: every for name, own in sources.items() if any(every := [without_contexts(p) for p in own])}
            if not shown:
                raise DataError(
                    f"{member.slug}: no pair has a context, so that the continuation alone is the whole text and the "
                    "model is not blind; take continuation_alone out of this panel"
                )
            # Under the key of its own entry, so that both use one store of answers.
            slug = next((key for key, entry in stage.params.models.items() if entry == spec), member.slug)
            model = MeasuredModel.of(stage, slug, spec, load_language_model)
            counts = {}
            for name, alone in shown.items():
                counts[name] = _ask(stage, model, alone, folder / folder_of(name))
                if counts[name] is not None:
                    put_behind_contexts([pair for own in sources[name] for pair in own], folder / folder_of(name))
            return counts
    return {
        name: measure_blindly(member, [pair for own in portions for pair in own], folder / folder_of(name))
        for name, portions in sources.items()
    }


def _ask(stage: Stage, model: MeasuredModel, portions: Sequence[Sequence[Pair]], folder: Path) -> Counts | None:
    score = stage.params.pairs.score
    return measure_pairs(model, portions, HowToScore(score.schemes, score.bos, score.token_budget), folder)


if __name__ == "__main__":
    run_stage(score_pairs, "models")
