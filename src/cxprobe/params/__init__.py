"""params.yaml as a closed model, one module per line of work.

`load_params` reads the file and reports all its faults at once: keys and values that are not allowed, unknown names,
and sections that are needed and absent. ``params.schema.json`` is the same model for editors (`cxprobe schema`).
"""

from cxprobe.params.grid import Grid
from cxprobe.params.mining import (
    Corpus,
    Duplicates,
    Engine,
    FilesCorpus,
    InstalledCorpus,
    LocalEngine,
    MineSentences,
    RayEngine,
    SlurmEngine,
)
from cxprobe.params.models import Llm, ModelSpec, Precision, Series
from cxprobe.params.names import AnswerScore, SchemeName, ScoreName, Source
from cxprobe.params.pairs import Benchmark, BuildPairs, JudgePairs, PerCell, ScorePairs
from cxprobe.params.project import CONSTRUCTIONS_FOLDER, PARAMS_FILE, Params, load_params, schema_text
from cxprobe.params.prompts import (
    DIAGNOSTIC_VERDICTS,
    INSTANCE_VERDICTS,
    OWN,
    BuildPrompts,
    ContinuationSettings,
    JudgeAnswers,
    ScoreAnswers,
    Shots,
    WriteFrames,
)
from cxprobe.params.recognition import (
    BuildRecognition,
    ExtractFeatures,
    FitProbes,
    GenerateSentences,
    LabelSentences,
    SearchRange,
    Subsets,
    TuneProbes,
)
from cxprobe.params.scenarios import BuildScenarios, FillScenarios

__all__ = [
    "CONSTRUCTIONS_FOLDER",
    "DIAGNOSTIC_VERDICTS",
    "INSTANCE_VERDICTS",
    "OWN",
    "PARAMS_FILE",
    "AnswerScore",
    "Benchmark",
    "BuildPairs",
    "BuildPrompts",
    "BuildRecognition",
    "BuildScenarios",
    "ContinuationSettings",
    "Corpus",
    "Duplicates",
    "Engine",
    "ExtractFeatures",
    "FilesCorpus",
    "FillScenarios",
    "FitProbes",
    "GenerateSentences",
    "Grid",
    "InstalledCorpus",
    "JudgeAnswers",
    "JudgePairs",
    "LabelSentences",
    "Llm",
    "LocalEngine",
    "MineSentences",
    "ModelSpec",
    "Params",
    "PerCell",
    "Precision",
    "RayEngine",
    "SchemeName",
    "ScoreAnswers",
    "ScoreName",
    "ScorePairs",
    "SearchRange",
    "Series",
    "Shots",
    "SlurmEngine",
    "Source",
    "Subsets",
    "TuneProbes",
    "WriteFrames",
    "load_params",
    "schema_text",
]
