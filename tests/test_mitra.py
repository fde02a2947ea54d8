"""`mitra`: the prior's covariances and estimates against dense formulas, its kernels against twins, what it gives."""

from __future__ import annotations

import zipfile
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import sharpfield as sf
from sharpfield.color import luma
from sharpfield.errors import InputError, OptionError
from sharpfield.interpolate import interpolate
from sharpfield.methods.mitra import kernels, store
from sharpfield.methods.mitra.method import candidates, choose, padded, run, starts
from sharpfield.methods.mitra.params import MitraParams, plan
from sharpfield.methods.mitra.prior import SCALES, WEIGHTS, DisparityPrior, PatchShape
from sharpfield.observe import Camera, degrade
from sharpfield.parallel import Workers
from sharpfield.progress import Progress, silent
from sharpfield.synthetic import fronto_parallel

ALONE = Workers(1)
CAMERAS = [Camera(2), Camera(3), Camera(2, "gaussian", 0.9), Camera(2, "bicubic")]


@pytest.fixture(autouse=True)
def empty_store(tmp_path, monkeypatch):
    """A folder for subspaces of the test's own, and none in memory."""
    monkeypatch.setenv("SHARPFIELD_CACHE", str(tmp_path / "kept"))
    store._kept.cache_clear()
    yield tmp_path / "kept" / "mitra"
    store._kept.cache_clear()


def shape_of(camera: Camera = CAMERAS[0], views: tuple[int, int] = (3, 3), side: int = 3) -> PatchShape:
    return PatchShape(views, side, camera)


# --- the prior ---------------------------------------------------------------------------------------------------


