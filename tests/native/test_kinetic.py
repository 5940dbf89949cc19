"""The sweeps against exact arithmetic: every crossing as a fraction, every order sorted anew."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.native import kinetic, replay

SWEEPS = [kinetic.sweep_top, kinetic.sweep_all]
WHOLE = st.integers(0, 5)


@st.composite
def lists(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, ends and kinds of a list, in the order at the start."""
    rows = draw(st.lists(st.tuples(WHOLE, WHOLE, st.integers(0, 2)), min_size=1, max_size=7))
    start, end, kind = (np.array(column) for column in zip(*rows, strict=True))
    bounds = np.array([0, len(rows)])
    order = kinetic.start_order(start.astype(float), end.astype(float), bounds)
    assert order.tolist() == sorted(range(len(rows)), key=lambda r: (-start[r], -end[r], r))
    return start[order], end[order], kind[order].astype(np.int32)


def crossings(start: np.ndarray, end: np.ndarray) -> list[Fraction]:
    """Where lines meet, between 0 and 1."""
    found = set()
    for a, b in itertools.combinations(range(len(start)), 2):
        x, y = int(start[a] - start[b]), int(end[b] - end[a])
        if x * y > 0:
            found.add(Fraction(x, x + y))
    return sorted(found)


def kinds_at(start: np.ndarray, end: np.ndarray, kind: np.ndarray, t: Fraction) -> list[int]:
    """The kinds in rank order at a point."""
    scores = [(1 - t) * int(u) + t * int(v) for u, v in zip(start, end, strict=True)]
    return [int(kind[r]) for r in sorted(range(len(kind)), key=lambda r: (-scores[r], r))]


@pytest.mark.parametrize("sweep", SWEEPS)
@examples(150)
@given(lists(), st.integers(1, 8))
def test_replayed_flips_give_the_list_between_any_two_crossings(sweep, rows, depth):
    start, end, kind = rows
    offsets = np.array([0, len(kind)])
    position, place, above = sweep(start * 1.0, end * 1.0, kind, offsets, 3, depth, True)
    now, cut = kind.tolist(), min(depth, len(kind))
    points = [Fraction(0), *crossings(start, end), Fraction(1)]
    done = 0
    for low, high in itertools.pairwise(points):
        while done < len(position) and position[done] <= low + Fraction(1, 10**9):
            _, rank, upper, lower = place[done].tolist()
            assert now[rank - 1] == upper
            assert [now[: rank - 1].count(each) for each in range(3)] == above[done].tolist()
            now[rank - 1] = lower
            if rank < cut:
                now[rank] = upper
            done += 1
        assert now[:cut] == kinds_at(start, end, kind, (low + high) / 2)[:cut]
    assert done == len(position)
    assert (np.diff(position) >= 0).all()


@examples(150)
@given(lists())
def test_counted_ranks_are_those_between_any_two_crossings(rows):
    start, end, kind = rows
    silent = np.array([1, 0, 0], dtype=np.uint8)
    offsets = np.array([0, len(kind)])
    position, move, _ = kinetic.count_sweep(start * 1.0, end * 1.0, kind, offsets, 3, silent, True)
    # Which document moves is not told, only its kind: the ranks of a kind are compared, added up.
    totals = {each: sum(r + 1 for r, k in enumerate(kind) if k == each) for each in (1, 2)}
    points = [Fraction(0), *crossings(start, end), Fraction(1)]
    done = 0
    for low, high in itertools.pairwise(points):
        while done < len(position) and position[done] <= low + Fraction(1, 10**9):
            _, rank, document, _, sign = move[done].tolist()
            assert 1 <= rank < len(kind)
            totals[document] -= sign
            done += 1
        listed = kinds_at(start, end, kind, (low + high) / 2)
        for each, total in totals.items():
            assert total == sum(r + 1 for r, k in enumerate(listed) if k == each)
    assert done == len(position)


@examples(60)
@given(st.lists(st.floats(-1e3, 1e3), max_size=30), st.floats(-1, 1))
def test_running_sums_lose_nothing(changes, before):
    numbers = np.array(changes)
    sums = replay.running(numbers, np.array([0, len(changes)]), np.array([before]))
    exact, total = Fraction(before), []
    for change in changes:
        exact += Fraction(change)
        total.append(float(exact))
    assert sums.tolist() == pytest.approx(total, abs=1e-12)


GOOD = {"start": [2.0, 1.0], "end": [0.0, 1.0], "kind": [0, 1], "offsets": [0, 2], "kinds": 2}


@pytest.mark.parametrize("sweep", SWEEPS)
@pytest.mark.parametrize(
    "change",
    [
        {"start": [1.0, 2.0]},
        {"start": [np.nan, 1.0]},
        {"end": [np.inf, 1.0]},
        {"end": [0.0]},
        {"kind": [0, 2]},
        {"kind": [-1, 0]},
        {"kind": [0]},
        {"offsets": [0, 3]},
        {"offsets": [1, 0]},
        {"offsets": []},
        {"offsets": [-1, 2]},
    ],
)
def test_what_the_loops_do_not_expect_is_refused(sweep, change):
    given_ = GOOD | change
    with pytest.raises(ValueError, match=r"expected|outside|ascend"):
        sweep(
            np.array(given_["start"]),
            np.array(given_["end"]),
            np.array(given_["kind"], dtype=np.int32),
            np.array(given_["offsets"], dtype=np.int64),
            given_["kinds"],
            1,
            True,
        )


def test_snapshots_refuse_flips_outside_the_lists():
    lists_, place = np.array([0, 1], dtype=np.int32), np.array([[0, 3, 0, 1]], dtype=np.int32)
    with pytest.raises(ValueError, match="within the lists"):
        replay.snapshots(lists_, np.array([0, 2]), place, 0, 1, np.array([2]))
    with pytest.raises(ValueError, match="exist"):
        replay.snapshots(lists_, np.array([0, 2]), place, 0, 2, np.array([2]))
