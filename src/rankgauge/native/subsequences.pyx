# cython: boundscheck=False, wraparound=False, cdivision=True
"""Longest common subsequences of many texts with one reference, words given as numbers.

Text t is words[offsets[t]:offsets[t + 1]]. The words of the reference are 0 to vocabulary - 1; in the
texts -1 is a word that the reference does not have. Memory grows with the length of the texts and of the
reference, never with their product.
"""
import numpy as np

ctypedef unsigned long long Bits


cdef void check(
    const int[::1] words, const long long[::1] offsets, const int[::1] reference, int vocabulary
) except *:
    """Raise unless all offsets and numbers of words are in range."""
    cdef Py_ssize_t i
    if vocabulary < 0 or offsets.shape[0] == 0 or offsets[0] != 0:
        raise ValueError("expected a vocabulary, and offsets from 0 on")
    for i in range(offsets.shape[0] - 1):
        if offsets[i] > offsets[i + 1]:
            raise ValueError("offsets must ascend")
    if offsets[offsets.shape[0] - 1] != words.shape[0]:
        raise ValueError("offsets must end with the words")
    for i in range(words.shape[0]):
        if words[i] < -1 or words[i] >= vocabulary:
            raise ValueError("a word outside the vocabulary")
    for i in range(reference.shape[0]):
        if reference[i] < 0 or reference[i] >= vocabulary:
            raise ValueError("a word of the reference outside the vocabulary")


cdef inline int ones(Bits bits) noexcept nogil:
    """How many bits are set."""
    bits = bits - ((bits >> 1) & <Bits>0x5555555555555555)
    bits = (bits & <Bits>0x3333333333333333) + ((bits >> 2) & <Bits>0x3333333333333333)
    bits = (bits + (bits >> 4)) & <Bits>0x0F0F0F0F0F0F0F0F
    return <int>((bits * <Bits>0x0101010101010101) >> 56)


def lcs_lengths(
    const int[::1] words, const long long[::1] offsets, const int[::1] reference, int vocabulary
):
    """The length of the longest common subsequence of each text with the reference.

    64 words of the reference are compared at once (Hyyrö 2004): a bit of `row` is 0 where the length
    grows. What a row carries into the next 64 words is kept for each word of the texts.
    """
    check(words, offsets, reference, vocabulary)
    cdef Py_ssize_t texts = offsets.shape[0] - 1, size = reference.shape[0], t, i, start, stop
    cdef Bits row, shared, total, inside, match
    cdef unsigned char carried, carry
    result = np.zeros(texts, dtype=np.int64)
    cdef long long[::1] lengths = result
    cdef unsigned char[::1] carries = np.zeros(words.shape[0], dtype=np.uint8)
    cdef Bits[::1] matches = np.zeros(vocabulary, dtype=np.uint64)
    with nogil:
        for start in range(0, size, 64):
            stop = min(start + 64, size)
            inside = ~<Bits>0 if stop - start == 64 else ((<Bits>1) << (stop - start)) - 1
            for i in range(start, stop):
                matches[reference[i]] |= (<Bits>1) << (i - start)
            for t in range(texts):
                row = ~<Bits>0
                for i in range(offsets[t], offsets[t + 1]):
                    if words[i] < 0:
                        continue
                    match = matches[words[i]]
                    carried = carries[i]
                    shared = row & match
                    total = row + shared
                    carry = total < row
                    total = total + carried
                    carry |= total < carried
                    carries[i] = carry
                    row = total | (row & ~match)
                lengths[t] += ones(~row & inside)
            for i in range(start, stop):
                matches[reference[i]] = 0
    return result


def weighted_lcs(
    const int[::1] words,
    const long long[::1] offsets,
    const int[::1] reference,
    int vocabulary,
    const double[::1] gains,
):
    """The weighted longest common subsequence of each text with the reference, by the algorithm of
    Lin 2004: one more word after k words in a row adds gains[k]."""
    check(words, offsets, reference, vocabulary)
    cdef Py_ssize_t texts = offsets.shape[0] - 1, size = reference.shape[0], t, i, j
    if gains.shape[0] < size:
        raise ValueError("expected a gain for each word of the reference")
    cdef double diagonal, above
    cdef int run, before
    result = np.zeros(texts)
    cdef double[::1] weights = result
    cdef double[::1] best = np.zeros(size + 1)
    cdef int[::1] runs = np.zeros(size + 1, dtype=np.int32)
    with nogil:
        for t in range(texts):
            for j in range(size + 1):
                best[j] = 0.0
                runs[j] = 0
            for i in range(offsets[t], offsets[t + 1]):
                if words[i] < 0:
                    for j in range(size + 1):
                        runs[j] = 0
                    # Without a match the best so far goes on from the left, where it is no less.
                    for j in range(1, size + 1):
                        if best[j - 1] > best[j]:
                            best[j] = best[j - 1]
                    continue
                diagonal, before = 0.0, 0
                for j in range(1, size + 1):
                    above, run = best[j], runs[j]
                    if words[i] == reference[j - 1]:
                        best[j] = diagonal + gains[before]
                        runs[j] = before + 1
                    else:
                        if best[j - 1] > above:
                            best[j] = best[j - 1]
                        runs[j] = 0
                    diagonal, before = above, run
            weights[t] = best[size]
    return result