def image_covariance(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """R at differences of places."""
    square = y**2 + x**2
    return sum(w * np.exp(-square / (2 * s**2)) for s, w in zip(SCALES, WEIGHTS, strict=True))


def scene_places(shape: PatchShape, disparity: float, margin: int) -> tuple[np.ndarray, np.ndarray]:
    """Where in the scene each pixel (v, u, y, x) of a patch is that has a margin on every side."""
    large = shape.side * shape.camera.factor
    v, u, y, x = np.meshgrid(
        *(np.arange(n) for n in shape.views), *2 * (np.arange(-margin, large + margin),), indexing="ij"
    )
    return y + v * disparity, x + u * disparity


def dense(shape: PatchShape, disparity: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ Aᵀ and A Σ Aᵀ from R and the camera's rows A alone, on a patch with a margin for the blur."""
    a, margin = shape.camera.factor, 12
    places = [each.ravel() for each in scene_places(shape, disparity, margin)]
    whole = image_covariance(*(each[:, None] - each for each in places))
    wide = shape.side * a + 2 * margin
    inside = np.zeros((*shape.views, wide, wide), bool)
    inside[..., margin : margin + shape.side * a, margin : margin + shape.side * a] = True
    offsets, weight = shape.camera.window()
    axis = np.zeros((shape.side, wide))
    for i in range(shape.side):
        axis[i, a * i + margin + offsets] = weight / weight.sum()
    count = shape.views[0] * shape.views[1]
    rows = np.kron(np.eye(count), np.kron(axis, axis))
    crossing = whole @ rows.T
    return crossing[inside.ravel()], rows @ crossing


@pytest.mark.parametrize("disparity", [0.0, 1.4, -0.6])
@pytest.mark.parametrize("camera", CAMERAS, ids=str)
def test_covariances_are_those_of_the_image_through_the_camera(camera, disparity):
    shape = shape_of(camera, (1, 2), 2)
    crossing, samples = dense(shape, disparity)
    prior = DisparityPrior(shape, disparity)
    assert prior.samples() == pytest.approx(samples, abs=1e-6)
    assert prior.crossing(0) == pytest.approx(crossing, abs=1e-6)


@pytest.mark.parametrize("disparity", [0.0, 0.2, -3.4, 12.0])
@pytest.mark.parametrize("camera", CAMERAS, ids=str)
def test_covariances_are_symmetric_and_positive(camera, disparity):
    samples = DisparityPrior(shape_of(camera), disparity).samples()
    assert samples == pytest.approx(samples.T, abs=1e-14)
    assert np.linalg.eigvalsh(samples).min() > -1e-12
    variance = np.diag(samples)
    assert variance == pytest.approx(variance[0])  # every sample is as good as any other
    assert variance[0] < 1  # of a pixel


def test_what_a_view_sees_depends_on_the_difference_of_places_alone():
    shape = shape_of(Camera(2), (4, 4), 3)
    samples = DisparityPrior(shape, 2.0).samples().reshape(2 * (4, 4, 3, 3))
    # the same pair of views further down and to the right
    assert samples[0, 1, :, :, 1, 2] == pytest.approx(samples[2, 2, :, :, 3, 3], abs=1e-14)
    # a pixel of the low resolution between views: what one sees at y, the next sees at y - 1
    assert samples[1, 0, :-1, :, 0, 2] == pytest.approx(samples[0, 0, 1:, :, 0, 2], abs=1e-14)


def test_the_prior_of_the_opposite_disparity_is_turned_by_half_a_turn():
    shape = shape_of(views=(3, 4))
    one = DisparityPrior(shape, 1.2).samples().reshape(2 * (3, 4, 3, 3))
    other = DisparityPrior(shape, -1.2).samples().reshape(2 * (3, 4, 3, 3))
    assert one[:, :, ::-1, ::-1, :, :, ::-1, ::-1] == pytest.approx(other, abs=1e-14)


@pytest.mark.parametrize("camera", CAMERAS, ids=str)
def test_the_estimator_is_the_dense_formula(camera):
    shape, noise = shape_of(camera, (3, 3), 2), 0.01
    prior = DisparityPrior(shape, 0.8)
    crossing = np.concatenate([prior.crossing(row) for row in range(3)])
    inverse = np.linalg.inv(prior.samples() + noise * np.eye(shape.samples))
    wiener, one = crossing @ inverse, np.ones(shape.samples)
    # generalised least squares for the mean, then the Wiener estimate of what is left
    mean = one @ inverse / (one @ inverse @ one)
    wanted = np.outer(np.ones(len(wiener)), mean) + wiener @ (np.eye(shape.samples) - np.outer(one, mean))
    ours = prior.estimator(noise)
    assert ours.shape == (9, shape.pixels, shape.samples)
    assert ours.reshape(wanted.shape) == pytest.approx(wanted, abs=1e-5)
    assert ours.sum(axis=2, dtype=float) == pytest.approx(1, abs=1e-5)


def test_the_estimate_is_the_minimiser_of_the_objective():
    shape, noise = shape_of(views=(3, 3), side=2), 0.02
    prior, flat = DisparityPrior(shape, 0.6), 1e4  # a constant of large variance stands for the unknown mean
    places = [each.ravel() for each in scene_places(shape, 0.6, 0)]
    covariance = image_covariance(*(each[:, None] - each for each in places)) + flat
    rows = np.kron(np.eye(9), np.kron(*2 * (np.kron(np.eye(2), [[0.5, 0.5]]),)))
    seen = np.random.default_rng(1).standard_normal(shape.samples)
    # |y - A x|² / σ² + xᵀ Σ⁻¹ x with x = Σ z
    system = rows @ covariance @ rows.T / noise + np.eye(shape.samples)
    wanted = covariance @ rows.T @ np.linalg.solve(system, seen) / noise
    assert prior.estimator(noise).reshape(-1, shape.samples) @ seen == pytest.approx(wanted, abs=2e-3)


def test_a_patch_of_the_prior_is_recovered_better_than_by_interpolation():
    shape, random = shape_of(side=4), np.random.default_rng(3)
    large, disparity = 8, 1.4
    places = [each.ravel() for each in scene_places(shape, disparity, 0)]
    values, vectors = np.linalg.eigh(image_covariance(*(each[:, None] - each for each in places)))
    root = vectors * np.sqrt(np.maximum(values, 0))
    drawn = (root @ random.standard_normal((len(root), 20))).T.reshape(20, 3, 3, large, large)
    low = drawn.reshape(20, 3, 3, 4, 2, 4, 2).mean(axis=(4, 6)).astype(np.float32)
    matrix = DisparityPrior(shape, disparity).estimator(1e-4).reshape(-1, shape.samples)
    ours = (low.reshape(20, -1) @ matrix.T).reshape(drawn.shape)
    plain = interpolate(low.reshape(-1, 4, 4), 2, "bicubic").reshape(drawn.shape)
    wrong = DisparityPrior(shape, -1.4).estimator(1e-4).reshape(-1, shape.samples)
    other = (low.reshape(20, -1) @ wrong.T).reshape(drawn.shape)
    error = [float(np.mean((each - drawn) ** 2)) for each in (ours, plain, other)]
    assert error[0] < 0.5 * error[1]
    assert error[0] < 0.5 * error[2]


def test_subspaces_are_orthonormal_and_hold_the_most():
    shape = shape_of(views=(3, 3), side=4)
    covariance = DisparityPrior(shape, 1.0).samples()
    centred = np.eye(shape.samples) - 1 / shape.samples
    covariance = centred @ covariance @ centred
    basis = DisparityPrior(shape, 1.0).subspace(10).astype(float)
    assert basis @ basis.T == pytest.approx(np.eye(10), abs=1e-5)
    assert basis.sum(axis=1) == pytest.approx(0, abs=1e-4)
    held = np.trace(basis @ covariance @ basis.T)
    assert held == pytest.approx(np.linalg.eigvalsh(covariance)[-10:].sum(), rel=1e-5)


# --- subspaces, kept ---------------------------------------------------------------------------------------------


def test_subspaces_are_made_once_and_come_back_the_same(empty_store, monkeypatch):
    shape, asked = shape_of(), [0.0, 0.4, -0.4]
    events: list[Progress] = []
    first = store.subspaces(shape, asked, 6, ALONE, events.append)
    assert [event.fraction for event in events] == [0.5, 1.0]  # -0.4 is 0.4, turned
    assert len(list(empty_store.iterdir())) == 2
    monkeypatch.setattr(DisparityPrior, "subspace", lambda *_: pytest.fail("made again"))
    assert np.array_equal(store.subspaces(shape, asked, 6, ALONE), first)  # from memory
    store._kept.cache_clear()
    assert np.array_equal(store.subspaces(shape, asked, 6, ALONE), first)  # from disk


def test_a_turned_subspace_is_that_of_the_opposite_disparity():
    shape = shape_of(views=(3, 4))  # no two eigenvalues are equal
    ours = store.subspaces(shape, [-0.8], 6, ALONE)[0].astype(float)
    direct = DisparityPrior(shape, -0.8).subspace(6).astype(float)
    assert ours.T @ ours == pytest.approx(direct.T @ direct, abs=1e-5)


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "other", "text"])
def test_a_damaged_file_is_made_anew(empty_store, damage):
    shape = shape_of()
    first = store.subspaces(shape, [0.4], 6, ALONE)
    (path,) = empty_store.iterdir()
    whole = path.read_bytes()
    if damage == "other":
        np.savez(path, subspace=np.zeros((2, 2), np.float32))
    else:
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
        path.write_bytes({"empty": b"", "cut": whole[:-100], "changed": flipped, "text": b"no"}[damage])
    store._kept.cache_clear()
    assert np.array_equal(store.subspaces(shape, [0.4], 6, ALONE), first)
    with zipfile.ZipFile(path) as archive:  # mended
        assert archive.testzip() is None


