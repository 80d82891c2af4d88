"""``anguilla modes``: frequencies and damping of small motions about the equilibrium."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from anguilla.cli.common import DONE, InputOption, JsonOption, Output, RobotArgument, SetOption, inputs_of, read
from anguilla.errors import DescriptionError


def modes_command(
    robot: RobotArgument,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many modes, the slowest first.")] = 6,
    settings: SetOption = None,
    inputs: InputOption = None,
    machine: JsonOption = False,
) -> int:
    """List the natural frequencies about the equilibrium, with their damping and the coordinate that moves most."""
    output = Output(machine)
    file = read(robot, settings, output)
    from anguilla.solve.statics import statics

    given = {name: value(0.0) if callable(value) else value for name, value in inputs_of(file, inputs).items()}
    held = statics(file.robot, inputs=given, **file.statics)
    found = natural_modes(held, given)[:count]
    output.line(f"{'mode':>4}  {'frequency [Hz]':>14}  {'damping ratio':>13}  moves most")
    for k, mode in enumerate(found, start=1):
        output.line(f"{k:>4}  {mode['frequency']:>14.6g}  {mode['damping']:>13.4g}  {mode['coordinate']}")
    output.fact("modes", found)
    output.close()
    return DONE


def natural_modes(held: Any, inputs: dict[str, Any]) -> list[dict[str, Any]]:
    """Eigenvalues of M x'' + C x' + K x = 0 at an equilibrium, slowest first.

    A pair s, s* gives the undamped frequency |s| / 2 pi [Hz] and the damping ratio -Re(s) / |s|; a real s, an overdamped
    or unstable motion, counts for itself.
    """
    import numpy as np
    from scipy.linalg import eig

    if not getattr(held.system, "is_plain", True):
        raise DescriptionError("modes serves open robots, without loops, constraints and imposed motions.")
    K, C, M = held.system.matrices(held.q, inputs=inputs, t=held.t)
    n = len(K)
    zero, one = np.zeros((n, n)), np.eye(n)
    s, shapes = eig(np.block([[zero, one], [-K, -C]]), np.block([[one, zero], [zero, M]]))
    weight = held.system.tree.scale
    found = []
    for value, shape in zip(s, shapes.T, strict=True):
        if value.imag < -1e-9 * abs(value) or not np.isfinite(value):
            continue
        size = abs(value)
        most = int(np.argmax(np.abs(shape[:n]) * weight))
        damping = float(-value.real / size) if size > 0.0 else 0.0
        found.append({"frequency": size / (2.0 * np.pi), "damping": damping, "coordinate": held.coordinates[most]})
    return sorted(found, key=lambda mode: mode["frequency"])
