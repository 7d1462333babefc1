"""docs/papers.md: the atlas as a page, with what each line costs and the models of the papers."""

from collections.abc import Iterator, Mapping, Sequence

from cxprobe.lm.params import ModelSpec
from cxprobe.planning.atlas import Atlas, Costs, Entry, ModelCost, Paper
from cxprobe.planning.facts import Facts
from cxprobe.planning.page import Cost, amount, hours, together
from cxprobe.planning.work import memory_of
from cxprobe.run.params import Params

_HEAD = """\
# The papers, line by line

Every experiment, table and figure of the three papers that this project follows: how to run it, what it takes, in
which file its numbers are, which published numbers stand beside it, and what is done otherwise. `cxprobe papers` writes
this page from [papers.yaml](papers.yaml), [costs.yaml](costs.yaml) and [plan.yaml](plan.yaml), and a test compares it
with the presets and the pipeline: change those and not this page.

To run a line: `make preset PRESET=<preset>`, then what the line says; DVC runs the stages that come before. A stage
does all that its preset asks for at once, so lines share what it takes; take a model that you do not want out of the
grid first. Hours are estimates, of one GPU such as an H100. `cxprobe plan --preset presets/<preset>.yaml` gives them
model by model, for your files. `{model}` in a path stands for each of them.
"""
_STATUS = {
    "runs": "runs",
    "runs partly": "runs, in part",
    "by hand": "by hand",
    "cannot be done": "**cannot be done**",
    "not known here": "**not known here**",
}


def page_of_papers(atlas: Atlas, presets: Mapping[str, Params], costs: Costs, facts: Facts) -> str:
    """Return the page.

    Args:
        atlas: What is where.
        presets: Name -> each preset that the atlas names, and "paper", which has all models.
        costs: What the stages of each preset cost.
        facts: The sizes of models.
    """
    parts = [_HEAD]
    for paper in atlas.papers:
        parts += _paper(paper, costs)
    parts += _models(atlas, presets["paper"], facts)
    parts += _sums(costs)
    return "\n".join(parts) + "\n"


def rounded(costs: Mapping[str, Mapping[str, Cost]]) -> dict[str, dict[str, ModelCost]]:
    """Return costs in two digits, as docs/costs.yaml has them."""
    return {
        stage: {
            model: ModelCost(**{key: float(f"{value:.2g}") for key, value in cost._asdict().items()})
            for model, cost in own.items()
        }
        for stage, own in costs.items()
    }


def _paper(paper: Paper, costs: Costs) -> Iterator[str]:
    yield f"## {paper.key}: {paper.title}\n\nPreset: `presets/{paper.preset}.yaml`.\n"
    yield from _table(
        ("where", "what", "", "how to run it", "what it takes", "its numbers", "published beside", "what is otherwise"),
        [
            (
                *(entry.place, entry.what, _STATUS[entry.status], _how(entry), _cost(entry, costs)),
                *("<br>".join(f"`{path}`" for path in entry.report), _links(entry.published), entry.deviates),
            )
            for entry in paper.entries
        ],
    )


def _how(entry: Entry) -> str:
    parts = []
    if entry.stages:
        reports = [stage for stage in entry.stages if stage.startswith("report_")]
        parts.append(f"`{entry.preset}`: `dvc repro {' '.join(reports or entry.stages[-1:])}`")
    if entry.command:
        parts.append(f"`{entry.command}`")
    return "<br>".join(parts)


def _cost(entry: Entry, costs: Costs) -> str:
    known = costs.presets.get(entry.preset or "", {})
    parts = []
    for stage in entry.stages:
        own = known.get(stage, {})
        if of_entry := {slug: cost for slug, cost in own.items() if not entry.models or slug in entry.models}:
            parts.append(f"{stage}: {_amounts(of_entry)}")
    return "<br>".join([*parts, *([entry.cost] if entry.cost else [])])


def _amounts(costs: Mapping[str, ModelCost]) -> str:
    cost = together(Cost(**one.model_dump()) for one in costs.values())
    asked = cost.input_tokens > 0
    number = "1 model" if len(costs) == 1 else f"{len(costs)} models"
    parts = [f"{number}, about {amount(cost.texts)} {'requests' if asked else 'texts'}"]
    if asked:
        parts.append(f"{amount(cost.input_tokens)} tokens in, {amount(cost.output_tokens)} out")
    if cost.gpu_hours:
        parts.append(f"{hours(cost.gpu_hours)} of GPU")
    if cost.cpu_hours:
        parts.append(f"{hours(cost.cpu_hours)} of two cores")
    return ", ".join(parts)


def _links(published: Sequence[str]) -> str:
    return "<br>".join(f"[{path.rpartition('/')[2]}](../{path})" for path in published)


def _models(atlas: Atlas, params: Params, facts: Facts) -> Iterator[str]:
    yield (
        "\n## The models\n\nThose of `presets/paper.yaml`. Memory is that of the weights on one device, and 2 GB for "
        "work; a model that its provider runs needs none here. A model that no stage asks is in the preset and not in "
        "its grid: the comment beside it says why.\n"
    )
    asked = _asked(params)
    rows = []
    for slug, model in params.models.items():
        if isinstance(model, ModelSpec) and model.weights == "trained":
            size = facts.models.get(model.name)
            parameters = "" if size is None else amount(size.parameters)
            memory = "" if size is None else f"{memory_of(model, size, facts.rates) / 1e9:,.0f} GB"
            name = f"{model.name} @ {model.revision}" if model.revision else model.name
            rows.append((f"`{slug}`", name, parameters, memory, ", ".join(asked.get(slug, ())), _beside(atlas, slug)))
    for slug, llm in params.llms.items():
        size = facts.models.get(llm.name.partition("/")[2])
        parameters = "" if size is None else amount(size.parameters)
        memory = "" if size is None else f"{2 * size.parameters / 1e9:,.0f} GB"
        rows.append((f"`{slug}`", llm.name, parameters, memory, ", ".join(asked.get(slug, ())), _beside(atlas, slug)))
    yield from _table(("slug", "model", "parameters", "memory", "asked by", "published"), rows)


def _asked(params: Params) -> dict[str, list[str]]:
    """Return the stages that ask each model."""
    grid = params.grid
    by_stage = {
        "extract_features": grid.recognition.models,
        "fill_scenarios": grid.scenarios.models,
        "score_pairs": grid.pairs.models,
        "score_benchmarks": grid.benchmarks.models,
        "score_answers": grid.prompts.models,
        "ask_llms": grid.prompts.llms,
        "ask_pairs": grid.pairs.llms,
        "ask_benchmarks": grid.benchmarks.llms,
        "write_frames": grid.frames.llms,
    }
    asked: dict[str, list[str]] = {}
    for stage, slugs in by_stage.items():
        for slug in slugs:
            asked.setdefault(slug, []).append(stage)
    return asked


def _beside(atlas: Atlas, slug: str) -> str:
    model = atlas.published_models.get(slug)
    return "" if model is None else f"{model.name} in {_links(model.files)}"


def _sums(costs: Costs) -> Iterator[str]:
    yield (
        "\n## What the presets take\n\nEvery measuring stage of each preset, all its models together, as if nothing "
        "had been imported.\n"
    )
    rows = [
        (f"`{preset}`", stage, _amounts(cost))
        for preset, stages in costs.presets.items()
        for stage, cost in stages.items()
    ]
    yield from _table(("preset", "stage", "what it takes"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;').replace(chr(10), ' ').strip() for cell in row)} |"
    yield ""
