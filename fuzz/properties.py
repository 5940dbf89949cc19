"""What must hold for any bytes. The fuzzer looks for counterexamples; the tests try the kept cases.

Only InputError is raised. The readers read the same as the plain-Python oracles, to the last bit. If
strict reading accepts a file, lenient reading gives the same. Files that are written read back the same.
"""

from __future__ import annotations

import itertools
import json
import re
import struct
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import plain
import plain_tables
from plain import bits

from rankgauge import (
    Features,
    InputError,
    Judgments,
    Run,
    Scores,
    read_letor,
    read_qrels,
    read_run,
    write_qrels,
    write_run,
)
from rankgauge.core.sealing import read_json, seal
from rankgauge.data.roles import judgment_columns, places_of, run_columns
from rankgauge.io.compression import detect_compression
from rankgauge.io.files import UTF8_MARK, UTF16_MARKS, Content
from rankgauge.io.kinds import SEPARATORS, kind_of
from rankgauge.measures.around import inner
from rankgauge.native import (
    csv as native_csv,
    ids as native_ids,
    letor as native_letor,
    scan as native_scan,
    trec as native_trec,
)
from rankgauge.scores.documents import (
    NUMBERS,
    UNSEALED_VERSION,
    Document,
    ScoresDescription,
    document_of,
    scores_of_json,
)
from rankgauge.scores.saved import columns_of, read_description

SIZE_LIMIT = 1 << 16
"""Small, so that no input asks for much memory or time."""

BOTH = (False, True)
ODD = re.compile(rb"[\0-\x08\x0b-\x1f]")
"""What the fast scan leaves to the careful readers."""

ZERO = bits([0.0])


def exact(data: bytes) -> Any:
    """The bytes in memory of exactly their size, so that a sanitizer notices a read beyond the end."""
    return np.frombuffer(data, dtype=np.uint8).copy()


# Tokenizers


def trec_tokens(data: bytes, folder: Path) -> None:
    """Every combination of flags finds the columns, numbers and faults that plain Python finds."""
    text = exact(data)
    for columns, whole, lenient, more in itertools.product((4, 6), BOTH, BOTH, BOTH):
        places, values, faults = native_trec.tokenize(text, columns, whole, lenient, more)
        expected = plain.trec_tokens(data, columns, whole, lenient, more)
        spans = [[tuple(span) for span in row] for row in places.T.reshape(-1, 4, 2).tolist()]
        assert spans == [row for row, _ in expected.rows]
        assert bits(values) == bits(value for _, value in expected.rows)
        assert faults == expected.faults
        starts, lengths = np.ascontiguousarray(places[0]), np.ascontiguousarray(places[1])
        topics = [data[a : a + n] for (a, n), *_ in spans]
        changes = [i for i, topic in enumerate(topics) if i == 0 or topic != topics[i - 1]]
        assert native_trec.starts_of_topics(text, starts, lengths).tolist() == changes


def letor_tokens(data: bytes, folder: Path) -> None:
    """The LETOR tokenizer finds the grades, queries, features and faults that plain Python finds."""
    text = exact(data)
    for lenient, queries in itertools.product(BOTH, BOTH):
        places, lines, labels, offsets, columns, values, faults = native_letor.tokenize(
            text, lenient, queries
        )
        expected = plain.letor_tokens(data, lenient, queries)
        rows = expected.rows
        assert [tuple(span) for span in places[:2].T.tolist()] == [row.query for row in rows]
        assert [tuple(span) for span in places[2:].T.tolist()] == [row.document for row in rows]
        assert lines.tolist() == [data.count(b"\n", 0, row.document[0]) for row in rows]
        assert labels.tolist() == [row.grade for row in rows]
        assert np.diff(offsets).tolist() == [len(row.features) for row in rows]
        assert columns.tolist() == [f - 1 for row in rows for f in row.features]
        singles = [plain.single(v) for row in rows for v in row.features.values()]
        assert bits(values) == bits(singles)
        assert faults == expected.faults


