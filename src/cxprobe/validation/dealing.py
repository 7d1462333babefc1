"""Items dealt into forms, and their places and sides counterbalanced."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from heapq import nsmallest
from math import ceil

import numpy as np

from cxprobe.validation.items import JudgedItem

Edge = tuple[Hashable, Hashable]


def deal(
    items: Sequence[JudgedItem], raters_per_item: int, per_rater: int, rng: np.random.Generator
) -> list[list[int]]:
    """Deal items into forms, each item into as many as people are to judge it.

    There are as few forms as possible. Their sizes differ by at most 1. As far as possible a form has no two items of
    one frame, and every construction and stratum equally often.

    Args:
        items: The items.
        raters_per_item: How many forms have an item; at least 1.
        per_rater: The most items of a form; at least 1.
        rng: The generator.

    Returns:
        The places of each form's items, all different.
    """
    count = max(raters_per_item, ceil(len(items) * raters_per_item / per_rater))
    forms: list[list[int]] = [[] for _ in range(count)]
    has: list[Counter[Hashable]] = [Counter() for _ in range(count)]
    for place in _frame_by_frame(items, rng):
        frame = (items[place].construction, items[place].frame)
        construction = items[place].construction
        values = [(construction,), *((construction, *value) for value in items[place].stratum.items())]
        chance = rng.permutation(count)
        keys = [
            (len(forms[form]), own[frame], sum(own[value] for value in values), chance[form])
            for form, own in enumerate(has)
        ]
        for form in nsmallest(raters_per_item, range(count), key=keys.__getitem__):
            forms[form].append(place)
            has[form].update([frame, *values])
    return forms


def split_evenly(edges: Sequence[Edge], parts: int, rng: np.random.Generator) -> list[int]:
    """Divide the edges of a bipartite graph into parts so that every vertex has its edges equally often in each.

    With items and forms as vertices, an edge is a question. So the question of an item stands on the left as often as
    on the right over its forms, and the questions of a form do as well, exactly or within one.

    Args:
        edges: Pairs of a left and a right vertex, none twice.
        parts: The number of parts, at least 1.
        rng: The generator.

    Returns:
        The part of each edge, from 0. For any vertex, the numbers of its edges in two parts differ by at most 1.

    Source:
        König 1916 for the colouring of bipartite graphs by exchanges along a path; de Werra 1971 for equitable ones.
    """
    ends = _bounded(edges, parts, rng)
    taken: dict[Hashable, dict[int, int]] = defaultdict(dict)  # vertex -> part -> edge
    part_of = [0] * len(edges)
    for edge in rng.permutation(len(edges)).tolist():
        left, right = ends[edge]
        order = rng.permutation(parts).tolist()
        free_left, free_right = (next(part for part in order if part not in taken[one]) for one in (left, right))
        if free_left != free_right:
            _exchange(right, free_left, free_right, ends, taken, part_of)
        part_of[edge] = free_left
        taken[left][free_left] = taken[right][free_left] = edge
    return part_of


def _frame_by_frame(items: Sequence[JudgedItem], rng: np.random.Generator) -> list[int]:
    """Return the places of all items in an order by chance in which those of one frame follow one another.

    Since the emptiest forms are next, items that follow one another come into different forms.
    """
    frames: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place in rng.permutation(len(items)).tolist():
        frames[items[place].construction, items[place].frame].append(place)
    return [place for places in frames.values() for place in places]


def _bounded(edges: Sequence[Edge], parts: int, rng: np.random.Generator) -> list[Edge]:
    """Return the edges with each vertex split into several that have ``parts`` edges each, and one with the rest."""
    seen: Counter[Hashable] = Counter()
    ends: list[Edge] = [("", "")] * len(edges)
    for edge in rng.permutation(len(edges)).tolist():
        sides = [("left", edges[edge][0]), ("right", edges[edge][1])]
        ends[edge] = tuple((*side, seen[side] // parts) for side in sides)  # type: ignore[assignment]
        seen.update(sides)
    return ends


def _exchange(
    start: Hashable,
    first: int,
    second: int,
    ends: Sequence[Edge],
    taken: dict[Hashable, dict[int, int]],
    part_of: list[int],
) -> None:
    """Exchange two parts along the path of edges that begins at a vertex with one of the part ``first``."""
    path, vertex, part = [], start, first
    while (edge := taken[vertex].get(part)) is not None:
        path.append(edge)
        left, right = ends[edge]
        vertex, part = (left if vertex == right else right), (second if part == first else first)
    for edge in path:
        for vertex in ends[edge]:
            taken[vertex].pop(part_of[edge], None)
    for edge in path:
        part_of[edge] = second if part_of[edge] == first else first
        for vertex in ends[edge]:
            taken[vertex][part_of[edge]] = edge
