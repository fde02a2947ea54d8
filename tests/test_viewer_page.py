"""The page as a file: its parts, its size, what stands in its manifest; the browser's tests are in browser/."""

from __future__ import annotations

import base64
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from sharpfield import LightField, metrics
from sharpfield.errors import InputError, OptionError
from sharpfield.io.pictures import quantize
from sharpfield.parallel import Workers
from sharpfield.viewer import Page, PageOptions, Scored, how_measured, make_page, write_page
from sharpfield.viewer.encode import Sheaf, check_quality, choose_quality, encode, encode_all
from sharpfield.viewer.measure import error_codes, facts

LOSSLESS = PageOptions(quality="lossless", disparity=(-1, 1))


def field(name="result", seed=0, size=(40, 48), channels=3) -> LightField:
    noise = np.random.default_rng(seed).standard_normal((3, 3, *size, channels))
    views = np.clip(0.5 + 1.5 * gaussian_filter(noise, (0, 0, 2, 2, 0)), 0, 1).astype(np.float32)
    return LightField(quantize(views, 8), name=name)


def halved(lf: LightField) -> LightField:
    return lf.with_views(np.ascontiguousarray(lf.views[:, :, ::2, ::2]), name="low")


def text(page: Page) -> str:
    return b"".join(page.parts).decode()


def manifest(page: Page) -> dict:
    found = re.search(r'<script type="application/json" id="manifest">(.*?)</script>', text(page), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def pictures(page: Page) -> dict[str, np.ndarray]:
    found = re.findall(r'<script type="text/plain" id="([\w-]+)">([^<]*)</script>', text(page))
    assert len(dict(found)) == len(found)
    return {name: np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))) for name, data in found}


def test_every_view_is_in_the_page_once_and_lossless_when_asked():
    ours, low = field(), halved(field())
    page = make_page([ours, low], options=LOSSLESS)
    found = pictures(page)
    assert set(found) == {f"view-{k}-{layer}" for k in (0, 1) for layer in range(9)}
    for layer in range(9):
        np.testing.assert_array_equal(found[f"view-0-{layer}"], quantize(ours.views[divmod(layer, 3)], 8))
        np.testing.assert_array_equal(found[f"view-1-{layer}"], quantize(low.views[divmod(layer, 3)], 8))
    whole = text(page)
    assert whole.index('id="view-0-4"') < whole.index("'use strict'") < whole.index('id="view-0-0"')
    assert page.size == len(whole.encode())
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", whole)  # names no place in the network


def test_grey_views_are_stored_and_scored():
    grey, truth = field(channels=1), field("truth", 1)
    page = make_page([grey], truth=truth, options=LOSSLESS)
    np.testing.assert_array_equal(pictures(page)["view-0-0"][..., 1], quantize(grey.views[0, 0, ..., 0], 8))
    assert [one["channels"] for one in manifest(page)["fields"]] == [1, 3]


def test_psnr_and_errors_are_those_of_the_views_against_the_truth():
    ours, truth = field(), field("truth", 1)
    page = make_page([ours, halved(ours)], truth=truth, options=LOSSLESS)
    said = manifest(page)
    expected = metrics.psnr(ours, truth, border=9)  # a quarter of such small views
    np.testing.assert_allclose(said["fields"][0]["psnr"], expected, atol=1e-3)
    assert [one["psnr"] is None for one in said["fields"]] == [False, True, True]
    assert [one["truth"] for one in said["fields"]] == [False, False, True]
    assert said["measured"] == "luma, 9 pixels of border left out"
    codes = pictures(page)["error-0-5"][..., 0]
    np.testing.assert_array_equal(codes, error_codes(ours.views[1, 2], truth.views[1, 2]))


def test_scores_that_were_measured_are_told_as_they_are():
    ours, truth = field(), field("truth", 1)
    psnr = np.arange(9.0).reshape(3, 3)
    psnr[1, 1] = np.inf
    page = make_page(
        [halved(ours), ours],
        truth=truth,
        scored=Scored([None, psnr], how_measured("Y601", 0)),
        options=LOSSLESS,
    )
    said = manifest(page)
    assert said["fields"][1]["psnr"] == [[0, 1, 2], [3, None, 5], [6, 7, 8]]
    assert said["fields"][0]["psnr"] is None
    assert said["measured"] == "BT.601 luma, the whole views"


