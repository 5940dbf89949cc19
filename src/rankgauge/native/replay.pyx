# cython: boundscheck=False, wraparound=False
"""What flips make of lists and of sums, one after the other."""
import numpy as np

from libc.math cimport fabs


def snapshots(
    int[::1] kind,
    const long long[::1] offsets,
    const int[:, ::1] place,
    Py_ssize_t first,
    Py_ssize_t last,
    const long long[::1] ends,
):
    """The lists after each of the flips from `first` to `last`, one after the other.

    `kind` has the lists, cut at the depth, as they are before the first of these flips, and becomes what
    they are after the last. List i of the result ends at `ends[i]`.
    """
    cdef Py_ssize_t lists = offsets.shape[0] - 1, f, s, n, r, i
    if first < 0 or last > place.shape[0] or ends.shape[0] != last - first or offsets[lists] > kind.shape[0]:
        raise ValueError("flips and lists that exist are expected")
    result = np.empty(ends[last - first - 1] if last > first else 0, dtype=np.int32)
    cdef int[::1] out = result
    cdef Py_ssize_t at = 0
    for f in range(first, last):
        s, r = place[f, 0], place[f, 1]
        if not (0 <= s < lists and 1 <= r <= offsets[s + 1] - offsets[s]):
            raise ValueError("flips within the lists are expected")
        n = offsets[s + 1] - offsets[s]
        if at + n != ends[f - first]:
            raise ValueError("the ends of the lists are expected")
        kind[offsets[s] + r - 1] = place[f, 3]
        if r < n:
            kind[offsets[s] + r] = place[f, 2]
        for i in range(n):
            out[at + i] = kind[offsets[s] + i]
        at += n
    return result


def running(const double[::1] changes, const long long[::1] offsets, const double[::1] before):
    """The running sums of each segment, from its value before; what rounding takes is given back."""
    cdef Py_ssize_t segments = offsets.shape[0] - 1, s, i
    if before.shape[0] != segments or offsets[0] < 0 or offsets[segments] > changes.shape[0]:
        raise ValueError("segments of the changes are expected")
    result = np.empty(changes.shape[0])
    cdef double[::1] out = result
    cdef double total, lost, change, sum_
    with nogil:
        for s in range(segments):
            total, lost = before[s], 0.0
            for i in range(offsets[s], offsets[s + 1]):
                change = changes[i]
                sum_ = total + change
                if fabs(total) >= fabs(change):
                    lost += (total - sum_) + change
                else:
                    lost += (change - sum_) + total
                total = sum_
                out[i] = total + lost
    return result
