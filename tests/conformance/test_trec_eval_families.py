"""Agreement with the output that trec_eval ships for its own test data, to four decimals.

Its files end with the options they were made with: aq is every measure, topic by topic; aql the same
from grade 2 on; meas_params has other cut-offs and weights. Versions 9 and 10 differ in how recall
levels are rounded, and in the precision of scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

import rankgauge as rg

FAMILIES = re.compile(
    r"set_.*|relative_P_.*|infAP|11pt_avg|iprec_at_recall_.*|Rprec|Rprec_mult_.*|bpref|gm_bpref"
    r"|utility.*"
)


def printed(file: Path) -> dict[str, dict[str, float]]:
    """The values that trec_eval printed, by measure and topic, of the families compared here."""
    values: dict[str, dict[str, float]] = {}
    for line in file.read_text().splitlines():
        name, topic, value = line.split("\t")
        if FAMILIES.fullmatch(name.strip()):
            values.setdefault(name.strip(), {})[topic] = float(value)
    return values


def called(name: str, rel: int, rounding: str) -> rg.Measure | rg.measures.Aggregate:
    """Our measure for trec_eval's name."""
    measure = rg.parse(name)
    if isinstance(measure, rg.measures.gm):
        return rg.measures.gm(measure.measure(rel=rel))
    assert isinstance(measure, rg.Measure)
    by_level = "rounding" in measure.parameters()
    return measure(rel=rel, rounding=rounding) if by_level else measure(rel=rel)


@pytest.mark.parametrize(
    ("version", "output", "qrels", "rel", "measures"),
    [
        ("v9.0.8", "out.test.aq", "qrels.test", 1, 41),
        ("v9.0.8", "out.test.aql", "qrels.rel_level", 2, 41),
        ("v9.0.8", "out.test.meas_params", "qrels.test", 1, 9),
        ("v10", "out.test.aq", "qrels.test", 1, 41),
        ("v10", "out.test.aql", "qrels.rel_level", 2, 41),
    ],
)
def test_every_value_agrees(
    real_data: Callable[[str], Path],
    version: str,
    output: str,
    qrels: str,
    rel: int,
    measures: int,
) -> None:
    folder = real_data(f"trec_eval/{version}")
    theirs = printed(folder / output)
    assert len(theirs) == measures, "the families are in the file"
    precision: Literal["double", "single"] = "double" if version == "v10" else "single"
    rounding = "nearest" if version == "v10" else "ninetenths"
    ours = {name: called(name, rel, rounding) for name in theirs}
    scores = rg.evaluate(
        rg.read_qrels(folder / qrels),
        rg.read_run(folder / "results.test"),
        list(ours.values()),
        precision=precision,
    )
    (topics,) = scores.per_query().values()
    (topics["all"],) = scores.mean().values()
    for name, values in theirs.items():
        for topic, value in values.items():
            assert topics[topic][str(ours[name])] == pytest.approx(value, abs=0.5001e-4), name