def test_it_opens_with_before_and_after():
    ours, low, truth = field(), halved(field()), field("truth", 1)

    def opened(*fields: LightField, **given) -> tuple[int, int]:
        said = manifest(make_page(fields, **{"options": LOSSLESS, **given}))
        return said["left"], said["right"]

    assert opened(ours) == (0, 0)
    assert opened(ours, low) == (1, 0)
    assert opened(ours, truth=truth) == (1, 0)
    assert opened(ours, low, truth=truth) == (1, 0)
    assert opened(ours, low, truth=truth, options=replace(LOSSLESS, opens=(2, 1))) == (2, 1)
    with pytest.raises(OptionError, match="a page of 2 light fields opens with two of 0 to 1"):
        opened(ours, low, options=replace(LOSSLESS, opens=(2, 1)))


def test_how_a_result_was_made_is_told():
    made = {"method": "gb-sq", "factor": 2, "options": {"disparity": [-1, 3], "patch": 7}, "seconds": 1.25}
    ours = field().with_views(field().views, metadata={"upscale": made})
    told = dict(facts(ours, None))
    assert told["Method"] == "gb-sq"
    assert told["Options"] == "disparity -1 to 3, patch 7"
    assert told["Time"] == "1.2 s"
    assert manifest(make_page([ours], options=LOSSLESS))["fields"][0]["seconds"] == 1.2


@pytest.mark.parametrize("most", [60_000, 90_000, 140_000])
def test_the_page_keeps_to_its_size_while_a_quality_allows(most):
    ours = field(size=(96, 96))
    least = make_page([ours], options=PageOptions(quality=60, disparity=(-1, 1))).size
    page = make_page([ours], options=PageOptions(most_bytes=most, disparity=(-1, 1)))
    assert isinstance(page.quality, int)
    if most > 1.1 * least:
        assert page.size <= most
        assert page.notes == ()
    if page.size > most:
        assert page.quality == 60
        assert "MB even at quality 60" in page.notes[-1]


def test_errors_give_up_their_bytes_first():
    sheaf = Sheaf(1, lambda _: np.zeros((8, 8, 3), np.uint8), falls=1.6)
    assert [sheaf.own(quality) for quality in (95, 80, 60, 5, "lossless")] == [70, 46, 14, 1, "lossless"]


def test_pictures_are_the_same_for_any_number_of_threads():
    sheaves = [Sheaf(9, lambda k: quantize(field().views[divmod(k, 3)], 8))]
    with Workers(1) as one, Workers(3) as three:
        assert encode_all(sheaves, 80, one) == encode_all(sheaves, 80, three)
        assert choose_quality(sheaves, 1e9, one) == 95


@pytest.mark.parametrize("quality", [0, 101, "best", True, 80.0])
def test_a_quality_without_meaning(quality):
    with pytest.raises(OptionError, match="quality is from 1 to 100, auto or lossless"):
        check_quality(quality)


def test_what_cannot_be_a_page(tmp_path):
    with pytest.raises(InputError, match="at least one light field"):
        make_page([])
    with pytest.raises(
        InputError, match="the truth, has views of 48x40 and no light field has the same size"
    ):
        make_page([halved(field())], truth=field("truth"))
    with pytest.raises(InputError, match="too large for a page"):
        encode(np.zeros((1, 20_000, 3), np.uint8), 80)
    for options in ({"most_bytes": 0}, {"disparity": (1, 1)}, {"disparity": (0, float("nan"))}):
        with pytest.raises(OptionError):
            PageOptions(**options)
    (tmp_path / "there.html").write_text("mine")
    with pytest.raises(Exception, match="exists"):
        write_page(tmp_path / "there.html", [field()])
    assert (tmp_path / "there.html").read_text() == "mine"


def test_a_name_never_ends_the_element_it_stands_in():
    nasty = "</script><script>alert(1)</script>\u2028"
    ours = field().with_views(field().views, name=nasty, notes=(nasty,))
    page = make_page([ours], options=replace(LOSSLESS, title=nasty))
    assert manifest(page)["fields"][0]["name"] == nasty
    assert "<script>alert" not in text(page)
    assert text(page).count("<script>") == 1  # the program, whose hash the policy names
