"""One self-contained HTML page to look at light fields: before and after, from every viewpoint, at every focus.

thin.py         no more views and pixels than a browser holds
gather.py       from the disk: thinned and cut while they are read
measure.py      focus range, PSNR and errors: what the page knows beside the views
encode.py       views to compressed pictures that fit the size asked for
page.py         all of it into one HTML file
document.py     its text: manifest, pictures, program
viewpoint.py    what the page shows, in NumPy
assets/         the page itself: template.html, style.css, js/ (plain JavaScript and WebGL, no build step)
"""

from __future__ import annotations

from sharpfield.viewer.measure import Scored, how_measured
from sharpfield.viewer.page import Page, PageOptions, make_page, write_page
from sharpfield.viewer.viewpoint import look

__all__ = ["Page", "PageOptions", "Scored", "how_measured", "look", "make_page", "write_page"]
