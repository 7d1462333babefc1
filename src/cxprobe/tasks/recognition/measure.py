"""A model measured for recognition: what probes of its vectors predict, layer by layer.

A baseline counts a sentence's words, letters, tags or places, in the place of a model's vectors. The counts are probed
exactly as the vectors of a model's layer are. The rate of a probe on them shows how far the sentences give the label
away by their spelling, their words, their parts of speech, or the places of their function words. To count takes no
longer than to read the counts, and tags are set once for all members of a set, so counts are not kept.

The control of a probe is random labels of words (Hewitt & Liang 2019).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cxprobe.constructions import LABELS, SPLITS
from cxprobe.errors import ProbeError
from cxprobe.files.tables import Features, read_features, read_table, write_table
from cxprobe.files.writing import DATA
from cxprobe.models.ngrams import EVERY_WORD, baseline_facts, counted_texts, ngram_counter
from cxprobe.models.params import Member, NgramFeatures, TagNgrams
from cxprobe.probing import Fitting, Progress, cut_folds, for_each_layer, predict_held_out
from cxprobe.run.progress import progress as show_progress
from cxprobe.run.record import read_model_facts, write_model_facts
from cxprobe.run.stage import Stage
from cxprobe.seeding import generator_for, seed_for
from cxprobe.stats import CLUSTER, credit
from cxprobe.tasks.recognition.params import TEMPLATE, Controls, Probe, RecognitionStage, Tune

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
_WORD = re.compile(r"[^\W\d_]+")


class Predictions(NamedTuple):
    """The predictions of a subset; ``probability`` is always that of "positive".

    Attributes:
        probes: One row a test sentence and layer: the test part's columns, layer, probability.
        folds: One row a sentence of the training part, task and layer: the part's columns; task ("real" or "control",
            whose labels stand in label); cluster_word, the type that a control label belongs to; known, whether the
            other folds have this word; fold; layer, probability. No rows if no folds are asked for or can be made.
    """

    probes: pd.DataFrame
    folds: pd.DataFrame


def measure(stage: Stage[RecognitionStage], member: Member) -> Counter[str]:
    """Measure what the probes of every layer's vectors predict.

    With the section tune of the parameters, the regularisation of every probe is searched on its training part first.
    """
    vectors = DATA / "embed_recognition" / stage.item / member.inside
    folder, counts = stage.data / member.inside, Counter[str]()
    facts = baseline_facts(member.baseline.kind) if member.is_baseline else read_model_facts(stage.use(vectors))
    write_model_facts(facts, folder)
    for name, source in stage.params.recognition.sources:
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
            trials (`tune_subset`), tuned, the best trial of each probe, and untuned,
            the predictions of the test part by the setting of the parameters.

    Returns:
        The number of probes, and the counts of the search over regularisation.
    """
    section, layers, jobs = params.recognition, len(features.vectors), params.compute.jobs
    subsets = {str(feature): subset for feature, subset in rows.groupby("feature", sort=False)}
    name, counts = ", ".join(place), {"probes": len(subsets) * layers}
    usual = Fitting(section.probe.C, section.probe.standardise, section.probe.max_iter, params.seed, name)
    fittings = {feature: [usual.of(feature)] * layers for feature in subsets}
    trained = {feature: subset[subset["split"] == "train"] for feature, subset in subsets.items()}
    tuned = [feature for feature, part in trained.items() if part.groupby("label")[TEMPLATE].nunique().min() > 1]
    if section.tune and tuned:
        seed, tables = seed_for(params.seed, "tune_probes", place[1]), list[pd.DataFrame]()
        with show_progress(section.tune.trials * layers * len(tuned), "trials", name) as shown:
            for feature in tuned:
                fitting = replace(usual.of(feature), seed=seed_for(seed, place[2], feature))
                table = tune_subset(trained[feature], features, section.tune, fitting, jobs, shown.update)
                tables.append(table.assign(feature=feature))
        trials = pd.concat(tables, ignore_index=True)
        best = trials.loc[trials.groupby(["feature", "layer"], sort=False)["accuracy"].idxmax()]
        write_table(trials, folder / "trials.parquet", optional=["accuracy"])
        write_table(best, folder / "tuned.parquet")
        counts |= {"tuned_probes": len(best), "not_converged": int(trials["accuracy"].isna().sum())}
        for feature in tuned:
            chosen = best.loc[best["feature"] == feature, ["C", "standardise"]].itertuples(index=False, name=None)
            fittings[feature] = [replace(usual.of(feature), C=C, standardise=scaled) for C, scaled in chosen]
    alone = section.probe.model_copy(update={"controls": Controls(folds=None, control_task=False)})
    parts, untuned = list[Predictions](), list[pd.DataFrame]()
    with show_progress(counts["probes"], "probes", name) as shown:
        for feature, subset in subsets.items():
            parts.append(recognise(subset, features, fittings[feature], section.probe, jobs, shown.update))
            if section.tune and tuned:
                usually = [usual.of(feature)] * layers
                untuned.append(recognise(subset, features, usually, alone, jobs, lambda _: None).probes)
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


