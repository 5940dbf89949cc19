"""Equal scores: orders that make the best or the worst of them, random ones, and means over all."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import oracles
import rankgauge as rg
from laws.strategies import HIGHEST, MEASURES, WRAPPERS, labels, versions
from laws.test_measures import at_least, by_oracle, fits, same
from profiles import examples
from rankgauge import AP, ERR, RBP, RR, Judged, P, Q, Rprec, Success, bpref, nDCG
from rankgauge.cli import main
from rankgauge.core.notes import note_texts
from rankgauge.measures import (
    GAP,
    Binary,
    CorrectPairs,
    F,
    Measure,
    R,
    RelP,
    ScaledUtility,
    SearchLength,
    SetAP,
)
from rankgauge.measures.formulas import harmonic_between, mean_reciprocal_rank, miss_chance
from rankgauge.measures.orders import SAMPLES, arrangements, mean_over_orders
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

Groups = list[list[int]]

ALL = {**MEASURES, **WRAPPERS}
FORMULAS = (
    AP,
    AP @ 3,
    nDCG,
    nDCG @ 10,
    RBP,
    P @ 10,
    R @ 5,
    Rprec,
    RR,
    RR @ 10,
    Success @ 2,
    Success,
)
FORMULAS += (ERR, ERR @ 20, bpref, bpref @ 7, SearchLength(j=2), Judged @ 10)
FORMULAS += (F @ 9, RelP @ 9, SetAP, ScaledUtility, CorrectPairs, CorrectPairs @ 15, GAP, GAP @ 9)
FORMULAS += (Q, Q(beta=2, gain="exp2") @ 40, rg.measures.prefix_mean(nDCG @ 12))


def orders(groups: Groups) -> Iterator[list[int]]:
    """Every different order of the labels in which no group comes before an earlier one."""
    for choice in itertools.product(*(oracles.distinct_permutations(g) for g in groups)):
        yield [label for group in choice for label in group]


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


@cache
@st.composite
def tied(draw: st.DrawFn, most: int = 6) -> tuple[Groups, list[int], int]:
    """Groups of labels, all judged labels, and how many documents more the last group has."""
    flat = draw(st.lists(st.integers(-2, HIGHEST), min_size=1, max_size=most))
    cuts = sorted(draw(st.sets(st.integers(1, len(flat)), max_size=2)))
    groups = [flat[a:b] for a, b in itertools.pairwise([0, *cuts, len(flat)]) if b > a]
    assume(len(list(itertools.islice(orders(groups), 200))) < 200)
    others = draw(st.lists(st.integers(0, HIGHEST), max_size=2))
    return groups, [label for label in flat if label >= 0] + others, draw(st.integers(0, 2))


@pytest.mark.parametrize("name", sorted(ALL))
@given(data=st.data())
@examples(30)
def test_the_mean_over_ties_is_that_over_all_orders(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    groups, judged, unlisted = data.draw(tied(most=6 if name in MEASURES else 4))
    assume(fits(measure, judged))
    if getattr(measure, "null", None) == "run":
        unlisted = 0
    known = JudgedLabels.of(judged, max_grade=HIGHEST)
    found = measure.tied_each(TiedRankings.of(groups, judged=known, unlisted=unlisted))
    whole = [*groups[:-1], groups[-1] + [-1] * unlisted]
    assume(found.samples[0] == 0)
    assert same(found.values[0], mean([by_oracle(measure, o, judged) for o in orders(whole)]))
    assert found.errors[0] == 0


@pytest.mark.parametrize("name", sorted(MEASURES))
@given(data=st.data())
@examples(15)
def test_many_tied_lists_at_once_are_as_each_alone(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    cases = data.draw(st.lists(tied(most=5), min_size=2, max_size=4))
    judged = JudgedLabels.of(*(known for _, known, _ in cases), max_grade=HIGHEST)
    each = [
        TiedRankings.of(g, judged=JudgedLabels.of(known, max_grade=HIGHEST))
        for g, known, _ in cases
    ]
    several = TiedRankings.of(*(g for g, _, _ in cases), judged=judged)
    several = TiedRankings(
        Rankings(several.rankings.labels, several.rankings.offsets, np.arange(len(cases)), judged),
        several.bounds,
        several.offsets,
        several.unlisted,
        several.seeds,
    )
    together = measure.tied_each(several).values
    for one, value in zip(each, together, strict=True):
        assert same(measure.tied_each(one).values[0], value)


def has_a_formula(entry: Measure) -> bool:
    """Whether its mean over ties is had without enumeration."""
    return entry.expectation == "exact" and entry.knows("_tied")


@pytest.mark.parametrize("name", sorted(n for n, m in MEASURES.items() if has_a_formula(m)))
@given(data=st.data())
@examples(30)
def test_what_a_random_ranking_gets_is_the_mean_with_all_tied(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    queries = data.draw(st.lists(labels(12), min_size=1, max_size=3))
    judged = JudgedLabels.of(*queries, max_grade=HIGHEST)
    found = measure.tied_each(TiedRankings.all_tied(judged))
    assert all(map(same, found.values, measure.expected_each(judged)))
    assert not found.samples.any()


def prefers_relevance(entry: Measure) -> bool:
    """Whether the better of two documents, by label, is never better placed second."""
    return entry.direction != "none" and entry.swap_monotone


def pessimistic(group: list[int]) -> list[int]:
    return sorted(group, key=lambda label: -9 if label == 0 else label)


@pytest.mark.parametrize("name", sorted(n for n, m in MEASURES.items() if prefers_relevance(m)))
@given(data=st.data())
@examples(30)
def test_no_order_scores_below_the_pessimistic_or_above_the_optimistic(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    assume(prefers_relevance(measure))
    assume(not isinstance(getattr(measure, "gain", None), tuple))  # a map may prefer lower labels
    groups, judged, _ = data.draw(tied(most=5))
    if not measure.monotone:
        # Among several grades a measure may have a place of its own for unjudged documents, and
        # infAP has one for pooled ones, which count as half relevant where nothing is above them.
        lowest = -1 if name == "infAP" else -2
        kept = data.draw(st.sampled_from([range(HIGHEST + 1), range(lowest, 2)]))
        groups = [[label for label in group if label in kept] for group in groups]
        judged = [label for label in judged if label in kept]
    sign = 1 if measure.direction == "higher" else -1
    worst = [label for group in groups for label in pessimistic(group)]
    best = [label for group in groups for label in reversed(pessimistic(group))]
    low, high = (sign * measure.score(o, judged, max_grade=HIGHEST) for o in (worst, best))
    for order in orders(groups):
        score = sign * by_oracle(measure, order, judged)
        assert at_least(score, low)
        assert at_least(high, score)


@pytest.mark.parametrize("measure", FORMULAS, ids=str)
def test_these_have_formulas_that_agree_with_drawing_orders(measure: Measure) -> None:
    generator = np.random.default_rng(1)
    cases = [
        [generator.integers(-2, 4, size).tolist() for size in generator.integers(1, 30, 4)]
        for _ in range(5)
    ]
    lists = TiedRankings.of(*cases, unlisted=9)
    exact = measure.tied_each(lists)
    drawn = mean_over_orders(measure.score_each, lists, measure.depth)
    assert not exact.samples.any()
    assert (drawn.samples == SAMPLES).all()
    assert (abs(exact.values - drawn.values) <= 5 * drawn.errors + 1e-12).all()


def test_lists_without_ties_score_as_ever() -> None:
    labels = np.random.default_rng(2).integers(-2, 4, 500).tolist()
    lists = TiedRankings.of([[label] for label in labels])
    for measure in FORMULAS:
        assert measure.tied_each(lists).values[0] == measure.score_each(lists.rankings)[0]


# Parts of formulas


@given(st.integers(0, 300), st.integers(0, 300))
def test_harmonic_numbers(low: int, more: int) -> None:
    found = harmonic_between(np.array([low]), np.array([low + more]))[0]
    assert found == pytest.approx(
        math.fsum(1 / i for i in range(low + 1, low + more + 1)), rel=1e-14
    )


def reciprocal_by_definition(size: int, hits: int, above: int, depth: int) -> float:
    chance = [math.comb(size - t, hits - 1) / math.comb(size, hits) for t in range(1, size + 1)]
    return math.fsum(c / (above + t) for t, c in enumerate(chance, 1) if above + t <= depth)


@given(st.integers(1, 40), st.data())
def test_mean_reciprocal_rank_and_miss_chance(size: int, data: st.DataObject) -> None:
    hits, above = data.draw(st.integers(1, size)), data.draw(st.integers(0, 9))
    depth = data.draw(st.none() | st.integers(1, 50))
    found = mean_reciprocal_rank(np.array([size]), np.array([hits]), np.array([above]), depth)[0]
    assert same(found, reciprocal_by_definition(size, hits, above, depth or 99))
    drawn = data.draw(st.integers(0, size))
    missed = miss_chance(np.array([size]), np.array([hits]), np.array([drawn]))[0]
    assert same(missed, math.comb(size - hits, drawn) / math.comb(size, drawn))


@pytest.mark.parametrize(("hits", "above"), [(1, 0), (2, 0), (7, 300), (40, 900), (300, 1000)])
def test_mean_reciprocal_rank_in_a_large_collection(hits: int, above: int) -> None:
    size = 200_000
    found = mean_reciprocal_rank(np.array([size]), np.array([hits]), np.array([above]), None)[0]
    chance, total = hits / size, 0.0
    for t in range(1, size - hits + 2):
        total += chance / (above + t)
        chance *= (size - hits - t + 1) / max(1, size - t)
    assert found == pytest.approx(total, rel=1e-10)


def test_arrangements_are_all_different_orders() -> None:
    for counts in ([], [3], [1, 2], [2, 1, 1], [0, 2]):
        things = [kind for kind, count in enumerate(counts) for _ in range(count)]
        assert sorted(map(tuple, arrangements(counts).tolist())) == sorted(
            set(itertools.permutations(things))
        )


# Evaluating

QRELS = {"q1": {"a": 1, "b": 0, "c": 2, "p": -1}, "q2": {"d": 1, "e": 0}, "q3": {"f": 1}}
RUN = {"q1": {"x": 1.0, "a": 1.0, "b": 1.0, "c": 0.5, "p": 0.5}, "q2": {"e": 3.0, "d": 3.0}}


def score(measure: Measure, query: str = "q1", **policies: Any) -> float:
    policies = {"qrels": QRELS, "runs": RUN, **policies}
    return rg.evaluate(measures=measure, **policies).per_query()["run"][query][measure]


def test_pessimistic_and_optimistic_order_by_label() -> None:
    assert score(RR, ties="pessimistic") == 1 / 3
    assert score(RR, ties="optimistic") == 1.0
    assert score(RR(rel=2), ties="pessimistic") == 1 / 5
    assert score(RR(rel=2), ties="optimistic") == 1 / 4
    # Unjudged documents stand between labels 0 and 1.
    pairs = rg.parse("CorrectPairs@1")
    assert isinstance(pairs, Measure)
    assert score(pairs, ties="pessimistic") == 1 / 6
    assert score(Judged @ 2, ties="pessimistic") == 0.5


def test_expected_is_the_mean_over_the_orders_of_the_run() -> None:
    assert score(RR, ties="expected") == pytest.approx(mean([1, 1 / 2, 1 / 3]))
    assert score(P @ 2, ties="expected") == pytest.approx(1 / 3)
    assert score(SearchLength, "q2", ties="expected") == 0.5
    scores = rg.evaluate(QRELS, RUN, [RR, P @ 2], ties="expected")
    assert scores.notes == ()
    assert "|ties=expected|precision=" in scores.signatures()["RR"]
    assert scores.judged_at_10[0].tolist() == [3 / 5, 1.0, 0.0]


def test_condensed_lists_lose_unjudged_documents_before_ties_are_seen() -> None:
    assert score(RR, ties="expected", unjudged="condensed") == pytest.approx(mean([1, 1 / 2]))


def separate(run: dict[str, float]) -> Iterator[dict[str, float]]:
    """A query's documents in every order that its scores allow, without ties."""
    levels = sorted(set(run.values()), reverse=True)
    groups = [[d for d, s in run.items() if s == level] for level in levels]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        ranked = [document for group in choice for document in group]
        yield {document: -float(place) for place, document in enumerate(ranked)}


