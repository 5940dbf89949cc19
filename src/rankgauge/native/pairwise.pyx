# cython: boundscheck=False, wraparound=False, cdivision=True
"""The logistic loss of pairs of documents, and its gradient. No pair is stored."""
import numpy as np
from libc.math cimport exp, fabs, log


cdef enum:
    FACTORS = 512  # so many factors from 1 to 2 are multiplied before the logarithm is taken


def logistic_loss(
    const double[::1] scores,
    const double[::1] targets,
    const long long[::1] bounds,
    bint mean,
):
    """The loss of all pairs, and its derivative by each score.

    A pair is two documents of one query whose targets differ. Its loss is log(1 + exp(−d)), where d is
    the score of the document with the higher target minus the score of the other. Query q has the rows
    bounds[q]:bounds[q + 1]. The loss of a query is the sum over its pairs, or with `mean` the mean.
    Time grows with the pairs, memory with the documents.
    """
    cdef Py_ssize_t queries = bounds.shape[0] - 1, q, i, j
    if targets.shape[0] != scores.shape[0]:
        raise ValueError("a target for each score is expected")
    if queries < 0 or bounds[0] != 0 or bounds[queries] != scores.shape[0]:
        raise ValueError("bounds that cover the scores are expected")
    for q in range(queries):
        if bounds[q] > bounds[q + 1]:
            raise ValueError("bounds must ascend")
    result = np.zeros(scores.shape[0])
    cdef double[::1] out = result
    cdef double total = 0.0, apart, small, push, pushed, share, loss, product
    cdef long long pairs
    with nogil:
        for q in range(queries):
            pairs = 0
            loss = 0.0
            product = 1.0
            for i in range(bounds[q], bounds[q + 1]):
                pushed = 0.0
                for j in range(bounds[q], bounds[q + 1]):
                    if targets[i] > targets[j]:
                        apart = scores[i] - scores[j]
                        small = exp(-fabs(apart))  # never overflows
                        push = 1.0 / (1.0 + small)
                        if apart >= 0:
                            push = small * push
                        else:
                            loss = loss - apart
                        pushed = pushed + push
                        out[j] = out[j] + push
                        product = product * (1.0 + small)
                        pairs = pairs + 1
                        if pairs % FACTORS == 0:
                            loss = loss + log(product)
                            product = 1.0
                out[i] = out[i] - pushed
            loss = loss + log(product)
            if mean and pairs > 0:
                share = 1.0 / pairs
                loss = loss * share
                for i in range(bounds[q], bounds[q + 1]):
                    out[i] = out[i] * share
            total = total + loss
    return total, result
