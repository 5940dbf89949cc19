# cython: boundscheck=False, wraparound=False, cdivision=True
"""Documents whose scores move along straight lines: which neighbours flip, where, and in what order.

A document scores (1 - t) * start + t * end for t in (0, 1). The rows of a list come in the order at
t = 0: by start, then end, both descending, then the order of ties. A list is kept as a permutation in
which only neighbours are swapped, so it stays a permutation whatever rounding does. The upper of two
neighbours will be passed if and only if the lower one ends higher: inputs are compared, nothing is
rounded. A flip is at x / (x + y) with x = start of upper - start of lower and y = end of lower - end of
upper, both positive, so its relative error is below 4 * 2**-53.
"""
import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

cdef double LARGEST = 2.0**1020  # so that no sum of differences of scores is infinite


cdef inline double crossing(double a_start, double a_end, double b_start, double b_end) noexcept nogil:
    """Where the lower line b passes the upper line a; infinite where it never does."""
    cdef double x, y
    if b_end <= a_end:
        return INFINITY
    x = a_start - b_start
    y = b_end - a_end
    return x / (x + y)


cdef struct Item:
    double first, second
    int a, b


cdef inline bint after(const Item* x, const Item* y) noexcept nogil:
    return x.first > y.first or (x.first == y.first and x.second > y.second)


cdef void sort(Item* items, Item* spare, Py_ssize_t n) noexcept nogil:
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


def start_order(const double[::1] start, const double[::1] end, const long long[::1] offsets):
    """The rows of each list in the order just after the start: by start, by end, then by row."""
    cdef Py_ssize_t rows = start.shape[0], lists = offsets.shape[0] - 1, s, i
    if end.shape[0] != rows or lists < 0 or offsets[0] != 0 or offsets[lists] != rows:
        raise ValueError("lists that cover the rows are expected")
    for s in range(lists):
        if offsets[s] > offsets[s + 1]:
            raise ValueError("offsets must ascend")
    result = np.empty(rows, dtype=np.int64)
    cdef long long[::1] out = result
    cdef Item* items = <Item*>malloc(2 * max(rows, 1) * sizeof(Item))
    if items == NULL:
        raise MemoryError
    with nogil:
        for i in range(rows):
            items[i].first, items[i].second, items[i].a = -start[i], -end[i], <int>i
        for s in range(lists):
            sort(items + offsets[s], items + rows, offsets[s + 1] - offsets[s])
        for i in range(rows):
            out[i] = items[i].a
    free(items)
    return result


cdef class Events:
    """What happens along the line, as it is found: where, `width` numbers that say what, and how many
    documents of each kind stand above."""

    cdef Py_ssize_t number, room
    cdef int width, kinds
    cdef double* position
    cdef int* numbers
    cdef int* above

    def __cinit__(self, int width, int kinds):
        self.width, self.kinds = width, kinds

    def __dealloc__(self):
        free(self.position)
        free(self.numbers)
        free(self.above)

    cdef bint grow(self) noexcept nogil:
        """Make room for more; False where there is no memory."""
        cdef Py_ssize_t room = 2 * self.room + 1024
        cdef void* position = realloc(self.position, room * sizeof(double))
        if position == NULL:
            return False
        self.position = <double*>position
        cdef void* numbers = realloc(self.numbers, room * self.width * sizeof(int))
        if numbers == NULL:
            return False
        self.numbers = <int*>numbers
        cdef void* above
        if self.kinds:
            above = realloc(self.above, room * self.kinds * sizeof(int))
            if above == NULL:
                return False
            self.above = <int*>above
        self.room = room
        return True

    cdef bint add(self, double position, const int* numbers, const int* above) noexcept nogil:
        """Add an event; False where there is no memory."""
        if self.number == self.room and not self.grow():
            return False
        self.position[self.number] = position
        memcpy(self.numbers + self.number * self.width, numbers, self.width * sizeof(int))
        if self.kinds:
            memcpy(self.above + self.number * self.kinds, above, self.kinds * sizeof(int))
        self.number += 1
        return True

    def arrays(self, bint counted):
        """`(position, numbers, above)`; above is None where nothing was counted."""
        number, width, kinds = self.number, self.width, self.kinds
        position = copied(self.position, number, np.float64)
        numbers = copied(self.numbers, number * width, np.int32).reshape(number, width)
        above = copied(self.above, number * kinds, np.int32).reshape(number, kinds)
        return position, numbers, above if counted else None


