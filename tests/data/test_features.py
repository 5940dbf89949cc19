"""Features: parts of them, names of documents, judgments, and what an evaluator makes of scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rankgauge import (
    Evaluator,
    Features,
    InputError,
    RankgaugeError,
    Run,
    read_letor,
    write_qrels,
    write_run,
)
from rankgauge.data.model import Ids
from rankgauge.errors import DuplicateError


def made(labels: list[list[int]], documents: Ids | None = None) -> Features:
    """Features of queries q1, q2, … with these labels, and the number of the row as a value."""
    sizes = [len(own) for own in labels]
    flat = np.array([label for own in labels for label in own], dtype=np.int32)
    return Features(
        Ids.of(f"q{number}" for number in range(1, len(labels) + 1)),
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        flat,
        np.arange(len(flat), dtype=np.float32)[:, None],
        documents,
    )


label_lists = st.lists(
    st.lists(st.integers(-1, 3), min_size=1, max_size=12), min_size=1, max_size=6
)


@given(label_lists, st.data())
def test_selected_queries_keep_their_rows(labels: list[list[int]], data: st.DataObject) -> None:
    numbers = data.draw(st.permutations(range(len(labels))))
    numbers = numbers[: data.draw(st.integers(0, len(numbers)))]
    whole = made(labels).named()
    by_number = whole.select(numbers)
    by_id = whole.select([f"q{number + 1}" for number in numbers])
    starts = np.cumsum([0, *(len(own) for own in labels)])
    rows = [row for number in numbers for row in range(starts[number], starts[number + 1])]
    names = whole.documents.texts() if whole.documents is not None else []
    for part in (by_number, by_id):
        assert part.queries.texts() == [f"q{number + 1}" for number in numbers]
        assert np.diff(part.bounds).tolist() == [len(labels[number]) for number in numbers]
        assert part.values[:, 0].tolist() == rows
        assert part.labels.tolist() == [label for number in numbers for label in labels[number]]
        assert part.documents is not None
        assert part.documents.texts() == [names[row] for row in rows]


def test_one_query_needs_no_list() -> None:
    ids = Ids.of(["6", "3", "63"])
    features = Features(ids, np.arange(4), np.arange(3, dtype=np.int32), np.eye(3))
    assert features.select("63").queries.texts() == ["63"]
    assert features.select(1).queries.texts() == ["3"]
    assert features.select(np.int64(0)).queries.texts() == ["6"]
    with pytest.raises(RankgaugeError, match="no query '36'"):
        features.select("36")


def test_one_text_is_not_taken_for_a_column_of_ids() -> None:
    with pytest.raises(RankgaugeError, match=r"'63' in place of several ids, expected \['63'\]"):
        Ids.of("63")


def test_neighboring_queries_are_selected_without_a_copy() -> None:
    whole = made([[0], [1, 1], [2]])
    assert np.shares_memory(whole.select([1, 2]).values, whole.values)
    assert not np.shares_memory(whole.select([2, 0]).values, whole.values)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (["q9"], "no query 'q9'; there are 2 queries"),
        ([2], "no query 2"),
        ([-1], "no query -1"),
        ([0, 0], "listed twice"),
        (["q1", 1], "expected ids"),
        ([1.5], "expected ids"),
        ([True, False], "expected ids"),
    ],
)
def test_queries_that_are_not_there_are_refused(queries: list[object], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        made([[0], [1]]).select(queries)  # type: ignore[arg-type]


def test_unnamed_documents_are_called_by_an_order_drawn_for_their_query() -> None:
    sizes = [1, 9, 10, 120]
    named = made([[0] * size for size in sizes]).named()
    assert named.documents is not None
    names = named.documents.texts()
    for start, size in zip(np.cumsum([0, *sizes[:-1]]).tolist(), sizes, strict=True):
        own = names[start : start + size]
        places = [name.split("-") for name in own]
        assert [int(row) for _, row in places] == list(range(1, size + 1))
        assert sorted(int(place) for place, _ in places) == list(range(1, size + 1))
        assert sorted(own) == sorted(own, key=lambda name: int(name.split("-")[0]))
    assert names[20:] != sorted(names[20:])
    other = made([[0] * size for size in sizes]).named(seed=1).documents
    assert other is not None
    assert other.texts() != names


def test_names_do_not_depend_on_other_queries() -> None:
    whole = made([[0] * 5, [1] * 50, [2] * 7])
    part, all_names = whole.select([1]).named().documents, whole.named().documents
    assert part is not None
    assert all_names is not None
    assert part.texts() == all_names.texts()[5:55]


@given(label_lists.filter(lambda lists: any(label > 0 for own in lists for label in own)))
def test_rows_in_the_order_of_ties_are_ranked_as_an_evaluator_ranks_ties(
    labels: list[list[int]],
) -> None:
    for features in (made(labels), made(labels).named(seed=1)):
        check_order_of_ties(features)


def check_order_of_ties(features: Features) -> None:
    ordered = features.in_tie_order()
    evaluator = Evaluator(features.judgments, "AP", ties="docno")
    tied = evaluator.score_features(features, np.zeros(len(features.labels))).values
    as_they_stand = Evaluator(ordered.judgments, "AP", ties="input")
    assert as_they_stand.score_features(ordered, np.zeros(len(features.labels))).values == (
        pytest.approx(tied, nan_ok=True)
    )
    assert ordered.in_tie_order() is ordered
    names, documents = features.judgments.documents.texts(), ordered.judgments.documents.texts()
    for row, name in enumerate(documents):
        own = int(np.searchsorted(features.bounds, row, side="right")) - 1
        start, end = features.bounds[own : own + 2]
        before = int(start) + names[start:end].index(name)
        assert ordered.values[row, 0] == features.values[before, 0]
        assert ordered.labels[row] == features.labels[before]


def test_named_documents_keep_their_names() -> None:
    features = made([[0, 1]], Ids.of(["a", "b"]))
    assert features.named() is features
    assert features.judgments.documents.texts() == ["a", "b"]


def test_the_same_document_twice_cannot_be_judged() -> None:
    with pytest.raises(DuplicateError, match="document 'a' twice for a query"):
        _ = made([[0, 1]], Ids.of(["a", "a"])).judgments


TIES = ("docno", "docno-ascending", "input", "pessimistic", "optimistic", "random", "expected")


@given(
    label_lists.filter(lambda lists: any(label > 0 for own in lists for label in own)),
    st.data(),
    st.booleans(),
)
def test_scores_of_features_are_those_of_the_files(
    tmp_path_factory: pytest.TempPathFactory,
    labels: list[list[int]],
    data: st.DataObject,
    names: bool,
) -> None:
    count = sum(len(own) for own in labels)
    features = made(labels, Ids.of(f"d{row}" for row in range(count)) if names else None)
    scores = data.draw(st.lists(st.integers(-2, 2), min_size=count, max_size=count))
    ties = data.draw(st.sampled_from(TIES))
    judgments = features.judgments
    folder = tmp_path_factory.mktemp("files")
    write_qrels(judgments, folder / "qrels")
    run = Run(
        "run", judgments.queries, judgments.bounds, judgments.documents, np.array(scores, float)
    )
    if ties == "input":  # a file has the best first
        run = run_in_order(run)
    write_run(run, folder / "run")
    measures = ["AP", "nDCG@3", "RR"]
    of_files = Evaluator(folder / "qrels", measures, ties=ties).scores(folder / "run")
    ours = Evaluator(judgments, measures, ties=ties).score_features(features, scores, name="run")
    assert (ours.runs, ours.queries) == (of_files.runs, of_files.queries)
    assert ours.values.tolist() == of_files.values.tolist()


def run_in_order(run: Run) -> Run:
    """The run with the rows of each query in rank order, ties as they stand."""
    query = np.repeat(np.arange(len(run.queries)), np.diff(run.bounds))
    order = np.lexsort((-run.scores, query))
    return Run(
        run.name, run.queries, run.bounds, run.documents.take(order), run.scores[order].copy()
    )


def test_an_evaluator_of_other_judgments_finds_documents_by_name() -> None:
    features = made([[0, 1], [2, 0]], Ids.of(["a", "b", "a", "c"]))
    evaluator = Evaluator({"q1": {"a": 1}, "q2": {"c": 1}}, "RR")
    assert evaluator.score_features(features, [2, 1, 2, 1]).values[0, :, 0].tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0], r"scores of shape \(1,\), expected a number for each of the 2 documents"),
        ([[1.0, 2.0]], "scores of shape"),
        ([1.0, float("nan")], "row 1 is not a number"),
        (["a", "b"], "expected a number for each document"),
    ],
)
def test_scores_that_do_not_fit_are_refused(scores: list[object], message: str) -> None:
    features = made([[0, 1]])
    with pytest.raises(RankgaugeError, match=message):
        Evaluator(features.judgments, "RR").score_features(features, scores)  # type: ignore[arg-type]


def test_ties_of_ohsumed_do_not_follow_the_file(real_data: Callable[[str], Path]) -> None:
    """All-tied scores get a MAP of .427 in the order of the files; a random order gets .305."""
    means: dict[str, list[float]] = {"input": [], "docno": [], "expected": []}
    for part in range(1, 6):
        features = read_letor(real_data(f"ohsumed-letor3/Fold{part}.test.txt.gz"))
        unnamed = Features(features.queries, features.bounds, features.labels, features.values)
        for ties, values in means.items():
            evaluator = Evaluator(unnamed.judgments, "AP", ties=ties)  # type: ignore[arg-type]
            scores = evaluator.score_features(unnamed, np.zeros(len(features.labels)))
            values += scores.values[0, :, 0].tolist()
    mean = {ties: float(np.mean(values)) for ties, values in means.items()}
    assert mean["input"] == pytest.approx(0.427, abs=1e-3)
    assert mean["expected"] == pytest.approx(0.305, abs=1e-3)
    assert mean["docno"] == pytest.approx(mean["expected"], abs=0.02)


def test_joined_features_have_all_queries_and_the_widest_row() -> None:
    one, two = made([[0], [1, 2]]), made([[1]])
    wide = Features(Ids.of(["w"]), two.bounds, two.labels, np.ones((1, 2), np.float32))
    joined = Features.joined([one, wide], absent=np.nan)
    assert joined.queries.texts() == ["q1", "q2", "w"]
    assert joined.bounds.tolist() == [0, 1, 3, 4]
    assert joined.labels.tolist() == [0, 1, 2, 1]
    assert np.isnan(joined.values).tolist() == [[False, True]] * 3 + [[False, False]]
    assert (joined.documents, joined.values.dtype) == (None, np.float32)
    named = Features.joined([one, wide.named()])
    assert named.documents is not None
    assert named.documents.texts() == [*one.judgments.documents.texts(), "1-1"]
    with pytest.raises(RankgaugeError, match="query 'q1' is also in"):
        Features.joined([one, two])


QUERIES = Ids.of(["q1", "q2"])
BOUNDS, LABELS, VALUES = np.array([0, 2, 3]), np.array([2, 0, 1], np.int32), np.eye(3)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"labels": LABELS[:1]}, "1 label, but the values have 3 rows"),
        ({"labels": LABELS[:, None]}, "labels: .* of shape \\(3, 1\\)"),
        ({"labels": np.array([0.5, 1, 2])}, "labels: an array of float64 .* whole numbers"),
        ({"labels": np.array([2**31, 0, 1])}, "at most 32 bits"),
        ({"values": VALUES[0]}, "values: .* expected a matrix"),
        ({"values": np.full((3, 1), "x")}, "values: .* expected a matrix of numbers"),
        ({"values": VALUES[:2]}, "3 labels, but the values have 2 rows"),
        ({"bounds": BOUNDS[:2]}, "bounds: 2 numbers for 2 queries"),
        ({"bounds": np.array([0, 1, 2])}, "from 0 to 2, expected .* the number of rows, 3"),
        ({"bounds": np.array([1, 2, 3])}, "from 1 to 3"),
        ({"bounds": np.array([0, 4, 3])}, "non-decreasing"),
        ({"bounds": np.array(0)}, "bounds: .* expected a column"),
        ({"queries": Ids.of(["same", "same"])}, "query 'same' twice"),
        ({"queries": ["q1", "q2"]}, "queries: list, expected Ids"),
        ({"documents": Ids.of(["a", "b"])}, "documents: 2 names for 3 rows"),
        ({"documents": ["a", "b", "c"]}, "documents: list, expected Ids"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(parts: dict[str, Any], message: str) -> None:
    whole = {"queries": QUERIES, "bounds": BOUNDS, "labels": LABELS, "values": VALUES}
    with pytest.raises(InputError, match=message):
        Features(**(whole | parts), source="mine")


def test_lists_and_other_types_of_numbers_are_taken() -> None:
    features = Features(QUERIES, [0, 2, 3], [2, 0, 1], [[1, 2], [3, 4], [5, 6]])  # type: ignore[arg-type]
    assert features.bounds.dtype == np.int64
    assert features.labels.dtype == np.int32
    assert features.values.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert Features(Ids.of([]), [0], [], np.zeros((0, 2))).labels.dtype == np.int32  # type: ignore[arg-type]


def test_features_in_single_precision_are_not_copied() -> None:
    values = np.ones((3, 2), np.float32)
    assert np.shares_memory(Features(QUERIES, BOUNDS, LABELS, values).values, values)
