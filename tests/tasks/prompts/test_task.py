"""What pages say of rates of prompts."""

from types import SimpleNamespace

import pandas as pd
import pytest

from cxprobe.results.rates import columns_of
from cxprobe.results.task import findings_of
from cxprobe.tasks.prompts.evaluate import FACETS
from cxprobe.tasks.prompts.task import PromptsTask

ROW = {"construction": "toy", "source": "templatic", "measure": "accuracy", "model": "clm", "verdict": "does_not"}
ROW |= {"task": "prompts", "question": "meaning"}
ROW |= dict.fromkeys(columns_of(FACETS), "") | {"shots": "0", "chain_of_thought": "False", "examples": "none"}
ROW |= {"decides": True, "value": 0.3, "low": 0.2, "high": 0.4, "n": 30}
ROW |= {"chance": 1 / 3, "baseline": "rule", "difference": -0.1, "diff_low": -0.2, "diff_high": 0.1}
ROW |= {"p_adjusted": float("nan")}
TOY = SimpleNamespace(items={}, construction=SimpleNamespace(placebo=False))
ROW |= {"control": 0.5, "control_low": 0.4, "control_high": 0.6, "control_n": 20}


def of_prompts(*rows):
    """Return the findings of rates, each `ROW` with changes."""
    table = pd.DataFrame([ROW | row for row in rows])
    return findings_of({"prompts": table}, {"prompts": PromptsTask()}, {"toy": TOY})


def test_a_rate_stands_beside_its_control_and_says_how_it_was_asked():
    asked = {"model": "chat", "source": "reasoning", "shots": "3", "chain_of_thought": "True", "examples": "a.b"}
    asked |= {"decides": False, "question": "words"}
    clm, chat = of_prompts({}, asked, asked | {"measure": "unparsed", "verdict": ""})
    assert (clm.way, clm.question) == ("inference, 0 shots", "meaning")
    assert (chat.way, chat.question) == ("multiple choice, 3 shots, reasoned", "words")
    assert (clm.headline, chat.headline) == (True, False)
    assert (clm.control.value, clm.control.n) == (0.5, 20)
    assert clm.verdict.words == "not above chance, and passes the control"


@pytest.mark.parametrize(("shots", "examples"), [("0", "none"), ("1", "templatic")])
def test_a_baseline_is_asked_in_one_setting_and_stands_beside_all_and_rates_by_no_setting_are_on_no_page(
    shots, examples
):
    of_rule = {"model": "rule", "verdict": "", "value": 0.6}  # at 0 shots
    undivided = {"shots": "", "chain_of_thought": "", "examples": ""}
    by_test = undivided | {"chain_of_thought": "False", "answerable": "True", "test": "base"}
    asked = {"shots": shots, "examples": examples}
    [finding] = of_prompts(asked, of_rule, undivided, by_test, asked | {"prompt": "p"})
    assert (finding.baseline.name, finding.baseline.rate.value) == ("rule", 0.6)
