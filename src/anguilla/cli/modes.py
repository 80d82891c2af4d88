"""``anguilla modes``: frequencies and damping of small motions about the equilibrium."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from anguilla.cli.common import (
    DONE,
    InputOption,
    JsonOption,
    Output,
    RobotArgument,
    SetOption,
    inputs_at,
    inputs_of,
    read,
)


def modes_command(
    robot: RobotArgument,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Number of modes, slowest first.")] = 6,
    settings: SetOption = None,
    inputs: InputOption = None,
    machine: JsonOption = False,
) -> int:
    """List natural frequencies about the equilibrium, with damping ratios and what moves most."""
    output = Output(machine)
    file = read(robot, settings, output)
    from anguilla.solve.statics.statics import statics

    held = statics(file.robot, inputs=inputs_at(inputs_of(file, inputs), 0.0), **file.statics)
    found = natural_modes(held, count)[:count]
    output.line(f"{'mode':>4}  {'frequency [Hz]':>14}  {'damping ratio':>13}  moves most")
    for k, mode in enumerate(found, start=1):
        ratio = "-" if mode["damping"] is None else f"{mode['damping']:.4g}"  # not known of robots with soft volumes
        output.line(f"{k:>4}  {mode['frequency']:>14.6g}  {ratio:>13}  {mode['coordinate']}")
    output.fact("modes", found)
    output.close()
    return DONE


def natural_modes(held: Any, count: int | None = None) -> list[dict[str, Any]]:
    """Modes about an equilibrium as rows: frequency [Hz], damping ratio, and the coordinate, or volume, that moves most."""
    import numpy as np

    from anguilla.solve.modes.modes import modes

    if held.robot.volumes:
        return _with_volumes(modes(held.robot, held, count=count))
    found = modes(held.robot, held)
    most = np.argmax(np.abs(found.shapes) * held.system.tree.scale[:, None], axis=0)
    rows = zip(found.frequencies.tolist(), found.damping.tolist(), most, strict=True)
    return [{"frequency": f, "damping": d, "coordinate": held.coordinates[k]} for f, d, k in rows]


def _with_volumes(found: Any) -> list[dict[str, Any]]:
    """The same of a robot with soft volumes, whose damping is not found; a volume moves as the node that goes farthest."""
    import numpy as np

    rows = []
    for k, frequency in enumerate(found.frequencies.tolist()):
        far = {name: float(np.linalg.norm(x[..., k], axis=1).max()) for name, x in found.nodes.items()}
        rows.append({"frequency": frequency, "damping": None, "coordinate": max(far, key=lambda name: far[name])})
    return rows
