"""Contrasts evaluated: the contrast of each frame and condition, and the verdict on each construction."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from cxprobe.models.params import ContinuationAlone, Member, Series
from cxprobe.models.texts import read_pair_answers
from cxprobe.results.comparisons import compare_contrasts
from cxprobe.results.evaluate import Evaluation
from cxprobe.results.findings import mean_of
from cxprobe.results.params import task_members
from cxprobe.results.rates import ALL, Facet
from cxprobe.results.schema import HALF, HAS_VERDICT, OF_CONTROL, OF_DIFFERENCE
from cxprobe.results.verdict import (
    ADDS,
    CONDITION,
    CONTROL_OVER_WORDS,
    SMALLEST_CONTROL,
    Effects,
    effects_of,
    verdicts_on,
)
from cxprobe.run.stage import Stage
from cxprobe.stats import CLUSTER, Mean, credits_of_margins
from cxprobe.tasks.contrasts.contrast import frame_contrasts, made_file, pair_margins, read_frames, shared_words
from cxprobe.tasks.contrasts.params import ContrastsStage

BY_CONDITION = Facet([CONDITION], ("contrast", "above_zero"), has_verdicts=True, is_compared=False, over_words=True)
OF_WORDINGS = f"wording != '' and not {CONDITION}.str.startswith('less_')"  # those are tested over all wordings alone
BY_WORDING = Facet([CONDITION, "wording"], ("contrast",), where=OF_WORDINGS, is_compared=False, over_words=True)
FRAME = f"{CLUSTER}frame"


class ContrastsEvaluation(Evaluation[ContrastsStage]):
    """How far the meaning of a construction decides what a model expects."""

    facets = (BY_CONDITION, BY_WORDING)
    kept = ("cell", "order")
    sections: ClassVar[Mapping[str, str]] = {"meaning": "meaning"}
    says = "`meaning/<construction>`: what it adds to the nearest context without it, in percent of the control."

    def __init__(self, stage: Stage[ContrastsStage]) -> None:
        """Note the files of all pairs."""
        super().__init__(stage)
        self.paths = [stage.use(made_file(name)) for name in stage.params.contrasts.constructions]

    def responses(self, member: Member, folder: Path) -> pd.DataFrame:
        """Return the contrasts of all frames that the model got, and the margins of all pairs."""
        wanted = self.stage.params.contrasts.models[member.entry]
        pairs = pd.concat([read_frames(path, wanted) for path in self.paths], ignore_index=True)
        if isinstance(member.spec, ContinuationAlone):  # on others it would be no baseline
            pairs = pairs[pairs["context"] != ""]
        answers = read_pair_answers(folder)
        if "margin" in answers:  # the preferences of a rule
            margins = pairs.merge(answers[["id", "margin"]], on="id", validate="one_to_one")
        else:
            margins = pair_margins(pairs, answers)
        both = pd.concat([contrast_responses(margins), margin_responses(margins)], ignore_index=True)
        return both.fillna(dict.fromkeys(self.kept, ""))

    def comparisons(
        self, responses: pd.DataFrame, members: Sequence[Member], series: Mapping[str, Series]
    ) -> pd.DataFrame:
        """Return the paired differences of contrasts, frame by frame."""
        return compare_contrasts(responses, members, series)

    def decided(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return rates with the verdict on each construction, but on those that a baseline solves."""
        params = self.stage.params
        baselines = [member.slug for member in task_members(params) if member.is_baseline]
        return with_contrast_verdicts(without_solved(rates, baselines, params.report.limit))

    def summed_up(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return what each construction adds, in percent of the control; none where the control has no effect."""
        is_whole = (rates["measure"] == "contrast") & (rates["control_low"] > SMALLEST_CONTROL)
        added = rates[is_whole & (rates["construction"] != ALL)].set_index(["model", "construction"])
        percent = (100 * added["difference"] / added["control"]).rename("number").dropna().reset_index()
        return super().summed_up(rates).drop(columns="number").merge(percent, on=["model", "construction"])


def contrast_responses(margins: pd.DataFrame) -> pd.DataFrame:
    """Return the contrast of each frame, condition and wording, and whether that of a frame is above 0, as responses.

    Args:
        margins: What `pair_margins` returns of one model.

    Returns:
        The measure contrast, in nats, a row for each wording of a frame; and above_zero, 1 above 0 and a half at 0,
        which decides in the condition of the construction. condition is also "less_" and a condition, and "adds", see
        `frame_contrasts`; and "control_over_words". What a verdict tests has the clusters of the words of its texts.
    """
    keys = ["construction", "item", FRAME]
    nats, contrasts = (frame_contrasts(margins, by) for by in ([*keys, "wording"], keys))
    contrasts = contrasts[contrasts[CONDITION] != CONTROL_OVER_WORDS]
    credits, decides = credits_of_margins(contrasts["value"]), contrasts[CONDITION] == "construction"
    above = contrasts.assign(measure="above_zero", value=credits, chance=HALF, decides=decides, question="meaning")
    both = pd.concat([nats.assign(measure="contrast", chance=np.nan, question="", decides=False), above])
    both = both.assign(source="own", gold="", chosen="", unit=both[FRAME]).fillna({"wording": ""})
    return both.reset_index(drop=True)


def margin_responses(margins: pd.DataFrame) -> pd.DataFrame:
    """Return the margin of each pair as responses, which no rate has: for models of one's own over frames and words.

    Args:
        margins: What `pair_margins` returns of one model.

    Returns:
        The measure margin, in nats, by condition, wording, cell (context and question) and order of the people.
    """
    texts = dict.fromkeys(("gold", "chosen", "question"), "")
    of_pairs = margins.drop(columns=["id", "context", "good", "bad"]).rename(columns={"margin": "value"})
    of_pairs = of_pairs.assign(**shared_words(margins), **texts, source="own", measure="margin", chance=np.nan)
    return of_pairs.assign(decides=False, unit=margins[FRAME])


def without_solved(rates: pd.DataFrame, baselines: Sequence[str], limit: float) -> pd.DataFrame:
    """Return rates with has_verdict False for the constructions whose contrasts a baseline solves.

    Args:
        rates: See `with_contrast_verdicts`.
        baselines: Those among the models: none of them can know the construction.
        limit: The share of frames above 0 from which on a set is solved, if its interval is above one half too.
    """
    is_of_baseline = rates["model"].isin(baselines) & (rates["measure"] == "above_zero")
    of_construction = rates[is_of_baseline & (rates[CONDITION] == "construction")]
    solved = of_construction[(of_construction["value"] > limit) & (of_construction["low"] > HALF)]
    return rates.assign(**{HAS_VERDICT: rates[HAS_VERDICT] & ~rates["construction"].isin(solved["construction"])})


def with_contrast_verdicts(rates: pd.DataFrame) -> pd.DataFrame:
    """Return rates with the verdict on each construction ("" elsewhere), and the rates beside it.

    The rows of the construction, of both measures, and the row adds get control, the rate of the condition control;
    and baseline, the name of the nearest of the neutral condition and the rivals. On the row of the construction's
    contrast, difference is what it adds, in nats. has_verdict is False for the other conditions, and for all
    constructions together.
    """
    result = rates.assign(verdict="", **dict.fromkeys(OF_CONTROL, np.nan))
    is_single = rates["construction"] != ALL
    result[HAS_VERDICT] &= is_single & (rates[CONDITION] == "construction")
    undivided = rates["wording"] == "" if "wording" in rates else True
    keys = ["model", "construction", "measure", CONDITION]
    at = {tuple(row[key] for key in keys): row for row in rates[is_single & undivided].reset_index().to_dict("records")}
    levels = defaultdict[tuple[str, str], dict[str, Mean]](dict)
    for (model, construction, measure, condition), row in at.items():
        if measure == "contrast":
            levels[model, construction][condition] = mean_of(row)
    effects = defaultdict[str, dict[str, Effects]](dict)
    for (model, construction), of_construction in levels.items():
        if (found := effects_of(of_construction)) is not None:
            effects[model][construction] = found
    decided: dict[int, Mapping[Any, Any]] = {}
    for model, of_model in effects.items():
        for (construction, of), verdict in zip(of_model.items(), verdicts_on([*of_model.values()]), strict=True):
            for measure, condition in (
                ("contrast", "construction"),
                ("above_zero", "construction"),
                ("contrast", ADDS),
            ):
                plain = CONTROL_OVER_WORDS if measure == "contrast" else "control"
                control = at[model, construction, measure, plain]
                row = {name: control[column] for name, column in OF_CONTROL.items()}
                row |= {"baseline": of.nearest, "verdict": verdict if condition == "construction" else ""}
                if (measure, condition) == ("contrast", "construction"):
                    row |= dict(zip(OF_DIFFERENCE, (of.adds.value, of.adds.low, of.adds.high), strict=False))
                decided[at[model, construction, measure, condition]["index"]] = row
    result.update(pd.DataFrame.from_dict(decided, orient="index"))
    return result
