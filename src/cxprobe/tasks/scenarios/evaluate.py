"""Decisions between two candidates, calibrated by their probabilities in texts without a right answer."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.models.params import Member
from cxprobe.results.evaluate import Evaluation
from cxprobe.results.rates import ALL, Facet
from cxprobe.results.schema import HALF, other_where_wrong
from cxprobe.run.stage import Stage
from cxprobe.stats import CLUSTER, credits_of_margins
from cxprobe.tasks.scenarios.params import MADE, ScenariosStage
from cxprobe.tasks.scenarios.rules import Scenarios, load_scenarios, scenarios_file, wrong_words

UNCALIBRATED = "none"
# Nats. Probabilities come from float32, which distinguishes them to about 1e-6; smaller differences are rounding, such
# as what is left where a calibration removes the whole difference between two candidates.
TIE = 1e-10
_ASKED = ("scenario", "calibration")
FACETS = (
    Facet(where=f"decides and construction == '{ALL}'", has_verdicts=True),
    Facet(_ASKED, ("accuracy", "flips"), f"calibration == '{UNCALIBRATED}'", has_verdicts=True),
    Facet(_ASKED, ("accuracy", "flips"), f"calibration != '{UNCALIBRATED}'"),
)


def calibrate(tested: NDArray[np.float64], reference: NDArray[np.float64], *, normalised: bool) -> NDArray[np.float64]:
    """Return the logarithm of P(a | S) / mean over i of P(a | C_i) for both candidates a.

    With one calibration text this is the pointwise mutual information of the candidate and the part of the test that is
    not in that text. With content-free texts and probabilities normalised over the candidates, which are the labels
    then, it is contextual calibration with W the inverse of the diagonal matrix of the mean, and b = 0.

    Args:
        tested: Shape (items, 2): natural-log probabilities in the test S.
        reference: Shape (items, texts, 2): those in the calibration texts C_i.
        normalised: Whether each probability is first divided by the sum of both candidates'.

    Returns:
        Shape (items, 2). Adding a constant to both of an item's numbers in any text changes no comparison of
        the two if they are normalised; adding one to a candidate's numbers everywhere changes none in any case.

    Source:
        Weissweiler et al. 2022, section 4 (the formula); Holtzman et al. 2021 (PMI); Zhao et al. 2021 (contextual).
    """
    if normalised:
        tested, reference = log_softmax(tested, axis=-1), log_softmax(reference, axis=-1)
    mean = logsumexp(reference, axis=1) - np.log(reference.shape[1])  # (items, 2)
    return np.asarray(tested - mean, dtype=np.float64)


def decide_tests(scores: pd.DataFrame, items: pd.DataFrame, scenarios: Scenarios) -> pd.DataFrame:
    """Return the decision of every test of every item, without calibration and with each.

    Args:
        scores: Columns item, scenario, test (see `cxprobe.tasks.scenarios.make.fill_texts`), log_p_first and
            log_p_second, of one model on one construction; all texts of a scenario, item by item. An item that the
            model could not be asked has no rows.
        items: Columns id and cluster_<...>, of all items.
        scenarios: The tests with their right answers, and the calibrations.

    Returns:
        One row per calibration ("none" first) that the test has, test, text of the test and item: calibration, scenario
        (the test), base (whether it is the base test), draw (the text's number), item, accuracy (1, 0, or 0.5 for a
        tie), and the items' clusters.

    Raises:
        DataError: An item has fewer texts than others.
    """
    asked = items[items["id"].isin(set(scores["item"]))].reset_index(drop=True)
    log_p = {}  # scenario, and the test that a calibration's texts are for or "" -> (items, texts, 2)
    for (scenario, of), rows in scores.groupby(["scenario", "test"], sort=False):
        texts, rest = divmod(len(rows), max(len(asked), 1))
        if rest or not np.array_equal(rows["item"], np.repeat(asked["id"], texts)):
            raise DataError(
                f"{scenario}: {len(rows)} texts do not belong to the {len(asked)} items; run measure_scenarios again"
            )
        log_p[scenario, of] = rows[["log_p_first", "log_p_second"]].to_numpy(np.float64).reshape(-1, texts, 2)
    clusters = asked.filter(regex=f"^{CLUSTER}")
    decisions = []
    for calibration in (UNCALIBRATED, *scenarios.calibrations):
        for name, test in scenarios.tests.items():
            if calibration != UNCALIBRATED and not test.calibrated:
                continue
            named = {"calibration": calibration, "scenario": name, "base": name == scenarios.base, "item": asked["id"]}
            for number, text in enumerate(test.texts):
                tested = log_p[name, ""][:, number]  # (items, 2)
                if calibration != UNCALIBRATED:
                    normalised = scenarios.calibrations[calibration].normalised
                    reference = log_p.get((calibration, name), log_p[calibration, ""])
                    tested = calibrate(tested, reference, normalised=normalised)
                right = scenarios.candidates.index(text.answer)
                accuracy = credits_of_margins(tested[:, right] - tested[:, 1 - right], TIE)
                decisions.append(pd.DataFrame(named | {"draw": number, "accuracy": accuracy}).join(clusters))
    return pd.concat(decisions, ignore_index=True)


def flips_from_base(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the flips from the base test of the decisions in all other tests.

    A decision flips that is right in one of the two texts and wrong in the other. A tie is a decision at random, so
    next to a tie a flip is as likely as not: 0.5.

    Args:
        decisions: What `decide_tests` returns, of one model on one construction.

    Returns:
        The rows of the other tests, with the column flips (1, 0, or 0.5 next to a tie) in the place of base and
        accuracy; each text of a test is compared.
    """
    keys = ["calibration", "item"]
    before = decisions.loc[decisions["base"], [*keys, "accuracy"]].rename(columns={"accuracy": "before"})
    others = decisions[~decisions["base"]].merge(before, on=keys, validate="many_to_one")
    flips = others["before"] * (1 - others["accuracy"]) + others["accuracy"] * (1 - others["before"])
    return others.drop(columns=["base", "before", "accuracy"]).assign(flips=flips)


