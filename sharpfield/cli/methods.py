"""`sharpfield methods`: what there is to choose from."""

from __future__ import annotations

from dataclasses import fields

from sharpfield import catalogue
from sharpfield.cli.console import Voice, facts
from sharpfield.cli.options import with_groups


def _methods(voice: Voice) -> None:
    """List the methods, and where they come from."""
    found = catalogue.methods()
    rows = [row for method in found for row in ((method.name, method.title), ("", method.reference))]
    record = {
        "methods": [
            {
                "name": method.name,
                "title": method.title,
                "reference": method.reference,
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
