# cython: boundscheck=True, wraparound=False, cdivision=True
"""One pass over the bytes of a TREC run or qrels file: columns found, numbers read, faults located.

The bytes come from outside, so every access is bounds-checked. Lines end at a newline; space, tab,
carriage return, vertical tab and form feed separate columns; blank lines are passed over.
"""
import numpy as np

from rankgauge.native.numbers cimport (
    BINARY, FINE, KINDS, MARK, TOO_FEW, TOO_MANY, Text, has_mark, is_space, parse_double, parse_grade,
)


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
    cdef Py_ssize_t[6] at, length
    cdef int fault
    cdef double value = 0.0
    cdef bint binary
    cdef Text number, end
    with nogil:
        for i in range(size):
            if text[i] == 10:
                lines += 1
    lines = min(lines, size // (2 * columns) + 1)  # a byte and a blank a column at least
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
            number = &text[at[0]]
            if has_mark(number, number + length[0]):
                fault = MARK
            elif binary:
                fault = BINARY
            elif column < columns or (column > columns and not more):
                fault = TOO_FEW if column < columns else TOO_MANY
            else:
                number = &text[at[number_column]]
                end = number + length[number_column]
                fault = parse_grade(number, end, &value) if whole else parse_double(number, end, &value)
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
