"""What a run would do and cost, before it is run; and the atlas: where each result of the papers is in this project.

Pure functions of parameters, counts and stated rates, and the readers of docs/plan.yaml and docs/papers.yaml. What the
data amount to is counted by the command that asks for a plan.
"""

from cxprobe.planning.atlas import Atlas, Costs, Entry, faults_of_atlas, load_atlas
from cxprobe.planning.facts import FACTS_FILE, BenchmarkSize, Facts, ModelSize, load_facts, size_of, size_of_folder
from cxprobe.planning.page import Cost, costs_of, page_of_plan
from cxprobe.planning.papers_page import page_of_papers, rounded
from cxprobe.planning.plan import Asked, Counts, Made, Measured, Plan, Questions, make_plan
from cxprobe.planning.stages import StageItems, stage_items
from cxprobe.planning.work import Effort, Texts, Training, Work, effort_of, memory_of, texts_of, work_of

__all__ = [
    "FACTS_FILE",
    "Asked",
    "Atlas",
    "BenchmarkSize",
    "Cost",
    "Costs",
    "Counts",
    "Effort",
    "Entry",
    "Facts",
    "Made",
    "Measured",
    "ModelSize",
    "Plan",
    "Questions",
    "StageItems",
    "Texts",
    "Training",
    "Work",
    "costs_of",
    "effort_of",
    "faults_of_atlas",
    "load_atlas",
    "load_facts",
    "make_plan",
    "memory_of",
    "page_of_papers",
    "page_of_plan",
    "rounded",
    "size_of",
    "size_of_folder",
    "stage_items",
    "texts_of",
    "work_of",
]
