# cython: boundscheck=True, wraparound=False, cdivision=True
"""One pass over the bytes of a CSV file: the cells of the wanted columns found, faults located.

Cells are parted by one byte, rows by newlines. Blanks around a cell do not count. A cell in double
quotes may hold separators and newlines, and a quote written twice. A quote inside any other cell is a
letter like all others. Blank lines are passed over. The bytes come from outside: every access follows
a comparison with the end.
"""
import numpy as np

from libc.string cimport memcpy

from rankgauge.native.numbers cimport FINE, Text, has_mark, is_space, parse_double

# What can be wrong with a row; FAULTS in io/csv_files.py says it in words.
cdef enum:
    SOUND = 0
    TOO_FEW_CELLS = 1
    TOO_MANY_CELLS = 2
    AFTER_QUOTE = 3
    OPEN_QUOTE = 4
    BINARY_CELL = 5
    EMPTY_CELL = 6
    MARKED = 7

cdef unsigned char QUOTE = 34
cdef unsigned char NEWLINE = 10


cdef struct Cell:
    Text start
    Py_ssize_t length  # below 0 where quotes are written twice
    bint quoted
    int fault
    Text next  # the separator or newline after the cell, or the end


cdef inline Cell read_cell(Text p, Text end, unsigned char separator) noexcept nogil:
    """The cell that begins here."""
    cdef Cell cell
    cdef Text stop
    cdef bint doubled = False
    cell.fault = SOUND
    cell.quoted = False
    while p < end and is_space(p[0]) and p[0] != separator:
        p += 1
    if p < end and p[0] == QUOTE:
        p += 1
        cell.quoted = True
        cell.start = p
        cell.fault = OPEN_QUOTE
        while p < end:
            if p[0] == QUOTE:
                if p + 1 < end and p[1] == QUOTE:
                    doubled = True
                    p += 1
                else:
                    cell.fault = SOUND
                    break
            elif p[0] == 0:
                cell.fault = BINARY_CELL
                break
            p += 1
        cell.length = -(p - cell.start) if doubled else p - cell.start
        if cell.fault != SOUND:
            cell.next = p
            return cell
        p += 1
        while p < end and is_space(p[0]) and p[0] != separator:
            p += 1
        if p < end and p[0] != separator and p[0] != NEWLINE:
            cell.fault = AFTER_QUOTE
        cell.next = p
        return cell
    cell.start = p
    while p < end and p[0] != separator and p[0] != NEWLINE:
        if p[0] == 0:
            cell.fault = BINARY_CELL
        p += 1
    cell.next = p
    stop = p
    while stop > cell.start and is_space((stop - 1)[0]):
        stop -= 1
    cell.length = stop - cell.start
    return cell


def first_row(const unsigned char[::1] text, unsigned char separator):
    """The cells of the first row that is not blank, where the next one starts, and 0.

    Where the row cannot be read, the place of the fault and its kind.
    """
    cdef Py_ssize_t size = text.shape[0], position
    cdef Cell cell
    cdef Text p, end, base
    cells = []
    if size == 0:
        return cells, 0, SOUND
    base = &text[0]
    p, end = base, base + size
    while p < end:
        cell = read_cell(p, end, separator)
        p = cell.next
        if cell.fault != SOUND:
            position = (cell.start if cell.fault == OPEN_QUOTE else p) - base
            return cells, position, cell.fault
        if not cells and has_mark(cell.start - cell.quoted, end):
            return cells, cell.start - cell.quoted - base, MARKED
        raw = (<const char*>cell.start)[: abs(cell.length)]
        if cell.length < 0:
            raw = raw.replace(b'""', b'"')
        if p < end and p[0] == separator:
            cells.append(raw)
            p += 1
            if p == end:
                cells.append(b"")
            continue
        if p < end:
            p += 1
        if cells or raw or cell.quoted:
            cells.append(raw)
            return cells, p - base, SOUND
    return cells, size, SOUND


