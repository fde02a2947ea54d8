"""`sharpfield methods`: what there is to choose from."""

from __future__ import annotations

from dataclasses import fields

from sharpfield import catalogue
from sharpfield.cli.console import Voice, facts
from sharpfield.cli.options import with_groups
from sharpfield.contract import Method


def _title(method: Method) -> str:
    known = "" if method.factors is None else f" (factors {', '.join(map(str, method.factors))})"
    return method.title + known


def _methods(voice: Voice) -> None:
    """List the methods, and where they come from."""
    from sharpfield.observe import FACTORS

    found = catalogue.methods()
    rows = [row for method in found for row in ((method.name, _title(method)), ("", method.reference))]
    record = {
        "methods": [
            {
                "name": method.name,
                "title": method.title,
                "reference": method.reference,
                "factors": method.factors or list(FACTORS),
                "presets": list(catalogue.presets(method.name)),
                "options": {each.name: each.default for each in fields(method.options())},
                "default": method.name == catalogue.DEFAULT_METHOD,
            }
            for method in found
        ]
    }
    voice.result(
        f"{facts(rows)}\n\nupscale takes {catalogue.DEFAULT_METHOD} unless --method says otherwise.", record
    )


command = with_groups(_methods, voice=(Voice, None))
