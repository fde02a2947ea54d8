"""A light field as a moving picture: the viewpoint swings from side to side, or circles around the middle.

GIF and WebP are written with Pillow alone; MP4 by ffmpeg, where there is one.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sharpfield.errors import InputError, OptionError, OutputError
from sharpfield.io.atomic import check_free, replacing
from sharpfield.lightfield import LightField
from sharpfield.parallel import Workers
from sharpfield.pictures import picture
from sharpfield.progress import Progress, ProgressCallback, part, silent
from sharpfield.viewer.measure import focus_range
from sharpfield.viewer.viewpoint import look

MOTIONS = ("wiggle", "orbit")
ENDINGS = (".gif", ".webp", ".mp4")

_COLORS = 255  # of a GIF: one palette for all frames, or still things would flicker
_PALETTE_PIXELS = 400_000  # that the palette is chosen from

Frame = NDArray[np.uint8]


@dataclass(frozen=True)
class Motion:
    """How the viewpoint moves.

    Parameters
    ----------
    kind
        `wiggle`, from side to side (up and down where there is one column of views), or `orbit`, around the middle.
    reach
        Share of the way to the outermost views, 0 to 1.
    seconds
        How long a turn takes.
    rate
        Frames a second.
    focus
        The disparity that stands still, in pixels; the median of the views when None.
    aperture
        How many views on either side are seen through: 0 is a pinhole, more blurs what is out of focus.
    """

    kind: str = "wiggle"
    reach: float = 0.9
    seconds: float = 2.0
    rate: float = 20.0
    focus: float | None = None
    aperture: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in MOTIONS:
            raise OptionError(f"a motion is {' or '.join(MOTIONS)}, not {self.kind!r}")
        if not 0 < self.reach <= 1:
            raise OptionError(f"reach is above 0 and at most 1, not {self.reach!r}")
        if not (0 < self.seconds <= 60 and 1 <= self.rate <= 60):
            raise OptionError(
                f"a turn takes up to 60 seconds at 1 to 60 frames a second, not {self.seconds!r} and {self.rate!r}"
            )
        if not (math.isfinite(self.aperture) and self.aperture >= 0):
            raise OptionError(f"aperture is at least 0, not {self.aperture!r}")
        if self.focus is not None and not math.isfinite(self.focus):
            raise OptionError(f"focus is a number of pixels, not {self.focus!r}")

    def path(self, grid: tuple[int, int]) -> list[tuple[float, float]]:
        """Return the viewpoints (v, u) of one turn; the first follows the last."""
        middle = [(count - 1) / 2 for count in grid]
        swing = [self.reach * each for each in middle]
        if self.kind == "wiggle":
            # a picture in two directions at once makes dizzy: rows swing only where there is nothing else
            swing[0] = 0.0 if swing[1] else swing[0]
        count = max(2, round(self.seconds * self.rate))
        angles = 2 * np.pi * np.arange(count) / count
        down = np.sin(angles) if self.kind == "wiggle" else -np.cos(angles)
        return [
            (float(middle[0] + swing[0] * d), float(middle[1] + swing[1] * r))
            for d, r in zip(down, np.sin(angles), strict=True)
        ]


def animate(
    lf: LightField,
    path: str | Path,
    motion: Motion | None = None,
    *,
    overwrite: bool = False,
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Path:
    """Write a moving picture of a light field and return where it is.

    Parameters
    ----------
    lf
        Two views at least.
    path
        Ends in .gif, .webp or .mp4.
    motion
        How the viewpoint moves.
    overwrite
        Replace what is there.
    threads
        How many threads; all processors when None.
    progress
        Told how far it is.
    """
    motion, final = motion or Motion(), Path(path)
    ending = final.suffix.lower()
    if ending not in ENDINGS:
        raise OptionError(f"{final}: the name of an animation ends in {', '.join(ENDINGS)}")
    encoder = find_ffmpeg() if ending == ".mp4" else ""
    check_free(final, overwrite=overwrite, folder=False)
    if lf.grid == (1, 1):
        raise InputError(
            f"{lf.name}: has a single view, and nothing moves; give a light field of two views or more"
        )
    with Workers(threads) as workers:
        focus = motion.focus
        if focus is None:
            progress(Progress("measuring disparity", 0.0))
            focus = focus_range(lf, 1.0, None, workers).start
        frames = _frames(lf, motion, focus, workers, part(progress, 0.1, 0.8))
    progress(Progress("writing", 0.8))
    with replacing(final, overwrite=overwrite) as temporary:
        if ending == ".mp4":
            _write_mp4(frames, temporary, motion.rate, encoder, final)
        else:
            _write_pillow(frames, temporary, motion.rate, ending)
    progress(Progress("done", 1.0))
    return final


def find_ffmpeg() -> str:
    """Return the program that encodes MP4, or say how to get one."""
    if importlib.util.find_spec("imageio_ffmpeg") is not None:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    found = shutil.which("ffmpeg")
    if found is None:
        raise OptionError(
            "MP4 needs ffmpeg, and there is none here: install it (pip install imageio-ffmpeg), "
            "or write .webp or .gif"
        )
    return found


def _frames(
    lf: LightField, motion: Motion, focus: float, workers: Workers, progress: ProgressCallback
) -> list[Frame]:
    path = motion.path(lf.grid)
    inside = _window_always_seen(lf, motion, focus)
    done = 0

    def frame(place: tuple[float, float]) -> Frame:
        nonlocal done
        image = picture(look(lf, *place, focus=focus, aperture=motion.aperture, steady=True)[inside])
        done += 1
        progress(Progress("drawing frames", done / len(path)))
        return image

    return workers.map(frame, path)


def _window_always_seen(lf: LightField, motion: Motion, focus: float) -> tuple[slice, slice]:
    """Return the pixels that no frame lacks: holding the focus still moves the frames by up to its disparity a view.

    Half of the picture stays in any case; what a frame lacks there continues its border.
    """
    path = np.array(motion.path(lf.grid))
    swings = np.abs(path - (np.array(lf.grid) - 1) / 2).max(axis=0)
    margins = [
        min(math.ceil(abs(focus) * swing - 1e-6), side // 4)
        for swing, side in zip(swings, lf.size, strict=True)
    ]
    return slice(margins[0], lf.size[0] - margins[0]), slice(margins[1], lf.size[1] - margins[1])


def _write_pillow(frames: Sequence[Frame], path: Path, rate: float, ending: str) -> None:
    images = [Image.fromarray(frame) for frame in frames]
    milliseconds = round(1000 / rate)
    if ending == ".webp":
        images[0].save(
            path,
            "WEBP",
            save_all=True,
            append_images=images[1:],
            duration=milliseconds,
            loop=0,
            quality=85,
            method=4,
        )
        return
    palette = _palette(frames)
    drawn = [image.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG) for image in images]
    # a GIF counts hundredths of a second
    drawn[0].save(
        path,
        "GIF",
        save_all=True,
        append_images=drawn[1:],
        duration=max(20, milliseconds // 10 * 10),
        loop=0,
        disposal=1,
    )


def _palette(frames: Sequence[Frame]) -> Image.Image:
    """Return an image with the colors that serve pixels of all frames best."""
    chosen = np.concatenate([frame.reshape(-1, 3) for frame in frames[:: max(1, len(frames) // 4)]])
    chosen = chosen[:: max(1, len(chosen) // _PALETTE_PIXELS)]
    return Image.fromarray(chosen[None]).quantize(_COLORS, method=Image.Quantize.MEDIANCUT)


def _write_mp4(frames: Sequence[Frame], path: Path, rate: float, encoder: str, final: Path) -> None:
    """Encode with ffmpeg; colors are stored at half the resolution, so sides are made even."""
    height, width = (side // 2 * 2 for side in frames[0].shape[:2])
    command = [encoder, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{width}x{height}", "-r", f"{rate:g}", "-i", "-", "-an", "-pix_fmt", "yuv420p"]
    command += ["-crf", "18", "-movflags", "+faststart", "-f", "mp4", str(path)]
    data = b"".join(_bytes(frames, height, width))
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise OutputError(
            f"{final}: ffmpeg failed: {said[-1] if said else done.returncode}; write .webp or .gif"
        )


def _bytes(frames: Sequence[Frame], height: int, width: int) -> Iterator[bytes]:
    for frame in frames:
        yield np.ascontiguousarray(frame[:height, :width]).tobytes()
