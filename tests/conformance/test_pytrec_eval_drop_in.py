"""`rankgauge.pytrec_eval` against pytrec_eval itself: the same names, and every value to the last bit.

pytrec_eval crashes where the first query has no documents, and where all grades of a query are below -1.
So a plain query stands before the random ones. Such grades are not tried, nor is `relstring` beside a
ranking without documents.
"""

from __future__ import annotations

import gzip
import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval as theirs
from hypothesis import given, strategies as st

import rankgauge as rg
import rankgauge.pytrec_eval as ours
from profiles import examples
from trec_eval_collections import all_collections

COLLECTIONS = all_collections()
ALL = sorted(theirs.supported_measures - {"relstring"})
WITH_PARAMETERS = [
    "P_1,2,3", "P.5", "ndcg_cut.1,2,4", "ndcg_cut_10", "map_cut_3", "recall_2", "success_2,3",
    "relative_P_3", "iprec_at_recall_0.33,0.5,1.0", "iprec_at_recall.2", "Rprec_mult_0.3,1.7",
    "set_F_0.5", "set_F.10,2", "11pt_avg.0.2,0.7", "utility.0,1,2,3", "map.5", "P_5x", "Rprec_mult_0",
]  # fmt: skip
NICKNAMES = ["official", "set"]
UNDEFINED = ("iprec_at_recall", "11pt_avg")
"""NaN for a ranking without documents. `runid` is whatever stands in memory."""

ids = st.text("abcdé", min_size=1, max_size=2)
rows = st.dictionaries(ids, st.integers(-2, 3) | st.just(12), min_size=1, max_size=12)
judgments = st.dictionaries(
    st.sampled_from("pqrs"), rows.filter(lambda row: max(row.values()) >= -1), min_size=1
)
scores = st.sampled_from([0.0, -0.0, 1.0, 1 + 1e-9, 2.5, 3, -1, 1e300, 1e301, -1e300, math.inf])
runs = st.dictionaries(
    st.sampled_from("pqrst"),
    st.dictionaries(ids, scores | st.floats(-1, 1), max_size=12),
    min_size=1,
)
measures = st.just(ALL) | st.lists(
    st.sampled_from([*ALL, *WITH_PARAMETERS, *NICKNAMES]), min_size=1, max_size=8
)


def bits(value: float) -> bytes:
    return np.float64(value).tobytes()


def assert_same(expected: Any, found: Any) -> None:
    assert list(found) == list(expected)
    for query, values in expected.items():
        assert list(found[query]) == list(values)
        for name, value in values.items():
            assert type(found[query][name]) is float
            if name == "runid" or (math.isnan(value) and name.startswith(UNDEFINED)):
                value = 0.0
            assert bits(found[query][name]) == bits(value), (query, name, value)


@given(judgments, runs, measures, st.integers(1, 4), st.booleans())
@examples(700)
def test_every_value_is_the_same(
    qrels: Any, run: Any, asked: Any, level: int, judged_only: bool
) -> None:
    qrels, run = {"first": {"d": 1, "e": 3}, **qrels}, {"first": {"d": 1.0, "x": 2.0}, **run}
    expected = theirs.RelevanceEvaluator(qrels, asked, level, judged_only).evaluate(run)
    evaluator = ours.RelevanceEvaluator(qrels, asked, level, judged_only)
    assert_same(expected, evaluator.evaluate(run))
    assert_same(expected, evaluator.evaluate(run))  # nothing is used up


@given(st.integers(0, 2**32), st.integers(1, 4))
@examples(20)
def test_long_rankings_are_the_same(seed: int, level: int) -> None:
    random = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(2000)]
    qrels, run = {}, {}
    for query in "pqr":
        judged = random.choice(names, 200, replace=False)
        qrels[query] = dict(zip(judged.tolist(), random.integers(-1, 5, 200).tolist(), strict=True))
        ranked = random.choice(names, 1200, replace=False).tolist()
        run[query] = dict(zip(ranked, random.normal(size=1200).round(2).tolist(), strict=True))
    asked = [*ALL, "relstring"]
    expected = theirs.RelevanceEvaluator(qrels, asked, level).evaluate(run)
    assert_same(expected, ours.RelevanceEvaluator(qrels, asked, level).evaluate(run))


# Files


def lines(path: Path) -> list[str]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return list(file)


