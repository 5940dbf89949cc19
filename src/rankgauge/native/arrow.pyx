# cython: boundscheck=False, wraparound=False, cdivision=True
"""Columns of ids and numbers out of Arrow streams and NumPy arrays, without a Python object a row.

An Arrow stream comes as the capsule that `__arrow_c_stream__` gives (the Arrow C data interface).
What its arrays declare is checked: lengths, the number of buffers and children, ascending offsets,
places in dictionaries and in blocks of text. What is handed out is always a copy: the maker of a
stream may change its memory later. The batches are released with the table.
"""
import numpy as np

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy, memset

ctypedef const unsigned char* Bytes

cdef extern from *:
    ctypedef const void* BufferPointer "const void*"


cdef struct ArrowSchema:
    const char* format
    const char* name
    const char* metadata
    long long flags
    long long n_children
    ArrowSchema** children
    ArrowSchema* dictionary
    void (*release)(ArrowSchema*) noexcept nogil
    void* private_data


cdef struct ArrowArray:
    long long length
    long long null_count
    long long offset
    long long n_buffers
    long long n_children
    BufferPointer* buffers
    ArrowArray** children
    ArrowArray* dictionary
    void (*release)(ArrowArray*) noexcept nogil
    void* private_data


cdef struct ArrowArrayStream:
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*) noexcept nogil
    int (*get_next)(ArrowArrayStream*, ArrowArray*) noexcept nogil
    const char* (*get_last_error)(ArrowArrayStream*) noexcept nogil
    void (*release)(ArrowArrayStream*) noexcept nogil
    void* private_data


cdef enum Kind:
    SIGNED, UNSIGNED, OFFSETS, VIEWS, NULLS


cdef struct Layout:
    Kind kind
    int width  # bytes of a number, or of an offset


cdef struct Values:
    Kind kind
    int width
    long long offset
    long long length
    Bytes validity  # NULL where all are valid
    Bytes values  # numbers, offsets or views
    Bytes data  # the text that offsets lead into
    BufferPointer* blocks  # the texts that views lead into
    Bytes sizes
    long long block_count


cdef struct Piece:
    Bytes start
    long long length
    unsigned char[24] digits


LAYOUTS = {
    b"c": (SIGNED, 1), b"s": (SIGNED, 2), b"i": (SIGNED, 4), b"l": (SIGNED, 8),
    b"C": (UNSIGNED, 1), b"S": (UNSIGNED, 2), b"I": (UNSIGNED, 4), b"L": (UNSIGNED, 8),
    b"u": (OFFSETS, 4), b"z": (OFFSETS, 4), b"U": (OFFSETS, 8), b"Z": (OFFSETS, 8),
    b"vu": (VIEWS, 16), b"vz": (VIEWS, 16), b"n": (NULLS, 0),
}
"""How the columns that can be ids lie in memory, by the format that Arrow writes for their type."""

NUMBERS = {
    b"c": np.int8, b"s": np.int16, b"i": np.int32, b"l": np.int64,
    b"C": np.uint8, b"S": np.uint16, b"I": np.uint32, b"L": np.uint64,
    b"e": np.float16, b"f": np.float32, b"g": np.float64,
}

cdef long long MOST = 1LL << 60
cdef unsigned char NOTHING = 0


cdef inline long long load_signed(Bytes p, int width) noexcept nogil:
    cdef signed char a = 0
    cdef short b = 0
    cdef int c = 0
    cdef long long d = 0
    if width == 8:
        memcpy(&d, p, 8)
        return d
    if width == 4:
        memcpy(&c, p, 4)
        return c
    if width == 2:
        memcpy(&b, p, 2)
        return b
    memcpy(&a, p, 1)
    return a


cdef inline unsigned long long load_unsigned(Bytes p, int width) noexcept nogil:
    cdef unsigned char a = 0
    cdef unsigned short b = 0
    cdef unsigned int c = 0
    cdef unsigned long long d = 0
    if width == 8:
        memcpy(&d, p, 8)
        return d
    if width == 4:
        memcpy(&c, p, 4)
        return c
    if width == 2:
        memcpy(&b, p, 2)
        return b
    memcpy(&a, p, 1)
    return a


cdef inline bint is_null(const Values* column, long long i) noexcept nogil:
    cdef long long bit = column.offset + i
    if column.kind == NULLS:
        return True
    return column.validity != NULL and not (column.validity[bit >> 3] >> (bit & 7)) & 1