def scan(data: bytes, folder: Path) -> None:
    """The fast scan gives what plain Python finds, or nothing. It is right about where topics end."""
    text = exact(data)
    for columns in (4, 6):
        expected = plain.trec_tokens(data, columns, columns == 4, False, False)
        rows = [[data[a : a + n] for a, n in spans] for spans, _ in expected.rows]
        judged: dict[bytes, list[bytes]] = {}
        for topic, _, document, _ in rows[::2]:
            judged.setdefault(topic, []).append(document)
        judged = {topic: list(dict.fromkeys(names)) for topic, names in judged.items()}
        documents = [(topic, name) for topic, names in judged.items() for name in names]
        lookup = native_scan.Lookup(
            exact(b"".join(judged)),
            offsets_of(judged),
            offsets_of(judged.values()),
            exact(b"".join(name for _, name in documents)),
            offsets_of(name for _, name in documents),
        )
        found = native_scan.scan(text, columns, None)
        looked_up = native_scan.scan(text, columns, lookup)
        assert (found is None) == (looked_up is None)
        if found is None or looked_up is None:
            continue
        assert not expected.faults
        place = {pair: i for i, pair in enumerate(documents)}
        assert looked_up[4].tolist() == [place.get((row[0], row[2]), -1) for row in rows]
        numbers = {topic: i for i, topic in enumerate(judged)}
        changes = [i for i, row in enumerate(rows) if i == 0 or row[0] != rows[i - 1][0]]
        for start, end in itertools.pairwise([*changes, len(rows)]):
            names = {row[2] for row in rows[start:end]}
            assert len(names) == end - start, "took a repeated document"
        topics = looked_up[0].tolist()
        assert len({topic[4] for topic in topics}) == len({row[0] for row in rows})
        assert [topic[0] for topic in topics] == changes
        assert [topic[1] for topic in topics] == [numbers.get(rows[i][0], -1) for i in changes]
        assert [data[a : a + n] for _, _, a, n, *_ in topics] == [rows[i][0] for i in changes]
        spans = [list(spans[2]) for spans, _ in expected.rows]
        for topics, starts, lengths, values, _, tag in (found, looked_up):
            assert np.stack([starts, lengths], axis=1).tolist() == spans
            assert bits(values) == bits(value for _, value in expected.rows)
            assert tag == (rows[-1][3] if rows and columns == 6 else b"")
            with np.errstate(over="ignore"):
                single = values.astype(np.float32)
            with np.errstate(invalid="ignore"):
                falls = np.diff(single) < 0
            blocks = itertools.pairwise([*changes, len(rows)])
            for (start, end), topic in zip(blocks, topics, strict=True):
                assert not topic[5] or falls[start : end - 1].all()
    starts = [
        (at + word.start(), word[0])
        for at, line in list(plain.lines(data))[1:]
        if (word := plain.WORD.search(line)) and at + word.end() < len(data)
    ]
    new = [at for at, word in starts if word != starts[0][1]]
    found_at = native_scan.next_topic(text)
    if ODD.search(data) is None:
        assert found_at == (new[0] if new else -1)


# Readers


def run(data: bytes, folder: Path) -> None:
    """A run is read as plain Python reads it, and reads back the same once written, best first."""
    for comments, more in itertools.product(BOTH, BOTH):
        text = text_of(data, comments)
        read = reader(read_run, data, folder, comments=comments, more_columns=more)
        run_read = compared(read, run_table, text, partial(plain.trec_table, columns=6, more=more))
    # The last was read with the most allowed.
    if run_read is not None and (again := written(run_read, write_run, read_run, folder)):
        best_first = [
            (topic, sorted(rows, key=lambda row: -struct.unpack("d", row[1])[0]))
            for topic, rows in run_table(run_read)
        ]
        assert run_table(again) == best_first
        assert again.tag == run_read.tag


def qrels(data: bytes, folder: Path) -> None:
    """Judgments are read as plain Python reads them, and read back the same once written."""
    for comments in BOTH:
        text = text_of(data, comments)
        read = reader(read_qrels, data, folder, comments=comments)
        judgments = compared(read, qrels_table, text, partial(plain.trec_table, columns=4))
    if judgments is not None and (again := written(judgments, write_qrels, read_qrels, folder)):
        assert qrels_table(again) == qrels_table(judgments)


