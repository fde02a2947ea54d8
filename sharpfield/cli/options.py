"""Options that several commands share, and options made from the fields of a dataclass.

A group of options is a frozen dataclass: its fields are the options, their `help` metadata is the help. A command
takes the group as one argument. The options of the methods are made in the same way from the methods' own
dataclasses, so that what a method understands and what the command line offers never drift apart.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from sharpfield import catalogue
from sharpfield.cli.console import Voice, one_line_errors
from sharpfield.errors import OptionError
from sharpfield.progress import silent

if TYPE_CHECKING:
    from sharpfield.io import Format, ReadOptions
    from sharpfield.lightfield import LightField
    from sharpfield.observe import Camera
    from sharpfield.progress import ProgressCallback

Command = Callable[..., None]

# fields of the methods' options that every method has in common and `upscale` declares itself
_COMMON_FIELDS = ("disparity",)


def flag(default: Any, text: str, metavar: str | None = None, *names: str, repeated: bool = False) -> Any:
    """Declare a field that becomes an option; one that may be given several times gets a list."""
    return field(
        default=default, metadata={"help": text, "metavar": metavar, "names": names, "repeated": repeated}
    )


@dataclass(frozen=True)
class Reading:
    """How an input says which view is where, and which part of it is wanted; as for `sharpfield.read`."""

    views: str | None = flag(
        None, "Take these views only: 5x5, the central ones, or 2:7,2:7, rows and columns.", "VxU"
    )
    crop: str | None = flag(None, "Take this window of every view only: 100:300,50:250.", "Y:Y,X:X")
    grid: str | None = flag(None, "Rows and columns of views, where the input does not tell: 9x9.", "VxU")
    pattern: str | None = flag(
        None,
        "Names of the views, where they are unusual: 'cam_{v}_{u}.png', v the row, u the column.",
        "NAME",
    )
    flip: str = flag(
        "",
        "Rows (v), columns (u) or both (vu) are stored in the reversed order: turn it.",
        "v|u|vu",
        repeated=True,  # `info` says --flip v --flip u
    )
    transpose: bool = flag(
        False, "Rows and columns of views are stored in each other's place: exchange them."
    )
    input_format: str | None = flag(
        None, "Name of the format, where the content is taken for another.", "FORMAT", "--from"
    )

    def __post_init__(self) -> None:
        if not isinstance(self.flip, str):
            object.__setattr__(self, "flip", "".join(self.flip or ()))

    def in_all(self, flags: Sequence[str]) -> str:
        """Return the flags that set the order right when `flags` are still missing after those that were given.

        Empty where none were given: then it is those flags themselves.
        """
        if not (flags and (self.flip or self.transpose)):
            return ""
        given_v, given_u = "v" in self.flip, "u" in self.flip
        if "--transpose" in flags:  # what is turned before an exchange is the other axis after it
            given_v, given_u = given_u, given_v
        total = {
            "--transpose": self.transpose != ("--transpose" in flags),
            "--flip v": given_v != ("--flip v" in flags),
            "--flip u": given_u != ("--flip u" in flags),
        }
        said = " ".join(each for each, needed in total.items() if needed)
        return f"after the flags that were given; in all: {said or 'neither --flip nor --transpose'}"

    def options(self) -> ReadOptions:
        """Return what was said, as `open_views` takes it."""
        from sharpfield.io import ReadOptions

        return ReadOptions(
            pattern=self.pattern,
            grid=None if self.grid is None else parse_grid(self.grid),
            views=self.views,
            crop=self.crop,
            flip=self.flip,
            transpose=self.transpose,
        )

    def read(
        self, path: Path, voice: Voice, progress: ProgressCallback, threads: int | None = None
    ) -> LightField:
        """Read a light field and pass on what its reader remarked."""
        from sharpfield.io import read

        lf = read(
            path,
            views=self.views,
            crop=self.crop,
            grid=None if self.grid is None else parse_grid(self.grid),
            pattern=self.pattern,
            flip=self.flip,
            transpose=self.transpose,
            format=self.input_format,
            threads=threads,
            progress=progress,
        )
        voice.note(*(f"{path}: {text}" for text in lf.notes))
        return lf


def as_arguments(reading: Reading) -> dict[str, Any]:
    """Return how to read as arguments of `sharpfield.read`, without those that are as they always are."""
    given = {
        "views": reading.views,
        "crop": reading.crop,
        "grid": None if reading.grid is None else parse_grid(reading.grid),
        "pattern": reading.pattern,
        "flip": reading.flip,
        "transpose": reading.transpose,
        "format": reading.input_format,
    }
    return {name: value for name, value in given.items() if value not in (None, "", False)}


@dataclass(frozen=True)
class Writing:
    """How an output is stored; as for `sharpfield.write`."""

    overwrite: bool = flag(False, "Replace OUT when it exists already.")
    bits: int | None = flag(None, "Bits a sample: 8, 16, or 32 (float).", "8|16|32")
    file_format: str | None = flag(
        None, "Kind of pictures in a folder or zip: png, tiff, jpeg or bmp.", "KIND"
    )
    output_format: str | None = flag(
        None, "Name of the format, where OUT's ending does not choose it.", "FORMAT", "--to"
    )

    def check(self, out: Path, *inputs: Path, pattern: str | None = None) -> Format:
        """Refuse an output that may not be, before any work is spent on it; return the format that it will have."""
        from sharpfield.io import check_output

        if self.bits not in (8, 16, 32, None):
            raise OptionError(f"--bits is 8, 16 or 32 (float), not {self.bits}")
        for each in inputs:
            if out.resolve() == each.resolve():
                raise OptionError(f"{out}: is the input as well; give the output a name of its own")
        return check_output(
            out,
            overwrite=self.overwrite,
            pattern=pattern,
            file_format=self.file_format,
            format=self.output_format,
        )

    def rehearse(self, lf: LightField, out: Path) -> None:
        """Write as many views of a few pixels beside the output: what would fail after hours fails now."""
        import numpy as np

        from sharpfield.errors import OutputError
        from sharpfield.io.atomic import explain

        parent = out.absolute().parent
        while not parent.exists():
            parent = parent.parent
        few = lf.with_views(np.zeros((*lf.grid, 2, 2, lf.channels), np.float32))
        try:
            with TemporaryDirectory(prefix=".sharpfield-", dir=parent) as place:
                self.write(few, Path(place) / out.name, silent, 1)
        except OSError as error:
            raise OutputError(f"{out}: cannot be written: {explain(error)}") from error

    def write(
        self,
        lf: LightField,
        out: Path,
        progress: ProgressCallback,
        threads: int | None,
        pattern: str | None = None,
    ) -> None:
        """Write a light field, whole or not at all."""
        from sharpfield.io import write

        pictures = self.file_format
        if self.bits == 32 and not (pictures or out.suffix or self.output_format):
            pictures = "tiff"  # of a folder's pictures, only TIFF holds floats
        write(
            lf,
            out,
            overwrite=self.overwrite,
            bits=self.bits,
            pattern=pattern,
            file_format=pictures,
            format=self.output_format,
            threads=threads,
            progress=progress,
        )


Threads = Annotated[
    int | None, typer.Option("--threads", metavar="N", help="Threads to use; all processors when not given.")
]
FactorText = Annotated[str, typer.Option("--factor", metavar="N", help="A whole number from 2 to 8.")]
CameraText = Annotated[
    str,
    typer.Option("--camera", metavar="BLUR", help="box, gaussian:SIGMA (as in gaussian:1.2) or bicubic."),
]


def parse_camera(camera: str, factor: str) -> Camera:
    """Return the camera that --camera and --factor say."""
    from sharpfield.observe import Camera

    return Camera.parse(camera, _number(factor))


def parse_range(text: str) -> tuple[int, int]:
    """Return LO:HI as two whole numbers; which of them have a meaning, the method says."""
    low, _, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        raise OptionError(f"--disparity takes two whole numbers LO:HI, as in -6:6, not {text!r}") from None


def parse_grid(text: str) -> tuple[int, int]:
    """Return VxU as two whole numbers."""
    rows, _, columns = text.lower().partition("x")
    try:
        return int(rows), int(columns)
    except ValueError:
        raise OptionError(f"--grid takes rows and columns of views, as in 9x9, not {text!r}") from None


def tidy(out: Path) -> Path:
    """Return an output's path without `..`: it is renamed to, while the folders it goes through may change."""
    return out.resolve() if ".." in out.parts else out


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def with_groups(command: Command, **groups: tuple[type[Any], str | None]) -> Command:
    """Return a command whose arguments named in `groups` are made from options: one for each field.

    Parameters
    ----------
    command
        Takes an instance of each group, by keyword.
    groups
        Argument to the dataclass and the title of the panel of its options in the help.
    """
    made = {
        name: [
            _parameter(each, hint, panel, each.default, each.metadata["help"])
            for each, hint in _typed_fields(kind)
        ]
        for name, (kind, panel) in groups.items()
    }

    def run(**given: Any) -> None:
        with one_line_errors(debug=bool(given.get("debug"))):
            for name, parameters in made.items():
                kind = groups[name][0]
                given[name] = kind(**{each.name: given.pop(each.name) for each in parameters})
            command(**given)

    return _with_parameters(run, command, made)