cdef inline void write_digits(bint negative, unsigned long long magnitude, Piece* out) noexcept nogil:
    """A whole number as decimal text, at the end of the piece's own buffer."""
    cdef int at = 24
    while True:
        at -= 1
        out.digits[at] = 48 + magnitude % 10
        magnitude //= 10
        if magnitude == 0:
            break
    if negative:
        at -= 1
        out.digits[at] = 45
    out.start = &out.digits[at]
    out.length = 24 - at


cdef inline bint read_piece(const Values* column, long long i, Piece* out) noexcept nogil:
    """The bytes of row i, none where it is null; False where they would lie outside the column."""
    cdef Bytes p
    cdef long long start, end
    out.start = &NOTHING
    out.length = 0
    if i < 0 or i >= column.length:
        return False
    if is_null(column, i):
        return True
    p = column.values + (column.offset + i) * column.width
    if column.kind == SIGNED:
        start = load_signed(p, column.width)
        write_digits(start < 0, -<unsigned long long>start if start < 0 else start, out)
    elif column.kind == UNSIGNED:
        write_digits(False, load_unsigned(p, column.width), out)
    elif column.kind == OFFSETS:
        start = load_signed(p, column.width)
        end = load_signed(p + column.width, column.width)
        if start < 0 or end < start or (end > start and column.data == NULL):
            return False
        out.length = end - start
        if out.length:
            out.start = column.data + start
    else:
        out.length = load_signed(p, 4)
        if out.length < 0:
            return False
        if out.length <= 12:
            out.start = p + 4
            return True
        end = load_signed(p + 8, 4)
        start = load_signed(p + 12, 4)
        if end < 0 or end >= column.block_count or start < 0:
            return False
        if column.blocks[end] == NULL:
            return False
        if start + out.length > load_signed(column.sizes + 8 * end, 8):
            return False
        out.start = <Bytes>column.blocks[end] + start
    return True


cdef inline bint read_row(
    const Values* column, const Values* words, long long i, Piece* out
) noexcept nogil:
    """The bytes of row i, which in a dictionary column are those of the word it points at."""
    cdef Bytes p
    if words == NULL:
        return read_piece(column, i, out)
    if is_null(column, i):
        out.start = &NOTHING
        out.length = 0
        return True
    p = column.values + (column.offset + i) * column.width
    if column.kind == SIGNED:
        return read_piece(words, load_signed(p, column.width), out)
    if load_unsigned(p, column.width) > <unsigned long long>MOST:
        return False
    return read_piece(words, <long long>load_unsigned(p, column.width), out)


cdef void check_array(const ArrowArray* array) except *:
    if array.length < 0 or array.offset < 0 or array.length > MOST or array.offset > MOST:
        raise ValueError("an array of impossible length")
    if array.n_buffers < 0 or (array.n_buffers > 0 and array.buffers == NULL):
        raise ValueError("an array without its buffers")


cdef Bytes validity_of(const ArrowArray* array) except *:
    if array.null_count == 0 or array.n_buffers < 1:
        return NULL
    return <Bytes>array.buffers[0]


cdef Values values_of(
    const ArrowArray* array, Layout layout, long long skip, long long length
) except *:
    """The rows skip:skip + length of an array, once it is sure that it declares as many."""
    cdef Values values
    cdef long long buffers = 2 if layout.kind < OFFSETS else 3
    memset(&values, 0, sizeof(Values))
    check_array(array)
    if skip + length > array.length:
        raise ValueError("a column shorter than its table")
    values.kind = layout.kind
    values.width = layout.width
    values.offset = array.offset + skip
    values.length = length
    if layout.kind == NULLS:
        return values
    if array.n_buffers < buffers:
        raise ValueError(f"an array of {array.n_buffers} buffers, expected {buffers}")
    values.validity = validity_of(array)
    values.values = <Bytes>array.buffers[1]
    if values.values == NULL and length:
        raise ValueError("an array without its values")
    if layout.kind == OFFSETS:
        values.data = <Bytes>array.buffers[2]
    elif layout.kind == VIEWS:
        values.block_count = array.n_buffers - 3
        values.blocks = array.buffers + 2
        values.sizes = <Bytes>array.buffers[array.n_buffers - 1]
        if values.sizes == NULL and values.block_count:
            raise ValueError("an array of views without the sizes of its blocks")
    return values


