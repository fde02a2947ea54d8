"""`sharpfield upscale IN OUT.zarr`: from disk to disk, block by block, for what is larger than memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharpfield.cli.console import Voice, duration
from sharpfield.cli.options import Reading, Writing, flag
from sharpfield.errors import OptionError


@dataclass(frozen=True)
class Scaling:
    """Who does the work when OUT is a Zarr store."""

    workers: int | None = flag(
        None, "Start so many processes, which share --memory and --threads between them.", "N"
    )
    scheduler: str | None = flag(
        None,
        "Use the workers of this Dask scheduler; --memory and --threads are each task's.",
        "tcp://HOST:PORT",
    )
    block: int | None = flag(None, "Side of the blocks, in pixels of IN, instead of what fits.", "N")

    def applies(self, out: Path, reading: Reading, writing: Writing) -> bool:
        """Whether OUT is made block by block, from disk to disk, or refuse what cannot be."""
        if out.suffix.lower() == ".zarr" and writing.output_format is None and reading == Reading():
            return True
        for name in ("workers", "scheduler", "block"):
            if getattr(self, name) is not None:
                why = (
                    "takes IN as it is"
                    if out.suffix.lower() == ".zarr"
                    else "is for an OUT that ends in .zarr"
                )
                raise OptionError(
                    f"--{name} {why}; convert IN to a Zarr store before, then upscale it into one"
                )
        return False


def upscale_into_store(
    source: Path, out: Path, scaling: Scaling, writing: Writing, voice: Voice, **asked: Any
) -> None:
    """Upscale block by block, or go on where a run that died has stopped, and say what was done."""
    from sharpfield.scale import upscale_store

    with voice.progress() as progress:
        done = upscale_store(
            source,
            out,
            bits=writing.bits,
            overwrite=writing.overwrite,
            workers=scaling.workers,
            scheduler=scaling.scheduler,
            block=scaling.block,
            progress=progress,
            **asked,
        )
    voice.note(*done.notes)
    if done.repeated:
        voice.note(f"{done.repeated} of {done.blocks} blocks were done by an earlier run")
    record = {
        "input": str(source),
        "output": str(out),
        "light_fields": done.light_fields,
        "blocks": done.blocks,
        "blocks_done_before": done.repeated,
        "seconds": round(done.seconds, 3),
        "notes": done.notes,
    }
    if voice.json:
        voice.result("", record)
    fields = "1 light field" if done.light_fields == 1 else f"{done.light_fields} light fields"
    voice.done(f"{out}: {fields}, {done.blocks} blocks, {asked['method']}, {duration(done.seconds)}")
