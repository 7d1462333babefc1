"""The section grid of params.yaml: which models and constructions run. Every part of it may be empty."""

import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from cxprobe.corpora.params import Corpus, MineSentences
from cxprobe.errors import ParamsError
from cxprobe.files.schema import (
    Closed,
    Distinct,
    Everything,
    Slug,
    SomeDistinct,
    Source,
    faults_of,
    optional_section,
    read_yaml,
    suggest,
)
from cxprobe.lm.params import LINES_OF_KINDS, LINES_OF_SERVED, Llm, Model, Panel, Precision, Series, ServedModel
from cxprobe.pairs.params import AskPairs, Benchmark, BuildPairs, FitPairProbes, JudgePairs, JudgeWays, ScorePairs
from cxprobe.prompts.params import BuildPrompts, JudgeAnswers, ScoreAnswers, WriteFrames
from cxprobe.recognition.params import (
    BuildRecognition,
    ExtractFeatures,
    FitProbes,
    GenerateSentences,
    LabelSentences,
    Subsets,
    TuneProbes,
)
from cxprobe.scenarios.params import BuildScenarios, FillScenarios


class Cards(Closed):
    """What a card says about a data set: whether a blind model solves it."""

    limit: Annotated[float, Field(gt=0.5, le=1)]
    """The accuracy of a blind model above which a data set "can be solved without the construction", where chance is
    0.5. Where chance is c, the limit lies at the same share of the way from c to 1."""


class Lines(Closed):
    """Which lines of work run: [all] for one that does, all its constructions at once, and [] for one that does not.

    DVC makes a stage for each entry of a list, so that a line with [] has no stages.
    """

    recognition: Distinct[Everything]
    scenarios: Distinct[Everything]
    pairs: Distinct[Everything]
    prompts: Distinct[Everything]
    series: Distinct[Everything]
    """Whether all series of models are drawn side by side too, on the pairs and on the benchmarks of the grid. A series
    is drawn on a benchmark if grid.benchmarks has all of its models, and not if it has none of them."""


class RecognitionGrid(Closed):
    """What the recognition probes run over: every model on every source of every construction."""

    models: Distinct[Slug]
    """Slugs of the section models."""
    constructions: dict[Slug, SomeDistinct[Source]]
    """Construction -> where its sentences come from: "generated" by its grammars, "balanced" by its second pair of
    grammars (grid.sentences must name it too for both), "mined" from a corpus and labelled (grid.labels must name it
    too)."""


class ScenariosGrid(Closed):
    """What the scenarios run over."""

    models: Distinct[Slug]
    """Slugs of the section models: masked language models."""
    constructions: Distinct[Slug]
    """Folders of constructions/ that have a scenarios.yaml."""


class PairsGrid(Closed):
    """What the minimal pairs run over."""

    models: Distinct[Slug]
    """Slugs of the section models: masked or causal language models, whose likelihoods are compared."""
    llms: Distinct[Slug]
    """Slugs of the section llms, which are asked in words which text of a pair is the likelier; may be empty."""
    constructions: Distinct[Slug]
    """Folders of constructions/ that have a pairs.yaml."""


class WaysGrid(Closed):
    """What is asked about the same pairs in three ways: by a probe, by likelihood and, if it is set up, in words."""

    models: Distinct[Slug]
    """Slugs of the section models that grid.pairs names too."""
    constructions: Distinct[Slug]
    """Constructions that grid.pairs names too."""


class PromptsGrid(Closed):
    """What is asked about items: of some models in words, of others by the likelihood of the answers."""

    llms: Distinct[Slug]
    """Slugs of the section llms, which reply in words."""
    models: Distinct[Slug]
    """Slugs of the section models, masked or causal, whose answers are scored."""
    constructions: Distinct[Slug]
    """Folders of constructions/ that have an items.yaml."""


class BenchmarksGrid(Closed):
    """What the minimal pairs of others run over."""

    models: Distinct[Slug]
    """Slugs of the section models: masked or causal language models."""
    llms: Distinct[Slug]
    """Slugs of the section llms, as in grid.pairs; may be empty."""
    benchmarks: Distinct[Slug]
    """Slugs of the section benchmarks."""


class FramesGrid(Closed):
    """What write_frames runs over."""

    llms: Distinct[Slug]
    """Slugs of the section llms."""
    constructions: Distinct[Slug]
    """Folders of constructions/ that have a pairs.yaml."""


