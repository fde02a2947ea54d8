"""`python -m sharpfield.benchmark`: one run in a process of its own, started by the runner."""

from __future__ import annotations

import sys

from sharpfield.benchmark.job import main

if __name__ == "__main__":
    sys.exit(main())