def test_what_cannot_be_kept_is_made_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SHARPFIELD_CACHE", str(tmp_path / "file"))
    assert store.subspaces(shape_of(), [0.4], 6, ALONE).shape == (1, 6, 81)


def test_patches_of_other_kinds_are_kept_apart(empty_store):
    for shape in (shape_of(), shape_of(Camera(3)), shape_of(CAMERAS[2]), shape_of(side=4)):
        store.subspaces(shape, [0.4], 6, ALONE)
    store.subspaces(shape_of(), [0.4], 5, ALONE)
    store.subspaces(shape_of(), [0.6], 6, ALONE)
    assert len(list(empty_store.iterdir())) == 6


# --- kernels -----------------------------------------------------------------------------------------------------


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32)


def test_patches_are_the_columns():
    low, y, x = random(2, 3, 6, 7), np.array([0, 2, 3]), np.array([4, 0, 3])
    columns, (mean, energy) = np.full((56, 3), 9, np.float32), np.empty((2, 3), np.float32)
    kernels.gather(low, y, x, 3, columns, mean, energy)
    for i in range(3):
        patch = low[:, :, y[i] : y[i] + 3, x[i] : x[i] + 3].ravel()
        assert mean[i] == pytest.approx(patch.mean(), abs=1e-6)
        assert columns[:54, i] == pytest.approx(patch - patch.mean(), abs=1e-6)
        assert energy[i] == pytest.approx(54 * patch.var(), rel=1e-5)
    assert not columns[54:].any()


@pytest.mark.parametrize("number", [1, 37, 300])
def test_the_subspace_that_explains_most_is_found(number):
    bases, columns = random(5, 6, 12) - 0.5, random(12, number, seed=1) - 0.5
    best, energy = np.empty(number, np.int64), np.empty(number, np.float32)
    kernels.explain_best(bases, columns, number, best, energy)
    held = ((bases @ columns) ** 2).sum(axis=1)
    assert np.array_equal(best, held.argmax(axis=0))
    assert energy == pytest.approx(held.max(axis=0), rel=1e-5)


