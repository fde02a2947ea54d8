"""The camera: an exact linear map with its adjoint, equal to its naive twin, and what `degrade` adds."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sharpfield.errors import InputError, OptionError
from sharpfield.lightfield import LightField
from sharpfield.observe import Camera, degrade, rounded_half_up
from sharpfield.parallel import Workers
from sharpfield.resample import SeparableMap, Taps

CAMERAS = ["box", "gaussian:0.7", "gaussian:1.6", "bicubic"]
FACTORS = [2, 3, 4]


def random_image(*shape, seed=0):
    return np.random.default_rng(seed).random(shape, dtype=np.float32)


def assert_adjoint(mapped: SeparableMap):
    """<A u, v> = <u, A' v>."""
    u, v = random_image(*mapped.size_in), random_image(*mapped.size_out, seed=1)
    forward = float((mapped.apply(u).astype(np.float64) * v).sum())
    backward = float((mapped.adjoint(v).astype(np.float64) * u).sum())
    assert forward == pytest.approx(backward, rel=1e-6)


# --- separable maps --------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.tuples(*[st.integers(1, 9)] * 4), st.floats(0.05, 1))
@settings(max_examples=60, deadline=None)
def test_a_separable_map_is_two_matrix_products(seed, sizes, density):
    rng = np.random.default_rng(seed)
    y_out, y_in, x_out, x_in = sizes
    matrices = [
        (rng.random((rows, columns)) * (rng.random((rows, columns)) < density)).astype(np.float32)
        for rows, columns in ((y_out, y_in), (x_out, x_in))
    ]
    y, x = (Taps.from_matrix(sparse.csr_array(matrix)) for matrix in matrices)
    mapped = SeparableMap(y, x)
    u, v = random_image(y_in, x_in, seed=seed), random_image(y_out, x_out, seed=seed)
    assert mapped.apply(u) == pytest.approx(matrices[0] @ u @ matrices[1].T, abs=1e-4)
    assert mapped.adjoint(v) == pytest.approx(matrices[0].T @ v @ matrices[1], abs=1e-4)
    for taps, matrix in zip((y, x), matrices, strict=True):
        assert np.array_equal(taps.matrix().toarray(), matrix)
        assert np.array_equal(taps.transposed().matrix().toarray(), matrix.T)
        assert ((taps.index >= 0) & (taps.index < taps.n_in)).all()


@pytest.mark.parametrize("text", CAMERAS)
@pytest.mark.parametrize("factor", FACTORS)
def test_transposing_twice_changes_nothing(text, factor):
    taps = Camera.parse(text, factor).map((6 * factor, 5 * factor)).y
    back = taps.transposed().transposed()
    assert (back.n_in, back.n_out) == (taps.n_in, taps.n_out)
    assert np.array_equal(back.index, taps.index)
    assert np.array_equal(back.weight, taps.weight)


def test_out_is_filled_and_views_in_any_memory_order_are_taken():
    mapped = Camera(2).map((6, 8))
    image = random_image(8, 6).T  # not C-contiguous
    image.flags.writeable = False
    out = np.empty((3, 4), np.float32)
    assert mapped.apply(image, out=out) is out
    assert np.array_equal(out, mapped.apply(np.ascontiguousarray(image)))
    with pytest.raises(InputError, match=r"takes images of 6x8, not an array of shape \(8, 6\)"):
        mapped.apply(image.T)
    for bad in (np.empty((3, 5), np.float32), np.empty((3, 4)), np.empty((4, 3), np.float32).T):
        with pytest.raises(InputError, match="C-contiguous float32"):
            mapped.apply(image, out=bad)


def test_a_stack_maps_every_image_on_any_number_of_threads():
    mapped = Camera(3, "bicubic").map((9, 12))
    planes = random_image(2, 3, 9, 12)
    stacked = mapped.stack(planes)
    assert stacked.shape == (2, 3, 3, 4)
    assert np.array_equal(stacked[1, 2], mapped.apply(planes[1, 2]))
    with Workers(3) as workers:
        assert np.array_equal(mapped.stack(planes, workers), stacked)


# --- cameras ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", CAMERAS)
@pytest.mark.parametrize("factor", [*FACTORS, 8])
@pytest.mark.parametrize("size_lr", [(1, 1), (1, 7), (5, 3)])
def test_dot_product(text, factor, size_lr):
    assert_adjoint(Camera.parse(text, factor).map((size_lr[0] * factor, size_lr[1] * factor)))