def subtopics(data: bytes, folder: Path) -> None:
    """Judgments for subtopics are read as plain Python reads them, and read back the same."""
    text = text_of(data)
    read = reader(read_qrels, data, folder, subtopics=True)
    oracle = partial(plain.trec_table, columns=4, subtopics=True)
    judgments = compared(read, subtopics_table, text, oracle)
    again_from = partial(read_qrels, subtopics=True)
    if judgments is not None and (again := written(judgments, write_qrels, again_from, folder)):
        assert subtopics_table(again) == subtopics_table(judgments)


def letor(data: bytes, folder: Path) -> None:
    """Features are read as plain Python reads them, and read back the same once written."""
    text = text_of(data)
    read = reader(read_letor, data, folder)
    oracle = partial(plain.letor_table, size_limit=SIZE_LIMIT)
    features = compared(read, letor_table, text, oracle)
    if features is not None and (again := written(features, write_letor, read_letor, folder)):
        assert letor_table(again) == letor_table(features)


def reader(read: Callable[..., Any], data: bytes, folder: Path, **options: bool) -> Any:
    """Reads these bytes from a file, strictly or leniently."""
    path = folder / "file"
    path.write_bytes(data)
    return lambda lenient: read(path, lenient=lenient, size_limit=SIZE_LIMIT, **options)


def text_of(data: bytes, comments: bool = False) -> bytes | None:
    """The text that a reader should see. None for other kinds of file, which have no oracle."""
    if (
        data.startswith(UTF16_MARKS)
        or detect_compression(data)
        or kind_of(Content("", SIZE_LIMIT, data))
    ):
        return None
    lines = data.removeprefix(UTF8_MARK).split(b"\n")
    return b"\n".join(b"" if comments and x.startswith(b"#") else x for x in lines)


def compared(
    read: Callable[[bool], Any],
    table_of: Callable[[Any], plain.Table],
    text: bytes | None,
    oracle: Callable[..., tuple[plain.Table, int]],
) -> Any:
    """The result of strict reading, None if it refuses. Checks strict and lenient reading."""
    results: dict[bool, Any] = {}
    lines = {}
    for lenient in BOTH:
        try:
            results[lenient] = read(lenient)
        except InputError as error:
            results[lenient], lines[lenient] = None, error.line
    if results[False] is not None:
        assert results[True] is not None, "read strictly, but refused when lenient"
        assert table_of(results[True]) == table_of(results[False])
        assert results[True].dropped == results[False].dropped == ()
    if text is None:
        return results[False]
    for lenient in BOTH:
        try:
            table, dropped = oracle(text, lenient=lenient)
        except plain.Refused as refused:
            expected: Any = ("an error at line", refused.line)
        else:
            expected = (expected_order(table_of, table), dropped)
        if results[lenient] is None:
            assert expected == ("an error at line", lines[lenient])
        else:
            notes = [str(note).split()[0] for note in results[lenient].dropped]
            counts = [int(note.replace(",", "")) for note in notes if note != "document"]
            assert expected == (table_of(results[lenient]), sum(counts))
    return results[False]


def expected_order(table_of: Callable[[Any], Any], table: plain.Table) -> plain.Table:
    """The oracle's table in the order in which the reader keeps it."""
    if table_of is subtopics_table:
        return [(topic, sorted(rows)) for topic, rows in table]
    return table


def written(data: Any, write: Any, read: Any, folder: Path) -> Any:
    """What is read after writing. None if an id cannot be written; then writing must be refused."""
    path = folder / "again"
    try:
        write(data, path)
    except InputError:
        return None
    return read(path)


def write_letor(features: Features, path: Path) -> None:
    """Write as few values as possible: zeros are left out, except -0.0 and the last value of a row,
    which says how many values there are."""
    width = features.values.shape[1]
    lines = []
    for query, rows in segments(features):
        for row in rows:
            pairs = [
                b"%d:%b" % (feature, repr(value).encode())
                for feature, value in enumerate(features.values[row].tolist(), 1)
                if feature == width or bits([value]) != ZERO
            ]
            end = b"" if features.documents is None else b" # docid = " + features.documents[row]
            line = (features.labels[row], query, b" ".join(pairs), end)
            lines.append(b"%d qid:%b %b%b\n" % line)
    path.write_bytes(b"".join(lines))