def with_method_options(command: Command, argument: str = "options") -> Command:
    """Return a command whose `argument` holds the options of methods that were given, by the field's name."""
    panels: dict[str, list[inspect.Parameter]] = {}
    for kind, users in _kinds().items():
        panel = f"Options of {' and '.join(users)} (the defaults are good)"
        for each, hint in _typed_fields(kind):
            taken = any(each.name == known.name for made in panels.values() for known in made)
            if each.name not in _COMMON_FIELDS and not taken:
                text = _help(each, catalogue.presets(users[0]))
                panels.setdefault(panel, []).append(_parameter(each, hint | None, panel, None, text))
    parameters = [each for made in panels.values() for each in made]

    def run(**given: Any) -> None:
        options = {each.name: given.pop(each.name) for each in parameters}
        given[argument] = {name: value for name, value in options.items() if value is not None}
        command(**given)

    return _with_parameters(run, command, {argument: parameters})


def _kinds() -> dict[type[Any], list[str]]:
    """Return the classes of options and the methods that have them."""
    kinds: dict[type[Any], list[str]] = {}
    for method in catalogue.methods():
        kinds.setdefault(method.options(), []).append(method.name)
    return {kind: users for kind, users in kinds.items() if fields(kind)}


def _typed_fields(kind: type[Any]) -> Iterator[tuple[Field[Any], Any]]:
    hints = get_type_hints(kind)
    for each in fields(kind):
        yield each, hints[each.name]


