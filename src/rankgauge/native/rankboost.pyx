# cython: boundscheck=False, wraparound=False, cdivision=True
"""RankBoost's two loops: the potential of each document, and sums of potentials by bins of features."""
import numpy as np

from libc.math cimport exp
from libc.string cimport memset


cdef enum:
    BINS = 256
    BLOCK = 16384  # so many weights stay in the cache while all features go over them


cdef void check(Py_ssize_t length, const long long[::1] offsets) except *:
    """Raise unless the offsets ascend from 0 to this length."""
    cdef Py_ssize_t s
    if offsets.shape[0] == 0 or offsets[0] != 0 or offsets[offsets.shape[0] - 1] != length:
        raise ValueError("offsets that cover the array are expected")
    for s in range(offsets.shape[0] - 1):
        if offsets[s] > offsets[s + 1]:
            raise ValueError("offsets must ascend")


def potentials(
    const double[::1] scores,
    const long long[::1] groups,
    const long long[::1] queries,
    const double[::1] shifts,
):
    """The potential of each document, and the sum of the weights of all pairs.

    Group g has the documents groups[g]:groups[g + 1], which have one label. Query q has the groups
    queries[q]:queries[q + 1], labels ascending. A pair of documents of one query, i with a higher label
    than j, weighs exp(s_j − s_i + shift of the query). The potential of a document is the weight of the
    pairs in which it has the higher label, minus the weight of those in which it has the lower one.

    Sums of exponentials are kept relative to the largest term, so that only the weight of a pair can
    overflow, never a part of it. O(documents): groups are added to the sums one after the other.
    """
    check(scores.shape[0], groups)
    check(groups.shape[0] - 1, queries)
    if shifts.shape[0] != queries.shape[0] - 1:
        raise ValueError("a shift for each query is expected")
    result = np.zeros(scores.shape[0])
    cdef double[::1] out = result
    cdef Py_ssize_t q, g, i
    cdef double top, total, weight, all_pairs = 0.0
    with nogil:
        for q in range(queries.shape[0] - 1):
            if queries[q + 1] - queries[q] < 2:
                continue
            # Upwards: total · exp(top) is the sum of exp(s) over the documents with lower labels.
            top = 0.0
            total = 0.0
            for g in range(queries[q], queries[q + 1]):
                if total > 0.0:
                    for i in range(groups[g], groups[g + 1]):
                        weight = total * exp(top - scores[i] + shifts[q])
                        out[i] += weight
                        all_pairs += weight
                for i in range(groups[g], groups[g + 1]):
                    if total == 0.0:
                        top = scores[i]
                        total = 1.0
                    elif scores[i] <= top:
                        total += exp(scores[i] - top)
                    else:
                        total = total * exp(top - scores[i]) + 1.0
                        top = scores[i]
            # Downwards: total · exp(−top) is the sum of exp(−s) over the documents with higher labels.
            total = 0.0
            for g in range(queries[q + 1] - 1, queries[q] - 1, -1):
                if total > 0.0:
                    for i in range(groups[g], groups[g + 1]):
                        out[i] -= total * exp(scores[i] - top + shifts[q])
                for i in range(groups[g], groups[g + 1]):
                    if total == 0.0:
                        top = scores[i]
                        total = 1.0
                    elif scores[i] >= top:
                        total += exp(top - scores[i])
                    else:
                        total = total * exp(scores[i] - top) + 1.0
                        top = scores[i]
    return result, all_pairs


def bin_sums(const unsigned char[:, ::1] bins, const double[::1] weights):
    """Feature × bin: the sum of the weights of the rows that have a feature in a bin.

    `bins` has a row for each feature and a column for each weight.
    """
    cdef Py_ssize_t features = bins.shape[0], rows = weights.shape[0], f, i, b, start, end
    if bins.shape[1] != rows:
        raise ValueError("a weight for each column is expected")
    result = np.zeros((features, BINS))
    cdef double[:, ::1] out = result
    # Four sums for each bin: neighbors in one bin do not wait for each other.
    cdef double parts[4][BINS]
    cdef const unsigned char* own
    with nogil:
        start = 0
        while start < rows:
            end = min(start + BLOCK, rows)
            for f in range(features):
                memset(parts, 0, sizeof(parts))
                own = &bins[f, 0]
                i = start
                while i + 4 <= end:
                    parts[0][own[i]] += weights[i]
                    parts[1][own[i + 1]] += weights[i + 1]
                    parts[2][own[i + 2]] += weights[i + 2]
                    parts[3][own[i + 3]] += weights[i + 3]
                    i += 4
                while i < end:
                    parts[0][own[i]] += weights[i]
                    i += 1
                for b in range(BINS):
                    out[f, b] += (parts[0][b] + parts[1][b]) + (parts[2][b] + parts[3][b])
            start = end
    return result
