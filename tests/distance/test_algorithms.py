"""Distance algorithms are found in one table, by the names that measures give."""

from __future__ import annotations

from rankgauge.distance.algorithms import ALGORITHMS
from rankgauge.measures import Measure, entries


def test_each_algorithm_serves_a_measure_and_each_name_has_an_algorithm() -> None:
    measures = [entry for entry in entries().values() if isinstance(entry, Measure)]
    assert {measure._distance for measure in measures} == {*ALGORITHMS, ""}
    assert all(callable(ALGORITHMS[name]) for name in ALGORITHMS)