cdef object copied(const void* memory, Py_ssize_t number, dtype):
    array = np.empty(number, dtype=dtype)
    cdef char[::1] view
    if number:
        view = array.view(np.int8)
        memcpy(&view[0], memory, view.shape[0])
    return array


cdef void check(
    const double[::1] start,
    const double[::1] end,
    const int[::1] kind,
    const long long[::1] offsets,
    int kinds,
) except *:
    """Raise unless the rows are as the loops take them to be."""
    cdef Py_ssize_t rows = start.shape[0], s, i
    if end.shape[0] != rows or kind.shape[0] != rows:
        raise ValueError("a start, an end and a kind for each row are expected")
    if offsets.shape[0] == 0 or offsets[0] < 0 or offsets[offsets.shape[0] - 1] > rows:
        raise ValueError("offsets outside the rows")
    for s in range(offsets.shape[0] - 1):
        if offsets[s] > offsets[s + 1]:
            raise ValueError("offsets must ascend")
        for i in range(offsets[s] + 1, offsets[s + 1]):
            if not (start[i - 1] > start[i] or (start[i - 1] == start[i] and end[i - 1] >= end[i])):
                raise ValueError("rows in the order at the start are expected")
    for i in range(rows):
        if not (fabs(start[i]) <= LARGEST and fabs(end[i]) <= LARGEST):
            raise ValueError("scores of at most 2**1020 are expected")
        if not 0 <= kind[i] < kinds:
            raise ValueError("kinds below their number are expected")


def sweep_top(
    const double[::1] start,
    const double[::1] end,
    const int[::1] kind,
    const long long[::1] offsets,
    int kinds,
    int depth,
    bint counted,
):
    """The flips of documents of different kinds that change the first `depth` ranks.

    Gives `(position, place, above)`: place has list, upper rank, kind above and kind below before the
    flip; above, where `counted`, how many documents of each kind stand above both. Flips come list by
    list, each in the order of positions. At rank `depth` a document leaves and another enters: the
    documents below are kept in no order, and the next to enter is looked for.
    """
    check(start, end, kind, offsets, kinds)
    if depth < 1:
        raise ValueError("a depth from 1 on is expected")
    cdef Py_ssize_t lists = offsets.shape[0] - 1, s, first, n, p
    cdef Py_ssize_t most = max(1, int(np.diff(offsets).max(initial=0)))
    cdef int r, x, top, i, j, enters, c
    cdef bint search
    cdef double t, now, soonest
    cdef int[::1] at = np.empty(most, dtype=np.int32)
    cdef double[::1] following = np.empty(min(depth, most))
    cdef int[::1] above = np.empty(max(kinds, 1), dtype=np.int32)
    cdef Events flips = Events(4, kinds if counted else 0)
    cdef int[4] place
    cdef bint full = False
    with nogil:
        for s in range(lists):
            first = offsets[s]
            n = offsets[s + 1] - first
            if n < 2:
                continue
            top = depth if depth < n else <int>n
            for p in range(n):
                at[p] = <int>(first + p)
            for r in range(top - 1):
                following[r] = crossing(start[at[r]], end[at[r]], start[at[r + 1]], end[at[r + 1]])
            search, enters, now = True, -1, 0.0
            while True:
                if search:
                    i = at[top - 1]
                    soonest, enters = INFINITY, -1
                    for p in range(top, n):
                        j = at[p]
                        if end[j] <= end[i]:
                            continue
                        t = crossing(start[i], end[i], start[j], end[j])
                        # Of identical lines the one that comes first enters first.
                        if t < soonest or (
                            t == soonest and j < at[enters]
                            and start[j] == start[at[enters]] and end[j] == end[at[enters]]
                        ):
                            soonest, enters = t, <int>p
                    following[top - 1] = soonest
                    search = False
                r = 0
                for x in range(1, top):
                    if following[x] < following[r]:
                        r = x
                t = following[r]
                if t == INFINITY:
                    break
                if t > now:
                    now = t
                p = r + 1 if r < top - 1 else enters
                i, j = at[r], at[p]
                at[r], at[p] = j, i
                if kind[i] != kind[j]:
                    if counted:
                        for c in range(kinds):
                            above[c] = 0
                        for x in range(r):
                            above[kind[at[x]]] += 1
                    place = [<int>s, r + 1, kind[i], kind[j]]
                    full = not flips.add(now, place, &above[0])
                    if full:
                        break
                following[r] = INFINITY
                if r > 0:
                    following[r - 1] = crossing(start[at[r - 1]], end[at[r - 1]], start[j], end[j])
                if r + 1 < top - 1:
                    following[r + 1] = crossing(start[i], end[i], start[at[r + 2]], end[at[r + 2]])
                else:
                    search = True
            if full:
                break
    if full:
        raise MemoryError
    return flips.arrays(counted)


