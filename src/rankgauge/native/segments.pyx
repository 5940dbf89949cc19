# cython: boundscheck=False, wraparound=False, cdivision=True
"""Sums and products along the segments of a flat array, each segment strictly left to right.

The order of the additions is part of the contract: it is the order in which trec_eval adds, so
results agree to the last bit, which no pairwise or global cumulative sum would give.
Segment s is values[offsets[s]:offsets[s + 1]]; callers guarantee 0 <= offsets, ascending, in range.
"""
import numpy as np


cdef void check(Py_ssize_t length, const long long[::1] offsets) except *:
    """Raise unless the offsets are ascending and inside an array of this length."""
    cdef Py_ssize_t s
    if offsets.shape[0] == 0 or offsets[0] < 0 or offsets[offsets.shape[0] - 1] > length:
        raise ValueError("offsets outside the array")
    for s in range(offsets.shape[0] - 1):
        if offsets[s] > offsets[s + 1]:
            raise ValueError("offsets must ascend")


def segment_sum(const double[::1] values, const long long[::1] offsets):
    """The sum of each segment; 0 for an empty one."""
    check(values.shape[0], offsets)
    cdef Py_ssize_t segments = offsets.shape[0] - 1, s, i
    result = np.zeros(segments)
    cdef double[::1] out = result
    cdef double total
    with nogil:
        for s in range(segments):
            total = 0.0
            for i in range(offsets[s], offsets[s + 1]):
                total = total + values[i]
            out[s] = total
    return result


def segment_cumsum(const double[::1] values, const long long[::1] offsets):
    """The running sum within each segment, each place included."""
    check(values.shape[0], offsets)
    cdef Py_ssize_t segments = offsets.shape[0] - 1, s, i
    result = np.zeros(values.shape[0])
    cdef double[::1] out = result
    cdef double total
    with nogil:
        for s in range(segments):
            total = 0.0
            for i in range(offsets[s], offsets[s + 1]):
                total = total + values[i]
                out[i] = total
    return result


def segment_cumprod(const double[::1] values, const long long[::1] offsets):
    """The running product within each segment of the values before each place, so 1 at its start."""
    check(values.shape[0], offsets)
    cdef Py_ssize_t segments = offsets.shape[0] - 1, s, i
    result = np.ones(values.shape[0])
    cdef double[::1] out = result
    cdef double total
    with nogil:
        for s in range(segments):
            total = 1.0
            for i in range(offsets[s], offsets[s + 1]):
                out[i] = total
                total = total * values[i]
    return result


cdef enum:
    SMALL = 12  # so many values are sorted by insertion


cdef void insertion_sort(const double* values, long long* order, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef long long row
    for i in range(1, size):
        row = order[i]
        j = i
        while j > 0 and values[order[j - 1]] < values[row]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = row


cdef void merge(
    const double* values, const long long* left, const long long* middle, const long long* end,
    long long* out,
) noexcept nogil:
    cdef const long long* right = middle
    while left < middle and right < end:
        if values[left[0]] >= values[right[0]]:
            out[0] = left[0]
            left += 1
        else:
            out[0] = right[0]
            right += 1
        out += 1
    while left < middle:
        out[0] = left[0]
        left += 1
        out += 1
    while right < end:
        out[0] = right[0]
        right += 1
        out += 1


cdef void merge_sort(
    const double* values, long long* order, long long* spare, Py_ssize_t size
) noexcept nogil:
    """Put the rows into the order of their values, the highest first, equal ones as they are."""
    cdef Py_ssize_t width = SMALL, start = 0, middle, end, i
    cdef long long* source = order
    cdef long long* target = spare
    while start < size:
        insertion_sort(values, order + start, min(width, size - start))
        start += width
    while width < size:
        start = 0
        while start < size:
            middle = min(start + width, size)
            end = min(middle + width, size)
            merge(values, source + start, source + middle, source + end, target + start)
            start = end
        source, target = target, source
        width *= 2
    if source != order:
        for i in range(size):
            order[i] = source[i]


def segment_order(const double[::1] values, const long long[::1] offsets):
    """The rows of each segment, the highest value first, rows of equal values as they stand.

    The segments cover the whole array. NaN has no place in an order, so there must be none.
    """
    check(values.shape[0], offsets)
    if offsets[0] != 0 or offsets[offsets.shape[0] - 1] != values.shape[0]:
        raise ValueError("segments that cover the array are expected")
    cdef Py_ssize_t segments = offsets.shape[0] - 1, s, i, size, longest = 0
    for s in range(segments):
        longest = max(longest, offsets[s + 1] - offsets[s])
    result = np.arange(values.shape[0], dtype=np.int64)
    if longest < 2:
        return result
    cdef long long[::1] out = result
    cdef long long[::1] spare = np.empty(longest, dtype=np.int64)
    with nogil:
        for s in range(segments):
            size = offsets[s + 1] - offsets[s]
            for i in range(offsets[s] + 1, offsets[s + 1]):
                if values[i] > values[i - 1]:
                    merge_sort(&values[0], &out[offsets[s]], &spare[0], size)
                    break
    return result


def segment_stops(
    const double[::1] stops,
    const long long[::1] offsets,
    const long long[::1] others,
    const long long[::1] above,
    const long long[::1] places,
):
    """The mean reciprocal rank at which a user stops in each segment, in random order.

    A segment has a document for each of its values, the chance that it ends the search, and so many
    others that never do; `above` documents are above them all and passed, and the first `places` count.

    Documents are inserted one after another at a random place. With t of them, S_r is the mean of the
    product of the chances to pass the first r, and D_r that of stopping exactly at r; all terms of both
    recurrences are positive, so nothing cancels. O(values · places) a segment.
    """
    check(stops.shape[0], offsets)
    cdef Py_ssize_t segments = offsets.shape[0] - 1, s, i, r, last
    if others.shape[0] != segments or above.shape[0] != segments or places.shape[0] != segments:
        raise ValueError("a number for each segment is expected")
    cdef Py_ssize_t most = 0
    for s in range(segments):
        if others[s] < 0 or above[s] < 0 or places[s] < 0:
            raise ValueError("numbers of documents from 0 on are expected")
        if places[s] > others[s] + offsets[s + 1] - offsets[s]:
            raise ValueError("more places than documents")
        most = max(most, places[s])
    result = np.zeros(segments)
    cdef double[::1] out = result
    cdef double[::1] passed = np.empty(most + 1)
    cdef double[::1] stopped = np.empty(most + 1)
    cdef double stop, go_on, share, t, total
    with nogil:
        for s in range(segments):
            for r in range(places[s] + 1):
                passed[r] = 1.0 if r <= others[s] else 0.0
                stopped[r] = 0.0
            t = others[s]
            for i in range(offsets[s], offsets[s + 1]):
                t = t + 1
                stop = stops[i] / t
                go_on = (1 - stops[i]) / t
                share = 1 / t
                last = places[s] if places[s] < t else <Py_ssize_t>t
                for r in range(last, 0, -1):
                    stopped[r] = (
                        stopped[r] * ((t - r) * share)
                        + passed[r - 1] * stop
                        + stopped[r - 1] * (go_on * (r - 1))
                    )
                    passed[r] = passed[r] * ((t - r) * share) + passed[r - 1] * (go_on * r)
            total = 0.0
            for r in range(1, places[s] + 1):
                total = total + stopped[r] / (above[s] + r)
            out[s] = total
    return result
