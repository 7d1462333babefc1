"""The lines of work. This is the only module that names them: everything else goes over this list."""

from collections.abc import Mapping

from cxprobe.interventions.line import InterventionsLine
from cxprobe.pairs.line import PairsLine
from cxprobe.prompts.line import PromptsLine
from cxprobe.recognition.line import RecognitionLine
from cxprobe.report.line import Line
from cxprobe.run.experiments import Experiments
from cxprobe.scenarios.line import ScenariosLine

LINES: Mapping[str, Line] = {
    line.name: line for line in (RecognitionLine(), ScenariosLine(), PairsLine(), PromptsLine(), InterventionsLine())
}
"""Name of a line, of its section of params.yaml, and of its package -> the line."""


def all_experiments() -> Experiments:
    """Return the experiments of MLflow of all lines."""
    return {name: experiment for line in LINES.values() for name, experiment in line.experiments.items()}
