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
