"""What a measure says of its answers is true: what it calls exact is neither enumerated nor drawn."""

from __future__ import annotations

import numpy as np
import pytest

from rankgauge import parse, prefix_mean
from rankgauge.measures.ties import SAMPLES

MANY = [3] * 9 + [2] * 11 + [1] * 13 + [0] * 27


@pytest.mark.parametrize("inside", ["INST@5", "yaap@5", "BPM@5", "binG@5"])
def test_the_mean_over_cutoffs_is_estimated_where_the_measure_is(inside: str) -> None:
    measure = prefix_mean(parse(inside))
    expected = measure.expected(MANY)
    mean = np.mean([(measure.measure @ k).expected(MANY) for k in range(1, 6)])
    assert expected == pytest.approx(mean, abs=1e-12)  # the same orders are drawn at all cut-offs
    spread = np.sqrt(measure.variance(MANY))
    assert expected.error == pytest.approx(spread / np.sqrt(SAMPLES), rel=1e-9)
