"""`python -m benchmarks [NAME ..]`: run the named measurements, or the quick ones; each prints its own table."""

from __future__ import annotations

import importlib
import sys

QUICK = ("startup", "speed", "twin")
ALL = (
    *QUICK,
    "scaling",
    "tiling",
    "parity",
    "presets",
    "geometry",
    "camera",
    "scale",
    "page",
    "discontinuities",
    "densify",
    "scale_costs",
)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(f"no benchmark is called {unknown[0]!r}; there are {', '.join(ALL)}", file=sys.stderr)
        return 2
    for name in names or QUICK:
        print(f"\n## {name}\n", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
