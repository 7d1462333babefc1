"""A model measured for recognition: what probes of its vectors predict, layer by layer.

A baseline counts a sentence's words, letters, tags or places, in the place of a model's vectors. The counts are probed
exactly as the vectors of a model's layer are. The rate of a probe on them shows how far the sentences give the label
away by their spelling, their words, their parts of speech, or the places of their function words. To count takes no
longer than to read the counts, and tags are set once for all members of a set, so counts are not kept.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from cxprobe.files.arrays import Features, read_features
from cxprobe.files.tables import read_table, write_table
from cxprobe.files.writing import DATA, SCRATCH, project_folder
from cxprobe.models.language_models import read_model_facts, write_model_facts
from cxprobe.models.ngrams import EVERY_WORD, baseline_facts, counted_texts, ngram_counter
from cxprobe.models.params import Member, NgramFeatures, TagNgrams
from cxprobe.probing import Fitting
from cxprobe.run.progress import progress
from cxprobe.run.stage import Stage
from cxprobe.seeding import seed_for
from cxprobe.stats import CLUSTER
from cxprobe.tasks.recognition.params import TEMPLATE, Controls, RecognitionStage
from cxprobe.tasks.recognition.probes import Predictions, recognise, tune_subset

# Words without much of a meaning of their own, so that their places say nothing about what a sentence is about:
# articles, quantifiers, words of degree; pronouns; prepositions; conjunctions and adverbs that join; auxiliaries.
_FUNCTION_WORDS = """
    a an the all any both each either enough every few fewer less least many more most much neither no none several some
    such even just only quite rather so too very as than i me my mine you your yours he him his she her hers it its we
    us our ours they them their theirs one this that these those myself yourself himself herself itself ourselves
    themselves who whom whose which what about above across after against along among around at before behind below
    beneath beside between beyond by down during for from in inside into like near of off on onto out outside over past
    per since through throughout till to toward towards under until up upon with within without and or but nor if unless
    because although though while whereas whether when where why how then else thus hence therefore however also yet
    once again ever never not now here there let alone am is are was were be been being do does did have has had having
    can could may might must shall should will would cannot ought"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


def measure(stage: Stage[RecognitionStage], member: Member) -> Counter[str]:
    """Measure what the probes of every layer's vectors predict.

    With the section tune of the parameters, the regularisation of every probe is searched on its training part first.
    """
    vectors = DATA / "embed_recognition" / stage.item / member.inside
    folder, counts = stage.data / member.inside, Counter[str]()
    facts = baseline_facts(member.baseline.kind) if member.is_baseline else read_model_facts(stage.use(vectors))
    write_model_facts(facts, folder)
    for name, source in stage.params.recognition.sources_of(stage.item):
        rows = read_subsets(stage.use(DATA / "make_recognition" / name / source))
        if member.is_baseline:
            texts = rows["text"].unique().tolist()
            features = Features(texts, (count_features(texts, member.spec),))
        else:
            features = read_features(vectors / name / source)
        counts.update(probe_source(stage.params, (member.slug, name, source), rows, features, folder / name / source))
    return counts


def probe_source(
    params: RecognitionStage, place: tuple[str, str, str], rows: pd.DataFrame, features: Features, folder: Path
) -> dict[str, int]:
    """Train the probes of every subset of one model and source, and write their predictions.

    Args:
        params: The parameters.
        place: The model, the construction and the source of its sentences.
        rows: The subsets, as `read_subsets` returns them.
        features: The vectors of at least their texts.
        folder: The folder of the tables: those of `Predictions` by their names and, of a search over regularisation,
            trials (`cxprobe.tasks.recognition.probes.tune_subset`), tuned, the best trial of each probe, and untuned,
            the predictions of the test part by the setting of the parameters.

    Returns:
        The number of probes, and the counts of the search over regularisation.
    """
    section, layers, kept = params.recognition, len(features.vectors), project_folder() / SCRATCH / "probes"
    subsets = {str(feature): subset for feature, subset in rows.groupby("feature", sort=False)}
    name, counts = ", ".join(place), {"probes": len(subsets) * layers}
    usual = Fitting(section.probe.C, section.probe.standardise, section.probe.max_iter, params.seed, name)
    fittings = {feature: [usual.of(feature)] * layers for feature in subsets}
    trained = {feature: subset[subset["split"] == "train"] for feature, subset in subsets.items()}
    tuned = [feature for feature, part in trained.items() if part.groupby("label")[TEMPLATE].nunique().min() > 1]
    if section.tune and tuned:
        seed, tables = seed_for(params.seed, "tune_probes", place[1]), list[pd.DataFrame]()
        with progress(section.tune.trials * layers * len(tuned), "trials", name) as shown:
            for feature in tuned:
                fitting = replace(usual.of(feature), seed=seed_for(seed, place[2], feature))
                more = section.tune, fitting, params.compute.jobs, shown.update
                tables.append(tune_subset(trained[feature], features, *more).assign(feature=feature))
        trials = pd.concat(tables, ignore_index=True)
        best = trials.loc[trials.groupby(["feature", "layer"], sort=False)["accuracy"].idxmax()]
        write_table(trials, folder / "trials.parquet", optional=["accuracy"])
        write_table(best, folder / "tuned.parquet")
        counts |= {"tuned_probes": len(best), "not_converged": int(trials["accuracy"].isna().sum())}
        for best_of, chosen in best.groupby("feature", sort=False):
            settings = chosen[["C", "standardise"]].itertuples(index=False, name=None)
            of_feature = usual.of(str(best_of))
            fittings[str(best_of)] = [replace(of_feature, C=C, standardise=scaled) for C, scaled in settings]
    alone = section.probe.model_copy(update={"controls": Controls(folds=None, control_task=False)})
    parts, untuned = list[Predictions](), list[pd.DataFrame]()
    with progress(counts["probes"], "probes", name, kept=f"predictions are kept in {kept}") as shown:
        for feature, subset in subsets.items():
            how = params.compute.jobs, kept
            parts.append(recognise(subset, features, fittings[feature], section.probe, *how, shown.update))
            if section.tune and tuned:
                usually = [usual.of(feature)] * layers
                untuned.append(recognise(subset, features, usually, alone, *how, lambda _: None).probes)
    if untuned:
        write_table(pd.concat(untuned, ignore_index=True), folder / "untuned.parquet")
    for stem, of_subsets in zip(Predictions._fields, zip(*parts, strict=True), strict=True):
        write_table(pd.concat(of_subsets, ignore_index=True), folder / f"{stem}.parquet")
    return counts