cdef class Table:
    """All rows of an Arrow stream; the columns are asked for by their place.

    `names` and `formats` say what columns there are, a dictionary column by the format of its words;
    `encoded` which columns are dictionaries. `load` fetches the rows, before which there are none.
    Raises ValueError for a stream that fails or contradicts itself.
    """

    cdef ArrowArrayStream stream
    cdef ArrowSchema schema
    cdef ArrowArray* batches
    cdef Py_ssize_t count
    cdef readonly list names
    cdef readonly list formats
    cdef readonly list encoded
    cdef readonly long long rows

    def __cinit__(self, object capsule):
        cdef ArrowArrayStream* given = <ArrowArrayStream*>PyCapsule_GetPointer(
            capsule, "arrow_array_stream"
        )
        cdef int failed
        cdef ArrowSchema* child
        if given.release == NULL:
            raise ValueError("a stream that has been used already")
        self.stream = given[0]
        given.release = NULL
        with nogil:
            failed = self.stream.get_schema(&self.stream, &self.schema)
        if failed:
            self.schema.release = NULL
            raise ValueError(self.failure(failed))
        if <bytes>self.schema.format != b"+s":
            raise ValueError("a single column, expected a table")
        self.names, self.formats, self.encoded = [], [], []
        for i in range(self.schema.n_children):
            child = self.schema.children[i]
            name = b"" if child.name == NULL else <bytes>child.name
            self.names.append(name.decode("utf-8", "replace"))
            self.encoded.append(child.dictionary != NULL)
            self.formats.append(<bytes>(child if child.dictionary == NULL else child.dictionary).format)

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.batches[i].release != NULL:
                self.batches[i].release(&self.batches[i])
        free(self.batches)
        if self.schema.release != NULL:
            self.schema.release(&self.schema)
        if self.stream.release != NULL:
            self.stream.release(&self.stream)

    cdef str failure(self, int code):
        cdef const char* text = self.stream.get_last_error(&self.stream)
        return (<bytes>text).decode("utf-8", "replace") if text != NULL else f"error {code}"

    def load(self):
        """Fetches all rows."""
        cdef int failed
        cdef ArrowArray batch
        cdef ArrowArray* more
        while True:
            memset(&batch, 0, sizeof(ArrowArray))
            with nogil:
                failed = self.stream.get_next(&self.stream, &batch)
            if failed:
                raise ValueError(self.failure(failed))
            if batch.release == NULL:
                return
            more = <ArrowArray*>realloc(self.batches, (self.count + 1) * sizeof(ArrowArray))
            if more == NULL:
                batch.release(&batch)
                raise MemoryError
            self.batches = more
            self.batches[self.count] = batch
            self.count += 1
            check_array(&batch)
            if batch.n_children != self.schema.n_children:
                raise ValueError("a batch with other columns than its table")
            if self.rows + batch.length > MOST:
                raise ValueError("a table of impossible length")
            self.rows += batch.length

    cdef Layout layout(self, bytes format) except *:
        cdef Layout layout
        layout.kind, layout.width = LAYOUTS[format]
        return layout

    cdef Values values(self, Py_ssize_t b, Py_ssize_t column) except *:
        """What a batch holds of a column: the values, or in a dictionary column the places of words."""
        cdef ArrowArray* batch = &self.batches[b]
        cdef Layout layout = self.layout(<bytes>self.schema.children[column].format)
        if self.encoded[column] and layout.kind != SIGNED and layout.kind != UNSIGNED:
            raise ValueError("a dictionary whose places are no whole numbers")
        return values_of(batch.children[column], layout, batch.offset, batch.length)

    cdef Values words(self, Py_ssize_t b, Py_ssize_t column) except *:
        """The words of a dictionary column."""
        cdef ArrowArray* words = self.batches[b].children[column].dictionary
        if words == NULL:
            raise ValueError("a dictionary column without its dictionary")
        return values_of(words, self.layout(self.formats[column]), 0, words.length)

    def first_null(self, Py_ssize_t column):
        """The first row without a value, or -1."""
        cdef Py_ssize_t b
        cdef long long i, row = 0, length
        cdef Values values, words, whole
        cdef ArrowArray* child
        cdef Layout numbers = Layout(SIGNED, 1)
        cdef bint encoded = self.encoded[column], found
        cdef bytes format = <bytes>self.schema.children[column].format
        memset(&words, 0, sizeof(Values))
        for b in range(self.count):
            length = self.batches[b].length
            memset(&whole, 0, sizeof(Values))
            whole.offset = self.batches[b].offset
            whole.validity = validity_of(&self.batches[b])
            child = self.batches[b].children[column]
            if format in LAYOUTS:
                values = self.values(b, column)
            else:
                values = values_of(child, numbers, self.batches[b].offset, length)
            if encoded:
                words = self.words(b, column)
            if whole.validity == NULL and values.validity == NULL and values.kind != NULLS and (
                not encoded or (words.validity == NULL and words.kind != NULLS)
            ):
                row += length
                continue
            found = False
            with nogil:
                for i in range(length):
                    if is_null(&whole, i) or is_null(&values, i) or (
                        encoded and null_word(&values, &words, i)
                    ):
                        found = True
                        break
            if found:
                return row + i
            row += length
        return -1

    def ids(self, Py_ssize_t column):
        """The column (data, offsets) of the texts, or of the whole numbers as decimal text.

        A null is empty.
        """
        cdef bint encoded = self.encoded[column], fine = True
        cdef Py_ssize_t b
        cdef long long i, row = 0, at = 0
        cdef Values values, words
        cdef Piece piece
        cdef const Values* dictionary = &words if encoded else NULL
        memset(&words, 0, sizeof(Values))
        offsets_array = np.zeros(self.rows + 1, dtype=np.int64)
        cdef long long[::1] offsets = offsets_array
        for b in range(self.count):
            values = self.values(b, column)
            if encoded:
                words = self.words(b, column)
            with nogil:
                for i in range(values.length):
                    if not read_row(&values, dictionary, i, &piece) or at > MOST:
                        fine = False
                        break
                    at += piece.length
                    row += 1
                    offsets[row] = at
            if not fine:
                raise ValueError(f"row {row} leads outside its column")
        data_array = np.empty(at, dtype=np.uint8)
        cdef unsigned char[::1] data = data_array
        row = 0
        for b in range(self.count):
            values = self.values(b, column)
            if encoded:
                words = self.words(b, column)
            with nogil:
                for i in range(values.length):
                    # Memory that someone else changed meanwhile must not lead out of ours.
                    fine = read_row(&values, dictionary, i, &piece)
                    if not fine or piece.length != offsets[row + 1] - offsets[row]:
                        fine = False
                        break
                    if piece.length:
                        memcpy(&data[offsets[row]], piece.start, piece.length)
                    row += 1
            if not fine:
                raise ValueError(f"row {row} changed while it was read")
        return data_array, offsets_array

    def numbers(self, Py_ssize_t column):
        """The numbers of a column in the type they have."""
        cdef Py_ssize_t b
        cdef long long at = 0
        cdef Values values
        cdef Layout layout
        dtype = np.dtype(NUMBERS[self.formats[column]])
        layout.kind, layout.width = SIGNED, dtype.itemsize
        numbers = np.empty(self.rows, dtype=dtype)
        cdef unsigned char[::1] raw = numbers.view(np.uint8)
        for b in range(self.count):
            if self.batches[b].length == 0:
                continue
            values = values_of(
                self.batches[b].children[column],
                layout,
                self.batches[b].offset,
                self.batches[b].length,
            )
            memcpy(
                &raw[at], values.values + values.offset * values.width, values.length * values.width
            )
            at += values.length * values.width
        return numbers


