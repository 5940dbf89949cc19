# cython: boundscheck=False, wraparound=False, cdivision=True
"""Hashing of byte-string ids held in one flat buffer: numbering, matching, duplicates.

An id column is (data, offsets): id i is data[offsets[i]:offsets[i + 1]]. Hashes are seeded afresh in
every process.
"""
import os

import numpy as np

from libc.stdlib cimport calloc, free
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from rankgauge.native.hashing cimport hash_bytes

cdef unsigned long long SEED = int.from_bytes(os.urandom(8), "little") | 1


cdef inline const unsigned char* base(const unsigned char[::1] data) noexcept nogil:
    return &data[0] if data.shape[0] else NULL


cdef inline bint same(
    const unsigned char* a, const long long* a_offsets, Py_ssize_t i,
    const unsigned char* b, const long long* b_offsets, Py_ssize_t j,
) noexcept nogil:
    cdef Py_ssize_t length = a_offsets[i + 1] - a_offsets[i]
    if length != b_offsets[j + 1] - b_offsets[j]:
        return False
    return length == 0 or memcmp(a + a_offsets[i], b + b_offsets[j], length) == 0


cdef Py_ssize_t table_size(Py_ssize_t entries) noexcept nogil:
    """The power of two that keeps a table of so many entries at most half full."""
    cdef Py_ssize_t size = 8
    while size < 2 * entries:
        size *= 2
    return size


cdef void check_ids(const unsigned char[::1] data, const long long[::1] offsets) except *:
    cdef Py_ssize_t i
    if offsets.shape[0] == 0 or offsets[0] < 0 or offsets[offsets.shape[0] - 1] > data.shape[0]:
        raise ValueError("id offsets outside their buffer")
    for i in range(offsets.shape[0] - 1):
        if offsets[i] > offsets[i + 1]:
            raise ValueError("id offsets must ascend")


cdef void check_rows(const long long[::1] bounds, Py_ssize_t rows) except *:
    cdef Py_ssize_t s
    if bounds.shape[0] == 0 or bounds[0] < 0 or bounds[bounds.shape[0] - 1] > rows:
        raise ValueError("segment bounds outside the column")
    for s in range(bounds.shape[0] - 1):
        if bounds[s] > bounds[s + 1]:
            raise ValueError("segment bounds must ascend")


def number(const unsigned char[::1] data, const long long[::1] offsets):
    """For each id its number, in order of first appearance, and for each number its first row."""
    check_ids(data, offsets)
    cdef Py_ssize_t rows = offsets.shape[0] - 1, i, size, slot
    if rows == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    numbers = np.empty(rows, dtype=np.int64)
    firsts = np.empty(rows, dtype=np.int64)
    cdef long long[::1] out = numbers, first = firsts
    cdef const long long* at = &offsets[0]
    cdef const unsigned char* p = base(data)
    cdef Py_ssize_t found = 0
    cdef long long* table
    size = table_size(rows)
    table = <long long*>calloc(size, sizeof(long long))
    if table == NULL:
        raise MemoryError
    with nogil:
        for i in range(rows):
            slot = hash_bytes(p + at[i], at[i + 1] - at[i], SEED) & (size - 1)
            while table[slot] != 0 and not same(p, at, i, p, at, first[table[slot] - 1]):
                slot = (slot + 1) & (size - 1)
            if table[slot] == 0:
                first[found] = i
                found += 1
                table[slot] = found
            out[i] = table[slot] - 1
    free(table)
    return numbers, firsts[:found].copy()


