"""The fast way through a file: the same as the careful way, or none at all."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import rankgauge as rg
from profiles import some
from rankgauge.core.notes import note_texts
from rankgauge.io import scanning, trec
from rankgauge.io.files import Content, open_content
from rankgauge.io.scanning import Piece, scan_pieces
from rankgauge.io.trec import RunFile
from rankgauge.rankings.alignment import align, locate_run

MEASURES = ("nDCG@5", "AP", "RR", "P@3", "bpref", "infAP", "Judged@10", "ERR@5", "RBP")


def read(text: bytes, *, qrels: bool, careful: bool) -> Any:
    """What a file of this text holds, by one of the two ways; None where the fast one declines."""
    line = trec.QRELS_LINE if qrels else trec.RUN_LINE
    content = Content("file", 1 << 30, text)
    if careful:
        return trec._read_with_care(
            content, line, lenient=False, comments=False, more_columns=False
        )
    parts = scan_pieces(content, len(line.split()), trec._copy_rows)
    return None if parts is None else trec._join_rows(parts)


def same_rows(text: bytes, *, qrels: bool) -> bool:
    """Whether the fast way took a file; if so, it found what the careful one finds."""
    fast = read(text, qrels=qrels, careful=False)
    if fast is None:
        return False
    careful = read(text, qrels=qrels, careful=True)
    assert list(fast.queries) == list(careful.queries)
    assert list(fast.documents) == list(careful.documents)
    np.testing.assert_array_equal(fast.bounds, careful.bounds)
    np.testing.assert_array_equal(fast.values, careful.values, strict=True)
    if not qrels:
        assert fast.tag == careful.tag
    return True


# Files

ids = st.one_of(
    st.integers(0, 30).map(lambda n: b"d%d" % n),
    st.binary(min_size=1, max_size=30).filter(lambda raw: not set(raw) & set(range(33))),
    st.sampled_from([b"x", b"12345678", b"1234567", b"123456789", b"y" * 10_000]),
)
scores = st.one_of(
    st.floats(-100, 100).map(lambda x: b"%.6f" % x),
    st.floats(allow_nan=False).map(lambda x: repr(x).encode()),
    st.sampled_from(
        [b"1", b"0.5", b"1.", b".5", b"+2", b"-0", b"1e3", b"inf", b"3.00000001", b"3"]
    ),
    st.from_regex(rb"\A-?[0-9]{1,22}(\.[0-9]{0,22})?\Z"),
)
grades = st.one_of(st.integers(-2, 3), st.integers(-(2**31) + 1, 2**31 - 1)).map(
    lambda g: b"%d" % g
)
gaps = st.sampled_from([b" ", b"\t", b"  ", b" \t "])
ends = st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n", b"\t\r\n"])


@st.composite
def files(draw: st.DrawFn, *, qrels: bool) -> bytes:
    """A file with its queries together, unless it is drawn that they are not."""
    topics = draw(st.lists(ids, min_size=1, max_size=5, unique=True))
    lines = []
    for topic in topics:
        for rank, document in enumerate(draw(st.lists(ids, min_size=1, max_size=8, unique=True))):
            number = draw(grades if qrels else scores)
            columns = [topic, b"0", document, number]
            if not qrels:
                columns = [topic, b"Q0", document, b"%d" % rank, number, b"tag"]
            gap = draw(gaps)
            lines.append(gap.join(columns) + draw(ends))
    if draw(st.booleans()):
        lines = draw(st.permutations(lines))
    text = b"".join(lines)
    return draw(st.sampled_from([text, text.rstrip(), b"\xef\xbb\xbf" + text]))


@pytest.mark.parametrize("qrels", [False, True])
@given(data=st.data())
def test_what_the_fast_way_takes_it_reads_as_the_careful_one(
    data: st.DataObject, qrels: bool
) -> None:
    same_rows(data.draw(files(qrels=qrels)), qrels=qrels)


@pytest.mark.parametrize("qrels", [False, True])
@given(
    text=st.lists(st.sampled_from([b"1", b"Q0", b"\n", b" ", b"\r", b"2", b"\0", b"\x0b", b"d"]))
)
def test_of_any_bytes_the_fast_way_takes_only_what_the_careful_one_does(
    text: list[bytes], qrels: bool
) -> None:
    same_rows(b"".join(text), qrels=qrels)


PLAIN = b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n2 Q0 a 1 9 t\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN[:-1],
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b" ", b"\t"),
        b"\n\n" + PLAIN + b"\n \n",
        b"\xef\xbb\xbf" + PLAIN,
        b"1 Q0 a 1 1.5 t\n1 Q0 b 2 2.5 t\n",
        b"1 Q0 a 1 1e-3 t\n1 Q0 b 2 12345678901234567890123 t\n",
        b"1 Q0 " + b"x" * 10_000 + b" 1 1 t\n",
        "q Q0 dö 1 1 t\n".encode(),
    ],
)
def test_plain_files_are_taken(text: bytes) -> None:
    assert same_rows(text, qrels=False)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n \n",
        PLAIN + PLAIN,
        PLAIN + b"1 Q0 c 1 2.5 t\n",
        PLAIN + b"2 Q0 a 1 2.5 t\n",
        PLAIN + b"3 Q0 a 1 t\n",
        PLAIN + b"3 Q0 a 1 1 t t\n",
        PLAIN + b"3 Q0 a 1 nan t\n",
        PLAIN + b"3 Q0 a 1 x t\n",
        PLAIN + b"3 Q0 a 1 1..2 t\n",
        PLAIN + b"3 Q0 a 1 . t\n",
        PLAIN + b"3 Q0 a 1 - t\n",
        PLAIN + b"3 Q0 a\0 1 1 t\n",
        PLAIN + b"3 Q0 a\x01 1 1 t\n",
        PLAIN + b"3 Q0 a 1 1 t\x0b\n",
        PLAIN.replace(b"\n", b"\r"),
        PLAIN.decode().encode("utf-16"),
    ],
)
def test_what_is_not_plain_is_left_to_the_careful_way(text: bytes) -> None:
    assert read(text, qrels=False, careful=False) is None


# Pieces


@pytest.mark.parametrize("size", [1, 20, 100, 1000])
@given(text=files(qrels=False))
def test_the_size_of_the_pieces_changes_nothing(size: int, text: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "PIECE", size)
        patch.setattr(scanning, "WINDOW", 16)
        in_pieces = read(text, qrels=False, careful=False)
    whole = read(text, qrels=False, careful=False)
    assert (in_pieces is None) == (whole is None)
    if whole is not None:
        assert list(in_pieces.documents) == list(whole.documents)
        assert list(in_pieces.queries) == list(whole.queries)
        np.testing.assert_array_equal(in_pieces.bounds, whole.bounds)
        np.testing.assert_array_equal(in_pieces.values, whole.values)


def test_a_topic_is_never_cut_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "PIECE", 50)
    monkeypatch.setattr(scanning, "WINDOW", 16)
    lines = [b"%d Q0 d%d 1 1 t\n" % (topic, d) for topic in range(30) for d in range(topic)]
    topics = scan_pieces(
        Content("file", 1 << 30, b"".join(lines)), 6, lambda piece: list(piece.queries.ids())
    )
    assert topics is not None
    assert len(topics) > 20
    assert [topic for piece in topics for topic in piece] == [b"%d" % t for t in range(1, 30)]


def test_threads_see_pieces_in_memory_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scanning, "PIECE", 1000)
    path = tmp_path / "a.run"
    lines = [b"%d Q0 t%d-d%d 1 %d t\n" % (t, t, d, -d) for t in range(500) for d in range(20)]
    path.write_bytes(b"".join(lines))
    seen = set()

    def each(piece: Piece) -> list[bytes]:
        seen.add(threading.get_ident())
        return list(piece.documents.ids())

    with open_content(path) as content:
        pieces = scan_pieces(content, 6, each, threads=4)
    assert pieces is not None
    documents = [document for piece in pieces for document in piece]
    assert documents == [b"t%d-d%d" % (t, d) for t in range(500) for d in range(20)]
    assert len(seen) > 1


@pytest.mark.parametrize("change", ["cut", "longer"])
def test_a_file_that_changes_meanwhile_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: str
) -> None:
    monkeypatch.setattr(scanning, "PIECE", 100)
    path = tmp_path / "a.run"
    text = b"".join(b"%d Q0 d 1 1 t\n" % topic for topic in range(1000))
    path.write_bytes(text)

    def each(piece: Piece) -> None:
        path.write_bytes(text[:5000] if change == "cut" else text + b"x Q0 d 1 1 t\n")

    def read() -> bytes:
        with open_content(path) as content:
            assert scan_pieces(content, 6, each) is None
            return content.whole()

    with pytest.raises(rg.InputError, match="changed while being read"):
        read()


# Evaluation


@st.composite
def collections(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Qrels and a run, over few queries and documents so that they meet, some scores tied."""
    topics = [b"q%d" % n for n in range(5)]
    documents = [b"d%d" % n for n in range(8)]
    qrels = [
        b"%b 0 %b %d\n" % (topic, document, draw(st.integers(-1, 3)))
        for topic in draw(st.lists(st.sampled_from(topics), min_size=1, unique=True))
        for document in draw(st.lists(st.sampled_from(documents), min_size=1, unique=True))
    ]
    numbers = st.sampled_from([b"1", b"2", b"2.00000001", b"0.5", b"-3", b"1e30", b"1e-30"])
    run = [
        b"%b Q0 %b 0 %b t\n" % (topic, document, draw(numbers))
        for topic in draw(st.lists(st.sampled_from(topics), min_size=1, unique=True))
        for document in draw(st.lists(st.sampled_from(documents), min_size=1, unique=True))
    ]
    return b"".join(qrels), b"".join(draw(st.permutations(run)) if draw(st.booleans()) else run)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scanning")


