"""The warps: rows that sum to one, exact adjoints, masks of what no row computes, equal to the twin's."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from test_gb_graph import ALONE, flat_views, graph_matrix, graph_of

from sharpfield.gb.params import GBParams
from sharpfield.gb.warp import DirectWarp, SquareWarp, Warp, direct_warps, square_warps
from sharpfield.observe import Camera
from sharpfield.parallel import Workers
from sharpfield.resample import SeparableMap

VARIANTS = ["square", "direct"]


def camera_matrix(camera: SeparableMap) -> sparse.csr_array:
    """S B of one view as one matrix."""
    return sparse.csr_array(sparse.kron(camera.y.matrix(), camera.x.matrix()).astype(np.float64))


def warps_of(views: np.ndarray, variant: str, camera: Camera, **params) -> list[list[Warp]]:
    seen = camera.map(views.shape[2:])
    if variant == "direct":
        return direct_warps(graph_of(views, **params), seen, ALONE)
    return square_warps(flat_views(views), views.shape[:2], GBParams(**params), seen, ALONE)


def warp_matrix(warp: Warp, size: tuple[int, int]) -> np.ndarray:
    """F, column by column: what the warp makes of an image of one white pixel."""
    pixels = size[0] * size[1]
    units = np.eye(pixels, dtype=np.float32).reshape(pixels, *size)
    return np.stack([warp.apply(unit).ravel() for unit in units], axis=1)


def adjoint_matrix(warp: Warp, size: tuple[int, int]) -> np.ndarray:
    """F again, row by row: what the adjoint makes of an image of one white pixel."""
    pixels = size[0] * size[1]
    rows = []
    for unit in np.eye(pixels, dtype=np.float32):
        row = np.zeros(size, np.float32)
        warp.adjoint_add(unit.reshape(size), row)
        rows.append(row.ravel())
    return np.stack(rows)


def used_pixels(warp: Warp, seen: SeparableMap) -> np.ndarray:
    """Which pixels of the target are seen by a sample that counts."""
    camera = camera_matrix(seen)
    return (camera != 0).astype(float).T @ warp.mask.ravel() > 0


@pytest.mark.parametrize("blur", ["box", "gaussian:0.6", "bicubic"])
@pytest.mark.parametrize(
    ("grid", "size", "disparity"),
    [
        ((3, 3), (12, 14), (-6, 6)),
        ((2, 3), (16, 12), (-2, 4)),
        ((1, 3), (12, 12), (2, 5)),
        ((3, 1), (12, 16), (0, 1)),
        ((2, 2), (8, 10), (-12, 11)),
    ],
)
def test_square_warps_are_the_twins(grid, size, disparity, blur):
    views = naive.two_planes(grid, size, seed=3).astype(np.float32)
    camera = Camera.parse(blur, 2)
    seen = camera_matrix(camera.map(size))
    twins = naive.square_warps(views, *disparity)
    ours = warps_of(views, "square", camera, disparity=disparity)
    assert sum(len(warps) for warps in ours) == len(twins)
    for source, warps in enumerate(ours):
        for warp in warps:
            assert warp.source == source
            twin = twins[warp.source, warp.target]
            mask = naive.mask_of(seen, twin)
            assert np.array_equal(warp.mask.ravel(), mask)
            kept = sparse.diags_array(mask) @ seen
            # a row where two delta score alike may differ; there is none in this scene
            assert abs(kept @ warp_matrix(warp, size) - (kept @ twin).toarray()).max() < 2e-5


@pytest.mark.parametrize("blur", ["box", "gaussian:0.6", "bicubic"])
@pytest.mark.parametrize("grid", [(3, 3), (2, 1), (1, 3)])
def test_direct_warps_are_the_graphs_rows(grid, blur):
    size = (12, 14)
    views = naive.two_planes(grid, size, seed=3).astype(np.float32)
    camera = Camera.parse(blur, 2)
    seen = camera_matrix(camera.map(size))
    twins = naive.direct_warps(graph_matrix(graph_of(views), size), grid, size)
    ours = warps_of(views, "direct", camera)
    assert sum(len(warps) for warps in ours) == len(twins)
    for source, warps in enumerate(ours):
        for warp in warps:
            assert warp.source == source
            twin = twins[warp.source, warp.target]
            assert abs(warp_matrix(warp, size) - twin.toarray()).max() < 1e-6
            assert np.array_equal(warp.mask.ravel(), naive.mask_of(seen, twin))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("disparity", [(-6, 6), (-2, 4), (2, 5), (-5, -1)])
def test_rows_sum_to_one_wherever_the_mask_lets_them_count(variant, disparity):
    size = (12, 14)
    views = naive.two_planes((3, 3), size, seed=1).astype(np.float32)
    camera = Camera(2)
    counted = 0
    for warps in warps_of(views, variant, camera, disparity=disparity):
        for warp in warps:
            matrix = warp_matrix(warp, size)
            assert matrix.min() >= -1e-6
            sums = matrix.sum(axis=1)
            assert ((abs(sums - 1) < 1e-5) | (sums == 0)).all()
            used = used_pixels(warp, camera.map(size))
            assert sums[used] == pytest.approx(1, abs=1e-5)
            counted += used.sum()
    assert counted > 0


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", [(12, 14), (8, 7)])
def test_the_adjoint_is_the_transposed_matrix(variant, size):
    views = naive.two_planes((2, 2), (size[0], size[1] + size[1] % 2), seed=1).astype(np.float32)
    size = views.shape[2:]
    for warps in warps_of(views, variant, Camera(2), disparity=(-4, 5)):
        for warp in warps:
            assert abs(warp_matrix(warp, size) - adjoint_matrix(warp, size)).max() < 1e-6


@given(
    st.sampled_from(VARIANTS),
    st.sampled_from([(1, 2), (3, 1), (2, 2), (2, 3)]),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.integers(-8, 6),
    st.integers(1, 8),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_dot_product(variant, grid, size_lr, low, span, seed):
    rng = np.random.default_rng(seed)
    views = rng.random((*grid, 2 * size_lr[0], 2 * size_lr[1]), np.float32)
    for warps in warps_of(views, variant, Camera(2), disparity=(low, low + span), patch=3):
        for warp in warps:
            u, w = rng.standard_normal((2, *views.shape[2:])).astype(np.float32)
            back = np.zeros_like(u)
            warp.adjoint_add(w, back)
            forward = float(np.vdot(warp.apply(u).astype(np.float64), w))
            assert forward == pytest.approx(float(np.vdot(u.astype(np.float64), back)), abs=1e-4)
            start = rng.random(u.shape, np.float32)
            total = start.copy()
            warp.adjoint_add(w, total)
            assert total == pytest.approx(start + back, abs=1e-5)  # it adds


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_warp_shows_the_target(variant):
    # one plane at disparity 2: away from the border the warped view is the neighbour
    views = naive.texture_plane((3, 3), (24, 24), 2, seed=4).astype(np.float32)
    flat = flat_views(views)
    for warps in warps_of(views, variant, Camera(2), disparity=(-3, 4)):
        for warp in warps:
            inside = slice(8, -8), slice(8, -8)
            before = (flat[warp.source] - flat[warp.target])[inside]
            after = (warp.apply(flat[warp.source]) - flat[warp.target])[inside]
            # some pixels are mixed with one beside the exact match
            assert (after**2).mean() < 0.1 * (before**2).mean()
            assert warp.mask[4:-4, 4:-4].all()


def test_delta_holds_the_disparity_in_all_four_directions():
    views = naive.texture_plane((3, 3), (24, 24), 1.5, seed=4).astype(np.float32)
    for warps in warps_of(views, "square", Camera(2), disparity=(-3, 4)):
        for warp in warps:
            assert isinstance(warp, SquareWarp)
            assert (warp.code[8:-8, 8:-8] == 1 - -3).all()  # 1.5 lies in [1, 2]
            assert warp.weight[8:-8, 8:-8].mean() == pytest.approx(0.5, abs=0.15)


def test_which_views_are_warped_to_which():
    views = np.random.default_rng(0).random((3, 3, 8, 8), np.float32)
    square, direct = (warps_of(views, variant, Camera(2)) for variant in VARIANTS)
    assert [len(warps) for warps in square] == [2, 3, 2, 3, 4, 3, 2, 3, 2]
    # with eight neighbours, as the published figures of GB-DR have it
    assert [len(warps) for warps in direct] == [3, 5, 3, 5, 8, 5, 3, 5, 3]
    assert {warp.target for warp in square[4]} == {1, 3, 5, 7}
    assert {warp.target for warp in direct[4]} == {0, 1, 2, 3, 5, 6, 7, 8}
    assert all(isinstance(warp, DirectWarp) for warps in direct for warp in warps)


@pytest.mark.parametrize("disparity", [(3, 5), (-5, -3)])
def test_the_mask_of_a_one_sided_window_leaves_out_the_border(disparity):
    # every candidate lies 3 to 5 away on one side: the 3 (2 samples) nearest that border have none
    size = (12, 16)
    views = naive.texture_plane((1, 2), size, disparity[0] + 0.5, seed=1).astype(np.float32)
    away = (slice(None), slice(2, None)) if disparity[0] > 0 else (slice(None), slice(None, -2))
    for warps in warps_of(views, "square", Camera(2), disparity=disparity):
        for warp in warps:
            mask = warp.mask if warp.target > warp.source else warp.mask[:, ::-1]
            # the left view shows a target's pixel further right: its right border is lost when d > 0
            mask = mask[:, ::-1]
            assert mask[away].all()
            assert mask.sum() == mask[away].size


@pytest.mark.parametrize("blur", ["box", "gaussian:1.2", "bicubic"])
def test_a_wider_camera_masks_more(blur):
    views = naive.two_planes((2, 2), (24, 24), seed=3).astype(np.float32)
    for variant in VARIANTS:
        box = warps_of(views, variant, Camera(2))
        for ours, theirs in zip(warps_of(views, variant, Camera.parse(blur, 2)), box, strict=True):
            for one, other in zip(ours, theirs, strict=True):
                assert (one.mask <= other.mask).all()
                assert set(np.unique(one.mask)) <= {0, 1}


@pytest.mark.parametrize("variant", VARIANTS)
def test_constants_stay(variant):
    views = np.full((2, 3, 12, 14), 0.3, np.float32)
    camera = Camera(2)
    for warps in warps_of(views, variant, camera):
        for warp in warps:
            used = used_pixels(warp, camera.map((12, 14)))
            assert warp.apply(views[0, 0]).ravel()[used] == pytest.approx(0.3, abs=1e-6)


def test_threads_do_not_change_a_bit_and_progress_counts_the_views():
    views = naive.two_planes((3, 3), (14, 16), seed=1).astype(np.float32)
    events = []
    alone = warps_of(views, "square", Camera(2))
    with Workers(3) as workers:
        seen = Camera(2).map((14, 16))
        many = square_warps(flat_views(views), (3, 3), GBParams(), seen, workers, events.append)
    for ours, theirs in zip(alone, many, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert (one.source, one.target) == (other.source, other.target)
            assert np.array_equal(one.mask, other.mask)
            assert np.array_equal(one.code, other.code)
            assert np.array_equal(one.weight, other.weight)
    assert len(events) == 9
    assert max(event.fraction for event in events) == 1