@pytest.mark.parametrize("text", CAMERAS)
@pytest.mark.parametrize("factor", FACTORS)
def test_constants_are_preserved(text, factor):
    mapped = Camera.parse(text, factor).map((5 * factor, 3 * factor))
    assert mapped.y.weight.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert mapped.apply(np.full(mapped.size_in, 0.7, np.float32)) == pytest.approx(0.7, abs=1e-6)


@pytest.mark.parametrize("text", CAMERAS)
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("size_lr", [(1, 2), (7, 5)])
def test_the_camera_equals_its_naive_twin(text, factor, size_lr):
    camera = Camera.parse(text, factor)
    image = random_image(size_lr[0] * factor, size_lr[1] * factor)
    twin = naive.along_both_axes(
        image, lambda line: naive.camera_line(line, factor, camera.blur, camera.sigma or 0)
    )
    # the twin's Gaussian has all its tails; ours is cut beyond 4 sigma
    tolerance = 2e-4 if camera.blur == "gaussian" else 1e-6
    assert camera.map(image.shape).apply(image) == pytest.approx(twin, abs=tolerance)


@pytest.mark.parametrize("factor", range(2, 9))
def test_the_box_is_the_mean_of_the_block(factor):
    image = random_image(3 * factor, 5 * factor)
    blocks = image.reshape(3, factor, 5, factor).mean(axis=(1, 3))
    assert Camera(factor).map(image.shape).apply(image) == pytest.approx(blocks, abs=1e-6)


@pytest.mark.parametrize("text", CAMERAS)
@pytest.mark.parametrize("factor", FACTORS)
def test_cameras_are_symmetric(text, factor):
    mapped = Camera.parse(text, factor).map((6 * factor, 5 * factor))
    image = random_image(*mapped.size_in)
    assert mapped.apply(image)[::-1, ::-1] == pytest.approx(
        mapped.apply(np.ascontiguousarray(image[::-1, ::-1])), abs=1e-6
    )


def test_the_gaussian_is_cut_at_four_sigma_or_beyond():
    taps = Camera(2, "gaussian", 1.2).map((60, 60)).y
    used = taps.index[15][taps.weight[15] > 0]
    assert used.min() <= 30.5 - 4 * 1.2
    assert used.max() >= 30.5 + 4 * 1.2


def test_a_gaussian_much_narrower_than_a_pixel_samples_the_nearest():
    image = random_image(9, 9)
    assert Camera(3, "gaussian", 1e-6).map((9, 9)).apply(image) == pytest.approx(image[1::3, 1::3])
    assert Camera(2, "gaussian", 1e-6).map((8, 8)).apply(image[:8, :8]) == pytest.approx(
        Camera(2).map((8, 8)).apply(image[:8, :8])
    )


def test_imresize_of_a_ramp_by_half():
    # imresize(0:7, 0.5): distances from a block's centre to the taps are ±.5, ±1.5, ±2.5, ±3.5 pixels, in units of
    # the stretched kernel ±1/4, ±3/4, ±5/4, ±7/4, where the cubic is 111/128, 29/128, -9/128, -3/128 (sum 1 after
    # the division by 2). Inside, a ramp gives the block's centre; output 0 mirrors pixels -1..-3 onto 0..2.
    near, next_, third, last = 111 / 256, 29 / 256, -9 / 256, -3 / 256
    assert [naive.keys(q / 4) / 2 for q in (1, 3, 5, 7)] == pytest.approx([near, next_, third, last])
    first = near * (0 + 1) + next_ * (0 + 2) + third * (1 + 3) + last * (2 + 4)
    second = near * (2 + 3) + next_ * (1 + 4) + third * (0 + 5) + last * (0 + 6)
    expected = [first, second, 7 - second, 7 - first]
    assert expected == pytest.approx([115 / 256, 637 / 256, 7 - 637 / 256, 7 - 115 / 256])
    ramp = np.tile(np.arange(8, dtype=np.float32), (8, 1))
    mapped = Camera(2, "bicubic").map((8, 8))
    assert mapped.apply(ramp) == pytest.approx(np.tile(expected, (4, 1)), abs=1e-6)
    assert mapped.apply(np.ascontiguousarray(ramp.T)) == pytest.approx(np.tile(expected, (4, 1)).T, abs=1e-6)