@pytest.mark.parametrize("text", ["alpha_nDCG@2", "ERR_IA@3", "strec@1", "NRBP"])
def test_documents_with_the_same_label_but_other_subtopics_are_not_alike(text: str) -> None:
    judgments = rg.Judgments.from_subtopics(
        {"q": {"1": {"a": 1, "b": 1}, "2": {"c": 1}, "3": {"c": 1, "e": 1}}}
    )
    run = {"a": 1.0, "b": 1.0, "c": 1.0, "x": 1.0, "e": 0.5, "y": 0.5}
    each = [rg.evaluate(judgments, {"q": o}, text).mean()["run"][text] for o in separate(run)]
    found = rg.evaluate(judgments, {"q": run}, text, ties="expected")
    assert found.notes == ()
    assert found.mean()["run"][text] == pytest.approx(mean(each), rel=1e-12)


def test_what_is_estimated_is_noted_with_its_standard_error() -> None:
    class Cubed(Binary):
        """A user's own, without a formula."""

        name = "Cubed"

        def _score(self, lists: Rankings) -> Any:
            return RR(rel=self.rel).score_each(lists) ** 3

    qrels = {f"q{i}": {f"d{j}": j % 4 for j in range(i + 9)} for i in range(3)}
    run = {query: dict.fromkeys(documents, 1.0) for query, documents in qrels.items()}
    scores = rg.evaluate(qrels, run, [Cubed(), AP], ties="expected", seed=5)
    (note,) = note_texts(scores.notes)
    assert note.startswith(
        "run: Cubed: mean over ties estimated from 1,000 random orders on 3 queries"
    )
    assert 0 < float(note.rsplit(" ", 1)[1]) < 0.02
    assert "|ties=expected|seed=5|precision=" in scores.signatures()["Cubed"]
    again = rg.evaluate(
        dict(reversed(qrels.items())),
        {query: dict(reversed(run[query].items())) for query in reversed(run)},
        [Cubed()],
        ties="expected",
        seed=5,
    )
    assert again.per_query()["run"]["q1"]["Cubed"] == scores.per_query()["run"]["q1"]["Cubed"]
    other = rg.evaluate(qrels, run, [Cubed()], ties="expected", seed=6)
    assert other.mean() != again.mean()