def assert_files_are_the_same(
    qrels: list[str], run: list[str], level: int, judged_only: bool
) -> None:
    judged, retrieved = theirs.parse_qrel(qrels), theirs.parse_run(run)
    assert (ours.parse_qrel(qrels), ours.parse_run(run)) == (judged, retrieved)
    asked = [*ALL, "relstring", "ndcg_cut.1,3,5,10,100,1000", "P_7"]
    expected = theirs.RelevanceEvaluator(judged, asked, level, judged_only).evaluate(retrieved)
    evaluator = ours.RelevanceEvaluator(judged, asked, level, judged_only)
    assert_same(expected, evaluator.evaluate(retrieved))


@pytest.mark.parametrize(
    "family",
    ["graded", "ties-in-single-precision", "unicode-ids", "mixed-queries", "unsorted", "deep"],
)
def test_small_collections_are_the_same(family: str) -> None:
    for number in range(6):
        files = COLLECTIONS[f"{family}-{number}"].files()
        qrels, run = (files[name].decode().splitlines() for name in ("qrels", "run"))
        assert_files_are_the_same(qrels, run, 1 + number % 2, number > 3)


@pytest.mark.parametrize(
    ("qrels", "folder"),
    [
        ("trec-robust03/qrels.txt.gz", "trec-robust03/runs"),
        ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs"),
    ],
)
def test_real_runs_are_the_same(real_data: Any, qrels: str, folder: str) -> None:
    judged, files = lines(real_data(qrels)), sorted(real_data(folder).iterdir())
    for place, (level, judged_only) in enumerate([(1, False), (2, False), (1, True)]):
        run = lines(files[place * len(files) // 3])
        assert_files_are_the_same(judged, run, level, judged_only)


# Names and arguments

QRELS = {"q": {"d": 1, "e": 0}}
RUN = {"q": {"d": 1.0, "e": 2.0}}


def test_names_and_signatures_are_the_same() -> None:
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames
    assert set(theirs.__all__) <= set(ours.__all__)
    for of in ("RelevanceEvaluator", "RelevanceEvaluator.evaluate", "parse_run", "parse_qrel"):
        found, expected = ours, theirs
        for name in of.split("."):
            found, expected = getattr(found, name), getattr(expected, name)
        parameters = inspect.signature(expected).parameters  # type: ignore[arg-type]
        assert list(inspect.signature(found).parameters) == list(parameters)  # type: ignore[arg-type]
        for name, parameter in inspect.signature(found).parameters.items():  # type: ignore[arg-type]
            assert parameter.default == parameters[name].default


@pytest.mark.parametrize("nickname", sorted(theirs.supported_nicknames))
def test_nicknames_stand_for_the_same_measures(nickname: str) -> None:
    def names(module: Any) -> Any:
        try:
            return list(module.RelevanceEvaluator(QRELS, [nickname]).evaluate(RUN)["q"])
        except ValueError as error:
            return str(error).split("measure ")[0]

    assert names(ours) == names(theirs)


@pytest.mark.parametrize(
    "arguments",
    [
        ([], {"map"}), (None, {"map"}), ({"q": ["d"]}, {"map"}), ({1: {"d": 1}}, {"map"}),
        ({"q": {None: 1}}, {"map"}), ({"q": {"d": "1"}}, {"map"}), ({"q": {"d": 1.5}}, {"map"}),
        ({"q": 5}, {"map"}), (QRELS, "map"), (QRELS, None), (QRELS, [5]), (QRELS, {"nothing"}),
        (QRELS, {"ndcg_cut"}, 0), (QRELS, {"map"}, 1.5), (QRELS, {"map"}, "1"), (QRELS, {"map"}, None),
        (QRELS, {"map"}, 1, "yes"), (QRELS, {"map"}, 1, None), (QRELS, {"prefs"}), (QRELS,), (),
    ],
)  # fmt: skip
def test_bad_arguments_raise_the_same_exceptions(arguments: Any) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011
        theirs.RelevanceEvaluator(*arguments)
    with pytest.raises(expected.type):
        ours.RelevanceEvaluator(*arguments)


@pytest.mark.parametrize(
    "run",
    [["q"], "q", {"q": []}, {"q": "d"}, {"q": None}, {1: {}}, {"q": {None: 1.0}}, {"q": {"d": "x"}},
     {"q": {"d": None}}, {"q": {b"d": 1.0}}, 5],
)  # fmt: skip
def test_bad_runs_raise_the_same_exceptions(run: Any) -> None:
    with pytest.raises(TypeError):
        theirs.RelevanceEvaluator(QRELS, {"map"}).evaluate(run)
    with pytest.raises(TypeError):
        ours.RelevanceEvaluator(QRELS, {"map"}).evaluate(run)


@pytest.mark.parametrize("run", [{}, [], None, "", {"x": {"d": 1.0}}])
def test_what_has_no_judged_query_gives_nothing(run: Any) -> None:
    for module in (ours, theirs):
        assert module.RelevanceEvaluator(QRELS, {"map"}).evaluate(run) == {}
        assert module.RelevanceEvaluator({"q": {}}, {"map"}).evaluate(RUN) == {}
        assert module.RelevanceEvaluator({}, {"map"}).evaluate(RUN) == {}


def test_messages_say_what_is_wrong() -> None:
    for wrong, message in [
        ({"q": {"d": math.nan}}, "scores: query 'q', document 'd': score nan, expected a number"),
        ({"q": ["d"]}, "scores: query 'q' has a list, expected a dict"),
        ({7: {}}, "scores: the query is 7, expected text"),
        (["q"], "scores is a list, expected a dict of queries"),
    ]:
        with pytest.raises(TypeError) as caught:
            ours.RelevanceEvaluator(QRELS, {"map"}).evaluate(wrong)  # type: ignore[arg-type]
        assert str(caught.value) == message


@pytest.mark.parametrize("line", ["q Q0 d 1 1.0", "q Q0 d 1 x run", "", "q 0 d"])
def test_bad_lines_raise_the_same_exceptions(line: str) -> None:
    for name in ("parse_run", "parse_qrel"):
        with pytest.raises(ValueError):  # noqa: PT011
            getattr(theirs, name)([line])
        with pytest.raises(ValueError):  # noqa: PT011
            getattr(ours, name)([line])


def test_a_document_twice_in_a_file_is_refused() -> None:
    for module in (ours, theirs):
        with pytest.raises(AssertionError):
            module.parse_run(["q Q0 d 1 1.0 r"] * 2)
        with pytest.raises(AssertionError):
            module.parse_qrel(["q 0 d 1"] * 2)


@given(
    st.sampled_from(["map", "num_ret", "num_q", "gm_map", "gm_bpref", "P_5"]),
    st.lists(st.floats(-20, 20), min_size=1, max_size=40),
)
@examples(60)
def test_summaries_are_the_same(measure: str, values: list[float]) -> None:
    expected = theirs.compute_aggregated_measure(measure, values)
    assert bits(ours.compute_aggregated_measure(measure, values)) == bits(expected)


# What pytrec_eval cannot do


def test_grades_that_are_all_negative_are_nothing_relevant() -> None:
    evaluator = ours.RelevanceEvaluator({"q": {"d": -1}}, ["map", "ndcg", "num_rel", "num_ret"])
    expected = {"num_ret": 1.0, "num_rel": 0.0, "map": 0.0, "ndcg": 0.0}
    assert evaluator.evaluate({"q": {"d": 1.0}}) == {"q": expected}


def test_a_ranking_without_documents_has_numbers_for_values() -> None:
    asked = theirs.supported_measures
    values = ours.RelevanceEvaluator(QRELS, asked).evaluate({"q": {}})["q"]
    assert not any(math.isnan(value) for value in values.values())
    assert values["relstring"] == values["runid"] == values["11pt_avg"] == 0.0


@pytest.mark.parametrize("measure", ["P.0", "success_0", "P.5,5.0", "ndcg.5", "G_1", "Rndcg.2"])
def test_parameters_that_a_measure_cannot_have_are_refused(measure: str) -> None:
    with pytest.raises(ValueError, match=f"measure {measure.split('.')[0].split('_')[0]}"):
        ours.RelevanceEvaluator(QRELS, {measure})


@pytest.mark.filterwarnings("always")
def test_a_utility_without_four_weights_is_0_and_says_so() -> None:
    assert theirs.RelevanceEvaluator(QRELS, {"utility.1,-1,0,0"}).evaluate(RUN)["q"] == {
        "utility": 0.0
    }
    with pytest.warns(UserWarning, match="1 weights, expected 4"):
        found = ours.RelevanceEvaluator(QRELS, {"utility.1,-1,0,0"}).evaluate(RUN)
    assert found == {"q": {"utility": 0.0}}


def test_numbers_of_numpy_are_taken() -> None:
    evaluator = ours.RelevanceEvaluator({"q": {"d": np.int64(1), "e": np.int32(0)}}, {"map"})
    assert evaluator.evaluate({"q": {"d": np.float32(1), "e": np.float64(2)}}) == {
        "q": {"map": 0.5}
    }


def test_the_values_are_those_of_evaluate() -> None:
    evaluator = ours.RelevanceEvaluator(QRELS, {"map", "ndcg_cut_1"})
    scores = rg.evaluate(QRELS, RUN, ["AP", "nDCG@1"], precision="single")
    assert list(evaluator.evaluate(RUN)["q"].values()) == scores.values[0, 0].tolist()
