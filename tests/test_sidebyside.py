"""Light fields side by side: whole factors, windows, resampling; and how a page reads them, thinned and cut."""

from __future__ import annotations

import numpy as np
import pytest

from sharpfield import LightField, write
from sharpfield.errors import InputError, OptionError
from sharpfield.sidebyside import Shown, Subject, aligned, windowed
from sharpfield.viewer import gather as gathering
from sharpfield.viewer import thin
from sharpfield.viewer.gather import gather
from sharpfield.viewer.thin import Thinning, plan_thinning, reduced, thinned


def field(grid=(3, 3), size=(24, 32), channels=3, name="a", seed=0) -> LightField:
    random = np.random.default_rng(seed)
    views = random.integers(0, 256, (*grid, *size, channels)).astype(np.float32) / np.float32(255)
    return LightField(views, name=name)


def halved(lf: LightField, name: str = "low") -> LightField:
    return lf.with_views(reduced(lf.views, 2), name=name)


def test_whole_factors_are_left_as_they_are():
    big = field()
    one, other = aligned([big, halved(big)])
    assert one.views is big.views
    assert other.size == (12, 16)
    assert one.notes == other.notes == ()


def test_rows_and_columns_that_do_not_divide_are_left_out_and_said():
    big = field(size=(25, 35))
    low = big.with_views(reduced(big.views, 2), name="low")  # 12 x 17
    one, other = aligned([big, low])
    assert (one.size, other.size) == ((24, 34), (12, 17))
    np.testing.assert_array_equal(one.views, big.views[:, :, :24, :34])
    assert one.notes == ("cropped at the bottom and on the right from 35x25 to 34x24",)


def test_other_grids_and_sizes_say_which_and_what_to_do():
    with pytest.raises(InputError, match=r"a has 3x3 views and b 2x3; .*--resample.* the central 2x3"):
        aligned([field(), field((2, 3), name="b")])
    with pytest.raises(
        InputError, match=r"a has views of 32x24 and b of 30x12: no whole factor .*--resample"
    ):
        aligned([field(), field(size=(12, 30), name="b")])


def test_resampled_they_have_the_central_views_and_one_size():
    one, other = aligned([field((5, 3)), field((3, 3), (13, 21), name="b")], resample=True)
    assert (one.grid, other.grid) == ((3, 3), (3, 3))
    assert one.size == other.size == (24, 32)
    np.testing.assert_array_equal(one.views, field((5, 3)).views[1:4])
    assert one.notes == ("the central 3x3 of the 5x3 views are compared",)
    assert other.notes == ("resized from 21x13 to 32x24",)
    flat = LightField(np.full((3, 3, 13, 21, 1), 0.25, np.float32))
    _, wide = aligned([field(), flat], resample=True)
    np.testing.assert_allclose(wide.views, 0.25, atol=1e-6)


def test_a_window_grows_to_whole_pixels_of_the_smallest():
    big = field()
    one, other = windowed([big, halved(big)], "3:9,4:11")
    np.testing.assert_array_equal(one.views, big.views[:, :, 2:10, 4:12])
    np.testing.assert_array_equal(other.views, halved(big).views[:, :, 1:5, 2:6])
    with pytest.raises(OptionError, match="crop"):
        windowed([big], "3:90,4:11")


