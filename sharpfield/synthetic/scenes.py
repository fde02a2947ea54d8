"""The scenes: a still life with something for every kind of detail, and a single moving plane."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharpfield.errors import OptionError
from sharpfield.progress import ProgressCallback, silent
from sharpfield.synthetic import prints, textures, things
from sharpfield.synthetic.render import (
    Scene,
    Window,
    check_disparity,
    check_options,
    render,
    whole_pair,
    window_of,
)
from sharpfield.synthetic.stage import TABLE_FAR, Stage, below, shadows
from sharpfield.synthetic.surface import Plane, Surface, disc
from sharpfield.synthetic.textures import Noise


def render_scene(
    grid: tuple[int, int] = (5, 5),
    size: tuple[int, int] = (256, 256),
    *,
    seed: int = 0,
    supersampling: int = 4,
    disparity: tuple[float, float] = (-2.0, 2.5),
    threads: int | None = None,
    progress: ProgressCallback = silent,
) -> Scene:
    """Render a still life: a page, a clock, a zone plate, a log, fruit and flags, before a wall, on a table.

    Parameters
    ----------
    grid
        Rows and columns of views; the middle of the grid is the reference camera.
    size
        Height and width of a view, at least 32 each.
    seed
        Changes the textures and, by a little, where things stand.
    supersampling
        Rays a pixel along each axis.
    disparity
        Of the backdrop and of the foremost flag, in pixels between adjacent views; all others lie between.
    threads
        How many threads; all processors when None. The result is the same.
    progress
        Is told after every view.

    Returns
    -------
    Scene
        The views (float32; written as 8 bits), the true disparity of every view, and windows worth a look.
    """
    grid, size = whole_pair(grid, "grid", 1), whole_pair(size, "size", 32)
    check_options(supersampling, seed)
    if not isinstance(disparity, (tuple, list)) or len(disparity) != 2:
        raise OptionError(f"disparity must be two numbers (back, front), not {disparity!r}")
    back, front = (check_disparity(value) for value in disparity)
    if not back < front:
        raise OptionError(f"disparity must ascend from back to front; {back:g} is not less than {front:g}")
    surfaces, details = _still_life(Stage(grid, size, back, front), np.random.default_rng(seed))
    return render(
        surfaces,
        grid,
        size,
        supersampling=supersampling,
        name="still life",
        details=details,
        threads=threads,
        progress=progress,
    )


def fronto_parallel(
    grid: tuple[int, int] = (3, 3),
    size: tuple[int, int] = (64, 64),
    disparity: float = 1.0,
    seed: int = 0,
    *,
    supersampling: int = 4,
) -> Scene:
    """Render one textured plane that faces the cameras: every view is the same picture, moved by the disparity.

    A whole number of pixels moves the pixels exactly (where the grid is odd along that axis, or the disparity even).
    """
    grid, size = whole_pair(grid, "grid", 1), whole_pair(size, "size", 1)
    check_options(supersampling, seed)
    plane = Plane(check_disparity(disparity))
    random = np.random.default_rng(seed)
    paint = textures.speckles(Noise(random, 1.7), Noise(random, 0.3))
    return render(
        [Surface("plane", plane, paint)], grid, size, supersampling=supersampling, name="plane", threads=1
    )


def _still_life(stage: Stage, random: np.random.Generator) -> tuple[list[Surface], dict[str, Window]]:
    (height, width), unit, infinity = stage.size, stage.unit, stage.infinity
    cloud, grain = Noise(random), Noise(random, 0.4)

    def about(value: float, by: float = 0.012) -> float:
        return float(value + random.uniform(-by, by))

    rows, columns = height + 2 * stage.reach[0], width + 2 * stage.reach[1]
    backdrop = Surface(
        "backdrop",
        Plane(stage.back, cy=height / 2, cx=width / 2),
        prints.backdrop(rows, columns, random),
    )

    edge, far_edge = -stage.reach[1], 0.36 * width
    wall_slope = (stage.depth(0.10) - stage.depth(0.46)) / (far_edge - edge)
    wall_plane = Plane(stage.depth(0.10), gx=wall_slope, cy=0.3 * height, cx=far_edge)
    wall = Surface(
        "brick wall",
        wall_plane,
        textures.bricks(grain, random, 0.026 * unit, 0.062 * unit),
        lambda t, s: s <= 0,
        None,
        infinity,
    )

    page_tall, page_wide = 0.50 * unit, 0.40 * unit
    page_plane = stage.facing(about(0.37) * width, 0.46 * page_tall, about(0.38))
    page_plane = replace(page_plane, gx=0.16 * (stage.front - stage.back) / page_wide)
    page = things.card("page", page_plane, prints.page(page_tall, page_wide), page_tall, page_wide, infinity)

    clock = things.standing_disc(
        "clock", stage, about(0.755) * width, 0.20 * unit, about(0.27), prints.clock(0.20 * unit)
    )
    radius = 0.155 * unit
    plate = things.standing_disc(
        "zone plate", stage, about(0.60) * width, radius, about(0.55), textures.zone_plate(radius)
    )
    radius = 0.155 * unit
    log = things.standing_disc(
        "log", stage, about(0.17) * width, radius, about(0.72), textures.log_slice(cloud, radius)
    )
    radius = 0.125 * unit
    orange = things.standing_disc(
        "orange", stage, about(0.83) * width, radius, about(0.84), textures.citrus(grain, radius)
    )

    radius = 0.10 * unit
    lying_at, lying_x = about(0.76), about(0.46) * width
    table_plane = stage.table()
    lying_plane = replace(table_plane, d0=stage.depth(lying_at + 0.02), cy=stage.foot(lying_at), cx=lying_x)
    mask, extent = disc(radius)
    lying = Surface(
        "lying slice", lying_plane, textures.citrus(grain, radius, 11), mask, extent, infinity, flatten=0.42
    )

    star = things.pinwheel(stage, about(0.925) * width, 0.085 * unit, about(0.50))
    table = Surface(
        "table",
        table_plane,
        textures.planks(cloud, random, 0.15 * unit),
        below(stage.foot(TABLE_FAR) - table_plane.cy, table_plane, infinity),
        None,
        infinity,
    )
    spots = shadows(table, [page, clock, plate, log, orange, lying])
    table = replace(table, paint=textures.shadowed(table.paint, spots))
    flags = things.bunting(stage, cloud)
    grass = things.grass(stage, cloud, random)
    surfaces = [backdrop, wall, table, page, clock, plate, *star, lying, log, orange, flags, grass]
    details = {
        surface.name: window_of(surface, stage.size) for surface in (page, clock, plate, log, orange, lying)
    }
    return surfaces, details
