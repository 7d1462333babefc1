"""The second pair of grammars and the placebo: the two classes differ in nothing that a blind model can count."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from conftest import ROOT
from cxprobe.constructions.construction import load_construction
from cxprobe.constructions.sentences import SPLITS
from cxprobe.lm.params import NgramFeatures, Rule, TagNgrams
from cxprobe.project.presets import preset_text
from cxprobe.recognition.blind import count_features
from cxprobe.recognition.judge import accuracy_by, overlaps
from cxprobe.recognition.make import draw_subsets
from cxprobe.recognition.params import MakeRecognition, Subsets
from cxprobe.recognition.sentences import generate_sentences, load_grammars

LIMIT = 0.6
PER_LABEL = 40
CONSTRUCTIONS = ROOT / "constructions"
CC = "comparative-correlative"
KINDS = ["cluster_SAY", "cluster_LIKE"]  # the verbs that change places
BLIND = [(CC, "balanced"), ("placebo-order", "generated")]


FEATURES = {
    "word n-grams": NgramFeatures(kind="word_ngrams", lengths=[1, 3]),
    "character n-grams": NgramFeatures(kind="character_ngrams", lengths=[2, 6]),
    "tag n-grams": TagNgrams(
        kind="tag_ngrams", lengths=[1, 3], tagger=str(ROOT / "models/tagger/en_ewt_cxprobe"), sha256=None
    ),
    "places": Rule(kind="positions"),
}


def make(name: str, source: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the sentences of one source, by id, and the rows of their balanced subsets."""
    construction = load_construction(name, CONSTRUCTIONS).for_source(source)
    if name == CC and source == "generated":  # the others have ten times as many values
        features = {"first_start": construction.features["first_start"]}
        construction = construction.model_copy(update={"features": features})
    grammars = load_grammars(name, construction, CONSTRUCTIONS, source=source)
    generated = generate_sentences(name, construction, grammars, PER_LABEL, seed=1)
    table, draws = generated.sentences, generated.draws
    sizes = Subsets(train_per_label=PER_LABEL, test_per_label=PER_LABEL, draws=1, all_sentences=False)
    drawn = draw_subsets(table, draws, construction.features, sizes, seed=1, place=name)
    assert drawn.dropped.empty
    return table.set_index("id"), drawn.rows


@pytest.fixture(scope="module")
def made():
    return {pair: make(*pair) for pair in [*BLIND, (CC, "generated")]}


def accuracies(sentences: pd.DataFrame, rows: pd.DataFrame, spec) -> dict[str, tuple[float, int]]:
    """Return, for each balanced subset, the accuracy of a logistic regression on its test part, and the part's size."""
    rates = {}
    for name, subset in rows.groupby("feature"):
        counts = count_features(sentences.loc[subset["id"], "text"].tolist(), spec, "toy")
        train, labels = (subset["split"] == "train").to_numpy(), subset["label"].to_numpy()
        model = LogisticRegression(max_iter=2000).fit(counts[train], labels[train])
        rates[name] = (model.score(counts[~train], labels[~train]), int((~train).sum()))
    return rates


@pytest.mark.pipeline
@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("pair", BLIND, ids=" ".join)
def test_no_blind_model_tells_the_classes_apart_by_more_than_the_limit(made, pair, kind):
    for feature, (accuracy, n) in accuracies(*made[pair], FEATURES[kind]).items():
        most = binom.ppf(0.999, n, LIMIT) / n  # the limit, and what chance can add to it in so many sentences
        assert accuracy <= most, (feature, accuracy, n)


@pytest.mark.parametrize("half", SPLITS)
def test_the_frames_of_both_labels_are_the_same_rules_with_the_two_verbs_exchanged(half):
    """So that words, tags, lengths and seams are equally probable under both labels, whatever a blind model counts."""
    construction = load_construction(CC, CONSTRUCTIONS).for_source("balanced")
    rules = load_grammars(CC, construction, CONSTRUCTIONS, source="balanced")[half].productions()
    other = {"SAY": "LIKE", "LIKE": "SAY", "POS": "NEG", "NEG": "POS"}

    def exchanged(text: str) -> str:
        return re.sub("SAY|LIKE|POS|NEG", lambda found: other[found[0]], text)

    frames = Counter(str(rule) for rule in rules if str(rule.lhs()) not in ("SAY", "LIKE"))
    assert Counter(map(exchanged, frames.elements())) == frames


