"""compare: which pairs, over which queries, with which words."""

from __future__ import annotations

import numpy as np
import pytest

import rankgauge as rg
from rankgauge import RankgaugeError, Scores, compare
from rankgauge.core.notes import note_texts
from rankgauge.core.tables import LazyRows

VALUES = np.array(
    [
        [0.50, 0.70, 0.60, 0.80, 0.55, 0.62],
        [0.30, 0.60, 0.50, 0.60, 0.41, 0.48],
        [0.31, 0.58, 0.55, 0.59, 0.40, 0.50],
    ]
)


@pytest.fixture
def scores() -> Scores:
    return Scores.from_matrix(VALUES, runs=["new", "old", "other"], measure="AP")


def test_columns_and_pairs(scores):
    frame = compare(scores).to_polars()
    assert frame.columns == [
        "measure", "a", "b", "difference", "low", "high", "effect", "p", "p_corrected",
        "wins", "ties", "losses",
    ]  # fmt: skip
    assert frame.select("a", "b").rows() == [("new", "old"), ("new", "other"), ("old", "other")]
    assert frame["difference"][0] == pytest.approx(VALUES[0].mean() - VALUES[1].mean())
    assert frame.select("wins", "ties", "losses").row(2) == (3, 0, 3)


def test_against_baselines(scores):
    found = compare(scores, baseline="old")
    assert found.to_polars().select("a", "b").rows() == [("new", "old"), ("other", "old")]
    found = compare(scores, baseline=["old", "other"])
    assert found.to_polars().select("a", "b").rows() == [("new", "old"), ("new", "other")]


def test_the_correction_is_over_the_comparisons_made(scores):
    p = compare(scores).p[0]
    np.testing.assert_allclose(
        compare(scores, correction="bonferroni").p_corrected[0], 3 * p.clip(0, 1 / 3)
    )
    np.testing.assert_array_equal(compare(scores, correction=None).p_corrected[0], p)
    alone = compare(scores, baseline=["old", "other"], correction="bonferroni")
    np.testing.assert_allclose(alone.p_corrected[0], 2 * p[:2])


@pytest.mark.parametrize("test", ["tukey", "tukey-randomized"])
def test_tukey_is_for_all_pairs_already_and_not_corrected_twice(scores, test):
    found = compare(scores, test=test)
    np.testing.assert_array_equal(found.p, found.p_corrected)
    assert found.correction is None
    against = compare(scores, test=test, baseline="old")
    assert against.p[0, 0] == found.p[0, 0]
    assert any("all pairs of the 3 runs" in note for note in note_texts(against.notes))


def test_fewer_than_two_runs(scores):
    with pytest.raises(RankgaugeError, match="1 run, expected at least two"):
        compare(Scores.from_matrix(VALUES[:1], runs=["only"], measure="AP"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"test": "t"}, "test='t', expected one of paired-t, welch"),
        ({"correction": "none"}, "correction='none', expected None or one of holm"),
        ({"level": 95}, "level=95, expected a number strictly between 0 and 1"),
        ({"missing": "drop"}, "missing='drop', expected one of zero, skip"),
        ({"samples": 0}, "samples=0, expected a whole number from 1"),
        ({"samples": 10**8}, "samples=100000000, expected a whole number from 1 to 1,000,000"),
        ({"seed": -1}, "seed=-1, expected a whole number from 0"),
        ({"level": "0.95"}, "level='0.95', expected a number"),
        ({"baseline": []}, "the list of baselines is empty"),
        ({"baseline": "nwe"}, "no scores for run 'nwe'; did you mean 'new'"),
        ({"baseline": ["new", "old", "other"]}, "all runs are baselines"),
    ],
)
def test_what_cannot_be_asked(scores, wrong, message):
    with pytest.raises(RankgaugeError, match=message):
        compare(scores, **wrong)


