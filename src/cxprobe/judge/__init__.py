"""Judging: from the raw answers of one model to the rates of its right decisions; pure functions, no model is loaded.

Each line of work has a module: `recognition` (predictions of probes), `pairs` (margins of minimal pairs, from the
token scores that `scores` turns into scores of texts; `benchmarks` does the same for pairs of others), `scenarios`
(decisions between two candidates, which `calibration` corrects), and `prompts` (answers by reply, judged in `replies`,
or by likelihood, judged in `answers`).
All return tables with one row per item, which say what was right, and tables and metrics of rates with their n and 95 %
interval, which `cxprobe.stats` estimates.
"""

from cxprobe.judge.answers import judge_likelihoods, score_answers
from cxprobe.judge.benchmarks import benchmark_rates, construction_of, judge_benchmark, with_groups
from cxprobe.judge.calibration import calibrate
from cxprobe.judge.decisions import decide, flip
from cxprobe.judge.pairs import (
    JudgedPairs,
    accuracy_by_group,
    accuracy_metrics,
    judge_pairs,
    pair_metrics,
    pair_tables,
    score_metrics,
)
from cxprobe.judge.prompts import (
    accuracy_by_shots,
    count_outcomes,
    macro_f1,
    prompt_accuracy,
    prompt_headline,
    prompt_metrics,
    prompt_tables,
    reasoning_accuracy,
    spread_over_prompts,
)
from cxprobe.judge.recognition import (
    Credited,
    Recognition,
    credit_predictions,
    judge_recognition,
    recognition_headline,
)
from cxprobe.judge.replies import REPLY, JudgedReply, judge_inference, judge_reasoning, judge_reply_table
from cxprobe.judge.scenarios import UNCALIBRATED, decide_tests, flips_from_base, scenario_metrics, scenario_rates
from cxprobe.judge.scores import texts_by_scheme

__all__ = [
    "REPLY",
    "UNCALIBRATED",
    "Credited",
    "JudgedPairs",
    "JudgedReply",
    "Recognition",
    "accuracy_by_group",
    "accuracy_by_shots",
    "accuracy_metrics",
    "benchmark_rates",
    "calibrate",
    "construction_of",
    "count_outcomes",
    "credit_predictions",
    "decide",
    "decide_tests",
    "flip",
    "flips_from_base",
    "judge_benchmark",
    "judge_inference",
    "judge_likelihoods",
    "judge_pairs",
    "judge_reasoning",
    "judge_recognition",
    "judge_reply_table",
    "macro_f1",
    "pair_metrics",
    "pair_tables",
    "prompt_accuracy",
    "prompt_headline",
    "prompt_metrics",
    "prompt_tables",
    "reasoning_accuracy",
    "recognition_headline",
    "scenario_metrics",
    "scenario_rates",
    "score_answers",
    "score_metrics",
    "spread_over_prompts",
    "texts_by_scheme",
    "with_groups",
]
