# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The fast way through a well-formed TREC file: one pass, no id copied, judgments looked up on the way.

It takes only what is plain: every topic's lines together, no fault, no duplicate, no control
characters, at most 256 MiB at a time. Of anything else it says no more than that, and the caller
reads the file the careful way (`tokenize`), which gives the same result or names the line that is wrong.

Every access is checked against the end of the text. A buffer holds whole lines of whole topics.
"""
import os
import sys

import numpy as np

cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memset

from rankgauge.native.hashing cimport fold, hash_bytes
from rankgauge.native.numbers cimport (
    FINE, POWERS, Text, has_mark, is_digit, parse_double, parse_grade, quotient,
)

cdef uint64_t SEED = int.from_bytes(os.urandom(8), "little") | 1
cdef bint LITTLE = sys.byteorder == "little"

# What is known of a topic.
cdef enum:
    ROW = 0
    QUERY = 1
    START = 2
    LENGTH = 3
    HASH = 4
    DESCENDING = 5
    FIELDS = 6

cdef Py_ssize_t MOST_BYTES = 1 << 28

cdef uint64_t ONES = 0x0101010101010101ULL
cdef uint64_t HIGHS = 0x8080808080808080ULL


cdef struct Slot:
    uint32_t tag
    int32_t row


@cython.final
cdef class Lookup:
    """What is judged of each query, with hashes: made once, shared by all runs and threads.

    The table of a query's documents is laid anew where a topic begins: it is then small and near.
    """

    cdef object columns
    cdef const unsigned char[::1] query_data, document_data
    cdef const int64_t[::1] query_offsets, bounds, document_offsets
    cdef uint64_t[::1] hashes
    cdef int32_t[::1] queries
    cdef Py_ssize_t largest

    def __init__(
        self,
        const unsigned char[::1] query_data, const int64_t[::1] query_offsets,
        const int64_t[::1] bounds,
        const unsigned char[::1] document_data, const int64_t[::1] document_offsets,
    ):
        """From the columns of some Judgments; query q has the documents bounds[q]:bounds[q + 1]."""
        check(query_offsets, query_data.shape[0])
        check(document_offsets, document_data.shape[0])
        check(bounds, document_offsets.shape[0] - 1)
        cdef Py_ssize_t queries = query_offsets.shape[0] - 1, rows = document_offsets.shape[0] - 1, q, i
        if rows > 0x7fffffff or bounds.shape[0] != queries + 1:
            raise ValueError("too many judgments, or bounds that do not fit")
        self.columns = (
            np.asarray(query_data), np.asarray(query_offsets), np.asarray(bounds),
            np.asarray(document_data), np.asarray(document_offsets),
        )
        self.query_data, self.query_offsets, self.bounds = query_data, query_offsets, bounds
        self.document_data, self.document_offsets = document_data, document_offsets
        self.hashes = np.empty(rows, dtype=np.uint64)
        self.queries = np.full(table_size(queries), -1, dtype=np.int32)
        self.largest = 0
        cdef uint64_t slot, mask = self.queries.shape[0] - 1
        with nogil:
            for q in range(queries):
                self.largest = max(self.largest, bounds[q + 1] - bounds[q])
                slot = hash_id(query_data, query_offsets, q) & mask
                while self.queries[slot] >= 0:
                    slot = (slot + 1) & mask
                self.queries[slot] = <int32_t>q
            for i in range(rows):
                self.hashes[i] = hash_id(document_data, document_offsets, i)

    def __reduce__(self):
        return Lookup, self.columns

    cdef int32_t query(self, Text p, Py_ssize_t length, uint64_t h) noexcept nogil:
        """The number of the query with this id, or -1."""
        cdef uint64_t mask = self.queries.shape[0] - 1, slot = h & mask
        cdef int32_t q
        while True:
            q = self.queries[slot]
            if q < 0 or same(self.query_data, self.query_offsets, q, p, length):
                return q
            slot = (slot + 1) & mask

    cdef uint64_t lay(self, Slot* table, int32_t q) noexcept nogil:
        """Lay the table of a query's documents; what to mask hashes by."""
        cdef Py_ssize_t i, size = table_size(self.bounds[q + 1] - self.bounds[q])
        cdef uint64_t slot, mask = size - 1
        memset(table, 0xff, size * sizeof(Slot))
        for i in range(self.bounds[q], self.bounds[q + 1]):
            slot = self.hashes[i] & mask
            while table[slot].row >= 0:
                slot = (slot + 1) & mask
            table[slot].tag = self.hashes[i] >> 32
            table[slot].row = <int32_t>i
        return mask

    cdef inline int32_t row(
        self, const Slot* table, uint64_t mask, Text p, Py_ssize_t length, uint64_t h
    ) noexcept nogil:
        """The judgment of this document by the table of its query, or -1."""
        cdef uint64_t slot = h & mask
        cdef uint32_t tag = h >> 32
        cdef int32_t row
        while True:
            row = table[slot].row
            if row < 0 or (
                table[slot].tag == tag
                and same(self.document_data, self.document_offsets, row, p, length)
            ):
                return row
            slot = (slot + 1) & mask


