"""From texts to scores: the numbers of the metrics, in the form that all other commands take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rankgauge as rg
from rankgauge import query_sets
from rankgauge.errors import RankgaugeError
from rankgauge.text import Null, Texts, parse_metric
from rankgauge.text.evaluation import FORMS, evaluate, overview

pytest.importorskip("rouge_score_rs")

TEXTS = Texts(
    {
        "a": "the cat sat on the mat with a dog",
        "b": "another story of a fox and a hen",
        "c": "rain",
    },
    {"a": ["the cat sat", "a cat on a mat"], "b": "a fox", "c": "it rains"},
    {
        "short": {"a": "the cat", "b": "fox", "c": ""},
        "long": {"a": "a dog and a cat on the mat", "b": "a story of a fox"},
    },
)
METRICS = ("rouge1", "v2(rouge1)", "expected(rouge2,length=candidate)", "z(rougeL)")


def test_values_are_those_of_the_metrics() -> None:
    scores = evaluate(TEXTS, METRICS)
    assert scores.runs == ("short", "long")
    assert scores.queries == ("a", "b", "c")
    assert [str(metric) for metric in scores.measures] == list(METRICS)
    candidates = TEXTS.candidates()
    for m, text in enumerate(METRICS):
        wanted = parse_metric(text).score_each(candidates).reshape(2, 3)
        np.testing.assert_array_equal(scores.values[:, :, m], wanted)
    assert scores.present.tolist() == [[True, True, True], [True, True, False]]
    assert any("long: no output for 1 text" in str(note) for note in scores.notes)


def test_a_text_that_is_lacking_scores_as_empty_or_is_left_out() -> None:
    zero = evaluate(TEXTS, "rouge1").mean()["long"]["rouge1"]
    skip = evaluate(TEXTS, "rouge1", missing="skip").mean()["long"]["rouge1"]
    assert zero == pytest.approx(skip * 2 / 3)


def test_systems_and_texts_do_not_change_each_other() -> None:
    """Chance of a text is the same whatever else is evaluated, also where it is drawn."""
    metrics = ["v2(rougeL)", "v2(rouge1,draws=1)", "v2(rouge1,draws=3,per=candidate)"]
    whole = evaluate(TEXTS, metrics)
    alone = Texts(
        {"b": TEXTS.sources[1]}, {"b": TEXTS.references[1]}, {"long": {"b": "a story of a fox"}}
    )
    found = evaluate(alone, metrics)
    np.testing.assert_array_equal(found.values[0, 0], whole.values[1, 1])


def test_scores_are_saved_compared_and_assessed(tmp_path: Path) -> None:
    scores = overview(TEXTS, ["rouge1", "rougeL"]).scores
    scores.save(tmp_path / "text.scores")
    loaded = rg.Scores.load(tmp_path / "text.scores")
    np.testing.assert_array_equal(loaded.values, scores.values)
    assert loaded.measures == scores.measures
    assert loaded.signatures() == scores.signatures()
    assert "source=texts" in scores.signatures()["rouge1"]
    assert rg.compare(loaded).measures == scores.measures
    assert len(rg.assess(loaded, splits=2).table().rows) == len(scores.measures)
    with pytest.raises(rg.MeasureError, match="scores texts, expected a measure of rankings"):
        query_sets.query_types(loaded, {"a": {"d": 1}})


def test_the_overview_shows_chance_and_forms_beside_scores() -> None:
    found = overview(TEXTS, ["rouge1", "v2(rougeL)"])
    means = found.scores.mean()
    rows = {(row[0], row[1]): row for row in found.table().rows}
    assert len(rows) == 4
    for run in ("short", "long"):
        shown = rows["rouge1", run][5:9]
        assert shown == tuple(means[run][f"{form}(rouge1)"] for form in FORMS)
        assert rows["v2(rougeL)", run][5:9] == (None,) * 4
    best = max(("short", "long"), key=lambda run: means[run]["rouge1"])
    assert found.table().rows[0][1] == best
    assert rows["rouge1", "short"][-2:] == (1.0, 1)
    assert rows["rouge1", "long"][-1] == 1
    assert "expected(rouge1)" not in map(str, found.without_chance().measures)


def test_another_null_is_in_the_names() -> None:
    found = overview(TEXTS, "rouge1", null=Null(length="candidate"))
    assert "v2(rouge1,length=candidate)" in map(str, found.scores.measures)
    assert any("penalizes length" in str(note) for note in found.notes)


def test_silence_is_not_better_than_a_wrong_answer() -> None:
    """An output without words meets the chance of one word, where chance has its length."""
    texts = Texts(["a b c d"], ["a b"], {"silent": [""], "wrong": ["x y"], "none": [None]})
    scores = evaluate(texts, ["v2(rouge1,length=candidate)", "linear(rouge1,length=candidate)"])
    assert (scores.values[:, 0, 0] == -1).all()
    assert (scores.values[:, 0, 1] < 0).all()


def test_systems_without_a_score_come_last() -> None:
    texts = Texts(["a b"], ["a b"], {"low": ["x"], "none": [None], "high": ["a b"]})
    table = overview(texts, "rouge1", missing="skip").table()
    assert [row[1] for row in table.rows] == ["high", "low", "none"]
    assert np.isnan(table.rows[-1][-2])


def test_a_form_without_spread_is_undefined() -> None:
    texts = Texts(["one"], ["one two"], {"s": ["one two"], "t": ["one one"]})
    metric = parse_metric("z(rouge1)")
    candidates = texts.candidates()
    assert np.isnan(metric.score_each(candidates)[0])
    assert any("all random texts score the same for" in str(n) for n in metric.remarks(candidates))


def test_chance_of_a_rare_word_is_not_0() -> None:
    """As long as all drawn texts score the same, more are drawn."""
    source = " ".join(f"w{number}" for number in range(300)) + " rare"
    texts = Texts([source], ["rare"], {"s": ["other"]})
    mean = parse_metric("rougeL").expected_each(texts.candidates(), Null())
    assert mean.samples[0] >= 1_500


def test_without_sources_only_the_scores_are_shown() -> None:
    texts = Texts(None, ["a b"], {"one": ["a"]})
    found = overview(texts, "rouge1")
    assert found.forms == {}
    assert found.table().rows[0][5:9] == (None,) * 4
    assert any("no source for 1 text" in str(note) for note in found.notes)
    assert np.isnan(evaluate(texts, "v2(rouge1)").values).all()


def test_refused() -> None:
    with pytest.raises(RankgaugeError, match="no metrics, expected at least one"):
        evaluate(TEXTS, [])
    with pytest.raises(RankgaugeError, match="no systems"):
        evaluate(Texts(None, ["a"], {}), "rouge1")
    with pytest.raises(RankgaugeError, match="level=2"):
        overview(TEXTS, "rouge1", level=2)
