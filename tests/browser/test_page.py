"""The page in a real browser: what is on the canvas against the light fields themselves, and every way to move it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from sharpfield import LightField
from sharpfield.io.pictures import quantize
from sharpfield.observe import Camera, degrade
from sharpfield.pictures import epipolar_image, heat
from sharpfield.viewer import PageOptions, look, write_page
from sharpfield.viewer.measure import LARGEST_ERROR, error_codes, psnr_of_views

GRID, SIZE = (3, 5), (96, 144)
NEAR, FAR = 2, -1  # disparities of the left and the right half


def two_planes(seed: int = 0, channels: int = 3, grid: tuple[int, int] = GRID) -> LightField:
    """A near plane in the left half of every view, a far one in the right half, both with fine texture."""
    random = np.random.default_rng(seed)
    height, width = SIZE
    margin = 12
    views = np.empty((*grid, *SIZE, channels))
    middle = grid[0] // 2, grid[1] // 2
    for half, disparity in ((slice(0, width // 2), NEAR), (slice(width // 2, width), FAR)):
        noise = random.standard_normal((height + 2 * margin, width + 2 * margin, channels))
        texture = np.clip(0.5 + 0.7 * gaussian_filter(noise, (0.8, 0.8, 0)), 0, 1)
        for v, u in np.ndindex(grid):
            y, x = margin + (v - middle[0]) * disparity, margin + (u - middle[1]) * disparity
            views[v, u, :, half] = texture[y : y + height, x : x + width][:, half]
    exact = LightField(views.astype(np.float32), name="result")
    return exact.with_views(quantize(exact.views, 8))


@pytest.fixture(scope="module")
def result() -> LightField:
    return two_planes()


@pytest.fixture(scope="module")
def low(result) -> LightField:
    return degrade(result, Camera(2)).with_views(degrade(result, Camera(2)).views, name="low")


OPTIONS = PageOptions(quality="lossless", disparity=(-2, 3), title="Two planes")


@pytest.fixture(scope="module")
def page(result, low, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(path, [result, low], options=OPTIONS)
    return path


def eight(image: np.ndarray) -> np.ndarray:
    return quantize(image, 8)


def test_it_opens_with_both_light_fields_side_by_side(show, page, result, low):
    shown = show(page)
    seen = shown.frame()
    split = shown.places["split"] - shown.places["view"]["left"]
    assert 40 < split < 100
    big = np.repeat(np.repeat(eight(low.views[1, 2]), 2, 0), 2, 1)
    np.testing.assert_array_equal(seen[:, split:], eight(result.views[1, 2])[:, split:])
    # a pixel of the low-resolution view is two pixels wide; its edges blend over less than one
    np.testing.assert_allclose(seen[:, :split].astype(int), big[:, :split], atol=1)
    assert shown.tab.title() == "Two planes"
    assert shown.tab.locator("#subtitle").inner_text() == "3 × 5 views of 144 × 96 and 72 × 48 pixels"
    assert 0 < shown.js("sharpfield.firstPicture") < 10_000


def test_the_screen_shows_what_is_on_the_canvas(show, page, result):
    shown = show(page)
    shown.frame()
    shown.change(epipolar=False)
    shown.change(split=0)
    view, box = shown.places["view"], shown.tab.locator("#canvas").bounding_box()
    y, x = slice(40, 90), slice(20, 120)  # no label lies there
    clip = {
        "x": box["x"] + view["left"] + x.start,
        "y": box["y"] + view["top"] + y.start,
        "width": 100,
        "height": 50,
    }
    picture = np.asarray(Image.open(BytesIO(shown.tab.screenshot(clip=clip))).convert("RGB"))
    np.testing.assert_array_equal(picture, eight(result.views[1, 2])[y, x])


def test_the_split_shows_the_left_and_the_right_light_field(show, page, result, low):
    shown = show(page)
    shown.change(split=0)
    np.testing.assert_array_equal(shown.frame(), eight(result.views[1, 2]))
    shown.change(split=1)
    big = np.repeat(np.repeat(eight(low.views[1, 2]), 2, 0), 2, 1)
    np.testing.assert_allclose(shown.frame().astype(int), big, atol=1)
    handle = shown.tab.locator("#split").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 3
    shown.tab.mouse.move(x, y)
    shown.tab.mouse.down()
    shown.tab.mouse.move(x - 200, y, steps=4)
    shown.tab.mouse.up()
    width = shown.places["picture"]["width"]
    assert shown.state["split"] == pytest.approx(1 - 200 / width, abs=2 / width)
    shown.tab.click("#swap")
    assert (shown.state["left"], shown.state["right"]) == (0, 1)


def test_dragging_moves_to_the_expected_view(show, page, result):
    shown = show(page)
    shown.change(split=0)
    step = shown.js("sharpfield.dragPerView")
    x, y = shown.center()
    shown.tab.mouse.move(x, y)
    shown.tab.mouse.down()
    shown.tab.mouse.move(x - 0.5 * step, y, steps=3)
    assert shown.state["u"] == pytest.approx(2.5, abs=0.03)
    shown.tab.mouse.move(x - 2.1 * step, y + 0.9 * step, steps=3)
    shown.tab.mouse.up()
    shown.settled()
    # to the left: the camera goes right; down: it goes up
    assert (shown.state["v"], shown.state["u"]) == (0, 4)
    np.testing.assert_array_equal(shown.frame(), eight(result.views[0, 4]))


@pytest.mark.parametrize(
    ("v", "u", "focus", "aperture"), [(1, 1.5, 2, 0), (0.3, 2.8, -0.6, 0), (1.2, 2.5, 0.35, 1.3)]
)
def test_between_views_it_shows_what_numpy_computes(show, page, result, v, u, focus, aperture):
    shown = show(page)
    shown.change(split=0, v=v, u=u, focus=focus, aperture=aperture)
    expected = eight(look(result, v, u, focus, aperture)).astype(int)
    # textures are read at positions of 8 bits: 1/256 of a pixel, on texture as steep as this
    np.testing.assert_allclose(shown.frame().astype(int), expected, atol=2)


def test_refocusing_sharpens_one_plane_and_blurs_the_other(show, page):
    shown = show(page)
    energy = {}
    for focus in (NEAR, FAR):
        shown.change(split=0, focus=focus, aperture=4)
        seen = shown.frame().astype(float)[20:-20, 10:-10]
        gradient = np.square(np.diff(seen, axis=1)).mean(axis=(0, 2))
        energy[focus] = gradient[: SIZE[1] // 2 - 20].mean(), gradient[SIZE[1] // 2 :].mean()
    assert energy[NEAR][0] > 4 * energy[FAR][0]
    assert energy[FAR][1] > 4 * energy[NEAR][1]


def test_a_double_click_focuses_on_what_is_there(show, page):
    shown = show(page)
    for x, disparity in ((30, NEAR), (115, FAR)):
        shown.frame()
        view, box = shown.places["view"], shown.tab.locator("#canvas").bounding_box()
        shown.tab.mouse.dblclick(box["x"] + view["left"] + x, box["y"] + view["top"] + 50)
        assert shown.state["focus"] == pytest.approx(disparity, abs=0.06)


@pytest.mark.parametrize("side", ["left", "right"])
def test_epipolar_images_are_those_of_python(show, page, result, low, side):
    shown = show(page)
    lf = result if side == "right" else low
    factor = SIZE[1] // lf.size[1]
    shown.change(v=2, u=1, line={"x": 100, "y": 37, "held": True})
    shown.frame()
    places = shown.places
    row, column = places["row"][side], places["column"][side]
    expected = epipolar_image(lf, row=37 // factor, v=2, thickness=places["thickRow"])
    expected = np.repeat(expected, factor, 1)
    seen = shown.pixels({**row, "x": places["view"]["left"], "width": SIZE[1]})
    np.testing.assert_allclose(seen.astype(int), expected, atol=2)
    expected = epipolar_image(lf, column=100 // factor, u=1, thickness=places["thickColumn"])
    expected = np.repeat(expected, factor, 1).swapaxes(0, 1)
    seen = shown.pixels({**column, "y": places["view"]["top"], "height": SIZE[0]})
    np.testing.assert_allclose(seen.astype(int), expected, atol=2)


def test_the_epipolar_line_follows_the_pointer_until_it_is_held(show, page):
    shown = show(page)
    shown.frame()
    view, box = shown.places["view"], shown.tab.locator("#canvas").bounding_box()
    left, top = box["x"] + view["left"], box["y"] + view["top"]
    shown.tab.mouse.move(left + 20.5, top + 30.5)
    assert shown.state["line"] == {"x": 20, "y": 30, "held": False}
    shown.tab.mouse.click(left + 20.5, top + 30.5)
    shown.tab.mouse.move(left + 100.5, top + 50.5)
    assert shown.state["line"] == {"x": 20, "y": 30, "held": True}
    shown.tab.keyboard.press("Shift+L")
    shown.tab.keyboard.press("k")
    assert shown.state["line"] == {"x": 30, "y": 31, "held": True}
    shown.tab.keyboard.press("Escape")
    shown.tab.mouse.move(left + 101.5, top + 50.5)
    assert shown.state["line"]["x"] == 101


def test_the_wheel_zooms_around_the_pointer_to_crisp_pixels(show, page, result):
    shown = show(page)
    shown.change(split=0, epipolar=False)
    before = shown.frame()
    view, box = shown.places["view"], shown.tab.locator("#canvas").bounding_box()
    shown.tab.mouse.move(box["x"] + view["left"] + 50.5, box["y"] + view["top"] + 40.5)
    for _ in range(4):
        shown.tab.mouse.wheel(0, -600)
    shown.wait("() => sharpfield.state.zoom === 8")
    shown.js("() => new Promise(requestAnimationFrame)")
    view = shown.places["view"]
    x, y = int(view["left"] + 50 * 8), int(view["top"] + 40 * 8)
    block = shown.pixels({"x": x, "y": y, "width": 8, "height": 8})
    # one pixel of the view fills its block, but for the blend over the edge
    np.testing.assert_array_equal(block[1:-1, 1:-1], np.broadcast_to(before[40, 50], (6, 6, 3)))
    shown.tab.mouse.down(button="right")
    left = view["left"]
    shown.tab.mouse.move(box["x"] + 300, box["y"] + 300)
    shown.tab.mouse.up(button="right")
    assert shown.places["view"]["left"] != left
    assert (shown.state["v"], shown.state["u"]) == (1, 2)


def test_everything_is_done_with_the_keyboard(show, page):
    shown = show(page)
    press = shown.tab.keyboard.press
    press("ArrowRight")
    press("ArrowUp")
    assert (shown.state["v"], shown.state["u"]) == (0, 3)
    assert "view 0, 3" in shown.tab.locator("#said").inner_text()
    for _ in range(5):
        press("ArrowRight")
    assert shown.state["u"] == 4
    press("1")
    press("+")
    assert shown.state["zoom"] == 1.5
    x = shown.state["x"]
    press("Shift+ArrowRight")
    assert shown.state["x"] > x
    press("0")
    assert shown.state["zoom"] == 0
    focus = shown.state["focus"]
    press("]")
    assert shown.state["focus"] == pytest.approx(focus + 0.1)
    press("a")
    assert shown.state["aperture"] == 0.5
    press(".")
    assert shown.state["split"] == pytest.approx(0.55)
    press("x")
    assert (shown.state["left"], shown.state["right"]) == (0, 1)
    press("e")
    assert not shown.state["epipolar"]
    press("o")
    assert shown.state["orbit"]
    shown.wait("() => sharpfield.state.u !== 4")
    press("o")
    shown.settled()
    press("?")
    assert shown.tab.locator("#keys").is_visible()
    press("Escape")
    assert not shown.tab.locator("#keys").is_visible()


NAMELESS = """() => [...document.querySelectorAll('button, input, select, [role=slider]')]
  .filter((e) => !e.textContent.trim() && !e.ariaLabel)
  .filter((e) => ![...(e.labels || [])].some((label) => label.textContent.trim()))
  .map((e) => e.id)"""


def test_every_control_is_reached_by_tab_and_says_its_name(show, page):
    shown = show(page)
    shown.js("() => document.activeElement.blur()")
    reached = {}
    for _ in range(40):
        shown.tab.keyboard.press("Tab")
        name = shown.js("() => document.activeElement.id || document.activeElement.tagName")
        if name in reached:
            break
        reached[name] = True
    wanted = {
        "theme",
        "help",
        "drag-view",
        "orbit",
        "swap",
        "zoom-in",
        "zoom-out",
        "zoom-one",
        "zoom-fit",
        "canvas",
    }
    assert wanted | {"split", "left", "right", "focus", "aperture", "epipolar", "smooth"} <= set(reached)
    nameless = shown.js(NAMELESS)
    assert nameless == []
    # a slider keeps its keys while it has the focus
    shown.tab.locator("#split").focus()
    shown.tab.keyboard.press("End")
    shown.tab.locator("#focus").focus()
    focus = shown.state["focus"]
    shown.tab.keyboard.press("ArrowRight")
    assert shown.state["split"] == 1
    assert shown.state["u"] == 2
    assert shown.state["focus"] > focus


@pytest.mark.parametrize(("width", "height"), [(360, 740), (320, 568), (740, 360)])
def test_a_narrow_window_has_no_horizontal_scroll(show, page, width, height):
    shown = show(page, width=width, height=height, device_scale_factor=2, has_touch=True)
    assert shown.js("document.documentElement.scrollWidth") <= width
    assert shown.places["picture"]["width"] > width  # in pixels of the screen: half as many of the style
    small = shown.js("""() => [...document.querySelectorAll('button, select')].filter((e) => e.offsetParent)
      .filter((e) => e.getBoundingClientRect().height < 33).map((e) => e.id)""")
    assert small == []


def test_fingers_pinch_and_drag(show, page):
    shown = show(page, width=400, height=740, has_touch=True)
    x, y = shown.center()
    session = shown.tab.context.new_cdp_session(shown.tab)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        places = [{"x": px, "y": py, "id": number} for number, (px, py) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    zoom = shown.places["view"]["zoom"]
    touch("touchStart", (x - 30, y))
    touch("touchStart", (x - 30, y), (x + 30, y))
    touch("touchMove", (x - 60, y), (x + 60, y))
    touch("touchEnd")
    assert shown.state["zoom"] == pytest.approx(2 * zoom, rel=0.05)
    assert shown.state["u"] == 2
    step = shown.js("sharpfield.dragPerView")
    x += 60  # beside the handle of the split
    touch("touchStart", (x, y))
    touch("touchMove", (x - step / 2, y))
    touch("touchMove", (x - step, y))
    touch("touchEnd")
    shown.settled()
    assert shown.state["u"] == 3


def test_light_and_dark(show, page):
    colors = {}
    for scheme in ("light", "dark"):
        shown = show(page, color_scheme=scheme)
        colors[scheme] = shown.js("() => getComputedStyle(document.body).backgroundColor")
        corner = shown.pixels({"x": 0, "y": 0, "width": 1, "height": 1})[0, 0]
        assert (corner.mean() > 128) == (scheme == "light")
    assert colors["light"] != colors["dark"]
    shown.tab.click("#theme")
    assert shown.js("() => getComputedStyle(document.body).backgroundColor") == colors["light"]


def test_errors_and_scores_against_a_truth(show, result, low, tmp_path):
    random = np.random.default_rng(1)
    noisy = np.clip(result.views + 0.05 * random.standard_normal(result.views.shape) ** 3, 0, 1)
    ours = result.with_views(noisy.astype(np.float32), name="noisy")
    write_page(
        tmp_path / "page.html",
        [ours, low],
        truth=result.with_views(result.views, name="truth"),
        options=OPTIONS,
    )
    shown = show(tmp_path / "page.html")
    psnr = psnr_of_views(ours, result)
    cells = shown.tab.locator(".map.right .cell").all_inner_texts()
    assert cells == [f"{value:.1f}" for value in psnr.ravel()]
    assert f"noisy  {psnr[1, 2]:.2f} dB" in shown.tab.locator("#chip-right").inner_text()
    shown.change(split=0)
    shown.change(errors=True, gain=4, aperture=0)
    codes = error_codes(ours.views[1, 2], result.views[1, 2]) / 255
    expected = heat(np.square(codes) * LARGEST_ERROR * 4).astype(int)
    np.testing.assert_allclose(shown.frame().astype(int), expected, atol=2)
    # a click on a cell of the map goes to its view
    shown.tab.locator(".map.right .cell").nth(4).click()
    shown.settled()
    assert (shown.state["v"], shown.state["u"]) == (0, 4)


def test_all_methods_stand_side_by_side_with_their_scores(show, result, low, tmp_path):
    random = np.random.default_rng(2)
    noise = 0.1 * (random.random(result.views.shape, dtype=np.float32) - 0.5)
    results = [
        result.with_views(
            np.clip(result.views + share * noise, 0, 1), name=name, metadata={"upscale": {"seconds": seconds}}
        )
        for name, share, seconds in (("poor", 1.0, 0.5), ("better", 0.5, 12.0))
    ]
    truth = result.with_views(result.views, name="truth")
    options = PageOptions(quality="lossless", disparity=(-2, 3), opens=(2, 1))
    write_page(tmp_path / "page.html", [*results, low], truth=truth, options=options)
    shown = show(tmp_path / "page.html")
    rows = shown.tab.locator("#scores tbody tr")
    psnr = [psnr_of_views(lf, result) for lf in results]
    assert [text.split(maxsplit=3) for text in rows.all_inner_texts()] == [
        [lf.name, f"{each.mean():.2f}", f"{each.min():.2f}", seconds]
        for lf, each, seconds in zip(results, psnr, ("0.5 s", "12.0 s"), strict=True)
    ]
    assert shown.tab.locator("#scores .best").inner_text() == f"{psnr[1].mean():.2f}"
    assert (shown.state["left"], shown.state["right"]) == (2, 1)
    rows.nth(0).locator("button").click()
    assert (shown.state["left"], shown.state["right"]) == (2, 0)
    shown.change(split=0)
    np.testing.assert_array_equal(shown.frame(), eight(results[0].views[1, 2]))
    shown.tab.keyboard.press("n")
    shown.tab.keyboard.press("Shift+N")
    assert (shown.state["left"], shown.state["right"]) == (3, 1)
    shown.change(split=1)
    np.testing.assert_array_equal(shown.frame(), eight(truth.views[1, 2]))


NASTY = "<img src=x onerror=alert(1)></script><!-- <script>\u2028 & \"q\" 'a'"


def test_names_with_html_in_them_are_only_text(show, result, low, tmp_path):
    ours = result.with_views(
        result.views, name=NASTY, notes=(NASTY,), metadata={"upscale": {"method": NASTY}}
    )
    write_page(tmp_path / "page.html", [ours, low.with_views(low.views, name=NASTY)], options=PageOptions())
    shown = show(tmp_path / "page.html")
    assert shown.tab.locator("#title").text_content() == NASTY
    assert shown.tab.locator("#chip-right").text_content() == NASTY
    assert shown.tab.locator("#left option").all_text_contents() == [NASTY, f"{NASTY} (2)"]
    assert shown.tab.locator("#facts dd").nth(1).text_content() == NASTY
    assert shown.tab.locator("#notes li").text_content() == f"{NASTY}: {NASTY}"
    assert shown.tab.locator("img").count() == 0


@pytest.mark.parametrize("grid", [(1, 1), (1, 5), (3, 1), (2, 2)])
def test_any_grid_and_one_channel(show, tmp_path, grid):
    lf = two_planes(3, channels=1, grid=grid)
    write_page(tmp_path / "page.html", [lf], options=PageOptions(quality="lossless"))
    shown = show(tmp_path / "page.html")
    seen = shown.frame()
    np.testing.assert_array_equal(seen, np.repeat(eight(lf.views[grid[0] // 2, grid[1] // 2]), 3, -1))
    assert not shown.tab.locator("#split").is_visible()
    assert shown.tab.locator("#maps").is_visible() == (grid != (1, 1))
    places = shown.places
    assert (places["row"] != {}, places["column"] != {}) == (grid[1] > 1, grid[0] > 1)
    shown.tab.keyboard.press("ArrowRight")
    shown.tab.keyboard.press("o")
    shown.tab.keyboard.press("f")
    assert shown.state["orbit"] == (grid != (1, 1))


def test_the_first_picture_does_not_wait_for_the_rest_of_the_file(show, page, tmp_path):
    text = page.read_bytes()
    cut = text.index(b'<script type="text/plain" id="view-0-0"')
    (tmp_path / "cut.html").write_bytes(text[:cut])
    shown = show(tmp_path / "cut.html", wait=False)
    shown.wait("() => sharpfield.firstPicture !== null")
    shown.wait("() => !document.getElementById('trouble').hidden")
    assert "the file is not complete" in shown.tab.locator("#trouble").inner_text()
    shown.tab.keyboard.press("ArrowRight")
    assert shown.state["u"] == 3
    assert "the file is not complete" in shown.troubles.pop()


def test_a_graphics_memory_that_was_lost_is_filled_again(show, page, result):
    shown = show(page)
    shown.change(split=0)
    shown.js("() => { window.gl = document.getElementById('canvas').getContext('webgl2'); }")
    shown.js("() => { window.lose = gl.getExtension('WEBGL_lose_context'); lose.loseContext(); }")
    shown.wait("() => gl.isContextLost()")
    shown.tab.wait_for_timeout(50)
    shown.js("() => lose.restoreContext()")
    shown.wait("() => !gl.isContextLost()")
    np.testing.assert_array_equal(shown.frame(), eight(result.views[1, 2]))


def test_without_webgl_the_middle_view_is_shown(chromium, engine, page):
    plain = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-3d-apis"])
    try:
        tab = plain.new_page()
        tab.goto(page.as_uri())
        tab.wait_for_selector("img.plain")
        assert (
            tab.locator("img.plain").evaluate("(image) => image.decode().then(() => image.naturalWidth)")
            == SIZE[1]
        )
        assert "no WebGL 2" in tab.locator("#trouble").inner_text()
    finally:
        plain.close()
