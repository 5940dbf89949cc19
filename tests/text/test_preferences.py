"""Win, lose and tie: by construction, against a slow count, and on SummEval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.core.resampling import SamplingOptions, draw_bootstrap_counts
from rankgauge.errors import RankgaugeError
from rankgauge.scores.model import Scores
from rankgauge.text.data.files import read_texts
from rankgauge.text.data.texts import Texts
from rankgauge.text.grammar import parse_metric
from rankgauge.text.human.preferences import COUNTS, Preferences, win_lose_tie
from rankgauge.text.human.ratings import Ratings, read_ratings

METRIC, FORM = 'given("metric")', 'given("form")'


def scores_of(metric: Any, form: Any) -> Scores:
    """Scores of system × text by a metric and a form."""
    values = np.stack([np.asarray(each, dtype=np.float64) for each in (metric, form)], axis=2)
    runs = [f"s{number}" for number in range(len(values))]
    return Scores.from_matrix(values, runs=runs, measure=["metric", "form"])


def people(values: Any) -> Scores:
    """Ratings of system × text."""
    runs = [f"s{number}" for number in range(len(values))]
    return Scores.from_matrix(np.asarray(values, dtype=np.float64), runs=runs, measure="quality")


def counts(result: Preferences) -> dict[str, int]:
    (row,) = result.table().rows
    return dict(zip(COUNTS, row[3:], strict=False))  # type: ignore[arg-type]


def test_people_decide_where_metric_and_form_disagree() -> None:
    # Six texts: agreement, then win, lose, tie, unrated, and a tie of the form alone.
    metric = [[0.5] * 6, [0.4] * 6]
    form = [[0.3, 0.1, 0.1, 0.1, 0.1, 0.2], [0.2] * 6]
    quality = [[1, 1, 3, 2, np.nan, 1], [2, 2, 2, 2, 1, 2]]
    result = win_lose_tie(scores_of(metric, form), people(quality), METRIC, FORM)
    assert counts(result) == {
        "pairs": 6,
        "disagreements": 4,
        "win": 1,
        "lose": 1,
        "tie": 1,
        "unrated": 1,
        "metric_tied": 0,
        "normalized_tied": 1,
    }
    assert result.win_share.tolist() == [0.5]
    back = win_lose_tie(scores_of(metric, form), people(quality), FORM, METRIC)
    assert (back.metric_tied, back.normalized_tied) == (1, 0)


def test_scores_that_differ_by_rounding_are_tied() -> None:
    metric = [[0.1 + 0.2, 0.1], [0.3, 0.1 + 1e-9]]
    form = [[0.1, 0.2], [0.2, 0.1]]
    result = win_lose_tie(scores_of(metric, form), people([[1, 1], [2, 2]]), METRIC, FORM)
    assert (result.disagreements, result.metric_tied) == (1, 1)


def test_ratings_within_tie_are_the_same() -> None:
    scores = scores_of([[0.5], [0.4]], [[0.1], [0.2]])
    quality = people([[3.0], [3.4]])
    assert win_lose_tie(scores, quality, METRIC, FORM).win.tolist() == [1]
    assert win_lose_tie(scores, quality, METRIC, FORM, tie=0.4).tie.tolist() == [1]
    with pytest.raises(RankgaugeError, match="tie=-1, expected a number from 0"):
        win_lose_tie(scores, quality, METRIC, FORM, tie=-1)


def annotated(path: Path, rows: list[tuple[str, str, str, float]]) -> Ratings:
    body = "".join(f"{text},{system},{who},{value}\n" for text, system, who, value in rows)
    path.write_text("id,system,annotator,quality\n" + body)
    return read_ratings(path)


@pytest.mark.parametrize(
    ("votes", "outcome"),
    [
        ([(1, 2), (1, 2), (9, 1)], "win"),  # whose mean is a loss
        ([(2, 1), (2, 1), (1, 9)], "lose"),
        ([(1, 2), (2, 2), (2, 2)], "tie"),
        ([(1, 2), (2, 1), (2, 2)], "tie"),
        ([(1, 2), (2, 2)], "tie"),
        ([(1, 2), (1, 2), (2, 2)], "win"),
        ([(1, None), (None, 2)], "win"),  # nobody rated both: the means decide
        ([(1, None), (None, 2), (4, 3)], "lose"),
        ([(1, None)], "unrated"),
    ],
)
def test_the_majority_of_annotators_decides(
    votes: list[tuple[int | None, int | None]], outcome: str, tmp_path: Path
) -> None:
    scores = scores_of([[0.5], [0.4]], [[0.1], [0.2]])
    rows = [
        ("1", f"s{system}", f"who{number}", value)
        for number, pair in enumerate(votes)
        for system, value in enumerate(pair)
        if value is not None
    ]
    if outcome == "unrated":
        rows.append(("2", "s1", "who0", 1))  # a system that is rated on another text alone
    result = win_lose_tie(scores, annotated(tmp_path / "file", rows), METRIC, FORM)
    assert {name: counts(result)[name] for name in ("win", "lose", "tie", "unrated")} == {
        "win": 0, "lose": 0, "tie": 0, "unrated": 0, outcome: 1
    }  # fmt: skip


RATED = st.dictionaries(
    st.tuples(
        st.sampled_from("123"), st.sampled_from(["s0", "s1", "s2", "s3"]), st.sampled_from("abc")
    ),
    st.integers(1, 5),
    min_size=1,
    max_size=36,
)
SCORED = st.lists(st.integers(0, 4).map(float), min_size=12, max_size=12)


@examples(150)
@given(RATED, SCORED, SCORED, st.sampled_from([0.0, 1.0]))
def test_counts_equal_a_slow_count(
    tmp_path_factory: pytest.TempPathFactory,
    ratings: dict[tuple[str, str, str], int],
    metric: list[float],
    form: list[float],
    tie: float,
) -> None:
    path = tmp_path_factory.getbasetemp() / "annotated"
    x, z = (np.array(each).reshape(4, 3) for each in (metric, form))
    systems = {system for _, system, _ in ratings}
    texts = {text for text, _, _ in ratings}
    expected: Counter[str] = Counter(pairs=0)
    for t, text in enumerate("123"):
        for a, b in combinations(range(4), 2):
            if text not in texts or not {f"s{a}", f"s{b}"} <= systems:
                continue
            expected["pairs"] += 1
            one, other = np.sign(x[a, t] - x[b, t]), np.sign(z[a, t] - z[b, t])
            if one == 0 and other:
                expected["metric_tied"] += 1
            if one and other == 0:
                expected["normalized_tied"] += 1
            if one * other >= 0:
                continue
            expected["disagreements"] += 1
            preferred = slow_preference(ratings, text, f"s{a}", f"s{b}", tie)
            if preferred is None:
                expected["unrated"] += 1
            else:
                outcome = {1: "win", 0: "tie", -1: "lose"}[int(preferred * other)]
                expected[outcome] += 1
    rows = [(text, system, who, value) for (text, system, who), value in ratings.items()]
    result = win_lose_tie(scores_of(x, z), annotated(path, rows), METRIC, FORM, tie=tie)  # type: ignore[arg-type]
    assert counts(result) == {name: expected[name] for name in COUNTS}


def slow_preference(
    ratings: dict[tuple[str, str, str], int], text: str, a: str, b: str, tie: float
) -> int | None:
    """1 if people prefer a, −1 for b, 0 for neither, None if they did not rate both."""

    def sign(x: float, y: float) -> int:
        return 0 if abs(x - y) <= tie + 1e-9 else 1 if x > y else -1

    votes = Counter(
        sign(ratings[text, a, who], ratings[text, b, who])
        for who in "abc"
        if (text, a, who) in ratings and (text, b, who) in ratings
    )
    if votes:
        (best, most), *others = votes.most_common()
        return 0 if others and others[0][1] == most else best
    means = [
        [value for (t, s, _), value in ratings.items() if (t, s) == (text, system)]
        for system in (a, b)
    ]
    if not all(means):
        return None
    one, other = (sum(values) / len(values) for values in means)
    return sign(one, other)


def test_pairs_and_dimensions_are_chosen() -> None:
    random = np.random.default_rng(0)
    scores = scores_of(random.random((4, 20)), random.random((4, 20)))
    runs = scores.runs
    ratings = Scores.from_matrix(
        random.random((4, 20, 2)), runs=runs, measure=["coherence", "fluency"]
    )
    whole = win_lose_tie(scores, ratings, METRIC, FORM)
    assert whole.dimensions == ("coherence", "fluency")
    each = [
        win_lose_tie(scores, ratings, METRIC, FORM, dimension="fluency", pairs=[pair])
        for pair in combinations(reversed(runs), 2)
    ]
    assert sum(part.pairs for part in each) == whole.pairs == 120
    for name in ("win", "lose", "tie"):
        assert sum(getattr(part, name)[0] for part in each) == getattr(whole, name)[1]
    with pytest.raises(
        RankgaugeError, match="there are no ratings for 'beauty', expected one of: coh"
    ):
        win_lose_tie(scores, ratings, METRIC, FORM, dimension="beauty")
    for pairs, message in (
        ([("s0", "s9")], "the system 's9' has no scores or no ratings"),
        ([("s0", "s0")], "expected the names of two systems"),
        ([("s0", "s1"), ("s1", "s0")], "twice"),
        ([], "no pairs"),
    ):
        with pytest.raises(RankgaugeError, match=message):
            win_lose_tie(scores, ratings, METRIC, FORM, pairs=pairs)
    with pytest.raises(RankgaugeError, match="no scores for measure"):
        win_lose_tie(scores, ratings, METRIC, "rouge1")


def test_one_system_has_no_pairs() -> None:
    result = win_lose_tie(scores_of([[0.1]], [[0.2]]), people([[1]]), METRIC, FORM)
    assert (result.pairs, result.disagreements) == (0, 0)
    assert np.isnan(result.win_share).all()


@pytest.mark.parametrize(
    ("form", "reason"),
    [("v2(rouge1)", True), ("v2(rouge1,length=candidate)", False)],
)
def test_a_constant_chance_has_no_cases_and_a_note_says_so(form: str, reason: bool) -> None:
    values = np.stack([[[0.3, 0.4], [0.2, 0.5]], [[0.1, 0.2], [0.0, 0.3]]], axis=2)
    scores = Scores.from_matrix(
        values, runs=["a", "b"], measure=[parse_metric("rouge1"), parse_metric(form)]
    )
    ratings = Scores.from_matrix([[1, 2], [2, 2]], runs=["a", "b"], measure="quality")
    result = win_lose_tie(scores, ratings, "rouge1", form)
    assert result.disagreements == 0
    told = str(result.notes[-1])
    assert told.startswith("the two never rank a pair of systems in opposite orders on any text")
    assert ("all systems share one chance score per text" in told) == reason


def test_one_draw_for_each_summary_reorders_a_sixth_of_summeval(
    real_data: Callable[[str], Path],
) -> None:
    pytest.importorskip("rouge_score_rs")
    path = real_data("summeval/summeval.json.gz")
    systems = ["M8", "M9", "M10", "M11", "M12", "M13", "M14", "M15", "M17", "M20", "M22", "M23"]
    texts = read_texts(path)
    texts = Texts(
        texts.sources,
        [references[:1] for references in texts.references],
        {system: texts.outputs[system] for system in systems},
        texts.ids,
    )
    candidates = texts.candidates()
    names = ["rouge1", "v2(rouge1,draws=1)", "v2(rouge1,draws=1,per=candidate)"]
    metrics = [parse_metric(name) for name in names]
    values = np.stack(
        [metric.score_each(candidates).reshape(len(systems), -1) for metric in metrics], axis=2
    )
    scores = Scores.from_matrix(values, runs=systems, queries=texts.ids, measure=metrics)
    ratings = read_ratings(path, texts)
    assert win_lose_tie(scores, ratings, "rouge1", names[1]).disagreements == 0
    result = win_lose_tie(scores, ratings, "rouge1", names[2])
    assert result.pairs == 6_600
    assert abs(result.disagreements - 1_060) <= 100
    decided = result.win + result.lose + result.tie
    assert (decided == result.disagreements).all()
    assert not result.unrated.any()


def test_the_interval_of_the_share_of_wins_is_over_texts() -> None:
    """The slow way: texts drawn again, their disagreements counted one by one."""
    generator = np.random.default_rng(3)
    metric, form, quality = (generator.integers(0, 4, (3, 12)).astype(float) for _ in range(3))
    result = win_lose_tie(
        scores_of(metric, form), people(quality), METRIC, FORM, samples=400, seed=5
    )
    assert result.drawn.shape == (400, 2, 1)
    for sample, counts in enumerate(
        np.concatenate(list(draw_bootstrap_counts(12, SamplingOptions(400, 5))))[:20]
    ):
        win = lose = 0
        for text, times in enumerate(counts.astype(int).tolist()):
            for a, b in ((0, 1), (0, 2), (1, 2)):
                one, other, liked = (
                    np.sign(each[a, text] - each[b, text]) for each in (metric, form, quality)
                )
                if one * other < 0:
                    win += times * int(liked == other)
                    lose += times * int(liked == one)
        assert result.drawn[sample, :, 0].tolist() == [win, lose]
    low, high = result.interval
    shares = result.drawn[:, 0, 0] / result.drawn[:, :, 0].sum(axis=1)
    assert low[0] == pytest.approx(np.percentile(shares, 2.5))
    assert high[0] == pytest.approx(np.percentile(shares, 97.5))
    assert result.table().rows[0][-3:] == (result.win_share[0], low[0], high[0])
