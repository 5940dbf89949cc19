"""The functions that the networks apply to each number between two layers, in float32."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.text.encoders.weights import Floats32

F = np.float32

ROOT = F(0.3275911 * math.sqrt(0.5))
SERIES = tuple(map(F, (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)))
"""Formula 7.1.26 of Abramowitz and Stegun for the error function, accurate to within 1.5e-7."""


def gelu(x: Floats32) -> Floats32:
    """X times the share of the standard normal distribution below x, off by less than 1e-6.

    This is x/2 + |x| (1 − s)/2, where s is the share beyond ±x: a series in t = 1/(1 + ROOT |x|), times
    exp(−x²/2).
    """
    size = np.abs(x)
    t = size * ROOT
    t += F(1)
    np.reciprocal(t, out=t)
    share = t * SERIES[0]
    for coefficient in SERIES[1:]:
        share += coefficient
        share *= t
    with np.errstate(over="ignore", under="ignore"):
        np.multiply(x, x, out=t)
        t *= F(-0.5)
        np.exp(t, out=t)
    share *= t
    np.subtract(F(1), share, out=share)
    share *= size
    share += x
    share *= F(0.5)
    return share


def gelu_by_tanh(x: Floats32) -> Floats32:
    """The approximation of gelu by the hyperbolic tangent."""
    inner = x * x
    inner *= F(0.044715)
    inner += F(1)
    inner *= x
    inner *= F(math.sqrt(2 / math.pi))
    np.tanh(inner, out=inner)
    inner += F(1)
    inner *= x
    inner *= F(0.5)
    return inner


def relu(x: Floats32) -> Floats32:
    """x, or 0 where x is negative."""
    return np.maximum(x, F(0))


ACTIVATIONS = {
    "gelu": gelu,
    "gelu_python": gelu,
    "gelu_new": gelu_by_tanh,
    "gelu_fast": gelu_by_tanh,
    "gelu_pytorch_tanh": gelu_by_tanh,
    "relu": relu,
}
"""The functions, by their names in config.json."""
