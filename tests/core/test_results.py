"""What all results share: a table, notes, a data frame, and a form for notebooks."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import numpy as np
import pytest

import rankgauge as rg
from rankgauge import query_sets, space, text
from rankgauge.comparison.correlation import concordance
from rankgauge.core.notes import MAX_SIMILAR_NOTES, Note, note_texts
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.distance.advice import advise
from rankgauge.evaluation.inputs import judgments_of
from rankgauge.forecast import plan
from rankgauge.forecast.forecaster import Forecaster
from rankgauge.forecast.tracks import Rows
from rankgauge.fusion.weights import run_space
from rankgauge.rankers import CrossValidation
from rankgauge.rankings.lists import Rankings
from rankgauge.space import curve
from rankgauge.text import registry
from rankgauge.text.human.correlation import human_correlation
from rankgauge.text.human.preferences import win_lose_tie
from rankgauge.text.human.ratings import Ratings
from rankgauge_studies.forecast.quality import quality_of
from rankgauge_studies.forecast.study import (
    ForecastProtocol,
    ForecastStudy,
    StudyCell,
    TrackNumbers,
)
from rankgauge_studies.text.protocol import TextProtocol
from rankgauge_studies.text.study import TextStudy
from rankgauge_studies.ue.protocol import DataSet, Protocol
from rankgauge_studies.ue.study import Study

QRELS = {
    "q1": {"a": 1, "b": 0, "c": 2},
    "q2": {"a": 0, "b": 1, "d": 1},
    "q3": {"c": 1, "e": 0, "f": 0},
}
RUNS = {
    "one": {"q1": {"a": 3, "b": 2, "x": 1}, "q2": {"b": 2, "a": 1}, "q3": {"e": 2, "c": 1}},
    "two": {"q1": {"b": 3, "c": 2}, "q2": {"a": 2, "y": 1}, "q3": {"c": 2}},
    "three": {"q1": {"c": 3, "a": 2}, "q2": {"d": 2, "b": 1}, "q9": {"c": 2}},
}


def results() -> Iterator[Result]:
    """One result of each kind."""
    scores = rg.evaluate(QRELS, RUNS, ["nDCG@3", "AP", "v2(P@2)"])
    yield scores
    yield rg.compare(scores)
    yield rg.detectable(scores)
    yield rg.measures.CorrectPairs.pairs([0, 2, -1, 1])
    yield rg.assess(scores, splits=4)
    some = scores.select(measures=["AP"])
    yield rg.two_phase(some, some, ["q1", "q2"])
    yield plan(some, some, 0.1, queries=["q1", "q2"])
    yield concordance(scores, "AP", "nDCG@3")
    yield query_sets.query_types(scores, QRELS)
    yield query_sets.significance(scores, QRELS)
    distances = rg.med(RUNS["one"], RUNS["two"], "P@2", QRELS)
    assert isinstance(distances, rg.Distances)
    yield distances
    yield distances.distance("q1", trace=True).trace
    yield advise(distances, 2)
    yield rg.settled(QRELS, RUNS, "P@2")
    yield rg.judging_depth(
        QRELS, RUNS, ["nDCG@3", "P@2"], [1, 2], pooled=["one", "two"], teams="runs"
    )
    yield rg.tune(QRELS, [RUNS["one"], RUNS["two"]], "P@2", folds=2, repeats=1, samples=5)
    documents = ([[3, 1, 0], [1, 2, 1], [0, 1, 3], [2, 0, 2]], [0, 1, 2, 0], [0, 3, 4])
    yield space.trajectory(documents, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], ["AP", "P@1"])
    yield space.optima(documents, "AP", restarts=2)
    yield space.grid(documents, ["AP", "P@1"], axes=(1, 3), points=3)
    yield curve(lambda t: [t, 0.5], (0, 1), Rankings.of([1, 0]), "P@1")
    yield space.parameter_map(lambda x, y: [x, y], [(0, 1), (0, 1)], [1, 0], "P@1", at=3)
    weights = run_space(QRELS, RUNS)
    yield weights.curves(["AP", "P@1"])
    yield weights.plane(["AP", "P@1"])
    beside = np.full((len(scores.runs), len(scores.measures)), 0.25)
    note = Note("one fold")
    judged = judgments_of(QRELS)
    yield CrossValidation(scores, (), judged, beside, beside[0], beside, None, (note,))
    asked = Protocol((DataSet("data", "folder"),), ("AdaRank", "RankNet"))
    yield Study(asked, {}, {"right": {}})
    seen = np.full((2, 3), 0.5)
    rows = Rows("track", "kind", ("a", "b"), ("1", "2", "3"), seen[:, :, None], seen, seen, seen)
    yield Forecaster("gupta", features=("P",)).fit_rows([rows]).forecast_rows(rows)
    quality = np.array(quality_of(np.arange(4.0), np.arange(4.0), None))
    numbers = {"track": TrackNumbers(quality[None], np.tile(quality, (2, 10, 1)))}
    found = StudyCell("nDCG@100", 10, "pool", "rows", "line", numbers)
    yield ForecastStudy(ForecastProtocol(), {"track": "kind"}, {}, (found,))
    yield TextStudy(TextProtocol(), {"encoder": "e0"}, ())
    rated = rg.Scores.from_matrix(
        seen, runs=["one", "two"], queries=["q1", "q2", "q3"], measure="h"
    )
    nobody = np.full(1, -1)
    yield Ratings(rated, (), nobody + 1, nobody + 1, nobody, seen[:1, :1], (note,))
    human = human_correlation(scores, rated, samples=10)
    yield human
    yield human.normalized()
    yield win_lose_tie(scores, rated, "AP", "nDCG@3")
    votes = text.PairwisePreferences(
        ("one", "two"), ("q1",), nobody + 1, nobody + 2, nobody + 1, np.array([[0], [0], [2]])
    )
    yield votes
    yield text.pair_agreement(scores, votes, samples=10)
    own = text.metric(lambda words, references, source: 0.5, name="half", ideal=1.0)
    yield text.overview(text.Texts(["a b"], ["a"], {"one": ["a"], "two": ["b"]}), own)
    registry.METRICS.entries.pop("half")
    yield text.DocumentKinds(
        ("a", "b"), (5,), seen[:1, :2], seen[:1, :2], seen[0, :2], seen[0, :2], 1, "difference"
    )


RESULTS = list(results())


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_a_result_can_be_shown_everywhere(result: Result) -> None:
    table = result.table()
    assert isinstance(table, Table)
    assert all(isinstance(note, Note) for note in result.notes)
    assert repr(result).startswith(type(result).__name__)
    assert result._repr_html_().startswith("<table style=")
    assert all(line in table.notes for line in note_texts(result.notes, gather=True))
    frame = result.to_polars()
    if not isinstance(result, rg.Scores | rg.Distances):  # whose frames have a row for each query
        assert frame.columns == list(table.columns)
        assert len(frame) == len(table.rows)


def test_every_kind_of_result_is_asked() -> None:
    for module in pkgutil.walk_packages(rg.__path__, "rankgauge."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert set(Result.__subclasses__()) == {type(result) for result in RESULTS}


def test_a_frame_of_distances_has_every_pair_whatever_runs_are_called() -> None:
    runs = {"run": RUNS["one"], "a": RUNS["two"], "query": RUNS["three"]}
    found = rg.med_matrix(QRELS, runs, "P@2")
    frame = found.to_polars()
    assert frame.columns == ["a", "b", "query", "distance", "upper"]
    assert frame.rows()[0][:3] == ("run", "a", "q1")
    assert frame.rows()[-1][:3] == ("a", "query", "q3")
    assert frame["distance"].to_list() == found.values.ravel().tolist()


def test_a_result_without_a_figure_says_so() -> None:
    with pytest.raises(rg.RankgaugeError, match="Comparison cannot be drawn"):
        next(r for r in RESULTS if isinstance(r, rg.Comparison)).figure()


# Notes


def test_notes_that_differ_in_numbers_alone_are_alike() -> None:
    kind = "queries without judgments, not scored: {count}"
    notes = [Note(kind, run=f"r{i}", count=i + 1) for i in range(MAX_SIMILAR_NOTES + 4)]
    assert len(note_texts(notes)) == len(notes)
    assert note_texts(notes[:MAX_SIMILAR_NOTES], gather=True) == tuple(
        map(str, notes[:MAX_SIMILAR_NOTES])
    )
    (line,) = note_texts(notes, gather=True)
    said = "r0: queries without judgments, not scored: 1"
    assert (
        line
        == f"{said}; {MAX_SIMILAR_NOTES + 3} more runs have the same note, with different numbers"
    )


def test_what_is_the_same_for_several_runs_is_one_line() -> None:
    kind = "queries without judgments, not scored: {count}"
    notes = [Note(kind, run=f"r{i}", count=3) for i in range(MAX_SIMILAR_NOTES + 4)]
    said = "queries without judgments, not scored: 3"
    assert note_texts(notes[:2], gather=True) == (f"r0, r1: {said}",)
    assert note_texts(notes[:1], gather=True) == (f"r0: {said}",)
    assert note_texts(notes, gather=True) == (f"r0, r1, r2, r3, r4 and 4 more runs: {said}",)
    other = Note(kind, run="x", count=7)
    both = (f"r0, r1: {said}", "x: queries without judgments, not scored: 7")
    assert note_texts([notes[0], other, notes[1]], gather=True) == both
    assert note_texts(notes[:2]) == tuple(map(str, notes[:2]))


def test_what_is_said_of_the_same_measures_is_one_line() -> None:
    notes = [
        Note(kind, measure=measure, count=2)
        for measure in ("v1(AP)", "v2(AP)")
        for kind in ("nothing relevant on {topics}", "a single document on {topics}")
    ]
    said = "nothing relevant on 2 queries; a single document on 2 queries"
    assert note_texts(notes) == (f"v1(AP), v2(AP): {said}",)


def test_text_from_data_is_no_template() -> None:
    assert str(Note("a {brace} from a file")) == "a {brace} from a file"
    assert str(Note("{count} {lines}", count=1, run="{run}")) == "{run}: 1 1 line"
    assert str(Note("gains {1: 2} on {topics}", count=2)) == "gains {1: 2} on 2 queries"


def test_a_note_on_no_measure_stands_beside_the_same_note_on_one() -> None:
    notes = [Note("on {topics}", count=2), Note("on {topics}", measure="AP", count=2)]
    assert note_texts(notes) == ("on 2 queries", "AP: on 2 queries")


@pytest.mark.parametrize("name", ["Run", "Judgments", "Scores", "Evaluator", "nDCG"])
def test_help_is_there(name: str) -> None:
    import pydoc

    assert name in pydoc.render_doc(getattr(rg, name))
