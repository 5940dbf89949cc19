"""The data of a report: its numbers are those of the library, and what is not known is null."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge import Scores, compare, evaluate, settled
from rankgauge.comparison.assessment import assess
from rankgauge.comparison.correlation import kendall_tau_b
from rankgauge.core.policies import Ties
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import RankgaugeError
from rankgauge.query_sets import query_types
from rankgauge.report import content
from rankgauge.report.page_data import to_short_lists
from rankgauge.report.report import as_json
from report_pages import collection, data_of

MEASURES = ["nDCG@10", "AP", "P@5", "ERR@20"]
KEYS = [
    *("runs", "queries", "measures", "directions", "baseline", "values", "means", "low", "high"),
    *("level", "judged", "chance", "bounds", "settled", "pairs", "expected", "types", "queryTexts"),
    *("rankings", "agreement", "power", "swaps", "added", "how"),
]


@pytest.fixture(scope="module")
def made() -> tuple[Judgments, list[Run], Scores, dict[str, Any]]:
    judgments, runs = collection()
    scores = evaluate(judgments, runs, MEASURES)
    return judgments, runs, scores, data_of(scores, judgments, runs, baseline=runs[1].name)


def near(numbers: Any, values: Any) -> bool:
    """Whether numbers of a page are these values, rounded to six digits."""
    got = np.array(numbers, dtype=np.float64)
    expected = np.asarray(values, dtype=np.float64)
    return bool(np.allclose(got, expected, rtol=1e-5, atol=0, equal_nan=True))


def test_the_keys_are_in_the_order_that_the_script_documents(made: Any) -> None:
    assert list(made[3]) == KEYS
    assert json.loads(as_json(made[3])) == made[3]


def test_names_means_intervals_and_values_are_those_of_the_scores(made: Any) -> None:
    _, runs, scores, data = made
    assert data["runs"] == [run.name for run in runs]
    assert data["queries"] == list(scores.queries)
    assert data["measures"] == MEASURES
    assert data["directions"] == [1, 1, 1, 1]
    assert data["baseline"] == 1
    means, ends = scores.mean(), scores.interval()
    for m, measure in enumerate(MEASURES):
        assert near(data["values"][m], scores.values[:, :, m])
        for r, run in enumerate(scores.runs):
            assert data["means"][m][r] == means[run][measure]
            assert (data["low"][m][r], data["high"][m][r]) == ends[run][measure]


def test_pairs_are_those_of_compare(made: Any) -> None:
    _, _, scores, data = made
    whole = compare(scores)
    pairs = data["pairs"]
    assert (pairs["test"], pairs["correction"]) == (whole.test, "Holm")
    assert pairs["p"] == whole.p.tolist()
    assert pairs["corrected"] == whole.p_corrected.tolist()
    assert pairs["wins"] == whole.wins.tolist()
    assert pairs["losses"] == whole.losses.tolist()
    order = list(itertools.combinations(range(len(scores.runs)), 2))
    assert order == list(zip(whole.first.tolist(), whole.second.tolist(), strict=True))


def test_wins_count_queries_on_which_the_first_run_is_better(made: Any) -> None:
    _, _, scores, data = made
    for m in range(len(MEASURES)):
        for place, (i, j) in enumerate(itertools.combinations(range(len(scores.runs)), 2)):
            difference = scores.values[i, :, m] - scores.values[j, :, m]
            assert data["pairs"]["wins"][m][place] == (difference > 1e-12).sum()
            assert data["pairs"]["losses"][m][place] == (difference < -1e-12).sum()


def test_judged_shares_are_those_of_the_table(made: Any) -> None:
    _, _, scores, data = made
    table = scores.table()
    place = table.columns.index("judged@10")
    rows = {row[0]: row[place] for row in table.rows if row[1] == "all"}
    for run, share in zip(scores.runs, data["judged"], strict=True):
        assert share == pytest.approx(rows[run], abs=1e-12)


def test_chance_is_the_score_of_the_wrapped_measure(made: Any) -> None:
    judgments, runs, _, data = made
    chance = evaluate(judgments, runs, [f"expected({measure})" for measure in MEASURES])
    for r, row in enumerate(chance.mean().values()):
        for m, mean in enumerate(row.values()):
            assert data["chance"][m][r] == pytest.approx(mean, abs=1e-12)
    for m in range(len(MEASURES)):
        assert near(data["expected"][m], chance.values[0, :, m])


@pytest.mark.parametrize("ties", ["docno", "input", "random", "pessimistic"])
def test_bounds_are_the_scores_of_the_wrapped_measures(ties: Ties) -> None:
    judgments, runs = collection(6, 4)
    scores = evaluate(judgments, runs, MEASURES, ties=ties, seed=3)
    data = data_of(scores, judgments, runs)
    for side, name in enumerate(("lower", "upper")):
        wrapped = [f"{name}({measure})" for measure in MEASURES]
        means = evaluate(judgments, runs, wrapped, ties=ties, seed=3).mean()
        for r, run in enumerate(scores.runs):
            for m, text in enumerate(wrapped):
                assert data["bounds"][m][r][side] == pytest.approx(means[run][text], abs=1e-12)


def test_settled_neighbors_are_those_of_settled(made: Any) -> None:
    judgments, runs, _, data = made
    for m, measure in enumerate(MEASURES):
        if measure == "AP":
            assert data["settled"][m] is None
            assert any(
                sentence == "Settled orders by AP are omitted: it has no cutoff, so it would take "
                "long; try `rankgauge distance --settled -m AP`."
                for sentence in data["how"]["left"]
            )
        else:
            result = settled(judgments, runs, measure, pairs="neighbors")
            assert data["settled"][m] == result.is_settled.tolist()


def test_types_are_those_of_query_types(made: Any) -> None:
    judgments, _, scores, data = made
    for m, measure in enumerate(MEASURES):
        result = query_types(scores.select(measures=[measure]), judgments)
        known = dict(zip(result.queries, result.types, strict=True))
        for query, kind in zip(scores.queries, data["types"][m], strict=True):
            assert kind == known.get(query, "nothing relevant")


def test_agreement_power_and_swaps_are_those_of_the_library(made: Any) -> None:
    _, _, scores, data = made
    parts = assess(scores).parts["all"]
    for place, measure in enumerate(MEASURES):
        assessed = parts[measure]
        assert assessed.splits is not None
        power, swaps = data["power"][place], data["swaps"][place]
        assert (power["measure"], swaps["measure"]) == (measure, measure)
        assert power["share"] == assessed.power == power["significant"] / power["pairs"]
        assert swaps["rate"] == pytest.approx(assessed.splits.swap_rate, rel=1e-5)
        assert swaps["low"] <= swaps["rate"] <= swaps["high"]
        for other, one in enumerate(MEASURES):
            tau = kendall_tau_b(assessed.means, parts[one].means)
            assert data["agreement"]["tau"][place][other] == pytest.approx(tau, rel=1e-5)


def test_what_takes_long_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    judgments, runs = collection(4, 3)
    scores = evaluate(judgments, runs, ["Rprec", "AP", "P@5", "nDCG@10"])
    from rankgauge.report import agreement, rankings

    monkeypatch.setattr(rankings, "MOST_BOUNDED", 12)
    monkeypatch.setattr(agreement, "MOST_LISTS", 12)
    monkeypatch.setattr(agreement, "MOST_SPLITS", 4 * 3 * 120)
    data = data_of(scores, judgments, runs)
    assert [part is None for part in data["bounds"]] == [True, False, False, True]
    assert [part is None for part in data["settled"]] == [True, True, False, True]
    assert data["swaps"] is not None
    said = "\n".join(data["how"]["left"])
    for words in (
        "bounds of Rprec",
        "bounds of nDCG@10",
        "Settled orders by nDCG@10 are omitted",
        "based on 120 splits",
    ):
        assert words in said
    monkeypatch.setattr(agreement, "MOST_SPLITS", 4 * 3 * 99)
    data = data_of(scores, judgments, runs)
    assert data["swaps"] is None
    assert data["power"] is not None
    assert any("Swap rates are omitted" in sentence for sentence in data["how"]["left"])


# Rankings


def plain_order(run: Run, query: str, descending: bool) -> list[str]:
    """The documents of a query: by score, then by id; in plain Python."""
    place = run.queries.texts().index(query)
    rows = range(int(run.bounds[place]), int(run.bounds[place + 1]))
    texts = run.documents.texts()
    pairs = [(float(run.scores[row]), texts[row]) for row in rows]
    pairs.sort(key=lambda pair: pair[1], reverse=descending)
    pairs.sort(key=lambda pair: pair[0], reverse=True)
    return [document for _, document in pairs]


@given(
    st.dictionaries(
        st.sampled_from(["q1", "q2", "q3"]),
        st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1),
        min_size=1,
    ),
    st.sampled_from(["docno", "docno-ascending"]),
    st.integers(1, 4),
)
@examples(100)
def test_the_first_documents_are_in_the_order_of_the_evaluation(
    rows: dict[str, dict[str, int]], ties: Ties, depth: int
) -> None:
    judgments = Judgments.from_dict({"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"z": 1}})
    run = Run.from_dict({"other": {"a": 1}, **rows}, name="run")
    scores = evaluate(judgments, [run], "P@2", ties=ties)
    rankings = data_of(scores, judgments, [run], depth=depth)["rankings"]
    beyond = 0
    for place, query in enumerate(scores.queries):
        expected = plain_order(run, query, ties == "docno") if query in rows else []
        numbers = rankings["lists"][0][place]
        assert [rankings["documents"][number] for number in numbers] == expected[:depth]
        beyond += len(expected[depth:])
        grades = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"z": 1}}[query]
        for number in numbers:
            label = rankings["labels"][place].get(str(number))
            assert label == grades.get(rankings["documents"][number])
    assert rankings["left"] == {"documents": beyond, "texts": 0}


def test_single_precision_decides_the_order_where_it_decided_the_scores() -> None:
    judgments = Judgments.from_dict({"q": {"a": 1}})
    run = Run.from_dict({"q": {"a": 1.0 + 1e-12, "b": 1.0}}, name="run")
    for precision, expected in (("single", ["b", "a"]), ("double", ["a", "b"])):
        scores = evaluate(judgments, [run], "P@1", precision=precision)  # type: ignore[arg-type]
        rankings = data_of(scores, judgments, [run])["rankings"]
        shown = [rankings["documents"][number] for number in rankings["lists"][0][0]]
        assert shown == expected
        assert scores.mean()["run"]["P@1"] == float(expected[0] == "a")


def test_condensed_rankings_have_judged_documents_only() -> None:
    judgments = Judgments.from_dict({"q": {"a": 1, "b": 0}})
    run = Run.from_dict({"q": ["x", "b", "y", "a"]}, name="run")
    scores = evaluate(judgments, [run], "P@1", unjudged="condensed")
    data = data_of(scores, judgments, [run])
    documents = [data["rankings"]["documents"][n] for n in data["rankings"]["lists"][0][0]]
    assert documents == ["b", "a"]
    assert data["bounds"] is None


def test_rankings_are_shorter_if_the_page_would_be_too_large(monkeypatch: Any) -> None:
    judgments, runs = collection()
    scores = evaluate(judgments, runs, "P@5")
    from rankgauge.report import report

    monkeypatch.setattr(report, "MOST_BYTES", 12_000)
    data = data_of(scores, judgments, runs)
    assert 1 <= data["rankings"]["depth"] < 10
    assert any("to keep the page small" in each for each in data["how"]["left"])
    assert data_of(scores, judgments, runs, depth=30)["rankings"]["depth"] == 30
    monkeypatch.setattr(report, "MOST_BYTES", 100)
    data = data_of(scores, judgments, runs)
    assert data["rankings"] is None
    assert any("rankings are omitted" in each for each in data["how"]["left"])


# What is not known


def test_scores_alone_have_no_rankings() -> None:
    values = [[0.5, 0.7, 0.6], [0.3, 0.6, 0.9]]
    scores = Scores.from_matrix(values, runs=["a", "b"], measure="AP", queries=["1", "2", "3"])
    data = data_of(scores)
    for key in ("judged", "chance", "bounds", "expected", "types", "rankings", "agreement"):
        assert data[key] is None
    assert data["settled"] == [None]
    assert data["means"] == [[pytest.approx(0.6), pytest.approx(0.6)]]
    assert data["power"] is not None


def test_a_missing_score_is_null() -> None:
    scores = Scores.from_matrix(
        [[0.5, math.nan, 0.1], [0.3, 0.6, 0.2]], runs=["a", "b"], measure="AP"
    )
    data = data_of(scores)
    assert data["values"] == [[[0.5, None, 0.1], [0.3, 0.6, 0.2]]]
    assert data["means"][0][0] == pytest.approx(0.3)
    assert "NaN" not in as_json(data)


def test_one_run_has_no_pairs() -> None:
    judgments, runs = collection(3, 1)
    data = data_of(evaluate(judgments, runs, MEASURES), judgments, runs)
    assert data["pairs"]["p"] == [[], [], [], []]
    assert data["settled"] == [None] * 4
    assert (data["agreement"], data["power"], data["swaps"]) == (None, None, None)


def test_one_query_has_no_intervals_and_no_tests() -> None:
    judgments, runs = collection(1, 3)
    data = data_of(evaluate(judgments, runs, ["P@5", "AP"]), judgments, runs)
    assert data["low"] == [[None] * 3] * 2
    assert set(itertools.chain.from_iterable(data["pairs"]["p"])) <= {None, 1}
    as_json(data)


def test_an_aggregate_is_not_tested_and_the_other_measures_are() -> None:
    judgments, runs = collection(6, 3)
    scores = evaluate(judgments, runs, ["gm(AP)", "AP"])
    data = data_of(scores, judgments, runs)
    assert data["pairs"]["p"][0] == [None] * 3
    assert data["pairs"]["p"][1] == compare(scores.select(measures=["AP"])).p[0].tolist()
    assert any("gm(AP)" in sentence for sentence in data["how"]["left"])
    assert data["chance"][0] is None


def test_runs_that_lack_queries_follow_the_policy() -> None:
    judgments = Judgments.from_dict({"q1": {"a": 1}, "q2": {"b": 1}})
    runs = [
        Run.from_dict({"q1": ["a"]}, name="a"),
        Run.from_dict({"q1": ["x"], "q2": ["b"]}, name="b"),
    ]
    zero = data_of(evaluate(judgments, runs, "P@1"), judgments, runs)
    assert zero["values"] == [[[1, 0], [0, 1]]]
    skip = data_of(evaluate(judgments, runs, "P@1", missing="skip"), judgments, runs)
    assert skip["values"] == [[[1, None], [0, 1]]]
    assert skip["means"] == [[1.0, 0.5]]
    assert skip["settled"] == [None]
    assert skip["rankings"]["lists"][0] == [[0], []]


def test_other_judgments_or_runs_are_refused() -> None:
    judgments, runs = collection(3, 2)
    scores = evaluate(judgments, runs, "P@5")
    with pytest.raises(RankgaugeError, match="pass the judgments that the scores come from"):
        data_of(scores, Judgments.from_dict({"other": {"a": 1}}), runs)
    with pytest.raises(RankgaugeError, match="which is not among the given runs"):
        data_of(scores, judgments, runs[:1])


@given(st.floats(allow_nan=True, allow_infinity=True, width=64))
@examples(200)
def test_short_numbers_have_six_digits(value: float) -> None:
    (number,) = to_short_lists(np.array([value]))
    if not math.isfinite(value):
        assert number is None
    else:
        assert number == float(f"{value:.6g}")
        assert json.loads(json.dumps(number)) == number


def test_differences_are_over_the_queries_that_all_runs_have() -> None:
    """A run scored on easy queries alone has a higher mean, and loses where both were scored."""
    nan = float("nan")
    values = [[0.5, 0.1, 0.9, 0.8, 0.7, 0.6], [nan, nan, 0.85, 0.7, 0.66, 0.55]]
    scores = Scores.from_matrix(values, runs=["s1", "s2"], measure="AP")
    made, _ = content.compare_pairs(scores, 0.95, content.OmissionLog())
    means = content.mean_scores(scores)[0].tolist()
    assert means[0] < means[1]
    assert made["difference"][0] == pytest.approx([0.06])
    assert (made["wins"], made["ties"], made["losses"]) == ([[4]], [[0]], [[0]])
    alert = content.alerts(scores)[-1]
    assert "differences and tests use the queries that all runs have in common" in alert


def test_runs_that_lack_queries_are_named_at_the_top() -> None:
    qrels = {str(query): {"a": 1} for query in range(7)}
    whole = {query: {"a": 1.0} for query in qrels}
    runs = {"whole": whole, **{f"r{n}": dict(list(whole.items())[:n]) for n in range(1, 7)}}
    alerts = content.alerts(evaluate(qrels, runs, "AP"))
    assert alerts[0] == "r1 lacks 6 of 7 queries; they count as empty rankings."
    assert len(alerts) == content.MOST_NAMED + 1
    assert alerts[-1] == "Queries are also missing from 1 more run."
    assert content.alerts(evaluate(qrels, {"whole": whole}, "AP")) == []
