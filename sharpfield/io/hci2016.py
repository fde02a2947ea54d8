"""Names of the 4D Light Field Benchmark (HCI 2016): `input_Cam000.png` .. row by row, and `parameters.cfg`.

Camera 0 is at the top left, the next one to its right; the order is sharpfield's own.
"""

from __future__ import annotations

import configparser
import math

from sharpfield.errors import InputError

CONFIG = "parameters.cfg"


def parameters(text: str, place: str) -> dict[str, str]:
    """Return what `parameters.cfg` says, one level deep: `num_cams_x`, `focal_length_mm`, .."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{place}: {CONFIG} cannot be read ({reason[:120]}); correct or remove it"
        ) from error
    return {key: value for section in parser.sections() for key, value in parser.items(section)}


def grid_of(count: int, config: dict[str, str], place: str) -> tuple[int, int]:
    """Return rows and columns of views from the parameters, or a square of as many views as there are."""
    if "num_cams_x" in config or "num_cams_y" in config:
        try:
            grid = int(config["num_cams_y"]), int(config["num_cams_x"])
        except (KeyError, ValueError) as error:
            raise InputError(
                f"{place}: {CONFIG} says no whole num_cams_x and num_cams_y; correct it, or say --grid 9x9"
            ) from error
        if min(grid) < 1:
            raise InputError(
                f"{place}: {CONFIG} says {grid[0]}x{grid[1]} views; correct it, or say --grid 9x9"
            )
        return grid
    side = math.isqrt(count)
    if side * side != count:
        raise InputError(
            f"{place}: {count} numbered views make no square grid and there is no {CONFIG}; say --grid ROWSxCOLUMNS"
        )
    return side, side