def test_only_in_positives_is_the_main_verb_one_that_takes_a_clause(made):
    sentences, _ = made[CC, "balanced"]
    for row in sentences.itertuples():
        words = row.text.split()
        (asked,) = re.findall(r"\bwhat she (\w+)", row.text)
        assert words[row.first_start] == words[row.first_start + row.distance] == "the"
        assert (words[row.first_start - 1], asked) == (
            (row.cluster_SAY, row.cluster_LIKE) if row.label == "positive" else (row.cluster_LIKE, row.cluster_SAY)
        )


def test_which_of_the_two_verbs_is_first_says_nothing(made):
    sentences, rows = made[CC, "balanced"]
    places = [
        (text.find(one), text.find(two)) for text, one, two in sentences[["text", *KINDS]].itertuples(index=False)
    ]
    first = pd.Series([one < two for one, two in places], index=sentences.index)
    for feature, subset in rows.groupby("feature"):
        right = first[subset["id"]].to_numpy() == (subset["label"] == "positive").to_numpy()
        assert binom.cdf(right.sum(), len(right), 0.5) < 0.9995, feature


def simulated_half_widths(table: pd.DataFrame, overlap: float, draws: int, *, seeds: int) -> list[float]:
    """Return half the interval of probes that are right in 60 %, and about 15 points more or less often by the verb.

    Their rates vary over training draws with a standard deviation of 2.5 points, as those of `mini-mlm` do.
    """
    verbs = table["cluster_SAY"].where(table["label"] == "positive", table["cluster_LIKE"])
    clusters, halves = table.filter(regex="^cluster_"), []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        of_verb = dict(zip(sorted(set(verbs)), rng.normal(0, 0.5, verbs.nunique()), strict=True))
        of_item = 0.3 + verbs.map(of_verb).to_numpy() + rng.normal(0, 0.5, len(table))
        shared, own = np.sqrt(overlap) * rng.normal(), np.sqrt(1 - overlap) * rng.normal(size=draws)
        margins = of_item[:, None] + 0.065 * (shared + own) + rng.normal(0, 0.7, (len(table), draws))
        credits = pd.DataFrame(margins > 0).astype(float).add_prefix("credit_of_draw_")
        items = clusters.join(credits).assign(model="m", overlap=overlap, accuracy=credits.mean(axis=1))
        (rate,) = accuracy_by(items, ["model"]).to_dict("records")
        halves.append((rate["high"] - rate["low"]) / 2)
    return halves


@pytest.mark.pipeline
def test_in_the_default_preset_an_interval_over_verbs_and_draws_is_at_most_8_points_to_either_side():
    params = YAML(typ="safe").load(preset_text("embedded", ROOT / "presets"))
    settings = MakeRecognition.model_validate(params["recognition"]["make"])
    construction = load_construction(CC, CONSTRUCTIONS).for_source("balanced")
    grammars = load_grammars(CC, construction, CONSTRUCTIONS, source="balanced")
    generated = generate_sentences(CC, construction, grammars, settings.per_label, seed=2022)
    features, sizes = construction.features, settings.balanced
    drawn = draw_subsets(generated.sentences, generated.draws, features, sizes, seed=2022, place=CC)
    by_id = generated.sentences.set_index("id").filter(regex="^cluster_")
    for _, part in drawn.rows.groupby("split"):
        assert (by_id.loc[part["id"], KINDS].nunique() >= 30).all()
    tested = drawn.rows[drawn.rows["split"] == "test"]
    table = tested.join(by_id, on="id").assign(cluster_sentence=tested["id"]).reset_index(drop=True)
    overlap = float(np.mean(list(overlaps(drawn.rows).values())))
    assert np.mean(simulated_half_widths(table, overlap, sizes.draws, seeds=30)) <= 0.08
    two = simulated_half_widths(table, overlap, 2, seeds=30)
    assert np.mean(two) > 0.15  # so few draws are a wide interval, whatever the verbs are
