"""What commands share: exit codes, output for people and for machines, files, values given as name=value."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from anguilla.errors import AnguillaError, DescriptionError, missing
from anguilla.view.browser import open_page as open_page

if TYPE_CHECKING:
    from anguilla.files import RobotFile

DONE, FAILED, MISUSED, WRONG_INPUT, NOT_INSTALLED, INTERRUPTED = 0, 1, 2, 3, 4, 130


def units(text: str) -> str:
    """Protect [units] in help texts: square brackets are markup there."""
    return text.replace("[", "\\[")


RobotArgument = Annotated[Path, typer.Argument(metavar="ROBOT", help="A robot file (.yaml) or a URDF (.urdf).")]
ResultArgument = Annotated[Path, typer.Argument(metavar="RESULT", help="A result (.nc).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print a single JSON object.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter of the file; repeatable."),
]
InputOption = Annotated[
    list[str] | None,
    typer.Option(
        "--input", "-i", metavar="NAME=VALUE", help="Value of an input: a number or a formula of t; repeatable."
    ),
]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="Write the result (.nc).")]
PlotOption = Annotated[Path | None, typer.Option("--plot", help="Write a figure (.png, .svg, .pdf).")]
OpenOption = Annotated[
    bool | None,
    typer.Option("--open/--no-open", help="Open the page in the browser; by default if there is a display."),
]

FIGURES = (".png", ".svg", ".pdf")
EXAMPLES = {
    "--input": "NAME=VALUE, such as --input pull=2",
    "--set": "NAME=VALUE, such as --set length=0.4",
    "--vary": "NAME=LOW:HIGH:COUNT or NAME=A,B,C, such as --vary length=0.1:0.4:4",
    "--target": "FRAME=X,Y,Z, such as --target arm.tip=0.2,0,0.1",
    "--limit": "NAME=LOW,HIGH, such as --limit pull=0,20",
}


class Output:
    """Prints for people, or gathers one JSON object for machines."""

    machine: ClassVar[bool] = False
    folder: ClassVar[Path | None] = None  # where files that robot files name may lie
    said: ClassVar[list[str]] = []  # warnings of the command
    checkpoint: ClassVar[Path | None] = None  # from which the same command goes on, if it is there

    def __init__(self, machine: bool) -> None:
        type(self).machine = machine  # main() prints errors in the same way
        self.facts: dict[str, Any] = {}

    def fact(self, name: str, value: Any) -> None:
        """Keep a fact for machines."""
        self.facts[name] = value

    def line(self, text: str) -> None:
        """Print a line for people."""
        if not self.machine:
            print(text)

    def table(self, rows: Sequence[tuple[str, str]]) -> None:
        """Print names and texts in two columns for people."""
        if self.machine or not rows:
            return
        width = max(len(name) for name, _ in rows)
        for name, text in rows:
            print(f"{name:<{width}}  {text}".rstrip())

    def wrote(self, kind: str, path: Path) -> None:
        """Tell about a file that was written."""
        self.facts.setdefault("files", {})[kind] = str(path)
        self.line(f"{path}   {kind}")

    def close(self, ok: bool = True) -> None:
        """Print the JSON object for machines."""
        if self.machine:
            notes = {"notes": [*self.facts.get("notes", ()), *self.said]} if self.said else {}
            print(json.dumps({"ok": ok, **clean(self.facts | notes)}))


def clean(value: Any) -> Any:
    """Return plain JSON values: arrays become lists; what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): clean(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return clean(value.tolist())
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def package_version(package: str) -> str:
    """Return the version of a package, or "not installed"."""
    if package == "anguilla":  # this package, also when it runs from its sources without being installed
        return str(sys.modules["anguilla"].__version__)
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """Return the names and texts of options NAME=VALUE."""
    found: dict[str, str] = {}
    for item in given or ():
        name, equals, text = item.partition("=")
        if not equals or not name.strip() or not text.strip():
            raise DescriptionError(f"{option} must be {EXAMPLES.get(option, 'NAME=VALUE')}; got {item!r}.")
        if name.strip() in found:
            raise DescriptionError(
                f"{option} {name.strip()} is given twice: {found[name.strip()]!r} and {text.strip()!r}."
            )
        found[name.strip()] = text.strip()
    return found


def read(path: Path, settings: Sequence[str] | None, output: Output) -> RobotFile:
    """Read a robot file with parameters from the command line; show its notes."""
    from anguilla.files import Expression, read_file

    values = {name: Expression(text, arguments=())() for name, text in pairs(settings, "--set").items()}
    file = read_file(path, parameters=values, folder=Output.folder)
    output.fact("robot", file.robot.name)
    output.fact("notes", list(file.notes))
    if not output.machine:
        for note in file.notes:
            print(f"note: {note}", file=sys.stderr)
    return file


def inputs_of(file: RobotFile, given: Sequence[str] | None) -> dict[str, Any]:
    """Return the inputs of a file, with those of the command line in their place."""
    from anguilla.describe.description import did_you_mean
    from anguilla.files import Expression

    inputs = dict(file.inputs)
    known = file.robot.inputs
    for name, text in pairs(given, "--input").items():
        if name not in known:
            have = f"the inputs are {', '.join(known)}" if known else "the robot has no inputs"
            other = "; it is a parameter, which --set changes" if name in file.parameters else did_you_mean(name, known)
            raise DescriptionError(f"--input {name}: {have}{other}.")
        expression = Expression(text)
        if expression.arguments not in ((), ("t",)):
            raise DescriptionError(f"--input {name} may use t only; got {text!r}.")
        inputs[name] = expression if expression.arguments else expression()
    return inputs


def inputs_at(inputs: Mapping[str, Any], t: float) -> dict[str, Any]:
    """Return the values of inputs at a time [s]."""
    return {name: value(t) if callable(value) else value for name, value in inputs.items()}


def check_target(path: Path | None, suffixes: tuple[str, ...], option: str) -> None:
    """Refuse a path that cannot be written before the work begins."""
    if path is None:
        return
    from anguilla.store.whole import as_target

    try:
        as_target(path, suffixes)
    except DescriptionError as error:
        raise DescriptionError(f"{option}: {error}") from None


def check_targets(out: Path | None, plot: Path | None, page: Path | None = None) -> None:
    """Refuse paths of --out, --plot and --page that cannot be written before the work begins, and name missing packages."""
    if out is not None and find_spec("h5py") is None:
        raise missing("files of results need", "h5py", "netcdf")
    if plot is not None and find_spec("matplotlib") is None:
        raise missing("figures need", "matplotlib", "plot")
    check_target(out, (".nc",), "--out")
    check_target(plot, FIGURES, "--plot")
    check_target(page, (".html", ".htm"), "--page")


def finish(
    output: Output, result: Any, out: Path | None, plot: Path | None, page: Path | None = None, *, ok: bool = True
) -> int:
    """Write what --out, --plot and --page ask for, close the output, and return the exit code."""
    if out is not None:
        output.wrote("result", save(result, out))
    if plot is not None:
        from anguilla.view.plots import plot as draw

        draw(result, plot)
        output.wrote("figure", plot)
    if page is not None:
        from anguilla.view.page import animate

        output.wrote("page", animate(result, page))
    output.close(ok)
    return DONE if ok else FAILED


def save(result: Any, out: Path) -> Path:
    """Write a result, or as a last resort where there is room for it, and say so."""
    try:
        return Path(result.save(out))
    except DescriptionError:
        raise
    except AnguillaError as error:
        spare = Path(tempfile.mkdtemp(prefix="anguilla-")) / out.name
        try:
            result.save(spare)
        except AnguillaError:
            spare.parent.rmdir()
            raise error from None
        raise AnguillaError(f"{error} The result is in {str(spare)!r}.") from None


def load_result(path: Path) -> Any:
    """Load a result of a robot or of a soft volume, or say what else the file is."""
    from anguilla.results.states import Equilibrium, Trajectory
    from anguilla.results_io import load

    if path.suffix.lower() in (".yaml", ".yml", ".urdf"):
        raise DescriptionError(
            f"{str(path)!r} is a robot, not a result: make one with anguilla statics or anguilla simulate, and --out FILE.nc."
        )
    result = load(path)
    if isinstance(result, Trajectory | Equilibrium):
        return result
    if not hasattr(result, "body"):
        raise DescriptionError(f"{str(path)!r} holds a closed-loop experiment; read it with anguilla.load or xarray.")
    return result


def tips(result: Any) -> dict[str, Any]:
    """Positions of the tips of rods and of the bodies, at the end of a motion or at an equilibrium [m]."""
    import numpy as np

    from anguilla.describe import RodHandle

    found = {}
    for part in result.robot.parts:
        frame = part.tip if isinstance(part, RodHandle) else part.root
        found[frame.label] = np.atleast_2d(result.position(frame))[-1]
    return found


def contacts(result: Any) -> dict[str, Any]:
    """Forces of contacts, of obstacles on parts and of parts a on parts b, at the end or at an equilibrium [N]."""
    import numpy as np

    found = {}
    for load in result.robot.loads:
        if load.touches or load.meets:
            force = result.exerted(load).force if load.touches else result.contacts(load).force
            found[load.label] = np.atleast_2d(force)[-1]
    return found


def pushing(result: Any) -> list[tuple[str, str]]:
    """Lines of a table about contacts."""
    rows = contacts(result).items()
    return [(name, "pushes with (" + ", ".join(f"{float(c):.4g}" for c in force) + ") N") for name, force in rows]


def point(position: Any) -> str:
    """A position in millimetres' precision, in metres."""
    return "(" + ", ".join(f"{float(c):.4f}" for c in position) + ") m"
