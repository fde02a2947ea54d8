"""The compiled loops of `mitra`: patches as columns, their products with matrices, patches added up.

All are single-threaded and release the interpreter lock. Each has a slow, obvious twin in `tests/test_mitra.py`.
Columns are worked on a few at a time, so that they stay in the processor's cache; a column's sums have one order
wherever it stands, so that the result does not depend on how patches are grouped.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(nogil=True, cache=True)
# products may be fused with sums: once rounded instead of twice, in the same order for every column
fused = njit(nogil=True, cache=True, fastmath={"contract", "nsz"})

_COLUMNS = 128  # columns at a time


@compiled
def gather(low, y, x, side, columns, mean, energy):
    """Write the patches at y[i], x[i] of views (v, u, y, x) as columns without their mean, their mean and energy.

    The energy is the sum of the squares of a column. Rows of `columns` beyond the samples of a patch become 0.
    """
    views_v, views_u = low.shape[:2]
    samples = views_v * views_u * side * side
    number = y.shape[0]
    for i in range(number):
        total = 0.0
        row = 0
        for v in range(views_v):
            for u in range(views_u):
                for dy in range(side):
                    line = low[v, u, y[i] + dy]
                    for dx in range(side):
                        value = line[x[i] + dx]
                        columns[row, i] = value
                        total += value
                        row += 1
        mean[i] = total / samples
        energy[i] = 0
    for row in range(samples):
        line = columns[row]
        for i in range(number):
            line[i] -= mean[i]
            energy[i] += line[i] * line[i]
    for row in range(samples, columns.shape[0]):
        columns[row, :number] = 0


@fused
def two_rows(first, second, columns, begin, end, out_first, out_second):
    """Write two rows of a matrix times the columns begin..end; the number of rows of `columns` is a multiple of 4."""
    length = end - begin
    a, b = out_first[:length], out_second[:length]
    for i in range(length):
        a[i] = 0
        b[i] = 0
    for k in range(0, columns.shape[0], 4):
        p, q = columns[k, begin:end], columns[k + 1, begin:end]
        r, s = columns[k + 2, begin:end], columns[k + 3, begin:end]
        ap, aq, ar, as_ = first[k], first[k + 1], first[k + 2], first[k + 3]
        bp, bq, br, bs = second[k], second[k + 1], second[k + 2], second[k + 3]
        for i in range(length):
            a[i] = a[i] + ap * p[i] + aq * q[i] + ar * r[i] + as_ * s[i]
            b[i] = b[i] + bp * p[i] + bq * q[i] + br * r[i] + bs * s[i]


@fused
def explain_best(subspaces, columns, number, best, energy):
    """Write for each column the subspace (number, rank, rows) that holds most of its energy, and how much that is.

    The rank is even. Of equals the first is kept.
    """
    first, second = np.empty(_COLUMNS, np.float32), np.empty(_COLUMNS, np.float32)
    total = np.empty(_COLUMNS, np.float32)
    for begin in range(0, number, _COLUMNS):
        end = min(begin + _COLUMNS, number)
        length = end - begin
        here, most = best[begin:end], energy[begin:end]
        for i in range(length):
            here[i] = 0
            most[i] = -1
        for d in range(subspaces.shape[0]):
            for i in range(length):
                total[i] = 0
            for k in range(0, subspaces.shape[1], 2):
                two_rows(subspaces[d, k], subspaces[d, k + 1], columns, begin, end, first, second)
                for i in range(length):
                    total[i] += first[i] * first[i] + second[i] * second[i]
            for i in range(length):
                if total[i] > most[i]:
                    most[i] = total[i]
                    here[i] = d


@fused
def add_estimates(matrix, columns, mean, weight, y, x, side, high):
    """Add matrix @ columns + mean, weighted, to the patches of `side` pixels that begin at y[i], x[i] of `high`.

    A row of the matrix is a pixel of the patch.
    """
    number = y.shape[0]
    first, second = np.empty(_COLUMNS, np.float32), np.empty(_COLUMNS, np.float32)
    for begin in range(0, number, _COLUMNS):
        end = min(begin + _COLUMNS, number)
        for k in range(0, matrix.shape[0], 2):
            other = min(k + 1, matrix.shape[0] - 1)
            two_rows(matrix[k], matrix[other], columns, begin, end, first, second)
            for i in range(begin, end):
                high[y[i] + k // side, x[i] + k % side] += weight[i] * (first[i - begin] + mean[i])
            if other > k:
                for i in range(begin, end):
                    value = weight[i] * (second[i - begin] + mean[i])
                    high[y[i] + other // side, x[i] + other % side] += value


@compiled
def add_weights(weight, y, x, side, total):
    """Add the weights of patches of `side` pixels that begin at y[i], x[i]."""
    for i in range(y.shape[0]):
        for dy in range(side):
            for dx in range(side):
                total[y[i] + dy, x[i] + dx] += weight[i]
