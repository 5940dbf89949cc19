# cython: boundscheck=True, wraparound=False, cdivision=True
"""One pass over the bytes of a LETOR (SVMlight) file: grades, queries, features, faults located.

A line is `grade qid:query 1:value 2:value … # docid = document …`; what follows # is a comment. Some
files have no queries. The bytes come from outside: each is read after a comparison with the end, and
everything is written through bounds-checked views. Blank lines and lines with only a comment are passed
over.
"""
import numpy as np

from libc.math cimport NAN as NO_VALUE
from libc.math cimport isinf, isnan
from libc.string cimport memchr, memcmp

from rankgauge.native.numbers cimport (
    BINARY, FINE, MARK, NAN, POWERS, TOO_LARGE, Text, has_mark, is_space, is_word, parse_double,
    parse_grade,
)

# What else can be wrong with a line, beside the kinds of numbers.pxd; FAULTS in io/letor.py says it.
cdef enum:
    NO_QUERY = 16
    NOT_A_PAIR = 17
    FEATURE_NUMBER = 18
    REPEATED = 19
    VALUE = 20
    NOT_FINITE = 21
    ALL_KINDS = 22

cdef enum:
    LARGEST = 100000

LARGEST_FEATURE = LARGEST
"""The highest feature number that is believed."""


cdef struct Row:
    Text query
    Text query_end
    Text document
    Text document_end
    Text wrong  # where a fault is
    double grade
    Py_ssize_t filled  # pairs so far, of all rows


cdef inline Text find(Text p, Text end, int byte) noexcept nogil:
    """Where this byte comes first, or the end."""
    cdef Text found = <Text>memchr(p, byte, end - p)
    return end if found == NULL else found


cdef inline Text after_blanks(Text p, Text end) noexcept nogil:
    while p < end and is_space(p[0]):
        p += 1
    return p


cdef inline Text after_word(Text p, Text end) noexcept nogil:
    while p < end and not is_space(p[0]):
        p += 1
    return p


cdef Py_ssize_t count(Text p, Text end, unsigned char byte) noexcept nogil:
    """How often this byte occurs, by blocks whose count fits a byte, which compilers do in parallel."""
    cdef Py_ssize_t total = 0, length, i
    cdef unsigned char some
    while p < end:
        length = min(end - p, 255)
        some = 0
        for i in range(length):
            some += p[i] == byte
        total += some
        p += length
    return total


cdef inline Text after_digits(Text p, Text end, unsigned long long* number) noexcept nogil:
    """Past the digits here, which extend this number; more than 18 may overflow it."""
    cdef unsigned int digit
    while p < end:
        digit = <unsigned int>p[0] - 48
        if digit > 9:
            break
        number[0] = number[0] * 10 + digit
        p += 1
    return p


cdef inline Text after_short_number(Text p, Text end, double* out) noexcept nogil:
    """Past a number such as -12.5 that one division rounds correctly, or NULL for any other text."""
    cdef bint negative = p < end and p[0] == 45
    cdef unsigned long long mantissa = 0
    cdef Py_ssize_t digits, fraction = 0
    cdef Text start = p + negative
    p = after_digits(start, end, &mantissa)
    digits = p - start
    if p < end and p[0] == 46:
        start = p + 1
        p = after_digits(start, end, &mantissa)
        fraction = p - start
        digits += fraction
    if not 0 < digits <= 18 or mantissa > (1ULL << 53) or (p < end and not is_space(p[0])):
        return NULL
    out[0] = <double>mantissa / POWERS[fraction]
    if negative:
        out[0] = -out[0]
    return p


cdef int read_row(
    Text p, Text end, bint queries, long long mark, Row* row, int[::1] columns, float[::1] values,
    long long[::1] seen,
) except -1 nogil:
    """What is wrong with the line without its comment; its parts go to `row`, `columns`, `values`."""
    cdef Text word_end = after_word(p, end)
    cdef unsigned long long feature
    cdef double value = 0.0
    cdef int fault
    row.wrong = p
    if has_mark(p, word_end):
        return MARK
    fault = parse_grade(p, word_end, &row.grade)
    if fault != FINE:
        return fault
    row.query = row.query_end = p
    if queries:
        p = row.wrong = after_blanks(word_end, end)
        word_end = after_word(p, end)
        if word_end - p < 5 or memcmp(p, b"qid:", 4) != 0:
            return NO_QUERY
        row.query = p + 4
        row.query_end = word_end
    while True:
        p = row.wrong = after_blanks(word_end, end)
        if p == end:
            return FINE
        feature = 0
        p = after_digits(p, end, &feature)
        if p == row.wrong or p == end or p[0] != 58:  # a colon
            return NOT_A_PAIR
        if p - row.wrong > 18 or not 1 <= feature <= LARGEST:
            return FEATURE_NUMBER
        if seen[feature] == mark:
            return REPEATED
        seen[feature] = mark
        word_end = after_short_number(p + 1, end, &value)
        if word_end == NULL:
            word_end = after_word(p, end)
            if is_word(p + 1, word_end, b"null"):
                value = NO_VALUE
            else:
                fault = parse_double(p + 1, word_end, &value)
                if fault != FINE:
                    return NOT_FINITE if fault == NAN or fault == TOO_LARGE else VALUE
        if isinf(<float>value):
            return NOT_FINITE
        columns[row.filled] = <int>(feature - 1)
        values[row.filled] = <float>value
        row.filled += 1