def test_topics_that_a_run_lacks_are_left_out_for_all_or_count_as_zero():
    values = VALUES.copy()
    values[0, 2] = np.nan
    scores = Scores.from_matrix(values, runs=["new", "old", "other"], measure="AP")
    found = compare(scores)
    assert found.difference[0, 2] == pytest.approx(np.delete(VALUES[1] - VALUES[2], 2).mean())
    assert note_texts(found.notes)[-1] == (
        "AP: 5 queries; 1 query excluded for all runs because some run lacks them"
    )
    zero = compare(scores, missing="zero")
    assert zero.difference[0, 0] == pytest.approx(
        np.nan_to_num(values[0]).mean() - VALUES[1].mean()
    )
    assert note_texts(zero.notes)[-1] == "AP: 6 queries; 1 query that some run lacks, scored 0"


def test_a_missing_topic_gets_the_score_of_an_empty_ranking_also_where_that_is_not_0():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}, "3": {"b": 1}}
    runs = {
        "all": {"1": {"a": 2.0}, "2": {"b": 2.0, "a": 1.0}, "3": {"a": 1.0}},
        "some": {"1": {"b": 2.0, "a": 1.0}, "3": {"b": 1.0}},
    }
    scores = rg.evaluate(qrels, runs, ["SearchLength", "AP"])
    empty = scores.values[1, 1, 0]
    found = compare(scores)
    expected = (scores.values[0, :, 0] - scores.values[1, :, 0]).mean()
    assert found.difference[0, 0] == pytest.approx(expected)
    assert empty == scores.values[1, 1, 0] != 0
    kept = compare(scores, missing="skip")
    assert kept.wins[1, 0] + kept.ties[1, 0] + kept.losses[1, 0] == 2


def test_no_topic_in_common():
    nothing = np.array([[0.1, np.nan], [np.nan, 0.2]])
    scores = Scores.from_matrix(nothing, runs=["a", "b"], measure="AP")
    with pytest.raises(RankgaugeError, match="AP: no query has a score for every run"):
        compare(scores)


def test_a_win_is_a_better_score_also_where_lower_is_better():
    scores = Scores.from_matrix(VALUES[:2], runs=["new", "old"], measure="SearchLength")
    found = compare(scores)
    assert found.difference[0, 0] > 0
    assert (found.wins[0, 0], found.losses[0, 0]) == (0, 6)
    assert found.better.tolist() == [[-1]]


def test_rounding_makes_neither_wins_nor_losses():
    values = [[0.1 + 0.2, 0.5, 0.7], [0.3, 0.5, 0.7]]
    found = compare(Scores.from_matrix(values, runs=["a", "b"], measure="AP"))
    assert found.ties.tolist() == [[3]]
    assert found.p.tolist() == [[1.0]]


def test_an_aggregate_that_is_not_a_mean_has_no_test():
    scores = Scores.from_matrix(VALUES, runs=["a", "b", "c"], measure="gm(AP)")
    with pytest.raises(RankgaugeError, match=r"gm\(AP\) is not an arithmetic mean.*such as AP"):
        compare(scores)
    mean = Scores.from_matrix(VALUES, runs=["a", "b", "c"], measure="mean(AP)")
    plain = Scores.from_matrix(VALUES, runs=["a", "b", "c"], measure="AP")
    np.testing.assert_array_equal(compare(mean).p, compare(plain).p)


def test_marks_as_papers_have_them(scores):
    table = compare(scores).marked_table()
    md = table.render("md")
    assert "| a | new | 0.6283<sup>bc</sup> |" in md
    assert "| b | old | 0.4817 |" in md
    assert r"0.6283$^{\text{bc}}$" in table.render("latex")
    against = compare(scores, baseline="new").marked_table()
    assert "| a | new | 0.6283 |" in against.render("md")
    assert "old | 0.4817<sub>a</sub> |" in against.render("md")
    assert "0.4817 ▼a" in against.render("table")
    assert [note[:2] for note in against.notes[:2]] == ["▼:", "p:"]
    assert "Subscript: significantly worse than these runs" in against.render("md")