def segments(data: Any) -> list[tuple[bytes, range]]:
    """Each query with its rows. The first query starts at row 0."""
    bounds = data.bounds.tolist()
    assert bounds[0] == 0
    return [
        (query, range(*pair))
        for query, pair in zip(data.queries, itertools.pairwise(bounds), strict=True)
    ]


def run_table(found: Run) -> plain.Table:
    documents, scores = list(found.documents), found.scores.tolist()
    assert len(documents) == len(scores) == found.bounds[-1]
    return [(q, [(documents[i], bits([scores[i]])) for i in rows]) for q, rows in segments(found)]


def qrels_table(found: Judgments) -> plain.Table:
    documents, grades = list(found.documents), found.grades.tolist()
    assert len(documents) == len(grades) == found.bounds[-1]
    return [(q, [(documents[i], grades[i]) for i in rows]) for q, rows in segments(found)]


def subtopics_table(found: Judgments) -> plain.Table:
    documents, aspects = list(found.documents), found.subtopics
    assert aspects is not None
    names, offsets = list(aspects.names), aspects.offsets.tolist()
    entries = list(zip(aspects.numbers.tolist(), aspects.grades.tolist(), strict=True))
    return [
        (
            q,
            sorted(
                (documents[i], names[n], g)
                for i in rows
                for n, g in entries[slice(*offsets[i : i + 2])]
            ),
        )
        for q, rows in segments(found)
    ]


def letor_table(found: Features) -> plain.Table:
    names = [None] * len(found.labels) if found.documents is None else list(found.documents)
    labels, values = found.labels.tolist(), found.values.tolist()
    assert len(names) == len(labels) == len(values) == found.bounds[-1]
    return [
        (q, [(names[i], labels[i], bits(values[i])) for i in rows]) for q, rows in segments(found)
    ]


# Tables


def csv_cells(data: bytes, folder: Path) -> None:
    """The cells of CSV and the first fault are the same as in plain Python."""
    text = exact(data)
    for separator in SEPARATORS:
        part = separator.encode()
        rows = plain_tables.csv_rows(data, part)
        header, start, fault = native_csv.first_row(text, ord(separator))
        wrong = None
        try:
            _, after, cells = next(rows, (0, len(data), []))
        except plain_tables.Broken as broken:
            wrong = (broken.kind, broken.position)
        if wrong is not None:
            assert (fault, start) == wrong
            continue
        assert (header, start, fault) == (cells, after, 0)
        if not header:
            continue
        for wanted in {(0,), (0, len(header) - 1), tuple(range(len(header)))[:3]}:
            compare_cells(data, text, separator, start, len(header), tuple(sorted(set(wanted))))


def compare_cells(
    data: bytes, text: Any, separator: str, start: int, columns: int, wanted: tuple[int, ...]
) -> None:
    slots = np.full(columns, -1, dtype=np.int64)
    slots[list(wanted)] = np.arange(len(wanted))
    starts, lengths, fault, position, _, _ = native_csv.rows(
        text, ord(separator), start, columns, slots
    )
    rows, wrong = plain_tables.csv_wanted(data, separator.encode(), start, columns, wanted)
    assert (fault, position) == ((0, 0) if wrong is None else wrong)
    for slot in range(len(wanted)):
        expected = [cells[slot] for _, cells in rows]
        raw, offsets = native_csv.texts(text, starts[slot], lengths[slot])
        ends = offsets.tolist()
        assert [raw[a:b].tobytes() for a, b in itertools.pairwise(ends)] == expected
        numbers, bad = native_csv.numbers(text, starts[slot], lengths[slot])
        values = [plain_tables.number(cell) for cell in expected]
        first = values.index(None) if None in values else -1
        assert bad == first
        kept = values if first < 0 else values[:first]
        assert bits(numbers[: len(kept)]) == bits(value for value in kept if value is not None)


