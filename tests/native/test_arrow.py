"""Arrow streams and NumPy arrays become columns of ids as plain Python says, every batch is released
once, and arrays that contradict themselves are refused."""

from __future__ import annotations

import ctypes
import gc
import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.data.model import Ids
from rankgauge.native import arrow

INTEGERS = {
    **{"c": "b", "s": "h", "i": "i", "l": "q"},
    **{"C": "B", "S": "H", "I": "I", "L": "Q"},
}
"""The code of `struct` for Arrow's formats of whole numbers."""
FLOATS = {"f": "f", "g": "d"}
TEXTS = ["u", "z", "U", "Z", "vu", "vz"]


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


ALIVE: list[Producer] = []
"""Nothing in a stream made by hand owns its memory, so that no maker may go before it."""

POINTER = ctypes.c_void_p
SCHEMA_RELEASE = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
ARRAY_RELEASE = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
STREAM_RELEASE = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GET_ERROR = ctypes.CFUNCTYPE(POINTER, ctypes.POINTER(Stream))

Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", POINTER),
    ("private_data", POINTER),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(POINTER)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", POINTER),
    ("private_data", POINTER),
]
Stream._fields_ = [
    ("get_schema", POINTER),
    ("get_next", POINTER),
    ("get_last_error", POINTER),
    ("release", POINTER),
    ("private_data", POINTER),
]


@dataclass
class Piece:
    """One column of one batch, as its maker declares it."""

    length: int
    buffers: list[bytes | None]
    offset: int = 0
    null_count: int = -1
    dictionary: Piece | None = None


@dataclass
class Batch:
    columns: list[Piece]
    length: int
    offset: int = 0
    validity: bytes | None = None


@dataclass(eq=False)
class Producer:
    """An Arrow stream made by hand, which counts what is released."""

    formats: list[tuple[str, str | None]]
    batches: list[Batch]
    top: bytes = b"+s"
    schema_error: int = 0
    error_at: int = -1
    released: Counter[str] = field(default_factory=Counter)
    kept: list[Any] = field(default_factory=list)
    at: int = 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        functions = (
            GET_SCHEMA(self._get_schema),
            GET_NEXT(self._get_next),
            GET_ERROR(self._get_error),
            STREAM_RELEASE(self._release_stream),
        )
        self.message = ctypes.create_string_buffer(b"the disk is on fire")
        stream = Stream(*(ctypes.cast(f, POINTER) for f in functions), None)
        self.kept += [functions, stream]
        ALIVE.append(self)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [POINTER, ctypes.c_char_p, POINTER]
        return new(ctypes.addressof(stream), b"arrow_array_stream", None)

    def _get_schema(self, stream: Any, out: Any) -> int:
        if self.schema_error:
            return self.schema_error
        children = [
            Schema(
                form.encode(),
                f"c{i}".encode(),
                None,
                2,
                0,
                None,
                ctypes.pointer(Schema(words.encode())) if words else None,
                None,
                None,
            )
            for i, (form, words) in enumerate(self.formats)
        ]
        pointers = (ctypes.POINTER(Schema) * len(children))(*map(ctypes.pointer, children))
        release = SCHEMA_RELEASE(self._release_schema)
        self.kept += [children, pointers, release]
        out[0] = Schema(
            self.top,
            b"",
            None,
            0,
            len(children),
            pointers,
            None,
            ctypes.cast(release, POINTER),
            None,
        )
        return 0

    def _get_next(self, stream: Any, out: Any) -> int:
        if self.at == self.error_at:
            return 5
        if self.at == len(self.batches):
            out[0].release = None
            return 0
        batch = self.batches[self.at]
        children = [self._array(piece) for piece in batch.columns]
        pointers = (ctypes.POINTER(Array) * len(children))(*map(ctypes.pointer, children))
        number = self.at

        def released(array: Any) -> None:
            self.released[f"batch {number}"] += 1
            array[0].release = None

        release = ARRAY_RELEASE(released)
        buffers = self._buffers([batch.validity])
        self.kept += [children, pointers, release]
        out[0] = Array(
            batch.length,
            -1 if batch.validity else 0,
            batch.offset,
            1,
            len(children),
            buffers,
            pointers,
            None,
            ctypes.cast(release, POINTER),
            None,
        )
        self.at += 1
        return 0

    def _array(self, piece: Piece) -> Array:
        dictionary = None if piece.dictionary is None else self._array(piece.dictionary)
        self.kept.append(dictionary)
        return Array(
            piece.length,
            piece.null_count,
            piece.offset,
            len(piece.buffers),
            0,
            self._buffers(piece.buffers),
            None,
            None if dictionary is None else ctypes.pointer(dictionary),
            None,
            None,
        )

    def _buffers(self, buffers: list[Any]) -> Any:
        memory = [None if raw is None else ctypes.create_string_buffer(raw) for raw in buffers]
        addresses = [None if m is None else ctypes.addressof(m) for m in memory]
        array = (POINTER * len(buffers))(*addresses)
        self.kept += [memory, array]
        return array

    def _get_error(self, stream: Any) -> int:
        return ctypes.addressof(self.message)

    def _release_schema(self, schema: Any) -> None:
        self.released["schema"] += 1
        schema[0].release = None

    def _release_stream(self, stream: Any) -> None:
        self.released["stream"] += 1
        stream[0].release = None


