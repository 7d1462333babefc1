"""Decisions: which of two candidate words a model prefers, calibrated or not, and when it changes its mind."""

from cxprobe.decisions.calibration import calibrate
from cxprobe.decisions.choices import decide, flip
from cxprobe.decisions.judging import UNCALIBRATED, flips_from, judge

__all__ = ["UNCALIBRATED", "calibrate", "decide", "flip", "flips_from", "judge"]
