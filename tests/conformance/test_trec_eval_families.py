"""Agreement of our measures with the output of trec_eval, to four decimals.

The output is the recorded one for collections of our own, and the one that trec_eval ships for its test
data. Its files end with the options they were made with: aq is every measure, topic by topic; aql the
same from grade 2 on; meas_params has other cut-offs and weights. Versions 9 and 10 differ in how recall
levels are rounded, and in the precision of scores.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

import rankgauge as rg
from trec_eval_recording import ALWAYS, FILES, load

FAMILIES = re.compile(
    r"set_.*|relative_P_.*|infAP|11pt_avg|iprec_at_recall_.*|Rprec|Rprec_mult_.*|bpref|gm_bpref"
    r"|utility.*"
)


RECORDED_FAMILIES = (
    *("graded", "negative-grades", "sampled-pools", "nothing-relevant", "ties", "most-unjudged"),
    *("ties-in-single-precision", "more-relevant-than-retrieved", "around-cutoffs", "unicode-ids"),
)
UNCOMPARED = re.compile("runid|num_.*|relstring|rbp.*")
"""What is no measure here, or is summed over queries; and RBP, whose gains trec_eval normalizes."""


def printed(text: str, compared: Callable[[str], object]) -> dict[str, dict[str, float]]:
    """The values that trec_eval printed, by measure and topic, of the measures compared here."""
    values: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        name, topic, value = line.split("\t")
        if compared(name.strip()):
            values.setdefault(name.strip(), {})[topic] = float(value)
    return values


def called(name: str, rel: int, rounding: str) -> rg.Measure | rg.measures.Aggregate:
    """Our measure for trec_eval's name."""
    measure = rg.parse(name)
    if isinstance(measure, rg.measures.gm):
        return rg.measures.gm(measure.measure(rel=rel))
    assert isinstance(measure, rg.Measure)
    chosen = {"rel": rel, "rounding": rounding}
    return measure(**{name: chosen[name] for name in chosen if name in measure.parameters()})


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
    theirs = printed((folder / output).read_text(), FAMILIES.fullmatch)
    assert len(theirs) == measures, "the families are in the file"
    assert_agrees(
        theirs, folder / qrels, folder / "results.test", rel, "10" if version == "v10" else "9.0.7"
    )


def assert_agrees(
    theirs: dict[str, dict[str, float]], qrels: Path, run: Path, rel: int, version: str
) -> None:
    """Our measures have these values."""
    precision: Literal["double", "single"] = "single" if version == "9.0.7" else "double"
    rounding = "nearest" if version == "10" else "ninetenths"
    ours = {name: called(name, rel, rounding) for name in theirs}
    scores = rg.evaluate(
        rg.read_qrels(qrels), rg.read_run(run), list(ours.values()), precision=precision
    )
    (topics,) = scores.per_query().values()
    (topics["all"],) = scores.mean().values()
    for name, values in theirs.items():
        for topic, value in values.items():
            assert topics[topic][str(ours[name])] == pytest.approx(value, abs=0.5001e-4), name


@pytest.mark.parametrize("version", ["9.0.7", "9.0.8", "10"])
def test_every_recorded_value_agrees(version: str, tmp_path: Path) -> None:
    compared = 0
    for recorded in load():
        if recorded.family in RECORDED_FAMILIES:
            recorded.write(tmp_path)
            (out,) = (
                case.out
                for case in recorded.cases
                if case.command == f"{ALWAYS} {FILES}" and version in case.versions
            )
            theirs = printed(out, lambda name: not UNCOMPARED.fullmatch(name))
            assert_agrees(theirs, tmp_path / "qrels", tmp_path / "run", 1, version)
            compared += sum(map(len, theirs.values()))
    assert compared > 25_000
