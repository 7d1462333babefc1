"""Scenarios: short texts with a gap that only the meaning of a construction can fill rightly, as data."""

from cxprobe.scenarios.items import drop_items, enumerate_items
from cxprobe.scenarios.loading import load_scenarios
from cxprobe.scenarios.schema import Scenarios
from cxprobe.scenarios.texts import fill_texts

__all__ = ["Scenarios", "drop_items", "enumerate_items", "fill_texts", "load_scenarios"]