def recognise(
    subset: pd.DataFrame,
    features: Features,
    fittings: Sequence[Fitting],
    settings: Probe,
    jobs: int,
    progress: Progress,
) -> Predictions:
    """Train the probes on a subset's training part, and predict its test part and, in folds, the training part itself.

    Args:
        subset: The rows of one feature, of those that `read_subsets` returns.
        features: The vectors of at least its texts; the ids are the texts.
        fittings: How the probe of each layer is fitted; the seeds of the folds and of the random labels follow from
            their seed and the feature.
        settings: What is computed beside the probes.
        jobs: Layers at the same time.
        progress: Called with the number of finished layers.

    Raises:
        ProbeError: A probe did not converge.
    """
    rows = features.rows_of(subset["text"])
    is_positive = (subset["label"] == "positive").to_numpy(bool)
    trained, tested = (np.flatnonzero(subset["split"] == split) for split in SPLITS)
    train, test, labels = subset.iloc[trained], subset.iloc[tested], is_positive[trained]
    # Folds and control labels are the same on all layers.
    seed, words = seed_for(fittings[0].seed, *train["feature"].unique()), last_words(train["text"])
    controls, templates = settings.controls, train[TEMPLATE].to_numpy(object)
    cuts = cut_folds(labels, templates, controls.folds, seed) if controls.folds else []
    tasks = {"real": labels} | ({"control": control_labels(words, seed)} if controls.control_task else {})
    order = np.concatenate([np.empty(0, np.int64), *(held for _, held in cuts)])

    def predict(layer: int, matrix: Any) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """Return what is predicted of the test part, and of held-out sentences by task."""
        vectors, of_layer = matrix[rows], fittings[layer].of(f"layer {layer}")  # (n, dimensions)
        of_test = predict_held_out(vectors, is_positive, [(trained, tested)], of_layer)[tested]
        by_task = {}
        for task, targets in tasks.items():
            predicted = predict_held_out(vectors[trained], targets, cuts, of_layer.of(f"{task} labels"))
            by_task[task] = predicted[order]
        return of_test, by_task

    by_layer = for_each_layer(features.vectors, predict, jobs=jobs, progress=progress)
    train, test = (part.drop(columns=["split", "text"]) for part in (train, test))
    is_known, fold = np.zeros(len(words), dtype=bool), np.zeros(len(words), dtype=np.int64)
    for number, (rest, held) in enumerate(cuts):
        is_known[held] = np.isin(words[held], words[rest])
        fold[held] = number
    held_out = train.assign(cluster_word=words, known=is_known, fold=fold).iloc[order]
    probes, folds = list[pd.DataFrame](), list[pd.DataFrame]()
    for layer, (of_test, by_task) in enumerate(by_layer):
        probes.append(test.assign(layer=layer, probability=of_test))
        for task, probabilities in by_task.items():
            named = np.where(tasks[task], *LABELS)[order]
            folds.append(held_out.assign(task=task, label=named, layer=layer, probability=probabilities))
    return Predictions(pd.concat(probes, ignore_index=True), pd.concat(folds, ignore_index=True))


