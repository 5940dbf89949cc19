# cython: boundscheck=False, wraparound=False, cdivision=True
"""Layers of networks: weighted sums of rows, and the gradients of their weights.

Each row is added from its first value to its last, whatever the other rows are, so equal rows have sums
that are equal to the last bit. A value that is NaN counts as the mean of its column.
"""
import numpy as np

ctypedef fused value_t:
    float
    double


def layer_sums(
    const value_t[:, ::1] values,
    const double[::1] means,
    const double[:, ::1] weights,
    const double[::1] constants,
):
    """For each row and each unit its constant plus the weighted sum of the row."""
    cdef Py_ssize_t rows = values.shape[0], width = values.shape[1], units = weights.shape[1], r, f, u
    if means.shape[0] != width or weights.shape[0] != width or constants.shape[0] != units:
        raise ValueError("a mean and weights for each column, and a constant for each unit are expected")
    result = np.empty((rows, units))
    cdef double[:, ::1] out = result
    cdef double value, total
    if units == 0:
        return result
    with nogil:
        for r in range(rows):
            if units == 1:
                total = constants[0]
                for f in range(width):
                    value = values[r, f]
                    if value != value:
                        value = means[f]
                    total = total + value * weights[f, 0]
                out[r, 0] = total
                continue
            for u in range(units):
                out[r, u] = constants[u]
            for f in range(width):
                value = values[r, f]
                if value != value:
                    value = means[f]
                for u in range(units):
                    out[r, u] = out[r, u] + value * weights[f, u]
    return result


def layer_gradient(
    const value_t[:, ::1] values, const double[::1] means, const double[:, ::1] slopes
):
    """The derivative by each weight, from the derivative by the sum of each row and unit."""
    cdef Py_ssize_t rows = values.shape[0], width = values.shape[1], units = slopes.shape[1], r, f, u
    if means.shape[0] != width or slopes.shape[0] != rows:
        raise ValueError("a mean for each column and slopes for each row are expected")
    result = np.zeros((width, units))
    cdef double[:, ::1] out = result
    cdef double value
    if units == 0:
        return result
    with nogil:
        for r in range(rows):
            if units == 1:
                for f in range(width):
                    value = values[r, f]
                    out[f, 0] = out[f, 0] + (value if value == value else means[f]) * slopes[r, 0]
                continue
            for f in range(width):
                value = values[r, f]
                if value != value:
                    value = means[f]
                for u in range(units):
                    out[f, u] = out[f, u] + value * slopes[r, u]
    return result
