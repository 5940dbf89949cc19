# cython: boundscheck=False, wraparound=False, cdivision=True
"""The greatest difference between the scores of two lists over all labels of their free documents.

List i has the documents documents[offsets[i]:offsets[i + 1]], numbers below the length of `gains`, each
at most once; `check` makes sure of both.
"""
import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport uint8_t
from libc.stdlib cimport qsort


cdef void check(
    const int[::1] documents,
    const long long[::1] offsets,
    const long long[::1] first,
    const long long[::1] second,
    Py_ssize_t known,
    Py_ssize_t weights,
) except *:
    """Raise unless the lists, and the pairs of them, are as the loops take them to be."""
    cdef Py_ssize_t lists = offsets.shape[0] - 1, i, j
    if lists < 0 or offsets[0] < 0:
        raise ValueError("offsets from 0 on are expected")
    seen = np.full(known, -1, dtype=np.int64)
    cdef long long[::1] last = seen
    for i in range(lists):
        if offsets[i] > offsets[i + 1] or offsets[i + 1] > documents.shape[0]:
            raise ValueError("offsets must ascend, and lie within the documents")
        if offsets[i + 1] - offsets[i] > weights:
            raise ValueError("a weight for each rank is expected")
        for j in range(offsets[i], offsets[i + 1]):
            if documents[j] < 0 or documents[j] >= known or last[documents[j]] == i:
                raise ValueError("documents must be known, and each once in a list")
            last[documents[j]] = i
    if first.shape[0] != second.shape[0]:
        raise ValueError("pairs of lists are expected")
    for i in range(first.shape[0]):
        if not (0 <= first[i] < lists and 0 <= second[i] < lists):
            raise ValueError("pairs of lists that exist are expected")


cdef int descending(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const double*>a)[0], y = (<const double*>b)[0]
    return (x < y) - (x > y)


cdef Py_ssize_t gather(
    const int[::1] documents,
    const long long[::1] offsets,
    Py_ssize_t a,
    Py_ssize_t b,
    const double[::1] weights,
    double[::1] weight,
    const uint8_t[::1] is_free,
    const double[::1] gains,
    double* ahead,
    double* base,
) noexcept nogil:
    """For the free documents of two lists, which are counted, the weight in the first less that in the
    second; in `base` the same for the others, times their gains. `weight` is zeros before and after."""
    cdef Py_ssize_t j, count = 0
    cdef int d
    base[0] = 0.0
    for j in range(offsets[b], offsets[b + 1]):
        weight[documents[j]] = -weights[j - offsets[b]]
    for j in range(offsets[a], offsets[a + 1]):
        d = documents[j]
        if is_free[d]:
            ahead[count] = weights[j - offsets[a]] + weight[d]
            count += 1
        else:
            base[0] = base[0] + gains[d] * (weights[j - offsets[a]] + weight[d])
        weight[d] = 0.0
    for j in range(offsets[b], offsets[b + 1]):
        d = documents[j]
        if weight[d] != 0.0:
            if is_free[d]:
                ahead[count] = weight[d]
                count += 1
            else:
                base[0] = base[0] + gains[d] * weight[d]
            weight[d] = 0.0
    return count


def weighted(
    const int[::1] documents,
    const long long[::1] offsets,
    const long long[::1] first,
    const long long[::1] second,
    const double[::1] weights,
    const uint8_t[::1] is_free,
    const double[::1] gains,
    double most,
):
    """Pair × 2: how far the first list's Σ weight · gain can be ahead of the second's, and the other way,
    where free documents gain from 0 to `most`."""
    check(documents, offsets, first, second, gains.shape[0], weights.shape[0])
    if is_free.shape[0] != gains.shape[0]:
        raise ValueError("as many gains as documents are expected")
    cdef Py_ssize_t p, j, count
    result = np.empty((first.shape[0], 2))
    cdef double[:, ::1] out = result
    cdef double[::1] weight = np.zeros(gains.shape[0])
    cdef double[::1] ahead = np.empty(2 * weights.shape[0] + 1)
    cdef double base, up, down
    with nogil:
        for p in range(first.shape[0]):
            count = gather(
                documents, offsets, first[p], second[p], weights, weight, is_free, gains,
                &ahead[0], &base,
            )
            up = 0.0
            down = 0.0
            for j in range(count):
                if ahead[j] > 0:
                    up = up + ahead[j]
                else:
                    down = down - ahead[j]
            out[p, 0] = base + most * up
            out[p, 1] = most * down - base
    return result