# Random orders


def random_case(topics: int = 4) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels = {f"q{i}": {f"d{j}": j % 3 for j in range(20)} for i in range(topics)}
    return qrels, {query: dict.fromkeys(documents, 1.0) for query, documents in qrels.items()}


def test_random_orders_depend_on_the_seed_and_the_ids_alone() -> None:
    qrels, run = random_case()
    first = rg.evaluate(qrels, run, AP, ties="random", seed=3).per_query()["run"]
    shuffled = {query: dict(reversed(run[query].items())) for query in reversed(run)}
    with ThreadPoolExecutor(1) as executor:
        again = rg.evaluate(qrels, shuffled, AP, ties="random", seed=3, executor=executor)
    assert again.per_query()["run"] == first
    alone = rg.evaluate({"q2": qrels["q2"]}, {"q2": run["q2"]}, AP, ties="random", seed=3)
    assert alone.per_query()["run"]["q2"] == first["q2"]
    assert rg.evaluate(qrels, run, AP, ties="random", seed=4).per_query()["run"] != first
    assert len({tuple(scores.values()) for scores in first.values()}) > 1
    signature = rg.evaluate(qrels, run, AP, ties="random", seed=3).signatures()["AP"]
    assert "|ties=random|seed=3|precision=" in signature


def test_random_orders_are_scores_between_the_extremes_and_average_to_the_expected() -> None:
    qrels, run = random_case(400)
    low, mid, high = (
        rg.evaluate(qrels, run, AP, ties=ties).mean()["run"][AP]
        for ties in ("pessimistic", "random", "optimistic")
    )
    expected = rg.evaluate(qrels, run, AP, ties="expected").mean()["run"][AP]
    assert low < mid < high
    assert mid == pytest.approx(expected, abs=0.02)


