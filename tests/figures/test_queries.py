"""Figures of queries: what is drawn is what was counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from figure_files import HOSTILE, PNG, saved
from rankgauge import RankgaugeError, evaluate, nDCG
from rankgauge.figures.queries import expected_histogram, query_map
from rankgauge.io.letor import read_letor
from rankgauge.query_sets import TYPES, Exclusion, QueryTypes, query_types

pytest.importorskip("matplotlib")


def types_of(count: int, query: str = "q", seed: int = 1) -> QueryTypes:
    """So many queries with random numbers, of random types."""
    random = np.random.default_rng(seed)
    scores, expected = random.random(count), random.random(count)
    return QueryTypes(
        tuple(f"{query}{number}" for number in range(count)),
        scores,
        expected,
        scores - expected,
        tuple(random.choice(TYPES, count).tolist()),
        (Exclusion("nothing relevant", 1234),),
    )


# The map


@pytest.mark.parametrize("count", [0, 1, 40, 10_000])
def test_every_query_is_a_point_of_its_type_and_the_legend_counts_them(count: int) -> None:
    types = types_of(count)
    figure = types.figure()
    kinds = np.array(types.types)
    points = dict(zip(TYPES, figure.axes[0].collections, strict=True))
    for name, drawn in points.items():
        chosen = kinds == name
        there = np.stack((types.scores[chosen], types.expected[chosen]), axis=1)
        assert np.array_equal(np.asarray(drawn.get_offsets()).reshape(-1, 2), there)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [f"{name} ({count:,})" for name, count in types.counts().items()]


def test_types_differ_in_color_and_in_shape() -> None:
    points = types_of(40).figure().axes[0].collections
    assert len({tuple(drawn.get_facecolor()[0]) for drawn in points}) == len(TYPES)
    assert len({drawn.get_paths()[0].vertices.tobytes() for drawn in points}) == len(TYPES)


@pytest.mark.parametrize("scale", [0.01, 0.9, 30.0])
def test_all_points_are_inside_and_the_diagonal_is_where_score_is_expectation(scale: float) -> None:
    types = types_of(40)
    values = QueryTypes(
        types.queries, types.scores * scale, types.expected * scale, *list(vars(types).values())[3:]
    )
    (axes,) = values.figure().axes
    low, high = axes.get_xlim()
    assert axes.get_ylim() == (low, high)
    drawn = np.concatenate((values.scores, values.expected))
    assert low < drawn.min() < drawn.max() < high
    (diagonal,) = axes.lines
    assert np.array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert diagonal.get_xdata().tolist() == [low, high]


def test_the_map_says_what_is_left_out_and_what_the_score_is() -> None:
    title = types_of(3).figure("nDCG@10").legends[0].get_title().get_text()
    assert title == "nDCG@10\n3 queries; left out: 1,234 with nothing relevant"


@pytest.mark.parametrize(
    ("measure", "above", "below"),
    [("RR", "worse", "better"), ("SearchLength", "better", "worse")],
)
def test_better_than_chance_is_below_the_diagonal_or_above_where_lower_is_better(
    measure: str, above: str, below: str
) -> None:
    qrels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 1, "b": 0}}
    run = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    types = query_types(evaluate(qrels, run, measure), qrels)
    (axes,) = types.figure().axes
    top, right, *regions = axes.texts
    assert (top.get_text(), right.get_text()) == (f"{above} than chance", f"{below} than chance")
    assert [text.get_text() for text in regions] == (
        ["hard", "easy", "ideal"] if below == "better" else []
    )
    better = types.scores > types.expected if below == "better" else types.scores < types.expected
    assert (better == (types.differences > 0)).all()


def test_ids_of_queries_are_not_drawn(tmp_path: Path) -> None:
    plain = saved(types_of(5).figure(), tmp_path / "plain.svg")
    assert saved(types_of(5, HOSTILE).figure(), tmp_path / "ids.svg") == plain


def test_a_map_has_one_to_four_types() -> None:
    for count in (0, 5):
        with pytest.raises(RankgaugeError, match=f"^{count} types of queries, expected 1 to 4$"):
            query_map({f"type {number}": ([0.5], [0.5]) for number in range(count)})


# The histogram


def heights(axes: object) -> list[int]:
    return [int(bar.get_height()) for bar in axes.patches]  # type: ignore[attr-defined]


def test_every_value_is_in_the_bar_that_begins_at_or_before_it() -> None:
    values = [0.3, 0.1 + 0.2, 0.6, 0.7, 0.15, 1.0, 0.0]
    (axes,) = expected_histogram({"P@5": values}).axes
    bars = {round(bar.get_x(), 9): int(bar.get_height()) for bar in axes.patches}
    assert {start: count for start, count in bars.items() if count} == {
        0.0: 1,
        0.15: 1,
        0.3: 2,
        0.6: 1,
        0.7: 1,
        0.95: 1,
    }
    (mean,) = axes.lines
    assert mean.get_xdata() == pytest.approx([np.mean(values)] * 2)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_each_measure_has_a_panel_and_no_other_is_there(count: int) -> None:
    values = {f"P@{number}": [0.2, 0.6] for number in range(1, count + 1)}
    figure = expected_histogram(values)
    assert [axes.get_title().split("\n")[0] for axes in figure.axes] == list(values)
    assert all(sum(heights(axes)) == 2 for axes in figure.axes)
    assert figure.get_suptitle() == "2 queries"


def test_panels_of_values_between_0_and_1_have_one_scale_and_others_their_own() -> None:
    figure = expected_histogram({"P@5": [0.1, 0.2], "AP": [0.9], "DCG@10": [3.0, 7.0]})
    limits = [axes.get_xlim() for axes in figure.axes]
    assert limits[:2] == [(0, 1), (0, 1)]
    assert limits[2][0] == 0
    assert limits[2][1] >= 7
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


def test_what_is_left_out_is_counted_for_each_measure_where_it_differs() -> None:
    figure = expected_histogram(
        {"P@5": [0.1, np.nan, 0.3], "AP": [0.5]}, {"AP": {"nothing relevant": 2}}
    )
    titles = [" ".join(axes.get_title().split()) for axes in figure.axes]
    assert titles == [
        "P@5 2 queries; left out: 1 with an undefined score mean 0.200 (dashed)",
        "AP 1 query; left out: 2 with nothing relevant mean 0.500 (dashed)",
    ]
    assert figure.get_suptitle() == ""


@pytest.mark.parametrize(
    "values", [[], [0.0], [1e-12, 2e-12], [-5.0, 1e6], [0.5] * 10_000, [-1.0, 0.0]]
)
def test_any_values_can_be_drawn(values: list[float], tmp_path: Path) -> None:
    figure = expected_histogram({"x": values})
    assert sum(heights(figure.axes[0])) == len(values)
    assert saved(figure, tmp_path / "h.png").startswith(PNG)


def test_a_histogram_of_no_measure_is_refused() -> None:
    with pytest.raises(RankgaugeError, match="no measures, expected the values of at least one"):
        expected_histogram({})


def test_expected_values_of_real_queries_are_all_drawn(any_data: Callable[[str], Path]) -> None:
    features = read_letor(any_data("mq2008/S1.txt.gz"))
    labels = np.split(features.labels, features.bounds[1:-1])
    relevant = [each for each in labels if (each > 0).any()]
    expected = [(nDCG @ 10).expected(each) for each in relevant]
    (axes,) = expected_histogram({"nDCG@10": expected}).axes
    assert sum(heights(axes)) == len(relevant) > 50
