"""The options of a call of trec_eval, numbers read as trec_eval reads them, and its errors."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import ClassVar, Literal, TypeAlias

from rankgauge.core.policies import ScorePrecision
from rankgauge.core.records import Value
from rankgauge.errors import RankgaugeError

Compat: TypeAlias = Literal["9.0.7", "9.0.8", "10"]
"""The versions of trec_eval that can be followed. 9.0.7 stands for all versions up to it; 9.0.8 is the
release of September 2023, not the tag of 2020, which is 9.0.7 in all but its name."""
DEFAULT_COMPAT: Compat = "9.0.8"


class TrecEvalError(RankgaugeError):
    """Something trec_eval refuses; `code` is what it ends with."""

    code: ClassVar[int] = 1


class UsageError(TrecEvalError):
    """A command that cannot be understood, or asks for what is not supported."""


class ParameterError(TrecEvalError):
    """Parameters that a measure does not take."""

    code = 2


class WeightsError(TrecEvalError):
    """Another number of weights than utility has."""

    code = 4


class NoCommonTopics(TrecEvalError):
    """No topic has both results and judgments."""

    code = 7


class ZScoresError(TrecEvalError):
    """A file of z-scores that cannot be read."""

    code = 255


class Settings(Value):
    """The options of one call. `rel` is at least 0."""

    measures: Sequence[str] = ()
    per_query: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    rel: int = 1
    most_retrieved: int | None = None
    collection: int = 0
    z_scores: str | None = None
    compat: Compat = DEFAULT_COMPAT

    @property
    def version(self) -> int:
        """The version's first number."""
        return int(self.compat.partition(".")[0])

    @property
    def precision(self) -> ScorePrecision:
        """The precision in which this version stores the scores of documents."""
        return "single" if self.compat == "9.0.7" else "double"


def parse_integer(text: str) -> int:
    """The whole number a text starts with, as C's atol reads it: 0 where there is none.

    >>> parse_integer("1.5"), parse_integer("1e2"), parse_integer("-3x"), parse_integer("abc")
    (1, 1, -3, 0)
    """
    match = re.match(r"[ \t-\r]*[+-]?[0-9]+", text[:4000])
    return min(max(int(match.group()), -(2**63)), 2**63 - 1) if match else 0


def parse_number(text: str) -> float:
    """The number a text starts with, as C's atof reads it: 0 where there is none.

    What C reads as no plain number, such as inf, is refused.

    >>> parse_number("1.5x"), parse_number(".5"), parse_number("abc")
    (1.5, 0.5, 0.0)
    """
    match = re.match(r"[ \t-\r]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
    value = float(match.group()) if match else 0.0
    if not math.isfinite(value) or re.match(r"\s*[+-]?(inf|nan|0x)", text, re.IGNORECASE):
        raise ParameterError(f"{text!r} is not a plain number")
    return value
