"""Folds of learning-to-rank data: each published layout is found, and what is none is refused."""

from __future__ import annotations

import gzip
import pickle
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge
from rankgauge import Features, Folds, InputError, RankgaugeError, read_folds
from rankgauge.io.layouts import folds_by_test_part, rotate_parts


def write(path: Path, queries: Iterable[str], width: int = 2) -> None:
    """A LETOR file of these queries, two documents each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{i} qid:{query} {width}:{i + 1}\n" for query in queries for i in (0, 1))
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def queries_in(folds: Folds) -> list[tuple[list[str], list[str] | None, list[str]]]:
    """The queries that each fold trains, validates and tests on."""

    def of(features: Features | None) -> list[str] | None:
        return None if features is None else features.queries.texts()

    return [(of(fold.train) or [], of(fold.validation), of(fold.test) or []) for fold in folds]


NAMES = {
    "MSLR": ("train.txt", "vali.txt", "test.txt"),
    "LETOR 2.0": ("trainingset.txt", "validationset.txt", "testset.txt"),
    "compressed, upper case": ("trainingset.TXT.gz", "Vali.txt.gz", "TEST.txt"),
    "no ending": ("train", "valid", "test"),
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("fold", ["Fold{}", "fold{}", "Fold{:02}", "deeper/Fold{}"])
def test_folders_with_three_files_each(tmp_path: Path, names: tuple[str, ...], fold: str) -> None:
    for number in range(1, 11):
        for role, name in zip("rvt", names, strict=True):
            write(tmp_path / fold.format(number) / name, [f"{role}{number}"])
    folds = read_folds(tmp_path)
    assert queries_in(folds) == [([f"r{n}"], [f"v{n}"], [f"t{n}"]) for n in range(1, 11)]
    assert folds.layout == f"10 folders Fold1 to Fold10, each with {', '.join(names)}."
    assert [fold.number for fold in folds] == list(range(1, 11))


def test_files_of_folds_in_one_folder(tmp_path: Path) -> None:
    for number in (1, 2):
        write(tmp_path / f"Fold{number}.train.txt", [f"r{number}"])
        write(tmp_path / f"Fold{number}.test.txt", [f"t{number}"])
    assert queries_in(read_folds(tmp_path)) == [(["r1"], None, ["t1"]), (["r2"], None, ["t2"])]


@pytest.mark.parametrize("name", ["S{}.txt", "s{}.txt.gz"])
def test_parts_rotate_as_in_letor(tmp_path: Path, name: str) -> None:
    for number in range(1, 6):
        write(tmp_path / name.format(number), [f"{number}"])
    (tmp_path / "readme.txt").write_text("Fold Training.txt Validation.txt Test.txt")
    folds = read_folds(tmp_path)
    assert queries_in(folds) == [
        (["1", "2", "3"], ["4"], ["5"]),
        (["2", "3", "4"], ["5"], ["1"]),
        (["3", "4", "5"], ["1"], ["2"]),
        (["4", "5", "1"], ["2"], ["3"]),
        (["5", "1", "2"], ["3"], ["4"]),
    ]
    assert folds.layout.startswith("5 parts S1 to S5: fold 1 trains on S1 to S3, validates on S4")


def test_disjoint_test_parts(tmp_path: Path) -> None:
    for number in range(1, 6):
        write(tmp_path / f"Fold{number}.test.txt", [f"{number}"])
    found = queries_in(read_folds(tmp_path))
    assert [fold[2] for fold in found] == [[f"{n}"] for n in range(1, 6)]
    assert [fold[1] for fold in found] == [["5"], ["1"], ["2"], ["3"], ["4"]]
    assert [sorted(fold[0]) for fold in found] == [
        ["2", "3", "4"],
        ["3", "4", "5"],
        ["1", "4", "5"],
        ["1", "2", "5"],
        ["1", "2", "3"],
    ]


def test_one_fold(tmp_path: Path) -> None:
    for role in ("train", "test"):
        write(tmp_path / f"{role}.txt", [role])
    folds = read_folds(tmp_path)
    assert queries_in(folds) == [(["train"], None, ["test"])]
    assert folds.layout == "One fold: train.txt, test.txt."


@given(st.integers(3, 9))
def test_every_part_is_tested_on_once(count: int) -> None:
    for folds in (rotate_parts(range(count)), folds_by_test_part(range(count))):
        assert sorted(part for fold in folds for part in fold["test"]) == list(range(count))
        for fold in folds:
            assert sorted(part for parts in fold.values() for part in parts) == list(range(count))


@given(st.integers(3, 6), st.integers(0, 20), st.integers(0, 3), st.randoms(use_true_random=False))
def test_a_file_is_cut_by_query_whatever_its_order(
    tmp_path_factory: pytest.TempPathFactory, count: int, more: int, seed: int, random: object
) -> None:
    file = tmp_path_factory.mktemp("cut") / "data.txt"
    names = [f"q{number}" for number in range(count + more)]
    write(file, names)
    found = queries_in(read_folds(file, count, seed=seed))
    assert sorted(query for _, _, test in found for query in test) == sorted(names)
    sizes = [len(test) for _, _, test in found]
    assert max(sizes) - min(sizes) <= 1
    for train, validation, test in found:
        assert sorted([*train, *(validation or []), *test]) == sorted(names)
    random.shuffle(names)  # type: ignore[attr-defined]
    write(file, names)
    again = queries_in(read_folds(file.parent, count, seed=seed))
    assert [sorted(test) for _, _, test in again] == [sorted(test) for _, _, test in found]


def test_another_seed_cuts_otherwise(tmp_path: Path) -> None:
    write(tmp_path / "data.txt", map(str, range(50)))
    first, second = (queries_in(read_folds(tmp_path, 5, seed=seed)) for seed in (0, 1))
    assert first != second
    assert "data.txt cut into 5 parts by query (seed 1)" in read_folds(tmp_path, 5, seed=1).layout


def test_all_parts_of_a_fold_have_the_same_features(tmp_path: Path) -> None:
    for role, width in (("train", 2), ("vali", 1), ("test", 4)):
        write(tmp_path / f"{role}.txt", [role], width)
    (fold,) = read_folds(tmp_path)
    assert fold.train.values.tolist() == [[0, 1, 0, 0], [0, 2, 0, 0]]
    assert fold.validation is not None
    assert fold.validation.values.tolist() == [[1, 0, 0, 0], [2, 0, 0, 0]]
    (fold,) = read_folds(tmp_path, absent="nan")
    assert np.isnan(fold.train.values).sum(axis=0).tolist() == [2, 0, 2, 2]


def test_files_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    for role in ("train", "test"):
        write(tmp_path / f"{role}.txt", [role])
    folds = read_folds(tmp_path)
    (tmp_path / "train.txt").write_text("nonsense")
    (fold,) = folds
    with pytest.raises(InputError, match=r"train.txt:1: 'nonsense' is not a number"):
        _ = fold.train
    write(tmp_path / "train.txt", ["now"])
    assert fold.train.queries.texts() == ["now"]


def test_folds_can_be_sent_to_another_process_without_their_features(tmp_path: Path) -> None:
    for number in range(1, 4):
        write(tmp_path / f"S{number}.txt", (f"{number}-{i}" for i in range(500)))
    folds = read_folds(tmp_path)
    fold = folds[0]
    before = queries_in(folds)
    assert len(fold.train.labels) == 1000
    sent = pickle.dumps((folds, fold))
    assert len(sent) < 5000
    again, one = pickle.loads(sent)
    assert queries_in(again) == before
    assert one.train.queries.texts() == fold.train.queries.texts()


def test_statistics_count_what_is_there(tmp_path: Path) -> None:
    for number in range(1, 4):
        write(tmp_path / f"S{number}.txt", (f"{number}-{i}" for i in range(number)))
    (tmp_path / "S3.txt").write_text("0 qid:a 1:1\n-1 qid:a 1:1\n2 qid:b 1:1\n")
    table = read_folds(tmp_path).statistics()
    assert table.columns == (
        *("set", "documents", "queries", "features", "documents a query"),
        *("queries without relevant", "label -1", "label 0", "label 1", "label 2"),
    )
    assert table.rows[0] == ("all test sets", 9, 5, 2, 1.8, 1, 1, 4, 3, 1)
    assert [row[0] for row in table.rows[1:4]] == [
        "fold 1 train",
        "fold 1 validation",
        "fold 1 test",
    ]
    assert table.rows[1][1:4] == (2, 1, 2)
    assert len(table.rows) == 10


WRONG = {
    "nothing": ([], "no folds found (it is empty), expected Fold1, Fold2"),
    "others": (["a.txt", "b.txt"], "no folds found (it has a.txt, b.txt), expected Fold1"),
    "two parts": (["S1.txt", "S2.txt"], "no folds found"),
    "a part missing": (["S1.txt", "S2.txt", "S4.txt"], "number 3 is missing"),
    "a part twice": (["S1.txt", "S1.txt.gz", "S2.txt"], "S1.txt and S1.txt.gz are the same part"),
    "a fold missing": (["Fold1/train", "Fold1/test", "Fold3/train"], "number 2 is missing"),
    "a role missing": (
        ["Fold1/train", "Fold1/vali", "Fold1/test", "Fold2/train", "Fold2/test"],
        "no validation file, expected one of these names: vali, valid",
    ),
    "no test": (["Fold1/train.txt"], "no test file, expected one of these names: test, testing"),
    "a role twice": (["train.txt", "training.txt", "test.txt"], "are the same part"),
    "several data sets": (
        [f"{a}/{b}.txt" for a in "xy" for b in ("train", "test")],
        "several of its folders contain folds; specify one of them",
    ),
}


@pytest.mark.parametrize(("files", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_layout_is_refused(tmp_path: Path, files: list[str], message: str) -> None:
    for name in files:
        write(tmp_path / name, ["1"])
    with pytest.raises(InputError, match=re.escape(message)):
        read_folds(tmp_path)


def test_one_part_is_no_span_of_parts(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        write(tmp_path / "parts" / f"S{number}.txt", f"{number}")
    assert "trains on S1, validates on S2 and tests on S3" in read_folds(tmp_path / "parts").layout
    write(tmp_path / "data.txt", "abcd")
    assert "trains on part 1, validates" in read_folds(tmp_path / "data.txt", 3).layout
    assert "trains on parts 1 to 2, validates" in read_folds(tmp_path / "data.txt", 4).layout
    for split in ("train", "test"):
        write(tmp_path / "one" / "Fold1" / f"{split}.txt", split[1])
    assert read_folds(tmp_path / "one").layout.startswith("1 folder Fold1, each with")


def test_a_file_needs_a_number_of_folds(tmp_path: Path) -> None:
    write(tmp_path / "data.txt", "abc")
    with pytest.raises(InputError, match="is one file, expected a folder, or the number of folds"):
        read_folds(tmp_path / "data.txt")
    with pytest.raises(InputError, match="3 queries, expected at least 5 for 5 folds"):
        read_folds(tmp_path, 5)
    with pytest.raises(RankgaugeError, match="folds=2, expected a whole number from 3"):
        read_folds(tmp_path, 2)
    write(tmp_path / "more.txt", "abc")
    with pytest.raises(InputError, match="has 2 data files, expected one to split"):
        read_folds(tmp_path, 3)
    with pytest.raises(InputError, match="cannot be read"):
        read_folds(tmp_path / "nowhere")


def test_a_query_in_two_parts_is_refused(tmp_path: Path) -> None:
    for number in range(1, 4):
        write(tmp_path / f"S{number}.txt", ["same" if number < 3 else "other"])
    folds = read_folds(tmp_path)
    assert folds[0].test.queries.texts() == ["other"]
    for name in ("S4.txt", "S5.txt"):
        write(tmp_path / name, [name])
    with pytest.raises(InputError, match=r"S2.txt: query 'same' is also in .*S1.txt"):
        _ = read_folds(tmp_path)[0].train


def test_folds_are_public() -> None:
    assert {"read_folds", "Folds", "Fold"} <= set(rankgauge.__all__)


REAL = [
    ("mq2008", "5 parts S1 to S5", 784, 15211, (9630, 2707, 2874)),
    ("ohsumed", "5 folders Fold1 to Fold5", 106, 16140, None),
    ("ohsumed-letor3", "5 disjoint test parts", 106, 16140, None),
    ("clueweb09-letor", "5 disjoint test parts", 61, 26646, None),
]


@pytest.mark.parametrize(("name", "layout", "queries", "documents", "first"), REAL)
def test_real_sets_have_their_folds(
    real_data: Callable[[str], Path],
    name: str,
    layout: str,
    queries: int,
    documents: int,
    first: tuple[int, int, int] | None,
) -> None:
    folds = read_folds(real_data(name))
    assert folds.layout.startswith(layout)
    assert len(folds) == 5
    rows = folds.statistics().rows
    assert rows[0][:3] == ("all test sets", documents, queries)
    if first is not None:
        assert tuple(row[1] for row in rows[1:4]) == first
    for fold in folds:
        parts = [fold.train, fold.validation, fold.test]
        names = [query for part in parts if part is not None for query in part.queries.texts()]
        assert len(names) == len(set(names)) == queries
