# cython: boundscheck=False, wraparound=False, cdivision=True
"""What pairs of rows differ by, for many pairs, without an array of the differences.

Sums are in the order of NumPy's: in blocks of at most 128 numbers with eight sums each, and then by halves.
So the results are those of `(a - b).mean()` and `(a - b).std(ddof=1)`, to the last bit.
"""
import numpy as np
from libc.math cimport NAN, fabs, sqrt

cdef Py_ssize_t BLOCK = 128


cdef inline double term(const double *a, const double *b, Py_ssize_t i, double mean, bint squared) noexcept nogil:
    cdef double apart = a[i] - b[i]
    if squared:
        apart = apart - mean
        return apart * apart
    return apart


cdef inline double block_sum(
    const double *a, const double *b, Py_ssize_t n, double mean, bint squared
) noexcept nogil:
    cdef double r0, r1, r2, r3, r4, r5, r6, r7, total
    cdef Py_ssize_t i
    if n < 8:
        total = 0.0
        for i in range(n):
            total += term(a, b, i, mean, squared)
        return total
    r0 = term(a, b, 0, mean, squared)
    r1 = term(a, b, 1, mean, squared)
    r2 = term(a, b, 2, mean, squared)
    r3 = term(a, b, 3, mean, squared)
    r4 = term(a, b, 4, mean, squared)
    r5 = term(a, b, 5, mean, squared)
    r6 = term(a, b, 6, mean, squared)
    r7 = term(a, b, 7, mean, squared)
    i = 8
    while i + 8 <= n:
        r0 += term(a, b, i, mean, squared)
        r1 += term(a, b, i + 1, mean, squared)
        r2 += term(a, b, i + 2, mean, squared)
        r3 += term(a, b, i + 3, mean, squared)
        r4 += term(a, b, i + 4, mean, squared)
        r5 += term(a, b, i + 5, mean, squared)
        r6 += term(a, b, i + 6, mean, squared)
        r7 += term(a, b, i + 7, mean, squared)
        i += 8
    total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    while i < n:
        total += term(a, b, i, mean, squared)
        i += 1
    return total


cdef double plain_sum(const double *a, const double *b, Py_ssize_t n) noexcept nogil:
    """The sum of the differences."""
    cdef Py_ssize_t half
    if n <= BLOCK:
        return block_sum(a, b, n, 0.0, False)
    half = n // 2
    half -= half % 8
    return plain_sum(a, b, half) + plain_sum(a + half, b + half, n - half)


cdef double square_sum(const double *a, const double *b, Py_ssize_t n, double mean) noexcept nogil:
    """The sum of the squares of the differences less their mean."""
    cdef Py_ssize_t half
    if n <= BLOCK:
        return block_sum(a, b, n, mean, True)
    half = n // 2
    half -= half % 8
    return square_sum(a, b, half, mean) + square_sum(a + half, b + half, n - half, mean)


cdef void check(
    const Py_ssize_t[::1] first, const Py_ssize_t[::1] second, Py_ssize_t rows
) except *:
    """Raise unless all numbers of rows are in range."""
    cdef Py_ssize_t p
    if second.shape[0] != first.shape[0]:
        raise ValueError("expected as many second rows as first ones")
    for p in range(first.shape[0]):
        if not (0 <= first[p] < rows and 0 <= second[p] < rows):
            raise ValueError("a row that is not there")


def moments(
    const double[:, ::1] values, const Py_ssize_t[::1] first, const Py_ssize_t[::1] second
):
    """The mean and the standard deviation (with n − 1; NaN for one column) of values[first] −
    values[second], for each pair of rows."""
    cdef Py_ssize_t pairs = first.shape[0], rows = values.shape[0], n = values.shape[1], p
    cdef const double *a
    cdef const double *b
    if n == 0:
        raise ValueError("no columns, expected at least one")
    check(first, second, rows)
    means_array, deviations_array = np.empty(pairs), np.empty(pairs)
    cdef double[::1] means = means_array, deviations = deviations_array
    with nogil:
        for p in range(pairs):
            a = &values[first[p], 0]
            b = &values[second[p], 0]
            means[p] = plain_sum(a, b, n) / n
            deviations[p] = sqrt(square_sum(a, b, n, means[p]) / (n - 1)) if n > 1 else NAN
    return means_array, deviations_array


cdef inline double apart(double a, double b, double fuzziness, double least) noexcept nogil:
    """a − b, or 0 if the two are tied."""
    cdef double difference = a - b, bar = least
    if fuzziness > 0:
        bar = max(fuzziness * max(fabs(a), fabs(b)), least)
    return 0.0 if fabs(difference) <= bar else difference


def agreements(
    const double[:, ::1] one,
    const double[:, ::1] other,
    const Py_ssize_t[::1] first,
    const Py_ssize_t[::1] second,
    double least,
    double fuzziness,
    double width,
    long long[::1] decided,
    long long[::1] swapped,
):
    """How far two halves of the topics agree on pairs of runs, for each split.

    `one` and `other` are split × run: the means on the two halves. Two runs are tied if their means differ by
    at most `least`. The result is for each split the number of pairs that the halves put in the same order
    less the number that they put in opposite orders; and how many pairs and splits have a tie, where runs
    are also tied if their means differ by at most `fuzziness` of the greater mean. `decided` counts the others
    by the size of the difference on the first half, in steps of `width`, and `swapped` those of them in which
    the halves disagree.
    """
    cdef Py_ssize_t splits = one.shape[0], runs = one.shape[1], pairs = first.shape[0]
    cdef Py_ssize_t s, p, place, last = decided.shape[0] - 1
    cdef long long ties = 0, sum_
    cdef double x, y, a, b, c, d
    if other.shape[0] != splits or other.shape[1] != runs:
        raise ValueError("expected the same splits and runs in both halves")
    if last < 0 or swapped.shape[0] != last + 1 or not width > 0:
        raise ValueError("expected sizes to count by")
    check(first, second, runs)
    sums_array = np.zeros(splits, dtype=np.int64)
    cdef long long[::1] sums = sums_array
    with nogil:
        for s in range(splits):
            sum_ = 0
            for p in range(pairs):
                a, b = one[s, first[p]], one[s, second[p]]
                c, d = other[s, first[p]], other[s, second[p]]
                x, y = apart(a, b, 0.0, least), apart(c, d, 0.0, least)
                if x != 0 and y != 0:
                    sum_ += 1 if (x > 0) == (y > 0) else -1
                if fuzziness > 0:
                    x, y = apart(a, b, fuzziness, least), apart(c, d, fuzziness, least)
                if x == 0 or y == 0:
                    ties += 1
                    continue
                place = last if fabs(x) / width >= last else <Py_ssize_t>(fabs(x) / width)
                decided[place] += 1
                swapped[place] += (x > 0) != (y > 0)
            sums[s] = sum_
    return sums_array, ties
