"""Which documents to judge: those that bring two runs together most, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge.distance.advice import Advice, AdvisedDocument, advise

Lists = dict[str, tuple[list[str], list[str]]]
Known = dict[str, dict[str, int]]
MEASURES = ("nDCG@4", "AP@4", "AP(norm=min)@3", "P@3", "RBP", "ERR@4", "RR", "Recall@3", "Rprec")


@st.composite
def topics(draw: st.DrawFn) -> tuple[Lists, Known]:
    """Two lists for each of some queries, and what is known of their documents."""
    lists, known = {}, {}
    for topic in ("q1", "q2", "q3")[: draw(st.integers(1, 3))]:
        documents = [f"d{i}" for i in range(7)]
        both = [
            draw(st.permutations(documents))[: draw(st.integers(0, 5))] for _ in ("first", "second")
        ]
        lists[topic] = (both[0], both[1])
        known[topic] = draw(
            st.dictionaries(st.sampled_from([*documents, "other"]), st.integers(0, 2), max_size=4)
        )
        known[topic]["elsewhere"] = 2
    return lists, known


def runs_of(lists: Lists) -> list[dict[str, dict[str, float]]]:
    return [
        {
            topic: {document: -float(rank) for rank, document in enumerate(both[side])}
            for topic, both in lists.items()
            if both[side]
        }
        for side in (0, 1)
    ]


def distances_of(measure: str, lists: Lists, known: Known) -> rg.Distances:
    first, second = runs_of(lists)
    runs = [rg.Run.from_dict(r, name=n) for r, n in ((first, "x"), (second, "y"))]
    return rg.med_matrix(known, runs, measure, grades=(0, 2), offlist="none")


def med(both: tuple[list[str], list[str]], known: Mapping[str, int], measure: str) -> rg.Distance:
    found = rg.med(*both, measure, known, grades=(0, 2), offlist="none", max_grade=2)
    assert isinstance(found, rg.Distance)
    return found


def drops(
    measure: str, both: tuple[list[str], list[str]], known: Mapping[str, int]
) -> dict[str, float]:
    """For each document that is relevant in the witness, how much less of a difference there is
    without it: with all labels given, the distance is the difference."""
    distance = med(both, known, measure)
    labels = distance.witness().labels
    found = {}
    for document in (str(d) for d, label in labels.items() if label > 0):
        without = med(both, {**known, **labels, document: 0}, measure)
        left = without.value if without.ahead in (distance.ahead, "neither") else 0.0
        if without.residual:
            left -= without.residual
        found[document] = distance.value - distance.residual - max(left, 0.0)
    return found


@pytest.mark.parametrize("measure", [m for m in MEASURES if m != "RBP"])
@examples(20)
@given(case=topics())
def test_each_document_lowers_the_difference_of_its_witness_most(
    measure: str, case: tuple[Lists, Known]
) -> None:
    lists, known = case
    advice = advise(distances_of(measure, lists, known), 4)
    now = {topic: dict(labels) for topic, labels in known.items()}
    for advised in advice.documents:
        tried = {topic: drops(measure, both, now[topic]) for topic, both in lists.items()}
        most = max(drop for by_document in tried.values() for drop in by_document.values())
        assert tried[advised.topic][advised.document] == pytest.approx(most, abs=1e-9)
        now[advised.topic][advised.document] = 0
    if len(advice.documents) < 4:
        left = [drops(measure, both, now[topic]).values() for topic, both in lists.items()]
        assert all(drop <= 1e-9 for each in left for drop in each)


@pytest.mark.parametrize("measure", MEASURES)
@examples(20)
@given(case=topics())
def test_before_after_and_left_are_distances(measure: str, case: tuple[Lists, Known]) -> None:
    lists, known = case
    distances = distances_of(measure, lists, known)
    advice = advise(distances, 5)
    now = {topic: dict(labels) for topic, labels in known.items()}
    relevant = {topic: dict(labels) for topic, labels in known.items()}

    def mean(labels: Known) -> float:
        return float(np.mean([med(both, labels[t], measure).value for t, both in lists.items()]))

    assert advice.mean == pytest.approx(mean(now), abs=1e-9)
    for advised in advice.documents:
        topic, document = advised.topic, advised.document
        assert document not in now[topic]
        assert advised.before == pytest.approx(med(lists[topic], now[topic], measure).value)
        now[topic][document] = 0
        relevant[topic][document] = advised.label
        assert advised.label == 2
        assert advised.after == pytest.approx(med(lists[topic], now[topic], measure).value)
        assert advised.left == pytest.approx(mean(now), abs=1e-9)
        tops = [ranking[: rg.parse(measure).depth] for ranking in lists[topic]]
        ranks = [top.index(document) + 1 if document in top else None for top in tops]
        assert [advised.rank_a, advised.rank_b] == ranks
        assert advised.after <= advised.before + 1e-9
    assert advice.left == pytest.approx(mean(now), abs=1e-9)
    assert advice.left_relevant == pytest.approx(mean(relevant), abs=1e-9)


def test_documents_in_neither_run_may_be_relevant_too() -> None:
    # With c, b, e and a document in neither relevant, R = 4: 3/4 against 1/4. Without b, R = 3, and both
    # have c alone among their first three; without c or e there is a difference of 1/3.
    lists: Lists = {"q": (["c", "a"], ["c", "a", "b", "e"])}
    distances = rg.med(*runs_of(lists), "Rprec", {"q": {"a": 0}}, offlist="allowed")
    assert isinstance(distances, rg.Distances)
    assert distances.distance("q").witness() == ({"c": 1, "b": 1, "e": 1}, 1, 1)
    (first,) = advise(distances, 1).documents
    assert (first.document, first.before) == ("b", 0.5)


def test_the_first_of_equal_documents_is_taken_and_the_same_every_time() -> None:
    lists: Lists = {f"q{i}": (["a", "b"], ["c", "d"]) for i in (3, 1, 2)}
    distances = distances_of("P@2", lists, {topic: {"elsewhere": 1} for topic in lists})
    advice = advise(distances, 20)
    first = advice.documents[0]
    assert (first.topic, first.document, first.rank_a, first.rank_b) == ("q3", "a", 1, None)
    assert advice == advise(distances, 20)
    # All twelve documents matter, and with them judged nothing is left.
    assert len(advice.documents) == 12
    assert len({(d.topic, d.document) for d in advice.documents}) == 12
    assert (advice.mean, advice.left, advice.left_relevant) == (1.0, 0.0, 0.0)


def test_a_run_held_against_itself_and_judged_runs_need_no_judgment() -> None:
    same = rg.med({"q": {"a": 1.0}}, {"q": {"a": 1.0}}, "nDCG@10")
    assert advise(same, 5) == Advice(same.measure, ("a", "b"), (), 0.0, 0.0, 0.0, exhausted=True)
    judged = rg.med({"q": {"a": 1.0}}, {"q": {"b": 1.0}}, "P@1", {"q": {"a": 1, "b": 0}})
    assert advise(judged, 5).documents == ()
    assert advise(judged, 5).left == 1.0


def test_the_table_has_a_row_a_document_and_says_what_is_left() -> None:
    distances = rg.med({"q": {"a": 1.0}}, {"q": {"b": 1.0}}, "P@1")
    advice = advise(distances, 1)
    assert advice.documents == (AdvisedDocument("q", "a", 1, None, 1, 1.0, 1.0, 1.0),)
    table = advice.table()
    assert table.columns == ("topic", "document", "rank a", "rank b", "before", "after", "left")
    assert table.rows == (("q", "a", 1, None, 1.0, 1.0, 1.0),)
    assert table.notes == (
        "a is a, b is b",
        "the mean distance is 1.0000; after judging 1 document, it is 1.0000 if none are relevant "
        "and 1.0000 if all are",
    )
    assert advise(distances, 0).documents == ()


def test_what_makes_no_sense_is_refused() -> None:
    runs = {name: {"q": {name: 1.0}} for name in "abc"}
    with pytest.raises(rg.RankgaugeError, match="3 runs, expected two"):
        advise(rg.med_matrix(None, runs, "P@1"), 1)
    with pytest.raises(rg.RankgaugeError, match="number=-1, expected 0 or more"):
        advise(rg.med(runs["a"], runs["b"], "P@1"), -1)


@pytest.mark.parametrize("measure", ["AP@100", "nDCG@10"])
def test_fifty_documents_for_real_runs(measure: str, any_data: Callable[[str], Path]) -> None:
    runs = [any_data(f"trec-covid/round1/runs/{name}.gz") for name in ("run1", "CSIROmedNIR")]
    distances = rg.med(*runs, measure, any_data("qrels/qrels.covid-round1.txt.gz"))
    assert isinstance(distances, rg.Distances)
    advice = advise(distances, 50)
    left = [document.left for document in advice.documents]
    assert len(left) == 50
    assert all(after <= before for before, after in zip([advice.mean, *left], left, strict=False))
    assert advice.left < advice.mean - 0.01
    assert advice.left_relevant <= advice.mean + 1e-12


def test_it_is_said_that_there_is_nothing_to_judge() -> None:
    both = {"q1": (["d1", "d2"], ["d2", "d1"])}
    found = advise(distances_of("P@2", both, {"q1": {"d1": 1, "d2": 0}}), 5)
    assert [str(note) for note in found.notes] == [
        "a is x, b is y",
        "all documents that count are judged; nothing to judge",
    ]