def test_imresize_of_an_impulse_by_half():
    # pixel (8, 9) of 16x16 lies at distances 3.5, 1.5, -.5, -2.5 below the rows' centres 4.5 .. 10.5, and at
    # 2.5, .5, -1.5, -3.5 from the columns' centres 6.5 .. 12.5
    down = np.zeros(8)
    down[2:6] = [-3 / 256, 29 / 256, 111 / 256, -9 / 256]
    across = np.zeros(8)
    across[3:7] = [-9 / 256, 111 / 256, 29 / 256, -3 / 256]
    impulse = np.zeros((16, 16), np.float32)
    impulse[8, 9] = 1
    assert Camera(2, "bicubic").map((16, 16)).apply(impulse) == pytest.approx(
        np.outer(down, across), abs=1e-7
    )


def test_imresize_of_an_impulse_by_a_third():
    # taps at 0, ±1/3, ±2/3, ±1, ±4/3, ±5/3 of the stretched kernel: 1, 21/27, 9/27, 0, -2/27, -1/27, together 3
    mapped = Camera(3, "bicubic").map((3, 27))
    impulse = np.zeros((3, 27), np.float32)
    impulse[:, 13] = 1  # the centre of block 4, a whole number of kernel units from all others
    assert mapped.apply(impulse)[0] == pytest.approx([0, 0, 0, 0, 1 / 3, 0, 0, 0, 0], abs=1e-7)
    impulse[:, 13:15] = 0, 1  # one pixel to the right: 4/3, 1/3, -2/3, -5/3 from the centres of blocks 3 to 6
    expected = [0, 0, 0, -2 / 81, 21 / 81, 9 / 81, -1 / 81, 0, 0]
    assert mapped.apply(impulse)[0] == pytest.approx(expected, abs=1e-7)


def test_maps_are_made_once_for_a_size():
    assert Camera(2).map((8, 8)) is Camera.parse("box", 2).map((8, 8))


@pytest.mark.parametrize("text", ["box", "bicubic", "gaussian:1.2", "gaussian:2", "gaussian:0.1234567890123"])
def test_a_camera_reads_its_own_name(text):
    assert str(Camera.parse(text, 2)) == text
    assert Camera.parse(str(Camera.parse(text, 3)), 3) == Camera.parse(text.upper() + " ", 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("disk", "'disk' is unknown; say box, gaussian:SIGMA"),
        ("", "'' is unknown"),
        ("gaussian", "needs a sigma"),
        ("gaussian:", "'' is not a number"),
        ("gaussian:wide", "'wide' is not a number"),
        ("gaussian:0", "above 0 and at most 100 pixels, not 0.0"),
        ("gaussian:-1", "above 0"),
        ("gaussian:nan", "above 0"),
        ("gaussian:inf", "at most 100"),
        ("box:2", "box takes no sigma"),
        ("bicubic:1", "bicubic takes no sigma"),
    ],
)
def test_texts_that_name_no_camera(text, message):
    with pytest.raises(OptionError, match=message):
        Camera.parse(text, 2)


@pytest.mark.parametrize("factor", [1, 0, -2, 2.5, 9, True, "2", None, float("nan")])
def test_factors_that_are_none(factor):
    with pytest.raises(OptionError, match="factor must be a whole number from 2 to 8, not"):
        Camera(factor)


def test_factors_of_any_number_type_are_whole():
    assert [type(Camera(factor).factor) for factor in (np.int64(3), 3.0)] == [int, int]


def test_sizes_that_do_not_divide():
    for size in ((6, 7), (0, 6), (3, 2)):
        with pytest.raises(InputError, match="do not divide into 3x3 blocks; crop them"):
            Camera(3).map(size)


# --- degrade ---------------------------------------------------------------------------------------------------


def light_field(*shape, seed=0):
    return LightField(random_image(*shape, seed=seed))


@pytest.mark.parametrize("text", CAMERAS)
@pytest.mark.parametrize("channels", [1, 3])
def test_every_channel_goes_through_the_camera(text, channels):
    lf = light_field(2, 3, 12, 18, channels)
    camera = Camera.parse(text, 3)
    low = degrade(lf, camera, bits=None)
    assert low.views.shape == (2, 3, 4, 6, channels)
    assert low.bits == 32
    assert low.notes == lf.notes
    expected = np.clip(camera.map((12, 18)).apply(lf.views[1, 2, :, :, -1]), 0, 1)
    assert np.array_equal(low.views[1, 2, :, :, -1], expected)


