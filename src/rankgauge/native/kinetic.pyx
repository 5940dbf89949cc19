# cython: boundscheck=False, wraparound=False, cdivision=True
"""Documents whose scores move along straight lines: which neighbors flip, where, and in what order.

A document scores (1 - t) * start + t * end for t in (0, 1). The rows of a list come in the order at
t = 0: by start, then end, both descending, then the order of ties. A list is kept as a permutation in
which only neighbors are swapped, so it stays a permutation whatever rounding does. The upper of two
neighbors will be passed if and only if the lower one ends higher: inputs are compared, nothing is
rounded. A flip is at x / (x + y) with x = start of upper - start of lower and y = end of lower - end of
upper, both positive, so its relative error is below 4 * 2**-53.
"""
import numpy as np

cimport cython
from libc.math cimport INFINITY, fabs
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from rankgauge.native.sorting cimport Item, sort

cdef double LARGEST = 2.0**1020  # so that no sum of differences of scores is infinite


cdef struct Document:
    double start, end
    int kind


cdef inline double crossing(const Document* upper, const Document* lower) noexcept nogil:
    """Where the lower document passes the upper one; infinite where it never does."""
    cdef double x, y
    if lower.end <= upper.end:
        return INFINITY
    x = upper.start - lower.start
    y = lower.end - upper.end
    return x / (x + y)


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


cdef class Sweep:
    """What all sweeps have: the documents of the lists, and the events along the line.

    An event has its position, `width` numbers that say what happens, and, where `counted`, how many
    documents of each kind stand above. `follow` finds the events of one list; the sweeps differ in it.
    """

    cdef int kinds, width
    cdef bint counted
    cdef Py_ssize_t most, number, room
    cdef const long long[::1] offsets
    cdef Document* documents
    cdef double* position
    cdef int* numbers
    cdef int* above

    def __init__(
        self,
        int width,
        const double[::1] start,
        const double[::1] end,
        const int[::1] kind,
        const long long[::1] offsets,
        int kinds,
        bint counted,
    ):
        check(start, end, kind, offsets, kinds)
        cdef Py_ssize_t first = offsets[0], rows = offsets[offsets.shape[0] - 1] - first, i
        if self.documents != NULL:
            raise ValueError("one call is expected")
        self.documents = <Document*>malloc(max(rows, 1) * sizeof(Document))
        if self.documents == NULL:
            raise MemoryError
        for i in range(rows):
            self.documents[i] = Document(start[first + i], end[first + i], kind[first + i])
        self.width, self.kinds, self.counted, self.offsets = width, kinds, counted, offsets
        self.most = max(2, int(np.diff(offsets).max(initial=0)))

    def __dealloc__(self):
        free(self.documents)
        free(self.position)
        free(self.numbers)
        free(self.above)

    cdef bint follow(self, int number, const Document* documents, Py_ssize_t n) noexcept nogil:
        """Find the events of list `number`, of n documents; False where there is no memory."""
        return True

    cdef object events(self):
        """`(position, numbers, above)` of all lists; above is None where nothing was counted."""
        cdef Py_ssize_t s
        cdef bint enough = True
        with nogil:
            for s in range(self.offsets.shape[0] - 1):
                enough = self.follow(
                    <int>s,
                    self.documents + (self.offsets[s] - self.offsets[0]),
                    self.offsets[s + 1] - self.offsets[s],
                )
                if not enough:
                    break
        if not enough:
            raise MemoryError
        number, width, kinds = self.number, self.width, self.kinds
        position = copied(self.position, number, np.float64)
        numbers = copied(self.numbers, number * width, np.int32).reshape(number, width)
        if not self.counted:
            return position, numbers, None
        return position, numbers, copied(self.above, number * kinds, np.int32).reshape(number, kinds)

    cdef bint grow(self) noexcept nogil:
        """Make room for more events; False where there is no memory."""
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
        if self.counted:
            above = realloc(self.above, max(1, room * self.kinds) * sizeof(int))
            if above == NULL:
                return False
            self.above = <int*>above
        self.room = room
        return True

    @cython.final
    cdef bint add(self, double position, const int* numbers, const int* above) noexcept nogil:
        """Add an event; False where there is no memory."""
        if self.number == self.room and not self.grow():
            return False
        self.position[self.number] = position
        memcpy(self.numbers + self.number * self.width, numbers, self.width * sizeof(int))
        if self.counted:
            memcpy(self.above + self.number * self.kinds, above, self.kinds * sizeof(int))
        self.number += 1
        return True


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


