"""Figures of studies: what is drawn is what was counted."""

from __future__ import annotations

import numpy as np
import pytest

from rankgauge import RankgaugeError
from rankgauge.figures.studies import (
    depth_curves,
    ideal_lines,
    power_curves,
    relevant_lines,
    token_matches,
)

pytest.importorskip("matplotlib")


def test_lines_are_drawn_in_the_order_given_with_a_legend_and_references() -> None:
    panels = {name: {"1+": [30, 20], "2+": [5, 0], "3+": [0, 0]} for name in ("x", "y", "z")}
    figure = relevant_lines(panels)
    assert [axes.get_title() for axes in figure.axes] == ["x", "y", "z"]
    for axes in figure.axes:
        lines = [np.asarray(line.get_ydata()).tolist() for line in axes.lines[:3]]
        assert lines == [[30, 20], [5, 0], [0, 0]]
        assert len({line.get_color() for line in axes.lines[:3]}) == 3
        assert len({line.get_marker() for line in axes.lines[:3]}) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["1+", "2+", "3+"]
    (axes,) = ideal_lines({"x": [3.0, 1.0]}, {"low": 2.0, "high": 4.0}, "Ideal").axes
    assert [line.get_ydata()[0] for line in axes.lines] == [3.0, 2.0, 4.0]
    assert [text.get_text() for text in axes.texts] == ["low: 2.00", "high: 4.00"]
    assert axes.get_ylim()[1] > 4
    for draw in (lambda: relevant_lines({}), lambda: ideal_lines({}, {}, "x")):
        with pytest.raises(RankgaugeError, match="no judgments, expected at least one"):
            draw()


def test_the_greatest_cosine_of_each_token_of_the_reference_is_framed() -> None:
    figure = token_matches(["$a$", "b_{", "c"], ["x^", "y"], [[0.2, 0.9], [0.8, 0.1], [0.3, 0.4]])
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == [
        "0.20",
        "0.90",
        "0.80",
        "0.10",
        "0.30",
        "0.40",
    ]
    framed = [tuple(np.add(patch.get_xy(), 0.5).tolist()) for patch in axes.patches]
    assert framed == [(1.0, 0.0), (0.0, 1.0), (1.0, 2.0)]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["$a$", "b_{", "c"]
    assert not any(text.get_parse_math() for text in axes.get_yticklabels())


def test_power_is_drawn_by_test_and_setting() -> None:
    tests = {f"test {number}": [0.05, number / 8] for number in range(8)}
    figure = power_curves([0.0, 0.1], {"a pair": tests, "ten": {"tukey": [0.0, 1.0]}}, "Added")
    first, second = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["a pair", "ten"]
    assert [line.get_ydata().tolist() for line in first.lines[:8]] == list(tests.values())
    assert all(line.get_xdata().tolist() == [0.0, 0.1] for line in first.lines[:8])
    assert len({(line.get_color(), line.get_marker()) for line in first.lines[:8]}) == 8
    assert [text.get_text() for text in first.get_legend().get_texts()] == list(tests)
    assert [text.get_text() for text in second.get_legend().get_texts()] == ["tukey"]
    assert first.get_xlabel() == second.get_xlabel() == "Added"
    for panels in ({}, {"a pair": {}}, {"a pair": tests | {"one more": [0.0, 0.0]}}):
        with pytest.raises(RankgaugeError, match="too many, expected 1 to 8"):
            power_curves([0.0, 0.1], panels, "Added")


def test_forecasts_are_drawn_by_method_and_way_to_compare() -> None:
    values = {f"method {number}": [0.5, number / 8] for number in range(7)}
    methods = {
        name: [(value, value - 0.1, value + 0.2) for value in own] for name, own in values.items()
    }
    other = {"method 6": methods["method 6"], "rich": [(0.0, -0.1, 0.1), (1.0, 0.9, 1.1)]}
    figure = depth_curves([10, 30], {"A": methods, "B": other}, "nDCG@100", "τ")
    first, second = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["A", "B"]
    assert [line.get_ydata().tolist() for line in first.lines] == list(values.values())
    assert [line.get_ydata().tolist() for line in second.lines] == [values["method 6"], [0.0, 1.0]]
    assert first.lines[6].get_color() == second.lines[0].get_color() != second.lines[1].get_color()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [*values, "rich"]
    ends = [bar[:, 1].tolist() for bar in second.collections[1].get_segments()]
    assert ends == [[-0.1, 0.1], [0.9, 1.1]]
    assert first.get_xticks().tolist() == [10, 30]
    for panels in ({}, {"A": {}}, {"A": methods, "B": other | {"one more": other["rich"]}}):
        with pytest.raises(RankgaugeError, match="too many, expected 1 to 8"):
            depth_curves([10, 30], panels, "nDCG@100", "τ")