def sweep_all(
    const double[::1] start,
    const double[::1] end,
    const int[::1] kind,
    const long long[::1] offsets,
    int kinds,
    int depth,
    bint counted,
):
    """The same as `sweep_top` by keeping the whole list in order, which is quicker for a great depth;
    depth 0 is the whole list."""
    check(start, end, kind, offsets, kinds)
    cdef Py_ssize_t lists = offsets.shape[0] - 1, s, first, n, p, size, node
    cdef Py_ssize_t most = max(2, int(np.diff(offsets).max(initial=0)))
    cdef int r, x, i, j, c
    cdef double t, now
    size = 1
    while size < most:
        size *= 2
    cdef int[::1] at = np.empty(most, dtype=np.int32)
    # A tournament: leaf r has where the documents at places r and r + 1 flip, a node the less of two.
    cdef double[::1] tree = np.empty(2 * size)
    cdef int[:, ::1] above = np.zeros((most + 1 if counted else 1, max(kinds, 1)), dtype=np.int32)
    cdef Events flips = Events(4, kinds if counted else 0)
    cdef int[4] place
    cdef bint full = False
    with nogil:
        for s in range(lists):
            first = offsets[s]
            n = offsets[s + 1] - first
            if n < 2:
                continue
            size = 1
            while size < n:
                size *= 2
            for p in range(n):
                at[p] = <int>(first + p)
            if counted:
                for p in range(n):
                    for c in range(kinds):
                        above[p + 1, c] = above[p, c]
                    above[p + 1, kind[at[p]]] += 1
            for p in range(size):
                tree[size + p] = INFINITY
            for p in range(n - 1):
                tree[size + p] = crossing(start[at[p]], end[at[p]], start[at[p + 1]], end[at[p + 1]])
            for node in range(size - 1, 0, -1):
                tree[node] = min(tree[2 * node], tree[2 * node + 1])
            now = 0.0
            while tree[1] != INFINITY:
                t = tree[1]
                node = 1
                while node < size:
                    node = 2 * node if tree[2 * node] == t else 2 * node + 1
                r = <int>(node - size)
                if t > now:
                    now = t
                i, j = at[r], at[r + 1]
                at[r], at[r + 1] = j, i
                if kind[i] != kind[j]:
                    if counted:
                        above[r + 1, kind[i]] -= 1
                        above[r + 1, kind[j]] += 1
                    if depth == 0 or r < depth:
                        place = [<int>s, r + 1, kind[i], kind[j]]
                        full = not flips.add(now, place, &above[r if counted else 0, 0])
                        if full:
                            break
                tree[size + r] = INFINITY
                if r > 0:
                    tree[size + r - 1] = crossing(start[at[r - 1]], end[at[r - 1]], start[j], end[j])
                if r + 2 < n:
                    tree[size + r + 1] = crossing(start[i], end[i], start[at[r + 2]], end[at[r + 2]])
                for x in range(-1, 2):
                    node = size + r + x
                    if node < size or node >= 2 * size:
                        continue
                    node >>= 1
                    while node:
                        tree[node] = min(tree[2 * node], tree[2 * node + 1])
                        node >>= 1
            if full:
                break
    if full:
        raise MemoryError
    return flips.arrays(counted)