class Grid(Closed):
    """Which models and constructions run. How they run is in the section of each stage."""

    sentences: Distinct[Slug]
    """Folders of constructions/ whose grammars make sentences."""
    mining: dict[Slug, Slug]
    """Construction with a pattern.yaml -> slug of the section corpora: the corpus that is searched for it."""
    labels: Distinct[Slug]
    """Constructions of grid.mining whose labels.tsv is ready to be used."""
    recognition: RecognitionGrid
    scenarios: ScenariosGrid
    pairs: PairsGrid
    ways: WaysGrid
    prompts: PromptsGrid
    benchmarks: BenchmarksGrid
    frames: FramesGrid


# A part of the grid -> the sections that are read where it is not empty.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "sentences": ("generate_sentences",),
    "mining": ("corpora", "mine_sentences"),
    "labels": ("label_sentences",),
    "recognition": (
        "models",
        "series",
        "precision",
        "build_recognition",
        "extract_features",
        "tune_probes",
        "fit_probes",
        "cards",
    ),
    "scenarios": ("models", "series", "precision", "build_scenarios", "fill_scenarios", "cards"),
    "pairs": ("models", "series", "precision", "build_pairs", "score_pairs", "judge_pairs", "cards"),
    "pairs.llms": ("llms", "ask_pairs"),
    "ways": ("extract_features", "fit_pair_probes", "judge_ways"),
    "prompts": ("series", "build_prompts", "judge_answers", "cards"),
    "prompts.llms": ("llms",),
    "prompts.models": ("models", "precision", "score_answers"),
    "benchmarks": ("models", "series", "benchmarks", "precision", "score_pairs", "judge_pairs", "cards"),
    "benchmarks.llms": ("llms", "ask_pairs"),
    "frames": ("llms", "write_frames"),
}
# A line of work -> what of its part of the grid is run, and over what.
_CROSSED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "recognition": (("models",), "constructions"),
    "scenarios": (("models",), "constructions"),
    "pairs": (("models", "llms"), "constructions"),
    "ways": (("models",), "constructions"),
    "prompts": (("llms", "models"), "constructions"),
    "benchmarks": (("models", "llms"), "benchmarks"),
    "frames": (("llms",), "constructions"),
}


def faults_between_sections(sections: Mapping[str, Any], constructions: Collection[str]) -> Iterator[str]:
    """Give what is wrong between sections that are right in themselves.

    Args:
        sections: Section -> its content, None where it is absent; those with faults of their own are left out, and
            what concerns them is not checked.
        constructions: The names of the constructions that there are.
    """
    for check in _CHECKS:
        names = inspect.signature(check).parameters
        known = {**sections, "sections": sections, "constructions": constructions}
        if all(name in known for name in names):
            yield from check(**{name: known[name] for name in names})


def _names_are_known(grid: Grid, sections: Mapping[str, Any], constructions: Collection[str]) -> Iterator[str]:
    """Check every name of the grid against the section, or the folder, that it must be in."""
    for place, kind, names in _named(grid):
        allowed = constructions if kind == "constructions" else sections.get(kind)
        if allowed is None:  # reported as a section that is absent, or as one with faults of its own
            continue
        where = "constructions/" if kind == "constructions" else kind
        for number, name in enumerate(names):
            if name not in allowed:
                key = f"[{number}]" if isinstance(names, list) else f".{name}"
                yield f"grid.{place}{key}: '{name}' is not in {where}{suggest(name, list(allowed))}"


def _named(grid: Grid) -> Iterator[tuple[str, str, Collection[str]]]:
    """Give the places of the grid that have names, the section (or "constructions") of the names, and the names."""
    yield "sentences", "constructions", grid.sentences
    yield "mining", "constructions", grid.mining
    yield "labels", "constructions", grid.labels
    for part in _CROSSED:
        for key in type(getattr(grid, part)).model_fields:
            yield f"{part}.{key}", key, getattr(getattr(grid, part), key)


def _corpora_are_known(grid: Grid, corpora: Mapping[str, Any] | None) -> Iterator[str]:
    for construction, corpus in grid.mining.items():
        if corpora is not None and corpus not in corpora:
            yield f"grid.mining.{construction}: '{corpus}' is not in corpora{suggest(corpus, list(corpora))}"


def _sentences_are_made(grid: Grid) -> Iterator[str]:
    """Check that what needs sentences is also named where sentences are made."""
    for number, name in enumerate(grid.labels):
        if name not in grid.mining:
            yield f"grid.labels[{number}]: '{name}' is not in grid.mining; add it there"
    made = {
        "generated": ("sentences", grid.sentences),
        "balanced": ("sentences", grid.sentences),
        "mined": ("labels", grid.labels),
    }
    for name, sources in grid.recognition.constructions.items():
        for number, source in enumerate(sources):
            part, names = made[source]
            if name not in names:
                place = f"grid.recognition.constructions.{name}[{number}]"
                yield f"{place}: {source} sentences need '{name}' in grid.{part}; add it there"


