"""The rendered scenes: their disparity is that of their pixels, their options are checked, their views repeat."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import map_coordinates, maximum_filter, minimum_filter

from sharpfield.errors import OptionError
from sharpfield.progress import Progress
from sharpfield.synthetic import Plane, Scene, Surface, fronto_parallel, render, render_scene, scenes, stage
from sharpfield.synthetic.surface import disc
from sharpfield.synthetic.textures import Noise, Raster, pinwheel, zone_plate


@pytest.fixture(scope="module")
def scene() -> Scene:
    return render_scene((3, 3), (144, 160), seed=4)


def _pull(
    scene: Scene, at: tuple[int, int], other: tuple[int, int], off: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a view made of another one by the true disparity (+ off), what that one's disparity says, and where."""
    d = scene.disparity[at].astype(np.float64) + off
    y, x = np.indices(d.shape, float)
    y, x = y - (other[0] - at[0]) * d, x - (other[1] - at[1]) * d
    inside = (y >= 0) & (y <= d.shape[0] - 1) & (x >= 0) & (x <= d.shape[1] - 1)
    there = map_coordinates(scene.disparity[other].astype(np.float64), (y, x), order=1, mode="nearest")
    views = scene.lightfield.views[other]
    image = [map_coordinates(views[..., c], (y, x), order=3, mode="nearest") for c in range(3)]
    return np.stack(image, axis=2), there, inside


def _smooth(scene: Scene, view: tuple[int, int], size: int = 5) -> np.ndarray:
    """Return where a view shows one surface all around a pixel."""
    which = scene.surface[view]
    return maximum_filter(which, size) == minimum_filter(which, size)


@pytest.mark.parametrize("other", [(1, 2), (2, 1), (0, 0), (2, 0)])
def test_true_disparity_warps_a_neighbour_onto_the_view(scene: Scene, other: tuple[int, int]) -> None:
    at = (1, 1)
    image, there, inside = _pull(scene, at, other)
    d = scene.disparity[at]
    visible = inside & _smooth(scene, at) & (np.abs(there - d) < 1e-4)
    assert visible.mean() > 0.5
    truth = scene.lightfield.views[at][visible]
    error = np.abs(image[visible] - truth)
    # what is left is interpolation of detail up to the finest that pixels hold
    assert np.median(error) < 0.01
    assert error.mean() < 0.33 * np.abs(scene.lightfield.views[other][visible] - truth).mean()
    for off in (-0.2, 0.2):
        assert error.mean() < 0.8 * np.abs(_pull(scene, at, other, off)[0][visible] - truth).mean()


def test_a_surface_point_has_one_disparity_in_all_views(scene: Scene) -> None:
    """Where the disparity pulled from another view is of the same surface it is the same, on slanted ones too."""
    at, other = (1, 1), (0, 2)
    d = scene.disparity[at]
    _, there, inside = _pull(scene, at, other)
    y, x = np.indices(d.shape)
    y, x = np.rint(y + d).astype(int).clip(0, 143), np.rint(x - d).astype(int).clip(0, 159)
    same = inside & (scene.surface[other][y, x] == scene.surface[at]) & _smooth(scene, other)[y, x]
    assert same.mean() > 0.5
    assert np.abs(there - d)[same].max() < 2e-4


def test_the_scene_holds_what_it_promises(scene: Scene) -> None:
    views, d = scene.lightfield.views, scene.disparity
    assert views.shape == (3, 3, 144, 160, 3)
    assert views.dtype == d.dtype == np.float32
    assert d.shape == views.shape[:4]
    assert views.min() >= 0
    assert views.max() <= 1
    assert np.ptp(views) > 0.9
    assert d.min() == pytest.approx(-2.0)
    assert 2.3 < d.max() <= 2.5
    assert not d.flags.writeable
    seen = {scene.surfaces[i] for i in np.unique(scene.surface)}
    assert seen == set(scene.surfaces)
    slanted = [
        name for i, name in enumerate(scene.surfaces) if np.ptp(d[1, 1][scene.surface[1, 1] == i]) > 0.1
    ]
    assert {"brick wall", "table", "page", "lying slice", "flags"} <= set(slanted)
    for window in scene.details.values():
        assert d[1, 1][window].size > 100


def test_nearer_surfaces_hide_farther_ones(scene: Scene) -> None:
    """Each view shows some pixels that the middle one does not: the disparity does not carry over there."""
    _, there, inside = _pull(scene, (1, 1), (1, 2))
    hidden = inside & (there - scene.disparity[1, 1] > 0.3)
    assert 0.003 < hidden.mean() < 0.2


def test_text_is_on_the_page() -> None:
    """Dark strokes, one or two pixels thin, on light paper; the low resolution loses their contrast."""
    page = render_scene((1, 1), (256, 256))
    window = page.details["page"]
    letters = page.lightfield.views[0, 0][window][46:90, 8:80].mean(axis=2)
    paper, ink = np.percentile(letters, (90, 1))
    assert paper - ink > 0.6
    coarse = letters[:44, :72].reshape(22, 2, 36, 2).mean(axis=(1, 3))
    assert np.abs(np.diff(letters, axis=1)).mean() > 0.06
    assert np.ptp(coarse) < np.ptp(letters) - 0.05