def count_sweep(
    const double[::1] start,
    const double[::1] end,
    const int[::1] kind,
    const long long[::1] offsets,
    int kinds,
    const uint8_t[::1] silent,
    bint counted,
):
    """How the documents of kinds that are not `silent` change their ranks, all other documents being
    the same to them: the rank of a document is the number of documents above it.

    Gives `(position, move, above)`. A move has its list, the upper of two ranks, the kind of the document,
    the kind of the one that it passes or is passed by, and 1 if it rises, -1 if it falls; above has the
    documents of each kind that is not silent above the upper rank. Two documents that pass each other
    make two moves; none where they are of a kind and change nothing. Moves come list by list, each in
    the order of positions. In the midst of moves at one position two documents may have the same rank:
    what they add up to is right after the last one.
    """
    check(start, end, kind, offsets, kinds)
    if silent.shape[0] != kinds:
        raise ValueError("whether each kind is silent is expected")
    cdef Py_ssize_t lists = offsets.shape[0] - 1, s, first, n, p, loud, d, e, room = 0, found, c
    cdef Py_ssize_t most = max(1, int(np.diff(offsets).max(initial=0)))
    cdef double t
    cdef bint same, full = False
    # Of each document that is followed: its row, its rank, and how many of each kind are above it.
    cdef int[::1] row = np.empty(most, dtype=np.int32)
    cdef int[::1] number = np.empty(most, dtype=np.int32)
    cdef int[::1] rank = np.empty(most, dtype=np.int32)
    cdef int[:, ::1] above = np.empty((most, max(kinds, 1)), dtype=np.int32)
    cdef int[::1] base = np.empty(max(kinds, 1), dtype=np.int32)
    # What passes, a, and what is passed, b: a document that is followed has its number, any other one
    # -1 - its kind.
    cdef Item* crossings = NULL
    cdef void* grown
    cdef Events moves = Events(5, kinds if counted else 0)
    cdef int[5] rise
    cdef int[5] fall
    with nogil:
        for s in range(lists):
            first = offsets[s]
            n = offsets[s + 1] - first
            loud = 0
            for c in range(kinds):
                base[c] = 0
            for p in range(n):
                number[p] = -1 - kind[first + p]
                if not silent[kind[first + p]]:
                    number[p] = <int>loud
                    row[loud] = <int>p
                    rank[loud] = <int>p + 1
                    for c in range(kinds):
                        above[loud, c] = base[c]
                    base[kind[first + p]] += 1
                    loud += 1
            found = 0
            for d in range(loud):
                if found + n > room:
                    room = 2 * (found + n)
                    grown = realloc(crossings, 2 * room * sizeof(Item))  # half of it to sort
                    if grown == NULL:
                        full = True
                        break
                    crossings = <Item*>grown
                p = row[d]
                for e in range(n):
                    # Two documents that are followed meet once: when the upper one is looked at.
                    if e < p and number[e] < 0:
                        t = crossing(start[first + e], end[first + e], start[first + p], end[first + p])
                        if t != INFINITY:
                            crossings[found].first, crossings[found].second = t, 0.0
                            crossings[found].a = <int>d
                            crossings[found].b = number[e]
                            found += 1
                    elif e > p:
                        t = crossing(start[first + p], end[first + p], start[first + e], end[first + e])
                        if t != INFINITY:
                            crossings[found].first, crossings[found].second = t, 0.0
                            crossings[found].a = number[e]
                            crossings[found].b = <int>d
                            found += 1
            if full:
                break
            sort(crossings, crossings + room, found)
            for p in range(found):
                d, e, t = crossings[p].a, crossings[p].b, crossings[p].first
                if d >= 0 and e >= 0:
                    rank[d] -= 1
                    above[d, kind[first + row[e]]] -= 1
                    same = kind[first + row[d]] == kind[first + row[e]] and rank[d] == rank[e]
                    for c in range(kinds):
                        same = same and above[d, c] == above[e, c]
                    if not same:
                        rise = [<int>s, rank[d], kind[first + row[d]], kind[first + row[e]], 1]
                        fall = [<int>s, rank[e], kind[first + row[e]], kind[first + row[d]], -1]
                        full = not (
                            moves.add(t, rise, &above[d, 0]) and moves.add(t, fall, &above[e, 0])
                        )
                    rank[e] += 1
                    above[e, kind[first + row[d]]] += 1
                elif d >= 0:
                    rank[d] -= 1
                    rise = [<int>s, rank[d], kind[first + row[d]], -1 - <int>e, 1]
                    full = not moves.add(t, rise, &above[d, 0])
                else:
                    fall = [<int>s, rank[e], kind[first + row[e]], -1 - <int>d, -1]
                    full = not moves.add(t, fall, &above[e, 0])
                    rank[e] += 1
                if full:
                    break
            if full:
                break
    free(crossings)
    if full:
        raise MemoryError
    return moves.arrays(counted)


