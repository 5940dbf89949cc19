"""Section 4 of the paper: objectives on scores beside rank measures, along one line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.extending import Cell, Floats, Table
from rankgauge.rankings import Rankings
from rankgauge.space import (
    Objective,
    Segment,
    objective_curve,
    pairwise_loss,
    rank_objective,
    swets,
)

SEED, QUERIES, DOCUMENTS = 12, 6, 12
POINTS = np.linspace(0, 1, 401)
OBJECTIVES: dict[str, Objective] = {
    "nDCG": rank_objective("nDCG"),
    "AP": rank_objective("AP"),
    "pairwise loss": pairwise_loss,
    "Swets": swets,
}
UNCHANGED, CUBED, EXP, SHIFTED = "as they are", "cubed", "exp", "shifted by query"
INCREASING_MAPS = (UNCHANGED, CUBED, EXP)
"""Increasing maps of the scores; a shift per query is tested as well."""
RANK_OBJECTIVES, LOWER_IS_BETTER = ("nDCG", "AP"), ("pairwise loss",)
"""The objectives that depend only on ranks, and those for which low values are better."""


def draw_segment() -> Segment:
    """Queries with documents whose scores go from one noisy scorer to another, better one."""
    random = np.random.default_rng(SEED)
    labels = [np.sort(random.integers(0, 3, DOCUMENTS))[::-1] for _ in range(QUERIES)]
    flat = np.concatenate(labels)
    lists = Rankings.of(*(own.tolist() for own in labels))
    start, end = (
        noise * random.standard_normal(len(flat)) + pull * flat
        for noise, pull in ((1.0, 0.2), (1.6, 0.9))
    )
    return Segment(lists, start, end)


def maps() -> dict[str, Callable[[Floats], Floats]]:
    """Increasing maps of the scores, and a constant added to the scores of each query."""
    shift = np.repeat(np.random.default_rng(SEED).standard_normal(QUERIES) * 3, DOCUMENTS)
    return {
        UNCHANGED: lambda scores: scores,
        CUBED: lambda scores: scores**3,
        EXP: np.exp,
        SHIFTED: lambda scores: scores + shift,
    }


def curves() -> dict[str, dict[str, Floats]]:
    """Evaluate each objective under each map, at the points of the line."""
    segment = draw_segment()
    return {
        name: {
            kind: objective_curve(segment, objective, POINTS, transform)
            for kind, transform in maps().items()
        }
        for name, objective in OBJECTIVES.items()
    }


def objectives_table() -> Table:
    """Where each objective is best under each map, and whether its curve is convex."""
    rows: list[tuple[Cell, ...]] = []
    for name, own in curves().items():
        best = {kind: _best_point(values, name) for kind, values in own.items()}
        usual = own[UNCHANGED]
        by_map = "yes" if len({best[kind] for kind in INCREASING_MAPS}) > 1 else "no"
        by_shift = "yes" if best[SHIFTED] != best[UNCHANGED] else "no"
        convex = "yes" if (np.diff(usual, 2) >= -1e-12).all() else "no"
        optima = _count_local_optima(usual if name in LOWER_IS_BETTER else -usual)
        rows.append((name, *best.values(), by_map, by_shift, optima, convex))
    return Table(
        ("objective", *maps(), "moved by a map", "moved by a shift", "local optima", "convex"),
        tuple(rows),
        (
            f"the position on the line, from 0 to 1, where each is best; {QUERIES} queries of "
            f"{DOCUMENTS} documents, {len(POINTS)} points",
            "the paper, section 4: increasing maps of the scores do not change the ranking, "
            "but can change the optimum of an objective on scores; an objective on "
            "differences does not change under shifts",
        ),
    )


def _best_point(values: Floats, name: str) -> float:
    """The middle of the first run of points that are best."""
    merit = -values if name in LOWER_IS_BETTER else values
    best = np.flatnonzero(merit >= np.nanmax(merit) - 1e-12)
    run = best[: int(np.argmax(np.append(np.diff(best) > 1, True))) + 1]
    return float(POINTS[run[len(run) // 2]])


def _count_local_optima(cost: Floats) -> int:
    """How many local optima there are, flat ones counted once."""
    steps = np.sign(np.diff(cost))
    steps = np.concatenate(([-1], steps[steps != 0], [1]))  # up to both ends
    return int(np.count_nonzero((steps[:-1] < 0) & (steps[1:] > 0)))
