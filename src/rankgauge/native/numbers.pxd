"""Bytes as numbers and blanks, for every tokeniser: inlined, since a call a number costs time.

Text is a pointer to its first byte and one past its last; every access follows a comparison with the
end, and the sanitizers watch over it. Cython puts these functions into the modules that cimport them.
"""
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from libc.math cimport isinf
from libc.string cimport memcmp, memcpy

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, PyObject* overflow) except? -1.0

cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    static const double rankgauge_powers[23] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

    /* The double nearest to mantissa / 10^scale, for scales from 1 to 19 and a mantissa that is not 0:
       by division of whole numbers, the remainder kept for the rounding. 0 where that is not to be had. */
    static int rankgauge_quotient(uint64_t mantissa, int scale, double *out) {
    #if defined(__SIZEOF_INT128__)
        static const uint64_t powers[20] = {
            1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
            10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
            1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u,
            10000000000000000000u};
        int lead = __builtin_clzll(mantissa), drop;
        unsigned __int128 whole = (unsigned __int128)(mantissa << lead) << 64, one = 1, rest;
        unsigned __int128 quotient = whole / powers[scale];
        int remainder = quotient * powers[scale] != whole;
        uint64_t high = (uint64_t)(quotient >> 64), top;
        drop = (high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)quotient)) - 53;
        top = (uint64_t)(quotient >> drop);
        rest = quotient & ((one << drop) - 1);
        if (rest > one << (drop - 1) || (rest == one << (drop - 1) && (remainder || (top & 1)))) top++;
        *out = ldexp((double)top, drop - 64 - lead);
        return 1;
    #else
        return 0;
    #endif
    }
    """
    const double* POWERS "rankgauge_powers"
    bint quotient "rankgauge_quotient"(unsigned long long m, int scale, double* out) noexcept nogil

ctypedef const unsigned char* Text

# What can be wrong with a line; FAULTS in io/trec.py says it in words.
cdef enum:
    FINE = 0
    TOO_FEW = 1
    TOO_MANY = 2
    NOT_A_NUMBER = 3
    NAN = 4
    NOT_WHOLE = 5
    OUT_OF_RANGE = 6
    BINARY = 7
    TOO_LARGE = 8
    MARK = 9
    KINDS = 10


cdef inline bint is_space(unsigned char c) noexcept nogil:
    """Whether this separates columns: a blank that does not end the line."""
    return c == 32 or c == 9 or (11 <= c <= 13)


cdef inline bint is_digit(unsigned char c) noexcept nogil:
    return 48 <= c <= 57


cdef inline bint has_mark(Text p, Text end) noexcept nogil:
    """Whether a byte order mark is here."""
    return end - p >= 3 and memcmp(p, b"\xef\xbb\xbf", 3) == 0


cdef inline bint is_word(Text p, Text end, const char* word) noexcept nogil:
    """Whether the text is this lower-case word, in any case."""
    while p < end:
        if word[0] == 0 or (p[0] | 32) != <unsigned char>word[0]:
            return False
        p += 1
        word += 1
    return word[0] == 0


cdef inline int slow_double(Text p, Text end, double* out) except -1 with gil:
    """The correctly rounded value of text that is already known to have the form of a number."""
    cdef Py_ssize_t length = end - p
    cdef char* copy = <char*>PyMem_Malloc(length + 1)
    if copy == NULL:
        raise MemoryError
    memcpy(copy, p, length)
    copy[length] = 0
    try:
        out[0] = PyOS_string_to_double(copy, NULL, NULL)
    except ValueError:
        return NOT_A_NUMBER
    finally:
        PyMem_Free(copy)
    return TOO_LARGE if isinf(out[0]) else FINE


cdef inline int parse_double(Text start, Text end, double* out) except -1 nogil:
    """The value of a decimal number, correctly rounded; `inf` is a number, but a number that only
    rounds to it is too large, and `nan` is named as such."""
    cdef Text p = start
    cdef bint negative = False, any_digit = False, exact = True, exponent_negative = False
    cdef bint fraction = False
    cdef unsigned long long mantissa = 0
    cdef long long scale = 0, exponent = 0
    cdef int significant = 0
    if p < end and (p[0] == 43 or p[0] == 45):
        negative = p[0] == 45
        p += 1
    if p < end and not is_digit(p[0]) and p[0] != 46:
        if is_word(p, end, b"inf") or is_word(p, end, b"infinity"):
            out[0] = -1e308 * 10.0 if negative else 1e308 * 10.0
            return FINE
        return NAN if is_word(p, end, b"nan") else NOT_A_NUMBER
    while p < end and (is_digit(p[0]) or (p[0] == 46 and not fraction)):
        if p[0] == 46:
            fraction = True
        else:
            any_digit = True
            if significant < 19:
                mantissa = mantissa * 10 + (p[0] - 48)
                if mantissa:
                    significant += 1
                if fraction:
                    scale -= 1
            else:
                exact = False
        p += 1
    if not any_digit:
        return NOT_A_NUMBER
    if p < end and (p[0] | 32) == 101:
        p += 1
        if p < end and (p[0] == 43 or p[0] == 45):
            exponent_negative = p[0] == 45
            p += 1
        if p == end:
            return NOT_A_NUMBER
        while p < end and is_digit(p[0]):
            if exponent < 100000:
                exponent = exponent * 10 + (p[0] - 48)
            else:  # its last digits are not known, and there may be as many zeros after the point
                exact = False
            p += 1
    if p != end:
        return NOT_A_NUMBER
    scale += -exponent if exponent_negative else exponent
    # Both factors are exact doubles, so one rounding is made: the correct one (Clinger 1990).
    if exact and mantissa <= (1ULL << 53) and -22 <= scale <= 22:
        out[0] = <double>mantissa
        out[0] = out[0] / POWERS[-scale] if scale < 0 else out[0] * POWERS[scale]
        if negative:
            out[0] = -out[0]
        return FINE
    if exact and -19 <= scale < 0 and mantissa and quotient(mantissa, <int>-scale, out):
        if negative:
            out[0] = -out[0]
        return FINE
    return slow_double(start, end, out)


cdef inline int parse_grade(Text start, Text end, double* out) except -1 nogil:
    """The value of a whole number that fits 32 bits."""
    cdef Text p = start
    cdef bint negative = False
    cdef long long value = 0
    cdef double number
    cdef int fault
    if p < end and (p[0] == 43 or p[0] == 45):
        negative = p[0] == 45
        p += 1
    if p == end:
        return NOT_A_NUMBER
    while p < end and is_digit(p[0]):
        value = min(value * 10 + (p[0] - 48), 1LL << 40)
        p += 1
    if p != end:
        fault = parse_double(start, end, &number)
        return NOT_WHOLE if fault == FINE or fault == TOO_LARGE else NOT_A_NUMBER
    if value > 0x7fffffff:  # symmetric, so that the sign never overflows
        return OUT_OF_RANGE
    out[0] = -<double>value if negative else <double>value
    return FINE
