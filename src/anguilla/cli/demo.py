"""``anguilla demo``: a soft arm, pulled and twisted at its tip, is released."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anguilla.cli.common import DONE, OpenOption, open_page
from anguilla.errors import AnguillaError, MissingPackageError

if TYPE_CHECKING:
    from anguilla.describe import RodHandle
    from anguilla.results.states import Equilibrium, Trajectory


def demo(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Output folder.")] = Path("out"),
    opened: OpenOption = None,
) -> int:
    """Simulate a soft arm that is released, and show the result."""
    from rich.console import Console

    if out.exists() and not out.is_dir():
        raise AnguillaError(f"--out must name a folder; {str(out)!r} is a file.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AnguillaError(f"--out: the folder {str(out)!r} cannot be made: {error.strerror}.") from None
    console = Console(highlight=False)
    console.print("[bold]A soft arm[/bold], pulled and twisted at its tip, is released.")
    began = time.perf_counter()
    release(duration=0.01)  # compile or load the kernels, so that the times below are those of the work
    prepared = time.perf_counter() - began
    arm, held, run = release(duration=3.0)
    console.print(_summary(arm, held, run, prepared))
    from anguilla.view.page import animate
    from anguilla.view.plots import plot

    picture, page = out / "demo.png", out / "demo.html"
    drawn = {page: "open it in a browser: play, turn, zoom"}
    with console.status("drawing"):
        animate(run, page)
        try:
            plot(run, picture)
            drawn[picture] = "overview"
        except MissingPackageError as error:
            console.print(f"{error} There is no {picture.name} therefore.", markup=False, soft_wrap=True)
    for path, what in reversed(drawn.items()):
        console.print(str(path), style="bold", end="", markup=False, soft_wrap=True)
        console.print(f"   {what}", style="dim", soft_wrap=True)
    open_page(page.resolve().as_uri(), opened)
    return DONE


def release(duration: float) -> tuple[RodHandle, Equilibrium, Trajectory]:
    """Return the arm, its equilibrium and its motion: the robot of examples/arm_release.py, which tells it step by step."""
    from anguilla.describe import Circle, Material, Robot, Rod, reissner, taper
    from anguilla.interact import TipWrench
    from anguilla.solve.statics.statics import statics
    from anguilla.solve.steps.dynamics import simulate

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
