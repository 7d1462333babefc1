"""Models beside each other on the same items: paired differences, corrected for their number, and the best baseline.

What a model that cannot know a construction reaches on its items is what the items give away. A rate is therefore
compared with the best baseline, not with chance alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
import pandas as pd

from cxprobe.errors import DataError
from cxprobe.models.params import Member, Series, checkpoints_of, control_fault, earlier_checkpoints
from cxprobe.results.rates import ALL, Facet, columns_of
from cxprobe.results.schema import OF_DIFFERENCE, facet_columns
from cxprobe.results.verdict import CONDITION, is_rival
from cxprobe.stats import UNIT, Estimate, Mean, cluster_columns, compare_shared, holm, mean_by

MODELS, BEST_BASELINE, RANDOM_WEIGHTS, NEIGHBOUR = "models", "best baseline", "random weights", "neighbour"
MOST_PAIRED = 8  # trained models of which every two are tested; of more, no two are
COMPARISON = ["compares", "first", "second", "difference", "low", "high", "n", "p", "p_holm"]
GROUP = ["task", "construction", "source"]  # the columns of facets follow
_OF_BASELINE = {"first": "model", "second": "baseline", "low": "diff_low", "high": "diff_high", "p_holm": "p_adjusted"}
_RATE = ["model", "accuracy", "low", "high", "n"]


def best_baseline(rates: pd.DataFrame, by: list[str], members: Sequence[Member]) -> pd.DataFrame:
    """Return the baseline with the highest accuracy in each group, of those that were asked about all of its items.

    One that was asked about fewer, such as a model that is shown the continuation alone and is asked about pairs with a
    context, may have been asked about easier items. The best one is chosen by the accuracy that is reported, so its
    number is a little too high where several baselines are close; for a model that is held against it, that is on
    the safe side.

    Args:
        rates: Columns ``by``, model (a slug), accuracy in [0, 1], n, the number of items, and any others. The number
            of items of a group is the greatest n of its rows, of whichever model.
        by: The columns that make the groups; may be empty.
        members: The models; the baselines are compared.

    Returns:
        One row a group that has a baseline, in the order of ``rates``: ``by``, model, accuracy, and low, high and n
        as far as ``rates`` has them. Of two with the same accuracy, the one that is named first in ``members``.
    """
    order = {member.slug: position for position, member in enumerate(members) if member.is_baseline}
    asked = rates.groupby(by, dropna=False)["n"].transform("max") if by else rates["n"].max()
    baseline = rates[rates["model"].isin(order) & (rates["n"] == asked)]
    ranked = baseline.assign(_order=baseline["model"].map(order)).sort_values(
        ["accuracy", "_order"], ascending=[False, True], kind="stable"
    )
    best = ranked.drop_duplicates(by) if by else ranked.head(1)
    return best.sort_index()[[*by, *(column for column in _RATE if column in rates)]].reset_index(drop=True)


def compare_models(
    items: pd.DataFrame,
    by: list[str],
    members: Sequence[Member],
    series: Mapping[str, Series],
    family: Sequence[str] = (),
    *,
    are_tested: bool = True,
) -> pd.DataFrame:
    """Return the paired differences of models on the same items, in each group of items.

    Compared are: every two models that are neither baselines nor random-weights controls ("models"); each of these with
    the best of the baselines that were asked about all of its items, see `best_baseline` ("best baseline"); each with
    its random-weights controls ("random weights"), which have the same name and revision and weights that know nothing;
    and each model of a series with the one before it ("neighbour"). Of the checkpoints of a training only the last is
    compared with other models. Items that one of the two models lacks are left out.

    Args:
        items: One row a model and item of a group: model (a slug), id, accuracy (the item's credit in [0, 1]), the
            columns of ``by``, and columns that begin with ``cluster_``. A model that ``members`` does not name, such as
            one that is prompted, counts as one that is neither a baseline nor a random-weights control.
        by: The columns that make the groups.
        members: What the models are.
        series: Name -> models that differ in one quantity.
        family: Those of ``by`` whose values make families of their own, such as what items test. Those of a kind and of
            the first model are a family, in groups with one value of these; of "models", those of both.
        are_tested: Whether there are p values.

    Returns:
        One row a comparison: ``by``; compares; first and second, slugs; difference, first less second, with its 95 %
        interval low to high and n, the number of items that both have; and where it is tested p, not corrected,
        p_holm, corrected for all rows of its family in the table.

    Raises:
        DataError: The items have no clusters, or a random-weights control differs from its model in more than weights.
    """
    rows: list[tuple[object, ...]] = []
    for key, group in items.groupby(by, sort=False):
        by_model = {str(slug): answers for slug, answers in group.groupby("model", sort=False)}
        for compares, first, second, is_tested in _compared(by_model, members, series):
            shared, difference = compare_shared(by_model[first], by_model[second])
            value = (difference.value, difference.low, difference.high) if difference else (np.nan,) * 3
            p = difference.p if difference and is_tested and are_tested else np.nan
            rows.append((*key, compares, first, second, *value, shared, p))
    table = pd.DataFrame(rows, columns=[*by, *COMPARISON[:-1]])
    other = table["second"].where(table["compares"] == MODELS, "")
    families = table.groupby([table["compares"], table["first"], other, *(table[name] for name in family)])["p"]
    table["p_holm"] = families.transform(lambda p_values: holm(p_values.to_numpy(np.float64)))
    return table[[*by, *COMPARISON]]


def _compared(
    items: Mapping[str, pd.DataFrame], members: Sequence[Member], series: Mapping[str, Series]
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield each kind of comparison, its two models, and whether it is tested."""
    known = {member.slug: member for member in members}
    present = [slug for slug in dict.fromkeys([*known, *items]) if slug in items]
    trained = [slug for slug in present if slug not in known or known[slug].state == "trained"]
    earlier = earlier_checkpoints(series)
    real = [slug for slug in trained if slug not in earlier]
    for first, second in combinations(real, 2):
        yield MODELS, first, second, len(real) <= MOST_PAIRED
    credits = pd.DataFrame({slug: answers.set_index("id")["accuracy"] for slug, answers in items.items()})
    random_controls = [slug for slug in present if slug in known and known[slug].state == "random"]
    for slug in (*real, *random_controls):
        shared = credits.loc[items[slug]["id"]]  # (items, models)
        rates = pd.DataFrame({"accuracy": credits.mean(), "n": shared.count()}).rename_axis("model").reset_index()
        for best in best_baseline(rates, [], members)["model"]:
            yield BEST_BASELINE, slug, best, slug in real
    checkpoints = checkpoints_of(members)
    of_real = {slug: checkpoints[slug] for slug in real if slug in checkpoints}
    for random_control in random_controls:
        control = checkpoints[random_control]
        same = [slug for slug, spec in of_real.items() if not control_fault(control, {slug: spec})]
        if not same and any(spec.name == control.name for spec in of_real.values()):
            fault = control_fault(control, of_real)
            raise DataError(f"models.{random_control}: {fault}, so it is no control; change both, and run both again")
        for slug in same:
            yield RANDOM_WEIGHTS, slug, random_control, True
    for one in series.values():
        order = [slug for slug in sorted(one.models, key=one.models.__getitem__) if slug in items]
        for before, slug in pairwise(order):
            yield NEIGHBOUR, slug, before, True


def compare(
    responses: pd.DataFrame, facets: Sequence[Facet], members: Sequence[Member], series: Mapping[str, Series]
) -> pd.DataFrame:
    """Return the paired differences of models on the same items, by each facet by which models are compared.

    Where an item of a group was asked about in several ways, a model has the mean of its credits. Comparisons on all
    constructions together are tested only where a facet says so.

    Args:
        responses: What `cxprobe.results.rates.rates_of` takes.
        facets: Those of the task.
        members: The models.
        series: Name -> models that differ in one quantity.

    Returns:
        `GROUP`, the columns of facets, and those of `cxprobe.results.comparisons.compare_models`.
    """
    accuracies, tables = responses[responses["measure"] == "accuracy"], []
    place = [*GROUP, *columns_of(facets)]
    for facet in facets:
        if not (facet.has_verdicts and facet.is_compared):
            continue
        compared = accuracies.query(facet.compared) if facet.compared else accuracies
        by = [*dict.fromkeys([*GROUP, *facet.columns, *facet.family])]
        divided = _by_item(facet.divide(compared), by)
        is_all = divided["construction"] == ALL
        parts = [(divided, True)] if facet.is_all_tested else [(divided[~is_all], True), (divided[is_all], False)]
        for items, are_tested in parts:
            if len(items):
                how = (by, members, series, facet.family)
                tables.append(compare_models(items.reset_index(drop=True), *how, are_tested=are_tested))
    if not tables:
        return pd.DataFrame(columns=[*place, *COMPARISON]).astype(dict.fromkeys(COMPARISON[3:], float))
    table = pd.concat(tables, ignore_index=True).reindex(columns=[*place, *COMPARISON], fill_value="")
    return table.fillna(dict.fromkeys(place, ""))


def compare_contrasts(responses: pd.DataFrame, members: Sequence[Member], series: Mapping[str, Series]) -> pd.DataFrame:
    """Return the paired differences of the contrasts of every two models on the same frames, in nats.

    A model expects the meaning of a construction more than another one if its contrast is larger, and so is what the
    construction adds to each context without it: the largest of the p values of these differences counts (an
    intersection-union test), as in `cxprobe.results.verdict.verdicts_on`. Holm's correction is for the number of
    constructions on which the two are compared; of more than `MOST_PAIRED` models none is tested.

    Args:
        responses: Of contrasts: the measure contrast, by condition.
        members: The models; baselines and random-weights controls are not compared.
        series: Name -> models that differ in one quantity, of which the last one is compared.

    Returns:
        `GROUP`, condition, and `COMPARISON`: a row for the construction and for each context that is subtracted; p and
        p_holm on the row of the construction. The intervals are Student's t over frames.
    """
    known, earlier = {member.slug: member for member in members}, earlier_checkpoints(series)
    kept = responses[(responses["measure"] == "contrast") & (responses["construction"] != ALL)]
    present = [name for name in kept["model"].unique() if name not in known or known[name].state == "trained"]
    real = [name for name in present if name not in earlier]
    contexts = [
        name for name in kept[CONDITION].unique() if is_rival(name.removeprefix("less_")) and name.startswith("less_")
    ]
    asked = kept[kept[CONDITION].isin(["construction", *contexts])]
    frames = asked.pivot_table("value", [*GROUP, CONDITION, UNIT], "model", observed=True, sort=False)
    tables = [pd.DataFrame(columns=[*GROUP, CONDITION, *COMPARISON])]
    for first, second in combinations(real, 2):
        differences = (frames[first] - frames[second]).dropna().rename("difference").reset_index()
        table = mean_by(differences, "difference", UNIT, [*GROUP, CONDITION])
        numbers = zip(table["difference"].abs(), table["low"], table["high"], table["n"], strict=True)
        table["p"] = [2 * Mean.of(Estimate(*row)).p_above() for row in numbers]
        signs = np.sign(table["difference"]).groupby(table["construction"])
        agree = signs.transform("nunique") == 1
        largest = table.groupby("construction")["p"].transform("max").where(agree, 1.0)
        is_tested = (table[CONDITION] == "construction") & (len(real) <= MOST_PAIRED)
        table["p"] = largest.where(is_tested)
        table["p_holm"] = holm(table["p"].to_numpy(np.float64))
        tables.append(table.assign(compares=MODELS, first=first, second=second))
    joined = pd.concat([table for table in tables if len(table)] or tables, ignore_index=True)
    return joined[[*GROUP, CONDITION, *COMPARISON]]


def _by_item(divided: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return the mean credit of each model on each item of a group, with the clusters of the item."""
    kept = [*cluster_columns(divided), *divided.columns.intersection([UNIT])]
    items = divided.groupby([*by, "model", "item"], sort=False, as_index=False)
    means = items.agg(accuracy=("value", "mean"), **{name: (name, "first") for name in kept})
    return means.rename(columns={"item": "id"})


def with_baselines(rates: pd.DataFrame, comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return rates with the best baseline and the difference from it, where they were compared.

    Args:
        rates: What `cxprobe.results.rates.rates_of` returns.
        comparisons: What `compare` returns.

    Returns:
        ``rates`` with baseline ("" for none), difference, diff_low, diff_high and p_adjusted.
    """
    of_baselines = comparisons[comparisons["compares"] == BEST_BASELINE].rename(columns=_OF_BASELINE)
    facets = facet_columns(rates)
    undivided = {name: "" for name in facets if name not in of_baselines}  # by what no models are compared
    place = [*GROUP, *facets, "model"]
    of_rates = of_baselines.assign(**undivided)[[*place, "baseline", *OF_DIFFERENCE]]
    joined = rates.merge(of_rates, on=place, how="left", validate="many_to_one")
    # Models are compared by their accuracy.
    other = joined["measure"] != "accuracy"
    joined.loc[other, OF_DIFFERENCE] = float("nan")
    return joined.assign(baseline=joined["baseline"].mask(other).fillna(""))
