"""measure_recognition: subsets, a model or baselines -> every layer's vectors, and predictions of probes and controls.

With `recognition.tune`, the regularisation of every probe is searched on its training part first.
"""

from collections import Counter

from cxprobe.files.arrays import Features, read_features
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.models.embedding import embed_texts, load_encoder
from cxprobe.models.language_models import write_model_facts
from cxprobe.models.measuring import MeasuredModel, measure_members
from cxprobe.models.ngrams import baseline_facts
from cxprobe.models.params import Member
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.recognition.baselines import count_features, kind_of
from cxprobe.tasks.recognition.make import read_subsets
from cxprobe.tasks.recognition.measure import probe_source
from cxprobe.tasks.recognition.params import RecognitionStage


def measure_recognition(stage: Stage[RecognitionStage]) -> Outcome | None:
    params = stage.params
    places = params.recognition.sources_of(stage.item)
    made = {f"{name}/{source}": stage.use(DATA / "make_recognition" / name / source) for name, source in places}
    tables = {place: read_table(folder / "sentences.parquet") for place, folder in made.items()}
    texts = {place: table["text"].drop_duplicates().tolist() for place, table in tables.items()}

    def measure(member: Member) -> Counter[str] | None:
        folder, counts = stage.data / member.inside, Counter[str]()
        if member.is_baseline:
            write_model_facts(baseline_facts(kind_of(member.spec)), folder)
        else:
            model = MeasuredModel.of(stage, member.slug, member.spec, load_encoder)
            budget = params.recognition.embed.token_budget
            counted = embed_texts(model, texts, token_budget=budget, folder=folder)
            if counted is None:
                return None
            counts.update(counted)
        for place, of_source in texts.items():
            if member.is_baseline:
                counted_words = count_features(of_source, member.spec, f"{member.slug}, {place}")
                features = Features(of_source, (counted_words,))
            else:
                features = read_features(folder / place)
            name, source = place.split("/")
            asked = (member.slug, name, source)
            counts.update(probe_source(params, asked, read_subsets(made[place]), features, folder / place))
        return counts

    return measure_members(stage, measure)


if __name__ == "__main__":
    run_stage(measure_recognition, RecognitionStage, "models")
