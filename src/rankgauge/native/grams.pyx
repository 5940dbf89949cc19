# cython: boundscheck=False, wraparound=False, cdivision=True
"""Words and pairs of words that many texts have in common with one reference, words given as numbers.

Text t is words[offsets[t]:offsets[t + 1]]; -1 is a word that the reference does not have. The pairs of the
reference that begin with word w are (w, seconds[p]) for p from starts[w] to starts[w + 1], ascending; the
reference has pair p most[p] times, and word w alone singles[w] times.
"""
import numpy as np


cdef void check(
    const int[::1] words,
    const long long[::1] offsets,
    const long long[::1] starts,
    const int[::1] seconds,
    const int[::1] most,
    const int[::1] singles,
) except *:
    """Raise unless all offsets and numbers of words are in range."""
    cdef Py_ssize_t i, vocabulary = starts.shape[0] - 1
    if offsets.shape[0] == 0 or offsets[0] != 0 or offsets[offsets.shape[0] - 1] != words.shape[0]:
        raise ValueError("offsets must be those of the words")
    for i in range(offsets.shape[0] - 1):
        if offsets[i] > offsets[i + 1]:
            raise ValueError("offsets must ascend")
    if vocabulary < 0 or starts[0] != 0 or starts[vocabulary] != seconds.shape[0]:
        raise ValueError("starts must be those of the pairs")
    for i in range(vocabulary):
        if starts[i] > starts[i + 1]:
            raise ValueError("starts must ascend")
    if most.shape[0] != seconds.shape[0] or singles.shape[0] != vocabulary:
        raise ValueError("expected a count for each pair and for each word")
    for i in range(words.shape[0]):
        if words[i] < -1 or words[i] >= vocabulary:
            raise ValueError("a word outside the vocabulary")


cdef inline Py_ssize_t find(
    const int[::1] seconds, Py_ssize_t low, Py_ssize_t high, int word
) noexcept nogil:
    """Where a word is among ascending ones, or -1."""
    cdef Py_ssize_t middle, end = high
    while low < high:
        middle = low + (high - low) // 2
        if seconds[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low if low < end and seconds[low] == word else -1


def shared_counts(
    const int[::1] words,
    const long long[::1] offsets,
    const long long[::1] starts,
    const int[::1] seconds,
    const int[::1] most,
    const int[::1] singles,
    Py_ssize_t reach,
):
    """How many words, and pairs of words at most `reach` places apart, each text has in common with the
    reference, each as often as both have it."""
    check(words, offsets, starts, seconds, most, singles)
    cdef Py_ssize_t texts = offsets.shape[0] - 1, t, i, j, begin, end, stop, place, number
    cdef int first
    cdef long long hits
    result = np.zeros(texts, dtype=np.int64)
    cdef long long[::1] totals = result
    cdef int[::1] used = np.zeros(seconds.shape[0], dtype=np.int32)
    cdef int[::1] used_alone = np.zeros(singles.shape[0], dtype=np.int32)
    cdef long long[::1] touched = np.zeros(seconds.shape[0], dtype=np.int64)
    with nogil:
        for t in range(texts):
            begin, end = offsets[t], offsets[t + 1]
            hits, number = 0, 0
            for i in range(begin, end):
                first = words[i]
                if first < 0:
                    continue
                if used_alone[first] < singles[first]:
                    used_alone[first] += 1
                    hits += 1
                if starts[first] == starts[first + 1]:
                    continue
                stop = end if end - i - 1 <= reach else i + reach + 1
                for j in range(i + 1, stop):
                    if words[j] < 0:
                        continue
                    place = find(seconds, starts[first], starts[first + 1], words[j])
                    if place >= 0 and used[place] < most[place]:
                        if used[place] == 0:
                            touched[number] = place
                            number += 1
                        used[place] += 1
                        hits += 1
            totals[t] = hits
            for i in range(begin, end):
                if words[i] >= 0:
                    used_alone[words[i]] = 0
            for i in range(number):
                used[touched[i]] = 0
    return result
