"""Effects of interventions: by layer and region, and summed up as in CausalGym, with intervals over frames."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from cxprobe.files.tables import read_table
from cxprobe.models.params import Member
from cxprobe.results.evaluate import PICTURE, Evaluation, RunExtras
from cxprobe.results.rates import Facet
from cxprobe.results.schema import HALF, OF_CONTROL
from cxprobe.run.stage import Stage
from cxprobe.stats import UNIT, credits_of_margins
from cxprobe.tasks.interventions import params as names
from cxprobe.tasks.interventions.params import InterventionsStage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACE = ("intervention", "region", "layer")
_SUMMED = "layer == '' and learnt == ''"
USED = Facet(PLACE, ("changed", "readable", "selectivity"), "region != ''", has_verdicts=True)
"""The place where the best direction changes most."""
BY_PLACE = Facet(PLACE, ("effect",), "region != ''", steps=True)
ELSEWHERE = Facet(["learnt", "intervention"], ("effect",), "learnt != ''")
SUMMED = Facet(
    ["intervention"], ("effect", "changed", "selectivity", "broken"), f"{_SUMMED} and labels != '{names.CONTROL}'"
)
FACETS = (
    USED,
    Facet(),
    SUMMED,
    Facet(["intervention", "labels"], ("effect", "changed"), f"{_SUMMED} and labels == '{names.CONTROL}'"),
    ELSEWHERE,
    Facet(["intervention", "layer"], ("effect",), "layer != '' and region == ''", steps=True),
    BY_PLACE,
)
_ITEM = ("construction", "id")
_DIVIDED = ("learnt", "intervention", "labels")


def intervention_responses(measured: pd.DataFrame, controls: Mapping[str, str]) -> pd.DataFrame:
    """Return the responses of one model.

    The effect of an intervention on an item is ``(log p(b) - log p(s))`` of the base as it is, plus
    ``(log p(s) - log p(b))`` after the intervention, where b and s are the answers of base and source. It is summed up
    as in CausalGym: mean over items, maximum over the regions of a layer, mean over layers. Of single items it is
    therefore the mean over layers at the regions where the mean over items is largest. That these are the largest of
    several is not part of the intervals, so the number is slightly above 0 where nothing has an effect.

    Args:
        measured: What `cxprobe.tasks.interventions.measure.measure_layer` returns.
        controls: Construction -> the one where plain words say the same, "" for none. A control is not a key: what
            interventions change there does not decide.

    Returns:
        Columns of `cxprobe.results.schema.RESPONSES` but task and model, the columns of `FACETS`, unit and
        cluster_frame (the frame of an item, and of a neutral sentence, which counts as one of the construction that was
        learnt).

        - Where one direction has the largest selectivity: changed and selectivity, of this direction, of random ones
          and of the whole vector, and readable. Those of the direction decide.
        - Of base sentences as they are: accuracy, which decides.
        - Summed up, of each intervention: effect, on answers and on control words; changed, likewise, the share of
          items whose answer changes; selectivity, by how much the effect on the answers is larger than that on control
          words; and broken, by how many nats the right word of neutral sentences becomes less probable.
        - Of what was learnt on one construction and is asked on another, or on itself, over the first region and the
          last one, also where others were asked: effect.
        - On the answers of the construction that was learnt: effect, at the best region of a layer, and at each region.

    Source:
        Arora et al. 2024, section 3 for the effect, section 4 for the sum. Other published numbers take the maximum
        over single items.
    """
    effects = measured.assign(effect=measured["before"] + measured["after"], layer=measured["layer"].astype(str))
    own, in_neutral = effects[effects["learnt"] == effects["construction"]], effects["construction"] == names.NEUTRAL
    answered = own[own["labels"] == names.TRUE]
    asked = effects[(effects["labels"] == names.TRUE) & ~in_neutral]
    base = asked.drop_duplicates(_ITEM)
    right = credits_of_margins(base["before"])
    summed = _summed_up(own)
    broken = _summed_up(effects[in_neutral]).assign(construction=lambda rows: rows["learnt"])
    regions = asked.groupby("construction", sort=False)["region"]
    is_end = (asked["region"] == regions.transform("first")) | (asked["region"] == regions.transform("last"))
    moved = _summed_up(asked[is_end & asked["intervention"].isin(names.TRANSFERRED)])
    used = _at_most_used(pd.concat([own, _selective(own)], ignore_index=True), controls)
    used_answers, used_beyond = (used[used["labels"] == kind] for kind in (names.TRUE, names.SELECTIVE))
    parts = [
        _responses(used_answers, "changed", PLACE),
        _responses(used_answers[used_answers["is_best"]], "readable", PLACE),
        _responses(used_beyond, "selectivity", PLACE, "effect"),
        _responses(base.assign(right=right, decides=True), "accuracy", (), "right").assign(chance=HALF),
        *(_responses(summed, measure, _DIVIDED[1:]) for measure in ("effect", "changed")),
        _responses(_selective(summed), "selectivity", _DIVIDED[1:], "effect"),
        _responses(broken, "broken", _DIVIDED[1:], "effect"),
        _responses(moved, "effect", _DIVIDED),
        _responses(best_regions(answered), "effect", [*_DIVIDED[1:], "layer"]),
        _responses(answered, "effect", [*_DIVIDED[1:], "region", "layer"]),
    ]
    facets = dict.fromkeys((*_DIVIDED, "region", "layer"), "")
    responses = pd.concat(parts, ignore_index=True).fillna(facets)
    return responses.assign(source="own", gold="", chosen="", question="used")


def _responses(rows: pd.DataFrame, measure: str, facets: Sequence[str], column: str = "") -> pd.DataFrame:
    """Return rows as responses of a measure, whose numbers are in the column of its name or in another one."""
    named = rows[[*_ITEM, *facets]].rename(columns={"id": "item"})
    frames = {UNIT: rows[names.FRAME_OF_ITEM], names.FRAME_OF_ITEM: rows[names.FRAME_OF_ITEM]}
    decides = rows.get("decides", False)
    return named.assign(measure=measure, value=rows[column or measure], chance=np.nan, decides=decides, **frames)


def best_regions(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the effects at the region of each layer where the mean over items is largest, for each intervention."""
    keys = ["construction", *_DIVIDED, "layer"]
    means = effects.groupby([*keys, "region"], sort=False)["effect"].mean().reset_index()
    best = means.loc[means.groupby(keys, sort=False)["effect"].idxmax()]
    return effects.merge(best[[*keys, "region"]], validate="many_to_one")