cdef inline bint null_word(const Values* column, const Values* words, long long i) noexcept nogil:
    """Whether row i of a dictionary column points at a word that is null."""
    cdef Bytes p = column.values + (column.offset + i) * column.width
    cdef long long place = load_signed(p, column.width)
    if column.kind == UNSIGNED:
        place = <long long>load_unsigned(p, column.width)
    return 0 <= place < words.length and is_null(words, place)


def fixed_bytes(const unsigned char[:, ::1] rows):
    """The ids in rows of the same width, each without the zeros that fill it up."""
    cdef Py_ssize_t count = rows.shape[0], width = rows.shape[1], i, length
    cdef long long at = 0
    offsets_array = np.zeros(count + 1, dtype=np.int64)
    cdef long long[::1] offsets = offsets_array
    with nogil:
        for i in range(count):
            length = width
            while length and rows[i, length - 1] == 0:
                length -= 1
            at += length
            offsets[i + 1] = at
    data_array = np.empty(at, dtype=np.uint8)
    cdef unsigned char[::1] data = data_array
    with nogil:
        for i in range(count):
            if offsets[i + 1] > offsets[i]:
                memcpy(&data[offsets[i]], &rows[i, 0], offsets[i + 1] - offsets[i])
    return data_array, offsets_array


cdef inline int utf8_length(unsigned int point) noexcept nogil:
    """How many bytes a code point takes, 0 for none; an escaped byte (U+DC80 to U+DCFF) is one."""
    if point < 0x80 or 0xdc80 <= point <= 0xdcff:
        return 1
    if point < 0x800:
        return 2
    if 0xd800 <= point <= 0xdfff or point > 0x10ffff:
        return 0
    return 3 if point < 0x10000 else 4


