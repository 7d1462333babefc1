"""params.yaml as one closed model: every key is known and typed, and no value is assumed."""

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from cxprobe.errors import ParamsError
from cxprobe.params.cards import Cards
from cxprobe.params.checks import faults_between_sections
from cxprobe.params.grid import Grid, Lines
from cxprobe.params.mining import Corpus, MineSentences
from cxprobe.params.models import Llm, Model, Precision, Series
from cxprobe.params.names import Slug
from cxprobe.params.pairs import AskPairs, Benchmark, BuildPairs, JudgePairs, ScorePairs
from cxprobe.params.prompts import BuildPrompts, JudgeAnswers, ScoreAnswers, WriteFrames
from cxprobe.params.recognition import (
    BuildRecognition,
    ExtractFeatures,
    FitProbes,
    GenerateSentences,
    LabelSentences,
    TuneProbes,
)
from cxprobe.params.scenarios import BuildScenarios, FillScenarios
from cxprobe.params.ways import FitPairProbes, JudgeWays
from cxprobe.schema import Closed, faults_of, optional_section, read_yaml

PARAMS_FILE = Path("params.yaml")
CONSTRUCTIONS_FOLDER = Path("constructions")


class Params(Closed):
    """All parameters of a run: a whole params.yaml, or a whole preset.

    A section that neither lines nor grid need may be absent; its attribute is then None, and no stage reads it.
    """

    seed: Annotated[int, Field(ge=0)]
    """What every draw follows from."""
    lines: Lines
    """Which lines of work run; benchmarks and written frames run by their own part of grid."""
    grid: Grid
    models: dict[Slug, Model] = optional_section()
    """Slug -> a checkpoint, a twin of one, or a blind model."""
    series: dict[Slug, Series] = optional_section()
    """Slug -> models that are drawn as a curve; {} for none."""
    benchmarks: dict[Slug, Benchmark] = optional_section()
    """Slug -> minimal pairs of others."""
    llms: dict[Slug, Llm] = optional_section()
    """Slug -> a model that is asked in words."""
    corpora: dict[Slug, Corpus] = optional_section()
    """Slug -> a corpus that grid.mining may name."""
    precision: Precision = optional_section()
    generate_sentences: GenerateSentences = optional_section()
    mine_sentences: MineSentences = optional_section()
    label_sentences: LabelSentences = optional_section()
    build_recognition: BuildRecognition = optional_section()
    build_scenarios: BuildScenarios = optional_section()
    build_pairs: BuildPairs = optional_section()
    build_prompts: BuildPrompts = optional_section()
    write_frames: WriteFrames = optional_section()
    extract_features: ExtractFeatures = optional_section()
    tune_probes: TuneProbes = optional_section()
    fit_probes: FitProbes = optional_section()
    fill_scenarios: FillScenarios = optional_section()
    score_pairs: ScorePairs = optional_section()
    ask_pairs: AskPairs = optional_section()
    score_answers: ScoreAnswers = optional_section()
    fit_pair_probes: FitPairProbes = optional_section()
    judge_pairs: JudgePairs = optional_section()
    judge_ways: JudgeWays = optional_section()
    judge_answers: JudgeAnswers = optional_section()
    cards: Cards = optional_section()


def load_params(path: Path = PARAMS_FILE, constructions: Path = CONSTRUCTIONS_FOLDER) -> Params:
    """Read and check a parameter file.

    Args:
        path: The file.
        constructions: The folder whose sub-folders are the constructions that the grid may name.

    Raises:
        ParamsError: One line for every fault of the file, each with its key, value and what is allowed.
    """
    content = read_yaml(path, ParamsError)
    known = [folder.parent.name for folder in sorted(constructions.glob("*/construction.yaml"))]
    faults = [*faults_of(Params, content), *faults_between_sections(_sound_sections(content), known)]
    if faults:
        raise ParamsError("\n".join(f"{path}: {fault}" for fault in faults))
    return Params.model_validate(content)


def _sound_sections(content: dict[str, Any]) -> dict[str, Any]:
    """Return the sections that are as they should be, so that they can be compared with each other at once."""
    sections = {}
    for name, field in Params.model_fields.items():
        try:
            sections[name] = TypeAdapter(field.rebuild_annotation()).validate_python(content[name])
        except KeyError:
            if not field.is_required():  # else the absence is a fault, and there is nothing to compare with
                sections[name] = None
        except ValidationError:
            continue
    return sections


def schema_text() -> str:
    """Return the JSON Schema of params.yaml, with what the attributes' docstrings say as descriptions."""
    return json.dumps(Params.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
