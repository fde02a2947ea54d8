"""Views between views: symmetry, what is kept, whole shifts, what a scene gives beside averaging, the command."""

from __future__ import annotations

import numpy as np
import pytest
from commandline import refused, run
from hypothesis import given
from hypothesis import strategies as st

import sharpfield as sf
from sharpfield.densifying import LEARNED, Depth, densify, find_depth, whole_shift
from sharpfield.errors import InputError, OptionError
from sharpfield.methods.network.network import shipped
from sharpfield.synthetic import fronto_parallel

STILL = Depth()  # nothing measured, nothing moved


def noise(grid=(2, 2), size=(20, 23), channels=1, seed=0) -> sf.LightField:
    views = np.random.default_rng(seed).random((*grid, *size, channels), np.float32)
    return sf.LightField(views)


def averaged(lf: sf.LightField) -> sf.LightField:
    """The baseline: the mean of the two or four views around."""
    rows, columns = (2 * n - 1 for n in lf.grid)
    views = np.empty((rows, columns, *lf.size, lf.channels), np.float32)
    for v, u in np.ndindex(rows, columns):
        around = lf.views[v // 2 : -(-v // 2) + 1, u // 2 : -(-u // 2) + 1]
        views[v, u] = around.mean(axis=(0, 1))
    return lf.with_views(views)


def made(grid: tuple[int, int]) -> np.ndarray:
    """Where the views of a dense grid are new."""
    v, u = np.indices(grid)
    return (v % 2 == 1) | (u % 2 == 1)


# -- what comes out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [(1, 2), (3, 1), (2, 2), (2, 3)])
@pytest.mark.parametrize("channels", [1, 3])
def test_the_grid_grows_and_the_views_that_were_there_are_kept(grid, channels):
    lf = noise(grid, channels=channels)
    events: list[sf.Progress] = []
    dense = densify(lf, disparity=STILL, progress=events.append)
    assert dense.views.shape == (2 * grid[0] - 1, 2 * grid[1] - 1, *lf.size, channels)
    assert dense.views.dtype == np.float32
    assert np.array_equal(dense.views[::2, ::2], lf.views)
    assert dense.views.min() >= 0
    assert dense.views.max() <= 1
    assert dense.metadata["densify"]["grid"] == list(grid)
    fractions = [event.fraction for event in events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1


@pytest.mark.parametrize("kind", ["pair", "four"])
def test_the_shipped_networks_are_those_of_the_publication_and_share_their_end(kind):
    shapes = [layer.shape for layer in shipped(f"angular-{kind}").layers]
    assert shapes == [(64, 2 if kind == "pair" else 4, 9, 9), (32, 64, 5, 5), (1, 32, 5, 5)]
    features = np.random.default_rng(0).random((64, 9, 9), np.float32)
    ends = []
    for each in ("pair", "four"):
        _, second, third = shipped(f"angular-{each}").layers
        found = [third.apply(second.apply(f, rectify=True), rectify=False) for f in (features, 0 * features)]
        ends.append(found[0] - found[1])  # but for the constant that makes it 0 where views are flat
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


@pytest.mark.parametrize("value", [0.0, 0.4, 1.0])
def test_constant_views_stay_constant(value):
    dense = densify(sf.LightField(np.full((2, 2, 17, 17, 1), value, np.float32)))
    assert dense.views == pytest.approx(value, abs=2e-3)


def test_channels_are_done_one_by_one():
    lf = noise(channels=3)
    dense = densify(lf, disparity=STILL)
    for c in range(3):
        alone = densify(lf.with_views(lf.views[..., c : c + 1]), disparity=STILL)
        assert np.array_equal(dense.views[..., c], alone.views[..., 0])


MIRRORED = {
    "left and right": lambda views: views[:, ::-1, :, ::-1],
    "up and down": lambda views: views[::-1, :, ::-1],
    "transposed": lambda views: views.transpose(1, 0, 3, 2, 4),
}


@pytest.mark.parametrize("way", MIRRORED)
def test_a_mirrored_light_field_comes_out_mirrored(way):
    lf = noise((2, 3), seed=5)
    mirror = MIRRORED[way]
    dense = mirror(densify(lf, disparity=STILL).views)
    assert densify(lf.with_views(mirror(lf.views)), disparity=STILL).views == pytest.approx(dense, abs=1e-5)


def test_any_number_of_threads_gives_the_same_bits():
    lf = noise((2, 2), (70, 300))
    one, three = (densify(lf, disparity=STILL, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.views, three.views)


# -- disparities -----------------------------------------------------------------------------------------------------


@given(low=st.floats(-40, 40), width=st.floats(0, 20))
def test_the_whole_shift_is_the_smallest_that_brings_the_range_to_what_was_learned(low, width):
    high = low + width

    def inside(k: int) -> bool:
        return low - 2 * k >= -LEARNED and high - 2 * k <= LEARNED

    shift = whole_shift(low, high)
    fitting = [k for k in range(-30, 31) if inside(k)]
    if fitting:
        assert shift == min(fitting, key=abs)
    else:
        assert abs((low + high) / 2 - 2 * shift) <= 1


@pytest.mark.parametrize("shift", [3, -2])
def test_views_that_are_moved_apart_are_moved_together_first(shift):
    """Views of a plane farther off by 2 k pixels of disparity give, moved back, the same views between."""
    grid, size = (2, 2), (40, 44)
    lf = noise(grid, size, seed=3)
    far = np.empty_like(lf.views)
    for v, u in np.ndindex(grid):  # the middle of the four stays where it is
        far[v, u] = np.roll(lf.views[v, u], ((1 - 2 * v) * shift, (1 - 2 * u) * shift), axis=(0, 1))
    near = densify(lf, disparity=STILL).views[1, 1]
    given_range = densify(lf.with_views(far), disparity=(2 * shift - 4, 2 * shift + 4))
    assert given_range.metadata["densify"]["shift"] == shift
    room = abs(shift) + 8
    inside = (slice(room, -room), slice(room, -room))
    assert given_range.views[1, 1][inside] == pytest.approx(near[inside], abs=1e-6)


def test_what_was_measured_decides_and_is_told():
    def plane(disparity: float) -> sf.LightField:
        return fronto_parallel((2, 2), (64, 72), disparity, seed=2, supersampling=2).lightfield

    near = find_depth(plane(1.5))
    assert near.shift == 0
    assert near.measured == pytest.approx((1.5, 1.5), abs=0.4)
    assert near.warnings == ()
    far = find_depth(plane(6.0))
    assert far.measured is not None
    assert far.shift == whole_shift(*far.measured) > 0
    wide = find_depth(plane(1.5), (-6, 6))
    assert wide.shift == 0
    assert "-6 to 6 pixels between adjacent views, the networks have learned 8 pixels" in wide.warnings[0]
    assert wide.warnings == densify(plane(1.5), disparity=(-6, 6)).notes


@pytest.mark.parametrize(("disparity", "gain"), [(1.0, 0.3), (-1.7, 2), (3.0, 2), (9.0, 2)])
def test_the_views_between_are_better_than_averages(disparity, gain):
    whole = fronto_parallel((3, 3), (80, 88), disparity / 2, seed=6, supersampling=2).lightfield
    few = whole.with_views(whole.views[::2, ::2])
    new = made(whole.grid)
    ours = sf.psnr(densify(few), whole)[new]
    mean = sf.psnr(averaged(few), whole)[new]
    assert ours.mean() > mean.mean() + gain, (ours, mean)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "y", "x", "gain"),
    [
        ("hciold_buddha", 300, 400, -0.2),  # hardly moves: averaging is nearly the truth
        ("stanford_legotruck", 400, 500, 5),
        ("hcinew_bicycle", 156, 156, 1),
        ("lytro_bikes", 86, 170, 1),
    ],
)
def test_real_views_between_beside_averages(data_folder, name, y, x, gain):
    whole = sf.read(data_folder / name, views="3x3").crop(slice(y, y + 150), slice(x, x + 150))
    few = whole.with_views(whole.views[::2, ::2])
    new = made(whole.grid)
    ours = sf.psnr(densify(few), whole)[new]
    mean = sf.psnr(averaged(few), whole)[new]
    assert ours.mean() > mean.mean() + gain, (ours, mean)


# -- what cannot be done ---------------------------------------------------------------------------------------------


def test_what_has_nothing_between_is_refused():
    with pytest.raises(InputError, match="a single view has no views between; two or more are needed"):
        densify(noise((1, 1)))
    with pytest.raises(InputError, match="views of 30x16 pixels are too small; the networks look at 17x17"):
        densify(noise((2, 2), (16, 30)))


@pytest.mark.parametrize("disparity", [(2, 1), (1,), "wide", (0, float("nan")), 3])
def test_a_range_that_is_none_is_refused(disparity):
    with pytest.raises(OptionError, match="disparity is"):
        densify(noise(), disparity=disparity)


# -- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    return sf.write(
        fronto_parallel((2, 2), (40, 48), 1.0, seed=1, supersampling=1).lightfield, tmp_path / "few"
    )