def normalized(
    const int[::1] documents,
    const long long[::1] offsets,
    const long long[::1] first,
    const long long[::1] second,
    const double[::1] weights,
    const uint8_t[::1] is_free,
    const double[::1] gains,
    const double[::1] thickness,
    const double[:, ::1] costs,
    double fixed,
):
    """Pair × 2: how far the first list's normalized Σ weight · gain can be ahead of the second's, and the
    other way; and pair × 2 × layer: how many free documents reach into each layer of gain then.

    Both lists are divided by the same ideal: `fixed`, and for each layer the cost of so many free
    documents in it. Documents with the largest difference of weights go first, so a layer is a choice of
    how many; by Dinkelbach's method the best ratio is found in a few rounds.

    A list that is behind by any labels is behind by the least where the ideal is large. Then a layer
    above, with fewer judged documents in it, wants more free documents than those below it, and cannot
    have them: the same documents reach into all layers.
    """
    check(documents, offsets, first, second, gains.shape[0], weights.shape[0])
    cdef Py_ssize_t layers = thickness.shape[0], p, j, l, side, free, count, taken, turn
    if is_free.shape[0] != gains.shape[0] or costs.shape[0] != layers:
        raise ValueError("as many gains as documents, and costs as layers, are expected")
    if costs.shape[1] < 2 * weights.shape[0] + 1:
        raise ValueError("a cost for each number of free documents is expected")
    result = np.zeros((first.shape[0], 2))
    reached = np.zeros((first.shape[0], 2, layers), dtype=np.int64)
    cdef double[:, ::1] out = result
    cdef long long[:, :, ::1] counts = reached
    cdef double[::1] weight = np.zeros(gains.shape[0])
    cdef double[::1] ahead = np.empty(2 * weights.shape[0] + 1)
    cdef double[::1] sums = np.empty(2 * weights.shape[0] + 2)
    cdef long long[::1] chosen = np.zeros(layers + 1, dtype=np.int64)
    cdef double base, ratio, above, below, value, best, whole = 0.0
    for l in range(layers):
        whole += thickness[l]
    with nogil:
        for p in range(first.shape[0]):
            for side in range(2):
                if side == 0:
                    free = gather(
                        documents, offsets, first[p], second[p], weights, weight, is_free, gains,
                        &ahead[0], &base,
                    )
                else:
                    free = gather(
                        documents, offsets, second[p], first[p], weights, weight, is_free, gains,
                        &ahead[0], &base,
                    )
                count = 0
                for l in range(free):  # what helps goes first
                    if ahead[l] > 0:
                        value = ahead[l]
                        ahead[l] = ahead[count]
                        ahead[count] = value
                        count += 1
                qsort(&ahead[0], count, sizeof(double), descending)
                sums[0] = 0.0
                for j in range(count):
                    sums[j + 1] = sums[j] + ahead[j]
                ratio = 0.0
                for turn in range(100):
                    above = base
                    below = fixed
                    for l in range(layers):
                        best = -INFINITY
                        taken = 0
                        for j in range(count + 1):
                            value = thickness[l] * sums[j] - ratio * costs[l, j]
                            if value > best:
                                best = value
                                taken = j
                        chosen[l] = taken
                        above = above + thickness[l] * sums[taken]
                        below = below + costs[l, taken]
                    if below <= 0 or above / below <= ratio + 1e-15:
                        break
                    ratio = above / below
                    for l in range(layers):
                        counts[p, side, l] = chosen[l]
                # Rounding can hide from that what no free document at all makes, if gains are far apart.
                below = fixed
                for l in range(layers):
                    below = below + costs[l, 0]
                if below > 0 and base / below > ratio:
                    ratio = base / below
                    for l in range(layers):
                        counts[p, side, l] = 0
                if ratio == 0.0:  # nothing puts it ahead
                    qsort(&ahead[0] + count, free - count, sizeof(double), descending)
                    for j in range(count, free):
                        sums[j + 1] = sums[j] + ahead[j]
                    ratio = -INFINITY
                    for j in range(free + 1):
                        below = fixed
                        for l in range(layers):
                            below = below + costs[l, j]
                        value = (base + whole * sums[j]) / below if below > 0 else 0.0
                        if value > ratio + 1e-15:
                            ratio = value
                            for l in range(layers):
                                counts[p, side, l] = j
                    ratio = min(ratio, 0.0)
                out[p, side] = ratio
    return result, reached