@given(
    case=collections(),
    ties=st.sampled_from(
        ["docno", "docno-ascending", "input", "pessimistic", "optimistic", "random"]
    ),
    unjudged=st.sampled_from(["nonrelevant", "condensed"]),
    precision=st.sampled_from(["single", "double"]),
    size=st.sampled_from([1, 60, 1 << 22]),
)
def test_a_file_is_scored_as_the_run_it_holds(
    folder: Path, case: tuple[bytes, bytes], ties: Any, unjudged: Any, precision: Any, size: int
) -> None:
    (folder / "qrels").write_bytes(case[0])
    (folder / "a.run").write_bytes(case[1])
    qrels, run = rg.read_qrels(folder / "qrels"), rg.read_run(folder / "a.run")
    assume(set(qrels.queries) & set(run.queries))
    policies: dict[str, Any] = {"ties": ties, "unjudged": unjudged, "precision": precision}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "PIECE", size)
        fast = rg.evaluate(qrels, folder / "a.run", MEASURES, **policies)
    assert_same_scores(fast, rg.evaluate(qrels, run, MEASURES, **policies))


def assert_same_scores(fast: rg.Scores, plain: rg.Scores) -> None:
    assert (fast.runs, fast.queries, fast.notes) == (plain.runs, plain.queries, plain.notes)
    assert fast.policies == plain.policies
    for name in ("values", "present", "judged_at_10", "relevant", "nothing_relevant"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name), strict=True)


