"""Runs in MLflow, which can always be written again from the records under results/."""

from cxprobe.tracking.circumstances import keep_circumstances
from cxprobe.tracking.experiments import DESCRIPTIONS
from cxprobe.tracking.runs import OpenRun, add_runs, finish, running, sync
from cxprobe.tracking.store import TrackingError, tracking_uri

__all__ = [
    "DESCRIPTIONS",
    "OpenRun",
    "TrackingError",
    "add_runs",
    "finish",
    "keep_circumstances",
    "running",
    "sync",
    "tracking_uri",
]