def test_sign_convention() -> None:
    """A point with d > 0 moves left as u grows and up as v grows."""
    mask, extent = disc(2.0)
    black = Surface("black", Plane(0.0), lambda t, s: np.zeros((3, t.size), np.float32))
    dot = Surface(
        "dot", Plane(3.0, cy=16, cx=20), lambda t, s: np.ones((3, t.size), np.float32), mask, extent
    )
    scene = render([black, dot], (3, 3), (32, 40), supersampling=2)
    for v in range(3):
        for u in range(3):
            y, x = np.nonzero(scene.lightfield.views[v, u, ..., 0] > 0.5)
            assert (y.mean(), x.mean()) == (16 - 3 * (v - 1), 20 - 3 * (u - 1))
            assert scene.disparity[v, u, round(y.mean()), round(x.mean())] == 3


@pytest.mark.parametrize("d", [-3, 1, 2])
def test_whole_disparities_move_pixels_exactly(d: int) -> None:
    views = fronto_parallel((3, 3), (24, 30), d, seed=1).lightfield.views
    for v in range(3):
        for u in range(3):
            moved = np.roll(views[1, 1], (-(v - 1) * d, -(u - 1) * d), axis=(0, 1))
            inner = (slice(4, -4), slice(4, -4))
            np.testing.assert_array_equal(views[v, u][inner], moved[inner])


def test_subpixel_disparity_is_the_phase_between_views() -> None:
    """Phase correlation of two views finds 0.4 pixels, to the left as u grows."""
    scene = fronto_parallel((1, 2), (96, 96), 0.4, seed=2)
    assert (scene.disparity == np.float32(0.4)).all()
    views = scene.lightfield.views[0, ..., 1]
    one, two = np.fft.fft((views - views.mean()) * np.hanning(96), axis=2)
    k = np.arange(3, 16)
    turn = np.angle((one * two.conj())[:, k].sum(axis=0))
    assert np.mean(turn * 96 / (2 * np.pi * k)) == pytest.approx(-0.4, abs=0.03)