def test_odd_sizes_are_cropped_at_the_bottom_and_on_the_right_and_that_is_said():
    lf = light_field(1, 2, 11, 13, 1)
    low = degrade(lf, Camera(4), bits=None)
    assert low.size == (2, 3)
    assert low.notes == ("cropped from 13x11 to 12x8, a multiple of 4",)
    assert np.array_equal(low.views, degrade(lf.crop(slice(8), slice(12)), Camera(4), bits=None).views)


def test_halves_round_up():
    # blocks of four 8-bit samples whose mean is a whole number, a quarter above, a half and three quarters
    samples = np.array([[7, 7, 7, 8, 7, 8, 7, 8], [7, 7, 7, 7, 8, 7, 8, 8]], np.uint8)
    low = degrade(LightField(samples[None, None]), Camera(2))
    assert low.bits == 8
    assert np.array_equal(np.rint(low.views[0, 0, 0, :, 0] * 255), [7, 7, 8, 8])


@pytest.mark.parametrize("factor", [2, 4])
@pytest.mark.parametrize("bits", [8, 16])
def test_rounding_is_that_of_whole_number_arithmetic(factor, bits):
    # mean of n whole numbers, half up: (2 sum + n) // (2 n)
    dtype = np.uint8 if bits == 8 else np.uint16
    samples = np.random.default_rng(0).integers(0, 2**bits, (2, 2, 16 * factor, 64 * factor), dtype)
    blocks = samples.astype(np.int64).reshape(2, 2, 16, factor, 64, factor).sum(axis=(3, 5))
    expected = (2 * blocks + factor**2) // (2 * factor**2)
    low = degrade(LightField(samples), Camera(factor), bits=bits)
    assert low.bits == bits
    assert np.array_equal(np.rint(low.views[..., 0] * (2**bits - 1)).astype(np.int64), expected)


def test_rounding_keeps_the_levels():
    for bits in (8, 16):
        levels = (np.arange(2**bits) / (2**bits - 1)).astype(np.float32)
        assert np.array_equal(rounded_half_up(levels, bits), levels)


def test_noise_is_seeded_and_the_same_on_any_number_of_threads():
    lf = LightField(np.full((2, 2, 64, 64, 3), 0.5, np.float32))
    clean = degrade(lf, Camera(2), bits=None)
    noisy = degrade(lf, Camera(2), noise=0.02, seed=3, bits=None)
    assert np.array_equal(noisy.views, degrade(lf, Camera(2), noise=0.02, seed=3, bits=None).views)
    with Workers(3) as workers:
        threaded = degrade(lf, Camera(2), noise=0.02, seed=3, bits=None, workers=workers)
    assert np.array_equal(noisy.views, threaded.views)
    assert not np.array_equal(noisy.views, degrade(lf, Camera(2), noise=0.02, seed=4, bits=None).views)
    noise = noisy.views - clean.views
    assert noise.std() == pytest.approx(0.02, rel=0.05)
    assert noise.mean() == pytest.approx(0, abs=1e-3)
    assert not np.array_equal(noise[0, 0], noise[0, 1])


def test_noise_is_clipped():
    low = degrade(LightField(np.ones((1, 2, 16, 16, 1), np.float32)), Camera(2), noise=0.5)
    assert low.views.max() == 1
    assert low.views.min() >= 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 12}, "bits must be 8, 16 or None"),
        ({"noise": -0.1}, "noise must be a number of at least 0"),
        ({"noise": float("nan")}, "noise"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 0.5}, "seed must be a whole number"),
    ],
)
def test_options_that_have_no_meaning(options, message):
    with pytest.raises(OptionError, match=message):
        degrade(light_field(1, 2, 4, 4, 1), Camera(2), **options)


def test_a_factor_is_no_camera():
    with pytest.raises(OptionError, match=r"camera is a Camera, such as sharpfield.Camera\(2\), not 2"):
        degrade(light_field(1, 2, 4, 4, 1), 2)


def test_views_smaller_than_the_factor():
    with pytest.raises(InputError, match="views of 9x3 are too small to shrink by 4"):
        degrade(light_field(1, 2, 3, 9, 1), Camera(4))