# Tails


@given(tied(most=4), st.integers(0, 2), st.integers(0, 2))
@examples(40)
def test_a_tail_is_what_was_not_retrieved_in_any_order(
    case: tuple[Groups, list[int], int], pooled: int, more: int
) -> None:
    groups, judged, _ = case
    flat = [(g, label) for g, group in enumerate(groups) for label in group]
    own = [label for _, label in flat if label >= 0]
    left = list(judged)
    for label in own:
        left.remove(label)
    qrels = {f"d{i}": label for i, (_, label) in enumerate(flat) if label != -1}
    qrels |= {f"u{i}": label for i, label in enumerate(left)}
    qrels |= {f"p{i}": -3 for i in range(pooled)}
    run = {f"d{i}": -float(g) for i, (g, _) in enumerate(flat)}
    size = len(flat) + len(left) + pooled + more
    wanted = [AP, AP @ 5, nDCG, nDCG @ 5, RR, RR @ 5, ERR, bpref, bpref @ 5, SearchLength, Rprec]
    wanted += [Judged, rg.parse("infAP"), P @ 6, Success @ 5]
    assume(size >= 2)
    found = rg.evaluate(
        {"first": {"x": HIGHEST}, "q": qrels, "other": {"x": HIGHEST}},
        {"first": {"y": 1.0}, "q": run},
        wanted,
        ties="expected",
        tail="tied",
        documents=size,
    )
    assume(not found.notes)
    last = [*left, *[-2] * pooled, *[-1] * more]
    every = list(orders([*groups, last]))
    for measure, value in found.per_query()["run"]["q"].items():
        plain = rg.parse(measure)
        assert isinstance(plain, Measure)
        assert same(value, mean([by_oracle(plain, order, judged) for order in every]))