def _parameter(each: Field[Any], hint: Any, panel: str | None, default: Any, text: str) -> inspect.Parameter:
    """Return a field as an option of the command line."""
    names = each.metadata.get("names", ())
    if not any(name.startswith("--") for name in names):
        names = (*names, "--" + each.name.replace("_", "-"))
    if each.metadata.get("repeated"):
        hint, default = list[str] | None, None
    option = typer.Option(
        *names,
        help=text,
        metavar=each.metadata.get("metavar"),
        rich_help_panel=panel,
        show_default=False,
    )
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[hint, option]
    )


def _help(each: Field[Any], presets: catalogue.Presets) -> str:
    """Return the help of a method's option with its default, and with those of the presets that differ."""
    defaults = [] if each.default is MISSING else [f"default {each.default}"]
    for name, given in presets.items():
        if given.get(each.name, each.default) != each.default:
            defaults.append(f"{name} {given[each.name]}")
    text = each.metadata.get("help", "")
    return f"{text[:1].upper()}{text[1:]} ({'; '.join(defaults)})."


def _with_parameters(run: Command, command: Command, made: Mapping[str, list[inspect.Parameter]]) -> Command:
    """Give `run` the name, the help and the parameters of `command`, those in `made` replaced by options."""
    parameters: list[inspect.Parameter] = []
    for each in inspect.signature(command, eval_str=True).parameters.values():
        parameters += made.get(each.name, [each])
    # a paragraph is one line to typer, which wraps it to the terminal
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    run.__name__, run.__doc__ = command.__name__, "\n\n".join(" ".join(each.split()) for each in paragraphs)
    # typer reads the signature, and older versions of it the annotations
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    )
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run
