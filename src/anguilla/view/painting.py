"""Rods of a viewer coloured by strain or internal force: bands of one colour each, in place of the plain surface."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from anguilla.describe import Robot, RodHandle
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.view.scene import Array, Scene, Tube
from anguilla.view.style import TIME_MAP

__all__ = ["QUANTITIES", "Paint", "values_along"]

# name on the page: unit, whether it is read from the wrench, and the columns whose length is shown
QUANTITIES = {
    "bending": ("rad/m", False, slice(1, 3)),
    "twist": ("rad/m", False, slice(0, 1)),
    "stretch": ("", False, slice(3, 4)),
    "moment": ("N m", True, slice(0, 3)),
    "force": ("N", True, slice(3, 6)),
}
BANDS = 20  # of a rod, at most
MOST_RODS = 40  # more are not coloured


def values_along(result: Trajectory | Equilibrium, rod: RodHandle, X: Array, quantity: str) -> Array:
    """A quantity along a rod at arc lengths X [m]: (time, points)."""
    _, wrench, columns = QUANTITIES[quantity]
    field = result.wrench(rod, X) if wrench else result.strain(rod, X)
    field = np.atleast_3d(field).reshape(-1, len(X), 6)[:, :, columns]
    return np.linalg.norm(field - 1.0 if quantity == "stretch" else field, axis=2)


class Paint:
    """Bands along the rods of a robot in a viser scene.

    Args:
        server: the viser server.
        robot: the robot.

    Attributes:
        quantity: what the colours show, one of `QUANTITIES`, or "" for none.
        largest: the value that has the last colour: the largest so far.

    """

    def __init__(self, server: Any, robot: Robot) -> None:
        self.server = server
        self.rods = [part for part in robot.parts if isinstance(part, RodHandle)][:MOST_RODS]
        self.quantity, self.largest = "", 0.0
        self._bands: dict[str, list[Any]] = {}
        self._known: tuple[Any, str, dict[str, Array]] | None = None

    def choose(self, quantity: str) -> None:
        """Colour by another quantity."""
        self.quantity, self.largest, self._known = quantity, 0.0, None

    @property
    def legend(self) -> str:
        """What the colours mean."""
        if not self.quantity:
            return ""
        unit = QUANTITIES[self.quantity][0]
        return f"{self.quantity}: dark 0, yellow {self.largest:.3g} {unit}".rstrip()

    def move(self, result: Trajectory | Equilibrium, picture: Scene, index: int) -> set[str]:
        """Put the bands where the rods are at one instant; return the names of the rods that they cover."""
        if not self.quantity:
            for bands in self._bands.values():
                for band in bands:
                    band.visible = False
            return set()
        tubes = {tube.name: tube for tube in picture.tubes}
        values = self._values(result, tubes)
        self.largest = max(self.largest, *(float(value.max()) for value in values.values()), 1e-300)
        for rod in self.rods:
            self._paint(tubes[rod.name], values[rod.name][index], index)
        return set(values)

    def _values(self, result: Trajectory | Equilibrium, tubes: dict[str, Tube]) -> dict[str, Array]:
        """The quantity in the middle of every band of every rod, at all instants; found once for a result."""
        if self._known is None or self._known[0] is not result or self._known[1] != self.quantity:
            found = {}
            for rod in self.rods:
                X, edges = tubes[rod.name].X, _edges(tubes[rod.name])
                found[rod.name] = values_along(result, rod, 0.5 * (X[edges[:-1]] + X[edges[1:]]), self.quantity)
            self._known = result, self.quantity, found
        return self._known[2]

    def _paint(self, tube: Tube, values: Array, index: int) -> None:
        import matplotlib

        colours = matplotlib.colormaps[TIME_MAP](values / self.largest, bytes=True)[:, :3]
        surface, edges = tube.surface(index).astype(np.float32), _edges(tube)
        first = tube.name not in self._bands
        bands = self._bands.setdefault(tube.name, [])
        for k, (low, high) in enumerate(pairwise(edges)):
            ring = surface[low : high + 1]
            points, colour = ring.reshape(-1, 3), tuple(int(c) for c in colours[k])
            if first:
                name = f"/painted/{tube.name}/{k}"
                bands.append(
                    self.server.scene.add_mesh_simple(
                        name, points, _quads(*ring.shape[:2]), color=colour, side="double"
                    )
                )
            bands[k].vertices, bands[k].color, bands[k].visible = points, colour, True


def _edges(tube: Tube) -> Array:
    """Numbers of the sections between which the bands of a tube lie."""
    return np.unique(np.linspace(0, len(tube.X) - 1, min(BANDS, len(tube.X) - 1) + 1).round().astype(int))


def _quads(m: int, k: int) -> Array:
    """Triangles (n, 3) between m rings of k points."""
    here = np.arange((m - 1) * k).reshape(m - 1, k)
    around = np.roll(here, -1, axis=1)
    sides = np.concatenate([np.stack([here, around, around + k], 2), np.stack([here, around + k, here + k], 2)])
    return sides.reshape(-1, 3).astype(np.uint32)
