"""Judging: from the raw answers of one model to the rates of its right decisions; pure functions, no model is loaded.

Each line of work has a module: `recognition` (predictions of probes), `pairs` (margins of minimal pairs, from the
token scores that `scores` turns into scores of texts; `benchmarks` does the same for pairs of others, and `asked` for
replies of models that are shown both texts), `scenarios` (decisions between two candidates, which `calibration`
corrects), and `prompts` (answers by reply, judged in `replies`, or by likelihood, judged in `answers`). `balance` finds
cells of pairs in which one answer is always right, and `comparisons` holds models against each other and against the
best of the blind.
All return tables with one row per item, which say what was right, and tables and metrics of rates with their n and 95 %
interval, which `cxprobe.stats` estimates.
"""

from cxprobe.judge.answers import (
    RULE,
    JudgedAnswers,
    answers_headline,
    best_blind_answers,
    compare_answers,
    judge_blind_answers,
    judge_choices,
    judge_likelihoods,
    rates_of_blind,
    score_answers,
    sum_up_answers,
)
from cxprobe.judge.asked import (
    AskedPairs,
    asked_headline,
    asked_metrics,
    asked_rates,
    asked_settings,
    judge_asked_benchmark,
    judge_asked_pairs,
)
from cxprobe.judge.balance import unbalanced_cells
from cxprobe.judge.benchmarks import (
    benchmark_rates,
    benchmark_scores,
    construction_of,
    judge_benchmark,
    with_groups,
)
from cxprobe.judge.calibration import calibrate
from cxprobe.judge.comparisons import best_blind, compare_models
from cxprobe.judge.decisions import decide, flip
from cxprobe.judge.pairs import (
    JudgedPairs,
    accuracy_by_group,
    accuracy_metrics,
    best_blind_pairs,
    biases_of_all,
    judge_pairs,
    pair_metrics,
    pair_tables,
    score_metrics,
)
from cxprobe.judge.preferences import (
    judge_benchmark_answers,
    judge_pair_answers,
    judge_preferences,
    pair_headline,
)
from cxprobe.judge.prompts import (
    accuracy_by_shots,
    accuracy_by_template,
    best_constant,
    consistency_over_orders,
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
    panel_headline,
    recognition_headline,
)
from cxprobe.judge.replies import (
    REPLY,
    JudgedReply,
    judge_inference,
    judge_preference,
    judge_reasoning,
    judge_reply_table,
)
from cxprobe.judge.scenarios import (
    UNCALIBRATED,
    decide_tests,
    flips_from_base,
    scenario_headline,
    scenario_metrics,
    scenario_rates,
    uncalibrated,
)
from cxprobe.judge.scores import texts_by_scheme
from cxprobe.judge.ways import JudgedWays, judge_ways, rates_of_ways, verdicts, ways_headline

__all__ = [
    "REPLY",
    "RULE",
    "UNCALIBRATED",
    "AskedPairs",
    "Credited",
    "JudgedAnswers",
    "JudgedPairs",
    "JudgedReply",
    "JudgedWays",
    "Recognition",
    "accuracy_by_group",
    "accuracy_by_shots",
    "accuracy_by_template",
    "accuracy_metrics",
    "answers_headline",
    "asked_headline",
    "asked_metrics",
    "asked_rates",
    "asked_settings",
    "benchmark_rates",
    "benchmark_scores",
    "best_blind",
    "best_blind_answers",
    "best_blind_pairs",
    "best_constant",
    "biases_of_all",
    "calibrate",
    "compare_answers",
    "compare_models",
    "consistency_over_orders",
    "construction_of",
    "count_outcomes",
    "credit_predictions",
    "decide",
    "decide_tests",
    "flip",
    "flips_from_base",
    "judge_asked_benchmark",
    "judge_asked_pairs",
    "judge_benchmark",
    "judge_benchmark_answers",
    "judge_blind_answers",
    "judge_choices",
    "judge_inference",
    "judge_likelihoods",
    "judge_pair_answers",
    "judge_pairs",
    "judge_preference",
    "judge_preferences",
    "judge_reasoning",
    "judge_recognition",
    "judge_reply_table",
    "judge_ways",
    "macro_f1",
    "pair_headline",
    "pair_metrics",
    "pair_tables",
    "panel_headline",
    "prompt_accuracy",
    "prompt_headline",
    "prompt_metrics",
    "prompt_tables",
    "rates_of_blind",
    "rates_of_ways",
    "reasoning_accuracy",
    "recognition_headline",
    "scenario_headline",
    "scenario_metrics",
    "scenario_rates",
    "score_answers",
    "score_metrics",
    "spread_over_prompts",
    "sum_up_answers",
    "texts_by_scheme",
    "unbalanced_cells",
    "uncalibrated",
    "verdicts",
    "ways_headline",
    "with_groups",
]