def test_the_command_writes_what_the_function_gives(tmp_path, folder):
    said = run("densify", folder, tmp_path / "many")
    assert said.status == 0, said.err
    assert "3 x 3 views of 48 x 40 (from 2 x 2)" in said.out
    found, lf = sf.read(tmp_path / "many"), sf.read(folder)
    assert np.array_equal(found.views[::2, ::2], lf.views)
    assert found.views == pytest.approx(densify(lf).views, abs=0.51 / 255)


def test_the_command_answers_scripts_and_takes_parts(tmp_path, folder):
    said = run(
        "densify", folder, tmp_path / "many.npz", "--json", "-q", "--views", "1:2,0:2", "--disparity", "-9:-2"
    )
    assert said.status == 0
    assert said.err == ""
    assert said.json["grid_in"] == [1, 2]
    assert said.json["grid"] == [1, 3]
    assert said.json["densify"]["shift"] == -3
    assert sf.read(tmp_path / "many.npz").grid == (1, 3)


def test_the_command_warns_of_what_the_networks_have_not_learned(tmp_path, folder):
    said = run("densify", folder, tmp_path / "many", "--disparity", "-7:6")
    assert said.status == 0
    assert len(said.warnings) == 1
    assert "disparities from -7 to 6 pixels" in said.warnings[0]


def test_the_command_refuses_in_one_line(tmp_path, folder):
    assert refused("densify", tmp_path / "no", tmp_path / "out").startswith("1 ")
    assert "is the input as well" in refused("densify", folder, folder)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("kept")
    assert "there" in refused("densify", folder, tmp_path / "there")
    assert refused("densify", folder, tmp_path / "out", "--views", "1x1").startswith("1 ")
    assert refused("densify", folder, tmp_path / "out", "--crop", "0:9,0:9").startswith("1 ")
    assert refused("densify", folder, tmp_path / "out", "--disparity", "wide").startswith("2 ")
    assert refused("densify", folder, tmp_path / "out", "--disparity", "3:1").startswith("2 ")
    assert not (tmp_path / "out").exists()