cdef inline void read_document(Text p, Text end, Row* row) noexcept nogil:
    """The document that a comment names: `docid = document`, or nothing."""
    row.document = row.document_end = end
    p = after_blanks(p, end)
    if end - p < 5 or memcmp(p, b"docid", 5) != 0:
        return
    p = after_blanks(p + 5, end)
    if p < end and p[0] == 61:  # =
        row.document = after_blanks(p + 1, end)
        row.document_end = after_word(row.document, end)


def newlines(const unsigned char[::1] text):
    """How many lines end in the text."""
    return count(&text[0], &text[0] + text.shape[0], 10) if text.shape[0] else 0


def tokenize(const unsigned char[::1] text, bint lenient, bint queries):
    """The parts of each line, and what was wrong.

    Returns (places, lines, labels, offsets, columns, values, faults). Places has the starts and lengths
    of query and document, one row each; a length of 0 means that no document is named, or no query, where
    `queries` is false. Lines has the number of the line of each row, from 0. Row r has the features
    columns[offsets[r]:offsets[r + 1]], counted from 0, with as many values; NaN stands for NULL. Faults
    maps the kind of fault to (count, position of the first). Reading stops at the first fault unless
    `lenient`.
    """
    cdef Py_ssize_t rows = 0
    cdef long long mark = 0, line = -1
    cdef Text p = NULL, start = NULL, end = NULL, line_end, comment, first_word
    cdef int fault
    cdef Row row
    if text.shape[0]:
        p = start = &text[0]
        end = start + text.shape[0]
    with nogil:
        # Each pair has a colon, and so has each row in its query.
        row.filled = count(p, end, 58)
        rows = count(p, end, 10) + 1
        if queries:
            rows = min(row.filled, rows)
    places_array = np.empty((4, rows), dtype=np.int64)
    lines_array = np.empty(rows, dtype=np.int64)
    labels_array = np.empty(rows, dtype=np.int32)
    offsets_array = np.zeros(rows + 1, dtype=np.int64)
    columns_array = np.empty(row.filled, dtype=np.int32)
    values_array = np.empty(row.filled, dtype=np.float32)
    seen_array = np.zeros(LARGEST + 1, dtype=np.int64)
    counts_array = np.zeros(ALL_KINDS, dtype=np.int64)
    first_array = np.full(ALL_KINDS, -1, dtype=np.int64)
    cdef long long[:, ::1] places = places_array
    cdef int[::1] labels = labels_array, columns = columns_array
    cdef float[::1] values = values_array
    cdef long long[::1] lines = lines_array, offsets = offsets_array, seen = seen_array
    cdef long long[::1] counts = counts_array, first = first_array
    rows = 0
    row.filled = 0
    with nogil:
        while p < end:
            line += 1
            line_end = find(p, end, 10)
            comment = find(p, line_end, 35)  # #
            row.wrong = find(p, line_end, 0)
            first_word = after_blanks(p, comment)
            p = line_end + 1 if line_end < end else end
            if row.wrong < line_end:
                fault = BINARY
            elif first_word == comment:
                continue
            else:
                mark += 1
                fault = read_row(first_word, comment, queries, mark, &row, columns, values, seen)
            if fault != FINE:
                counts[fault] += 1
                if first[fault] < 0:
                    first[fault] = row.wrong - start
                if not lenient:
                    break
                row.filled = offsets[rows]
                continue
            read_document(comment + 1 if comment < line_end else line_end, line_end, &row)
            places[0, rows] = row.query - start
            places[1, rows] = row.query_end - row.query
            places[2, rows] = row.document - start
            places[3, rows] = row.document_end - row.document
            lines[rows] = line
            labels[rows] = <int>row.grade
            rows += 1
            offsets[rows] = row.filled
    faults = {
        kind: (int(counts_array[kind]), int(first_array[kind]))
        for kind in range(ALL_KINDS) if counts_array[kind]
    }
    filled = offsets_array[rows]
    return (
        places_array[:, :rows], lines_array[:rows], labels_array[:rows], offsets_array[: rows + 1],
        columns_array[:filled], values_array[:filled], faults,
    )


def fill(
    float[:, ::1] matrix, const long long[::1] rows, const long long[::1] offsets,
    const int[::1] columns, const float[::1] values,
):
    """Put the pairs of row i into row rows[i] of the matrix. A row below 0 is left out, and so is a value
    that is NaN: what the matrix has there stays."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(rows.shape[0]):
            if rows[i] < 0:
                continue
            for j in range(offsets[i], offsets[i + 1]):
                if not isnan(values[j]):
                    matrix[rows[i], columns[j]] = values[j]