def test_of_equal_subspaces_the_first_is_taken():
    bases, columns = np.repeat(random(1, 4, 8), 3, axis=0), random(8, 5)
    columns[:, 2] = 0
    best, energy = np.empty(5, np.int64), np.empty(5, np.float32)
    kernels.explain_best(bases, columns, 5, best, energy)
    assert not best.any()
    assert energy[2] == 0


@pytest.mark.parametrize(("number", "side"), [(1, 4), (200, 4), (140, 3)])
def test_estimates_are_added_where_they_belong(number, side):
    generator = np.random.default_rng(2)
    matrix, columns, mean = random(side**2, 8), random(8, number, seed=1), random(number, seed=3)
    y, x = generator.integers(0, 10, (2, number))
    high, weight, total = random(14, 15, seed=4), random(number, seed=5), np.zeros((14, 15), np.float32)
    wanted, counted = high.astype(float), np.zeros((14, 15))
    for i in range(number):
        patch = (matrix.astype(float) @ columns[:, i] + mean[i]).reshape(side, side)
        wanted[y[i] : y[i] + side, x[i] : x[i] + side] += weight[i] * patch
        counted[y[i] : y[i] + side, x[i] : x[i] + side] += weight[i]
    kernels.add_estimates(matrix, columns, mean, weight, y, x, side, high)
    assert high == pytest.approx(wanted, rel=1e-5)
    kernels.add_weights(weight, y, x, side, total)
    assert total == pytest.approx(counted, rel=1e-5)


# --- the whole ---------------------------------------------------------------------------------------------------