def bitmap(bits: list[bool]) -> bytes:
    return bytes(
        sum(bit << j for j, bit in enumerate(bits[i : i + 8])) for i in range(0, len(bits), 8)
    )


def packed(form: str, values: list[Any], offset: int = 0, blocks: int = 1) -> Piece:
    """A column of these values, None for null, after `offset` values that do not belong to it."""
    nulls = [False] * offset + [value is None for value in values]
    validity = bitmap([not null for null in nulls]) if any(nulls) else None
    if form in INTEGERS or form in FLOATS:
        code = {**INTEGERS, **FLOATS}[form]
        raw = b"".join(struct.pack("=" + code, value or 0) for value in values)
        filler = b"\x55" * (struct.calcsize("=" + code) * offset)
        return Piece(len(values), [validity, filler + raw], offset)
    texts = [b"filler, longer than a view"] * offset + [value or b"" for value in values]
    if not form.startswith("v"):
        code = "=i" if form in "uz" else "=q"
        places = np.cumsum([0, *map(len, texts)]).tolist()
        offsets = b"".join(struct.pack(code, place) for place in places)
        return Piece(len(values), [validity, offsets, b"".join(texts)], offset)
    views, data = b"", [b""] * blocks
    for i, text in enumerate(texts):
        if len(text) <= 12:
            views += struct.pack("=i12s", len(text), text)
        else:
            block = i % blocks
            views += struct.pack("=i4sii", len(text), text[:4], block, len(data[block]))
            data[block] += text
    sizes = b"".join(struct.pack("=q", len(block)) for block in data)
    return Piece(len(values), [validity, views, *data, sizes], offset)


def table(producer: Producer) -> arrow.Table:
    read = arrow.Table(producer.__arrow_c_stream__())
    read.load()
    return read


def loaded(formats: Any, *batches: Batch) -> arrow.Table:
    return table(Producer(formats, list(batches)))


def one(form: str, piece: Piece, words: str | None = None) -> arrow.Table:
    return loaded([(form, words)], Batch([piece], piece.length))


words = st.binary(max_size=20) | st.sampled_from([b"", b"a", b"x" * 12, b"x" * 13])
bounds = {
    form: (-(2 ** (8 * struct.calcsize("=" + code) - 1)) if form.islower() else 0,
           2 ** (8 * struct.calcsize("=" + code) - form.islower()) - 1)
    for form, code in INTEGERS.items()
}  # fmt: skip


