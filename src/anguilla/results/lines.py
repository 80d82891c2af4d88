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


class Lines:
    """Lines of all actuators of a model in one state after the other: what does not depend on the state is found once.

    Inside rods the derivative of a line's place by X is linear in the coordinates, in section axes.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.names = model, list(model.robot.actuators)
        zero, unit = np.zeros((1, model.size)), np.eye(model.size)
        rest, by_q, weights, owner = [np.zeros((0, 3))], [np.zeros((0, 3, model.size))], [np.zeros(0)], []
        for number, actuator in enumerate(model.robot.actuators.values()):
            for part, routing, low, high in actuator.stretches:
                X, weight, bases = _points(model, part, low, high)
                own, sides = model.layout.parts[part.index].coordinates, (routing.offset(X), routing.slope(X))
                shape, steps = (3, 1, len(X)), (3, model.size, len(X))
                first = _direction(part, bases, X, zero[:, own], *sides)[0]
                then = _direction(part, bases, X, unit[:, own], *sides)[0]
                base = np.broadcast_to(np.array([np.broadcast_to(x, shape[1:]) for x in first]), shape)
                moved = np.array([np.broadcast_to(x, steps[1:]) for x in then])
                rest.append(base[:, 0].T)
                by_q.append((moved - base).transpose(2, 0, 1))
                weights.append(weight)
                owner += [number] * len(X)
        self._rest, self._weight = np.concatenate(rest), np.concatenate(weights)
        self._by_q = np.ascontiguousarray(np.concatenate(by_q).reshape(-1, model.size))
        self._sums = np.zeros((len(self.names), len(owner)))
        self._sums[owner, np.arange(len(owner))] = 1.0
        self._spans = [(k, *span) for k, a in enumerate(model.robot.actuators.values()) for span in a.spans]

    def at(self, q: Floats) -> tuple[Floats, Floats]:
        """Lengths (k,) [m] of all lines, and their gradients (k, n), for coordinates q (n,)."""
        line = self._rest + (self._by_q @ q).reshape(-1, 3)
        stretch = np.sqrt(np.einsum("mi,mi->m", line, line))
        pull = line * (self._weight / stretch)[:, None]
        length = self._sums @ (stretch * self._weight)
        gradient = (self._sums[:, :, None] * pull).reshape(len(self.names), -1) @ self._by_q
        for k, a, b in self._spans:
            _add_span(self.model, a, b, q[None], length[k : k + 1], gradient[k : k + 1])
        return length, gradient


def _points(model: Model, part: RodHandle, low: float, high: float) -> tuple[Floats, Floats, dict[int, Floats]]:
    """Gauss points and weights [m] between two sections of a rod, and the values of its bases there by strain."""
    x, w = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    layout = model.layout.parts[part.index]
    assert layout.grid is not None
    ends = np.unique([low, high, *(X for X in layout.grid.X if low < X < high)])
    half = 0.5 * np.diff(ends)[:, None]
    X = (ends[:-1, None] + half * (1.0 + x)).ravel()
    bases = {STRAIN_NAMES.index(strain): basis(X / part.length) for strain, basis in part.rod.strains.items()}
    return X, (half * w).ravel(), bases


def _line(model: Model, name: str, q: Floats, slopes: bool) -> tuple[Floats, Floats]:
    actuators = model.robot.actuators
    if name not in actuators:
        raise DescriptionError(f"there is no actuator {name!r}; there are: {', '.join(actuators) or 'none'}.")
    length, gradient = np.zeros(len(q)), np.zeros((len(q) if slopes else 0, model.size))
    for part, routing, low, high in actuators[name].stretches:
        layout = model.layout.parts[part.index]
        X, weights, bases = _points(model, part, low, high)
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
