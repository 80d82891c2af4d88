"""Lines of tendons and chambers in many states: their lengths, and how these depend on the coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anguilla.compiler.jit import kernel
from anguilla.describe import STRAIN_NAMES, Frame, RodHandle
from anguilla.errors import DescriptionError
from anguilla.mechanics.grid import gauss
from anguilla.mechanics.tree import Floats
from anguilla.model.model import Model
from anguilla.results.blocks import parts
from anguilla.results.kinematics import motion_of
from anguilla.results.observe import S_X
from anguilla.results.virtual import generalised_forces

# in an interval of a rod, for lines that keep their place in the sections, and for others: exact to degree 11 and 23
PARALLEL, WOUND = 6, 12

Vector = list[Floats]  # components of vectors at points of a line in many states, (nb or 1, points) each


def line_lengths(model: Model, names: Sequence[str], q: Floats) -> Floats:
    """Lengths (nt, names) [m] of actuators' lines inside the rods and between them, in states q (nt, n)."""
    return _lines(model, names, q, False)[0]


def cable_length(model: Model, name: str, q: Floats) -> tuple[Floats, Floats]:
    """Length (nt,) [m] of an actuator's line inside the rods and between them, and its gradient (nt, n)."""
    length, gradient = _lines(model, [name], q, True)
    return length[:, 0], gradient[:, :, 0]


@dataclass(frozen=True)
class _Stretch:
    """A line along a piece of a rod, at points (p,)."""

    number: int  # of the line
    D: Floats  # (3, p) place in the section [m]
    slope: Floats  # (3, p) its derivative by X


@dataclass(frozen=True)
class _Piece:
    """A piece of a rod with the lines along it, cut into points (p,)."""

    part: RodHandle
    X: Floats  # (p,) [m]
    weights: Floats  # (p,) [m]
    bases: dict[int, Floats]  # values (p, modes) of the basis of each strain
    lines: list[_Stretch]


def _pieces(model: Model, names: Sequence[str]) -> list[_Piece]:
    """Pieces of rods, each with all lines along it."""
    actuators, found = model.robot.actuators, dict[tuple[int, float, float, int], _Piece]()
    for number, name in enumerate(names):
        if name not in actuators:
            raise DescriptionError(f"there is no actuator {name!r}; there are: {', '.join(actuators) or 'none'}.")
        for part, routing, low, high in actuators[name].stretches:
            wound = bool(np.any(routing.slope(np.linspace(low, high, 9))))
            count = WOUND if wound else PARALLEL
            key = part.index, low, high, count
            if key not in found:
                layout = model.layout.parts[part.index]
                assert layout.grid is not None
                x, w = gauss(count)
                ends = np.unique([low, high, *(X for X in layout.grid.X if low < X < high)])
                half = 0.5 * np.diff(ends)[:, None]
                X, weights = (ends[:-1, None] + half * (1.0 + x)).ravel(), (half * w).ravel()
                bases = {STRAIN_NAMES.index(k): basis(X / part.length) for k, basis in part.rod.strains.items()}
                found[key] = _Piece(part, X, weights, bases, [])
            piece = found[key]
            places = (np.array(x(piece.X).T, dtype=np.float64, order="C") for x in (routing.offset, routing.slope))
            piece.lines.append(_Stretch(number, *places))
    return list(found.values())


@kernel
def _add_lengths(strain, D, slope, weights, out):
    """Add to out (nb,) the lengths of a line along a piece, of its strains (6, nb, p), places and slopes (3, p)."""
    for t in range(len(out)):
        total = 0.0
        k1, k2, k3, g1, g2, g3 = strain[0, t], strain[1, t], strain[2, t], strain[3, t], strain[4, t], strain[5, t]
        for i in range(len(weights)):  # in step through all arrays: several points at a time
            x = g1[i] + slope[0, i] + k2[i] * D[2, i] - k3[i] * D[1, i]
            y = g2[i] + slope[1, i] + k3[i] * D[0, i] - k1[i] * D[2, i]
            z = g3[i] + slope[2, i] + k1[i] * D[1, i] - k2[i] * D[0, i]
            total += weights[i] * math.sqrt(x * x + y * y + z * z)
        out[t] += total


