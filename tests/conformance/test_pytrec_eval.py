"""Agreement with pytrec_eval, which wraps trec_eval 9.0.8, on random small collections.

Ties, missing topics, topics with nothing relevant and grades of -1 occur. Two differences are meant:
pytrec_eval leaves out topics that a run lacks (we score them; missing="skip" leaves them out), and its
ndcg_rel, Rndcg and 11-point values of a topic with nothing relevant are what C leaves in memory, so
those topics are compared on the other measures only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import assume, given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge.measures import gm

OURS = {
    "map": "AP",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "recip_rank": "RR",
    "infAP": "infAP",
    "ndcg": "nDCG",
    "binG": "binG",
    "G": "G",
    "11pt_avg": "ElevenPoint",
    "set_P": "SetP",
    "set_recall": "Recall",
    "set_map": "SetAP",
    "set_relative_P": "SetRelP",
    "set_F": "SetF",
    "utility": "Utility",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonRelRet",
    "ndcg_rel": "ndcg_rel",
    "Rndcg": "ndcg_levels",
    **{f"iprec_at_recall_{x / 10:.2f}": f"IPrec@{x / 10}" for x in range(11)},
    **{f"Rprec_mult_{x / 5:.2f}": f"Rprec(times={x / 5})" for x in range(1, 11)},
    **{f"P_{k}": f"P@{k}" for k in (5, 10)},
    **{f"recall_{k}": f"Recall@{k}" for k in (5, 10)},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (5, 10)},
    **{f"map_cut_{k}": f"AP@{k}" for k in (5, 10)},
    **{f"relative_P_{k}": f"RelP@{k}" for k in (5, 10)},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5)},
}
UNDEFINED_WITHOUT_RELEVANT = {"ndcg_rel", "Rndcg", "11pt_avg"}

ids = st.text("abcdefg", min_size=1, max_size=2)
grades = st.dictionaries(ids, st.integers(-1, 3), min_size=1, max_size=12)
retrieved = st.dictionaries(
    ids, st.sampled_from([0.0, 1.0, 1 + 1e-9, 2.5]), min_size=1, max_size=12
)


topics = st.sampled_from(["é", "q1", "q10", "q2"])
"""Few, so that most runs and judgments share some."""


@given(
    st.dictionaries(topics, grades, min_size=1),
    st.dictionaries(topics, retrieved, min_size=1),
)
@examples(200)
def test_every_measure_on_every_topic(qrels: Any, run: Any) -> None:
    judged = {q: docs for q, docs in qrels.items() if max(docs.values()) >= 0}
    assume(judged.keys() & run.keys())  # else the run fails
    theirs = pytrec_eval.RelevanceEvaluator(judged, set(pytrec_eval.supported_measures))
    ours = rg.evaluate(judged, rg.Run.from_dict(run), list(OURS.values()), precision="single")
    (by_query,) = ours.per_query().values()
    for query, values in theirs.evaluate(run).items():
        barren = max(judged[query].values()) < 1
        for name, measure in OURS.items():
            if not (barren and name in UNDEFINED_WITHOUT_RELEVANT):
                assert by_query[query][measure] == pytest.approx(values[name], abs=1e-9), name
    assert set(theirs.evaluate(run)) == set(judged) & set(run)


@given(
    st.dictionaries(topics, grades, min_size=1),
    st.dictionaries(topics, retrieved, min_size=1),
    st.integers(1, 3),
)
def test_relevance_from_a_higher_level_on(qrels: Any, run: Any, rel: int) -> None:
    judged = {q: docs for q, docs in qrels.items() if max(docs.values()) >= 0}
    assume(judged.keys() & run.keys())  # else the run fails
    measures = {"map": "AP", "bpref": "bpref", "P_5": "P@5", "Rprec": "Rprec", "infAP": "infAP"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, set(measures) - {"P_5"} | {"P"}, rel)
    wanted = [
        rg.parse(m)(rel=rel) if "@" not in m else rg.P(rel=rel) @ 5 for m in measures.values()
    ]  # type: ignore[operator]
    ours = rg.evaluate(judged, rg.Run.from_dict(run), wanted, precision="single")
    (by_query,) = ours.per_query().values()
    for query, values in theirs.evaluate(run).items():
        for name, measure in zip(measures, wanted, strict=True):
            assert by_query[query][measure] == pytest.approx(values[name], abs=1e-9), name


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_the_geometric_mean(scores: list[float]) -> None:
    theirs = pytrec_eval.compute_aggregated_measure(
        "gm_map", [float(np.log(max(score, 1e-5))) for score in scores]
    )
    assert gm(rg.AP).combine(np.array(scores)) == pytest.approx(theirs)
