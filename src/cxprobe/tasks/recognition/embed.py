"""A model's vectors of all sentences, layer by layer: what probes read."""

from collections.abc import Mapping

from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.embedding import embed_texts, load_encoder
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.params import Member
from cxprobe.run.stage import Stage
from cxprobe.tasks.recognition.params import RecognitionStage


def embed(stage: Stage[RecognitionStage], member: Member) -> Mapping[str, float] | None:
    """Write every layer's vector of every sentence, see `embed_texts`; a baseline has none."""
    if member.is_baseline:
        return {"sentences": 0}
    texts = {}
    for name, source in stage.params.recognition.sources:
        sentences = read_table(stage.use(DATA / "make_recognition" / name / source) / "sentences.parquet")
        texts[f"{name}/{source}"] = sentences["text"].drop_duplicates().tolist()
    model = MeasuredModel.of(stage, member.slug, member.spec, load_encoder)
    budget = stage.params.recognition.embed.token_budget
    return embed_texts(model, texts, token_budget=budget, folder=stage.data / member.inside)
