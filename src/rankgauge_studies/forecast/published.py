"""What Muwanei et al. 2022 print, on TREC 2013 (A) and TREC 2014 (B), which is other data than ours."""

from __future__ import annotations

from rankgauge.extending import Record

PRINTED = ("printed A: TREC 2013", "printed B: TREC 2014")
"""The columns of what is printed."""
DEPTHS = (10, 15, 20, 25, 30)
NUMBER_IN_PAPER = {"nDCG@1000": 1, "nDCG@100": 2}
"""For each target the number of its table and of its figure."""
R2 = {
    "nDCG@1000": {
        "boosting": ((0.56, 0.61, 0.67, 0.71, 0.77), (0.41, 0.47, 0.62, 0.71, 0.75)),
        "regression": ((0.33, 0.41, 0.59, 0.62, 0.70), (0.16, 0.30, 0.53, 0.57, 0.69)),
    },
    "nDCG@100": {
        "boosting": ((0.60, 0.68, 0.81, 0.91, 0.91), (0.48, 0.51, 0.73, 0.88, 0.93)),
        "regression": ((0.53, 0.63, 0.78, 0.88, 0.89), (0.32, 0.47, 0.71, 0.87, 0.88)),
    },
}
"""R² by target and method: on TREC 2013, on TREC 2014, at each depth (Tables 1 and 2)."""


def printed_r2(target: str, method: str, depth: int) -> tuple[float | None, float | None]:
    """The printed values of R² on both test sets; None where nothing is printed."""
    sets = R2.get(target, {}).get(method)
    if sets is None or depth not in DEPTHS:
        return None, None
    place = DEPTHS.index(depth)
    return sets[0][place], sets[1][place]


class PrintedPercentage(Record):
    """By how many per cent the text says that a method is ahead of another, on both test sets."""

    target: str
    depth: int
    number: str
    one: str
    other: str
    printed: tuple[float | None, float | None]


def _boosting_percentage(
    target: str, depth: int, number: str, *printed: float | None
) -> PrintedPercentage:
    return PrintedPercentage(
        target, depth, number, "boosting", "regression", (printed[0], printed[1])
    )


PERCENTAGES = (
    _boosting_percentage("nDCG@1000", 15, "tau_a", None, 8.44),
    _boosting_percentage("nDCG@1000", 15, "rho", None, 4.89),
    _boosting_percentage("nDCG@1000", 20, "tau_a", 10.43, None),
    _boosting_percentage("nDCG@1000", 20, "rho", 5.83, None),
    _boosting_percentage("nDCG@1000", 30, "tau_a", 4.21, 2.85),
    _boosting_percentage("nDCG@1000", 30, "rho", 2.61, 3.59),
    _boosting_percentage("nDCG@1000", 30, "r2", 10.0, None),
    PrintedPercentage("nDCG@1000", 10, "tau_a", "regression", "gupta", (27.23, 19.86)),
    _boosting_percentage("nDCG@100", 15, "tau_a", None, 6.61),
    _boosting_percentage("nDCG@100", 15, "rho", None, 5.38),
    _boosting_percentage("nDCG@100", 20, "tau_a", 11.69, None),
    _boosting_percentage("nDCG@100", 20, "rho", 5.82, None),
    _boosting_percentage("nDCG@100", 30, "tau_a", None, 3.64),
    _boosting_percentage("nDCG@100", 30, "rho", None, 0.91),
    _boosting_percentage("nDCG@100", 30, "r2", None, 6.46),
    PrintedPercentage("nDCG@100", 30, "tau_a", "boosting", "gupta", (4.53, 3.45)),
)
"""All percentages of the text. For R² it says "above 10" and "above 6.46"."""