@st.composite
def id_batches(draw: Any) -> tuple[tuple[str, str | None], list[Batch], list[Any]]:
    """A column of any type that can be ids, in batches, and what it holds."""
    form = draw(st.sampled_from([*TEXTS, *INTEGERS]))
    index = draw(st.none() | st.sampled_from(list(INTEGERS)))
    values = st.integers(*bounds[form]) if form in INTEGERS else words
    if draw(st.booleans()):
        values = st.none() | values
    batches, expected = [], []
    for _ in range(draw(st.integers(0, 3))):
        skip, offset, rest = (draw(st.integers(0, 9)) for _ in range(3))
        blocks = draw(st.integers(1, 3))
        held = draw(st.lists(values, max_size=9))
        if index is None:
            filler = [0 if form in INTEGERS else b"?"]
            piece = packed(form, filler * skip + held + filler * rest, offset, blocks)
        else:
            vocabulary = draw(st.lists(values, min_size=1, max_size=5))
            place = st.integers(0, len(vocabulary) - 1)
            keys = draw(st.lists(st.none() | place if None in held else place, max_size=9))
            held = [None if key is None else vocabulary[key] for key in keys]
            piece = packed(index, [0] * skip + keys + [0] * rest, offset)
            piece.dictionary = packed(form, vocabulary, draw(st.integers(0, 3)), blocks)
        validity = None
        if draw(st.booleans()):
            present = draw(st.lists(st.booleans(), min_size=len(held), max_size=len(held)))
            validity = bitmap([True] * skip + present)
            held = [value if here else None for value, here in zip(held, present, strict=True)]
        batches.append(Batch([piece], len(held), skip, validity))
        expected += held
    return (form, None) if index is None else (index, form), batches, expected


@given(id_batches())
@examples(50)
def test_ids_are_those_of_the_column_whatever_its_type_and_batches(case: Any) -> None:
    formats, batches, expected = case
    producer = Producer([formats], batches)
    read = table(producer)
    assert read.names == ["c0"]
    assert read.rows == len(expected)
    nulls = [row for row, value in enumerate(expected) if value is None]
    assert read.first_null(0) == (nulls[0] if nulls else -1)
    if not nulls:
        ids = Ids(*read.ids(0))
        assert ids.offsets[0] == 0
        assert ids.offsets[-1] == len(ids.data)
        del read
        gc.collect()
        assert list(ids) == [v if isinstance(v, bytes) else b"%d" % v for v in expected]
        del ids
    else:
        del read
    gc.collect()
    assert producer.released == Counter(
        ["schema", "stream", *(f"batch {i}" for i in range(len(batches)))]
    )
    ALIVE.remove(producer)


@given(
    st.sampled_from([*INTEGERS, *FLOATS]),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.lists(st.integers(0, 100)))),
)
def test_numbers_are_those_of_the_column(form: str, batches: Any) -> None:
    made = [
        Batch([packed(form, [7] * skip + values, offset)], len(values), skip)
        for skip, offset, values in batches
    ]
    read = loaded([(form, None)], *made)
    numbers = read.numbers(0)
    assert numbers.tolist() == [value for _, _, values in batches for value in values]
    assert numbers.dtype == np.dtype({**INTEGERS, **FLOATS}[form])


def test_nothing_is_shared_with_the_maker_of_a_stream() -> None:
    batch = Batch([packed("U", [b"one", b"two"]), packed("g", [1.5, 2.5])], 2)
    producer = Producer([("U", None), ("g", None)], [batch])
    read = table(producer)
    (data, offsets), scores = read.ids(0), read.numbers(1)
    del read
    gc.collect()
    assert producer.released["batch 0"] == 1
    assert all(array.flags.owndata for array in (data, offsets, scores))
    assert list(Ids(data, offsets)) == [b"one", b"two"]
    assert scores.tolist() == [1.5, 2.5]