cdef void check(const int64_t[::1] offsets, Py_ssize_t size) except *:
    """Raise unless the offsets ascend and end where what they lead to ends."""
    cdef Py_ssize_t i, last = offsets.shape[0] - 1
    if last < 0 or offsets[0] != 0 or offsets[last] != size:
        raise ValueError("offsets that do not fit")
    for i in range(last):
        if offsets[i] > offsets[i + 1]:
            raise ValueError("offsets must ascend")


cdef inline uint64_t hash_id(
    const unsigned char[::1] data, const int64_t[::1] offsets, Py_ssize_t i
) noexcept nogil:
    return hash_bytes(&data[0] + offsets[i], offsets[i + 1] - offsets[i], SEED)


cdef inline bint same(
    const unsigned char[::1] data, const int64_t[::1] offsets, Py_ssize_t i,
    Text p, Py_ssize_t length,
) noexcept nogil:
    return (
        offsets[i + 1] - offsets[i] == length
        and memcmp(&data[0] + offsets[i], p, length) == 0
    )


cdef Py_ssize_t table_size(Py_ssize_t entries) noexcept nogil:
    """The power of two that keeps a table of so many entries at most a quarter full."""
    cdef Py_ssize_t size = 2
    while size < 4 * entries:
        size *= 2
    return size


cdef inline Text token_end(Text p, Text end) noexcept nogil:
    """Where this column ends: at the first byte up to the blank."""
    while p < end and p[0] > 32:
        p += 1
    return p


cdef inline Text hashed_token_end(Text p, Text end, uint64_t* out) noexcept nogil:
    """The same, with the hash of the column as `hash_bytes` gives it."""
    cdef uint64_t h = ~SEED, word, low
    cdef Text start = p
    cdef Py_ssize_t left
    while end - p >= 8:
        memcpy(&word, p, 8)
        low = (word - 0x2121212121212121ULL) & ~word & HIGHS  # the lowest set bit: a byte up to 32
        if low:
            low = ((low & (~low + 1)) - 1) >> 7  # ones in all bytes before it
            left = ((low & ONES) * ONES) >> 56
            word &= low
            out[0] = fold(h ^ word, SEED) + <uint64_t>(p - start + left)
            return p + left
        h = fold(h ^ word, SEED)
        p += 8
    word = 0
    left = 0
    while p + left < end and p[left] > 32:
        word |= (<uint64_t>p[left]) << (8 * left)
        left += 1
    out[0] = fold(h ^ word, SEED) + <uint64_t>(p - start + left)
    return p + left


cdef inline Text skip_blanks(Text p, Text end) noexcept nogil:
    """The next byte that is neither space nor tab."""
    while p < end and (p[0] == 32 or p[0] == 9):
        p += 1
    return p


cdef struct Word:
    Text start
    Py_ssize_t length


cdef inline Word word_of(Text start, Text end) noexcept nogil:
    """A column that the next line is likely to repeat."""
    cdef Word word
    word.start, word.length = start, end - start
    return word


cdef inline bint starts_with(Text p, Text end, Word word) noexcept nogil:
    """Whether the column that begins here is this word."""
    return (
        0 < word.length < end - p
        and p[word.length] <= 32
        and memcmp(p, word.start, word.length) == 0
    )


cdef inline Text line_end(Text p, Text end) noexcept nogil:
    """The start of the next line, if this one ends here; NULL otherwise."""
    if end - p > 1 and p[0] == 13 and p[1] == 10:
        p += 1
    if p == end:
        return p
    return p + 1 if p[0] == 10 else NULL