def last_words(texts: Iterable[str]) -> NDArray[np.object_]:
    """Return each sentence's last word in lower case, shape (n,): the type that its control label belongs to.

    A word consists of letters; a sentence without one has the empty word. Where sentences are drawn from grammars, last
    words recur in both labels; where they are from a corpus, few do.
    """
    return np.array([(_WORD.findall(text.lower()) or [""])[-1] for text in texts], dtype=object)


def control_labels(words: NDArray[np.object_], seed: int) -> NDArray[np.bool_]:
    """Return a random label for each sentence, the same for all that have the same word.

    The labels of words are balanced over the sentences: words go to the label that has fewer sentences so far, the
    frequent ones first, and equally frequent ones in random order. So a classifier can only learn them by heart.

    Args:
        words: Shape (n,).
        seed: Of the labels; the same words get the same labels whatever the order of the sentences is.

    Returns:
        Shape (n,), True for positive.

    Source:
        Hewitt & Liang 2019, §2 (control tasks).
    """
    generator, counts = generator_for(seed, "control labels"), Counter(words.tolist())
    shuffled = generator.permutation(np.array(sorted(counts), dtype=object)).tolist()
    sizes, label_of = [0, 0], {}
    for word in sorted(shuffled, key=counts.__getitem__, reverse=True):
        label = int(generator.integers(2)) if sizes[0] == sizes[1] else int(sizes[1] < sizes[0])
        label_of[word] = bool(label)
        sizes[label] += counts[word]
    return np.array([label_of[word] for word in words], dtype=bool)


def tune_subset(
    train: pd.DataFrame, features: Features, settings: Tune, fitting: Fitting, jobs: int, progress: Progress
) -> pd.DataFrame:
    """Search the regularisation of the probe of each layer on one training part.

    Layers are searched in parallel, and each has a seed of its own: the result does not depend on the number of jobs.

    Args:
        train: The training part of a feature, of what `read_subsets` returns, with at
            least two templates of each label.
        features: The vectors of at least its texts; the ids are the texts.
        settings: The space, the trials and the folds; sentences of one template stay in one fold, and there are fewer
            folds where a label has fewer templates.
        fitting: How the probes are fitted but for their regularisation; its seed is that of this subset's search.
        jobs: Layers at the same time.
        progress: Called with the number of finished trials.

    Returns:
        One row a trial: layer; number, from 0 within a layer; C; standardise; accuracy, the mean over the held-out
        sentences, NaN where the solver did not converge.

    Raises:
        ProbeError: No setting converged for some layer.
    """
    rows, templates = features.rows_of(train["text"]), train[TEMPLATE].to_numpy(dtype=object)
    labels = (train["label"] == "positive").to_numpy(bool)

    def search(layer: int, matrix: Any) -> pd.DataFrame:
        import optuna  # which takes a second

        of_layer = replace(fitting.of(f"layer {layer}"), seed=seed_for(fitting.seed, layer))
        vectors, cuts = matrix[rows], cut_folds(labels, templates, settings.folds, of_layer.seed)
        held_out = np.concatenate([held for _, held in cuts])

        def accuracy(trial: Any) -> float:
            strength = trial.suggest_float("C", settings.C.low, settings.C.high, log=True)
            standardise = trial.suggest_categorical("standardise", settings.standardise)
            how = replace(of_layer, C=strength, standardise=standardise)
            predicted = predict_held_out(vectors, labels, cuts, how)
            return float(credit(predicted[held_out], labels[held_out]).mean())

        optuna.logging.set_verbosity(optuna.logging.ERROR)  # a setting that does not converge is counted, not logged
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=of_layer.seed))
        study.optimize(accuracy, n_trials=settings.trials, catch=(ProbeError,))
        tried = [{"number": trial.number, **trial.params, "accuracy": trial.value} for trial in study.trials]
        table = pd.DataFrame(tried).astype({"accuracy": float}).assign(layer=layer)
        if table["accuracy"].isna().all():
            raise ProbeError(
                f"{of_layer.place}: none of {len(table)} settings converged; raise recognition.probe.max_iter or lower "
                "recognition.tune.C.high"
            )
        return table

    tables = for_each_layer(features.vectors, search, jobs=jobs, progress=lambda n: progress(n * settings.trials))
    return pd.concat(tables, ignore_index=True)


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
