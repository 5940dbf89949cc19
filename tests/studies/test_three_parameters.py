"""Three parameters: the cells are those of the definition, and the theorem holds on small instances."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from oracles import planes as oracle
from profiles import examples
from rankgauge.space import plane
from rankgauge_studies.optimization import three_parameters as three
from rankgauge_studies.optimization.theorems import SAME_FLIPS

ORDERS = {3: (1, 3, 2), 4: (1, 6, 11, 6), 5: (1, 10, 35, 50)}
"""Of the documents of a query: how many orders are so many swaps away from one (Stirling numbers)."""


@pytest.mark.parametrize(("queries", "documents"), [(1, 4), (1, 5), (2, 3), (2, 4), (3, 3)])
def test_generic_planes_make_as_many_cells_as_they_must(queries: int, documents: int) -> None:
    made = three.draw_space(np.random.default_rng(1), queries, documents)
    assert made.generic
    product = np.array([1])
    for _ in range(queries):
        product = np.convolve(product, ORDERS[documents])
    assert len(made.cells) == product[:4].sum()


@st.composite
def spaces(draw: st.DrawFn) -> three.Space:
    """Small instances, also with planes that coincide or meet where they need not."""
    size = draw(st.sampled_from([1, 2, 9]))
    seed = draw(st.integers(0, 10**6))
    queries, documents = draw(st.sampled_from([(1, 4), (2, 3)]))
    made = three.draw_space(np.random.default_rng(seed), queries, documents, size)
    assume(all(any(each.normal) for each in made.boundaries) and made.corners)
    return made


def sides_at(made: three.Space, point: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(
        sum((n * p for n, p in zip(each.normal, point, strict=True)), Fraction(each.offset))
        for each in made.boundaries
    )


@examples(40)
@given(spaces(), st.integers(0, 10**6))
def test_every_point_is_in_a_cell_and_corners_touch_their_cells(made, seed) -> None:
    random = np.random.default_rng(seed)
    cells = set(made.cells)
    for scale in (1, 10, 1000):
        for row in random.integers(-(10**6), 10**6, (10, 3)).tolist():
            sides = sides_at(made, tuple(Fraction(n, 10**6) * scale for n in row))
            if all(sides):
                assert tuple(1 if side > 0 else -1 for side in sides) in cells
    for point, group in zip(made.corners, made.around, strict=True):
        at = sides_at(made, point)
        assert group == {
            cell
            for cell in cells
            if all(not own or (own > 0) == (side > 0) for own, side in zip(at, cell, strict=True))
        }


@examples(25)
@given(st.integers(0, 10**6), st.integers(-5, 5))
def test_a_plane_cut_through_the_space_has_its_cells_and_values(seed, z) -> None:
    """With z fixed, c + x·u + y·v + z·t is the score of a document (c + z·t, u, v)."""
    random = np.random.default_rng(seed)
    rows = random.integers(-20, 21, (4, 4)).tolist()
    labels = [1, 0, 1, 0]
    made = three.space_of([[tuple(row) for row in rows]], [labels])
    assume(made.generic)
    cut = plane([(c + z * t, u, v) for c, u, v, t in rows], labels)
    values = dict(zip(made.cells, made.values("AP"), strict=True))
    for cell, value in zip(cut.cells, cut.values("AP").tolist(), strict=True):
        sides = sides_at(made, (*cell.point, Fraction(z)))
        if all(sides):
            assert values[tuple(1 if side > 0 else -1 for side in sides)] == pytest.approx(value)


@examples(25)
@given(spaces(), st.sampled_from(["AP", "nDCG", "P@2", "RR"]))
def test_optima_are_those_of_the_definition(made, measure) -> None:
    assume(made.generic)

    def pattern(cell: three.Sides) -> tuple[bool, ...]:
        return tuple(side > 0 for side in cell)

    patterns = [pattern(cell) for cell in made.cells]
    values = dict(zip(patterns, made.values(measure), strict=True))
    touching = {frozenset(map(pattern, group)) for group in made.around}
    for ours, groups in zip(made.optima(measure), (set(), touching), strict=True):
        regions = {frozenset(patterns[place] for place in region) for region in ours}
        assert regions == oracle.optima(values, groups)


def test_measures_that_see_the_same_flips_share_their_optima(monkeypatch) -> None:
    monkeypatch.setattr(three, "GENERIC", ((1, 5, 5), (2, 3, 8), (3, 3, 3)))
    monkeypatch.setattr(three, "POINT_DRAWS", 150)
    *generic, point = three.three_parameters_table().rows
    same = [row for row in generic if row[3] == "yes"]
    assert [row[1:3] for row in same] == list(SAME_FLIPS)
    for *_, count, facets, paths in same:
        assert facets == paths == count == 16
    others = {row[2]: row for row in generic if row[3] == "no"}
    assert others["P@2"][5] < others["P@2"][4]
    _, _, _, _, count, facets, paths = point
    assert paths < facets == count


def test_planes_that_meet_where_they_need_not_are_not_generic() -> None:
    made = next(
        made
        for made in map(three.draw_one_flip_space, itertools.repeat(np.random.default_rng(0)))
        if made is not None
    )
    assert len(made.cells) == 14
    assert not made.generic
