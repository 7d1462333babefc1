"""measure_recognition: subsets, a model or baselines -> every layer's vectors, and what probes and controls predict.

With `recognition.tune`, the regularisation of every probe is searched on its training part first.
"""

from collections import Counter
from collections.abc import Mapping

from cxprobe.files.arrays import Features, read_features
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder
from cxprobe.models.embedding import embed_texts, load_encoder
from cxprobe.models.language_models import write_model_facts
from cxprobe.models.measuring import MeasuredModel, measure_members
from cxprobe.models.ngrams import baseline_facts
from cxprobe.models.params import Member
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.recognition.baselines import count_features, kind_of
from cxprobe.tasks.recognition.make import read_subsets, spans_of
from cxprobe.tasks.recognition.params import RecognitionStage
from cxprobe.tasks.recognition.probes import probe_source

KEPT = project_folder() / SCRATCH / "probes"


def measure_recognition(stage: Stage[RecognitionStage]) -> Outcome | None:
    section, params = stage.params.recognition, stage.params
    # "<construction>/<source>" -> the folder of its sentences
    made = {
        f"{name}/{source}": stage.use(DATA / "make_recognition" / name / source)
        for name, source in section.sources_of(stage.item)
    }
    read = {source: read_table(folder / "sentences.parquet") for source, folder in made.items()}
    sentences = {source: table.drop_duplicates("text") for source, table in read.items()}
    texts = {source: table["text"].tolist() for source, table in sentences.items()}
    marked = {source: spans_of(table) for source, table in sentences.items()}
    spans = {source: of_source for source, of_source in marked.items() if of_source is not None}

    def measure(member: Member) -> Mapping[str, float] | None:
        folder = stage.data / member.inside
        counts = Counter[str]()
        if not member.is_baseline:
            model = MeasuredModel.of(stage, member.slug, member.spec, load_encoder)
            counted = embed_texts(model, texts, spans=spans, token_budget=section.embed.token_budget, folder=folder)
            if counted is None:
                return None
            counts.update(counted)
        for source, of_source in texts.items():
            name, _, kind = source.partition("/")
            if member.is_baseline:
                place = f"{member.slug}, {source.replace('/', ' ')} sentences"
                counted_words = count_features(of_source, member.spec, place, spans.get(source))
                features = Features(of_source, (counted_words,))
            else:
                features = read_features(folder / source)
            asked = (member.slug, name, kind)
            counts.update(probe_source(params, asked, read_subsets(made[source]), features, folder / source, KEPT))
        if member.is_baseline:
            write_model_facts(baseline_facts(kind_of(member.spec)), folder)
        return counts

    return measure_members(stage, measure)


if __name__ == "__main__":
    run_stage(measure_recognition, RecognitionStage, "models")
