"""Trajectories: every flip is there once, and the changes add up to the value at every point."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import rankgauge as rg
from laws.strategies import HIGHEST, MEASURES, WRAPPERS, versions
from profiles import examples
from rankgauge.errors import MeasureError, RankgaugeError, Unsupported
from rankgauge.measures.around import inner
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.space import Trajectory, add_jitter, line, trajectories, trajectory
from rankgauge.space.crossings import inversions
from rankgauge.space.lines import mean_of

TWO = ([[1, 0], [0, 1]], [0, 1], [0, 2])
"""Two documents, of which the second is relevant; with equal weights they are tied."""


@st.composite
def paths(draw: st.DrawFn, most: int = 6) -> tuple[Rankings, np.ndarray]:
    """Lists of labels, and at each of a few points a small whole score of every document: many documents
    are tied at points, along whole pieces, or meet in one point."""
    labels = draw(
        st.lists(st.lists(st.integers(-2, HIGHEST), max_size=most), min_size=1, max_size=3)
    )
    known = [[label for label in own if label >= 0] for own in labels]
    known = [own + draw(st.lists(st.integers(0, HIGHEST), max_size=2)) for own in known]
    flat = np.array([label for own in labels for label in own], dtype=np.int32)
    offsets = np.concatenate(([0], np.cumsum([len(own) for own in labels])))
    judged = JudgedLabels.of(*known, max_grade=HIGHEST)
    points = draw(st.integers(2, 4))
    scores = draw(
        st.lists(st.integers(0, 3), min_size=points * len(flat), max_size=points * len(flat))
    )
    lists = Rankings(flat, offsets, np.arange(len(labels)), judged)
    return lists, np.array(scores, dtype=float).reshape(points, len(flat))


def exact_order(lists: Rankings, start, end, position: Fraction) -> list[list[int]]:
    """The rows of each list in rank order at a point, in exact numbers; ties as they stand."""
    score = [
        (1 - position) * Fraction(a) + position * Fraction(b)
        for a, b in zip(start.tolist(), end.tolist(), strict=True)
    ]
    rows = (range(*bounds) for bounds in itertools.pairwise(lists.offsets.tolist()))
    return [sorted(own, key=lambda row: (-score[row], row)) for own in rows]


def exact_breaks(lists: Rankings, start, end) -> list[Fraction]:
    """0, 1 and every point between them at which two documents of a list have the same score."""
    points = {Fraction(0), Fraction(1)}
    for bounds in itertools.pairwise(lists.offsets.tolist()):
        for a, b in itertools.combinations(range(*bounds), 2):
            here, there = Fraction(start[a] - start[b]), Fraction(end[a] - end[b])
            if here * there < 0:
                points.add(here / (here - there))
    return sorted(points)


def exact_mean(lists: Rankings, start, end, position: Fraction, measure) -> float:
    rows = np.array([*itertools.chain(*exact_order(lists, start, end, position))], dtype=np.int64)
    ranked = Rankings(lists.labels[rows], lists.offsets, lists.query, lists.judged)
    return mean_of(inner(measure).score_each(ranked), measure)


def check(lists: Rankings, points, found: Trajectory, measure) -> None:
    """Between all flips and at all points, the changes add up to the value in exact numbers, and the
    curve of `line` has the same value."""
    for piece, (start, end) in enumerate(itertools.pairwise(points), start=1):
        breaks = exact_breaks(lists, start, end)
        between = [(a + b) / 2 for a, b in itertools.pairwise(breaks)]
        curve = line(lists, start, end, measure)
        for position in (Fraction(0), *between, Fraction(1)):
            expected = exact_mean(lists, start, end, position, measure)
            close = pytest.approx(expected, abs=1e-12, nan_ok=True)
            assert found.at(measure, piece, float(position)) == close, (piece, position)
            assert curve.at(float(position)) == close, (piece, position)


@pytest.mark.parametrize("name", sorted(MEASURES | WRAPPERS))
@examples(20)
@given(st.data())
def test_the_changes_add_up_to_the_value_at_every_point_by_every_measure(name, data):
    measure = data.draw(versions(name))
    lists, points = data.draw(paths())
    try:
        found = trajectory(lists, points, measure)
        check(lists, points, found, measure)
    except (MeasureError, Unsupported):
        return


@pytest.mark.parametrize("measure", ["gm(AP)", "mean(nDCG@3)", "gm(v2(nDCG@2))"])
@examples(60)
@given(paths())
def test_the_changes_of_aggregates_add_up_too(measure, path):
    check(*path, trajectory(*path, measure), rg.parse(measure))


@examples(100)
@given(paths())
def test_every_pair_whose_order_changes_flips_once_and_only_neighbors_flip(path):
    lists, points = path
    found = trajectory(lists, points, "AP")
    flips = [
        (piece, query, upper, lower)
        for piece, query, upper, lower in zip(
            found.piece, found.query, found.upper, found.lower, strict=True
        )
    ]
    expected = []
    now = exact_order(lists, points[0], points[1], Fraction(0))
    for piece, (start, end) in enumerate(itertools.pairwise(points), start=1):
        breaks = exact_breaks(lists, start, end)
        between = [(a + b) / 2 for a, b in itertools.pairwise(breaks)]
        for position in (*between, Fraction(1)):
            then = exact_order(lists, start, end, position)
            for query, (before, after) in enumerate(zip(now, then, strict=True)):
                expected += [
                    (piece, query, a, b)
                    for a, b in itertools.combinations(before, 2)
                    if after.index(a) > after.index(b)
                ]
            now = then
    assert sorted(flips) == sorted(expected)
    # One after the other, neighbors change places at the rank that is given.
    now = exact_order(lists, points[0], points[1], Fraction(0))
    for query, rank, upper, lower in zip(
        found.query, found.rank, found.upper, found.lower, strict=True
    ):
        assert now[query][rank - 1 : rank + 1] == [upper, lower]
        now[query][rank - 1 : rank + 1] = [lower, upper]
    assert now == exact_order(lists, points[-2], points[-1], Fraction(1))
    # Where they are, in exact numbers.
    for place in range(len(found)):
        start, end = points[found.piece[place] - 1 : found.piece[place] + 1]
        a, b = found.upper[place], found.lower[place]
        here, there = Fraction(start[a] - start[b]), Fraction(end[a] - end[b])
        exact = here / (here - there) if here * there < 0 else Fraction(int(here != 0))
        assert found.position[place] == pytest.approx(float(exact), abs=1e-15)
    order = list(zip(found.piece, found.position, strict=True))
    assert order == sorted(order)


@examples(100)
@given(paths())
def test_a_flip_is_good_if_the_better_document_rises(path):
    found = trajectory(*path, "AP")
    grade = np.maximum(path[0].labels, 0)
    better = np.sign(grade[found.lower] - grade[found.upper])
    assert found.merit.tolist() == better.tolist()
    assert [{1: "good", -1: "bad", 0: "neutral"}[sign] for sign in better] == found.kinds.tolist()


class TestAtABoundary:
    """Two documents are tied where the weights are equal; then the first one stands above."""

    def test_a_path_inside_a_boundary_has_the_order_of_ties(self):
        found = trajectory(TWO, [[0, 1], [1, 1], [2, 2], [0, 1]], "RR")
        where = list(zip(found.piece, found.position, found.kinds, strict=True))
        assert where == [(1, 1.0, "bad"), (3, 0.0, "good")]
        means = [found.at("RR", *point) for point in ((1, 0.5), (1, 1), (2, 0.5), (3, 0), (3, 0.1))]
        assert means == [1, 0.5, 0.5, 0.5, 1]

    def test_a_path_that_only_touches_a_boundary_flips_there_and_back(self):
        found = trajectory(TWO, [[0, 1], [1, 1], [0, 1]], "RR")
        assert list(zip(found.piece, found.position, strict=True)) == [(1, 1), (2, 0)]
        # On the side of the order of ties nothing happens.
        assert len(trajectory(TWO, [[1, 0], [1, 1], [1, 0]], "RR")) == 0

    def test_a_path_that_crosses_a_boundary_at_a_joint_flips_once(self):
        there = trajectory(TWO, [[0, 1], [1, 1], [1, 0]], "RR")
        back = trajectory(TWO, [[1, 0], [1, 1], [0, 1]], "RR")
        assert list(zip(there.piece, there.position, strict=True)) == [(1, 1)]
        assert list(zip(back.piece, back.position, strict=True)) == [(2, 0)]

    def test_a_point_twice_changes_nothing(self):
        assert len(trajectory(TWO, [[1, 1], [1, 1]], "RR")) == 0

    def test_documents_with_the_same_values_never_flip(self):
        """Their weighted sums are equal to the last bit, whatever rows they are in."""
        random = np.random.default_rng(3)
        row = random.random((1, 46))
        values = np.repeat(row, 101, axis=0)
        found = trajectory((values, np.arange(101) % 2, [0, 101]), random.random((5, 46)), "AP")
        assert len(found) == 0


def test_flips_have_the_names_of_queries_and_documents(tmp_path):
    file = tmp_path / "letor.txt"
    file.write_text(
        "0 qid:7 1:1 2:0 # docid = a\n1 qid:7 1:0 2:1 # docid = b\n2 qid:8 1:1 # docid = c\n"
    )
    found = trajectory(rg.read_letor(file), [[1, 0], [0, 1]], ["RR", "P@1"])
    table = found.table()
    assert table.rows[0] == (
        *(1, 0.5, "7", 1, "a", "b", "good", "RR, P@1"),
        *(0.5, 0.25, 1.0, 0.5),
    )
    assert table.columns[-2:] == ("P@1", "mean P@1")
    unnamed = trajectory(TWO, [[1, 0], [0, 1]], "RR").table()
    assert unnamed.rows[0][:7] == (1, 0.5, "1", 1, 1, 2, "good")


def test_the_measures_are_compared_by_the_flips_they_notice():
    """P@1 notices a flip at rank 1 alone; CorrectPairs and AP notice every good or bad one."""
    labels = [1, 0, 1, 0]
    points = [[4, 3, 2, 1], [1, 2, 3, 4]]
    found = trajectory(Rankings.of(labels), points, ["AP", "P@1", "nDCG"])
    rows = {row[0]: row[5:] for row in found.measure_table().rows}
    good, bad = (int((found.merit == sign).sum()) for sign in (1, -1))
    assert rows["AP"] == rows["nDCG"] == (good, bad, 0, 1.0, "1, 3", 0)
    assert sum(rows["P@1"][:2]) < good + bad
    assert rows["P@1"][4] == "1"
    assert found.notes[0].kind == f"{len(found)} flips: {good} good, {bad} bad, 2 neutral"


@pytest.mark.parametrize("name", sorted(n for n, m in MEASURES.items() if not m.by_subtopic))
@examples(20)
@given(paths(), st.data())
def test_the_ranks_that_a_measure_notices_are_where_the_list_changes(name, path, data):
    """Each flip is done by hand, at its rank, in the order of the path; the scores before and after say
    whether it is noticed. No measure looks below its cut-off."""
    lists, points = path
    measure = inner(data.draw(versions(name)))
    try:
        found = trajectory(lists, points, measure)
    except (MeasureError, Unsupported):
        assume(False)
    now = [
        sorted(range(*bounds), key=lambda row: (-points[0][row], row))
        for bounds in itertools.pairwise(lists.offsets.tolist())
    ]
    noticed = set()
    for query, rank, upper, lower in zip(
        found.query.tolist(), found.rank.tolist(), found.upper.tolist(), found.lower.tolist(),
        strict=True,
    ):  # fmt: skip
        order = now[query]
        assert order[rank - 1 : rank + 1] == [upper, lower]
        before = by_hand_score(lists, query, order, measure)
        order[rank - 1 : rank + 1] = [lower, upper]
        after = by_hand_score(lists, query, order, measure)
        if abs(after - before) > 1e-9:
            noticed.add(rank)
    seen = found.rank[found.noticed.is_noticed[0]].tolist()
    assert set(seen) == noticed
    assert max(seen, default=0) <= (measure.depth or math.inf)
    rows = {row[0]: row for row in found.noticed.rank_table().rows}
    assert set(rows) == set(found.rank.tolist())
    assert sum(sum(row[1:4]) for row in rows.values()) == len(found)


def by_hand_score(lists: Rankings, query: int, order: list[int], measure) -> float:
    one = Rankings(
        lists.labels[order], np.array([0, len(order)]), lists.query[query : query + 1], lists.judged
    )
    return float(measure.score_each(one)[0])


def test_p_at_5_notices_rank_5_alone():
    random = np.random.default_rng(2)
    labels = random.integers(0, 2, 30).tolist()
    ends = random.random((2, 30))
    found = trajectory(Rankings.of(labels), ends, ["P@5", "AP"])
    ranks = {row[0]: row[-2] for row in found.measure_table().rows}
    assert ranks["P@5"] == "5"
    assert ranks["AP"] == "1-22, 24-29"
    shares = {row[0]: row[4:] for row in found.rank_table().rows}
    assert shares[5] == (1.0, 1.0)
    assert shares[4] == shares[6] == (0.0, 1.0)


def test_jitter_parts_flips_that_coincide():
    """Two copies of one document pass a third at one point; with jitter at two points."""
    values, labels = [[1, 0], [1, 0], [0, 1]], [0, 0, 1]
    documents = (values, labels, [0, 3])
    ends = [[1, 0], [0, 1]]
    assert np.ptp(trajectory(documents, ends, "AP").position) == 0
    found = trajectory(documents, ends, "AP", jitter=1e-6, seed=5)
    assert 0 < np.ptp(found.position) < 1e-5
    again = trajectory(documents, ends, "AP", jitter=1e-6, seed=5)
    assert found.position.tolist() == again.position.tolist()
    added = add_jitter(documents, 1e-6, seed=5)
    by_hand = trajectory(added, [[*own, 1] for own in ends], "AP")
    assert by_hand.position.tolist() == found.position.tolist()
    assert ((added.values[:, 2] >= 0) & (added.values[:, 2] < 1e-6)).all()


def test_the_jitter_of_a_query_does_not_depend_on_the_others():
    values, labels = np.zeros((5, 1)), [0] * 5
    whole = add_jitter((values, labels, [0, 2, 5]), 1.0).values[:, 1]
    assert (
        whole[:2].tolist()
        == add_jitter((values[:2], labels[:2], [0, 2]), 1.0).values[:, 1].tolist()
    )
    assert len(set(whole.tolist())) == 5


@examples(60)
@given(st.permutations(range(9)), st.permutations(range(9)))
def test_inversions_are_counted(before, after):
    pairs = itertools.combinations(before, 2)
    expected = sum(after.index(a) > after.index(b) for a, b in pairs)
    assert inversions(np.array(before), np.array(after)) == expected


def test_too_many_flips_are_refused_before_they_are_looked_for(monkeypatch):
    monkeypatch.setattr(trajectories, "MOST_FLIPS", 5)
    lists = Rankings.of([1, 0, 1, 0])
    with pytest.raises(RankgaugeError, match="has 6 flips, expected at most 5: use a shorter"):
        trajectory(lists, [[4, 3, 2, 1], [1, 2, 3, 4]], "AP")
    assert len(trajectory(lists, [[4, 3, 2, 1], [1, 3, 2, 4]], "AP")) == 5


@pytest.mark.parametrize("counts", [1, 7])
def test_counts_in_parts_change_nothing(counts, monkeypatch):
    from rankgauge.space import crossings

    random = np.random.default_rng(1)
    lists = Rankings.of(*(random.integers(0, 4, 9) for _ in range(4)))
    points = random.random((3, 36))
    whole = trajectory(lists, points, ["AP", "ERR"])
    monkeypatch.setattr(crossings, "MOST_COUNTS", counts)
    parts = trajectory(lists, points, ["AP", "ERR"])
    assert whole.changes.tolist() == parts.changes.tolist()


@pytest.mark.parametrize(
    ("documents", "points", "message"),
    [
        (TWO, [[1, 0]], "expected two or more points"),
        (TWO, [[1, 0, 0], [0, 1, 0]], "point 1: 3 numbers for 2 features"),
        (TWO, [[1, 0], [0, np.inf]], "point 2: a number is not finite"),
        (([[1]], [0, 1], [0, 1]), [[1], [2]], "values of shape"),
        (([[1], [2]], [0, 1], [0, 1]), [[1], [2]], "bounds"),
        (([[1], [np.nan]], [0, 1], [0, 2]), [[1], [2]], "a value is not finite"),
        (([[1], [2]], [0, 0.5], [0, 2]), [[1], [2]], "labels: a number is not whole"),
        (([["a"], ["b"]], [0, 1], [0, 2]), [[1], [2]], "values: expected an array of numbers"),
        ("ab", [[1], [2]], "expected labels, lists of labels, or features"),
        (TWO, [["a", "b"], ["c", "d"]], "points: expected an array of numbers"),
        (TWO, [[1], [1, 2]], "points: expected an array of numbers"),
        ((np.zeros((0, 2)), [], [0]), [[1, 0], [0, 1]], "no queries, expected documents"),
        (
            ([[1e308, 0], [-1e308, 1]], [0, 1], [0, 2]),
            [[1, 0], [0, 1]],
            "a score has the magnitude 1e.308",
        ),
        (([[1e308] * 2, [0, 0]], [0, 1], [0, 2]), [[1, 1], [0, 1]], "a score is not finite"),
    ],
)
def test_what_makes_no_path_is_refused(documents, points, message):
    with pytest.raises(RankgaugeError, match=message):
        trajectory(documents, points, "AP")


def test_a_path_without_flips_can_be_shown():
    for documents in (TWO, (np.zeros((0, 2)), [], [0, 0])):
        found = trajectory(documents, [[2, 0], [1, 0]], ["RR", "P@1"])
        assert len(found) == len(found.table().rows) == 0
        assert repr(found).startswith("Trajectory of 1 piece: 0 flips")
    with pytest.raises(RankgaugeError, match="no lists, expected at least one"):
        trajectory(Rankings.of(), np.zeros((2, 0)), "RR")


def test_measures_that_were_not_asked_for_and_points_outside_are_refused():
    found = trajectory(TWO, [[1, 0], [0, 1]], "RR")
    with pytest.raises(RankgaugeError, match="AP was not requested, expected one of RR"):
        found.means("AP")
    with pytest.raises(RankgaugeError, match="expected a piece from 1 to 1"):
        found.at("RR", 2, 0.5)
    with pytest.raises(RankgaugeError, match="no measure"):
        trajectory(TWO, [[1, 0], [0, 1]], [])


def test_the_figure_has_a_tick_for_each_flip():
    pytest.importorskip("matplotlib")
    found = trajectory(TWO, [[0, 1], [1, 1], [2, 2], [0, 1]], ["RR", "P@1"])
    upper, lower = found.figure().axes
    ticks = [len(lines.get_segments()) for lines in lower.collections]
    assert ticks == [1, 1, 0]
    assert [own.get_ydata().tolist() for own in upper.lines] == [[1, 0.5, 0.5, 1], [1, 0, 0, 1]]


def test_a_path_through_real_features(any_data):
    """Twenty points on the way, between flips: the sum of the changes is the value evaluated anew."""
    features = rg.read_letor(any_data("mq2008/S1.txt.gz"))
    random = np.random.default_rng(8)
    points = random.random((3, features.values.shape[1]))
    points[1] = np.eye(points.shape[1])[0]  # one feature alone: many documents are tied
    names = ["nDCG@10", "AP", "RR", "bpref", "v2(nDCG@5)", "gm(AP)"]
    found = trajectory(features, points, names)
    assert {0.0, 1.0} <= set(found.position.tolist())
    for piece, segment in enumerate(found.segments, start=1):
        own = np.unique(np.append([0.0, 1.0], found.position[found.piece == piece]))
        middles = ((own[1:] + own[:-1]) / 2)[np.diff(own) > 1e-9]
        some = [0.0, *random.choice(middles, 20, replace=False).tolist(), 1.0]
        for name in names:
            for position in some:
                anew = segment.mean_at(position, rg.parse(name))
                assert found.at(name, piece, position) == pytest.approx(anew, abs=1e-12)


def test_plain_labels_are_lists():
    plain = trajectory([[1, 0], [0, 2]], [[1, 0, 1, 0], [0, 1, 0, 1]], "RR")
    lists = trajectory(Rankings.of([1, 0], [0, 2]), [[1, 0, 1, 0], [0, 1, 0, 1]], "RR")
    assert plain.changes.tolist() == lists.changes.tolist() != [[]]