def read_subsets(folder: Path) -> pd.DataFrame:
    """Read the subsets of one source of sentences.

    Returns:
        One row a drawn sentence: feature, split, value, label, id, text, and columns that begin with ``cluster_``.
    """
    sentences = read_table(folder / "sentences.parquet").filter(regex=f"^(id|text|{CLUSTER}.*)$")
    return read_table(folder / "splits.parquet").merge(sentences, on="id", validate="many_to_one")


def count_features(texts: Sequence[str], spec: object) -> csr_array:
    """Count the features of each sentence that a baseline of recognition reads.

    The columns are those of all sentences together, and not of a training part. The probes are as if they were of the
    training part alone: a column that is empty there has a gradient of 0 and, by the penalty, the weight 0. So one
    matrix serves every subset.

    Args:
        texts: The sentences, in at least one of which there is something to count.
        spec: The kind, and for n-grams their lengths:
            "word_ngrams": how often each n-gram of lower-cased words stands in the sentence;
            "character_ngrams": how often each n-gram of characters stands in the lower-cased sentence, spaces and
            punctuation included;
            "tag_ngrams": how often each n-gram of parts of speech does;
            any other ("positions"): `positions_of` each sentence.

    Returns:
        Shape (len(texts), columns), float32, the columns in the order of their names. Character 2- to 6-grams take
        about 5 kB of memory a sentence while they are counted, and 0.25 ms.

    Raises:
        ModelError: There is no such tagger, or it is another one than params say.
    """
    # scikit-learn takes a second to import, and models that are no baselines do without these parts of it.
    from sklearn.feature_extraction import DictVectorizer

    if not isinstance(spec, NgramFeatures | TagNgrams):
        return csr_array(DictVectorizer(dtype=np.float32).fit_transform(map(positions_of, texts)))
    counts = csr_array(ngram_counter(spec, np.float32).fit_transform(counted_texts(spec, texts)))
    counts.sort_indices()  # sums of floating-point numbers run in the order of the columns
    return counts


def positions_of(text: str) -> dict[str, float]:
    """Return the length of a sentence and where its function words stand, and nothing about its other words.

    Args:
        text: The sentence. A word is a run of letters and digits, lower-cased.

    Returns:
        Name -> number: "words", in tens; "characters", in hundreds; and, how often they are so, the `FUNCTION_WORDS`
        at a place from the start ("the at 0"), at a place from the end ("the at -1"), in a tenth of the sentence ("the
        in tenth 0"), and so many words after the same word ("the 2 after the"). Places, and not their numerical
        values, are the columns, since a linear probe could do little with the values.
    """
    words = re.findall(EVERY_WORD, text.lower())
    counts, last = Counter[str](), dict[str, int]()
    for position, word in enumerate(words):
        if word in FUNCTION_WORDS:
            counts.update([f"{word} at {position}", f"{word} at {position - len(words)}"])
            counts[f"{word} in tenth {10 * position // len(words)}"] += 1
            if word in last:
                counts[f"{word} {position - last[word]} after {word}"] += 1
            last[word] = position
    return {"words": len(words) / 10, "characters": len(text) / 100, **counts}
