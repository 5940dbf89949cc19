# cython: boundscheck=True, wraparound=False, cdivision=True
"""One pass over the bytes of a TREC run or qrels file: columns found, numbers read, faults located.

The bytes come from outside, so every access is bounds-checked. Lines end at a newline; space, tab,
carriage return, vertical tab and form feed separate columns; blank lines are passed over.
"""
import numpy as np

from cpython.mem cimport PyMem_Free, PyMem_Malloc

from cpython.object cimport PyObject

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, PyObject* overflow) except? -1.0

# What can be wrong with a line; FAULTS in data/trec.py says it in words.
cdef enum:
    FINE = 0
    TOO_FEW = 1
    TOO_MANY = 2
    NOT_A_NUMBER = 3
    NAN = 4
    NOT_WHOLE = 5
    OUT_OF_RANGE = 6
    BINARY = 7
    KINDS = 8

cdef double[23] POWERS = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]


cdef inline bint is_space(unsigned char c) noexcept nogil:
    return c == 32 or c == 9 or (11 <= c <= 13)


cdef inline bint is_digit(unsigned char c) noexcept nogil:
    return 48 <= c <= 57


cdef bint is_word(
    const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t end, const char* word
) except -1 nogil:
    """Whether text[start:end] is this lower-case word, in any case."""
    cdef Py_ssize_t i
    for i in range(end - start):
        if word[i] == 0 or (text[start + i] | 32) != <unsigned char>word[i]:
            return False
    return word[end - start] == 0


cdef int slow_double(
    const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t end, double* out
) except -1 with gil:
    """The correctly rounded value of text that is already known to have the form of a number."""
    cdef Py_ssize_t length = end - start, i
    cdef char* copy = <char*>PyMem_Malloc(length + 1)
    if copy == NULL:
        raise MemoryError
    for i in range(length):
        copy[i] = <char>text[start + i]
    copy[length] = 0
    try:
        out[0] = PyOS_string_to_double(copy, NULL, NULL)
    except ValueError:
        return NOT_A_NUMBER
    finally:
        PyMem_Free(copy)
    return FINE


cdef int parse_double(
    const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t end, double* out
) except -1 nogil:
    """The value of a decimal number, correctly rounded; `inf` is a number, `nan` is named as such."""
    cdef Py_ssize_t i = start
    cdef bint negative = False, any_digit = False, exact = True, exponent_negative = False
    cdef unsigned long long mantissa = 0
    cdef long long scale = 0, exponent = 0
    cdef int significant = 0
    if i < end and (text[i] == 43 or text[i] == 45):
        negative = text[i] == 45
        i += 1
    if i < end and not is_digit(text[i]) and text[i] != 46:
        if is_word(text, i, end, b"inf") or is_word(text, i, end, b"infinity"):
            out[0] = -1e308 * 10.0 if negative else 1e308 * 10.0
            return FINE
        return NAN if is_word(text, i, end, b"nan") else NOT_A_NUMBER
    cdef bint fraction = False
    while i < end and (is_digit(text[i]) or (text[i] == 46 and not fraction)):
        if text[i] == 46:
            fraction = True
        else:
            any_digit = True
            if significant < 19:
                mantissa = mantissa * 10 + (text[i] - 48)
                if mantissa:
                    significant += 1
                if fraction:
                    scale -= 1
            else:
                exact = False
        i += 1
    if not any_digit:
        return NOT_A_NUMBER
    if i < end and (text[i] | 32) == 101:
        i += 1
        if i < end and (text[i] == 43 or text[i] == 45):
            exponent_negative = text[i] == 45
            i += 1
        if i == end:
            return NOT_A_NUMBER
        while i < end and is_digit(text[i]):
            if exponent < 100000:
                exponent = exponent * 10 + (text[i] - 48)
            i += 1
    if i != end:
        return NOT_A_NUMBER
    scale += -exponent if exponent_negative else exponent
    # Both factors are exact doubles, so one rounding is made: the correct one (Clinger 1990).
    if exact and mantissa <= (1ULL << 53) and -22 <= scale <= 22:
        out[0] = <double>mantissa
        out[0] = out[0] / POWERS[-scale] if scale < 0 else out[0] * POWERS[scale]
        if negative:
            out[0] = -out[0]
        return FINE
    return slow_double(text, start, end, out)


