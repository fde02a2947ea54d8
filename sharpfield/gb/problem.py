"""The quadratic objective F(u) = uᵀ P u / 2 + qᵀ u + r, applied without forming P (eq. 3, 5, 7, 14 to 16)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharpfield.gb.graph import Graph
from sharpfield.gb.params import GBParams
from sharpfield.gb.warp import Warp
from sharpfield.parallel import Workers
from sharpfield.resample import SeparableMap

Views = NDArray[np.float32]


@dataclass(frozen=True)
class Problem:
    """F = F₁ + λ₂ F₂ + λ₃ F₃ for high-resolution views u (n, y, x).

    F₁ = Σₖ ||S B uₖ - vₖ||², F₂ = ΣₖΣ ||H (S B F uₖ - vₖ')||² over the neighbours k' of k, F₃ = uᵀ L u.
    The gradient is P u + q; the paper's "P u - q" is a slip of sign.

    Parameters
    ----------
    low
        v: the low-resolution views (n, y, x).
    camera
        S B.
    warps
        For each view k, the warps F from it to its neighbours.
    graph
        The graph whose Laplacian is L.
    params
        λ₂ and λ₃.
    """

    low: Views
    camera: SeparableMap
    warps: list[list[Warp]]
    graph: Graph
    params: GBParams
    workers: Workers

    def apply(self, u: Views, out: Views) -> None:
        """Write P u = 2 (Aᵀ A + λ₂ Σ (H A F)ᵀ (H A F) + λ₃ L) u."""
        # every view of `out` is written by one task alone
        self.workers.map(lambda view: self._apply_to(u, view, out[view]), range(len(u)))

    def _apply_to(self, u: Views, view: int, out: NDArray[np.float32]) -> None:
        self.camera.adjoint(self.camera.apply(u[view]), out=out)
        seen_back = np.empty_like(out)
        for warp in self.warps[view]:
            seen = self.camera.apply(warp.apply(u[view]))
            seen *= warp.mask * np.float32(self.params.data_weight_warp)
            warp.adjoint_add(self.camera.adjoint(seen, out=seen_back), out)
        self.graph.add_laplacian(u, view, self.params.graph_weight, out)
        out *= np.float32(2)

    def linear(self) -> Views:
        """Return q = -2 (Aᵀ v + λ₂ Σ (H A F)ᵀ H v)."""
        height, width = self.camera.size_in
        q = np.empty((len(self.low), height, width), np.float32)

        def linear_of(view: int) -> None:
            self.camera.adjoint(self.low[view], out=q[view])
            for warp in self.warps[view]:
                kept = self.low[warp.target] * (warp.mask * np.float32(self.params.data_weight_warp))
                warp.adjoint_add(self.camera.adjoint(kept), q[view])
            q[view] *= np.float32(-2)

        self.workers.map(linear_of, range(len(self.low)))
        return q

    def terms(self, u: Views) -> tuple[float, float, float]:
        """Return F₁, F₂ and F₃ at u, each from its own definition."""
        data = warped = 0.0
        for view, image in enumerate(u):
            data += _squared(self.camera.apply(image) - self.low[view])
            for warp in self.warps[view]:
                error = self.camera.apply(warp.apply(image)) - self.low[warp.target]
                warped += _squared(warp.mask * error)
        return data, warped, self.graph.energy(u)

    def value(self, u: Views) -> float:
        """Return F(u) = F₁ + λ₂ F₂ + λ₃ F₃ (eq. 3)."""
        data, warped, smooth = self.terms(u)
        return data + self.params.data_weight_warp * warped + self.params.graph_weight * smooth

    def gradient(self, u: Views) -> Views:
        """Return the gradient P u + q."""
        result = np.empty_like(u)
        self.apply(u, result)
        result += self.linear()
        return result


def _squared(values: NDArray[np.float32]) -> float:
    return float(np.sum(values.astype(np.float64) ** 2))
