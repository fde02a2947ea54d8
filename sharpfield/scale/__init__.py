"""Light fields larger than memory, runs longer than a power cut, more than one machine: Dask over Zarr.

A light field is cut into blocks: the same window of all views. A block is read from the store with its halo,
super-resolved as `upscale` would, and written as chunks that nobody else writes; then it is recorded as done. The
blocks of a light field, or of a whole series of them, are the tasks of a Dask graph, on this machine or on a cluster.
What passes through the scheduler are names and numbers; the pixels stay in the stores.

`work` does one block, `plan` cuts, `journal` remembers what is done, `engine` is the only place that knows Dask, `run`
brings them together.
"""

from sharpfield.scale.run import Finished, upscale_store

__all__ = ["Finished", "upscale_store"]