cdef inline int write_utf8(unsigned int point, unsigned char* out) noexcept nogil:
    cdef int length = utf8_length(point), i
    if length == 1:
        out[0] = point & 0xff
        return 1
    for i in range(length - 1, 0, -1):
        out[i] = 0x80 | (point & 0x3f)
        point >>= 6
    out[0] = ((0xf00 >> length) & 0xff) | point
    return length


def fixed_text(const unsigned int[:, ::1] rows):
    """The ids in rows of code points, as UTF-8, and the first row that is no text, or -1.

    Each is without the zeros that fill it up; bytes escaped as surrogates come back as they were.
    """
    cdef Py_ssize_t count = rows.shape[0], width = rows.shape[1], i, j, length
    cdef long long at = 0
    cdef int size
    cdef unsigned int point
    cdef Py_ssize_t bad = -1
    offsets_array = np.zeros(count + 1, dtype=np.int64)
    cdef long long[::1] offsets = offsets_array
    with nogil:
        for i in range(count):
            length = width
            while length and rows[i, length - 1] == 0:
                length -= 1
            for j in range(length):
                size = utf8_length(rows[i, j])
                if size == 0 and bad < 0:
                    bad = i
                at += size
            offsets[i + 1] = at
    data_array = np.empty(at, dtype=np.uint8)
    cdef unsigned char[::1] data = data_array
    if bad < 0:
        with nogil:
            for i in range(count):
                at = offsets[i]
                for j in range(width):
                    # Points that someone else changed meanwhile must not lead out of our memory.
                    point = rows[i, j]
                    if at + utf8_length(point) > offsets[i + 1]:
                        break
                    at += write_utf8(point, &data[at])
    return data_array, offsets_array, bad


def decimals(rows):
    """The whole numbers of an array as ids in decimal text."""
    cdef Py_ssize_t count = len(rows), i
    cdef bint signed = rows.dtype.kind == "i"
    # A copy, for memory that someone else changes meanwhile must not lead out of ours.
    wide = np.array(rows, dtype=np.int64 if signed else np.uint64)
    cdef const unsigned char[::1] raw = wide.view(np.uint8)
    cdef Values values
    cdef Piece piece
    cdef long long at = 0
    memset(&values, 0, sizeof(Values))
    values.kind = SIGNED if signed else UNSIGNED
    values.width = 8
    values.length = count
    if count:
        values.values = &raw[0]
    offsets_array = np.zeros(count + 1, dtype=np.int64)
    cdef long long[::1] offsets = offsets_array
    with nogil:
        for i in range(count):
            read_piece(&values, i, &piece)
            at += piece.length
            offsets[i + 1] = at
    data_array = np.empty(at, dtype=np.uint8)
    cdef unsigned char[::1] data = data_array
    with nogil:
        for i in range(count):
            read_piece(&values, i, &piece)
            memcpy(&data[offsets[i]], piece.start, piece.length)
    return data_array, offsets_array


def changes(const unsigned char[::1] data, const long long[::1] offsets):
    """The rows at which an id differs from the one before; the first row is one."""
    cdef Py_ssize_t rows = offsets.shape[0] - 1, i
    cdef long long length
    if rows < 0:
        raise ValueError("id offsets are needed")
    for i in range(rows):
        if offsets[i] < 0 or offsets[i] > offsets[i + 1] or offsets[i + 1] > data.shape[0]:
            raise ValueError("id offsets outside their buffer")
    changed_array = np.ones(rows, dtype=np.bool_)
    cdef unsigned char[::1] changed = changed_array.view(np.uint8)
    with nogil:
        for i in range(1, rows):
            length = offsets[i + 1] - offsets[i]
            if length == offsets[i] - offsets[i - 1]:
                changed[i] = length != 0 and memcmp(
                    &data[offsets[i]], &data[offsets[i - 1]], length
                ) != 0
    return np.flatnonzero(changed_array).astype(np.int64, copy=False)
