"""The geometry of soft volumes for pictures: surface, chambers and tendons over time, and what the colours show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla.errors import DescriptionError
from anguilla.fem.body import SoftBody
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.elements import Grid, make_grid
from anguilla.fem.fields import equivalent_strain, nodal, von_mises
from anguilla.fem.parts import Chamber, Tendon
from anguilla.fem.results import SoftEquilibrium
from anguilla.view.style import COLOURS

__all__ = ["QUANTITIES", "SoftResult", "Volume", "is_soft", "thinned", "volume"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
SoftResult = SoftBody | SoftEquilibrium | SoftTrajectory
QUANTITIES = {"displacement": "m", "stress": "Pa", "strain": "-"}
CHAMBER, TENDON = COLOURS[4], "#282C34"
MOST_SHOWN = 99.0  # per cent of the nodes: a few at corners and supports would take all the colours


@dataclass(frozen=True, slots=True)
class Volume:
    """A soft volume to draw.

    Attributes:
        name: name of the body.
        t: (time,) instants [s].
        rest: (n, 3) nodes at rest [m].
        x: (time, n, 3) nodes [m].
        faces: (k, 3) triangles of the outside through all nodes, normals outwards.
        chambers: triangles of each chamber, by name.
        lines: (time, k, 3) points [m] of each tendon, by name.
        quantity: what the colours show, or "" for a body at rest.
        values: (time, n) its values at the nodes.

    """

    name: str
    t: Array
    rest: Array
    x: Array
    faces: Ints
    chambers: dict[str, Ints]
    lines: dict[str, Array]
    quantity: str
    values: Array

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return QUANTITIES.get(self.quantity, "")

    @property
    def limits(self) -> tuple[float, float]:
        """Values at the two ends of the colours; those of one node in a hundred lie beyond the upper one."""
        seen = self.values[:, np.unique(self.faces)]
        low, high = float(seen.min()), float(np.percentile(seen, MOST_SHOWN))
        return (low, high) if high > low else (low, max(float(seen.max()), low + 1e-300))

    @property
    def bounds(self) -> Array:
        """Smallest and largest coordinates (2, 3) [m] over all instants."""
        return np.array([self.x.min(axis=(0, 1)), self.x.max(axis=(0, 1))])

    def shown(self, index: int) -> Array:
        """Values (n,) of an instant as places on the scale of colours, from 0 to 1."""
        low, high = self.limits
        return np.asarray(np.clip((self.values[index] - low) / (high - low), 0.0, 1.0))


def is_soft(result: object) -> bool:
    """Whether something is a soft volume or a result of one."""
    return isinstance(result, (SoftBody, SoftEquilibrium, SoftTrajectory))


def thinned(run: SoftTrajectory, most: int) -> SoftTrajectory:
    """The motion with at most so many instants, equally spaced; the first and the last stay."""
    n = len(run.t)
    keep = np.unique(np.linspace(0, n - 1, max(2, min(n, most))).round().astype(int))
    return run.picked(keep)


def volume(result: SoftResult, colour: str = "displacement") -> Volume:
    """Return the geometry of a soft volume, or of a result of one.

    Args:
        result: a SoftBody (drawn at rest), a SoftEquilibrium or a SoftTrajectory.
        colour: what the colours show: "displacement" [m], "stress" (von Mises, elastic part [Pa]) or "strain" (equivalent
            logarithmic [-]), at the nodes.

    """
    if colour not in QUANTITIES:
        raise DescriptionError(f"colour must be one of {', '.join(map(repr, QUANTITIES))}; got {colour!r}.")
    body = result if isinstance(result, SoftBody) else result.body
    grid = make_grid(body.mesh, body.element)
    chambers = {
        name: _refined(grid, body.surface(part.surface, name))
        for name, part in body.actuators.items()
        if isinstance(part, Chamber)
    }
    faces = grid.refine(body.mesh.shells()[0])  # the outside
    if isinstance(result, SoftBody):
        lines = {name: _chain(part, part.points)[None] for name, part in _tendons(body).items()}
        still = grid.points[None]
        return Volume(
            body.name, np.zeros(1), grid.points, still, faces, chambers, lines, "", np.zeros((1, len(still[0])))
        )
    x, t = (result.x, result.t) if isinstance(result, SoftTrajectory) else (result.x[None], np.zeros(1))
    lines = {}
    for name, part in _tendons(body).items():
        held = [result.system.hold(point, part.pad) for point in part.points]
        moved = np.stack([np.einsum("k,tki->ti", weights, x[:, nodes]) for nodes, weights in held], axis=1)
        lines[name] = np.array([_chain(part, points) for points in moved])
    return Volume(body.name, t, grid.points, x, faces, chambers, lines, colour, _values(result, x, colour))


def _values(result: SoftEquilibrium | SoftTrajectory, x: Array, colour: str) -> Array:
    system = result.system
    if colour == "displacement":
        return np.linalg.norm(x - system.grid.points, axis=2)
    field = von_mises if colour == "stress" else equivalent_strain
    return np.array([nodal(system, field(system, now)) for now in x])


def _tendons(body: SoftBody) -> dict[str, Tendon]:
    return {name: part for name, part in body.actuators.items() if isinstance(part, Tendon)}


def _chain(part: Tendon, points: Array) -> Array:
    """Points (k, 3) of a tendon, with where it comes from."""
    return points if part.origin is None else np.concatenate([np.asarray(part.origin)[None], points])


def _refined(grid: Grid, triangles: Ints) -> Ints:
    """Triangles through all nodes; those with a side that is no edge of the mesh (the cap of a chamber) stay as they are."""
    whole = (
        np.all(grid.middles_of(triangles) >= 0, axis=1) if len(grid.middles) else np.ones(len(triangles), dtype=bool)
    )
    return np.concatenate([grid.refine(triangles[whole]), triangles[~whole]])
