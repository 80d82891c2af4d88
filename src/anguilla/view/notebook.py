"""What a notebook shows as the value of a cell: a page with the robot, a table, and curves."""

from __future__ import annotations

import base64
import html
from collections import Counter
from typing import Any

import numpy as np

from anguilla.describe import Robot, RodHandle
from anguilla.describe.strains import STRAIN_NAMES
from anguilla.errors import AnguillaError
from anguilla.model.door import model_of
from anguilla.results.lines import cable_length
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.steps.stepper import Stepper
from anguilla.view import panels
from anguilla.view.mixed import is_mixed
from anguilla.view.page import inline, page_of
from anguilla.view.plots import busiest_frame
from anguilla.view.scene import as_computed
from anguilla.view.style import figure, figure_style

__all__ = ["at_rest", "html_of"]

BUDGET = 0.4e6  # characters of poses in a cell; `animate` affords more
MOST_ROWS = 8  # parts or places in a table; the others are counted

Rows = list[tuple[str, str]]


def html_of(thing: Robot | Equilibrium | Trajectory) -> str:
    """What a notebook shows of a robot, an equilibrium or a motion."""
    if isinstance(thing, Robot):
        return _of_robot(thing)
    title, rows = _table_of_motion(thing) if isinstance(thing, Trajectory) else _table_of_equilibrium(thing)
    if is_mixed(thing):
        return _beside(page_of(thing, BUDGET), title, rows, "")
    return _beside(page_of(as_computed(thing), BUDGET), title, rows, _curves(thing))


def at_rest(robot: Robot) -> Trajectory:
    """The robot in its rest shape, with its loops closed, as a motion of one state."""
    by_length = [name for name, actuator in robot.actuators.items() if actuator.slack is not None]
    system = model_of(robot)
    still = np.zeros((1, system.size))
    lengths = {name: float(cable_length(system, name, still)[0][0]) for name in by_length}
    return Stepper(robot, dt=1e-3, inputs=lengths).result()


def _of_robot(robot: Robot) -> str:
    title, rows = _table_of_robot(robot)
    if not robot.parts:
        return _table(title, rows)
    try:
        return _beside(page_of(at_rest(robot), BUDGET), title, rows, "")
    except AnguillaError as problem:  # a description that is not finished yet
        return _table(title, [*rows, ("no picture", str(problem))])


def _table_of_robot(robot: Robot) -> tuple[str, Rows]:
    rows: Rows = [("coordinates", str(robot.size))]
    for part in robot.parts[:MOST_ROWS]:
        kind = f"rod, {part.length:.4g} m" if isinstance(part, RodHandle) else "rigid body"
        rows.append((part.name, f"{kind}, {part.size} coordinate{'' if part.size == 1 else 's'}"))
    if len(robot.parts) > MOST_ROWS:
        rows.append(("...", f"{len(robot.parts) - MOST_ROWS} more parts"))
    inputs = [f"{name} [{unit}]" if unit else name for name, unit in robot.inputs.items()]
    counts = Counter(type(load).__name__ for load in robot.loads)
    loads = [f"{count} {name}" if count > 1 else name for name, count in counts.items()]
    for name, found in (("inputs", inputs), ("loads", loads), ("loops", robot.closures), ("sensors", robot.sensors)):
        if found:
            rows.append((name, _listed(list(found))))
    return f"robot {robot.name}", rows


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_ROWS} more" if len(names) > MOST_ROWS else ""
    return ", ".join(names[:MOST_ROWS]) + more


def _table_of_equilibrium(eq: Equilibrium) -> tuple[str, Rows]:
    rows: Rows = [("status", eq.status.message), ("coordinates", str(eq.q.size))]
    if eq.status.success:
        rows.append(("estimated error", f"{100.0 * eq.error_estimate:.2g} % of the length"))
    for part in eq.robot.parts[:MOST_ROWS]:
        rod = isinstance(part, RodHandle)
        rows.append((f"{part.name}{'.tip' if rod else ''}", _point(eq.position(part.tip if rod else part.root))))
    return f"equilibrium of {eq.robot.name}", rows


def _table_of_motion(run: Trajectory) -> tuple[str, Rows]:
    rows: Rows = [
        ("status", run.status.message),
        ("time", f"{run.t[0]:g} to {run.t[-1]:g} s, {len(run.t)} states"),
        ("coordinates", str(run.q.shape[1])),
    ]
    if run.status.seconds:
        rows.append(("computed in", f"{run.status.seconds:.2g} s"))
    if run.quality is not None:
        rows.append(("quality", str(run.quality)))
    return f"motion of {run.robot.name}", rows


def _point(position: Any) -> str:
    return "(" + ", ".join(f"{float(x):.4f}" for x in position) + ") m"


def _curves(result: Equilibrium | Trajectory) -> str:
    """A small picture: the path of the tip and the energies of a motion, or the strains of an equilibrium."""
    rods = [part for part in result.robot.parts if isinstance(part, RodHandle)]
    moving = isinstance(result, Trajectory)
    if (moving and len(result.t) < 2) or not (moving or (rods and rods[0].rod.strains.names)):
        return ""
    with figure_style():
        fig = figure(4.2, 3.6 if moving else 2.4)
        if isinstance(result, Trajectory):
            panels.draw_tip(fig.add_subplot(2, 1, 1), result, busiest_frame(result))
            panels.draw_energies(fig.add_subplot(2, 1, 2), result)
        else:
            names = rods[0].rod.strains.names
            bending = [name for name in STRAIN_NAMES[:3] if name in names]
            panels.draw_strains(fig.add_subplot(), result, rods[0], bending or list(names))
        picture = base64.b64encode(fig.png()).decode("ascii")
    return f'<img src="data:image/png;base64,{picture}" style="width:100%;max-width:420px" alt="curves over time">'


def _table(title: str, rows: Rows) -> str:
    cell = 'style="text-align:left;vertical-align:top;padding:2px 8px"'
    body = "".join(f"<tr><th {cell}>{html.escape(a)}</th><td {cell}>{html.escape(b)}</td></tr>" for a, b in rows)
    return f"<strong>{html.escape(title)}</strong><table>{body}</table>"


def _beside(page: str, title: str, rows: Rows, picture: str) -> str:
    """A page, and beside it, or below where there is no room, a table and a picture."""
    shown = inline(page, "flex:3 1 380px;height:430px;min-width:0")
    about = f'<div style="flex:2 1 260px;min-width:0">{_table(title, rows)}{picture}</div>'
    return f'<div style="display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start">{shown}{about}</div>'