cdef inline Text simple_double(Text p, Text end, double* out) noexcept nogil:
    """Where a number such as -12.345678 ends, its value; NULL where `parse_double` must be asked."""
    cdef uint64_t mantissa = 0
    cdef bint negative = False
    cdef Text start, point = NULL
    if p < end and p[0] == 45:
        negative = True
        p += 1
    start = p
    while p < end and is_digit(p[0]):
        mantissa = mantissa * 10 + (p[0] - 48)
        p += 1
    if p < end and p[0] == 46:
        p += 1
        point = p
        while p < end and is_digit(p[0]):
            mantissa = mantissa * 10 + (p[0] - 48)
            p += 1
    # At most 19 digits, so nothing overflowed.
    if p - start > 19 or p - start < (1 if point == NULL else 2) or (p < end and p[0] > 32):
        return NULL
    out[0] = <double>mantissa
    if point != NULL and p > point:
        if mantissa <= (1ULL << 53):  # both are exact, so one rounding is made
            out[0] = out[0] / POWERS[p - point]
        elif not quotient(mantissa, p - point, out):
            return NULL
    if negative:
        out[0] = -out[0]
    return p


cdef bint any_twice(
    Text text, const int32_t* starts, const int32_t* lengths, const uint64_t* hashes,
    Py_ssize_t count, int32_t* table, Py_ssize_t size,
) noexcept nogil:
    """Whether two of these ids are the same."""
    cdef Py_ssize_t i
    cdef int32_t other
    cdef uint64_t slot, mask = size - 1
    memset(table, 0xff, size * sizeof(int32_t))
    for i in range(count):
        slot = hashes[i] & mask
        while True:
            other = table[slot]
            if other < 0:
                table[slot] = <int32_t>i
                break
            if (
                hashes[other] == hashes[i]
                and lengths[other] == lengths[i]
                and memcmp(text + starts[other], text + starts[i], lengths[i]) == 0
            ):
                return True
            slot = (slot + 1) & mask
    return False


cdef bint documents_once(
    Text text, const int32_t[::1] starts, const int32_t[::1] lengths, const uint64_t[::1] hashes,
    const int64_t[:, ::1] topics, Py_ssize_t count, Py_ssize_t rows,
) noexcept nogil:
    """Whether no topic has a document twice; also false where there is no memory to find out."""
    cdef Py_ssize_t t, first, after, largest = 0
    cdef bint once = True
    for t in range(count):
        after = topics[t + 1, ROW] if t + 1 < count else rows
        largest = max(largest, after - topics[t, ROW])
    cdef int32_t* table = <int32_t*>malloc(table_size(largest) * sizeof(int32_t))
    if table == NULL:
        return False
    for t in range(count):
        first = topics[t, ROW]
        after = topics[t + 1, ROW] if t + 1 < count else rows
        if any_twice(
            text, &starts[first], &lengths[first], &hashes[first], after - first,
            table, table_size(after - first),
        ):
            once = False
            break
    free(table)
    return once