def _nothing_runs_over_nothing(grid: Grid) -> Iterator[str]:
    for part, (running, over) in _CROSSED.items():
        names = getattr(grid, part)
        any_runs, any_over = any(getattr(names, key) for key in running), bool(getattr(names, over))
        if any_runs != any_over:
            empty, full = (" and ".join(running), over) if any_over else (over, " or ".join(running))
            yield f"grid.{part}.{empty}: must not be empty, since {full} is not; name some, or empty both"


def _lines_agree_with_the_grid(lines: Lines, grid: Grid) -> Iterator[str]:
    for line in (name for name in Lines.model_fields if name in Grid.model_fields):
        runs, filled = bool(getattr(lines, line)), _runs(grid, line)
        if runs and not filled:
            yield f"lines.{line}: is [all], but grid.{line} is empty; name models and constructions there, or write []"
        if filled and not runs:
            yield f"lines.{line}: is [], but grid.{line} is not empty; write [all], or empty that part of the grid"


def _sections_are_there(grid: Grid, sections: Mapping[str, Any]) -> Iterator[str]:
    needed: dict[str, list[str]] = {}
    for part, names in _NEEDED.items():
        for name in names if _runs(grid, part) else ():
            needed.setdefault(name, []).append(f"grid.{part}")
    for name, parts in needed.items():
        if name in sections and sections[name] is None:
            yield f"{name}: missing; {' and '.join(parts)} cannot run without this section"


def _subsets_are_there(grid: Grid, build_recognition: BuildRecognition | None) -> Iterator[str]:
    sources = {source for sources in grid.recognition.constructions.values() for source in sources}
    for source in sorted(sources) if build_recognition else ():
        if getattr(build_recognition, source) is None:
            yield f"build_recognition.{source}: missing; grid.recognition.constructions asks for {source} sentences"


def _enough_is_generated(
    grid: Grid, generate_sentences: GenerateSentences | None, build_recognition: BuildRecognition | None
) -> Iterator[str]:
    if generate_sentences is None or build_recognition is None:
        return
    asked = {source for sources in grid.recognition.constructions.values() for source in sources}
    for source in sorted(asked & {"generated", "balanced"}):
        subsets: Subsets | None = getattr(build_recognition, source)
        needed = max(subsets.train_per_label, subsets.test_per_label) if subsets else 0
        if generate_sentences.per_label < needed:
            yield (
                f"generate_sentences.per_label: {generate_sentences.per_label} is too few, since "
                f"build_recognition.{source} draws {needed} sentences per value and label; raise the first or lower "
                "the second"
            )


def _panels_fit_their_lines(grid: Grid, models: Mapping[str, Model] | None) -> Iterator[str]:
    for line in _CROSSED:
        for number, slug in enumerate(getattr(getattr(grid, line), "models", ())):
            entry = (models or {}).get(slug)
            for name, one in entry.members.items() if isinstance(entry, Panel) else ():
                allowed = LINES_OF_KINDS[one.kind]
                if line not in allowed:
                    yield (
                        f"grid.{line}.models[{number}]: '{slug}' has {name}, which cannot be asked here; {one.kind} is "
                        f"for {' and '.join(f'grid.{other}' for other in allowed)}"
                    )


def _served_models_are_asked_for_likelihoods(grid: Grid, models: Mapping[str, Model] | None) -> Iterator[str]:
    for line in (one for one in _CROSSED if one not in LINES_OF_SERVED):
        for number, slug in enumerate(getattr(getattr(grid, line), "models", ())):
            if isinstance((models or {}).get(slug), ServedModel):
                yield (
                    f"grid.{line}.models[{number}]: '{slug}' runs on a server, which gives causal likelihoods alone: "
                    f"it is for {' and '.join(f'grid.{other}' for other in LINES_OF_SERVED)}; take it out here"
                )


def _members_have_names_of_their_own(models: Mapping[str, Model] | None) -> Iterator[str]:
    owners = {slug: f"models.{slug}" for slug in models or ()}
    for slug, entry in (models or {}).items():
        for name in entry.members if isinstance(entry, Panel) else ():
            place = f"models.{slug}.members.{name}"
            if name in owners:
                yield f"{place}: the name is taken by {owners[name]}; give it another, since tables tell models by it"
            owners[name] = place