def test_a_tail_in_a_large_collection_is_counted_not_laid_out() -> None:
    big = 10**8
    policies = {"ties": "expected", "tail": "tied", "documents": big}
    assert score(RR, "q3", **policies) == pytest.approx(
        (math.log(big) + np.euler_gamma) / big, rel=1e-9
    )
    assert score(AP, "q3", **policies) == pytest.approx(score(RR, "q3", **policies), rel=1e-9)
    assert score(SearchLength, "q3", **policies) == (big - 1) / 2
    assert score(P @ 10, "q3", **policies) == pytest.approx(1 / big)
    drawn = rg.evaluate(QRELS, RUN, "infAP@10", **policies)
    assert note_texts(drawn.notes)[0].startswith("run: infAP@10: mean over ties estimated")
    with pytest.raises(rg.Unsupported, match="too many to draw orders of"):
        rg.evaluate(QRELS, RUN, "infAP", **policies)
    signature = rg.evaluate(QRELS, RUN, RR, **policies).signatures()["RR"]
    assert "|ties=expected|tail=tied(100000000)|precision=" in signature


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ({"documents": 5}, "needs tail='tied'"),
        ({"tail": "tied", "documents": 99}, "needs ties='expected'"),
        ({"tail": "tied", "ties": "random", "documents": 99}, "needs ties='expected'"),
        ({"tail": "tied", "ties": "expected"}, "needs documents="),
        ({"tail": "tied", "ties": "expected", "documents": 4}, "query 'q1' has 5"),
        ({"tail": "tied", "ties": "expected", "documents": 0}, "a whole number from 1"),
        ({"tail": "long", "ties": "expected", "documents": 9}, "expected one of tied"),
        ({"ties": "random", "seed": -1}, "a whole number from 0"),
        ({"ties": "random", "seed": "x"}, "a whole number from 0"),
    ],
)
def test_what_makes_no_sense_is_refused(policies: Any, message: str) -> None:
    with pytest.raises(rg.RankgaugeError, match=message):
        rg.evaluate(QRELS, RUN, RR, **policies)