def csv(data: bytes, folder: Path) -> None:
    """Runs and judgments in CSV are the same as in plain Python, and faults have the right lines."""
    kind = kind_of(Content("", SIZE_LIMIT, data))
    text = data.removeprefix(UTF8_MARK)
    readers: list[tuple[Any, Any, Any, Any]] = [
        (read_run, run_table, run_columns(), "score"),
        (read_qrels, qrels_table, judgment_columns(), "grade"),
    ]
    for read, table_of, wanted, value in readers:
        try:
            found = table_of(reader(read, data, folder)(False))
            line = None
        except InputError as error:
            found, line = None, error.line
        if kind is None or kind.form != "csv" or detect_compression(data):
            continue
        part = kind.separator.encode()
        expected, at = None, None
        try:
            _, start, header = next(plain_tables.csv_rows(text, part))
            names = [name.decode("utf-8", "surrogateescape") for name in header]
            places = places_of(wanted, names, "")
            asked = tuple(place for _, place in places)
            if places[2][0].option == "rank":
                value = "rank"
            expected = plain_tables.csv_table(text, part, start, len(header), asked, value)
        except (InputError, plain_tables.Broken):
            at = line
        except plain.Refused as refused:
            at = refused.line
        assert found == expected
        assert b'"' in text or line == at  # a row with quotes may start on an earlier line


def by_query(data: bytes, folder: Path) -> None:
    """Documents by query in JSON are the same as in plain Python, if it knows the shape."""
    text = data.removeprefix(UTF8_MARK)
    for read, table_of, gold in ((read_run, run_table, False), (read_qrels, qrels_table, True)):
        try:
            found = table_of(reader(read, data, folder)(False))  # type: ignore[operator]
        except InputError:
            found = None
        expected = plain_tables.by_query(text, gold)
        if expected is not None and kind_of(Content("", SIZE_LIMIT, data)) is not None:
            assert found == expected


# Columns of ids


def ids(data: bytes, folder: Path) -> None:
    """Numbers, repeats, matches and pieces are as in plain Python. Wrong offsets are refused."""
    groups = [line.split(b" ") for line in data.split(b"\n")]
    flat = [name for group in groups for name in group]
    column, offsets = exact(b"".join(flat)), offsets_of(flat)
    bounds = offsets_of(groups)
    distinct = {name: i for i, name in enumerate(dict.fromkeys(flat))}
    numbers, firsts = native_ids.number(column, offsets)
    assert numbers.tolist() == [distinct[name] for name in flat]
    assert firsts.tolist() == [flat.index(name) for name in distinct]
    starts = bounds.tolist()
    assert native_ids.repeats(column, offsets, bounds).tolist() == [
        starts[g] + group.index(name) if group.index(name) < i else -1
        for g, group in enumerate(groups)
        for i, name in enumerate(group)
    ]
    others = [list(dict.fromkeys(group)) for group in reversed(groups)]
    other_flat = [name for group in others for name in group]
    partner = [len(data) * i % (len(others) + 1) - 1 for i in range(len(groups))]
    matched = native_ids.match(
        column,
        offsets,
        bounds,
        exact(b"".join(other_flat)),
        offsets_of(other_flat),
        offsets_of(others),
        np.array(partner, dtype=np.int64),
    )
    other_starts = offsets_of(others).tolist()
    assert matched.tolist() == [
        other_starts[p] + others[p].index(name) if p >= 0 and name in others[p] else -1
        for group, p in zip(groups, partner, strict=True)
        for name in group
    ]
    hostile_ids(data, column, offsets)


def hostile_ids(data: bytes, column: Any, offsets: Any) -> None:
    """Any numbers as offsets, bounds, starts and lengths: they are refused if they do not fit."""
    wild = exact(data).astype(np.int8).astype(np.int64)

    def ascend_within(end: int) -> bool:
        steps = wild.tolist()
        return bool(steps) and steps == sorted(steps) and steps[0] >= 0 and steps[-1] <= end

    refused_unless(ascend_within(column.size), lambda: native_ids.number(column, wild))
    refused_unless(
        ascend_within(len(offsets) - 1), lambda: native_ids.repeats(column, offsets, wild)
    )
    starts, lengths = wild[::2].copy(), wild[1::2].copy()
    pairs = list(zip(starts.tolist(), lengths.tolist(), strict=False))
    fits = len(starts) == len(lengths) and all(
        a >= 0 and n >= 0 and a + n <= column.size for a, n in pairs
    )
    pieces = refused_unless(fits, lambda: native_ids.gather(column, starts, lengths))
    if pieces is not None:
        raw = column.tobytes()
        assert pieces[0].tobytes() == b"".join(raw[a : a + n] for a, n in pairs)
        assert pieces[1].tolist() == offsets_of([raw[a : a + n] for a, n in pairs]).tolist()


