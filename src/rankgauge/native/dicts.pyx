# cython: boundscheck=False, wraparound=False
"""Dicts, lists and sets of Python read in one pass: ids as bytes in one buffer, numbers in an array.

Plain objects alone are read: ids that are text or whole numbers, values that are numbers, in dicts,
lists, tuples and sets. Of anything else the answer is None; a caller then goes value by value, and
finds what is wrong. No code of the caller's runs while a dict is being read, so it cannot change.
"""
from collections import defaultdict

import numpy as np

from cpython.bool cimport PyBool_Check
from cpython.dict cimport PyDict_CheckExact, PyDict_Next, PyDict_Size
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_AsDouble, PyFloat_Check
from cpython.list cimport PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_AsDouble, PyLong_Check, PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.set cimport PyFrozenSet_CheckExact
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact
from libc.math cimport floor, isnan
from libc.stdint cimport int64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    long long PyLong_AsLongLongAndOverflow(object number, int* overflow) except? -1

cdef object DEFAULTDICT = defaultdict
cdef object TEXT = np.str_
cdef object INT64 = np.int64
cdef object INT32 = np.int32
cdef object FLOAT32 = np.float32
cdef double LARGEST_GRADE = 2.0**31 - 1
cdef enum:
    DIGITS = 24  # more than a whole number of 64 bits has, with its sign


cdef class Rows:
    """Ids and values that grow at the end."""

    cdef char* text
    cdef int64_t* ends
    cdef double* values
    cdef Py_ssize_t count, room, bytes_room
    cdef bint numbered  # whether an id was a number

    def __dealloc__(self):
        free(self.text)
        free(self.ends)
        free(self.values)

    cdef bint need_rows(self, Py_ssize_t more) except False:
        """Make room for so many rows more."""
        if more <= self.room - self.count:
            return True
        cdef Py_ssize_t room = max(self.count + more, 2 * self.room)
        cdef void* ends = realloc(self.ends, room * sizeof(int64_t))
        if ends == NULL:
            raise MemoryError
        self.ends = <int64_t*>ends
        cdef void* values = realloc(self.values, room * sizeof(double))
        if values == NULL:
            raise MemoryError
        self.values = <double*>values
        self.room = room
        return True

    cdef bint add(self, object id, double value) except -1:
        """Add a row, for which there is room; False where this is no plain id."""
        cdef Py_ssize_t length, at = self.ends[self.count - 1] if self.count else 0
        cdef const char* text
        cdef char digits[DIGITS]
        cdef long long number
        cdef int overflow = 0
        if PyUnicode_CheckExact(id) or type(id) is TEXT:
            try:
                text = PyUnicode_AsUTF8AndSize(id, &length)
            except UnicodeEncodeError:
                return False
        elif PyLong_CheckExact(id) or type(id) is INT64 or type(id) is INT32:
            number = PyLong_AsLongLongAndOverflow(id, &overflow)
            if overflow:
                return False
            length = snprintf(digits, DIGITS, "%lld", number)
            text = digits
            self.numbered = True
        else:
            return False
        if length > self.bytes_room - at:
            self.need_bytes(at + length)
        memcpy(self.text + at, text, length)
        self.ends[self.count] = at + length
        self.values[self.count] = value
        self.count += 1
        return True

    cdef bint need_bytes(self, Py_ssize_t least) except False:
        cdef Py_ssize_t room = max(least, 2 * self.bytes_room, 1024)
        cdef void* text = realloc(self.text, room)
        if text == NULL:
            raise MemoryError
        self.text = <char*>text
        self.bytes_room = room
        return True

    cdef tuple ids(self):
        """The ids as a column: data and offsets."""
        cdef Py_ssize_t size = self.ends[self.count - 1] if self.count else 0
        data = np.empty(size, dtype=np.uint8)
        offsets = np.zeros(self.count + 1, dtype=np.int64)
        cdef unsigned char[::1] bytes_out = data
        cdef int64_t[::1] ends_out = offsets
        if size:
            memcpy(&bytes_out[0], self.text, size)
        if self.count:
            memcpy(&ends_out[1], self.ends, self.count * sizeof(int64_t))
        return data, offsets

    cdef object column(self):
        """The values as an array."""
        values = np.empty(self.count)
        cdef double[::1] out = values
        if self.count:
            memcpy(&out[0], self.values, self.count * sizeof(double))
        return values


cdef bint plain_number(object value, double* number) except -1:
    """Whether this is a plain number, which is put in place."""
    if PyFloat_Check(value):
        number[0] = PyFloat_AS_DOUBLE(value)
    elif PyLong_Check(value) and not PyBool_Check(value):
        try:
            number[0] = PyLong_AsDouble(value)
        except OverflowError:
            return False
    elif type(value) is FLOAT32 or type(value) is INT64 or type(value) is INT32:
        number[0] = PyFloat_AsDouble(value)
    else:
        return False
    return not isnan(number[0])


cdef bint is_grade(double number) noexcept:
    return floor(number) == number and -LARGEST_GRADE <= number <= LARGEST_GRADE


cdef bint add_dict(Rows rows, object row, bint graded) except -1:
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t place = 0
    cdef double number = 0.0
    rows.need_rows(PyDict_Size(row))
    while PyDict_Next(row, &place, &key, &value):
        if not plain_number(<object>value, &number):
            return False
        if graded and not is_grade(number):
            return False
        if not rows.add(<object>key, number):
            return False
    return True


cdef bint add_list(Rows rows, list row, bint graded) except -1:
    """The documents in their order: as a run, with scores that fall by 1 to 1; else with grade 1."""
    cdef Py_ssize_t size = PyList_GET_SIZE(row), i
    rows.need_rows(size)
    for i in range(size):
        if not rows.add(<object>PyList_GET_ITEM(row, i), 1.0 if graded else <double>(size - i)):
            return False
    return True


def columns(list queries, list rows, bint graded):
    """The ids of the queries, how many rows each has, the ids of the documents, their values, and
    whether ids may be there twice, in a list or as a number and as text.

    None where anything is not plain. `graded` takes whole numbers alone for values, and sets, whose
    documents get 1, as those of lists do; otherwise a list is a ranking, the best first.
    """
    cdef Py_ssize_t count = len(queries), i
    if len(rows) != count:
        return None
    cdef Rows names = Rows(), entries = Rows()
    cdef bint plain, listed = False
    names.need_rows(count)
    for i in range(count):
        before, row = entries.count, rows[i]
        if PyDict_CheckExact(row) or type(row) is DEFAULTDICT:
            plain = add_dict(entries, row, graded)
        elif PyList_CheckExact(row) or PyTuple_CheckExact(row):
            listed = True
            plain = add_list(entries, list(row), graded)
        elif graded and (type(row) is set or PyFrozenSet_CheckExact(row)):
            listed = True
            plain = add_list(entries, list(row), graded)
        else:
            plain = False
        if not plain or not names.add(queries[i], <double>(entries.count - before)):
            return None
    sizes = names.column().astype(np.int64)
    unsure = listed or names.numbered or entries.numbered
    return names.ids(), sizes, entries.ids(), entries.column(), unsure
