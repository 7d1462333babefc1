"""Running a stage: its parameters, where its inputs come from, and the records of what it found."""

from cxprobe.records import ModelFacts, Trial
from cxprobe.stages.outcomes import JudgedRun, Outcome
from cxprobe.stages.records import read_records
from cxprobe.stages.running import is_helper_process, run_stage, run_stage_with
from cxprobe.stages.signals import end_on_signals
from cxprobe.stages.stage import Stage

__all__ = [
    "JudgedRun",
    "ModelFacts",
    "Outcome",
    "Stage",
    "Trial",
    "end_on_signals",
    "is_helper_process",
    "read_records",
    "run_stage",
    "run_stage_with",
]
