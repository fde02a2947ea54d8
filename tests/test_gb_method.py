"""Algorithm 1 as a whole: equal to its literal twin, the same with any number of threads, better than its start."""

from __future__ import annotations

from functools import cache

import naive
import numpy as np
import pytest

from sharpfield.errors import InputError
from sharpfield.gb.method import run_direct, run_square, super_resolve
from sharpfield.gb.params import PRESETS, GBParams
from sharpfield.interpolate import interpolate
from sharpfield.observe import Camera
from sharpfield.parallel import Workers
from sharpfield.progress import silent

VARIANTS = ["square", "direct"]
ALONE = Workers(1)


@cache
def scene(grid=(3, 3), size=(24, 28), factor=2, seed=4) -> tuple[np.ndarray, np.ndarray]:
    """Views with an occlusion, and what a camera of 8 bits makes of them."""
    high = naive.two_planes(grid, size, seed)
    blocks = high.reshape(*grid, size[0] // factor, factor, size[1] // factor, factor)
    low = np.floor(blocks.mean(axis=(3, 5)) * 255 + 0.5) / 255
    return high, low.astype(np.float32)


def psnr(a, b) -> float:
    return float(-10 * np.log10(np.mean((a.astype(np.float64) - b) ** 2)))


def assert_same_but_for_ties(a, b) -> None:
    """Where two candidates are nearer than a key can tell, an edge may differ; that moves a few pixels a little."""
    difference = abs(a - b)
    assert difference.max() < 2e-2
    assert difference.mean() < 5e-5
    assert np.mean(difference > 1e-4) < 0.05


def paper(**changes) -> GBParams:
    return GBParams(**{**PRESETS["paper"], **changes})


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("grid", "size", "factor", "disparity"),
    [((3, 3), (24, 28), 2, (-6, 6)), ((2, 3), (24, 21), 3, (-2, 4)), ((1, 4), (20, 26), 2, (-3, 3))],
)
def test_the_method_is_its_literal_twin(variant, grid, size, factor, disparity):
    _, low = scene(grid, size, factor)
    twin = naive.gb(low.astype(np.float64), factor, variant, 2, *disparity)
    # the paper iterates until convergence
    params = paper(disparity=disparity, proximal_steps=1000)
    ours = super_resolve(low, Camera(factor), params, ALONE, variant=variant)
    assert abs(ours - twin).max() < 2e-3
    assert abs(ours - twin).mean() < 1e-5


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_fast_schedule_is_close_to_the_papers(variant):
    high, low = scene()
    slow = super_resolve(low, Camera(2), paper(), ALONE, variant=variant)
    fast = super_resolve(low, Camera(2), GBParams(), ALONE, variant=variant)
    assert np.sqrt(np.mean((fast - slow) ** 2)) < 6e-3
    assert psnr(fast, high) > psnr(slow, high) - 0.1


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("blur", ["box", "gaussian:0.8", "bicubic"])
def test_it_improves_on_its_start(variant, blur):
    high, _ = scene((3, 3), (48, 52))
    camera = Camera.parse(blur, 2)
    low = camera.map(high.shape[2:]).stack(high.astype(np.float32))
    start = interpolate(low, 2, "bilinear")
    assert (
        psnr(super_resolve(low, camera, GBParams(), ALONE, variant=variant), high) > psnr(start, high) + 1.5
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_do_not_change_a_bit(variant):
    _, low = scene()
    alone = super_resolve(low, Camera(2), GBParams(), ALONE, variant=variant)
    for threads in (2, 3):
        with Workers(threads) as workers:
            many = super_resolve(low, Camera(2), GBParams(), workers, variant=variant)
        assert np.array_equal(many, alone)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_a_constant_light_field_stays(variant, value, preset):
    low = np.full((2, 3, 6, 7), value, np.float32)
    high = super_resolve(low, Camera(2), GBParams(**PRESETS[preset]), ALONE, variant=variant)
    assert high.shape == (2, 3, 12, 14)
    assert high == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_comes_out(variant):
    low = np.random.default_rng(0).random((2, 2, 12, 10)).round().astype(np.float32)  # black and white
    kept = low.copy()
    high = super_resolve(low, Camera(3), GBParams(), ALONE, variant=variant)
    assert high.shape == (2, 2, 36, 30)
    assert high.dtype == np.float32
    assert high.min() >= 0
    assert high.max() <= 1
    assert np.array_equal(low, kept)
    # a view of a larger array, and doubles, give the same
    wide = np.zeros((2, 2, 12, 20))
    wide[..., ::2] = low
    assert np.array_equal(super_resolve(wide[..., ::2], Camera(3), GBParams(), ALONE, variant=variant), high)


def test_turning_the_light_field_turns_the_result():
    # rows become columns, of the grid and of the views at once: nothing prefers a direction
    _, low = scene((3, 2), (24, 20))
    params = paper(disparity=(-3, 4))
    for variant in VARIANTS:
        high = super_resolve(low, Camera(2), params, ALONE, variant=variant)
        turned = super_resolve(low.transpose(1, 0, 3, 2), Camera(2), params, ALONE, variant=variant)
        assert_same_but_for_ties(turned.transpose(1, 0, 3, 2), high)


def test_reversing_the_views_reverses_the_disparities():
    _, low = scene((2, 3), (24, 20))
    for variant in VARIANTS:
        high = super_resolve(low, Camera(2), paper(disparity=(-3, 4)), ALONE, variant=variant)
        back = super_resolve(low[::-1, ::-1], Camera(2), paper(disparity=(-4, 3)), ALONE, variant=variant)
        assert_same_but_for_ties(back[::-1, ::-1], high)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("threads", [1, 3])
def test_progress_runs_from_0_to_1(variant, threads):
    _, low = scene()
    events = []
    with Workers(threads) as workers:
        super_resolve(low, Camera(2), GBParams(), workers, events.append, variant=variant)
    fractions = [event.fraction for event in events]
    assert 0 <= fractions[0] < 0.1
    assert fractions[-1] == 1
    assert all(0 <= fraction <= 1 for fraction in fractions)
    if threads == 1:
        assert fractions == sorted(fractions)
    assert {"matching patches", "solving"} <= {event.stage for event in events}


def test_the_two_methods_are_the_two_variants():
    _, low = scene()
    square, direct = (super_resolve(low, Camera(2), GBParams(), ALONE, variant=v) for v in VARIANTS)
    assert np.array_equal(run_square(low, Camera(2), GBParams(), ALONE, silent), square)
    assert np.array_equal(run_direct(low, Camera(2), GBParams(), ALONE, silent), direct)
    assert not np.array_equal(square, direct)


def test_one_view_is_refused():
    with pytest.raises(InputError, match="one view"):
        super_resolve(np.zeros((1, 1, 8, 8), np.float32), Camera(2), GBParams(), ALONE)
