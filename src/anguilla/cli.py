"""The command line: ``anguilla demo``, ``anguilla info``, ``anguilla --version``.

Exit codes: 0 done, 1 the work failed, 2 the command was not understood.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anguilla.errors import AnguillaError

if TYPE_CHECKING:
    from anguilla.describe import RodHandle
    from anguilla.results import Equilibrium, Trajectory

__all__ = ["main"]

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130
PACKAGES = ("numpy", "scipy", "numba", "matplotlib", "rich")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    parser = _parser()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as end:  # argparse has printed its help, the version or a complaint
        return int(end.code or DONE)
    if arguments.command is None:
        parser.print_help()
        return MISUSED
    try:
        return int(arguments.command(arguments))
    except AnguillaError as error:
        print(f"anguilla: {error}", file=sys.stderr)
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        print(f"anguilla: {error.strerror or error}{place}", file=sys.stderr)
    except KeyboardInterrupt:
        print("anguilla: interrupted", file=sys.stderr)
        return INTERRUPTED
    return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="anguilla", description="Simulation of soft and continuum robots.")
    parser.add_argument("--version", action="version", version=f"anguilla {_version('anguilla')}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    demo = commands.add_parser("demo", help="simulate a soft arm that is released, and draw it")
    demo.add_argument("--out", type=Path, default=Path("out"), metavar="FOLDER", help="where to write (default: out)")
    demo.set_defaults(command=_demo)
    info = commands.add_parser("info", help="show versions, the folder of compiled kernels, and threads")
    info.set_defaults(command=_info)
    return parser


def _version(package: str) -> str:
    if package == "anguilla":  # this package, also when it runs from its sources without being installed
        return str(sys.modules["anguilla"].__version__)
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


# info -----------------------------------------------------------------------------------------------------------------


def _info(_: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.text import Text

    table = _rows()
    table.add_row("anguilla", _version("anguilla"))
    table.add_row("python", f"{platform.python_version()} ({platform.system()}, {platform.machine()})")
    for package in PACKAGES:
        table.add_row(package, _version(package))
    files, size = _compiled()
    kernels = f"{files} files, {size / 1e6:.1f} MB" if files else "none yet: the first run compiles them"
    table.add_row("kernels", kernels)
    table.add_row("cache folder", Text(str(_cache_folder()), overflow="fold"))
    table.add_row("threads", f"1 per simulation, {_threads()} available")
    Console().print(table)
    return DONE


def _threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cache_folder() -> Path:
    from anguilla._jit import cache_root

    return cache_root()


def _compiled() -> tuple[int, int]:
    """Number and total size [bytes] of the compiled kernels on disk."""
    sizes = [file.stat().st_size for file in _cache_folder().rglob("*.nb*")]
    return len(sizes), sum(sizes)


# demo -----------------------------------------------------------------------------------------------------------------


def _demo(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    out: Path = arguments.out
    if out.exists() and not out.is_dir():
        raise AnguillaError(f"--out must name a folder; {str(out)!r} is a file.")
    out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    console.print("[bold]A soft arm[/bold], pulled and twisted at its tip, is released.")
    if not _compiled()[0]:
        console.print("First run: compiling the kernels, about a minute; they are kept.")
    began = time.perf_counter()
    with console.status("preparing"):
        _release(duration=0.01)  # compile or load the kernels, so that the times below are those of the work
    prepared = time.perf_counter() - began
    arm, held, run = _release(duration=3.0)
    console.print(_summary(arm, held, run, prepared))
    from anguilla.view.page import animate
    from anguilla.view.plots import plot

    picture, page = out / "demo.png", out / "demo.html"
    with console.status("drawing"):
        plot(run, picture)
        animate(run, page)
    for path, what in ((picture, "overview"), (page, "open it in a browser: play, turn, zoom")):
        console.print(str(path), style="bold", end="", markup=False, soft_wrap=True)
        console.print(f"   {what}", style="dim", soft_wrap=True)
    return DONE


def _release(duration: float) -> tuple[RodHandle, Equilibrium, Trajectory]:
    """The robot of examples/arm_release.py, which tells it step by step."""
    from anguilla.describe import Circle, Material, Robot, Rod, TipWrench, reissner, taper
    from anguilla.solve.dynamics import simulate
    from anguilla.solve.statics import statics

    silicone = Material(young=4e5, poisson=0.5, density=1070, damping=0.03)
    section = taper(Circle(radius=0.020), Circle(radius=0.008), 0.4)
    strains = reissner(modes=4, twist_modes=3, stretch_modes=2, shear_modes=1)
    robot = Robot("soft_arm")
    arm = robot.add(Rod(0.4, section, silicone, strains), at=robot.ground, name="arm")
    robot.load(
        TipWrench(
            arm,
            force=lambda t: (-0.8, 0.8, 1.5) if t < 0.25 else (0.0, 0.0, 0.0),
            moment=lambda t: (0.03, 0.0, 0.03) if t < 0.25 else (0.0, 0.0, 0.0),
        )
    )
    held = statics(robot)
    return arm, held, simulate(robot, duration=duration, dt=0.005, start=held, progress=False)


def _rows() -> Any:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    return table


def _point(position: Any) -> str:
    return "(" + ", ".join(f"{100.0 * float(c):.1f}" for c in position) + ") cm"


def _summary(arm: RodHandle, held: Equilibrium, run: Trajectory, prepared: float) -> Any:
    """A table of what happened."""
    table, counters, energy = _rows(), run.status.counters, run.energy
    simulated, wall = float(run.t[-1]), run.status.seconds
    strains = ", ".join(arm.rod.strains.names)
    table.add_row("robot", f"1 rod of {100.0 * arm.length:g} cm, {1e3 * arm.rod.mass:.0f} g")
    table.add_row("coordinates", f"{run.system.size}: {strains}")
    table.add_row("equilibrium", f"tip at {_point(held.position(arm.tip))}")
    table.add_row("", f"{held.status.counters['iterations']} iterations, {1e3 * held.status.seconds:.1f} ms")
    table.add_row("motion", f"{simulated:g} s in {counters['steps']} steps, {counters['iterations']} iterations")
    table.add_row("", f"{wall:.3f} s of wall time: [bold]{simulated / wall:.0f} times faster than real time[/bold]")
    table.add_row("", f"tip at {_point(run.position(arm.tip)[-1])} at the end")
    lost, moving = 1e3 * (energy["total"][0] - energy["total"][-1]), 1e3 * energy["kinetic"][-1]
    table.add_row("energy", f"{lost:.0f} mJ lost to damping, {moving:.1f} mJ still in motion")
    table.add_row("preparation", f"{prepared:.1f} s to compile or load the kernels")
    return table