def test_seed_and_tail_are_kept_in_files(tmp_path: Path) -> None:
    scores = rg.evaluate(QRELS, RUN, RR, ties="expected", tail="tied", documents=9)
    scores.save(tmp_path / "scores.json")
    assert rg.Scores.load(tmp_path / "scores.json").policies == scores.policies
    assert "seed" not in rg.evaluate(QRELS, RUN, RR).signatures()["RR"]
    assert "tail" not in rg.evaluate(QRELS, RUN, RR).signatures()["RR"]


def test_a_thousand_tied_documents_a_topic_take_no_time() -> None:
    qrels = {f"q{i}": {f"d{j}": j % 4 for j in range(0, 1200, 5)} for i in range(50)}
    run = rg.Run.from_dict({query: {f"d{j}": 1.0 for j in range(1000)} for query in qrels})
    measures = [nDCG @ 10, AP, RR, ERR @ 20, P @ 10]
    start = time.perf_counter()
    scores = rg.evaluate(qrels, run, measures, ties="expected")
    assert time.perf_counter() - start < 10
    assert scores.notes == ()


# The command


def run_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> tuple[object, str, str]:
    monkeypatch.setattr("sys.argv", ["rankgauge", "evaluate", *map(str, arguments)])
    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "bm25.run"
    qrels.write_text("q 0 a 1\nq 0 b 0\nq 0 c 1\n")
    run.write_text("q Q0 b 1 2 t\nq Q0 a 2 2 t\nq Q0 x 3 2 t\n")
    return qrels, run


@pytest.mark.parametrize(
    ("options", "value", "part"),
    [
        (["--ties", "pessimistic"], 1 / 3, "|ties=pessimistic|precision="),
        (["--ties", "optimistic"], 1.0, "|ties=optimistic|precision="),
        (["--ties", "expected"], (1 + 1 / 2 + 1 / 3) / 3, "|ties=expected|precision="),
        (["--ties", "random", "--seed", "7"], None, "|ties=random|seed=7|precision="),
        (
            ["--ties", "expected", "--tail", "tied", "--documents", "9"],
            (1 + 1 / 2 + 1 / 3) / 3,
            "|ties=expected|tail=tied(9)|precision=",
        ),
    ],
)
def test_tie_options(
    options: list[str],
    value: float | None,
    part: str,
    files: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = (*files, "-m", "RR", "--signature", "--format", "csv", *options)
    code, out, _ = run_command(monkeypatch, capsys, *arguments)
    assert code == 0
    assert part in out
    found = float(out.splitlines()[1].split(",")[-1])
    assert value is None or found == pytest.approx(value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tail", "tied", "--documents", "9"], "needs ties='expected'"),
        (["--documents", "9"], "needs tail='tied'"),
        (["--seed", "-1"], "'--seed': -1 is not in the range"),
        (["--ties", "expected", "--tail", "tied", "--documents", "2"], "query 'q' has 4"),
    ],
)
def test_wrong_tie_options_are_explained(
    options: list[str],
    message: str,
    files: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = run_command(monkeypatch, capsys, *files, *options)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]