def test_the_judgments_of_a_file_are_found_where_alignment_finds_them() -> None:
    judgments = rg.Judgments.from_dict({"1": {"b": 1, "a": -1}, "2": {"x": 3}})
    pieces = scan_pieces(Content("file", 1 << 30, PLAIN), 6, lambda p: p, judged=judgments.lookup)
    assert pieces is not None
    (piece,) = pieces
    assert piece.numbers.tolist() == [0, 1]
    assert piece.rows.tolist() == [1, 0, -1]
    run = rg.Run.from_dict({"1": {"a": 2.5, "b": 1.5}, "2": {"a": 9}})
    assert locate_run(judgments, run).rows.tolist() == piece.rows.tolist()
    assert align(judgments, piece).rankings.labels.tolist() == [-2, 1, -1]
    assert align(judgments, run).rankings.labels.tolist() == [-2, 1, -1]


def test_judgments_that_were_used_can_be_sent_to_another_process() -> None:
    judgments = rg.Judgments.from_dict({"1": {"b": 1, "a": 0}})
    assert judgments.lookup is judgments.lookup
    copy = pickle.loads(pickle.dumps(judgments))
    pieces = scan_pieces(Content("file", 1 << 30, PLAIN), 6, lambda p: p, judged=copy.lookup)
    assert pieces is not None
    assert pieces[0].rows.tolist() == [1, 0, -1]


def test_two_million_topics_of_one_document(tmp_path: Path) -> None:
    count = 2_000_000
    path = tmp_path / "many.run"
    path.write_bytes(b"".join(b"%d Q0 d%d 1 1 t\n" % (n, n % 7) for n in range(count)))
    qrels = {str(n): {f"d{n % 5}": 1} for n in range(0, count, 1000)}
    scores = rg.evaluate(qrels, path, "P@1")
    expected = [float(int(q) % 7 == int(q) % 5) for q in scores.queries]
    assert scores.values[0, :, 0].tolist() == expected
    assert note_texts(scores.notes) == (
        f"many: queries without judgments, not scored: {count - count // 1000}",
    )
    file, judgments = RunFile(path), rg.Judgments.from_dict(qrels)
    with file.open() as content:
        sizes = file.scan(content, lambda piece: len(piece.scores), judgments.lookup, 2)
    assert isinstance(sizes, list)
    assert sum(sizes) == count


# Real runs

COLLECTIONS = {
    "trec-robust03/qrels.txt.gz": "trec-robust03/runs",
    "trec-covid/round1/qrels/qrels-rnd1.txt": "trec-covid/round1/runs",
    "qrels/qrels.dl21-passage.txt.gz": "trec-dl21/runs",
    "trec-web2012/qrels.adhoc.txt": "trec-web2012/runs",
}


@pytest.mark.parametrize("qrels", COLLECTIONS)
def test_real_runs_are_scored_as_when_read_with_care(
    qrels: str, any_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, judgments = some(sorted(any_data(COLLECTIONS[qrels]).iterdir()), 10), any_data(qrels)
    fast = rg.evaluate(judgments, runs, MEASURES)
    assert len(fast.runs) == len(runs)
    monkeypatch.setattr(trec, "scan_pieces", lambda *_, **__: None)
    assert_same_scores(fast, rg.evaluate(judgments, runs, MEASURES))