def snapshots(
    int[::1] kind,
    const long long[::1] offsets,
    const int[:, ::1] place,
    Py_ssize_t first,
    Py_ssize_t last,
    const long long[::1] ends,
):
    """The lists after each of the flips from `first` to `last`, one after the other.

    `kind` has the lists, cut at the depth, as they are before the first of these flips, and becomes what
    they are after the last. List i of the result ends at `ends[i]`.
    """
    cdef Py_ssize_t lists = offsets.shape[0] - 1, f, s, n, r, i
    if first < 0 or last > place.shape[0] or ends.shape[0] != last - first or offsets[lists] > kind.shape[0]:
        raise ValueError("flips and lists that exist are expected")
    result = np.empty(ends[last - first - 1] if last > first else 0, dtype=np.int32)
    cdef int[::1] out = result
    cdef Py_ssize_t at = 0
    for f in range(first, last):
        s, r = place[f, 0], place[f, 1]
        if not (0 <= s < lists and 1 <= r <= offsets[s + 1] - offsets[s]):
            raise ValueError("flips within the lists are expected")
        n = offsets[s + 1] - offsets[s]
        if at + n != ends[f - first]:
            raise ValueError("the ends of the lists are expected")
        kind[offsets[s] + r - 1] = place[f, 3]
        if r < n:
            kind[offsets[s] + r] = place[f, 2]
        for i in range(n):
            out[at + i] = kind[offsets[s] + i]
        at += n
    return result


def running(const double[::1] changes, const long long[::1] offsets, const double[::1] before):
    """The running sums of each segment, from its value before; what rounding takes is given back."""
    cdef Py_ssize_t segments = offsets.shape[0] - 1, s, i
    if before.shape[0] != segments or offsets[0] < 0 or offsets[segments] > changes.shape[0]:
        raise ValueError("segments of the changes are expected")
    result = np.empty(changes.shape[0])
    cdef double[::1] out = result
    cdef double total, lost, change, sum_
    with nogil:
        for s in range(segments):
            total, lost = before[s], 0.0
            for i in range(offsets[s], offsets[s + 1]):
                change = changes[i]
                sum_ = total + change
                if fabs(total) >= fabs(change):
                    lost += (total - sum_) + change
                else:
                    lost += (change - sum_) + total
                total = sum_
                out[i] = total + lost
    return result