@pytest.mark.parametrize("grid", [(1, 5), (4, 1), (3, 4), (1, 1)])
def test_any_grid_has_its_reference_in_the_middle(grid: tuple[int, int]) -> None:
    scene = render_scene(grid, (40, 48), supersampling=1, disparity=(-1.0, 1.0))
    assert scene.lightfield.grid == grid
    assert scene.disparity.shape == (*grid, 40, 48)
    orange = scene.surfaces.index("orange")
    y, x = scene.details["orange"]
    v, u = (count // 2 for count in grid)
    rows, columns = np.nonzero(scene.surface[v, u] == orange)
    d = float(np.median(scene.disparity[v, u][rows, columns]))
    middle = ((y.start + y.stop - 1) / 2, (x.start + x.stop - 1) / 2)
    assert rows.mean() == pytest.approx(middle[0] - (v - (grid[0] - 1) / 2) * d, abs=1.2)
    assert columns.mean() == pytest.approx(middle[1] - (u - (grid[1] - 1) / 2) * d, abs=1.2)


def test_same_seed_same_pixels_on_any_number_of_threads() -> None:
    events: list[Progress] = []
    one = render_scene((2, 2), (48, 48), seed=7, threads=1, progress=events.append)
    two = render_scene((2, 2), (48, 48), seed=7, threads=3)
    other = render_scene((2, 2), (48, 48), seed=8)
    np.testing.assert_array_equal(one.lightfield.views, two.lightfield.views)
    np.testing.assert_array_equal(one.disparity, two.disparity)
    assert np.abs(one.lightfield.views - other.lightfield.views).mean() > 0.01
    assert [event.fraction for event in events] == [0.25, 0.5, 0.75, 1.0]


def test_supersampling_antialiases() -> None:
    """A zone plate finer than the pixels can hold aliases with one ray a pixel and fades with many."""
    plate = Surface("plate", Plane(0.0, cy=32, cx=32), zone_plate(40.0, finest=0.9))
    rough, fine, finest = (
        render([plate], (1, 1), (64, 64), supersampling=n).lightfield.views[0, 0] for n in (1, 4, 16)
    )
    assert np.abs(fine - finest).mean() < 0.2 * np.abs(rough - finest).mean()
    rim = (slice(28, 36), slice(56, 64))  # above 0.5 cycles a pixel
    assert rough[rim].std() > 2 * fine[rim].std()
    mask, extent = disc(10.3)
    edge = Surface(
        "edge", Plane(0.5, cy=16, cx=16), lambda t, s: np.ones((3, t.size), np.float32), mask, extent
    )
    black = Surface("black", Plane(0.0), lambda t, s: np.zeros((3, t.size), np.float32))
    area = render([black, edge], (1, 1), (33, 33), supersampling=8).lightfield.views[..., 0].sum()
    assert area == pytest.approx(np.pi * 10.3**2, rel=0.005)


@settings(max_examples=40, deadline=None)
@given(
    d0=st.floats(-3, 3),
    gy=st.floats(-0.04, 0.04),
    gx=st.floats(-0.04, 0.04),
    t=st.floats(-20, 20),
    s=st.floats(-20, 20),
    down=st.floats(-4, 4),
    right=st.floats(-4, 4),
    perspective=st.booleans(),
    flatten=st.sampled_from([1.0, 0.5]),
    angle=st.sampled_from([0.0, 30.0]),
)
def test_rays_find_the_point_that_projects_there(
    d0: float, gy: float, gx: float, t: float, s: float, down: float, right: float,
    perspective: bool, flatten: float, angle: float,
) -> None:  # fmt: skip
    """The closed form of the ray is the inverse of the projection of the surface point."""
    plane = Plane(d0, gy, gx, cy=40.0, cx=50.0)
    surface = Surface("s", plane, pinwheel(5.0), None, None, -9.0 if perspective else None, flatten, angle)
    y, x, d = (np.array([value]) for value in surface.pixel(t, s, down, right))
    found = plane.seen_from(down, right, y, x)
    np.testing.assert_allclose(found, d, atol=1e-9)
    back = surface.coordinates(y + down * found, x + right * found, found)
    np.testing.assert_allclose(np.concatenate(back), (t, s), atol=1e-7)


def test_planes_cross_where_their_disparities_are_equal() -> None:
    paints = [lambda t, s, c=c: np.full((3, t.size), c, np.float32) for c in (0.2, 0.8)]
    surfaces = [Surface("a", Plane(0.5), paints[0]), Surface("b", Plane(0.5, gx=0.05, cx=20.0), paints[1])]
    scene = render(surfaces, (1, 3), (4, 41), supersampling=1)
    for u in range(3):
        assert (scene.disparity[0, u] >= 0.5).all()
        edge = 20 - (u - 1) * 0.5
        np.testing.assert_array_equal(scene.surface[0, u, 0], np.arange(41) >= edge)


def test_noise_repeats_and_raster_interpolates() -> None:
    noise = Noise(np.random.default_rng(0))
    t, s = (np.linspace(-30, 30, 500, dtype=np.float32) for _ in range(2))
    np.testing.assert_allclose(noise(t, s), noise(t + 512, s - 512), atol=2e-3)
    assert noise(t, s).dtype == np.float32
    ramp = np.zeros((5, 9, 3), np.float32)
    ramp[..., 0] = np.arange(9) / 8
    got = Raster(ramp, 2.0)(np.zeros(3, np.float32), np.array([-2.0, 0.25, 9.0], np.float32))
    np.testing.assert_allclose(got[0], [0.0, 0.5625, 1.0], atol=1e-3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"grid": (0, 3)}, "grid must be two whole numbers of at least 1"),
        ({"grid": 5}, "grid must be two whole numbers"),
        ({"grid": (2.0, 2)}, "grid must be two whole numbers"),
        ({"size": (256,)}, "size must be two whole numbers of at least 32"),
        ({"size": (16, 64)}, "at least 32"),
        ({"supersampling": 0}, "supersampling must be a whole number from 1 to 16"),
        ({"supersampling": 2.5}, "supersampling must be a whole number"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": "a"}, "seed must be a whole number"),
        ({"disparity": (2.0, -2.0)}, "must ascend"),
        ({"disparity": (1, 1)}, "must ascend"),
        ({"disparity": (0.0, float("nan"))}, "finite"),
        ({"disparity": 3}, "two numbers"),
        ({"threads": 0}, "threads"),
        ({"grid": (33, 33), "size": (32, 32)}, "from behind"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        render_scene(**{"grid": (1, 2), "size": (32, 32), **options})  # type: ignore[arg-type]


def test_a_plane_needs_a_disparity() -> None:
    with pytest.raises(OptionError, match="finite"):
        fronto_parallel(disparity=float("inf"))


def test_a_scene_has_something_behind_every_pixel() -> None:
    mask, extent = disc(3.0)
    dot = Surface("dot", Plane(0.0, cy=4, cx=4), pinwheel(3.0), mask, extent)
    with pytest.raises(OptionError, match="meet no surface"):
        render([dot], (1, 2), (8, 8))
    with pytest.raises(OptionError, match="at most 256"):
        render([dot] * 257, (1, 2), (8, 8))


def test_paints_stay_in_single_precision() -> None:
    """Double precision would pass unseen, at half the speed."""
    surfaces, _ = scenes._still_life(stage.Stage((3, 3), (64, 64), -1.0, 1.0), np.random.default_rng(0))
    points = np.linspace(-5, 5, 7, dtype=np.float32)
    for surface in surfaces:
        d = surface.plane.seen_from(1.0, -1.0, points, points)
        t, s = surface.coordinates(points + d, points - d, d)
        assert d.dtype == t.dtype == s.dtype == np.float32, surface.name
        colors = surface.paint(t, s)
        assert colors.dtype == np.float32, surface.name
        assert colors.shape == (3, 7)
