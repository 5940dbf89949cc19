"""Answers about queries are worked out once, whoever asks first, and are the same for all."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import numpy as np
import pytest

from rankgauge import DCG, RR, P, evaluate, nDCG
from rankgauge.core.arrays import Floats
from rankgauge.measures import RNDCG, Measure, ideal, v2
from rankgauge.measures.answers import QueryReferenceScores, RankingReferenceScores, cached_scores
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

JUDGED = ([3, 1, 0, 0], [2, 2, 1], [0, 0], [1, 0, 0, 0, 0])


def judged() -> JudgedLabels:
    """Labels of four queries about which nothing has been asked."""
    return JudgedLabels.of(*JUDGED)


class Slow(Measure):
    """A measure that counts how often it is asked, and answers when all threads have asked."""

    name = "Slow"
    asked: ClassVar[Counter[str]] = Counter()

    def _score(self, lists: Rankings) -> Floats:
        self.asked["score"] += 1
        return np.ones(len(lists))

    def ideal_each(self, judged: JudgedLabels) -> Floats:
        self.asked["ideal"] += 1
        threading.Event().wait(0.05)
        return np.arange(len(judged), dtype=np.float64)


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    Slow.asked.clear()


def test_threads_that_ask_at_once_get_one_answer() -> None:
    about, measure = QueryReferenceScores(judged()), Slow()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: about.ideal(measure), range(8)))
    assert Slow.asked["ideal"] == 1
    assert all(answer is found[0] for answer in found)


def test_parts_of_the_queries_share_the_answers_of_the_whole() -> None:
    whole, measure = judged(), Slow()
    part = whole.take(np.array([2, 0]))
    assert QueryReferenceScores(part.take(np.array([1]))).ideal(measure).tolist() == [0.0]
    assert QueryReferenceScores(part).ideal(measure).tolist() == [2.0, 0.0]
    assert QueryReferenceScores(whole).ideal(measure).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert Slow.asked["ideal"] == 1


def test_the_ideal_is_one_question_whatever_measure_is_made_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Measure] = []
    original = type(DCG).ideal_each

    def ideal_each(self: Any, of: JudgedLabels) -> Floats:
        asked.append(self)
        return original(self, of)

    monkeypatch.setattr(type(DCG), "ideal_each", ideal_each)
    whole = judged()
    lists = whole.best_first
    for measure in (nDCG @ 3, ideal(DCG @ 3), v2(DCG @ 3), RNDCG @ 3, v2(nDCG @ 3)):
        measure.score_each(lists)
    assert asked.count(DCG @ 3) == 1


def test_a_list_is_scored_once_for_all_measures_made_of_its_score() -> None:
    lists = judged().best_first
    assert cached_scores(lists, Slow()) is cached_scores(lists, Slow())
    assert Slow.asked["score"] == 1


@pytest.mark.parametrize("null", ["judged", "pool", "collection"])
def test_rankings_get_the_answers_of_their_queries(null: str) -> None:
    documents = 9 if null == "collection" else None
    whole = judged()
    query = np.array([3, 1, 1])
    lists = Rankings.of([1], [2, 0], [])
    lists = Rankings(lists.labels, lists.offsets, query, whole)
    about, orders = (
        QueryReferenceScores(whole, null, documents),
        RankingReferenceScores(lists, null, documents),
    )
    for measure in (P @ 2, RR, nDCG @ 3):
        assert orders.ideal(measure).tolist() == about.ideal(measure)[query].tolist()
        assert orders.worst(measure).tolist() == about.worst(measure)[query].tolist()
        assert orders.expected(measure).tolist() == about.expected(measure)[query].tolist()
        assert orders.variance(measure).tolist() == about.variance(measure)[query].tolist()
    assert orders.sizes().tolist() == about.sizes()[query].tolist()
    assert orders.relevant(1).tolist() == about.relevant(1)[query].tolist()


def test_answers_about_a_rankings_own_documents_are_kept_with_it() -> None:
    lists = judged().best_first
    orders = RankingReferenceScores(lists, "run")
    assert orders.variance(RR) is orders.variance(RR)
    assert (
        orders.variance(RR).tolist() == RR.tied_variance_each(TiedRankings.one_tie(lists)).tolist()
    )


def test_what_is_known_goes_along_to_another_process() -> None:
    whole = judged()
    known = QueryReferenceScores(whole).mean(RR)
    copy = pickle.loads(pickle.dumps(whole))
    assert len(copy.memo._known) == len(whole.memo._known)
    assert QueryReferenceScores(copy).mean(RR).values.tolist() == known.values.tolist()
    assert (
        QueryReferenceScores(copy).ideal(P @ 2).tolist()
        == QueryReferenceScores(whole).ideal(P @ 2).tolist()
    )


def test_the_order_of_questions_changes_no_answer() -> None:
    measures = [nDCG @ 3, v2(nDCG @ 3), RNDCG @ 3, ideal(DCG @ 3), v2(RR)]
    qrels = {
        f"q{i}": {f"d{j}": grade for j, grade in enumerate(labels)}
        for i, labels in enumerate(JUDGED)
    }
    run = {query: {f"d{j}": float(j) for j in range(4)} for query in qrels}
    forward = evaluate(qrels, run, measures)
    backward = evaluate(qrels, run, measures[::-1])
    assert np.array_equal(np.asarray(forward), np.asarray(backward)[:, :, ::-1])
