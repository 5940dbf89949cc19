"""A hash of bytes, for every table of ids: inlined.

Seeded, so that no file can be made to collide on purpose: each word is folded by a full multiplication
with the seed, which leaves no difference between two texts that cancels whatever the seed is. A hash
never decides alone: whoever finds two equal compares the bytes.
"""
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(_MSC_VER) && defined(_M_X64)
    #include <intrin.h>
    static uint64_t rankgauge_fold(uint64_t a, uint64_t b) {
        uint64_t high, low = _umul128(a, b, &high);
        return low ^ high;
    }
    #elif defined(__SIZEOF_INT128__)
    static inline uint64_t rankgauge_fold(uint64_t a, uint64_t b) {
        unsigned __int128 product = (unsigned __int128)a * b;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    #else
    static uint64_t rankgauge_fold(uint64_t a, uint64_t b) {
        uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
        uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
        return a * b ^ (a1 * b1 + (middle >> 32) + (other >> 32));
    }
    #endif
    """
    uint64_t fold "rankgauge_fold"(uint64_t a, uint64_t b) noexcept nogil


cdef inline uint64_t hash_bytes(const unsigned char* p, Py_ssize_t length, uint64_t seed) noexcept nogil:
    """The hash of these bytes: whole words, then what is left of them, then the length."""
    cdef uint64_t h = ~seed, word
    cdef Py_ssize_t left = length
    while left >= 8:
        memcpy(&word, p, 8)
        h = fold(h ^ word, seed)
        p += 8
        left -= 8
    word = 0
    if left:
        memcpy(&word, p, left)
    return fold(h ^ word, seed) + <uint64_t>length
