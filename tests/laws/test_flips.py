"""What a measure says of flips: the change equals the score after less the score before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from laws.strategies import HIGHEST, MEASURES, WRAPPERS, rankings, versions
from profiles import examples
from rankgauge import AP, MeasureError, nDCG, read_qrels
from rankgauge.errors import Unsupported
from rankgauge.rankings.alignment import judged_labels
from rankgauge.rankings.lists import JudgedLabels, Rankings

KNOWN = sorted(name for name, m in MEASURES.items() if m.answers()["flips"] == "exact")
NAMED = {
    "nDCG",
    "DCG",
    "CG",
    "AP",
    "SP",
    "SSP",
    "RR",
    "ERR",
    "RBP",
    "P",
    "Recall",
    "Success",
    "Rprec",
    "Q",
}
"""Measures that say by a formula what a flip changes."""

each = pytest.mark.parametrize("name", sorted(MEASURES | WRAPPERS))


def test_these_measures_have_a_formula():
    assert NAMED | {"Rprec", "bpref", "infAP"} <= set(KNOWN)


@each
@examples(20)
@given(st.data())
def test_a_flip_changes_the_score_from_what_it_was_to_what_it_is(name, data):
    measure = data.draw(versions(name))
    ranking, judged = data.draw(rankings(unjudged=3))
    try:
        before = measure.score(ranking, judged, max_grade=HIGHEST)
        changes = measure.flips(ranking, judged, max_grade=HIGHEST)
    except (MeasureError, Unsupported):
        return
    assert len(changes) == max(len(ranking) - 1, 0)
    for r, change in enumerate(changes):
        flipped = [*ranking[:r], ranking[r + 1], ranking[r], *ranking[r + 2 :]]
        after = measure.score(flipped, judged, max_grade=HIGHEST)
        assert change == pytest.approx(after - before, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", sorted(MEASURES))
@examples(20)
@given(st.data())
def test_labels_that_are_alike_can_stand_for_each_other(name, data):
    measure = data.draw(versions(name))
    ranking, judged = data.draw(rankings())
    known = JudgedLabels.of(judged, max_grade=HIGHEST)
    labels = np.array(ranking, dtype=np.int32)
    alike = measure._merged_labels(labels, HIGHEST)
    assert set(alike.tolist()) <= {*ranking, 0, measure.relevant_from}
    one, other = (
        measure.score_each(Rankings.of(some, judged=known))[0] for some in (labels, alike)
    )
    assert one == pytest.approx(other, abs=1e-15, nan_ok=True)


@pytest.mark.parametrize("name", sorted(MEASURES | WRAPPERS))
@examples(20)
@given(st.data())
def test_a_list_is_worth_the_same_without_documents_that_are_ignored(name, data):
    measure = data.draw(versions(name))
    if measure.depth is not None:
        return
    ranking, judged = data.draw(rankings(unjudged=3))
    known = JudgedLabels.of(judged, max_grade=HIGHEST)
    labels = np.array(ranking, dtype=np.int32)
    rest = labels[~measure._removable_labels(labels, HIGHEST)]
    try:
        one, other = (
            measure.score_each(Rankings.of(some, judged=known))[0] for some in (labels, rest)
        )
    except (MeasureError, Unsupported):
        return
    assert one == pytest.approx(other, abs=1e-15, nan_ok=True)


def test_flips_of_several_lists_come_list_by_list():
    lists = Rankings.of([1, 0], [], [0], [0, 1, 1])
    assert AP.flip_each(lists).tolist() == pytest.approx(
        [*AP.flips([1, 0]), *AP.flips([0, 1, 1])], abs=1e-15
    )


def test_a_measure_of_subtopics_says_that_it_cannot(tmp_path):
    qrels = tmp_path / "qrels"
    qrels.write_text("1 1 a 1\n1 2 a 0\n1 1 b 1\n1 2 b 1\n")
    judged = judged_labels(read_qrels(qrels, subtopics=True))
    measure = MEASURES["alpha_nDCG"]
    with pytest.raises(Unsupported, match="looks at documents, not at labels"):
        (measure @ 5).flip_each(judged.best_first)


def test_what_is_beyond_the_cutoff_adds_nothing():
    assert (nDCG @ 1).flips([0, 1, 2])[1] == 0
    assert math.isclose((nDCG @ 1).flips([0, 1])[0], 1.0)