def _asked_models_have_names_of_their_own(grid: Grid, models: Mapping[str, Model] | None) -> Iterator[str]:
    """Check that no table of pairs has a model that is asked and one that is scored under the same name."""
    for part, own in (("pairs", grid.pairs), ("benchmarks", grid.benchmarks)):
        entries = {slug: (models or {}).get(slug) for slug in own.models}
        taken = {*entries, *(name for one in entries.values() if isinstance(one, Panel) for name in one.members)}
        for number, slug in enumerate(own.llms):
            if slug in taken:
                yield (
                    f"grid.{part}.llms[{number}]: '{slug}' is a model in grid.{part}.models too, and tables tell "
                    "models by their names; give the entry of llms another"
                )


def _ways_are_those_of_pairs(grid: Grid, judge_ways: JudgeWays | None) -> Iterator[str]:
    """Check that what is asked in three ways is also scored, and that what is said is asked."""
    for key in ("models", "constructions"):
        for number, name in enumerate(getattr(grid.ways, key)):
            if name not in getattr(grid.pairs, key):
                yield f"grid.ways.{key}[{number}]: '{name}' is not in grid.pairs.{key}; add it there"
    for model, llm in (judge_ways.asked if judge_ways else {}).items():
        if model not in grid.ways.models:
            yield f"judge_ways.asked.{model}: is not in grid.ways.models; add it there"
        if llm not in grid.pairs.llms:
            yield f"judge_ways.asked.{model}: '{llm}' is not in grid.pairs.llms; add it there"


def _series_are_measured(grid: Grid, series: Mapping[str, Series] | None) -> Iterator[str]:
    for name, one in (series or {}).items():
        for model in one.models:
            if model not in grid.pairs.models:
                yield f"series.{name}.models.{model}: is not in grid.pairs.models; add it there"


def _series_are_drawn(
    lines: Lines, grid: Grid, series: Mapping[str, Series] | None, benchmarks: Mapping[str, Any] | None
) -> Iterator[str]:
    if lines.series and benchmarks is None and not _runs(grid, "benchmarks"):
        yield "benchmarks: missing; lines.series cannot run without this section, which may be {}"
    if lines.series and not series:
        yield "lines.series: is [all], but there are no series; name some in the section series, or write []"
    for name, one in (series or {}).items():
        absent = [model for model in one.models if model not in grid.benchmarks.models]
        if lines.series and len(absent) < len(one.models):
            for model in absent:
                yield (
                    f"series.{name}.models.{model}: is not in grid.benchmarks.models, which has others of the series; "
                    "add it there, take out the others, or write lines.series: []"
                )


def _pairs_are_scored_as_judged(score_pairs: ScorePairs | None, judge_pairs: JudgePairs | None) -> Iterator[str]:
    if judge_pairs and score_pairs and judge_pairs.scheme not in score_pairs.schemes:
        yield _other("judge_pairs.scheme", judge_pairs.scheme, "score_pairs.schemes", score_pairs.schemes)
    if judge_pairs and judge_pairs.score not in judge_pairs.scores:
        yield _other("judge_pairs.score", judge_pairs.score, "judge_pairs.scores", judge_pairs.scores)


def _answers_are_judged_by_a_score(judge_answers: JudgeAnswers | None) -> Iterator[str]:
    if judge_answers and judge_answers.score not in judge_answers.scores:
        yield _other("judge_answers.score", judge_answers.score, "judge_answers.scores", judge_answers.scores)


def _other(place: str, value: str, where: str, allowed: Collection[str]) -> str:
    return f"{place}: '{value}' is not in {where}, which has {', '.join(allowed)}; add it there, or take another"


def _runs(grid: Closed, part: str) -> bool:
    """Return whether a part of the grid, as "pairs" or "prompts.llms", names anything."""
    value: Any = grid
    for key in part.split("."):
        value = getattr(value, key)
    return any(_runs(value, key) for key in type(value).model_fields) if isinstance(value, Closed) else bool(value)


_CHECKS: tuple[Callable[..., Iterator[str]], ...] = (
    _names_are_known,
    _corpora_are_known,
    _sentences_are_made,
    _nothing_runs_over_nothing,
    _lines_agree_with_the_grid,
    _sections_are_there,
    _subsets_are_there,
    _enough_is_generated,
    _panels_fit_their_lines,
    _served_models_are_asked_for_likelihoods,
    _members_have_names_of_their_own,
    _asked_models_have_names_of_their_own,
    _ways_are_those_of_pairs,
    _series_are_measured,
    _series_are_drawn,
    _pairs_are_scored_as_judged,
    _answers_are_judged_by_a_score,
)


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