cdef class TopSweep(Sweep):
    """The flips that change the first `depth` ranks.

    At rank `depth` a document leaves and another enters: the documents below are kept in no order, and
    the next to enter is looked for.
    """

    cdef int depth
    cdef int[::1] at
    cdef double[::1] following
    cdef int[::1] counts

    def __init__(self, int depth, *rows):
        super().__init__(4, *rows)
        if depth < 1:
            raise ValueError("a depth from 1 on is expected")
        self.depth = depth
        self.at = np.empty(self.most, dtype=np.int32)
        self.following = np.empty(min(depth, self.most))
        self.counts = np.empty(max(self.kinds, 1), dtype=np.int32)

    cdef int may_enter(self, const Document* documents, Py_ssize_t n, int top) noexcept nogil:
        """Put into `at` the documents that can ever be among the first; how many there are.

        A document cannot if it ends no higher than `top` documents that come before it at the start.
        """
        cdef int near = 0, p, x
        cdef int* at = &self.at[0]
        cdef double* highest = &self.following[0]  # the `top` highest ends so far, descending
        for p in range(<int>n):
            if near >= top and documents[p].end <= highest[top - 1]:
                continue
            x = near if near < top else top - 1
            while x > 0 and highest[x - 1] < documents[p].end:
                highest[x] = highest[x - 1]
                x -= 1
            highest[x] = documents[p].end
            at[near] = p
            near += 1
        return near

    cdef bint follow(self, int number, const Document* documents, Py_ssize_t n) noexcept nogil:
        if n < 2:
            return True
        cdef int top = self.depth if self.depth < n else <int>n, r, x, i, j, c, enters = -1
        cdef Py_ssize_t p
        cdef bint search = True
        cdef double t, now = 0.0, soonest
        cdef const Document* last
        cdef const Document* other
        cdef int* at = &self.at[0]
        cdef int* counts = &self.counts[0]
        # Where the documents at ranks r + 1 and r + 2 flip; at the last rank, where another enters.
        cdef double* following = &self.following[0]
        cdef int near = self.may_enter(documents, n, top)
        for r in range(top - 1):
            following[r] = crossing(documents + r, documents + r + 1)
        while True:
            if search:
                last = documents + at[top - 1]
                soonest, enters = INFINITY, -1
                for p in range(top, near):
                    other = documents + at[p]
                    if other.end <= last.end:
                        continue
                    t = crossing(last, other)
                    # Of identical lines the one that comes first enters first.
                    if t < soonest or (
                        t == soonest and at[p] < at[enters]
                        and other.start == documents[at[enters]].start
                        and other.end == documents[at[enters]].end
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
                return True
            if t > now:
                now = t
            p = r + 1 if r < top - 1 else enters
            i, j = at[r], at[p]
            at[r], at[p] = j, i
            if documents[i].kind != documents[j].kind:
                if self.counted:
                    for c in range(self.kinds):
                        counts[c] = 0
                    for x in range(r):
                        counts[documents[at[x]].kind] += 1
                if not self.add(now, [number, r + 1, documents[i].kind, documents[j].kind], counts):
                    return False
            following[r] = INFINITY
            if r > 0:
                following[r - 1] = crossing(documents + at[r - 1], documents + j)
            if r + 1 < top - 1:
                following[r + 1] = crossing(documents + i, documents + at[r + 2])
            else:
                search = True


cdef class FullSweep(Sweep):
    """The flips that change the first `depth` ranks, or any rank for depth 0, in lists that are kept in
    order as a whole, which is quicker for a great depth."""

    cdef int depth
    cdef int[::1] at
    cdef double[::1] tree
    cdef int[:, ::1] counts

    def __init__(self, int depth, *rows):
        super().__init__(4, *rows)
        self.depth = depth
        cdef Py_ssize_t size = 1
        while size < self.most:
            size *= 2
        self.at = np.empty(self.most, dtype=np.int32)
        # A tournament: leaf r has where the documents at places r and r + 1 flip, a node the less of two.
        self.tree = np.empty(2 * size)
        counted = self.most + 1 if self.counted else 1
        self.counts = np.zeros((counted, max(self.kinds, 1)), dtype=np.int32)

    cdef bint follow(self, int number, const Document* documents, Py_ssize_t n) noexcept nogil:
        if n < 2:
            return True
        cdef Py_ssize_t size = 1, p, node
        cdef int r, x, i, j, c, upper, lower
        cdef double t, now = 0.0
        cdef int* at = &self.at[0]
        cdef double* tree = &self.tree[0]
        cdef int[:, ::1] counts = self.counts
        while size < n:
            size *= 2
        for p in range(n):
            at[p] = <int>p
        if self.counted:
            for p in range(n):
                for c in range(self.kinds):
                    counts[p + 1, c] = counts[p, c]
                counts[p + 1, documents[p].kind] += 1
        for p in range(size):
            tree[size + p] = INFINITY
        for p in range(n - 1):
            tree[size + p] = crossing(documents + p, documents + p + 1)
        for node in range(size - 1, 0, -1):
            tree[node] = min(tree[2 * node], tree[2 * node + 1])
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
            upper, lower = documents[i].kind, documents[j].kind
            if upper != lower:
                if self.counted:
                    counts[r + 1, upper] -= 1
                    counts[r + 1, lower] += 1
                if self.depth == 0 or r < self.depth:
                    if not self.add(
                        now, [number, r + 1, upper, lower], &counts[r if self.counted else 0, 0]
                    ):
                        return False
            tree[size + r] = INFINITY
            if r > 0:
                tree[size + r - 1] = crossing(documents + at[r - 1], documents + j)
            if r + 2 < n:
                tree[size + r + 1] = crossing(documents + i, documents + at[r + 2])
            for x in range(-1, 2):
                node = size + r + x
                if node < size or node >= 2 * size:
                    continue
                node >>= 1
                while node:
                    tree[node] = min(tree[2 * node], tree[2 * node + 1])
                    node >>= 1
        return True


cdef class CountSweep(Sweep):
    """How the documents of kinds that are not silent change their ranks."""

    cdef const uint8_t[::1] silent
    # Of each document that is followed: its place at the start, its rank, and how many of each kind are
    # above it. Of each document: its number among those that are followed, else -1 - its kind.
    cdef int[::1] place
    cdef int[::1] rank
    cdef int[:, ::1] counts
    cdef int[::1] number_of
    cdef int[::1] base
    # What passes, a, and what is passed, b, by these numbers; and as much room again, to sort.
    cdef Item* crossings
    cdef Py_ssize_t most_crossings

    def __init__(self, const uint8_t[::1] silent, *rows):
        super().__init__(5, *rows)
        if silent.shape[0] != self.kinds:
            raise ValueError("whether each kind is silent is expected")
        self.silent = silent
        self.place = np.empty(self.most, dtype=np.int32)
        self.rank = np.empty(self.most, dtype=np.int32)
        self.counts = np.empty((self.most, max(self.kinds, 1)), dtype=np.int32)
        self.number_of = np.empty(self.most, dtype=np.int32)
        self.base = np.empty(max(self.kinds, 1), dtype=np.int32)

    def __dealloc__(self):
        free(self.crossings)

    cdef int number_followed(self, const Document* documents, Py_ssize_t n) noexcept nogil:
        """Number the documents that are followed; how many there are."""
        cdef int followed = 0, p, c
        for c in range(self.kinds):
            self.base[c] = 0
        for p in range(<int>n):
            self.number_of[p] = -1 - documents[p].kind
            if not self.silent[documents[p].kind]:
                self.number_of[p] = followed
                self.place[followed] = p
                self.rank[followed] = p + 1
                for c in range(self.kinds):
                    self.counts[followed, c] = self.base[c]
                self.base[documents[p].kind] += 1
                followed += 1
        return followed

    cdef Py_ssize_t cross(self, const Document* documents, Py_ssize_t n, int followed) noexcept nogil:
        """Where documents pass one that is followed, or are passed by one, in order; how often that
        happens, -1 where there is no memory."""
        cdef Py_ssize_t met = 0, p, e
        cdef const int* number_of = &self.number_of[0]
        cdef int d
        cdef double t
        cdef void* grown
        cdef Item* crossings = self.crossings
        for d in range(followed):
            if met + n > self.most_crossings:
                grown = realloc(crossings, 4 * (met + n) * sizeof(Item))
                if grown == NULL:
                    return -1
                self.most_crossings = 2 * (met + n)
                self.crossings = crossings = <Item*>grown
            p = self.place[d]
            for e in range(p):
                # Two documents that are followed meet once: when the upper one is looked at.
                if number_of[e] < 0:
                    t = crossing(documents + e, documents + p)
                    if t != INFINITY:
                        crossings[met] = Item(t, 0.0, d, number_of[e])
                        met += 1
            for e in range(p + 1, n):
                t = crossing(documents + p, documents + e)
                if t != INFINITY:
                    crossings[met] = Item(t, 0.0, number_of[e], d)
                    met += 1
        sort(crossings, crossings + self.most_crossings, met)
        return met

    cdef bint follow(self, int number, const Document* documents, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t met = self.cross(documents, n, self.number_followed(documents, n)), x
        cdef const int* place = &self.place[0]
        cdef int* rank = &self.rank[0]
        cdef const Item* crossings = self.crossings
        cdef int[:, ::1] counts = self.counts
        cdef int d, e, c, rising, falling, kinds = self.kinds
        cdef double t
        cdef bint same, enough = met >= 0
        for x in range(met):
            d, e, t = crossings[x].a, crossings[x].b, crossings[x].first
            rising = documents[place[d]].kind if d >= 0 else -1 - d
            falling = documents[place[e]].kind if e >= 0 else -1 - e
            if d >= 0 and e >= 0:
                rank[d] -= 1
                counts[d, falling] -= 1
                same = rising == falling and rank[d] == rank[e]
                for c in range(kinds):
                    same = same and counts[d, c] == counts[e, c]
                if not same:
                    enough = self.add(t, [number, rank[d], rising, falling, 1], &counts[d, 0])
                    enough = enough and self.add(
                        t, [number, rank[e], falling, rising, -1], &counts[e, 0]
                    )
                rank[e] += 1
                counts[e, rising] += 1
            elif d >= 0:
                rank[d] -= 1
                enough = self.add(t, [number, rank[d], rising, falling, 1], &counts[d, 0])
            else:
                enough = self.add(t, [number, rank[e], falling, rising, -1], &counts[e, 0])
                rank[e] += 1
            if not enough:
                break
        return enough


def sweep_top(start, end, kind, offsets, kinds, depth, counted):
    """The flips of documents of different kinds that change the first `depth` ranks.

    Gives `(position, place, above)`: place has list, upper rank, kind above and kind below before the
    flip; above, where `counted`, how many documents of each kind stand above both. Flips come list by
    list, each in the order of positions.
    """
    cdef Sweep sweep = TopSweep(depth, start, end, kind, offsets, kinds, counted)
    return sweep.events()


def sweep_all(start, end, kind, offsets, kinds, depth, counted):
    """The same as `sweep_top` by keeping the whole list in order, which is quicker for a great depth;
    depth 0 is the whole list."""
    cdef Sweep sweep = FullSweep(depth, start, end, kind, offsets, kinds, counted)
    return sweep.events()


def count_sweep(start, end, kind, offsets, kinds, silent, counted):
    """How the documents of kinds that are not `silent` change their ranks, all other documents being
    the same to them: the rank of a document is the number of documents above it.

    Gives `(position, move, above)`. A move has its list, the upper of two ranks, the kind of the document,
    the kind of the one that it passes or is passed by, and 1 if it rises, -1 if it falls; above has the
    documents of each kind that is not silent above the upper rank. Two documents that pass each other
    make two moves; none where they are of a kind and change nothing. Moves come list by list, each in
    the order of positions. In the midst of moves at one position two documents may have the same rank:
    what they add up to is right after the last one.
    """
    cdef Sweep sweep = CountSweep(silent, start, end, kind, offsets, kinds, counted)
    return sweep.events()