# Scores


def scores(data: bytes, folder: Path) -> None:
    """A file of scores is refused, or its scores are the same as in plain Python and within the
    ranges.

    The JSON of version 1 is read directly. The same document is also used as the metadata of a Parquet
    file. Its columns are numbers made of the same bytes, so that it can be checked without the
    decoder.
    """
    try:
        found = scores_of_json(data, "x")
    except InputError:
        found = None
    if found is not None:
        assert bits(found.values.ravel().tolist()) == bits(plain.json_numbers(data, "values"))
        sound_scores(found)
        again = described_again(found).scores(found.values, found.present, found.judged_at_10, "x")
        assert repr(vars(again)) == repr(vars(found))
    metadata_scores(data)


def metadata_scores(data: bytes) -> None:
    """Any text as the metadata, any bytes as the numbers of a Parquet file."""
    text = data.decode("utf-8", "replace")
    text = text.replace('"version": 1', f'"version": {UNSEALED_VERSION}', 1)
    try:
        entries = read_json(text, "x", "a file of scores", "Scores.save")
        if isinstance(entries, dict):
            text = json.dumps({key: entries[key] for key in entries if key not in NUMBERS})
            entries = json.loads(text)
        described = ScoresDescription.by(Document(entries, [UNSEALED_VERSION], "x"))
    except InputError:
        return
    runs, queries, measures = described.shape
    columns = columns_of(entries["measures"])
    rows = runs * queries
    assert read_description(text, columns, rows, "x")[1].shape == described.shape
    for wrong in (columns[:-1], columns[::-1], [*columns, columns[-1]]):
        refused(lambda wrong=wrong: read_description(text, wrong, rows, "x"))
    refused(lambda: read_description(text, columns, rows + 1, "x"))
    cells = np.resize(np.frombuffer(data, dtype=np.uint8), (rows, measures, 8)).copy()
    for numbers in (cells.view(np.float64), cells.astype(np.float64)[:, :, :1] / 200):
        table = numbers.reshape(runs, queries, measures)
        try:
            made = described.scores(
                table, np.ones((runs, queries), dtype=bool), np.full((runs, queries), 0.5), "x"
            )
        except InputError:
            continue
        sound_scores(made)


def described_again(loaded: Scores) -> ScoresDescription:
    """The metadata that a Parquet file of these scores would have."""
    text = json.dumps(seal(document_of(loaded)), allow_nan=False)
    columns = columns_of([str(measure) for measure in loaded.measures])
    return read_description(text, columns, len(loaded.runs) * len(loaded.queries), "x")[1]


def sound_scores(loaded: Scores) -> None:
    """Checks that names differ, shapes fit, and each measure can give its scores."""
    names = (loaded.runs, loaded.queries, tuple(map(str, loaded.measures)))
    assert all(len(set(axis)) == len(axis) for axis in names)
    assert loaded.values.shape == tuple(map(len, names))
    policies = loaded.policies
    if policies.source == "joined" or policies.standardized is not None:
        return
    for m, measure in enumerate(loaded.measures):
        low, high = inner(measure).range
        for value in loaded.values[:, :, m].ravel().tolist():
            assert value != value or low - 1e-9 <= value <= high + 1e-9


def refused(call: Callable[[], Any]) -> None:
    try:
        call()
    except InputError:
        return
    raise AssertionError("took what does not fit")


def refused_unless(fits: bool, call: Callable[[], Any]) -> Any:
    try:
        result = call()
    except ValueError:
        assert not fits, "refused what fits"
        return None
    assert fits, "took what does not fit"
    return result


def offsets_of(pieces: Iterable[Any]) -> Any:
    return np.cumsum([0, *map(len, pieces)], dtype=np.int64)


TARGETS: dict[str, Callable[[bytes, Path], None]] = {
    "trec_tokens": trec_tokens,
    "letor_tokens": letor_tokens,
    "scan": scan,
    "run": run,
    "qrels": qrels,
    "subtopics": subtopics,
    "letor": letor,
    "ids": ids,
    "scores": scores,
    "csv_cells": csv_cells,
    "csv": csv,
    "json": by_query,
    "json_lines": by_query,
}
"""The properties by name; each takes the bytes and a folder to write files in."""
