"""Moving pictures: the path of the viewpoint, the frames, and the files."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from commandline import refused, run
from PIL import Image, ImageSequence

from sharpfield import LightField, write
from sharpfield import animate as module
from sharpfield.animate import Motion, animate
from sharpfield.errors import InputError, OptionError
from sharpfield.pictures import picture
from sharpfield.synthetic import fronto_parallel
from sharpfield.viewer import look

SHORT = Motion("orbit", seconds=0.5, rate=20, focus=0.0)


@pytest.fixture(scope="module")
def plane() -> LightField:
    return fronto_parallel((3, 3), (40, 48), 1.0, 4).lightfield


def frames(path) -> list[np.ndarray]:
    with Image.open(path) as image:
        assert image.info.get("loop") == 0 or image.n_frames == 1
        return [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]


def test_a_path_is_closed_and_stays_inside():
    for grid in ((5, 5), (1, 5), (4, 1), (2, 3)):
        for kind in module.MOTIONS:
            path = np.array(Motion(kind, reach=1.0).path(grid))
            assert len(path) == 40
            assert (path >= 0).all()
            assert (path <= np.array(grid) - 1).all()
            np.testing.assert_allclose(path.mean(axis=0), (np.array(grid) - 1) / 2, atol=1e-9)
    wiggle = np.array(Motion("wiggle").path((5, 5)))
    assert (wiggle[:, 0] == 2).all()
    assert np.array(Motion("wiggle").path((4, 1)))[:, 0].std() > 0.5
    orbit = np.array(Motion("orbit", reach=0.5).path((5, 5))) - 2
    np.testing.assert_allclose(np.hypot(*orbit.T), 1.0)


@pytest.mark.parametrize("ending", ["webp", "gif"])
def test_frames_are_what_is_seen_on_the_way(plane, tmp_path, ending):
    made = frames(animate(plane, tmp_path / f"orbit.{ending}", SHORT))
    assert len(made) == 10
    for frame, place in zip(made, SHORT.path(plane.grid), strict=True):
        expected = picture(look(plane, *place)).astype(int)
        assert frame.shape == (40, 48, 3)
        # compressed, or of 255 colors: near on the whole
        assert np.abs(frame - expected).mean() < 9


def test_in_focus_it_stands_still(plane, tmp_path):
    moving = frames(animate(plane, tmp_path / "a.webp", SHORT))
    still = frames(animate(plane, tmp_path / "b.webp", Motion("orbit", seconds=0.5, focus=1.0)))
    assert still[0].shape == (38, 46, 3)  # 0.9 of a view from the middle: a pixel less on every side

    assert np.abs(np.diff(np.array(moving, float), axis=0)).mean() > 3
    assert len(still) == 1  # frames that are all the same are stored once


def test_mp4_is_written_where_there_is_an_encoder(plane, tmp_path, monkeypatch):
    if shutil.which("ffmpeg") is None and not _has_imageio_ffmpeg():
        assert "MP4 needs ffmpeg" in refused("animate", write(plane, tmp_path / "plane"), tmp_path / "a.mp4")
        pytest.skip("no ffmpeg is installed here")
    data = animate(plane, tmp_path / "a.mp4", SHORT).read_bytes()
    assert data[4:8] == b"ftyp"


def _has_imageio_ffmpeg() -> bool:
    import importlib.util

    return importlib.util.find_spec("imageio_ffmpeg") is not None


def test_mp4_gets_the_frames_and_a_failure_is_told(plane, tmp_path, monkeypatch):
    """A program in the place of ffmpeg that keeps its input, or fails."""
    fake = tmp_path / "ffmpeg"
    fake.write_text(
        '#!/bin/sh\nfor last; do :; done\nif [ "$FAIL" ]; then echo broken >&2; exit 3; fi\ncat > "$last"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setattr(module, "find_ffmpeg", lambda: str(fake))
    cut = plane.crop(slice(39), slice(47))
    data = np.frombuffer(animate(cut, tmp_path / "a.mp4", SHORT).read_bytes(), np.uint8)
    made = data.reshape(10, 38, 46, 3)  # even sides
    first = picture(look(cut, *SHORT.path(cut.grid)[0], focus=0.0))
    np.testing.assert_array_equal(made[0], first[:38, :46])
    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(Exception, match=r"b\.mp4: ffmpeg failed: broken"):
        animate(cut, tmp_path / "b.mp4", SHORT)
    assert not (tmp_path / "b.mp4").exists()


def test_without_an_encoder_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    with pytest.raises(OptionError, match=r"MP4 needs ffmpeg.*or write \.webp or \.gif"):
        module.find_ffmpeg()


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "zoom"},
        {"reach": 0},
        {"reach": 1.1},
        {"seconds": 0},
        {"rate": 100},
        {"aperture": -1},
        {"focus": float("nan")},
    ],
)
def test_motions_without_meaning(given):
    with pytest.raises(OptionError):
        Motion(**given)


def test_the_command(plane, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(plane, tmp_path / "plane")
    said = run("animate", "plane", "--seconds", 0.25, "--quiet", "--focus", 0)
    assert (said.status, said.out) == (0, "")
    assert len(frames(tmp_path / "plane.webp")) == 5
    assert "exists" in refused("animate", "plane")
    said = run("animate", "plane", "o.gif", "--motion", "orbit", "--seconds", 0.3, "--json", "-q")
    assert said.json["bytes"] == (tmp_path / "o.gif").stat().st_size
    assert "ends in .gif, .webp, .mp4" in refused("animate", "plane", "a.avi")
    with pytest.raises(InputError, match="has a single view"):
        animate(plane.select(slice(1), slice(1)), tmp_path / "one.gif")
    assert "has a single view" in refused("animate", "plane", "one.gif", "--views", "1x1")


@pytest.mark.parametrize("focus", [-1.0, 0.0, 1.0, 30.0])
def test_frames_show_only_what_every_frame_has(focus):
    random = np.random.default_rng(0)
    lf = LightField(random.random((3, 5, 40, 48, 3), dtype=np.float32))
    y, x = module._window_always_seen(lf, Motion("orbit", reach=0.5), focus)
    if focus == 30:
        assert (y, x) == (slice(10, 30), slice(12, 36))
        return
    margins = int(np.ceil(0.5 * abs(focus))), int(np.ceil(abs(focus)))
    assert (y, x) == (slice(margins[0], 40 - margins[0]), slice(margins[1], 48 - margins[1]))