def scan(const unsigned char[::1] text, Py_ssize_t columns, Lookup judged=None):
    """The rows of a piece of a run (6 columns) or qrels file (4), or None where it is not plain.

    Returns (topics, starts, lengths, values, rows, tag). `topics` has for each topic its first row, its
    number in `judged` or -1, where its id starts, how long it is, the id's hash, and whether its numbers
    fall from row to row, in single precision too. Each row has the start and length of its document's
    id in the text, its number (score or grade), and, where `judged` is given, its row there, or -1.
    `tag` is the last column of a run's last line.
    """
    if columns != 4 and columns != 6:
        raise ValueError("a run has six columns, a qrels file four")
    cdef Py_ssize_t size = text.shape[0], rows = 0, count = 0
    if not LITTLE or size == 0 or size > MOST_BYTES:
        return None
    cdef Py_ssize_t room = size // (2 * columns) + 1  # a byte and a blank a column at least
    starts_array = np.empty(room, dtype=np.int32)
    lengths_array = np.empty(room, dtype=np.int32)
    values_array = np.empty(room, dtype=np.float64)
    hashes_array = np.empty(room, dtype=np.uint64)
    rows_array = np.empty(0 if judged is None else room, dtype=np.int32)
    topics_array = np.empty((room, FIELDS), dtype=np.int64)
    cdef int32_t[::1] starts = starts_array, lengths = lengths_array, row = rows_array
    cdef double[::1] values = values_array
    cdef uint64_t[::1] hashes = hashes_array
    cdef int64_t[:, ::1] topics = topics_array
    cdef Text begin = &text[0], end = begin + size, p = begin, start, stop
    cdef Word topic = word_of(p, p), tag = topic
    cdef int32_t query = -1
    cdef uint64_t h = 0
    cdef double value = 0.0
    cdef float above = INFINITY
    cdef bint plain = True, whole = columns == 4, look = judged is not None
    slots_array = np.empty(2 * table_size(judged.largest if look else 0), dtype=np.int32)
    cdef int32_t[::1] slots = slots_array
    cdef Slot* table = <Slot*>&slots[0]
    cdef uint64_t mask = 0
    with nogil:
        while True:
            p = skip_blanks(p, end)
            if p == end:
                break
            if p[0] <= 32:  # a blank line, or something for the careful reader
                p = line_end(p, end)
                if p == NULL:
                    break
                continue
            plain = False  # until the end of the line
            start = p
            if starts_with(p, end, topic):
                p += topic.length
            else:
                if has_mark(p, end):
                    break
                p = hashed_token_end(p, end, &h)
                topic = word_of(start, p)
                if look:
                    query = judged.query(start, topic.length, h)
                    if query >= 0:
                        mask = judged.lay(table, query)
                topics[count, ROW] = rows
                topics[count, QUERY] = query
                topics[count, START] = start - begin
                topics[count, LENGTH] = topic.length
                topics[count, HASH] = <int64_t>h
                topics[count, DESCENDING] = True
                count += 1
                above = INFINITY
            start = skip_blanks(p, end)
            p = token_end(start, end)  # the second column is not used
            if p == start:
                break
            start = skip_blanks(p, end)
            p = hashed_token_end(start, end, &h)
            if p == start:
                break
            starts[rows] = <int32_t>(start - begin)
            lengths[rows] = <int32_t>(p - start)
            hashes[rows] = h
            if look:
                row[rows] = judged.row(table, mask, start, p - start, h) if query >= 0 else -1
            start = skip_blanks(p, end)
            if whole:
                p = token_end(start, end)
                if p == start or parse_grade(start, p, &value) != FINE:
                    break
            else:
                p = token_end(start, end)  # nor is the rank
                if p == start:
                    break
                start = skip_blanks(p, end)
                stop = simple_double(start, end, &value)
                if stop != NULL:
                    p = stop
                else:
                    p = token_end(start, end)
                    if p == start or parse_double(start, p, &value) != FINE:
                        break
                start = skip_blanks(p, end)
                if starts_with(start, end, tag):
                    p = start + tag.length
                else:
                    p = token_end(start, end)
                    if p == start:
                        break
                    tag = word_of(start, p)
            values[rows] = value
            if not <float>value < above:
                topics[count - 1, DESCENDING] = False
            above = <float>value
            rows += 1
            p = line_end(skip_blanks(p, end), end)
            if p == NULL:
                break
            plain = True
        plain = p != NULL and plain and documents_once(
            begin, starts, lengths, hashes, topics, count, rows
        )
    if not plain:
        return None
    return (
        topics_array[:count], starts_array[:rows], lengths_array[:rows], values_array[:rows],
        rows_array[:rows], (<const char*>tag.start)[:tag.length],
    )


def next_topic(const unsigned char[::1] text):
    """Where the first line starts whose topic is not that of the line before it, or -1.

    The text may begin in the middle of a line, which does not count.
    """
    cdef Py_ssize_t size = text.shape[0], topic_length = 0
    if size == 0:
        return -1
    cdef Text begin = &text[0], end = begin + size, topic = NULL, start, p = begin
    with nogil:
        while True:
            p = <Text>memchr(p, 10, end - p)
            if p == NULL:
                break
            p += 1
            start = skip_blanks(p, end)
            p = token_end(start, end)
            if p == end:
                p = NULL
                break
            if p == start:
                continue
            if topic == NULL:
                topic, topic_length = start, p - start
            elif topic_length != p - start or memcmp(topic, start, topic_length) != 0:
                p = start
                break
    return -1 if p == NULL else p - begin