def test_the_legend_of_marks_names_the_correction_and_is_printed_in_latex(scores):
    first, *lines = compare(scores).marked_table().render("latex").splitlines()
    assert first == r"\begin{tabular}{llr}"
    at = lines.index(r"\bottomrule")
    assert lines[at + 1 : at + 4] == [
        r"\multicolumn{3}{l}{\footnotesize Superscript: significantly better than these runs, "
        r"p $\leq$ 0.05} \\",
        r"\multicolumn{3}{l}{\footnotesize   after Holm's correction over 3 comparisons} \\",
        r"\end{tabular}",
    ]
    assert not any("▲" in line or "▼" in line for line in lines)
    plain = compare(scores, correction=None).marked_table()
    assert plain.notes[0] == "▲: significantly better than these runs, p ≤ 0.05"
    equal = Scores.from_matrix([[0.1, 0.2], [0.2, 0.1]], runs=["a", "b"], measure="AP")
    assert compare(equal).marked_table().notes[0].startswith("no difference is significant")


def test_one_comparison_needs_no_correction():
    two = Scores.from_matrix(VALUES[:2], runs=["a", "b"], measure="AP")
    table = compare(two).table()
    assert "correct" not in table.render("table")
    assert "p_corrected" in table.render("csv")
    notes = note_texts(compare(two).notes)
    assert "low, high: 95% interval of the difference (paired t)" in notes


def test_the_note_on_the_correction_counts_the_comparisons():
    several = Scores.from_matrix(VALUES, runs=["a", "b", "c"], measure="AP")
    text = "p_corrected: Holm's correction over 3 comparisons"
    assert text in note_texts(compare(several).notes)


def test_marks_of_more_runs_than_letters():
    values = np.random.default_rng(0).random((30, 20)) + np.arange(30)[:, None]
    scores = Scores.from_matrix(values, runs=[f"run{r}" for r in range(30)], measure="AP")
    rows = compare(scores).marked_table().rows
    assert rows[3][0] == "4"
    assert rows[3][2].above == "1,2,3"


def test_small_p_values_are_never_shown_as_0():
    values = np.array([np.linspace(0.5, 0.6, 50), np.linspace(0.1, 0.25, 50)])
    found = compare(Scores.from_matrix(values, runs=["a", "b"], measure="AP"))
    assert 0 < found.p[0, 0] < 1e-9
    assert "<0.0001" in found.table().render("table")
    assert str(found.p[0, 0]) in found.table().render("csv")


def test_progress_is_told(scores):
    steps = []
    compare(scores, test="randomization", samples=2_500, progress=steps.append)
    assert steps  # few queries: all signs, in one block
    big = Scores.from_matrix(
        np.random.default_rng(0).random((3, 40)), runs=list("abc"), measure="AP"
    )
    steps.clear()
    compare(big, test="randomization", samples=2_500, progress=steps.append)
    assert steps == ["0", "1", "2"]


def test_all_pairs_of_trec_8(real_data):
    scores = Scores.from_csv(real_data("trec-topic-scores/adhoc8_ap.csv"), measure="AP")
    found = compare(scores, test="randomization", samples=2_000)
    t = compare(scores)
    assert found.p.shape == (1, 8256)
    # The two agree as Smucker, Allan and Carterette (2007) found them to.
    assert np.abs(found.p - t.p).mean() < 0.01
    tukey = compare(scores, test="tukey")
    uncorrected = np.count_nonzero(t.p <= 0.05)
    assert 0 < t.significant.sum() < uncorrected
    assert 0 < tukey.significant.sum() < uncorrected


def test_by_default_enough_is_drawn_for_the_correction():
    random = np.random.default_rng(2)
    values = random.random((1, 20)) + 0.05 * random.random((40, 20)) + np.arange(40)[:, None] / 50
    scores = Scores.from_matrix(values, runs=[f"run{r}" for r in range(40)], measure="AP")
    found = compare(scores, test="randomization")
    assert any("31,200 samples, seed 0" in note for note in note_texts(found.notes))
    assert found.significant.any()
    few = compare(scores, test="randomization", samples=10_000)
    assert not few.significant.any()
    message = "too few samples: with the correction for 780 comparisons, no difference can be"
    assert any(
        note.startswith(message) and "15,600 samples" in note for note in note_texts(few.notes)
    )
    for other in ({"correction": "bh"}, {"correction": None}, {"test": "tukey-randomized"}):
        found = compare(scores, **{"test": "randomization", **other}, samples=2_000)
        assert not any("too few samples" in note for note in note_texts(found.notes))