def rows(
    const unsigned char[::1] text,
    unsigned char separator,
    Py_ssize_t start,
    Py_ssize_t columns,
    const long long[::1] slots,
):
    """The wanted cells of each row from `start` on, and the first fault.

    Rows have `columns` cells, and slots[c] is the place of column c among the wanted ones, -1 where it
    is not wanted. Returns (starts, lengths, fault, position, cells, slot): starts and lengths with a row
    for each wanted column; the length of a cell in which quotes are written twice is negative. The fault
    is 0 where there is none; else it is in the row or cell at `position`, of which so many cells were
    read, in the wanted column `slot` where the fault is about one.
    """
    if slots.shape[0] != columns or columns < 1:
        raise ValueError("a place for each column is needed")
    cdef Py_ssize_t size = text.shape[0], i, wanted = 0, most = 1, row = 0, column = 0
    cdef Py_ssize_t position = 0
    cdef long long slot = -1
    cdef Cell cell
    cdef Text p, end, base, line
    cdef int fault = SOUND
    for i in range(columns):
        if slots[i] >= 0:
            wanted += 1
    for i in range(columns):
        if slots[i] >= wanted:
            raise ValueError("places of columns that are not there")
    if start < 0 or start > size:
        raise ValueError("a start outside the text")
    with nogil:
        for i in range(start, size):
            if text[i] == NEWLINE:
                most += 1
    most = min(most, (size - start) // (columns + wanted) + 1)  # wanted cells hold a byte at least
    starts_array = np.empty((wanted, most), dtype=np.int64)
    lengths_array = np.empty((wanted, most), dtype=np.int64)
    cdef long long[:, ::1] starts = starts_array, lengths = lengths_array
    if start == size:
        return starts_array[:, :0], lengths_array[:, :0], SOUND, 0, 0, -1
    base = &text[0]
    p, end = base + start, base + size
    line = p
    with nogil:
        while p < end:
            cell = read_cell(p, end, separator)
            if cell.fault != SOUND:
                fault = cell.fault
                position = (cell.start if cell.fault == OPEN_QUOTE else cell.next) - base
                break
            if column == 0:
                line = cell.start - cell.quoted
                if has_mark(line, end):
                    fault = MARKED
                    position = line - base
                    break
                if cell.length == 0 and not cell.quoted and (
                    cell.next == end or cell.next[0] == NEWLINE
                ):
                    p = cell.next + 1
                    continue
            if column < columns and slots[column] >= 0:
                slot = slots[column]
                if cell.length == 0:
                    fault = EMPTY_CELL
                    position = line - base
                    break
                starts[slot, row] = cell.start - base
                lengths[slot, row] = cell.length
            column += 1
            p = cell.next
            if p < end and p[0] == separator:
                p += 1
                if p < end:
                    continue
                # A separator at the very end has one more cell after it, an empty one.
                if column < columns and slots[column] >= 0:
                    slot = slots[column]
                    fault = EMPTY_CELL
                    position = line - base
                    break
                column += 1
            if column != columns:
                fault = TOO_FEW_CELLS if column < columns else TOO_MANY_CELLS
                position = line - base
                break
            row += 1
            column = 0
            p += 1
    found = int(slot) if fault == EMPTY_CELL else -1
    return starts_array[:, :row], lengths_array[:, :row], fault, int(position), int(column), found


cdef bint within(
    const long long[::1] starts, const long long[::1] lengths, Py_ssize_t size
) noexcept nogil:
    """Whether all these cells lie in a text of this size."""
    cdef Py_ssize_t i
    cdef long long length
    if starts.shape[0] != lengths.shape[0]:
        return False
    for i in range(starts.shape[0]):
        length = lengths[i]
        if length < -size or length > size:
            return False
        length = -length if length < 0 else length
        if starts[i] < 0 or starts[i] > size - length:
            return False
    return True


def texts(
    const unsigned char[::1] text, const long long[::1] starts, const long long[::1] lengths
):
    """The column (data, offsets) of these cells, with quotes written twice as one."""
    cdef Py_ssize_t count = starts.shape[0], i
    cdef long long j, length, at = 0
    if not within(starts, lengths, text.shape[0]):
        raise ValueError("cells outside their text")
    offsets_array = np.zeros(count + 1, dtype=np.int64)
    cdef long long[::1] offsets = offsets_array
    with nogil:
        for i in range(count):
            at += -lengths[i] if lengths[i] < 0 else lengths[i]
    data_array = np.empty(at, dtype=np.uint8)
    cdef unsigned char[::1] data = data_array
    at = 0
    with nogil:
        for i in range(count):
            length = lengths[i]
            if length > 0:
                memcpy(&data[at], &text[starts[i]], length)
                at += length
            elif length < 0:
                j = 0
                while j < -length:
                    data[at] = text[starts[i] + j]
                    j += 2 if data[at] == QUOTE else 1
                    at += 1
            offsets[i + 1] = at
    return data_array[:at], offsets_array


def numbers(
    const unsigned char[::1] text, const long long[::1] starts, const long long[::1] lengths
):
    """The numbers in these cells, and the first cell that holds none, or -1; `nan` is none."""
    cdef Py_ssize_t count = starts.shape[0], i, bad = -1
    cdef Text p, end
    cdef double value = 0.0
    cdef int fault
    if not within(starts, lengths, text.shape[0]):
        raise ValueError("cells outside their text")
    values_array = np.empty(count, dtype=np.float64)
    cdef double[::1] values = values_array
    with nogil:
        for i in range(count):
            if lengths[i] <= 0:
                bad = i
                break
            p = &text[starts[i]]
            end = p + lengths[i]
            while p < end and is_space(p[0]):
                p += 1
            while end > p and is_space((end - 1)[0]):
                end -= 1
            fault = parse_double(p, end, &value)
            if fault != FINE:
                bad = i
                break
            values[i] = value
    return values_array, int(bad)
