"""Planes: cells, vertices, values and optima are those of the definition, without any tolerance."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, reject, strategies as st

from laws.strategies import MEASURES, versions
from oracles import planes as oracle
from profiles import examples
from rankgauge import parse
from rankgauge.errors import MeasureError, RankgaugeError, Unsupported
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.space import line, plane
from rankgauge.space.arrangements import Arrangement, canonical_line
from rankgauge.space.planes import MOST_LINES

FOUR = [(8, 9, -7), (-3, 5, 6), (-1, 9, 0), (6, 1, -1)]
"""Four documents with the topology of Figure 1 of Robertson and Zaragoza."""


@st.composite
def lines(draw: st.DrawFn, most: int = 6):
    """Lines with few different numbers: parallel, vertical and concurrent ones are frequent."""
    size = draw(st.sampled_from([1, 2, 9, 10**20]))
    number = st.integers(-size, size)
    drawn = draw(st.lists(st.tuples(number, number, number), max_size=most))
    return list(dict.fromkeys(canonical_line(*each)[0] for each in drawn if each[0] or each[1]))


def signs_of(made: Arrangement) -> np.ndarray:
    """Cells × lines: whether a·x + b·y + c is above 0 at the point of the cell."""
    points = [made.point(cell) for cell in range(made.cells)]
    sides = [[a * x + b * y + c * w for a, b, c in made.lines] for x, y, w in points]
    assert all(all(own) for own in sides)
    return np.array([[side > 0 for side in own] for own in sides], dtype=bool)


@examples(150)
@given(lines())
def test_the_cells_are_the_patterns_of_sides_that_points_have(drawn):
    made = Arrangement.of(drawn)
    expected = {pattern for pattern, _ in oracle.cells(drawn)}
    assert {tuple(row) for row in signs_of(made).tolist()} == expected
    assert made.cells == len(expected)
    assert made.cells == 1 + len(drawn) + sum(m - 1 for m in made.multiplicity.tolist())


@examples(100)
@given(lines())
def test_vertices_are_all_points_where_lines_meet(drawn):
    made = Arrangement.of(drawn)
    through: dict[tuple, set] = {}
    for (i, (a, b, c)), (j, (d, e, f)) in itertools.combinations(enumerate(drawn), 2):
        across = a * e - d * b
        if across:
            point = (Fraction(b * f - e * c, across), Fraction(c * d - f * a, across))
            through.setdefault(point, set()).update((i, j))
    ours = {(Fraction(x, w), Fraction(y, w)): int(m)
            for (x, y, w), m in zip(made.vertices.tolist(), made.multiplicity, strict=True)}  # fmt: skip
    assert ours == {point: len(own) for point, own in through.items()}


@examples(100)
@given(lines())
def test_points_edges_and_corners_belong_to_their_cells(drawn):
    made = Arrangement.of(drawn)
    signs = signs_of(made)
    for edge, number in enumerate(made.line.tolist()):
        left, right = signs[made.left[edge]], signs[made.right[edge]]
        assert left[number]
        assert not right[number]
        assert (left != right).sum() == 1
    around: dict[int, set[int]] = {}
    for vertex, cell in made.corners.tolist():
        around.setdefault(vertex, set()).add(cell)
    for vertex, (x, y, w) in enumerate(made.vertices.tolist()):
        sides = [a * x + b * y + c * w for a, b, c in made.lines]
        touching = {
            cell
            for cell in range(made.cells)
            if all(
                not side or (side > 0) == sign
                for side, sign in zip(sides, signs[cell], strict=True)
            )
        }
        assert around[vertex] == touching
        assert len(touching) == 2 * made.multiplicity[vertex]


@st.composite
def instances(draw: st.DrawFn, most: int = 4):
    """Documents of one or two queries, with labels."""
    size = draw(st.sampled_from([1, 2, 60]))
    number = st.integers(-size, size)
    queries = draw(st.lists(st.integers(2, most), min_size=1, max_size=2))
    if len(queries) == 2:
        queries = [min(count, 3) for count in queries]
    count = sum(queries)
    documents = [draw(st.tuples(number, number, number)) for _ in range(count)]
    labels = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    return documents, labels, [q for q, own in enumerate(queries) for _ in range(own)]


def by_definition(documents, labels, queries, made, measure):
    """The value of each pattern of sides, evaluated at a point that the oracle finds."""
    values = {}
    for pattern, point in oracle.cells(made.lines):
        scores = []
        for query in dict.fromkeys(queries):
            rows = [row for row, own in enumerate(queries) if own == query]
            order = oracle.ranking([documents[row] for row in rows], point)
            ranked = [labels[rows[place]] for place in order]
            scores.append(measure.score(ranked, sorted(ranked), max_grade=max(1, *labels)))
        values[pattern] = float(np.mean(scores))
    return values


def as_patterns(made, regions):
    signs = signs_of(made.arrangement)
    return {frozenset(tuple(signs[cell].tolist()) for cell in region.cells) for region in regions}


@pytest.mark.parametrize("measure", ["AP", "nDCG", "P@2", "RR", "ERR"])
@pytest.mark.parametrize("neutral", [True, False])
@examples(40)
@given(instances())
def test_values_and_optima_are_those_of_the_definition(measure, neutral, instance):
    documents, labels, queries = instance
    made = plane(documents, labels, queries, neutral=neutral)
    if len(made.lines) > 7:
        reject()
    values = by_definition(documents, labels, queries, made, parse(measure))
    ours = made.values(measure)
    for cell, pattern in enumerate(signs_of(made.arrangement).tolist()):
        assert ours[cell] == pytest.approx(values[tuple(pattern)], abs=1e-12)
    assert as_patterns(made, made.optima(measure)) == oracle.optima(values, set())
    signs = signs_of(made.arrangement).tolist()
    around: dict[int, list] = {}
    for vertex, cell in made.arrangement.corners.tolist():
        around.setdefault(vertex, []).append(tuple(signs[cell]))
    touching = {frozenset(group) for group in around.values()}
    assert as_patterns(made, made.optima(measure, "trajectories")) == oracle.optima(
        values, touching
    )


@examples(60)
@given(instances())
def test_every_cell_has_the_rankings_of_its_points(instance):
    documents, labels, queries = instance
    made = plane(documents, labels, queries)
    if len(made.lines) > 7:
        reject()
    signs = signs_of(made.arrangement).tolist()
    for pattern, point in oracle.cells(made.lines):
        cell = made.cells[made.cell_at(*point)]
        assert tuple(signs[cell.number]) == pattern
        for query, ranking in enumerate(cell.rankings):
            rows = [row for row, own in enumerate(queries) if own == query]
            order = oracle.ranking([documents[row] for row in rows], point)
            assert ranking == tuple(rows[place] for place in order)


@pytest.mark.parametrize("name", sorted(MEASURES))
@examples(8)
@given(st.data())
def test_a_line_cut_through_a_plane_is_the_line(name, data):
    measure = data.draw(versions(name))
    documents, labels, queries = data.draw(instances())
    ends = [data.draw(st.tuples(st.integers(-9, 9), st.integers(-9, 9))) for _ in range(2)]
    made = plane(documents, labels, queries)
    (x0, y0), (x1, y1) = ends
    counts = [queries.count(query) for query in dict.fromkeys(queries)]
    lists = Rankings(
        np.array(labels, dtype=np.int32),
        np.append(0, np.cumsum(counts)),
        np.arange(len(counts)),
        JudgedLabels.of(*np.split(np.array(labels), np.cumsum(counts)[:-1])),
    )
    scores = ([c + x * u + y * v for c, u, v in documents] for x, y in ends)
    try:
        curve = line(lists, *scores, measure)
        values = made.values(measure)
    except (MeasureError, Unsupported):
        return
    for low, high, value in zip(curve.edges[:-1], curve.edges[1:], curve.values, strict=True):
        t = Fraction((low + high) / 2)
        try:
            cell = made.cell_at(x0 + t * (x1 - x0), y0 + t * (y1 - y0))
        except RankgaugeError:  # the path runs inside a boundary
            continue
        assert value == pytest.approx(values[cell], abs=1e-12, nan_ok=True)


def test_fractions_make_the_plane_of_their_multiples():
    thirds = [tuple(Fraction(number, 3) for number in document) for document in FOUR]
    assert plane(thirds, [1, 1, 0, 0]).lines == plane(FOUR, [1, 1, 0, 0]).lines


def test_neutral_lines_change_no_value_and_no_number_of_optima():
    usual, fewer = (plane(FOUR, [1, 0, 0, 1], neutral=neutral) for neutral in (True, False))
    assert len(fewer.lines) < len(usual.lines)
    for measure in ("AP", "nDCG", "P@2"):
        assert [region.value for region in usual.optima(measure)] == pytest.approx(
            [region.value for region in fewer.optima(measure)]
        )


def test_documents_that_are_alike_stay_in_the_order_in_which_they_were_given():
    made = plane([(0, 1, 1), (0, 1, 1), (5, 1, 1)], [0, 1, 0])
    assert len(made) == 1
    assert made.cells[0].rankings == ((2, 0, 1),)


def test_lower_is_better_where_the_measure_says_so():
    made = plane(FOUR, [1, 1, 0, 0])
    best = made.optima("SearchLength")[0]
    assert best.best
    assert best.value == np.nanmin(made.values("SearchLength"))


def test_geometric_means_are_of_the_queries():
    documents, labels = FOUR * 2, [1, 1, 0, 0, 0, 1, 1, 0]
    made = plane(documents, labels, [0] * 4 + [1] * 4)
    each = made.query_values("AP")
    assert made.values("gm(AP)") == pytest.approx(np.sqrt(each[0] * each[1]))


def test_a_cell_is_drawn_inside_the_box():
    made = plane(FOUR, [1, 1, 0, 0])
    corners = [made.polygon(cell, (-9.0, -9.0, 9.0, 9.0)) for cell in range(len(made))]
    areas = [area(polygon) for polygon in corners]
    assert sum(areas) == pytest.approx(18 * 18)


def area(polygon) -> float:
    """Of a polygon, by the shoelace formula."""
    if not len(polygon):
        return 0.0
    x, y = polygon.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def test_features_are_rounded_to_decimals(any_data):
    from rankgauge.io.letor import read_letor

    features = read_letor(any_data("mq2008/S1.txt.gz"))
    few = features.bounds[1]
    with pytest.raises(RankgaugeError, match=f"more than {MOST_LINES:,} lines"):
        plane(features, columns=(39, 23, 40))
    values = np.rint(features.values[:few, [38, 22, 39]].astype(float) * 1e6).astype(int)
    made = plane([tuple(map(int, row)) for row in values], features.labels[:few])
    assert made.offsets.tolist() == [0, few]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(1, 2)], [1]), "document 0: .*expected three numbers"),
        (([(1, 2, "3")], [1]), "document 0: '3' is invalid, expected a finite number"),
        (([(1, 2, 3)], [1, 0]), "2 for 1 document, expected one per document"),
        (([(1, 2, 3)], [0.5]), "labels of type float64, expected whole numbers"),
        (([(1, 2, 3)],), "labels are missing"),
        (([], []), "no documents"),
        (([(1, 2, 3)], [1], ["a", "b"]), "queries: 2 for 1 document"),
        (([(1, math.nan, 3)], [1]), "document 0: nan is invalid"),
        (
            ([(k, k * k, k**3) for k in range(80)], [0, 1] * 40),
            "more than 2,000 lines after 1 query of 1, which make up to 2,001,001 cells. Use "
            "neutral=False, or use fewer queries, or fewer documents",
        ),
    ],
)
def test_what_makes_no_plane_is_refused(arguments, message):
    with pytest.raises(RankgaugeError, match=message):
        plane(*arguments)


def test_rankings_are_of_the_documents_as_they_were_given():
    made = plane([(1, 2, 3), (2, 5, 3), (3, 4, 5), (4, 4, 4)], [0, 1, 0, 1], ["b", "a", "b", "a"])
    assert made.queries == ("b", "a")
    for cell in made.cells:
        assert [sorted(ranking) for ranking in cell.rankings] == [[0, 2], [1, 3]]


def test_features_have_their_own_queries_and_labels():
    from rankgauge.data.model import Ids
    from rankgauge.io.letor import Features

    values = np.array([[1.0, 0.5, 2.0], [0.25, 1.0, 0.0], [1.0, 1.0, 1.0]])
    labels = np.array([1, 0, 2], dtype=np.int32)
    features = Features(Ids.of(["77", "88"]), np.array([0, 2, 3]), labels, values)
    assert plane(features).queries == ("77", "88")
    with pytest.raises(RankgaugeError, match="their own labels and queries"):
        plane(features, [0, 0, 0])
    with pytest.raises(RankgaugeError, match="three numbers from 1 to 3"):
        plane(features, columns=(0, 1, 2))


def test_a_point_on_a_line_names_the_cells_that_meet_there():
    made = plane([(0, 1, 0), (0, 0, 0)], [1, 0])
    with pytest.raises(RankgaugeError, match=r"\(0, 3\) is on a line, where cells 0 and 1 meet"):
        made.cell_at(0, 3)
    assert made.cells_at(0, 3) == (0, 1)
    crossing = plane([(0, 1, 0), (0, 0, 1), (0, 0, 0)], [1, 0, 0])
    assert crossing.cells_at(0.0, 0) == tuple(range(6))
    with pytest.raises(RankgaugeError, match="where cells 0, 1, 2, 3, 4 and 5 meet"):
        crossing.cell_at(0, 0)
    assert plane([(0, 1, 1)], [1]).cells_at(0, 0) == (0,)


def test_a_measure_without_a_direction_has_no_optima():
    with pytest.raises(RankgaugeError, match="neither higher nor lower"):
        plane([(0, 1, 0), (0, 0, 0)], [1, 0]).optima("Judged@1")


@examples(150)
@given(lines(), st.data())
def test_the_cells_at_a_point_are_those_whose_sides_it_has(drawn, data):
    """Also on lines and at vertices, which the points of a small grid meet often."""
    made = Arrangement.of(drawn)
    coordinate = st.integers(-4, 4).map(lambda n: Fraction(n, 2))
    points = [tuple(data.draw(coordinate) for _ in range(2)) for _ in range(3)]
    points += [(Fraction(x, w), Fraction(y, w)) for x, y, w in made.vertices.tolist()[:4]]
    points += [(Fraction(x, w), Fraction(y, w)) for x, y, w in map(made.point, range(made.cells))]
    signs = signs_of(made).tolist()
    for x, y in points:
        sides = [a * x + b * y + c for a, b, c in drawn]
        assert made.cells_at(x, y) == tuple(
            cell
            for cell, own in enumerate(signs)
            if all(not side or (side > 0) == sign for side, sign in zip(sides, own, strict=True))
        )


NEARLY = st.builds(
    lambda whole, steps, size: (whole + steps * 2.0**-50) * size,
    st.integers(-2, 2),
    st.integers(-2, 2),
    st.sampled_from([1.0, 1.0, 2.0**-300, 1e200, 1e-320]),
)
"""Floats of which many are alike up to their last bits, so that rounding alone decides nothing."""


@examples(80)
@given(st.lists(st.tuples(NEARLY, NEARLY, NEARLY), min_size=2, max_size=5), st.data())
def test_floats_are_the_fractions_that_they_are(documents, data):
    """The values, which floating point finds where it is sure, are those of the exact rankings."""
    count = len(documents)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    neutral = data.draw(st.booleans())
    made = plane(documents, labels, neutral=neutral)
    fractions = [tuple(map(Fraction, document)) for document in documents]
    assert plane(fractions, labels, neutral=neutral).lines == made.lines
    values = made.values("DCG")
    for cell in range(len(made)):
        x, y, w = made.arrangement.point(cell)
        order = oracle.ranking(fractions, (Fraction(x, w), Fraction(y, w)))
        assert values[cell] == parse("DCG").score([labels[row] for row in order], labels)


def test_numbers_of_numpy_and_booleans_are_taken():
    usual = plane([(1, 0, 1), (0, 1, 0)], [1, 0])
    rows = np.array([(1, 0, 1), (0, 1, 0)])
    for kind in (np.int8, np.float32, np.float64, np.bool_):
        assert plane(rows.astype(kind), [True, False]).lines == usual.lines
    assert plane(rows, np.array([True, False])).values("AP").tolist() == usual.values("AP").tolist()


def test_jitter_parts_flips_that_share_a_line():
    alike = [(0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 0, 1)]
    usual, jittered = plane(alike, [1, 0, 1, 0]), plane(alike, [1, 0, 1, 0], jitter=1e-6)
    assert (len(usual.boundaries), len(usual.lines)) == (4, 1)
    assert (len(jittered.boundaries), len(jittered.lines)) == (4, 4)
    assert jittered.lines == plane(alike, [1, 0, 1, 0], jitter=1e-6).lines
    assert jittered.lines != plane(alike, [1, 0, 1, 0], jitter=1e-6, seed=1).lines
    with pytest.raises(RankgaugeError, match="jitter"):
        plane(alike, [1, 0, 1, 0], jitter=-1)


def test_jitter_and_decimals_of_features_follow_those_of_other_functions():
    from rankgauge.data.model import Ids
    from rankgauge.io.letor import Features
    from rankgauge.space import add_jitter

    random = np.random.default_rng(3)
    values = random.random((5, 3))
    features = Features(
        Ids.of(["a", "b"]), np.array([0, 2, 5]), np.array([1, 0, 1, 0, 2], np.int32), values
    )
    made = plane(features, decimals=None, jitter=0.5)
    added = add_jitter(features, 0.5).values[:, -1].tolist()
    triples = [
        (Fraction(c) + Fraction(more), Fraction(u), Fraction(v))
        for (c, u, v), more in zip(values.tolist(), added, strict=True)
    ]
    assert made.lines == plane(triples, features.labels, [0, 0, 1, 1, 1]).lines
    assert made.lines != plane(features, jitter=0.5).lines


def test_progress_begins_with_what_there_is_to_do():
    steps: list[str] = []
    plane(FOUR, [1, 1, 0, 0], progress=steps.append)
    assert steps[0] == "6 lines, up to 22 cells"
    assert steps[1] == "100% of the pairs of lines are intersected"


def test_forty_documents_of_a_query_have_their_values():
    """780 lines: beyond what 64 bits hold, since floats have 53 bits of their own."""
    random = np.random.default_rng(2)
    documents = [tuple(row) for row in random.standard_normal((40, 3)).tolist()]
    made = plane(documents, random.integers(0, 3, 40))
    assert repr(made).endswith("40 documents, 780 lines, 284,050 vertices, 294,711 cells")
    values = made.values("nDCG")
    for cell in random.integers(len(made), size=30).tolist():
        order = made.cells[cell].rankings[0]
        expected = parse("nDCG").score([made.labels[row] for row in order])
        assert values[cell] == pytest.approx(expected, abs=1e-12)
        assert made.cell_at(*made.cells[cell].point) == cell


def test_four_hundred_lines_have_their_values():
    random = np.random.default_rng(1)
    queries = [query for query in range(26) for _ in range(8)]
    documents = [tuple(map(int, row)) for row in random.integers(-(10**6), 10**6, (208, 3))]
    made = plane(documents, [0, 1] * 104, queries, neutral=False)
    assert len(made.lines) == 26 * 16
    values = made.values("AP")
    for cell in random.integers(len(made), size=50).tolist():
        rankings = made.cells[cell].rankings
        expected = [parse("AP").score([made.labels[d] for d in order]) for order in rankings]
        assert values[cell] == pytest.approx(np.mean(expected))
