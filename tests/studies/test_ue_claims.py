"""The claims of the UE study on made-up scores, in which each is true or false by construction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.comparison.assessed import ALL
from rankgauge.comparison.assessment import AssessmentDesign
from rankgauge.comparison.design import pairs_of
from rankgauge.core.arrays import Floats
from rankgauge.query_sets.by_chance import ChanceComparison
from rankgauge_studies.ue import tables
from rankgauge_studies.ue.claims import (
    CLAIMS,
    REORDERED,
    Statement,
    statements,
)
from rankgauge_studies.ue.deciding import query_count_table, undecided_sentences
from rankgauge_studies.ue.experiment import (
    BROAD,
    EQUAL_SETS,
    FOCUSED,
    IDEAL,
    UNINFORMATIVE,
    CaseScores,
    Parts,
    QueryDraws,
)
from rankgauge_studies.ue.protocol import CASES, CUTOFFS
from rankgauge_studies.ue.tables import ResampledParts, bootstrap_interval
from rankgauge_studies.verdicts import IntervalEstimate, deciding_factor, judge_claims

METHODS = 8
QUERIES = 40
"""In each of the two sets."""
PAIRS = METHODS * (METHODS - 1) // 2
UP, DOWN, FLAT = "up", "down", "flat"
"""Method after method clearly better, clearly worse, or hardly different."""
LEVEL = 0.95
TEXTS = {key: claim.text for key, claim in CLAIMS.items()}
CASE_NAMES = tuple(case.name for case in CASES)
KEPT = {key for key, claim in CLAIMS.items() if claim.kept}


def made(order: str, seed: int) -> Floats:
    """Cutoff × method × query."""
    generator = np.random.default_rng(seed)
    noise = generator.standard_normal((METHODS, QUERIES))
    noise -= noise.mean(axis=1, keepdims=True)
    slope = {UP: 1.0, DOWN: -1.0, FLAT: 1e-3}[order]
    values = 10 + slope * np.arange(METHODS)[:, None] + 0.3 * noise
    return np.stack([values + 0.001 * k for k in range(len(CUTOFFS))])


def drawn(
    orders: dict[str, tuple[str, str]], case: int = 0, seed: int = 0, draws: int = 60
) -> ResampledParts:
    """What is found where each version orders the methods so on uninformative and on ideal queries."""
    none: Floats = np.empty(0)
    # Versions with the same order have the same scores.
    values = {
        version: np.concatenate([made(own, seed + place) for place, own in enumerate(both)], axis=2)
        for version, both in orders.items()
    }
    rows = np.arange(2 * QUERIES)
    sets = {ALL: rows, UNINFORMATIVE: rows[:QUERIES], IDEAL: rows[QUERIES:]}
    sets |= {EQUAL_SETS[name]: sets[name] for name in EQUAL_SETS}
    sets |= {BROAD: sets[UNINFORMATIVE], FOCUSED: sets[IDEAL]}
    above = ChanceComparison((), none, none, none, none, none, (), ())
    queries = tuple(map(str, rows.tolist()))
    scores = CaseScores(CASES[case], queries, values, above, sets)
    first, second, _ = pairs_of([str(number) for number in range(METHODS)], None)
    testing = AssessmentDesign(first, second)
    name = CASES[case].name
    return ResampledParts(
        scores.parts(testing),
        QueryDraws({name: scores}, testing, (seed, 1))((1, range(draws)))[name],
    )


def orders(case: int, original: tuple[str, str], v1: tuple[str, str], v2: tuple[str, str]):
    return {CASES[case].name: original, "V1": v1, "V2": v2}


SAME = (UP, UP)


def stated(
    ndcg: ResampledParts, precisions: ResampledParts, other: ResampledParts | None = None
) -> list[Statement]:
    found = {"a": {"nDCG": ndcg, "MAP": precisions}}
    if other is not None:
        found["b"] = {"nDCG": ndcg, "MAP": other}
    same = {version: np.full(5, 0.25) for version in ("nDCG", "MAP", "V1", "V2")}
    return statements(found, LEVEL, {name: {"nDCG": same, "MAP": same} for name in found})


def verdicts(made: list[Statement], claim: str, measure: str, version: str = "V2") -> set[str]:
    return {
        each.verdict
        for each in made
        if each.claim == claim and each.measure == measure and version in each.version
    }


@pytest.fixture(scope="module")
def nothing() -> ResampledParts:
    """All versions say the same."""
    return drawn(orders(0, SAME, SAME, SAME))


@pytest.fixture(scope="module")
def nothing_map() -> ResampledParts:
    return drawn(orders(1, SAME, SAME, SAME), case=1)


def test_where_nothing_differs_nothing_is_gained_and_all_is_kept(
    nothing: ResampledParts, nothing_map: ResampledParts
) -> None:
    found = stated(nothing, nothing_map, nothing_map)
    assert {each.claim for each in found} == set(CLAIMS)
    assert {each.amount.value for each in found} == {0.0}
    assert {each.verdict for each in found if each.claim in KEPT} == {"holds"}
    assert {each.verdict for each in found if each.claim not in KEPT} == {"does not hold"}
    kinds = dict(zip(CLAIMS, judge_claims(TEXTS, found, "right"), strict=True))
    assert {key for key, each in kinds.items() if each.kind == "yes"} == KEPT
    assert undecided_sentences({"right": found}) == ""


def test_swap_rates_that_normalization_raises_are_not_kept(nothing_map: ResampledParts) -> None:
    """nDCG ranks the methods alike on both sets, V2 the other way round on one of them."""
    found = stated(drawn(orders(0, SAME, SAME, (DOWN, UP))), nothing_map)
    for claim in ("nDCG swaps", "breadth"):
        assert verdicts(found, claim, "nDCG", "V2") == {"does not hold"}
        assert verdicts(found, claim, "nDCG", "V1") == {"holds"}


def test_differences_that_are_lost_on_ideal_queries(nothing_map: ResampledParts) -> None:
    found = stated(drawn(orders(0, SAME, (UP, FLAT), (UP, FLAT))), nothing_map)
    kept = {
        each.where: each.verdict
        for each in found
        if (each.claim, each.measure) == ("power kept", "nDCG")
    }
    assert kept == {ALL: "holds", IDEAL: "does not hold"}
    assert verdicts(found, "power", "nDCG") == {"does not hold"}  # none gained


def test_the_margin_is_what_may_be_lost(
    nothing: ResampledParts, nothing_map: ResampledParts
) -> None:
    """Between halves of the documents V2 swaps 4 points more, in each of five splits."""
    halves = {"a": {case: {name: np.full(5, 0.25) for name in (case, "V1")} for case in CASE_NAMES}}
    for case in CASE_NAMES:
        halves["a"][case]["V2"] = np.full(5, 0.29)
    found = {"a": {"nDCG": nothing, "MAP": nothing_map}}
    for margin, verdict in ((5, "holds"), (3, "does not hold")):
        made = statements(found, LEVEL, halves, margin)
        assert verdicts(made, "documents", "nDCG") == {verdict}
        assert verdicts(made, "documents", "MAP", "V1") == {"holds"}
    (lost, _) = (e for e in made if e.claim == "documents" and e.version == "V2")
    assert lost.amount.value == pytest.approx(-4)
    assert lost.percent == pytest.approx(-16)


def test_higher_pad_on_every_set(nothing_map: ResampledParts) -> None:
    """Steps of 1 on a level of 10 are 7.5 times as far apart as steps that hardly differ."""
    found = stated(drawn(orders(0, (FLAT, FLAT), SAME, SAME)), nothing_map)
    assert verdicts(found, "pad", "nDCG") == {"holds"}
    assert len([e for e in found if e.claim == "pad" and e.measure == "nDCG"]) == 2 * 3
    assert verdicts(found, "pad", "MAP") == {"does not hold"}


def test_v2_must_be_below_both_others_to_be_the_lowest(nothing: ResampledParts) -> None:
    lowest = drawn(orders(1, (DOWN, UP), (DOWN, UP), SAME), case=1)
    assert verdicts(stated(nothing, lowest), "lowest", "MAP") == {"holds"}
    beside_v1 = drawn(orders(1, (DOWN, UP), SAME, SAME), case=1)
    assert verdicts(stated(nothing, beside_v1), "lowest", "MAP") == {"does not hold"}


def test_rankings_turned_round_on_uninformative_queries(nothing_map: ResampledParts) -> None:
    found = stated(drawn(orders(0, SAME, SAME, (DOWN, UP))), nothing_map)
    assert verdicts(found, "rankings", "nDCG") == {"holds"}
    assert verdicts(found, "rankings", "nDCG", "V1") == {"does not hold"}
    assert verdicts(found, "rankings", "MAP") == {"does not hold"}
    turned = [each for each in found if each.claim == "rankings" and each.version == "V2"]
    assert turned[0].amount == (PAIRS, PAIRS, PAIRS)
    # More changes there than on ideal queries, but all tests are significant by both.
    effects = [each for each in found if each.claim == "effect" and each.version == "V2"]
    assert [each.verdict for each in effects[:2]] == ["holds", "does not hold"]


def test_rankings_turned_round_on_ideal_queries_alone(nothing_map: ResampledParts) -> None:
    found = stated(drawn(orders(0, SAME, SAME, (UP, DOWN))), nothing_map)
    assert verdicts(found, "rankings", "nDCG") == {"does not hold"}
    (effect, _) = (e for e in found if (e.claim, e.measure, e.version) == ("effect", "nDCG", "V2"))
    assert effect.amount.value == -PAIRS
    assert effect.verdict == "does not hold"


def test_differences_only_the_normalized_form_finds(nothing_map: ResampledParts) -> None:
    found = stated(drawn(orders(0, (FLAT, UP), SAME, SAME)), nothing_map)
    assert verdicts(found, "conflicts", "nDCG") == {"holds"}
    assert verdicts(found, "power", "nDCG") == {"holds"}
    assert verdicts(found, "power", "MAP") == {"does not hold"}
    (power,) = (each for each in found if each.claim == "power" and each.measure == "nDCG")
    assert power.amount.value > 50
    assert power.percent is not None


def test_differences_only_the_measure_itself_finds(nothing_map: ResampledParts) -> None:
    found = stated(drawn(orders(0, SAME, (FLAT, UP), (FLAT, UP))), nothing_map)
    assert verdicts(found, "conflicts", "nDCG") == {"holds"}  # in either direction
    assert verdicts(found, "power", "nDCG") == {"does not hold"}
    (power,) = (each for each in found if each.claim == "power" and each.measure == "nDCG")
    assert power.percent is not None
    assert power.percent < -50


def test_swaps_between_sets_that_normalization_takes_away(nothing: ResampledParts) -> None:
    lowered = drawn(orders(1, (DOWN, UP), (DOWN, UP), SAME), case=1)
    found = stated(nothing, lowered)
    assert verdicts(found, "swaps across queries", "MAP", "V2") == {"holds"}
    assert verdicts(found, "swaps across queries", "MAP", "V1") == {"does not hold"}
    raised = drawn(orders(1, SAME, SAME, (DOWN, UP)), case=1)
    assert verdicts(stated(nothing, raised), "swaps across queries", "MAP") == {"does not hold"}
    amounts = [e for e in stated(nothing, lowered) if e.claim == "swaps across queries"]
    assert amounts[1].amount.value == 100
    assert amounts[1].percent == 100


def test_swaps_across_data_that_normalization_takes_away(nothing: ResampledParts) -> None:
    one = drawn(orders(1, SAME, SAME, SAME), case=1)
    other = drawn(orders(1, (DOWN, DOWN), SAME, SAME), case=1, seed=9)
    found = stated(nothing, one, other)
    assert verdicts(found, "swaps across data", "MAP") == {"holds"}
    back = drawn(orders(1, SAME, SAME, (DOWN, DOWN)), case=1, seed=9)
    assert verdicts(stated(nothing, one, back), "swaps across data", "MAP") == {"does not hold"}


def test_a_near_tie_is_undecided() -> None:
    """Some draws agree and some do not."""
    draws = np.random.default_rng(4).integers(0, 3, 200).astype(float).tolist()
    amount = IntervalEstimate(1.0, *bootstrap_interval(1.0, draws, LEVEL))
    assert amount == (1, 0, 2)
    statement = Statement("rankings", "a", "nDCG", "V2", "", REORDERED, amount)
    assert statement.verdict == "undecided"
    (found,) = judge_claims(TEXTS, [statement], "right")
    assert (found.verdict, found.kind) == ("undecided", "open")
    assert found.sentences == (
        "a: pairs of methods that V2 ranks in the opposite order to nDCG: 1 (0 to 2): undecided.",
    )


def test_an_empty_set_is_said_to_be_one(
    nothing_map: ResampledParts, nothing: ResampledParts
) -> None:
    without: list[Parts] = [
        {name: part for name, part in parts.items() if name != UNINFORMATIVE}
        for parts in (nothing.parts, *nothing.draws)
    ]
    found = stated(ResampledParts(without[0], without[1:]), nothing_map)
    (first, *_) = (each for each in found if each.measure == "nDCG")
    assert np.isnan(first.amount.value)
    assert first.verdict == "undecided"
    assert "fewer than two queries" in first.sentence


# How many queries would decide


@pytest.mark.parametrize(("truth", "limit"), [(0.2, 0.0), (-0.3, 0.0), (0.1, -0.2), (0.05, 0.0)])
def test_the_factor_is_the_first_with_which_four_of_five_samples_decide(
    truth: float, limit: float
) -> None:
    """Means of normal numbers: whether so many of them decide is known."""
    generator = np.random.default_rng(3)
    errors = {factor: 1 / np.sqrt(30 * factor) for factor in (1, 2, 5, 13, 30)}
    larger = {factor: generator.normal(truth, error, 4000) for factor, error in errors.items()}
    verdict = "holds" if truth > limit else "does not hold"
    decided = {
        factor: np.mean(
            [
                IntervalEstimate(mean, mean - 1.96 * error, mean + 1.96 * error).above(limit)
                == verdict
                for mean in larger[factor]
            ]
        )
        for factor, error in errors.items()
    }
    enough = [factor for factor, share in decided.items() if share >= 0.8]
    assert deciding_factor(larger, limit, 0.95) == (enough[0] if enough else np.inf)
    assert min(abs(share - 0.8) for share in decided.values()) > 0.02  # no near-ties


def test_what_never_varies_is_decided_and_what_is_undefined_is_not() -> None:
    assert deciding_factor({3: [0.0, 0.0]}, 0.0, LEVEL) == 3  # it is not above 0
    assert deciding_factor({3: [np.nan, 1.0], 10: [1.0, 1.0]}, 0.0, LEVEL) == 10
    assert deciding_factor({}, 0.0, LEVEL) == np.inf


def test_more_queries_decide_what_these_leave_open() -> None:
    """Two methods that differ a little: the order is uncertain here, and sure with 30 times as many."""
    generator = np.random.default_rng(8)
    scores = generator.normal(0.0, 1.0, (2, 200))
    scores[1] += 0.25 - scores.mean(axis=1) @ (-1, 1)
    values = {"nDCG": scores[None], "V1": scores[None], "V2": -scores[None]}
    rows = np.arange(200)
    none: Floats = np.empty(0)
    above = ChanceComparison((), none, none, none, none, none, (), ())
    sets = dict.fromkeys((ALL, UNINFORMATIVE, IDEAL, BROAD, FOCUSED), rows)
    made = CaseScores(CASES[0], tuple(map(str, rows)), values, above, sets)
    testing = AssessmentDesign(*pairs_of(["a", "b"], None)[:2])
    draws = QueryDraws({"nDCG": made}, testing, (1, 2))
    larger = {factor: draws((factor, range(40)))["nDCG"] for factor in (3, 30)}
    assert {len(parts) for parts in larger.values()} == {40}
    assert {parts[ALL]["V2"].queries for parts in larger[30]} == {6000}
    gaps = {
        factor: [float(np.subtract(*parts[ALL]["nDCG"].means[::-1])) for parts in own]
        for factor, own in larger.items()
    }
    assert np.mean(gaps[30]) == pytest.approx(0.25, abs=0.03)
    assert np.std(gaps[30]) == pytest.approx(np.sqrt(2 / 6000), rel=0.3)
    assert np.std(gaps[3]) == pytest.approx(np.sqrt(2 / 600), rel=0.3)


def test_claims_that_need_more_are_named_and_the_others_have_their_numbers() -> None:
    def made(claim: str, factor: float, queries: int = 100) -> Statement:
        amount = IntervalEstimate(1.0, -1.0, 2.0)
        return Statement(
            claim,
            "a",
            "nDCG",
            "V2",
            "",
            REORDERED,
            amount,
            queries=queries,
            factor=factor,
            tried=30,
        )

    found = {
        "paper": [made("rankings", 3.0), made("rankings", np.inf), made("effect", np.inf)],
        "right": [made("rankings", 10.0), made("documents", np.inf, queries=0)],
    }
    text = undecided_sentences(found)
    assert (
        "other rankings, 3 times as many queries (about 300 of a) in the reading paper and 10 times as "
        "many queries (about 1,000 of a) in the reading right." in text
    )
    assert "over 30 times as many queries: more effect on uninformative queries." in text
    rows = {(row[0], row[1]): row[2:] for row in query_count_table(found).rows}
    assert rows["other rankings", "paper"] == (2, 2, 3, 300, "a")
    assert rows["more effect on uninformative queries", "paper"] == (
        *(1, 1, None),
        *("over 30 times as many queries", "a"),
    )
    assert rows["halves of the documents", "right"] == (1, 1, None, None, "")


# Intervals


@examples(100)
@given(
    st.lists(st.integers(-5, 5).map(float), min_size=3, max_size=60),
    st.integers(-6, 6).map(float),
)
def test_an_interval_includes_its_number_and_shrinks_with_the_level(
    draws: list[float], value: float
) -> None:
    wide, narrow = bootstrap_interval(value, draws, 0.99), bootstrap_interval(value, draws, 0.5)
    assert wide[0] <= narrow[0] <= value <= narrow[1] <= wide[1]
    assert set(wide) | set(narrow) <= {*draws, value}


def test_an_interval_without_bias_is_the_percentiles() -> None:
    draws = np.linspace(-1, 1, 2001).tolist()
    assert bootstrap_interval(0.0, draws, 0.9) == pytest.approx((-0.9, 0.9), abs=0.002)


def test_an_interval_reaches_down_where_most_draws_are_above_the_number() -> None:
    """Worked out: 20% of the draws are below 2000, z0 = −0.8416; the ends of the bias-corrected interval
    are at Φ(2 z0 ± 1.645) = .0004 and .4849, those of the plain one at .05 and .95."""
    draws = [float(number) for number in range(10_000)]
    low, high = bootstrap_interval(2000.0, draws, 0.9)
    assert low == pytest.approx(10_000 * 0.00043, abs=2)
    assert high == pytest.approx(10_000 * 0.95, abs=2)
    low, high = bootstrap_interval(8000.0, draws, 0.9)
    assert low == pytest.approx(10_000 * 0.05, abs=2)
    assert high == pytest.approx(10_000 * 0.99957, abs=3)


def test_a_statement_holds_as_often_as_the_level_says() -> None:
    """No difference in truth: what the queries show is chance, and hardly ever said to hold."""
    held = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        shown = generator.standard_normal(40)
        value = float(shown.mean())
        draws = [float(generator.choice(shown, 40).mean()) for _ in range(100)]
        held += bootstrap_interval(value, draws, 0.95)[0] > 0
    assert held <= 200 * 0.06


# Eight methods at five cutoffs: 28 pairs, 140 tests


@examples(20)
@given(st.lists(st.sampled_from([UP, DOWN, FLAT]), min_size=6, max_size=6), st.integers(0, 99))
def test_parities_of_the_tables(which: list[str], seed: int) -> None:
    case = CASES[0]
    found = drawn(
        orders(0, (which[0], which[1]), (which[2], which[3]), (which[4], which[5])),
        seed=seed,
        draws=1,
    )
    parts = {"a": found.parts}
    counts = {row[1]: row[2:] for row in tables.significant_table(case, parts).rows}
    assert tables.significant_table(case, parts).notes == ("of 140 tests",)
    for row in tables.conflict_table(case, parts).rows:
        version = str(row[1]).removeprefix("vs ")
        for conflicts, one, other in zip(row[2:], counts["nDCG"], counts[version], strict=True):
            assert (int(one) - int(other) - int(conflicts)) % 2 == 0
            assert abs(int(one) - int(other)) <= int(conflicts)
    taus = tables.tau_table(case, parts).rows
    own = tables.swap_table(
        case, "data", tables.within_collection_pairs({"a": found}, UNINFORMATIVE, IDEAL), LEVEL
    )
    for row in taus:
        for tau in row[2:]:
            assert (1 - float(tau)) / 2 * PAIRS == pytest.approx(
                round((1 - float(tau)) / 2 * PAIRS)
            )
    assert {row[-1] for row in own.rows} == {PAIRS}
