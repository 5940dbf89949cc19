"""What a curve says of its points: between the breaks, at them, at the ends, and outside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from profiles import examples
from rankgauge import parse
from rankgauge.errors import RankgaugeError
from rankgauge.space import Segment, line
from space.strategies import moving


@examples(100)
@given(moving())
def test_at_every_break_a_curve_gives_what_is_evaluated_there(segment):
    """The middle of the line, too: many documents meet there."""
    measure = parse("nDCG@3")
    curve = segment.curve(measure)
    for point in (*curve.edges.tolist(), 0.5):
        assert curve.at(point) == pytest.approx(segment.mean_at(point, measure), abs=1e-12)


def test_a_break_is_a_point_of_its_own():
    """Both documents pass a third one in the middle: there, and only there, all three are tied."""
    curve = line([0, 2, 1], [2.0, 1.0, 0.0], [0.0, 1.0, 2.0], "nDCG@1")
    assert (curve.breaks.tolist(), curve.values.tolist()) == ([0.5], [0.0, 0.5])
    assert curve.at(0.5) == 0.0  # as the documents stand
    curve = line([2, 0, 1], [1.0, 2.0, 0.0], [1.0, 0.0, 2.0], "nDCG@1")
    assert (curve.values.tolist(), curve.at(0.5)) == ([0.0, 0.5], 1.0)
    assert (curve.at(0.5 - 1e-9), curve.at(0.5 + 1e-9)) == (0.0, 0.5)


def test_the_ends_are_the_start_and_the_end():
    curve = line([1, 0], [0.0, 0.0], [0.0, 1.0], "RR")
    assert (curve.start, curve.values.tolist(), curve.end) == (1.0, [0.5], 0.5)
    assert (curve.at(0), curve.at(0.0), curve.at(1e-9), curve.at(1)) == (1.0, 1.0, 0.5, 0.5)


@pytest.mark.parametrize("point", [-1e-9, 1.5, np.nan, np.inf, "0.5", None])
def test_there_is_nothing_outside_the_line(point):
    curve = line([1, 0], [1.0, 0.0], [0.0, 1.0], "RR")
    for at in (curve.at, Segment.of([1, 0], [1.0, 0.0], [0.0, 1.0]).at):
        with pytest.raises(RankgaugeError, match=r"position=.*, expected a number from 0 to 1"):
            at(point)


def test_a_measure_without_a_direction_has_a_curve():
    curve = line([1, -1], [1.0, 0.0], [0.0, 1.0], "Judged@1")
    assert repr(curve) == "Curve of Judged@1: 1 break"
    with pytest.raises(RankgaugeError, match="there is no best point"):
        _ = curve.value


def test_a_curve_can_be_printed_and_drawn():
    pytest.importorskip("matplotlib")
    curve = line([1, 0], [0.0, 1.0], [1.0, 0.0], "RR")
    assert curve.table().rows == ((0.0, 0.5, 0.5), (0.5, 1.0, 1.0))
    assert curve.table().notes == ("the mean is 0.5000 at 0 and 1.0000 at 1",)
    assert curve.figure().axes[0].get_xlabel() == "position on the line"