def _lines(model: Model, names: Sequence[str], q: Floats, slopes: bool) -> tuple[Floats, Floats]:
    """Lengths (nt, names), and their gradients (nt, n, names) if they are asked for."""
    length, gradient = np.zeros((len(names), len(q))), np.zeros((len(q) if slopes else 0, model.size, len(names)))
    for piece in _pieces(model, names):
        own = model.layout.parts[piece.part.index].coordinates
        for at in parts(len(q), 16 * len(piece.X)):  # arrays that stay in the cache
            strain = _strain(piece, q[at, own])
            whole = np.stack([np.broadcast_to(x, (at.stop - at.start, len(piece.X))) for x in strain])
            for line in piece.lines:
                _add_lengths(whole, line.D, line.slope, piece.weights, length[line.number, at])
                if slopes:
                    along, stretch = _direction(line, strain, at.stop - at.start)
                    by_strain = _slopes([component / stretch for component in along], line.D)
                    columns = [(by_strain[k] * piece.weights) @ basis for k, basis in piece.bases.items()]
                    gradient[at, own, line.number] += np.concatenate(columns, axis=1)
    for number, name in enumerate(names):
        for a, b in model.robot.actuators[name].spans:
            _add_span(model, a, b, q, length[number], gradient[:, :, number])
    return np.ascontiguousarray(length.T), gradient


class LineLengths:
    """Lines of all actuators of a model in one state after the other: what does not depend on the state is found once.

    Inside rods the derivative of a line's place by X is linear in the coordinates, in section axes.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.names = model, list(model.robot.actuators)
        states = np.vstack([np.zeros((1, model.size)), np.eye(model.size)])
        rest, by_q, weights, owner = [np.zeros((0, 3))], [np.zeros((0, 3, model.size))], [np.zeros(0)], []
        for piece in _pieces(model, self.names):
            strain = _strain(piece, states[:, model.layout.parts[piece.part.index].coordinates])
            for line in piece.lines:
                along = [
                    np.broadcast_to(x, (len(states), len(piece.X))) for x in _direction(line, strain, len(states))[0]
                ]
                places = np.stack(along, axis=2)  # (1 + n, p, 3)
                rest.append(places[0])
                by_q.append((places[1:] - places[0]).transpose(1, 2, 0))
                weights.append(piece.weights)
                owner += [line.number] * len(piece.X)
        self._rest, self._weight = np.concatenate(rest), np.concatenate(weights)
        self._by_q = np.ascontiguousarray(np.concatenate(by_q).reshape(-1, model.size))
        self._sums = np.zeros((len(self.names), len(owner)))
        self._sums[owner, np.arange(len(owner))] = 1.0
        self._spans = [(k, *span) for k, a in enumerate(model.robot.actuators.values()) for span in a.spans]

    def lengths(self, q: Floats) -> Floats:
        """Lengths (k,) [m] of all lines for coordinates q (n,), without their gradients."""
        if self._spans:
            return self.at(q)[0]
        line = self._rest + (self._by_q @ q).reshape(-1, 3)
        return np.asarray(self._sums @ (np.sqrt(np.einsum("mi,mi->m", line, line)) * self._weight), dtype=np.float64)

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


def _strain(piece: _Piece, q: Floats) -> Vector:
    """The six strains at the points of a piece; those without coordinates are the same in all states."""
    xi: Vector = list(piece.part.rod.rest.strain(piece.X).T[:, None, :])
    at = 0
    for k, basis in piece.bases.items():
        xi[k] = xi[k] + q[:, at : at + basis.shape[1]] @ basis.T
        at += basis.shape[1]
    return xi


def _direction(line: _Stretch, xi: Vector, count: int) -> tuple[Vector, Floats]:
    """Derivative Gamma + K x D + D' of a line's place by X, section axes, and its size (count, points).

    Offsets that vanish cost nothing.
    """
    D, along = line.D, [xi[3 + k] + line.slope[k] for k in range(3)]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if np.any(D[j]):
            along[k] = along[k] + xi[i] * D[j]
        if np.any(D[i]):
            along[k] = along[k] - xi[j] * D[i]
    stretch = np.sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2])
    return along, np.broadcast_to(stretch, (count, stretch.shape[1]))


def _slopes(t: Vector, D: Floats) -> Vector:
    """Derivatives of the stretch by the six strains: D x t, then the direction t."""
    turning = [D[(k + 1) % 3] * t[(k + 2) % 3] - D[(k + 2) % 3] * t[(k + 1) % 3] for k in range(3)]
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
    pull, out = np.zeros((len(q), 6)), np.zeros(gradient.shape)
    pull[:, 3:] = line / distance[:, None]
    for frame, sign in ((a, -1.0), (b, 1.0)):  # a force along the line on either end works on its length
        node = model.layout.node(frame) or 0
        generalised_forces(model.tree, model.workspace, node, np.ascontiguousarray(q), np.zeros(model.size), pull, out)
        gradient += sign * out