def match(
    const unsigned char[::1] data, const long long[::1] offsets, const long long[::1] bounds,
    const unsigned char[::1] other_data, const long long[::1] other_offsets,
    const long long[::1] other_bounds, const long long[::1] partner,
):
    """For each id of segment s, the row of the same id in segment partner[s] of the other column.

    -1 where there is none, or where partner[s] is negative. Segment s is rows bounds[s]:bounds[s+1].
    """
    check_ids(data, offsets)
    check_ids(other_data, other_offsets)
    check_rows(bounds, offsets.shape[0] - 1)
    check_rows(other_bounds, other_offsets.shape[0] - 1)
    cdef Py_ssize_t segments = bounds.shape[0] - 1, s, i, j, size, slot, width
    if partner.shape[0] != segments:
        raise ValueError("a partner is needed for each segment")
    cdef Py_ssize_t largest = 0
    for s in range(segments):
        if partner[s] >= other_bounds.shape[0] - 1:
            raise ValueError("a partner outside the other column")
        if partner[s] >= 0:
            largest = max(largest, other_bounds[partner[s] + 1] - other_bounds[partner[s]])
    rows = np.full(offsets.shape[0] - 1, -1, dtype=np.int64)
    cdef long long[::1] out = rows
    cdef const long long* at = &offsets[0]
    cdef const long long* other_at = &other_offsets[0]
    cdef const unsigned char* p = base(data)
    cdef const unsigned char* q = base(other_data)
    cdef long long* table = <long long*>calloc(table_size(largest), sizeof(long long))
    if table == NULL:
        raise MemoryError
    with nogil:
        for s in range(segments):
            if partner[s] < 0:
                continue
            width = other_bounds[partner[s] + 1] - other_bounds[partner[s]]
            if width == 0:
                continue
            size = table_size(width)
            memset(table, 0, size * sizeof(long long))
            for j in range(other_bounds[partner[s]], other_bounds[partner[s] + 1]):
                slot = hash_bytes(q + other_at[j], other_at[j + 1] - other_at[j], SEED) & (size - 1)
                while table[slot] != 0:
                    slot = (slot + 1) & (size - 1)
                table[slot] = j + 1
            for i in range(bounds[s], bounds[s + 1]):
                slot = hash_bytes(p + at[i], at[i + 1] - at[i], SEED) & (size - 1)
                while table[slot] != 0 and not same(p, at, i, q, other_at, table[slot] - 1):
                    slot = (slot + 1) & (size - 1)
                out[i] = table[slot] - 1
    free(table)
    return rows


def repeats(
    const unsigned char[::1] data, const long long[::1] offsets, const long long[::1] bounds
):
    """For each row the earlier row of the same segment that holds the same id, or -1."""
    check_ids(data, offsets)
    check_rows(bounds, offsets.shape[0] - 1)
    cdef Py_ssize_t segments = bounds.shape[0] - 1, s, i, size, slot
    cdef Py_ssize_t largest = 0
    for s in range(segments):
        largest = max(largest, bounds[s + 1] - bounds[s])
    rows = np.full(offsets.shape[0] - 1, -1, dtype=np.int64)
    cdef long long[::1] out = rows
    cdef const long long* at = &offsets[0]
    cdef const unsigned char* p = base(data)
    cdef long long* table = <long long*>calloc(table_size(largest), sizeof(long long))
    if table == NULL:
        raise MemoryError
    with nogil:
        for s in range(segments):
            size = table_size(bounds[s + 1] - bounds[s])
            memset(table, 0, size * sizeof(long long))
            for i in range(bounds[s], bounds[s + 1]):
                slot = hash_bytes(p + at[i], at[i + 1] - at[i], SEED) & (size - 1)
                while table[slot] != 0 and not same(p, at, i, p, at, table[slot] - 1):
                    slot = (slot + 1) & (size - 1)
                if table[slot] == 0:
                    table[slot] = i + 1
                else:
                    out[i] = table[slot] - 1
    free(table)
    return rows


cdef struct Keyed:
    uint64_t key  # the eight bytes after those that all ids of the segment share
    int64_t row


cdef inline uint64_t key_of(const unsigned char* p, int64_t length) noexcept nogil:
    cdef uint64_t key = 0
    cdef int i
    for i in range(8):
        key = (key << 8) | (p[i] if i < length else 0)
    return key


cdef inline bint comes_after(
    const Keyed* a, const Keyed* b, const unsigned char* p, const long long* at, int64_t shared
) noexcept nogil:
    """Whether the id of a is greater than that of b, byte by byte; a longer one than its beginning."""
    cdef int64_t a_length, b_length
    cdef int difference
    if a.key != b.key:
        return a.key > b.key
    a_length = at[a.row + 1] - at[a.row] - shared
    b_length = at[b.row + 1] - at[b.row] - shared
    if a_length > 8 and b_length > 8:
        difference = memcmp(
            p + at[a.row] + shared + 8, p + at[b.row] + shared + 8, min(a_length, b_length) - 8
        )
        if difference != 0:
            return difference > 0
    return a_length > b_length