@pytest.mark.parametrize("place", [0, 8, 12])
def test_memory_that_changes_while_it_is_read_is_refused(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The length, the block and the start of a view, changed between the two passes."""
    producer = Producer([("vu", None)], [Batch([packed("vu", [b"longer than a view"])], 1)])
    read = table(producer)
    views = next(kept[1] for kept in producer.kept if isinstance(kept, list) and len(kept) == 4)
    empty = np.empty

    def meanwhile(*args: Any, **options: Any) -> Any:
        views[place : place + 4] = b"c\0\0\0"
        return empty(*args, **options)

    monkeypatch.setattr(np, "empty", meanwhile)
    with pytest.raises(ValueError, match="row 0 changed while it was read"):
        read.ids(0)


def test_a_failing_stream_says_why_and_releases_everything() -> None:
    producer = Producer([("u", None)], [Batch([packed("u", [b"a"])], 1)] * 3, error_at=2)
    with pytest.raises(ValueError, match="the disk is on fire"):
        table(producer)
    gc.collect()
    assert producer.released == Counter(["schema", "stream", "batch 0", "batch 1"])
    producer = Producer([], [], schema_error=22)
    with pytest.raises(ValueError, match="the disk is on fire"):
        table(producer)
    gc.collect()
    assert producer.released == Counter(["stream"])


def test_a_stream_is_used_once() -> None:
    capsule = Producer([], []).__arrow_c_stream__()
    arrow.Table(capsule)
    with pytest.raises(ValueError, match="used already"):
        arrow.Table(capsule)
    with pytest.raises(ValueError, match="PyCapsule"):
        arrow.Table(object())


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a table"):
        table(Producer([], [], top=b"u"))


TEXT = packed("u", [b"ab", b"cd"])
LONG = packed("vu", [b"a text that is long", b"b text that is long"])


def changed(piece: Piece, **changes: Any) -> Piece:
    return Piece(**{**piece.__dict__, **changes})


def with_buffer(piece: Piece, number: int, raw: bytes | None) -> Piece:
    buffers = list(piece.buffers)
    buffers[number] = raw
    return changed(piece, buffers=buffers)


def view(length: int, block: int, start: int) -> bytes:
    return struct.pack("=i4sii", length, b"a te", block, start) * 2


FAULTY = {
    "descending offsets": ("u", None, with_buffer(TEXT, 1, struct.pack("=iii", 0, 3, 2))),
    "a negative offset": ("u", None, with_buffer(TEXT, 1, struct.pack("=iii", -1, 1, 2))),
    "a negative length": ("u", None, changed(TEXT, length=-1)),
    "a negative array offset": ("u", None, changed(TEXT, offset=-1)),
    "a huge length": ("u", None, changed(TEXT, length=2**62)),
    "no data": ("u", None, with_buffer(TEXT, 2, None)),
    "no offsets": ("u", None, with_buffer(TEXT, 1, None)),
    "too few buffers": ("u", None, changed(TEXT, buffers=TEXT.buffers[:2])),
    "fewer values than rows": ("u", None, changed(TEXT, length=1)),
    "a view of negative length": ("vu", None, with_buffer(LONG, 1, view(-1, 0, 0))),
    "a view beyond its block": ("vu", None, with_buffer(LONG, 1, view(19, 0, 20))),
    "a view of another block": ("vu", None, with_buffer(LONG, 1, view(19, 1, 0))),
    "a view of block -1": ("vu", None, with_buffer(LONG, 1, view(19, -1, 0))),
    "a view from -1": ("vu", None, with_buffer(LONG, 1, view(19, 0, -1))),
    "a block that is not there": ("vu", None, with_buffer(LONG, 2, None)),
    "no sizes": ("vu", None, with_buffer(LONG, 3, None)),
    "no dictionary": ("i", "u", packed("i", [0, 0])),
    "a place beyond the dictionary": ("i", "u", changed(packed("i", [0, 2]), dictionary=TEXT)),
    "a place before the dictionary": ("c", "u", changed(packed("c", [0, -1]), dictionary=TEXT)),
    "a huge place": ("L", "u", changed(packed("L", [0, 2**64 - 1]), dictionary=TEXT)),
    "places that are text": ("u", "u", changed(TEXT, dictionary=TEXT)),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_arrays_that_contradict_themselves_are_refused(fault: str) -> None:
    form, dictionary, piece = FAULTY[fault]
    with pytest.raises(ValueError, match=r"."):
        loaded([(form, dictionary)], Batch([piece], 2)).ids(0)


def test_faulty_batches_are_refused() -> None:
    for batch in (Batch([TEXT], -1), Batch([TEXT], 2, -1), Batch([TEXT, TEXT], 2), Batch([], 2)):
        with pytest.raises(ValueError, match=r"length|columns"):
            loaded([("u", None)], batch)
    for faulty in (changed(packed("g", [1.0]), length=0), Piece(1, [None, None]), Piece(1, [])):
        with pytest.raises(ValueError, match=r"shorter|without its values|buffers"):
            loaded([("g", None)], Batch([faulty], 1)).numbers(0)
        with pytest.raises(ValueError, match=r"shorter|without its values|buffers"):
            loaded([("g", None)], Batch([faulty], 1)).first_null(0)


def test_a_null_in_several_pieces_is_found_at_its_row() -> None:
    batches = [Batch([packed("u", [b"a"] * 3)], 3), Batch([packed("u", [b"a", None])], 2)]
    assert loaded([("u", None)], *batches).first_null(0) == 4
    assert one("n", Piece(2, [])).first_null(0) == 0
    assert one("g", packed("g", [1.0, None])).first_null(0) == 1


@given(st.lists(st.binary(max_size=9).map(lambda raw: raw.rstrip(b"\0"))))
def test_bytes_of_fixed_width(values: list[bytes]) -> None:
    rows = np.array(values, dtype="S9").view(np.uint8).reshape(len(values), 9)
    assert list(Ids(*arrow.fixed_bytes(rows))) == values


characters = st.characters(codec="utf-8") | st.sampled_from("\udc80\udcff\x7f\x80\u07ff\u0800")


@given(st.lists(st.text(characters, max_size=6).map(lambda text: text.rstrip("\0"))))
def test_text_of_fixed_width(values: list[str]) -> None:
    rows = np.array(values, dtype="U6").view(np.uint32).reshape(len(values), 6)
    data, offsets, bad = arrow.fixed_text(rows)
    assert bad == -1
    assert Ids(data, offsets).texts() == values
    assert list(Ids(data, offsets)) == [v.encode("utf-8", "surrogateescape") for v in values]


@pytest.mark.parametrize("point", [0xD800, 0xDC7F, 0xDD00, 0xDFFF, 0x110000, 2**32 - 1])
def test_code_points_that_are_no_text_are_located(point: int) -> None:
    rows = np.array([[97, 98], [99, point], [point, 0]], dtype=np.uint32)
    assert arrow.fixed_text(rows)[2] == 1


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1)), st.lists(st.integers(0, 2**64 - 1))
)  # fmt: skip
def test_whole_numbers_as_text(signed: list[int], unsigned: list[int]) -> None:
    for values, dtype in ((signed, np.int64), (unsigned, np.uint64)):
        column = Ids(*arrow.decimals(np.array(values, dtype=dtype)))
        assert column.texts() == [str(value) for value in values]


@given(st.lists(st.sampled_from([b"", b"a", b"b", b"ab"])))
def test_changes_are_where_an_id_differs_from_the_one_before(values: list[bytes]) -> None:
    column = Ids.of([value.decode() for value in values])
    expected = [i for i in range(len(values)) if i == 0 or values[i] != values[i - 1]]
    assert arrow.changes(column.data, column.offsets).tolist() == expected


@pytest.mark.parametrize("offsets", [[], [-1, 0], [0, 3], [1, 0], [5, 1, 2]])
def test_changes_refuses_offsets_that_do_not_fit(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="offsets"):
        arrow.changes(np.zeros(2, np.uint8), np.array(offsets, dtype=np.int64))
