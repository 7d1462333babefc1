"""A few items of form and of meaning of each construction, and the rates of several models on them, in one process."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from cxprobe.constructions.construction import People
from cxprobe.errors import ConstructionError
from cxprobe.files.schema import suggest
from cxprobe.models import SchemeName
from cxprobe.models.pairs import baseline_answers
from cxprobe.models.params import BaselineSpec, Member, NgramFeatures, NgramModel, PairClassifier, Rule, UnigramModel
from cxprobe.models.texts import pair_table, pairs_of, without_gaps
from cxprobe.project.bundled import bundled_files
from cxprobe.results.comparisons import COMPARISON, GROUP, MODELS, compare, compare_contrasts, with_baselines
from cxprobe.results.rates import rates_of
from cxprobe.results.schema import HAS_VERDICT, facet_columns
from cxprobe.results.verdict import CONDITION, FEWEST_FRAMES, with_verdicts
from cxprobe.seeding import SEED
from cxprobe.tasks.contrasts.contrast import pair_margins
from cxprobe.tasks.contrasts.evaluate import BY_CONDITION, BY_WORDING, contrast_responses, with_contrast_verdicts
from cxprobe.tasks.contrasts.make import CONTRASTS_FILE, contrast_pairs, contrasts_file, load_contrasts
from cxprobe.tasks.contrasts.params import MakeContrasts
from cxprobe.tasks.pairs.evaluate import FACETS, decide_pairs, override, pair_responses
from cxprobe.tasks.pairs.frames import load_pairs, pairs_file
from cxprobe.tasks.pairs.make import build_pairs
from cxprobe.tasks.pairs.params import FORM, EvaluatePairs, MakePairs, PerCell

ITEMS_OF_FORM = 4
"""Items of form for each frame of contrasts: they are short, and a rate of few of them says little."""
_FACETS = [facet for facet in FACETS if {*facet.columns} <= {"variant", "sentence"}]


def simple_baselines() -> list[Member]:
    """Return baselines that need neither a project nor a checkpoint."""
    ngrams = bundled_files() / "models" / "mini-ngrams"
    words = NgramFeatures(kind="word_ngrams", lengths=[1, 1])
    specs: dict[str, BaselineSpec] = {
        "shorter": Rule(kind="shorter"),
        "first-mentioned": Rule(kind="first_mentioned"),
        "last-mentioned": Rule(kind="last_mentioned"),
        "unigrams": UnigramModel(kind="unigrams", language="en"),
        "ngrams": NgramModel(kind="ngrams", name=str(ngrams), sha256=None),
        "bag-of-words": PairClassifier(kind="pair_classifier", folds=5, counts=words),
    }
    return [Member(slug, spec, slug) for slug, spec in specs.items()]


def decisions_on(
    pairs: pd.DataFrame, answers: Mapping[str, pd.DataFrame], members: Sequence[Member], scheme: SchemeName, seed: int
) -> dict[str, pd.DataFrame]:
    """Return the decisions of models and of each baseline among them on pairs, by the score of the presets.

    Arguments are those of `survey_rates`; the seed is that of the folds of baselines which learn.
    """
    how = EvaluatePairs(scheme=scheme, score="per_token")
    of_baselines = {one.slug: baseline_answers(one, pairs_of(pairs), seed) for one in members if one.is_baseline}
    return {slug: decide_pairs(pairs, table, how) for slug, table in {**answers, **of_baselines}.items()}


def surveyed_constructions(constructions: Path) -> list[str]:
    """Return the constructions that have contrasts, sorted."""
    return sorted(path.parent.name for path in constructions.glob(f"*/{CONTRASTS_FILE}"))


class SurveyedPairs(NamedTuple):
    """The pairs of some constructions: of form, and of contrasts; either may be empty."""

    form: pd.DataFrame
    contrasts: pd.DataFrame


def survey_pairs(
    names: Sequence[str], constructions: Path, people: People, frames: int, *, tried: bool = False
) -> SurveyedPairs:
    """Return the pairs of form, and the first frames of contrasts that are held out, of some constructions.

    Args:
        names: The constructions.
        constructions: The folder of all constructions.
        people: The nouns and pronouns.
        frames: Frames of each construction; of form there are `ITEMS_OF_FORM` times as many items.
        tried: Whether the frames of contrasts are those on which the wording is tried, in place of those held out.

    Raises:
        ConstructionError: There is no such construction, it has neither of the two, or a file has faults.
    """
    items = frames * ITEMS_OF_FORM
    part: Literal["frames", "held_out"] = "frames" if tried else "held_out"
    wanted = MakeContrasts(frames=frames, shuffled=0)
    make = MakePairs(pairs_per_condition=PerCell(meaning=items, form=items, control=items), pseudowords=None)
    form, of_contrasts = [pd.DataFrame()], [pd.DataFrame()]
    for name in names:
        entries = [entry for entry in (name, name + FORM) if pairs_file(entry, constructions).is_file()]
        contents = {entry: load_pairs(entry, people, constructions) for entry in entries}
        of_form = {entry: content for entry, content in contents.items() if content.tests == "form"}
        form += [build_pairs(entry, content, people, make, SEED) for entry, content in of_form.items()]
        if contrasts_file(name, constructions).is_file():
            contrasts = load_contrasts(name, people, constructions)
            of_contrasts.append(pair_table(contrast_pairs(name, contrasts, people, wanted, SEED, part)))
        elif not of_form:
            known = surveyed_constructions(constructions)
            what = f"'{name}' has neither {CONTRASTS_FILE} nor pairs of form in {constructions}"
            raise ConstructionError(f"{what}{suggest(name, known)}")
    return SurveyedPairs(*(without_gaps(pd.concat(tables, ignore_index=True)) for tables in (form, of_contrasts)))


def survey_rates(
    pairs: SurveyedPairs,
    answers: Mapping[str, pd.DataFrame],
    members: Sequence[Member],
    scheme: SchemeName,
    *,
    are_all: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rates of models and baselines on pairs, and the paired differences of every two models.

    Args:
        pairs: What `survey_pairs` returns.
        answers: Model -> the scores of the tokens of all texts (`cxprobe.models.texts.token_table`).
        members: The models, and the baselines, which are asked here.
        scheme: How masked models were asked.
        are_all: Whether these are all constructions: over fewer, p values would be corrected for what happens to be
            asked, so that there is no verdict and no p.

    Returns:
        Columns of `cxprobe.results.schema.RATES`, each rate beside the best baseline and the control; contrasts of
        fewer than `FEWEST_FRAMES` frames have no verdict. And those of `cxprobe.results.comparisons.COMPARISON`, of
        form in shares and of contrasts in nats.
    """
    parts, compared = [], []
    if len(pairs.form):
        form = pairs.form.assign(source=pairs.form["words"])
        decided = decisions_on(form, answers, members, scheme, SEED)
        of_form = [pair_responses(table).assign(task="pairs", model=model) for model, table in decided.items()]
        responses = pd.concat(of_form, ignore_index=True)
        comparisons = compare(responses, _FACETS, members, {})
        compared.append(comparisons[comparisons["compares"] == MODELS])
        rates = with_baselines(rates_of(responses, _FACETS), comparisons)
        judged = override(rates, [], members)
        judged[HAS_VERDICT] &= are_all
        parts.append(with_verdicts(judged, members))
    if len(pairs.contrasts):
        of_contrasts = [
            contrast_responses(pair_margins(pairs.contrasts, table)).assign(task="contrasts", model=model)
            for model, table in answers.items()
        ]
        responses = pd.concat(of_contrasts, ignore_index=True)
        comparisons = compare_contrasts(responses, members, {})
        compared.append(comparisons)
        judged = with_contrast_verdicts(with_baselines(rates_of(responses, [BY_CONDITION, BY_WORDING]), comparisons))
        judged[HAS_VERDICT] &= are_all & (judged["n"] >= FEWEST_FRAMES)
        parts.append(with_verdicts(judged, members))
    rates = pd.concat(parts, ignore_index=True)
    differences = pd.concat(compared, ignore_index=True)
    if not are_all:
        differences[["p", "p_holm"]] = float("nan")
    place = [*GROUP, *differences.columns.intersection([CONDITION])]
    return rates.fillna(dict.fromkeys(facet_columns(rates), "")), differences[[*place, *COMPARISON]]
