"""The options of `heber`."""
from __future__ import annotations
from dataclasses import dataclass

@dataclass(frozen=True)
class HeberParams:
    disparity: tuple[int, int] = (-6, 6)
    span: int = 5
    step: float = 0.125
    disparity_weight: float = 20.0
    agreement: float = 0.3
    sparse: float = 0.01
    rank: float = 1.0
    tv_weight: float = 0.003
    rounds: int = 8
    steps: int = 8

def window_of(grid, place, span):
    ranges = []
    for n, at in zip(grid, place, strict=True):
        side = min(span, n)
        first = min(max(at - side // 2, 0), n - side)
        ranges.append(range(first, first + side))
    return [(v, u) for v in ranges[0] for u in ranges[1]]
