"""The text of a page: its manifest, its pictures in base64, and the program and style of `assets/`.

The view that is shown first comes before the program and all others after it, so that there is a picture before the
whole file is read. What the file may load or run is stated in it (a content security policy with the hashes of its
own program and style), so nothing in a name or a note can ever become code.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

# in the order in which they are read: each uses only what stands above it
_SCRIPTS = (
    "data.js",
    "state.js",
    "shaders.js",
    "painter.js",
    "stage.js",
    "overlay.js",
    "panel.js",
    "scores.js",
    "gestures.js",
    "keys.js",
    "main.js",
)

# of one light field: its views and its error maps, compressed
Pictures = tuple[Sequence[bytes], Sequence[bytes]]


def render(manifest: Mapping[str, Any], data: Sequence[Pictures]) -> Iterator[bytes]:
    """Yield the page in parts, in order; `manifest` is what the program must know beside the pictures."""
    assets = resources.files("sharpfield.viewer") / "assets"
    style = (assets / "style.css").read_text(encoding="utf-8")
    program = "".join((assets / "js" / name).read_text(encoding="utf-8") + "\n" for name in _SCRIPTS)
    program = f"(() => {{\n'use strict';\n{program}}})();\n"
    rows, columns = manifest["grid"]
    middle = rows // 2 * columns + columns // 2
    wanted = {manifest["left"], manifest["right"]}
    before, after = (
        Template((assets / "template.html").read_text(encoding="utf-8"))
        .substitute(
            title=html.escape(manifest["title"]),
            style=style,
            style_hash=_hash(style),
            program_hash=_hash(program),
            manifest=_script_text(manifest),
            program=program,
        )
        .split("<!-- first views -->", 1)[0:2]
    )
    yield before.encode()
    for field in sorted(wanted):
        yield _block(field, "view", middle, data[field][0][middle])
    program_part, end = after.split("<!-- other views -->", 1)
    yield program_part.encode()
    for field, (views, errors) in enumerate(data):
        for kind, blocks in (("view", views), ("error", errors)):
            for layer, block in enumerate(blocks):
                if not (kind == "view" and field in wanted and layer == middle):
                    yield _block(field, kind, layer, block)
    yield end.encode()


def _block(field: int, kind: str, layer: int, data: bytes) -> bytes:
    """Return a picture as an element that the browser keeps and does not run."""
    head = f'<script type="text/plain" id="{kind}-{field}-{layer}">'
    return head.encode() + base64.b64encode(data) + b"</script>\n"


def _script_text(manifest: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the element it stands in, whatever a name holds."""
    text = json.dumps(manifest, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
