"""Where a rod is cut: panels between breakpoints, Gauss-Lobatto nodes in each panel, extra nodes where things attach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np

from anguilla.describe.basis import Basis, Chebyshev, FreeTip, Legendre, Monomial
from anguilla.describe.rod import Rod
from anguilla.mechanics.tree import Floats, Ints

GAUSS = 0.5 / np.sqrt(3.0)  # the two Gauss points of an interval lie at its middle -+ GAUSS h
# Nodes closer than this part of the length are one node.
SAME = 1e-9
EXACT = 3  # degree up to which two Gauss points an interval are exact
EVEN = 1e-12  # relative: a stiffness that does not change along the rod
FEW_POINTS = 0.01  # of the stiffness, by which sums over Gauss points may miss it
PRODUCT_POINTS = 48  # of the quadrature of densities in a panel
KEPT = (Legendre, Chebyshev, Monomial, FreeTip)  # bases whose values are the same for equal bases


@lru_cache(maxsize=64)
def lobatto(intervals: int) -> tuple[Floats, Floats]:
    """Gauss-Lobatto points on [0, 1] (intervals + 1 of them, both ends included) and their weights.

    The quadrature is exact to degree 2 intervals - 1, so inertia costs no accuracy beside the kinematics.
    """
    legendre = np.polynomial.legendre.Legendre.basis(intervals)
    inner = legendre.deriv().roots().real if intervals > 1 else np.zeros(0)
    x = np.concatenate([[-1.0], np.sort(inner), [1.0]])
    for _ in range(3):  # polish: the inner points are roots of P'
        x[1:-1] -= legendre.deriv()(x[1:-1]) / legendre.deriv(2)(x[1:-1]) if intervals > 1 else 0.0
    weights = 2.0 / (intervals * (intervals + 1) * legendre(x) ** 2)
    return 0.5 * (1.0 + x), 0.5 * weights


def default_intervals(rod: Rod) -> int:
    """Enough intervals for the space error to stay below the modal one.

    The yardstick is the centreline of Euler's elastica at P L^2 / EI = 10. With n polynomial modes a strain it is off by
    2e-3, 8e-5, 5e-5, 1e-5, 3e-6, 4e-7 L for n = 3 .. 8; with N intervals by 0.2 N^-4 L. The two meet at
    N = 8 x 1.5^(n - 5). A piecewise basis counts the modes of all its pieces.
    """
    modes = max((len(basis.breakpoints) + 1) * basis.degree + 1 for _, basis in rod.strains.items())
    return int(np.clip(np.ceil(8.0 * 1.5 ** min(modes - 5, 10)), 8, 64))


@dataclass(frozen=True, slots=True)
class RodGrid:
    """Nodes of one rod.

    Attributes:
        X: (m,) rest arc length of the nodes [m], root and tip included.
        weights: (m,) quadrature weights [m]; zero at extra nodes.
        panels: (p + 1,) indices into X of the ends of the panels.

    """

    X: Floats
    weights: Floats
    panels: Ints
    left: Floats
    right: Floats


def rod_grid(rod: Rod, attachments: list[float], least: int = 1) -> RodGrid:
    """Cut a rod into intervals: Gauss-Lobatto nodes in each panel, then a zero-weight node at each attachment [m].

    `least` is the smallest number of intervals to choose when the rod leaves it open.
    """
    ends = [0.0, *rod.breakpoints, rod.length]
    total, fewest = rod.intervals or max(default_intervals(rod), least), 1 if rod.intervals else 2
    counts = [max(round(total * ((end - start) / rod.length)), fewest) for start, end in pairwise(ends)]
    panels = np.array([*accumulate(counts, initial=0)])
    nodes, left, right = np.zeros((3, sum(counts) + 1))
    for start, end, first, last in zip(ends[:-1], ends[1:], panels[:-1], panels[1:], strict=True):
        x, w = lobatto(int(last - first))
        h = end - start
        nodes[first + 1 : last + 1] = start + h * x[1:]
        left[first + 1 : last + 1] = h * w[1:]
        right[first] = w[0] * h
    new = _between(nodes, attachments, SAME * rod.length)
    if len(new):
        at = np.searchsorted(nodes, new)
        panels = panels + np.searchsorted(at, panels, side="right")
        nodes, left, right = np.insert(nodes, at, new), np.insert(left, at, 0.0), np.insert(right, at, 0.0)
    return RodGrid(nodes, left + right, panels, left, right)


def _between(nodes: Floats, places: list[float], gap: float) -> list[float]:
    """Places, increasing, that are farther than a gap [m] from all nodes and from each other."""
    ends = {0.0, float(nodes[-1])}
    inside = sorted(place for place in places if place not in ends)
    if not inside:
        return []
    at = np.clip(np.searchsorted(nodes, inside), 1, len(nodes) - 1)
    distance = np.minimum(np.abs(nodes[at] - inside), np.abs(nodes[at - 1] - inside))
    kept: list[float] = []
    for place, far in zip(inside, (distance > gap).tolist(), strict=True):
        if far and (not kept or place - kept[-1] > gap):
            kept.append(place)
    return kept


def gauss_points(X: Floats) -> Floats:
    """(m - 1, 2, ...) arc lengths of the Gauss points of the intervals between nodes X (m, ...)."""
    middle, aside = 0.5 * (X[:-1] + X[1:]), GAUSS * (X[1:] - X[:-1])
    out = np.empty((len(middle), 2, *X.shape[1:]))
    out[:, 0], out[:, 1] = middle - aside, middle + aside
    return out


def nodal_inertia(rod: Rod, grid: RodGrid) -> Floats:
    """(m, 6) lumped inertia of the nodes: quadrature weight x section inertia, each side of a jump with its own value."""
    if len(grid.panels) == 2:
        return grid.weights[:, None] * rod.inertia(grid.X)
    inside = np.where((grid.left > 0.0) & (grid.right > 0.0), SAME * rod.length, 0.0)  # only where two panels meet
    before = rod.inertia((grid.X - inside).clip(0.0, rod.length))
    after = rod.inertia((grid.X + inside).clip(0.0, rod.length))
    return grid.left[:, None] * before + grid.right[:, None] * after


def nodal_integrals(rod: Rod, grid: RodGrid, density: Callable[[Floats], Floats]) -> Floats:
    """(m, k) integrals over the rod of a density X (p,) -> (p, k) times the polynomials that are 1 at one node of a panel.

    The sum over nodes of these numbers times a smooth function is the integral of density x function, however the density
    starts at the ends of a panel (the outline of a round nose starts like a square root).
    """
    out: Floats | None = None
    for first, last in pairwise(grid.panels.tolist()):
        start, h = grid.X[first], grid.X[last] - grid.X[first]
        inside = np.arange(first, last + 1)
        own = inside[(grid.left[inside] > 0.0) & (inside > first) | (grid.right[inside] > 0.0) & (inside < last)]
        nodes = (grid.X[own] - start) / h
        # more points than nodes: quadratic drag has kinks where the flow turns, which more nodes must see better
        x, w = gauss(max(PRODUCT_POINTS, 2 * len(own)))
        angle = 0.5 * np.pi * (1.0 + x)
        s, weight = 0.5 * (1.0 - np.cos(angle)), 0.25 * np.pi * np.sin(angle) * w
        gaps = nodes[:, None] - nodes + np.eye(len(nodes))
        cardinal = np.array([np.prod((s[:, None] - np.delete(nodes, i)) / np.delete(gaps[i], i), axis=1)
                             for i in range(len(nodes))])  # fmt: skip
        value = density(start + h * s)
        out = np.zeros((len(grid.X), value.shape[1])) if out is None else out
        out[own] += h * cardinal @ (weight[:, None] * value)
    assert out is not None
    return out


@lru_cache(maxsize=64)
def gauss(count: int) -> tuple[Floats, Floats]:
    """Gauss points on [-1, 1] and their weights, kept: a robot asks for the same ones twice per strain of every rod."""
    return np.polynomial.legendre.leggauss(count)


def numbered(rod: Rod) -> list[tuple[int, Basis]]:
    """Active strains by number, with their bases."""
    return rod.strains.numbered


def values(basis: Basis, x: Floats) -> Floats:
    """Values (m, k) of a basis at the points x (m,) of [0, 1]; kept for polynomials, as rods and strains share them."""
    if type(basis) in KEPT:
        return _kept_values(basis, x.tobytes())
    return basis(x.copy())  # which a user may have written


@lru_cache(maxsize=256)
def _kept_values(basis: Basis, x: bytes) -> Floats:
    found = basis(np.frombuffer(x))
    found.setflags(write=False)
    return found


def strain_grams(rod: Rod, grid: RodGrid) -> list[tuple[Floats, Floats]]:
    """Of each active strain, the (k, k) integrals over the rod of basis x basis^T: times 1/L, and times its stiffness."""
    bases = numbered(rod)
    ends = [0.0, *(X / rod.length for X in rod.breakpoints), 1.0]
    x, w = _panel_points(tuple(ends), 12 + max((basis.degree for _, basis in bases), default=0))
    hooke, grams = rod.hooke(rod.length * x), []
    weighted = rod.length * hooke * w
    for strain, basis in bases:
        phi, stiffness = values(basis, x), hooke[:, strain]
        gram, out = phi.T @ (phi * w), phi.T @ (phi * weighted[:, strain, None])
        if basis.degree > EXACT and isinstance(basis, Legendre | Chebyshev | Monomial):
            if 0.0 < stiffness.max() <= (1.0 + EVEN) * stiffness.min():
                _pass_patch_test(out, stiffness[0] * phi[0, 0] * _sums(basis, grid))
        grams.append((gram, out))
    return grams


@lru_cache(maxsize=64)
def _panel_points(ends: tuple[float, ...], count: int) -> tuple[Floats, Floats]:
    """Gauss points (m,), `count` between two neighbours of the ends of panels in [0, 1], and their weights (m, 1)."""
    points, w = gauss(count)
    low, half = np.array(ends[:-1])[:, None], 0.5 * np.diff(ends)[:, None]
    return (low + half * (1.0 + points)).ravel(), (half * w).reshape(-1, 1)


def _sums(basis: Basis, grid: RodGrid) -> Floats:
    """Sums (k,) of functions over the Gauss points of the intervals [m]."""
    return np.repeat(0.5 * (grid.X[1:] - grid.X[:-1]), 2) @ values(basis, gauss_points(grid.X / grid.X[-1]).ravel())


def _pass_patch_test(stiffness: Floats, at_points: Floats) -> None:
    """Let a constant strain, the first function, have the stress on all functions (k,) that is summed at the Gauss points.

    Forces work on the strains there. Summed alike, both are in balance exactly under a moment or a pull at the tip. Not if
    the points are too few for it: the stiffness (k, k) must stay positive.
    """
    change = at_points - stiffness[0]
    change[0] = 0.0
    if change @ np.linalg.solve(stiffness, change) < FEW_POINTS * stiffness[0, 0]:
        stiffness[0] += change
        stiffness[:, 0] += change