cdef void sort_descending(
    Keyed* items, Keyed* spare, Py_ssize_t size,
    const unsigned char* p, const long long* at, int64_t shared,
) noexcept nogil:
    """Merge sort, the greatest id first, equal ids as they stand."""
    cdef Py_ssize_t width = 1, start, left, right, middle, end, i
    cdef Keyed* source = items
    cdef Keyed* target = spare
    while width < size:
        start = 0
        while start < size:
            middle = min(start + width, size)
            end = min(middle + width, size)
            left, right = start, middle
            for i in range(start, end):
                if left < middle and (
                    right >= end
                    or not comes_after(&source[right], &source[left], p, at, shared)
                ):
                    target[i] = source[left]
                    left += 1
                else:
                    target[i] = source[right]
                    right += 1
            start = end
        source, target = target, source
        width *= 2
    if source != items:
        memcpy(items, source, size * sizeof(Keyed))


cdef int64_t shared_bytes(
    const unsigned char* p, const long long* at, Py_ssize_t first, Py_ssize_t end
) noexcept nogil:
    """With how many of the same bytes all ids of a segment begin."""
    cdef int64_t shared = at[first + 1] - at[first], i
    cdef Py_ssize_t row
    for row in range(first + 1, end):
        shared = min(shared, at[row + 1] - at[row])
        for i in range(shared):
            if p[at[row] + i] != p[at[first] + i]:
                shared = i
                break
    return shared


def descending(
    const unsigned char[::1] data, const long long[::1] offsets, const long long[::1] bounds
):
    """The rows of each segment, the greatest id first as bytes compare, equal ids as they stand.

    The segments cover the whole column.
    """
    check_ids(data, offsets)
    check_rows(bounds, offsets.shape[0] - 1)
    if bounds[0] != 0 or bounds[bounds.shape[0] - 1] != offsets.shape[0] - 1:
        raise ValueError("segments that cover the column are expected")
    cdef Py_ssize_t segments = bounds.shape[0] - 1, s, i, size
    cdef Py_ssize_t largest = 0
    for s in range(segments):
        largest = max(largest, bounds[s + 1] - bounds[s])
    rows = np.arange(offsets.shape[0] - 1, dtype=np.int64)
    if largest < 2:
        return rows
    cdef long long[::1] out = rows
    cdef const long long* at = &offsets[0]
    cdef const unsigned char* p = base(data)
    cdef int64_t shared, row
    cdef Keyed* items = <Keyed*>calloc(2 * largest, sizeof(Keyed))
    if items == NULL:
        raise MemoryError
    with nogil:
        for s in range(segments):
            size = bounds[s + 1] - bounds[s]
            if size < 2:
                continue
            shared = shared_bytes(p, at, bounds[s], bounds[s + 1])
            for i in range(size):
                row = bounds[s] + i
                items[i].row = row
                items[i].key = key_of(p + at[row] + shared, at[row + 1] - at[row] - shared)
            sort_descending(items, items + largest, size, p, at, shared)
            for i in range(size):
                out[bounds[s] + i] = items[i].row
    free(items)
    return rows


ctypedef fused Place:
    int32_t
    int64_t


def gather(const unsigned char[::1] data, const Place[::1] starts, const Place[::1] lengths):
    """A compact id column (data, offsets) of the given pieces of a buffer, in their order."""
    cdef Py_ssize_t rows = starts.shape[0], i
    cdef long long total = 0
    if lengths.shape[0] != rows:
        raise ValueError("as many lengths as starts are needed")
    offsets = np.empty(rows + 1, dtype=np.int64)
    cdef long long[::1] at = offsets
    with nogil:
        for i in range(rows):
            if starts[i] < 0 or lengths[i] < 0 or starts[i] > data.shape[0] - lengths[i]:
                total = -1
                break
            at[i] = total
            total += lengths[i]
    if total < 0:
        raise ValueError("a piece outside the buffer")
    at[rows] = total
    pieces = np.empty(total, dtype=np.uint8)
    cdef unsigned char[::1] out = pieces
    if total:
        with nogil:
            for i in range(rows):
                memcpy(&out[0] + at[i], &data[0] + starts[i], lengths[i])
    return pieces, offsets
