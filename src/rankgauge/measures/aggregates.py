"""From queries to one number: the arithmetic and the geometric mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Number
from rankgauge.core.parameters import parameter
from rankgauge.measures.around import Aggregate
from rankgauge.measures.registry import register


class ArithmeticMean(Aggregate):
    """The arithmetic mean over queries.

        mean(m) = (1/|Q|) · Σ_q m(q)

    It is the default: `mean(AP)` is the same as `AP`.

    Parameters
    ----------
    measure : Measure
        The measure whose scores are averaged.

    Examples
    --------
    >>> from rankgauge import AP
    >>> mean(AP).combine(np.array([0.25, 1.0]))
    0.625
    """

    name = "mean"
    summary = "The arithmetic mean over queries. This is the default: mean(AP) is the same as AP."
    examples = ("mean(AP)",)
    formula = "mean(m) = (1/|Q|) · Σ_q m(q)"


class GeometricMean(Aggregate):
    """The geometric mean over queries, in which hard queries weigh more.

        gm(m) = exp((1/|Q|) · Σ_q ln max(m(q), least))

    Parameters
    ----------
    measure : Measure
        The measure whose scores are averaged.
    least : float, default 1e-5
        Scores below this count as this, which keeps the logarithm finite.

    Notes
    -----
    Robertson 2006, On GMAP: and other transformations.

    Examples
    --------
    >>> from rankgauge import AP
    >>> round(gm(AP).combine(np.array([0.25, 1.0])), 6)
    0.5
    """

    name = "gm"
    summary = "The geometric mean over queries. Scores below `least` are replaced with `least`."
    formula = "gm(m) = exp((1/|Q|) · Σ_q ln max(m(q), least))"
    source = "Robertson 2006, On GMAP: and other transformations"
    examples = ("gm(AP)", "gm(nDCG@10,least=0.001)")

    least: float = parameter(
        Number(0, 1, closed=False),
        "the floor for scores, which keeps the logarithm finite",
        default=1e-5,
    )

    def forward(self, scores: Floats) -> Floats:
        return np.asarray(np.log(np.maximum(scores, self.least)))

    def back(self, mean: Any) -> Any:
        return np.exp(mean)


mean = register(ArithmeticMean)
gm = register(GeometricMean)
