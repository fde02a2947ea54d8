"""Separable linear maps of images: one small sparse matrix an axis, kept as a table of taps.

The camera and the interpolations are such maps. A map knows its adjoint exactly: the adjoint's tables are the
transposed ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sharpfield.errors import InputError
from sharpfield.kernels import map_columns_first, map_rows_first
from sharpfield.parallel import Workers

Border = Literal["symmetric", "replicate"]


@dataclass(frozen=True, eq=False)
class Taps:
    """The rows of a sparse matrix: output i is the sum over k of weight[i, k] input[index[i, k]].

    Parameters
    ----------
    index
        Which inputs, (n_out, K) int32; increasing along a row, unused taps at the end.
    weight
        With which weights, (n_out, K) float32; 0 for an unused tap, whose index is valid all the same.
    n_in
        How many inputs there are.
    """

    index: NDArray[np.int32]
    weight: NDArray[np.float32]
    n_in: int

    @property
    def n_out(self) -> int:
        """How many outputs there are."""
        return self.index.shape[0]

    @classmethod
    def from_matrix(cls, matrix: sparse.csr_array) -> Taps:
        """Return the table of a sparse matrix (n_out, n_in)."""
        rows = sparse.csr_array(matrix, copy=True)
        rows.sum_duplicates()  # sorts the columns as well
        rows.eliminate_zeros()
        counts = np.diff(rows.indptr)
        index = np.zeros((rows.shape[0], max(int(counts.max(initial=0)), 1)), np.int32)
        weight = np.zeros(index.shape, np.float32)
        used = np.arange(index.shape[1]) < counts[:, np.newaxis]
        index[used] = rows.indices
        weight[used] = rows.data
        return cls(index, weight, int(rows.shape[1]))

    @classmethod
    def from_windows(cls, index: ArrayLike, weight: ArrayLike, n_in: int, border: Border) -> Taps:
        """Return the table of windows that may reach over the border.

        Parameters
        ----------
        index
            Which inputs, (n_out, K), any integers: those outside 0..n_in-1 fold back as `border` says.
        weight
            With which weights, (n_out, K); each row is divided by its sum, so that constants are preserved.
        n_in
            How many inputs there are.
        border
            `symmetric` mirrors about the edge of the border pixel (... 1 0 | 0 1 ...), `replicate` repeats it.
        """
        where = np.asarray(index, np.int64)
        if border == "symmetric":
            where = where % (2 * n_in)
            where = np.minimum(where, 2 * n_in - 1 - where)
        else:
            where = np.clip(where, 0, n_in - 1)
        weights = np.asarray(weight, np.float64)
        weights = weights / weights.sum(axis=1, keepdims=True)
        rows = np.repeat(np.arange(where.shape[0]), where.shape[1])
        entries = (weights.ravel(), (rows, where.ravel()))
        return cls.from_matrix(sparse.csr_array(entries, shape=(where.shape[0], n_in)))

    def matrix(self) -> sparse.csr_array:
        """Return the sparse matrix (n_out, n_in), float32."""
        used = self.weight != 0
        rows = np.nonzero(used)[0]
        entries = (self.weight[used], (rows, self.index[used]))
        return sparse.csr_array(entries, shape=(self.n_out, self.n_in))

    def transposed(self) -> Taps:
        """Return the table of the transposed matrix."""
        return Taps.from_matrix(self.matrix().T.tocsr())


@dataclass(frozen=True, eq=False)
class SeparableMap:
    """The linear map of images Y U Xᵀ, for U an image, Y and X small sparse matrices.

    Parameters
    ----------
    y, x
        What happens along the columns (from row to row) and along the rows.
    """

    y: Taps
    x: Taps

    @property
    def size_in(self) -> tuple[int, int]:
        """Height and width of the images that it takes."""
        return self.y.n_in, self.x.n_in

    @property
    def size_out(self) -> tuple[int, int]:
        """Height and width of the images that it gives."""
        return self.y.n_out, self.x.n_out

    def apply(
        self, image: NDArray[np.float32], out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Return Y U Xᵀ of one image U (y, x); into `out`, a C-contiguous float32 array, when given."""
        return _mapped(image, self.size_in, self.size_out, self._forward, self._shrinks, out)

    def adjoint(
        self, image: NDArray[np.float32], out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Return Yᵀ V X of one image V: the adjoint, <apply(u), v> = <u, adjoint(v)>."""
        return _mapped(image, self.size_out, self.size_in, self._backward, not self._shrinks, out)

    def stack(self, planes: NDArray[np.float32], workers: Workers | None = None) -> NDArray[np.float32]:
        """Apply the map to every image of (..., y, x), each on one thread of `workers`."""
        leading = planes.shape[:-2]
        result = np.empty((*leading, *self.size_out), np.float32)

        def one(place: tuple[int, ...]) -> None:
            self.apply(planes[place], out=result[place])

        places = np.ndindex(*leading)
        if workers is None:
            for place in places:
                one(place)
        else:
            workers.map(one, places)
        return result

    @property
    def _shrinks(self) -> bool:
        # rows are cheaper to sum than to gather along, so they go first where that leaves fewer to gather
        return self.y.n_out <= self.y.n_in

    @cached_property
    def _forward(self) -> _Tables:
        return _tables(self.y, self.x)

    @cached_property
    def _backward(self) -> _Tables:
        return _tables(self.y.transposed(), self.x.transposed())


def gaussian_map(size: tuple[int, ...], sigma: float, cut: float = 3.0) -> SeparableMap:
    """Return the blur of images of that size by a Gaussian, cut at `cut` deviations, mirrored at the border."""
    reach = max(1, math.ceil(cut * sigma))
    offsets = np.arange(-reach, reach + 1)
    weight = np.exp(-(offsets**2) / (2 * sigma**2))
    y, x = (
        Taps.from_windows(
            np.arange(n)[:, np.newaxis] + offsets, np.broadcast_to(weight, (n, weight.size)), n, "symmetric"
        )
        for n in size
    )
    return SeparableMap(y, x)


_Tables = tuple[NDArray[np.uint32], NDArray[np.float32], NDArray[np.uint32], NDArray[np.float32]]


def _tables(y: Taps, x: Taps) -> _Tables:
    """Return the taps as the kernels want them: vertical (n_out, K), horizontal (K, n_out), unsigned."""
    return (
        y.index.astype(np.uint32),
        np.ascontiguousarray(y.weight),
        np.ascontiguousarray(x.index.T.astype(np.uint32)),
        np.ascontiguousarray(x.weight.T),
    )


def _mapped(
    image: NDArray[np.float32],
    size_in: tuple[int, int],
    size_out: tuple[int, int],
    tables: _Tables,
    rows_first: bool,
    out: NDArray[np.float32] | None,
) -> NDArray[np.float32]:
    if image.shape != size_in:  # the kernels do not check
        raise InputError(
            f"this map takes images of {size_in[0]}x{size_in[1]}, not an array of shape {image.shape}"
        )
    if out is None:
        out = np.empty(size_out, np.float32)
    elif out.shape != size_out or out.dtype != np.float32 or not out.flags.c_contiguous:
        raise InputError(f"`out` must be a C-contiguous float32 array of shape {size_out}")
    kernel = map_rows_first if rows_first else map_columns_first
    kernel(np.ascontiguousarray(image, dtype=np.float32), *tables, out)
    return out