cdef int parse_grade(
    const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t end, double* out
) except -1 nogil:
    """The value of a whole number that fits 32 bits."""
    cdef Py_ssize_t i = start
    cdef bint negative = False
    cdef long long value = 0
    cdef double number
    if i < end and (text[i] == 43 or text[i] == 45):
        negative = text[i] == 45
        i += 1
    if i == end:
        return NOT_A_NUMBER
    while i < end and is_digit(text[i]):
        value = min(value * 10 + (text[i] - 48), 1LL << 40)
        i += 1
    if i != end:
        return NOT_WHOLE if parse_double(text, start, end, &number) == FINE else NOT_A_NUMBER
    if value > 0x7fffffff:  # symmetric, so that the sign never overflows
        return OUT_OF_RANGE
    out[0] = -<double>value if negative else <double>value
    return FINE


def tokenize(
    const unsigned char[::1] text, Py_ssize_t columns, bint whole, bint lenient, bint more=False
):
    """The columns of each line, and what was wrong.

    Lines have `columns` columns: topic first, document third, the number (a grade when `whole`, else
    a score) fifth of six or fourth of four. Returns (places, values, faults): places is an array of
    starts and lengths for topic, second column, document and last column, one row each; faults
    maps the kind of fault to (count, position of the first). Reading stops at the first fault unless
    `lenient`. `more` columns than these are passed over, if allowed.
    """
    if columns != 4 and columns != 6:
        raise ValueError("a run has six columns, a qrels file four")
    cdef Py_ssize_t size = text.shape[0], i, lines = 1, rows = 0, start, column, line_start
    cdef Py_ssize_t number_column = columns - 2 if columns == 6 else 3
    cdef Py_ssize_t[8] at, length
    cdef int fault
    cdef double value = 0.0
    cdef bint binary
    with nogil:
        for i in range(size):
            if text[i] == 10:
                lines += 1
    places_array = np.empty((8, lines), dtype=np.int64)
    values_array = np.empty(lines, dtype=np.float64)
    counts_array = np.zeros(KINDS, dtype=np.int64)
    first_array = np.full(KINDS, -1, dtype=np.int64)
    cdef long long[:, ::1] places = places_array
    cdef double[::1] values = values_array
    cdef long long[::1] counts = counts_array, first = first_array
    i = 0
    with nogil:
        while i < size:
            line_start = i
            column = 0
            binary = False
            while True:
                while i < size and is_space(text[i]):
                    i += 1
                if i >= size or text[i] == 10:
                    break
                start = i
                while i < size and text[i] != 10 and not is_space(text[i]):
                    if text[i] == 0:
                        binary = True
                    i += 1
                if column < columns:
                    at[column] = start
                    length[column] = i - start
                column += 1
            i += 1
            if column == 0:
                continue
            if binary:
                fault = BINARY
            elif column < columns or (column > columns and not more):
                fault = TOO_FEW if column < columns else TOO_MANY
            elif whole:
                fault = parse_grade(
                    text, at[number_column], at[number_column] + length[number_column], &value
                )
            else:
                fault = parse_double(
                    text, at[number_column], at[number_column] + length[number_column], &value
                )
            if fault != FINE:
                counts[fault] += 1
                if first[fault] < 0:
                    first[fault] = line_start
                if lenient:
                    continue
                break
            places[0, rows] = at[0]
            places[1, rows] = length[0]
            places[2, rows] = at[1]
            places[3, rows] = length[1]
            places[4, rows] = at[2]
            places[5, rows] = length[2]
            places[6, rows] = at[columns - 1]
            places[7, rows] = length[columns - 1]
            values[rows] = value
            rows += 1
    faults = {
        kind: (int(counts_array[kind]), int(first_array[kind]))
        for kind in range(KINDS) if counts_array[kind]
    }
    return places_array[:, :rows], values_array[:rows], faults


def starts_of_topics(
    const unsigned char[::1] text, const long long[::1] starts, const long long[::1] lengths
):
    """The rows at which the topic differs from the row before; the first row is one."""
    cdef Py_ssize_t rows = starts.shape[0], i, j
    changed_array = np.ones(rows, dtype=np.uint8)
    cdef unsigned char[::1] changed = changed_array
    with nogil:
        for i in range(1, rows):
            if lengths[i] == lengths[i - 1]:
                changed[i] = 0
                for j in range(lengths[i]):
                    if text[starts[i] + j] != text[starts[i - 1] + j]:
                        changed[i] = 1
                        break
    return np.flatnonzero(changed_array)
