"""Lines of tendons and chambers in many states: their lengths, and how these depend on the coordinates."""

from __future__ import annotations

import numpy as np

from anguilla.describe import STRAIN_NAMES, Frame, RodHandle
from anguilla.errors import DescriptionError
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.blocks import parts
from anguilla.results.kinematics import motion_of
from anguilla.results.observe import S_X
from anguilla.results.virtual import generalised_forces

GAUSS_POINTS = 12  # in an interval of a rod: exact to degree 23

Vector = list[Floats]  # components of vectors at points of a line in many states, (nb or 1, points) each


def line_length(model: Model, name: str, q: Floats) -> Floats:
    """Length (nt,) [m] of an actuator's line inside the rods and between them, in states q (nt, n)."""
    return _line(model, name, q, False)[0]


def cable_length(model: Model, name: str, q: Floats) -> tuple[Floats, Floats]:
    """Length (nt,) [m] of an actuator's line inside the rods and between them, and its gradient (nt, n)."""
    return _line(model, name, q, True)


def _line(model: Model, name: str, q: Floats, slopes: bool) -> tuple[Floats, Floats]:
    actuators = model.robot.actuators
    if name not in actuators:
        raise DescriptionError(f"there is no actuator {name!r}; there are: {', '.join(actuators) or 'none'}.")
    length, gradient = np.zeros(len(q)), np.zeros((len(q) if slopes else 0, model.size))
    x, w = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    for part, routing, low, high in actuators[name].stretches:
        layout = model.layout.parts[part.index]
        assert layout.grid is not None
        ends = np.unique([low, high, *(X for X in layout.grid.X if low < X < high)])
        half = 0.5 * np.diff(ends)[:, None]
        X, weights = (ends[:-1, None] + half * (1.0 + x)).ravel(), (half * w).ravel()
        bases = {STRAIN_NAMES.index(strain): basis(X / part.length) for strain, basis in part.rod.strains.items()}
        D, slope = routing.offset(X), routing.slope(X)
        for at in parts(len(q), 16 * len(X)):  # arrays that stay in the cache
            line, stretch = _direction(part, bases, X, q[at, layout.coordinates], D, slope)
            length[at] += stretch @ weights
            if slopes:
                by_strain = _slopes([component / stretch for component in line], D)
                columns = [(by_strain[k] * weights) @ basis for k, basis in bases.items()]
                gradient[at, layout.coordinates] += np.concatenate(columns, axis=1)
    for a, b in actuators[name].spans:
        _add_span(model, a, b, q, length, gradient)
    return length, gradient


def _direction(part: RodHandle, bases: dict[int, Floats], X: Floats, q: Floats, D: Floats, slope: Floats) -> tuple:
    """Derivative of a line's place by X, section axes: its components (nb or 1, points), and its size (nb, points).

    It is Gamma + K x D + D', D (points, 3) being the place in the section. Strains without coordinates and offsets that
    vanish cost nothing.
    """
    xi: Vector = list(part.rod.rest.strain(X).T[:, None, :])
    at = 0
    for k, basis in bases.items():
        xi[k] = xi[k] + q[:, at : at + basis.shape[1]] @ basis.T
        at += basis.shape[1]
    line = [xi[3 + k] + slope[:, k] for k in range(3)]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if np.any(D[:, j]):
            line[k] = line[k] + xi[i] * D[:, j]
        if np.any(D[:, i]):
            line[k] = line[k] - xi[j] * D[:, i]
    stretch = np.sqrt(line[0] * line[0] + line[1] * line[1] + line[2] * line[2])
    return line, np.broadcast_to(stretch, (len(q), len(X)))


def _slopes(t: Vector, D: Floats) -> Vector:
    """Derivatives of the stretch by the six strains: D x t, then the direction t."""
    turning = [D[:, (k + 1) % 3] * t[(k + 2) % 3] - D[:, (k + 2) % 3] * t[(k + 1) % 3] for k in range(3)]
    return turning + t


def _add_span(model: Model, a: Frame, b: Frame, q: Floats, length: Floats, gradient: Floats) -> None:
    """Add the length (nt,) of the span between two frames, and its gradient (nt, n) if that is asked for."""
    zero = np.zeros_like(q)
    place = motion_of(model, [a, b], q, zero, zero)[:, :, S_X : S_X + 3]
    line = place[:, 1] - place[:, 0]
    distance = np.linalg.norm(line, axis=1)
    length += distance
    if not len(gradient):
        return
    pull, out = np.zeros((len(q), 6)), np.zeros_like(gradient)
    pull[:, 3:] = line / distance[:, None]
    for frame, sign in ((a, -1.0), (b, 1.0)):  # a force along the line on either end works on its length
        node = model.layout.node(frame) or 0
        generalised_forces(model.tree, model.workspace, node, np.ascontiguousarray(q), np.zeros(model.size), pull, out)
        gradient += sign * out