cdef inline void add(double* values, const double* rewards, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t s
    for s in range(count):
        values[s] = values[s] + rewards[s]


cdef inline void take(
    double* values,
    const double* before,
    const double* less,
    Py_ssize_t count,
    uint8_t* bits,
    Py_ssize_t first,
) noexcept nogil:
    """Each value, or the one before, less what it costs, where that is larger. Where bits are kept, one is
    set for each that is, counted from `first`; without them the loop has no branch, and is the fast one."""
    cdef Py_ssize_t s
    cdef double value
    if bits is NULL:
        for s in range(count):
            value = before[s] - less[s]
            values[s] = value if value > values[s] else values[s]
        return
    for s in range(count):
        value = before[s] - less[s]
        if value > values[s]:
            values[s] = value
            bits[(first + s) >> 3] |= 1 << ((first + s) & 7)


def staircase(
    const long long[::1] rank_y,
    const long long[::1] rank_z,
    const uint8_t[::1] free_y,
    const uint8_t[::1] free_z,
    const uint8_t[::1] known_y,
    const uint8_t[::1] known_z,
    const double[:, ::1] reward_y,
    const double[:, ::1] reward_z,
    bint trace,
):
    """For each number r of relevant free documents, the greatest reward of the list Y less that of Z.

    Both lists have k places, numbered from 1; place 0 of each array is not used. rank_y[x] is the place
    in Z of the document at x of Y, k + 1 where Z lacks it, and rank_z the other way. A document is free,
    or known to be relevant (known), or neither, which counts for nothing. reward[i, n] is what a
    relevant document at place i adds with n relevant free documents among the first i, itself included.

    If d is no lower than e in Y and no higher in Z, relevance moved from e to d never hurts, so some
    best choice of any size is all that lies on one side of a staircase in the plane of places. The walk
    goes over all staircases: at (x, y), x places of Y and y of Z are done, and s relevant free
    documents are among both. All free documents within x and beyond y are relevant, and those beyond x
    and within y are not. Place k + 1 stands for what a list lacks.

    With `trace`, also a bit for each state, whether it was reached along Z, and the numbers to read
    them by (`steps`).
    """
    cdef Py_ssize_t k = rank_y.shape[0] - 1, x, y, s, most = 0, u = 0, c
    if k < 0 or rank_z.shape[0] != k + 1:
        raise ValueError("two lists of the same number of places are expected")
    if not (
        free_y.shape[0] == free_z.shape[0] == known_y.shape[0] == known_z.shape[0] == k + 1
        and reward_y.shape[0] == reward_z.shape[0] == k + 1
    ):
        raise ValueError("something for each place is expected")
    for x in range(1, k + 1):
        if not (1 <= rank_y[x] <= k + 1 and 1 <= rank_z[x] <= k + 1):
            raise ValueError("places from 1 to k + 1 are expected")
        most += free_y[x] + (free_z[x] and rank_z[x] == k + 1)
    if reward_y.shape[1] < most + 2 or reward_z.shape[1] < most + 2:
        raise ValueError("a reward for each number of free documents is expected")
    cdef Py_ssize_t width = most + 2, row, offset
    best = np.full((k + 2, width), -INFINITY)
    bits = np.zeros(((k + 2) * (k + 2) * width + 7) // 8 if trace else 1, dtype=np.uint8)
    none = np.zeros(width)
    cdef long long[::1] both = np.zeros(k + 2, dtype=np.int64)   # free documents within x and y
    cdef long long[::1] above = np.zeros(k + 2, dtype=np.int64)  # free documents within x, beyond y
    cdef double[:, ::1] states = best
    cdef const double[::1] nothing = none
    cdef uint8_t[::1] marks = bits
    cdef uint8_t* along_z = &marks[0] if trace else NULL
    cdef double* cur
    cdef const double* less
    states[0, 0] = 0.0
    with nogil:
        for x in range(k + 2):
            if 1 <= x <= k:
                if not free_y[x] and not known_y[x]:
                    continue  # nothing changes
                if free_y[x] and rank_y[x] == k + 1:
                    u += 1
            c = 0
            for y in range(k + 2):
                cur = &states[y, 0]
                if 1 <= x <= k:  # the document at x, all below it as they were
                    if not free_y[x]:
                        add(cur, &reward_y[x, above[y]], both[y] + 1)
                    elif rank_y[x] > y:
                        add(cur, &reward_y[x, above[y] + 1], both[y] + 1)
                        above[y] += 1
                    else:
                        both[y] += 1
                        cur[both[y]] = -INFINITY
                elif x == k + 1 and y > 0:
                    if y <= k and free_z[y] and rank_z[y] == k + 1:
                        c += 1
                    for s in range(both[y] + 1, both[y] + c + 1):
                        cur[s] = -INFINITY
                    both[y] += c
                if y == 0:
                    continue
                offset = 0
                less = &nothing[0]
                if y == k + 1:
                    offset = u
                elif free_z[y]:
                    if rank_z[y] <= x:
                        offset = 1
                        less = &reward_z[y, 1]
                elif known_z[y]:
                    less = &reward_z[y, 0]
                row = (x * (k + 2) + y) * width + offset
                take(cur + offset, &states[y - 1, 0], less, both[y - 1] + 1, along_z, row)
    return best[k + 1, : most + 1].copy(), bits, width