@cache
def plane(
    grid: tuple[int, int] = (3, 3), disparity: float = 1.4, factor: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    """Luma of a plane, and of what the camera sees of it."""
    whole = fronto_parallel(grid, (48 * factor, 44 * factor), disparity, seed=5, supersampling=2).lightfield
    return luma(whole.views), luma(degrade(whole, Camera(factor)).views)


def error(result: np.ndarray, truth: np.ndarray) -> float:
    inside = np.s_[..., 8:-8, 8:-8]
    return float(np.mean((result[inside] - truth[inside]) ** 2))


@pytest.mark.parametrize(
    ("grid", "disparity"), [((3, 3), 1.4), ((3, 3), -2.0), ((5, 5), 0.6), ((3, 5), -0.8)]
)
def test_the_disparity_of_a_plane_is_found(grid, disparity):
    _, low = plane(grid, disparity)
    options = MitraParams(disparity=(-3, 3))
    shape, asked = PatchShape(grid, 4, Camera(2)), candidates(options)
    bases = padded(padded(store.subspaces(shape, asked, 24, ALONE), 1, 2), 2, 4)
    patches = choose(low, bases, options, ALONE, silent)
    found = np.array(asked)[patches.disparity]
    assert np.mean(np.abs(found - disparity) < 0.21) > 0.9
    assert np.median(found) == pytest.approx(disparity)


@pytest.mark.parametrize(("grid", "factor"), [((3, 3), 2), ((5, 5), 2), ((3, 3), 3)])
def test_a_plane_comes_out_better_than_by_interpolation(grid, factor):
    truth, low = plane(grid, 1.4, factor)
    high = run(low, Camera(factor), MitraParams(disparity=(-2, 2)), ALONE, silent)
    assert high.shape == truth.shape
    assert high.dtype == np.float32
    assert error(high, truth) < 0.6 * error(interpolate(low, factor, "bicubic"), truth)


@pytest.mark.parametrize("stride", [2, 3, 4])
def test_patches_farther_apart_give_about_the_same(stride):
    truth, low = plane()
    near, far = (
        run(low, Camera(2), MitraParams(disparity=(-2, 2), patch_stride=each), ALONE, silent)
        for each in (1, stride)
    )
    assert np.isfinite(far).all()
    assert error(near, truth) <= 1.05 * error(far, truth)
    assert error(far, truth) < 0.6 * error(interpolate(low, 2, "bicubic"), truth)


def test_larger_grids_go_through_windows_of_views():
    truth, low = plane((3, 6))
    high = run(low, Camera(2), MitraParams(disparity=(-2, 2), patch_views=3), ALONE, silent)
    assert error(high, truth) < 0.6 * error(interpolate(low, 2, "bicubic"), truth)
    # the first and the last column of views are in one window alone
    alone = run(low[:, :3], Camera(2), MitraParams(disparity=(-2, 2), patch_views=3), ALONE, silent)
    assert np.array_equal(high[:, 0], alone[:, 0])


@pytest.mark.parametrize("length", range(3, 20))
@pytest.mark.parametrize("window", [3, 4, 5])
def test_windows_cover_the_views_and_overlap(length, window):
    begins = starts(length, min(window, length))
    assert begins[0] == 0
    assert begins[-1] == length - min(window, length)
    assert all(0 < after - before < window for before, after in pairwise(begins))


@pytest.mark.parametrize("size", [(1, 1), (2, 9), (4, 3), (5, 4)])
def test_views_smaller_than_a_patch(size):
    low = np.full((3, 3, *size), 0.3, np.float32)
    high = run(low, Camera(2), MitraParams(disparity=(-1, 1)), ALONE, silent)
    assert high.shape == (3, 3, 2 * size[0], 2 * size[1])
    assert high == pytest.approx(0.3, abs=1e-5)


def test_any_number_of_threads_gives_the_same_bits():
    _, low = plane((3, 5))
    options = MitraParams(disparity=(-2, 2), patch_views=4)
    one = run(low, Camera(2), options, ALONE, silent)
    with Workers(4) as workers:
        assert np.array_equal(run(low, Camera(2), options, workers, silent), one)


def test_what_is_lighter_comes_out_lighter_by_as_much():
    _, low = plane()
    options = MitraParams(disparity=(-2, 2))
    dark, light = (run(0.5 * low + level, Camera(2), options, ALONE, silent) for level in (0.1, 0.4))
    assert light - dark == pytest.approx(0.3, abs=1e-3)


def test_a_patch_that_the_prior_does_not_explain_counts_less():
    _, low = plane((3, 3))
    low = low.copy()
    low[1, 1, 10:14, 10:14] = 1 - low[1, 1, 10:14, 10:14]  # one view disagrees there
    options = MitraParams(disparity=(-2, 2))
    shape, asked = PatchShape((3, 3), 4, Camera(2)), candidates(options)
    bases = padded(padded(store.subspaces(shape, asked, 24, ALONE), 1, 2), 2, 4)
    patches = choose(low, bases, options, ALONE, silent)
    touched = (patches.y > 6) & (patches.y < 14) & (patches.x > 6) & (patches.x < 14)
    assert np.median(patches.weight[touched]) < 0.5 * np.median(patches.weight[~touched])
    assert (patches.weight > 0).all()
    even = choose(low, bases, MitraParams(disparity=(-2, 2), misfit=1e6), ALONE, silent)
    assert even.weight == pytest.approx(1)  # the publication's


def test_small_disparities_come_first():
    found = candidates(MitraParams(disparity=(-1, 2), disparity_step=0.5))
    assert found == [0, -0.5, 0.5, -1, 1, 1.5, 2]
    assert len(candidates(MitraParams())) == 61


@pytest.mark.parametrize("grid", [(1, 1), (2, 5), (5, 2), (1, 9)])
def test_too_few_views_are_refused(grid):
    with pytest.raises(InputError, match="3x3 views"):
        plan(MitraParams(), grid, (64, 64))


def test_tiny_views_are_refused():
    with pytest.raises(InputError, match="too small"):
        plan(MitraParams(), (3, 3), (6, 64))


def test_tiles_give_what_the_whole_gives():
    whole = fronto_parallel((3, 3), (288, 288), 1.0, seed=3, supersampling=1).lightfield
    low = degrade(whole, Camera(2))
    one, many = (
        sf.upscale(low, 2, method="mitra", disparity=(-1, 2), memory=memory, threads=2)
        for memory in ("2GB", "1MB")
    )
    assert many.metadata["upscale"]["tiles"] > 1
    assert np.abs(many.views - one.views).max() < 1e-5


@pytest.mark.parametrize(
    "given",
    [
        {"disparity": (2, -2)},
        {"disparity": (0.5, 2)},
        {"disparity_step": 0.0},
        {"disparity_step": 2.0},
        {"patch_side": 1},
        {"patch_side": 2.5},
        {"patch_views": 2},
        {"patch_views": 11},
        {"patch_stride": 0},
        {"patch_stride": 5},
        {"subspace_rank": 0},
        {"noise_variance": 0.0},
        {"noise_variance": float("nan")},
        {"misfit": 0.0},
    ],
    ids=str,
)
def test_options_without_meaning_are_refused(given):
    with pytest.raises(OptionError):
        MitraParams(**given)