# -- thinning ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "size", "step", "reduction"),
    [
        ((9, 9), (768, 768), (1, 1), 1),
        ((10, 5), (64, 64), (2, 1), 1),
        ((17, 17), (540, 375), (2, 2), 1),
        ((27, 30), (64, 64), (3, 4), 1),
        ((9, 9), (1300, 1300), (2, 2), 1),  # too many pixels for 9x9 of them: 5x5
        ((5, 5), (6000, 10000), (2, 2), 3),  # 60 megapixels
        ((1, 1), (6000, 10000), (1, 1), 3),  # a side longer than a texture may be
    ],
)
def test_how_much_a_page_holds(grid, size, step, reduction):
    plan = plan_thinning(grid, [size, (size[0] // 2, size[1] // 2)])
    assert plan == Thinning(step, reduction)
    views = np.prod([len(range(n)[kept]) for n, kept in zip(grid, plan.kept(grid), strict=True)])
    assert views * (size[0] // reduction) * (size[1] // reduction) <= thin.LARGEST_FIELD
    assert max(size) // reduction <= thin.LARGEST_SIDE


@pytest.mark.parametrize("count", range(1, 40))
@pytest.mark.parametrize("step", range(1, 6))
def test_the_views_that_stay_are_centred(count, step):
    kept = range(count)[Thinning((step, 1)).kept((count, 1))[0]]
    before, after = kept[0], count - 1 - kept[-1]
    assert 0 <= after - before <= 1 or step == 1
    assert len(kept) in (count // step, -(-count // step))


def test_reducing_is_the_mean_of_blocks():
    views = field(size=(7, 9)).views
    expected = [
        [views[..., 3 * y : 3 * y + 3, 3 * x : 3 * x + 3, :].mean((2, 3)) for x in range(3)] for y in (0, 1)
    ]
    np.testing.assert_allclose(reduced(views, 3), np.moveaxis(expected, (0, 1), (2, 3)), atol=1e-6)


# -- reading for a page --------------------------------------------------------------------------------------------


@pytest.fixture
def on_disk(tmp_path):
    big = field((3, 5), name="big")
    write(big, tmp_path / "big")
    write(halved(big), tmp_path / "low", bits=8)
    return big, tmp_path


def subject(*paths, truth=None) -> Subject:
    shown = [Shown(path.name, path) for path in paths]
    return Subject("x", shown, None if truth is None else Shown("truth", truth))


def test_what_is_read_is_what_was_written_under_its_label(on_disk):
    big, folder = on_disk
    read = gather(subject(folder / "big", folder / "low", truth=folder / "big"))
    assert [lf.name for lf in read.fields] == ["big", "low"]
    assert read.truth is not None
    assert read.truth.name == "truth"
    np.testing.assert_array_equal(read.fields[0].views, big.views)


def test_a_window_is_cut_while_it_is_read(on_disk, monkeypatch):
    _, folder = on_disk
    whole = gather(subject(folder / "big", folder / "low"))
    expected = windowed(whole.fields, "3:9,4:11")
    monkeypatch.setattr(gathering, "windowed", None)  # not after it was read
    read = gather(subject(folder / "big", folder / "low"), window="3:9,4:11")
    for one, other in zip(read.fields, expected, strict=True):
        np.testing.assert_array_equal(one.views, other.views)
    with pytest.raises(OptionError, match="crop"):
        gather(subject(folder / "big"), window="0:25,0:10")


def test_sizes_that_must_be_made_alike_are_cut_after_that(on_disk):
    big, folder = on_disk
    write(field((3, 5), (13, 21), 1), folder / "odd")
    read = gather(subject(folder / "big", folder / "odd"), window="3:9,4:11", resample=True)
    assert [lf.size for lf in read.fields] == [(6, 7), (6, 7)]
    np.testing.assert_array_equal(read.fields[0].views, big.views[:, :, 3:9, 4:11])


def test_more_than_a_page_holds_is_thinned_while_it_is_read(on_disk, monkeypatch):
    big, folder = on_disk
    monkeypatch.setattr(thin, "LARGEST_GRID", 3)
    monkeypatch.setattr(thin, "LARGEST_SIDE", 16)
    read = gather(subject(folder / "big", folder / "low"))
    plan = Thinning((1, 2), 2)
    assert [lf.size for lf in read.fields] == [(12, 16), (6, 8)]
    np.testing.assert_allclose(read.fields[0].views, thinned(big, plan).views, atol=0.5 / 255 + 1e-6)
    assert read.fields[0].notes == (
        "3x3 of the 3x5 views are on the page, evenly spread",
        "views of 32x24 are shown reduced 2 times; take a window of them (--window) to see every pixel",
    )
    assert gather(subject(folder / "big"), window="0:16,0:16").fields[0].size == (16, 16)


def test_with_a_truth_every_pixel_is_read_to_be_measured_where_that_fits_into_memory(on_disk, monkeypatch):
    _, folder = on_disk
    monkeypatch.setattr(thin, "LARGEST_SIDE", 16)
    read = gather(subject(folder / "big", truth=folder / "big"))
    assert read.fields[0].size == (24, 32)
    assert read.fields[0].notes == ()
    monkeypatch.setattr(gathering, "physical_memory", lambda: 100_000)
    read = gather(subject(folder / "big", truth=folder / "big"))
    assert read.fields[0].size == (12, 16)
    assert "are those of the reduced views" in read.fields[0].notes[-1]


def test_nothing_and_other_grids_are_refused_before_anything_is_read(on_disk):
    _, folder = on_disk
    write(field((2, 5)), folder / "fewer")
    with pytest.raises(InputError, match="there is no result"):
        gather(Subject("x", []))
    (folder / "fewer" / "view_00_01.png").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"big has 3x5 views and fewer 2x5; .*--resample"):
        gather(subject(folder / "big", folder / "fewer"))
