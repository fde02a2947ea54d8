"""A real Chromium without a screen, and pages opened in it from disk: what they say, ask for and show is caught."""

from __future__ import annotations

import base64
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# as on a machine without a graphics processor: WebGL in software; nothing that talks to the network
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--force-color-profile=srgb",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_NAMES = ("chromium", "chromium-browser", "google-chrome")

_PIXELS = """(rectangle) => {
  const pixels = sharpfield.pixels(rectangle);
  let text = '';
  for (let i = 0; i < pixels.length; i += 8192) text += String.fromCharCode(...pixels.subarray(i, i + 8192));
  return btoa(text);
}"""


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Chromium is; tests are skipped where there is none."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("no Chromium is installed here (Debian: apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def engine() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(chromium, engine) -> Iterator[Any]:
    running = engine.chromium.launch(executable_path=chromium, args=FLAGS)
    yield running
    running.close()


@dataclass
class Shown:
    """A page in the browser."""

    tab: Any
    troubles: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def js(self, text: str, value: Any = None) -> Any:
        return self.tab.evaluate(text, value)

    def change(self, **values: Any) -> None:
        self.js("(values) => sharpfield.change(values)", values)
        self.js("() => sharpfield.ready")

    @property
    def state(self) -> dict[str, Any]:
        return self.js("() => ({...sharpfield.state})")

    @property
    def places(self) -> dict[str, Any]:
        return self.js("() => sharpfield.places")

    def pixels(self, rectangle: dict[str, int]) -> np.ndarray:
        """Return what is on the canvas: (y, x, 3) uint8."""
        data = base64.b64decode(self.js(_PIXELS, rectangle))
        return np.frombuffer(data, np.uint8).reshape(rectangle["height"], rectangle["width"], 4)[..., :3]

    def frame(self) -> np.ndarray:
        """Return what the page shows of the whole frame at 100 %."""
        height, width = self.js("() => sharpfield.page.frame")
        self.change(zoom=1, x=width / 2, y=height / 2)
        view = self.places["view"]
        place = self.places["picture"]
        assert place["width"] >= width
        assert place["height"] >= height, "the window is too small for this test"
        return self.pixels({"x": view["left"], "y": view["top"], "width": width, "height": height})

    def settled(self) -> None:
        """Wait until the viewpoint rests on a view."""
        self.wait("() => !sharpfield.state.moving && Number.isInteger(sharpfield.state.u)")

    def wait(self, condition: str, seconds: float = 10.0) -> None:
        """Ask until it is so (the browser's own waiting is refused by the page's content security policy)."""
        end = time.monotonic() + seconds
        while not self.js(condition):
            assert time.monotonic() < end, condition
            self.tab.wait_for_timeout(20)

    def center(self) -> tuple[float, float]:
        """Return the middle of the picture in the window."""
        box = self.tab.locator("#canvas").bounding_box()
        picture = self.places["picture"]
        return box["x"] + picture["width"] / 2, box["y"] + picture["height"] / 2


@pytest.fixture
def show(browser) -> Iterator[Callable[..., Shown]]:
    """Open pages from disk, offline; complaints of the page and requests for anything else fail the test."""
    opened: list[Shown] = []

    def open_page(
        path: Path, *, width: int = 1000, height: int = 700, wait: bool = True, **settings: Any
    ) -> Shown:
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        context.set_offline(True)
        shown = Shown(context.new_page())
        shown.tab.on("console", lambda said: said.type == "error" and shown.troubles.append(said.text))
        shown.tab.on("pageerror", lambda error: shown.troubles.append(str(error)))
        shown.tab.on("request", lambda request: shown.requests.append(request.url))
        shown.tab.goto(path.as_uri())
        if wait:
            shown.js("() => sharpfield.ready")
        opened.append(shown)
        return shown

    yield open_page
    for shown in opened:
        assert shown.troubles == []
        assert [url for url in shown.requests[1:] if not url.startswith(("blob:", "data:"))] == []
        shown.tab.context.close()
