"""A plan: what each stage of a run would do, from parameters, counts of the data, and stated sizes and rates."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from cxprobe.lm.params import ContinuationAlone, Llm, ModelSpec, ServedModel, members_of
from cxprobe.planning.facts import Facts, ModelSize, size_of
from cxprobe.planning.stages import StageItems
from cxprobe.planning.work import Effort, Texts, Training, effort_of, fitting_hours, work_of, writing_hours
from cxprobe.run.params import Params


class Made(NamedTuple):
    """What a stage makes.

    Attributes:
        stage: Its name.
        what: The plural of what it makes.
        number: How many; None where that cannot be known beforehand.
        about: Whether the number is an estimate.
    """

    stage: str
    what: str
    number: int | None
    about: bool


class Questions(NamedTuple):
    """The questions that are put to a model in words.

    Attributes:
        texts: The questions.
        reasoned: The share of them that asks for a chain of thought, in [0, 1].
    """

    texts: Texts
    reasoned: float


@dataclass(frozen=True)
class Counts:
    """What the data of some parameters amount to; a line of work that does not run has none.

    Attributes:
        made: What the stages make.
        sentences: Construction -> the sentences that are embedded.
        training: Construction -> the training parts of its probes.
        scenarios: The distinct texts with a mask.
        pairs: The distinct texts of minimal pairs.
        ends: The distinct second sentences of pairs.
        answers: The distinct texts that end in an answer.
        questions: Stage -> what it asks of each model.
        benchmarks: Slug -> the distinct texts of its pairs.
        notes: What was not counted, and why.
    """

    made: tuple[Made, ...] = ()
    sentences: Mapping[str, Texts] = field(default_factory=dict)
    training: Mapping[str, Training] = field(default_factory=dict)
    scenarios: Texts | None = None
    pairs: Texts | None = None
    ends: Texts | None = None
    answers: Texts | None = None
    questions: Mapping[str, Questions] = field(default_factory=dict)
    benchmarks: Mapping[str, Texts] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Measured(NamedTuple):
    """What a measuring stage does with one model.

    Attributes:
        stage: Its name.
        model: The model's slug.
        texts: How many it reads.
        tokens: About how many these have.
        about: Whether the number of texts is an estimate.
        effort: What it takes; None where the model's size is not known.
    """

    stage: str
    model: str
    texts: int
    tokens: float
    about: bool
    effort: Effort | None


class Asked(NamedTuple):
    """What is asked of a model in words.

    Attributes:
        stage: The stage's name.
        llm: The model's slug.
        requests: How many.
        input_tokens: About how many these have.
        output_tokens: About how many the replies have.
        most_output_tokens: How many they can have.
        about: Whether the number of requests is an estimate.
        gpu_hours: For a model that runs here; None for one that a provider runs, or whose size is not known.
    """

    stage: str
    llm: str
    requests: int
    input_tokens: float
    output_tokens: float
    most_output_tokens: int
    about: bool
    gpu_hours: float | None


@dataclass(frozen=True)
class Plan:
    """What a run would do.

    Attributes:
        stages: What runs how often.
        made: What is made.
        measured: What is measured.
        asked: What is asked.
        notes: What was not counted, and why.
    """

    stages: tuple[StageItems, ...]
    made: tuple[Made, ...]
    measured: tuple[Measured, ...]
    asked: tuple[Asked, ...]
    notes: tuple[str, ...]


class _Reading(NamedTuple):
    """A checkpoint that reads some texts in a stage."""

    stage: str
    slug: str
    spec: ModelSpec | ServedModel
    texts: Texts
    device: str
    times: int  # how often it would read them if it were a masked model that is asked for likelihoods; 0 for once


def make_plan(params: Params, stages: tuple[StageItems, ...], counts: Counts, facts: Facts) -> Plan:
    """Return the plan of a run.

    Args:
        params: The parameters.
        stages: What would run, from `stage_items`.
        counts: What the data amount to.
        facts: Sizes and rates.

    Raises:
        DataError: The files of a model in a local folder cannot be understood.
    """
    readings = [*_of_recognition(params, counts), *_of_scenarios(params, counts), *_of_texts(params, counts)]
    served = sorted({reading.slug for reading in readings if isinstance(reading.spec, ServedModel)})
    sizes = {
        reading.slug: None if isinstance(reading.spec, ServedModel) else size_of(reading.spec, facts.models)
        for reading in readings
    }
    measured = [_measure(reading, sizes[reading.slug], facts) for reading in readings]
    measured += _fit(params, counts, sizes, facts)
    names = [stage.stage for stage in stages]
    unknown = sorted({one.model for one in measured if one.effort is None and one.model not in served})
    notes = list(counts.notes)
    if served:
        notes.append(f"no hours for {', '.join(served)}: a server runs it, which gets one request a text")
    if unknown:
        notes.append(
            f"no hours for {', '.join(unknown)}: the size is not known; add the model's name to docs/plan.yaml, models"
        )
    return Plan(
        stages=stages,
        made=counts.made,
        measured=tuple(sorted(measured, key=lambda one: names.index(one.stage))),
        asked=tuple(_ask(params, counts, facts)),
        notes=tuple(notes),
    )


def _of_recognition(params: Params, counts: Counts) -> Iterator[_Reading]:
    grid, settings = params.grid.recognition, params.extract_features
    for slug in grid.models:
        spec = params.models[slug]
        for construction in grid.constructions if isinstance(spec, ModelSpec) else ():
            if isinstance(spec, ModelSpec) and construction in counts.sentences:
                yield _Reading("extract_features", slug, spec, counts.sentences[construction], settings.accelerator, 0)


def _of_scenarios(params: Params, counts: Counts) -> Iterator[_Reading]:
    for slug in params.grid.scenarios.models:
        spec = params.models[slug]
        if isinstance(spec, ModelSpec) and counts.scenarios is not None:
            yield _Reading("fill_scenarios", slug, spec, counts.scenarios, params.fill_scenarios.accelerator, 0)


def _of_texts(params: Params, counts: Counts) -> Iterator[_Reading]:
    """Give what is scored token by token."""
    pairs, asked, others = params.grid.pairs, params.grid.prompts, params.grid.benchmarks
    for member in members_of(params.models, pairs.models) if pairs.models else ():
        match member.spec:
            case ModelSpec() | ServedModel() as spec:
                texts = counts.pairs
            case ContinuationAlone(checkpoint=spec):
                texts = counts.ends
            case _:
                continue
        if texts is not None:
            how = params.score_pairs
            yield _Reading("score_pairs", member.slug, spec, texts, how.accelerator, len(how.schemes))
    for slug in others.models:
        spec_ = params.models[slug]
        for name in others.benchmarks if isinstance(spec_, ModelSpec | ServedModel) else ():
            if isinstance(spec_, ModelSpec | ServedModel) and name in counts.benchmarks:
                own, how = counts.benchmarks[name], params.score_pairs
                yield _Reading("score_benchmarks", slug, spec_, own, how.accelerator, len(how.schemes))
    for slug in asked.models:
        spec_ = params.models[slug]
        if isinstance(spec_, ModelSpec | ServedModel) and counts.answers is not None:
            yield _Reading("score_answers", slug, spec_, counts.answers, params.score_answers.accelerator, 1)


def _measure(reading: _Reading, size: ModelSize | None, facts: Facts) -> Measured:
    masked = reading.times > 0 and size is not None and size.kind == "masked"
    work = work_of(reading.texts, "each token" if masked else "once", facts.rates, times=reading.times if masked else 1)
    if size is None or isinstance(reading.spec, ServedModel):
        effort = None
    else:
        effort = effort_of(work, reading.spec, size, reading.device, facts.rates)
    return Measured(reading.stage, reading.slug, work.texts, work.tokens, work.about, effort)


def _fit(params: Params, counts: Counts, sizes: Mapping[str, ModelSize | None], facts: Facts) -> Iterator[Measured]:
    """Give the probes, which are fitted on processors, for the models whose vectors are extracted."""
    grid, fitting, tuning = params.grid.recognition, params.fit_probes, params.tune_probes
    models = [slug for slug in grid.models if isinstance(params.models[slug], ModelSpec)]
    for slug in models:
        for training in counts.training.values():
            controls = fitting.controls
            fits = 1.0 + (controls.folds or 0) * (1 + controls.control_task) + controls.code_length
            fits += tuning.trials * tuning.folds if tuning.enabled else 0
            size = sizes.get(slug)
            effort = None if size is None else Effort(cpu_hours=fitting_hours(training, size, fits, facts.rates))
            sentences = round(sum(training.sentences) * training.scale)
            yield Measured("fit_probes", slug, sentences, 0.0, training.scale != 1, effort)


def _ask(params: Params, counts: Counts, facts: Facts) -> Iterator[Asked]:
    grid = params.grid
    asking = {"ask_llms": grid.prompts.llms, "write_frames": grid.frames.llms}
    asking |= {"ask_pairs": grid.pairs.llms, "ask_benchmarks": grid.benchmarks.llms}
    for stage, questions in counts.questions.items():
        for slug in asking[stage]:
            llm = params.llms[slug]
            work = work_of(questions.texts, "once", facts.rates)
            plain, reasoned = facts.rates.reply.value, facts.rates.reply_reasoned.value
            each = min(llm.max_tokens, plain + questions.reasoned * (reasoned - plain))
            written = work.texts * (llm.max_tokens if stage == "write_frames" else each)
            yield Asked(
                *(stage, slug, work.texts, work.tokens, written, work.texts * llm.max_tokens, work.about),
                _hours_here(llm, work.tokens, written, facts),
            )


def _hours_here(llm: Llm, read: float, written: float, facts: Facts) -> float | None:
    """Return the hours of a GPU for a model that inspect_ai runs itself, or that a local server may run."""
    name = llm.name.partition("/")[2]
    size = facts.models.get(name)
    if size is None:
        return None
    reading = 2 * size.parameters * read / facts.rates.gpu_bfloat16.value / 3600
    return reading + writing_hours(written, llm.connections, size, facts.rates)