def scenario_responses(
    scores: pd.DataFrame, items: pd.DataFrame, texts: pd.DataFrame, scenarios: Scenarios
) -> pd.DataFrame:
    """Return the responses of one model on one construction: accuracies, and flips from the base test.

    Args:
        scores: See `decide_tests`.
        items: Likewise.
        texts: The texts of the tests (see `cxprobe.tasks.scenarios.make.fill_texts`): item, scenario, draw, first,
            second and right, "" for a calibration.
        scenarios: See `decide_tests`.

    Returns:
        Columns of `cxprobe.results.schema.RESPONSES` but task, model, construction and source; scenario and
        calibration; and the clusters. The base test without calibration decides.
    """
    decisions = decide_tests(scores, items, scenarios)
    flips = flips_from_base(decisions)
    tests = texts.loc[texts["right"] != "", ["item", "scenario", "draw", "first", "second", "right"]]
    tests = tests.assign(gold=tests["right"], wrong=wrong_words(tests)).drop(columns=["first", "second", "right"])
    answered = decisions.merge(tests, on=["item", "scenario", "draw"], how="left", validate="many_to_one")
    answered["chosen"] = other_where_wrong(answered["accuracy"], answered["gold"], answered["wrong"])
    answered["decides"] = answered["base"] & (answered["calibration"] == UNCALIBRATED)
    answered = answered.drop(columns=["base", "wrong"]).assign(measure="accuracy", chance=HALF)
    flips = flips.assign(measure="flips", chance=np.nan, gold="", chosen="", decides=False)
    parts = [answered.rename(columns={"accuracy": "value"}), flips.rename(columns={"flips": "value"})]
    responses = pd.concat(parts, ignore_index=True)
    later = responses["item"] + ", text " + (responses["draw"] + 1).astype(str)
    item = responses["item"].where(responses["draw"] == 0, later)
    return responses.assign(item=item, question="meaning").drop(columns="draw")


def with_preferences(rates: pd.DataFrame, scenarios: Mapping[str, Scenarios]) -> pd.DataFrame:
    """Return rates with the column prefers: whether the model of a row has a fixed preference on its construction.

    It has one if it keeps to one word in most items, though the other one becomes right.

    Args:
        rates: Columns of `cxprobe.results.schema.RATES`.
        scenarios: Construction -> its tests.
    """
    turned = [
        (construction, name)
        for construction, of_it in scenarios.items()
        for name, test in of_it.tests.items()
        if test.answer != of_it.tests[of_it.base].answer
    ]
    is_turned = rates[["construction", "scenario"]].apply(tuple, axis="columns").isin(turned)
    is_plain = rates["calibration"] == UNCALIBRATED
    keeps = is_turned & is_plain & (rates["measure"] == "flips") & (rates["low"] > HALF)
    models = rates[["model", "construction"]].apply(tuple, axis="columns")
    return rates.assign(prefers=models.isin(models[keeps]))


class ScenariosEvaluation(Evaluation[ScenariosStage]):
    """Which of two candidate words a model finds the likelier."""

    facets = FACETS
    says = (
        "`scenarios/<construction>`: items of which the right candidate is the more probable one in the base test; "
        "chance is 50. Each calibration is a child run."
    )
    parts = ("calibration",)

    def __init__(self, stage: Stage[ScenariosStage]) -> None:
        """Read the scenarios, their items and texts."""
        super().__init__(stage)
        names = stage.params.scenarios.constructions
        self.scenarios = {name: load_scenarios(stage.use(scenarios_file(name)).parent.name) for name in names}
        self.made = {
            name: {stem: read_table(stage.use(MADE / name / f"{stem}.parquet")) for stem in ("items", "texts")}
            for name in names
        }

    def responses(self, member: Member, folder: Path) -> pd.DataFrame:
        """Return the responses to the scenarios of all constructions."""
        scores = read_table(folder / "scores.parquet")
        parts = []
        for name, of_construction in scores.groupby("construction", sort=False):
            slug = str(name)
            part = scenario_responses(of_construction, **self.made[slug], scenarios=self.scenarios[slug])
            parts.append(part.assign(construction=slug, source="own"))
        return pd.concat(parts)

    def decided(self, rates: pd.DataFrame) -> pd.DataFrame:
        """Return rates with a fixed preference for one word noted."""
        return with_preferences(rates, self.scenarios)
