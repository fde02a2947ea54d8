"""The page: its size before and after, the first picture after loading from disk, frames a second while dragging.

Chromium renders in software here, as on a machine without a graphics card: the slowest case that there is.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import sharpfield as sf
from benchmarks.common import truth_and_low
from sharpfield.viewer import PageOptions, write_page

LIGHT_FIELD = "hciold_buddha"  # 5x5 views of 768x768
LOADS = 7
SECONDS = 4.0  # of dragging

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)
_WINDOW = {"width": 1260, "height": 1050}  # the picture has its 768x768 pixels of the screen, and room


def main() -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        sys.exit("no Chromium is installed here (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    truth, low = truth_and_low(LIGHT_FIELD, 2)
    result = sf.upscale(low, 2, method="bicubic")
    # of views as sharp as the truth: what a good method makes costs more bytes than what interpolation makes
    pairs = {"before and after": ([truth, low], None), "with a truth, errors": ([result, low], truth)}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as engine:
        pages = []
        for name, (fields, original) in pairs.items():
            path = Path(folder) / f"{len(pages)}.html"
            began = time.process_time()
            made = write_page(path, fields, truth=original, options=PageOptions(title=name))
            spent = time.process_time() - began
            print(
                f"{name:<22} {made.size / 1e6:5.1f} MB, quality {made.quality}, made in {spent:.0f} s of processor time"
            )
            pages.append(path)
        browser = engine.chromium.launch(executable_path=chromium, args=list(_FLAGS))
        firsts, wholes = zip(*(_load(browser, pages[0]) for _ in range(LOADS)), strict=True)
        print(f"first picture          {_spread(firsts)} ms after loading from disk begins")
        print(f"all views of two       {_spread(wholes)} ms")
        for epipolar in (True, False):
            with_them = "with" if epipolar else "without"
            frames, spent, draft = _drag(browser, pages[0], epipolar)
            coarse = ", drafts of half the resolution" if draft else ""
            print(
                f"dragging at 768x768    {frames:.0f} frames a second {with_them} epipolar images{coarse}; "
                f"{1000 * spent:.0f} ms of the browser's processor time a frame"
            )
        browser.close()


def _open(browser: Any, path: Path) -> Any:
    tab = browser.new_context(viewport=_WINDOW, offline=True).new_page()
    tab.goto(path.as_uri())
    return tab


def _load(browser: Any, path: Path) -> tuple[float, float]:
    tab = _open(browser, path)
    tab.evaluate("() => sharpfield.ready")
    found = tab.evaluate("() => [sharpfield.firstPicture, performance.now()]")
    tab.context.close()
    return found[0], found[1]


def _drag(browser: Any, path: Path, epipolar: bool) -> tuple[float, float, bool]:
    """Drag to and fro over the grid: frames a second, processor seconds a frame, whether they were drafts."""
    tab = _open(browser, path)
    tab.evaluate("() => sharpfield.ready")
    tab.evaluate("(epipolar) => sharpfield.change({zoom: 1, epipolar})", epipolar)
    box = tab.locator("#canvas").bounding_box()
    x, y = box["x"] + 300, box["y"] + 300
    tab.mouse.move(x, y)
    tab.mouse.down()
    for part in (0.5, SECONDS):  # the first is for the page to find its pace
        count, began, step = tab.evaluate("() => sharpfield.draws"), time.perf_counter(), 0
        work = _processor_seconds()
        while time.perf_counter() - began < part:
            step += 1
            tab.mouse.move(x + 150 * ((step % 40) / 20 - 1), y + 100 * ((step % 30) / 15 - 1))
        spent, work = time.perf_counter() - began, _processor_seconds() - work
        drawn = tab.evaluate("() => sharpfield.draws") - count
    draft = tab.evaluate("() => sharpfield.draft")
    tab.mouse.up()
    tab.context.close()
    return drawn / spent, work / max(1, drawn), draft


def _processor_seconds() -> float:
    """Return what the browser that this process has started has used so far, all its processes together."""
    ticks, parents = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (place / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        fields = rest.split()
        parents[int(place.name)] = int(fields[1])
        ticks[int(place.name)] = int(fields[11]) + int(fields[12]) if "chrom" in name else 0
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(ticks.get(pid, 0) for pid in ours) / os.sysconf("SC_CLK_TCK")


def _spread(values: tuple[float, ...]) -> str:
    return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"