def _summed_up(effects: pd.DataFrame) -> pd.DataFrame:
    """Return each item's effect, and whether its answer changes, at the best regions, mean over layers."""
    keys = [*_ITEM, names.FRAME_OF_ITEM, *_DIVIDED]
    of_items = best_regions(effects).groupby(keys, sort=False)[["effect", "changed"]].mean().reset_index()
    return of_items.iloc[of_items["intervention"].map(names.INTERVENTIONS.index).argsort(kind="stable")]


def _selective(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the effects on answers, less those on control words at the same place, as of `names.SELECTIVE`."""
    same = [name for name in (*_ITEM, *PLACE) if name in effects]
    answers, words = (effects[effects["labels"] == kind] for kind in (names.TRUE, names.CONTROL))
    both = answers.merge(words[[*same, "effect"]], on=same, suffixes=("", "_on_words"), validate="one_to_one")
    return both.assign(effect=both["effect"] - both["effect_on_words"], labels=names.SELECTIVE)


def _at_most_used(effects: pd.DataFrame, controls: Mapping[str, str]) -> pd.DataFrame:
    """Return the effects where one direction has the largest selectivity, as a mean over frames, of each construction.

    They are those of this direction (is_best), of random ones and of the whole vector.
    """
    keys = ["construction", *PLACE]
    is_found = (effects["labels"] == names.SELECTIVE) & effects["intervention"].isin(names.DIRECTIONS)
    of_frames = effects[is_found].groupby([*keys, names.FRAME_OF_ITEM], sort=False)["effect"].mean()
    means = of_frames.groupby(keys, sort=False).mean().reset_index()
    best = means.loc[means.groupby("construction", sort=False)["effect"].idxmax(), keys]
    here = effects.merge(best.rename(columns={"intervention": "best"}), validate="many_to_one")
    is_best = here["intervention"] == here["best"]
    decides = is_best & here["construction"].isin([*controls])
    is_shown = is_best | here["intervention"].isin([names.RANDOM, names.WHOLE])
    return here.assign(is_best=is_best, decides=decides)[is_shown]


def role_of(intervention: str) -> str:
    """Return whose number a rate of `USED` is: `names.RANDOM`, `names.WHOLE`, or `names.DIRECTION` for the best one."""
    return intervention if intervention in (names.RANDOM, names.WHOLE) else names.DIRECTION


def with_verdicts_on_use(rates: pd.DataFrame, controls: Mapping[str, str]) -> pd.DataFrame:
    """Return rates with what says whether the best direction changes answers: chance, control and verdict.

    Chance is the rate of random directions, and the control how often the model is right where plain words say the
    same. A direction changes answers where the interval of its rate lies above that of random ones: one changed item
    lies above no item. It is above them all in all where its selectivity is too. That no direction changes answers
    says something only where the model is right about the control, and a direction changes answers there.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`.
        controls: See `intervention_responses`.
    """
    rows = rates.assign(is_used=USED.among(rates)).to_dict("records")
    right = {(row["model"], row["construction"]): row for row in rows if row["measure"] == "accuracy"}
    used = {
        (row["model"], row["construction"], row["measure"], role_of(row["intervention"])): row
        for row in rows
        if row["is_used"]
    }

    def is_above_random(model: str, construction: str, measure: str) -> bool | None:
        direction, random = (used.get((model, construction, measure, role)) for role in (names.DIRECTION, names.RANDOM))
        return bool(direction["low"] > random["high"]) if direction and random else None

    result = rates.assign(verdict="")
    for number, row in enumerate(rows):
        if not row["is_used"] or (row["measure"], role_of(row["intervention"])) != ("changed", names.DIRECTION):
            continue
        model, construction, plain = row["model"], row["construction"], controls.get(row["construction"], "")
        control, there = right.get((model, plain)), is_above_random(model, plain, "changed")
        if is_above_random(model, construction, "changed"):
            verdict = "above_baseline" if is_above_random(model, construction, "selectivity") else "above_chance"
        elif control and (control["low"] <= HALF or there is False):
            verdict = "fails_control"
        else:  # without a control, or where none was learnt on it, nothing says why
            verdict = "does_not" if control and there else "no_difference"
        chance = used[model, construction, "changed", names.RANDOM]["value"]
        known = {"chance": chance, "baseline": "random directions", "verdict": verdict}
        known |= {name: control[column] for name, column in OF_CONTROL.items()} if control else {}
        for name, value in known.items():
            result.loc[number, name] = value
    return result


def figures_by_layer(rates: pd.DataFrame, labels: Mapping[str, str]) -> "dict[str, Figure]":
    """Draw the effects by layer: <construction>_<model> -> a panel for each intervention, with a curve a region.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`, of interventions.
        labels: Model -> its name for people.
    """
    from cxprobe.results.plots import curves  # matplotlib takes a second to import

    places = rates[BY_PLACE.among(rates)].rename(columns={"value": "effect in nats"})
    how: dict[str, Any] = {"x": "layer", "panels": "intervention", "colours": "region", "value": "effect in nats"}
    return {
        f"{name}_{model}": curves(
            rows.astype({"layer": int}), f"{labels[str(model)]}: {name}", **how, chance=None, linear=True, shares=False
        )
        for (model, name), rows in places.groupby(["model", "construction"], sort=False)
    }


class InterventionsEvaluation(Evaluation[InterventionsStage]):
    """What models answer after exchanges."""

    facets = FACETS
    sections: ClassVar[Mapping[str, str]] = {"used": "use"}
    says = (
        "`use/<construction>`: items whose answer an exchange of vectors changes, along the best direction. Each "
        "construction is a child run, with the effects by layer."
    )
    parts = ("construction",)

    def __init__(self, stage: Stage[InterventionsStage]) -> None:
        """Read the items."""
        super().__init__(stage)
        made = read_table(stage.use(names.MADE_ITEMS))
        expected = made[made["tests"] != "control"]
        self.controls = dict(zip(expected["construction"], expected["control"], strict=True))

    def responses(self, member: Member, folder: Path) -> pd.DataFrame:
        """Return the responses to what was learnt on the construction itself, and to all else."""
        measured = [read_table(folder / file) for file in (names.EFFECTS_FILE, names.TRANSFER_FILE)]
        return intervention_responses(pd.concat(measured, ignore_index=True), self.controls)

    def pooled(self, responses: pd.DataFrame) -> pd.DataFrame:
        """Return the responses alone: constructions have no answers in common."""
        return responses

    def decided(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return rates with their verdicts."""
        return with_verdicts_on_use(rates, self.controls)

    def extras(self, rates: pd.DataFrame) -> RunExtras:
        """Return the effects by layer as a picture."""
        model = str(rates["model"].iloc[0])
        return RunExtras(figures=dict(zip([PICTURE], figures_by_layer(rates, {model: model}).values(), strict=False)))
