"""A plan as text for a terminal, and its sums by stage."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cxprobe.planning.plan import Asked, Measured, Plan
from cxprobe.planning.work import Effort

KINDS = ("make", "measure", "judge", "report")


class Cost(NamedTuple):
    """What a stage takes for one model, or several together.

    Attributes:
        texts: How many texts, sentences or questions.
        gpu_hours: On one GPU; 0 where the model's size is not known.
        cpu_hours: On two cores.
        input_tokens: For a stage that asks in words.
        output_tokens: The same of the replies.
    """

    texts: float
    gpu_hours: float
    cpu_hours: float
    input_tokens: float
    output_tokens: float


def costs_of(plan: Plan) -> dict[str, dict[str, Cost]]:
    """Return what each stage that measures takes for each model, in the order of the plan."""
    costs: dict[str, dict[str, Cost]] = {}
    for measured in plan.measured:
        effort = measured.effort or Effort()
        own = Cost(measured.texts, effort.gpu_hours, effort.cpu_hours, 0, 0)
        _add(costs, measured.stage, measured.model, own)
    for asked in plan.asked:
        own = Cost(asked.requests, asked.gpu_hours or 0, 0, asked.input_tokens, asked.output_tokens)
        _add(costs, asked.stage, asked.llm, own)
    return costs


def together(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs."""
    return Cost(*(sum(column) for column in zip(Cost(0, 0, 0, 0, 0), *costs, strict=True)))


def _add(costs: dict[str, dict[str, Cost]], stage: str, model: str, cost: Cost) -> None:
    """Add what a stage takes for a model to what it takes for it already, such as for another construction."""
    own = costs.setdefault(stage, {})
    own[model] = together([own[model], cost]) if model in own else cost


def page_of_plan(plan: Plan, title: str) -> str:
    """Return a plan as text: stages, what is made, measured and asked, sums, and notes."""
    parts = [title, *_stages(plan), *_made(plan), *_measured(plan.measured), *_asked(plan.asked), *_sums(plan)]
    if plan.notes:
        parts += ["", "Notes", *(f"  {note}" for note in plan.notes)]
    return "\n".join(parts) + "\n"


def hours(value: float) -> str:
    """Return hours as people read them: two digits, and minutes below one hour."""
    if value >= 1:
        return f"{_two_digits(value):,.4g} h"
    return f"{max(1, round(value * 60))} min" if value else "-"


def amount(value: float) -> str:
    """Return a large number in two digits: 4,300,000 is 4.3 million."""
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if value >= size * 0.995:
            return f"{_two_digits(value / size):,.4g} {name}"
    return f"{_two_digits(value):,.6g}"


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def _count(value: int, about: bool) -> str:
    return f"about {amount(value)}" if about else f"{value:,}"


def _stages(plan: Plan) -> list[str]:
    lines = ["", "Stages and how often each runs"]
    for kind in KINDS:
        own = [f"{one.stage} {len(one.items)}" for one in plan.stages if one.kind == kind]
        if own:
            lines.append(f"  {kind:<8} {', '.join(own)}")
    return lines


def _made(plan: Plan) -> list[str]:
    rows = [
        (one.stage, one.what, "not counted" if one.number is None else _count(one.number, one.about))
        for one in plan.made
    ]
    return ["", "Made", *_table(("stage", "what", "how many"), rows)] if rows else []


def _measured(measured: Sequence[Measured]) -> list[str]:
    rows = []
    for one in measured:
        effort = one.effort
        cells = ("not known",) * 3 if effort is None else (hours(effort.gpu_hours), hours(effort.cpu_hours), "")
        memory = f"{effort.memory / 1e9:,.0f} GB" if effort is not None and effort.memory else "-"
        tokens = f"about {amount(one.tokens)}" if one.tokens else "-"
        rows.append((one.stage, one.model, _count(one.texts, one.about), tokens, *cells[:2], memory))
    head = ("stage", "model", "texts", "tokens", "GPU", "two cores", "memory")
    return ["", "Measured (hours and memory are estimates)", *_table(head, rows)] if rows else []


def _asked(asked: Sequence[Asked]) -> list[str]:
    rows = [
        (
            *(one.stage, one.llm, _count(one.requests, one.about), f"about {amount(one.input_tokens)}"),
            *(f"about {amount(one.output_tokens)}", amount(one.most_output_tokens)),
            "-" if one.gpu_hours is None else hours(one.gpu_hours),
        )
        for one in asked
    ]
    head = ("stage", "llm", "requests", "tokens in", "tokens out", "at most", "GPU")
    return ["", "Asked in words", *_table(head, rows)] if rows else []


def _sums(plan: Plan) -> list[str]:
    sums = together(cost for stage in costs_of(plan).values() for cost in stage.values())
    runs = sum(len(one.items) for one in plan.stages)
    lines = ["", "Together", f"  {runs} runs of {len(plan.stages)} stages"]
    if plan.measured or sums.gpu_hours:
        lines.append(f"  about {hours(sums.gpu_hours)} on a GPU, {hours(sums.cpu_hours)} on two cores of a processor")
    if plan.asked:
        requests = _count(sum(one.requests for one in plan.asked), any(one.about for one in plan.asked))
        tokens = f"about {amount(sums.input_tokens)} tokens in, {amount(sums.output_tokens)} out"
        lines.append(f"  {requests} requests, {tokens}")
    return lines


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  " + "  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