def test_where_all_signs_are_tried_there_is_no_seed(scores):
    found = compare(scores, test="randomization")
    assert found.seed is None
    assert note_texts(found.notes)[0].endswith("two-sided, all signs tried")


def test_missing_topics_are_not_the_best_where_lower_is_better():
    values = [[5, 7, np.nan, 6], [2, 4, 9, 7]]
    scores = Scores.from_matrix(values, runs=["a", "b"], measure="SearchLength")
    with pytest.raises(RankgaugeError, match=r"SearchLength.*0 is not the worst.*skip"):
        compare(scores, missing="zero")
    assert compare(scores).losses.tolist() == [[2]]


def test_no_marks_where_neither_high_nor_low_is_better():
    values = np.array([np.linspace(0.5, 0.6, 50), np.linspace(0.1, 0.25, 50)])
    found = compare(Scores.from_matrix(values, runs=["a", "b"], measure="Judged@10"))
    assert found.significant.all()
    assert found.better.tolist() == [[0]]
    assert "▲" not in found.marked_table().render("tsv").split("#")[0]
    assert any("neither higher nor lower is better" in note for note in note_texts(found.notes))


def test_a_run_of_another_scale_changes_nothing_for_the_others():
    huge = np.concatenate([VALUES, 1e13 * VALUES[:1]])
    alone = compare(
        Scores.from_matrix(VALUES, runs=list("abc"), measure='given("x")'), correction=None
    )
    beside = compare(
        Scores.from_matrix(huge, runs=list("abcd"), measure='given("x")'), correction=None
    )
    assert beside.p[0, 0] == pytest.approx(alone.p[0, 0], rel=1e-9)
    assert beside.wins[0, 0] == alone.wins[0, 0] == 6


def test_randomized_tukey_has_an_interval_that_fits_its_p():
    for samples in (19, 20, 100, 1_000):
        random = np.random.default_rng(samples)
        values = random.random((4, 9)) + np.array([[0], [0.1], [0.3], [0.5]])
        scores = Scores.from_matrix(values, runs=list("abcd"), measure="AP")
        found = compare(scores, test="tukey-randomized", samples=samples)
        without_zero = (found.low > 0) | (found.high < 0)
        np.testing.assert_array_equal(without_zero, found.significant)
    with pytest.raises(RankgaugeError, match="10 samples, expected at least 19"):
        compare(scores, test="tukey-randomized", samples=10)


def test_constant_systems_that_differ():
    scores = Scores.from_matrix([[0.1] * 3, [0.3] * 3], runs=["a", "b"], measure="AP")
    for test in ("paired-t", "welch", "student"):
        found = compare(scores, test=test)
        assert found.p.tolist() == [[0.0]]
        assert found.effect.tolist() == [[-np.inf]]
    dealt = compare(scores, test="tukey-randomized")
    assert dealt.p[0, 0] == pytest.approx(0.25, abs=0.02)
    assert dealt.low[0, 0] <= 0 <= dealt.high[0, 0]


def test_the_memory_to_write_a_table_does_not_grow_with_its_pairs(monkeypatch) -> None:
    monkeypatch.setattr(LazyRows, "BLOCK", 1_000)
    few, many = (memory_of_lines(runs) for runs in (50, 120))
    assert many < 1.2 * few


def memory_of_lines(runs: int) -> int:
    """The most bytes that are held while the table of all pairs is written."""
    import tracemalloc

    values = np.random.default_rng(1).random((runs, 5))
    names = [f"r{number:03}" for number in range(runs)]
    table = compare(Scores.from_matrix(values, runs=names, measure="AP")).table()
    assert len(table.rows) == runs * (runs - 1) // 2
    tracemalloc.start()
    try:
        size = sum(len(line) for line in table.lines("csv"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 80 * len(table.rows)
    return peak
