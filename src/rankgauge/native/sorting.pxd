# cython: cdivision=True
"""A stable sort of pairs of numbers, without the interpreter."""
from libc.string cimport memcpy


cdef struct Item:
    double first, second
    int a, b


cdef inline bint after(const Item* x, const Item* y) noexcept nogil:
    return x.first > y.first or (x.first == y.first and x.second > y.second)


cdef inline void sort(Item* items, Item* spare, Py_ssize_t n) noexcept nogil:
    """Items by the first number, then the second; equal ones stay as they stand. `spare` has room for
    as many."""
    cdef Py_ssize_t start, i, j, k, width = 16, middle, end
    cdef Item item
    cdef Item* source = items
    cdef Item* target = spare
    start = 0
    while start < n:
        end = min(start + width, n)
        for i in range(start + 1, end):
            item = items[i]
            j = i
            while j > start and after(&items[j - 1], &item):
                items[j] = items[j - 1]
                j -= 1
            items[j] = item
        start = end
    while width < n:
        start = 0
        while start < n:
            middle, end = min(start + width, n), min(start + 2 * width, n)
            i, j, k = start, middle, start
            while i < middle and j < end:
                if after(&source[i], &source[j]):
                    target[k] = source[j]
                    j += 1
                else:
                    target[k] = source[i]
                    i += 1
                k += 1
            memcpy(target + k, source + i, (middle - i) * sizeof(Item))
            memcpy(target + k + middle - i, source + j, (end - j) * sizeof(Item))
            start = end
        source, target = target, source
        width *= 2
    if source != items:
        memcpy(items, source, n * sizeof(Item))
