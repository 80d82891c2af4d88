"""The body of the eel and the water around it (001 III, IV, IX.A).

The body is cut into panels at the kinks of its outline, with Gauss points in each. In the round ends the points follow the
angle of the half-ellipse, so that semi-axes, which start like a square root of X, are smooth functions of the parameter.
Gauss points make integration by parts exact on the grid: if forces balance, moments do too, to the last digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss

from anguilla.reference.rod import Array

# Lengths of the eel [m]; the paper gives only part of them.
LENGTH, HEAD, NECK, TAIL, ENDS = 2.0, 0.075, 0.2961006735, 0.05, (0.025, 0.05)


@dataclass(frozen=True)
class Body:
    """A body of elliptic sections, b along t2 and c along t3 (SEMI-axes), head at X = 0.

    Attributes:
        length: L [m].
        semi_axes: X (m,) [m] -> b (m,), c (m,) [m].
        breakpoints: arc lengths [m], increasing, where the outline kinks.
        round_ends: whether the first and the last panel are half-ellipses.
        density: rho of the material [kg/m^3].

    """

    length: float
    semi_axes: Callable[[Array], tuple[Array, Array]]
    breakpoints: tuple[float, ...] = ()
    round_ends: bool = False
    density: float = 1000.0


@dataclass(frozen=True)
class Water:
    """Coefficients of the Morison model (001 IX.A); density 0 is the vacuum.

    Attributes:
        density: rho of the fluid [kg/m^3].
        C: C_1 .. C_7: tangential drag, drag along t2 and t3, drag about t1, added mass along t2 and t3, about t1.
        head_drag: C_d,head [kg/m], axial drag of the nose (16).
        head_mass: C_m,head [kg], axial added mass of the nose.

    """

    density: float = 1000.0
    C: tuple[float, ...] = (0.01, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    head_drag: float = 0.0
    head_mass: float = 0.0


VACUUM = Water(density=0.0)


def eel_body() -> Body:
    """The eel of the paper: 2 m, 21.7 kg: half-sphere, circular neck, linear taper to an ellipse, half-ellipsoid tail."""

    def semi_axes(X: Array) -> tuple[Array, Array]:
        head = np.sqrt(np.clip(X * (2 * HEAD - X), 0.0, None))
        s = np.clip((X - NECK) / (LENGTH - TAIL - NECK), 0.0, 1.0)
        tail = np.sqrt(np.clip(1.0 - ((X - LENGTH + TAIL) / TAIL) ** 2, 0.0, None))
        pieces = [X < HEAD, X > LENGTH - TAIL]
        b, c = (np.select(pieces, [head, end * tail], HEAD + (end - HEAD) * s) for end in ENDS)
        return b, c

    return Body(LENGTH, semi_axes, (HEAD, NECK, LENGTH - TAIL), round_ends=True)


# Integration along the body -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """Gauss points of all panels: p panels of m points.

    Attributes:
        X: (p, m) [m].
        slope: (p, m) dX/ds [m], s in [0, 1] being the parameter of a panel.
        inner: (m, m), integrals over s from the start of a panel to its points.
        weights: (m,), integrals over the whole panel.

    """

    X: Array
    slope: Array
    inner: Array
    weights: Array


def gauss_grid(body: Body, points: int = 16, longest: float = 0.6) -> Grid:
    """Cut a body into panels no longer than `longest` [m] and put Gauss points into each."""
    x, w = leggauss(points)
    s = 0.5 * (1.0 + x)
    # exact integrals of the interpolating polynomial: integrate Legendre polynomials, change back to values
    values = np.polynomial.legendre.legvander(x, points - 1)
    primitives = [np.polynomial.legendre.Legendre.basis(k).integ(lbnd=-1) for k in range(points)]
    inner = 0.5 * np.stack([p(x) for p in primitives], axis=1) @ np.linalg.inv(values)
    ends = [0.0, *body.breakpoints, body.length]
    places, slopes = [], []
    for k, (start, stop) in enumerate(pairwise(ends)):
        h = stop - start
        if body.round_ends and k == 0:
            places.append(start + h * (1.0 - np.cos(0.5 * np.pi * s)))
            slopes.append(0.5 * np.pi * h * np.sin(0.5 * np.pi * s))
        elif body.round_ends and k == len(ends) - 2:
            places.append(start + h * np.sin(0.5 * np.pi * s))
            slopes.append(0.5 * np.pi * h * np.cos(0.5 * np.pi * s))
        else:
            pieces = int(np.ceil(h / longest))
            for i in range(pieces):
                places.append(start + h * (i + s) / pieces)
                slopes.append(np.full(points, h / pieces))
    return Grid(np.array(places), np.array(slopes), inner, 0.5 * w)


def integrate(grid: Grid, f: Array, start: Array) -> tuple[Array, Array]:
    """Integrate f (p, m, ...) from X = 0: values at all points, and at the tail X = L."""
    rate = f * grid.slope.reshape(*grid.slope.shape, *(1,) * (f.ndim - 2))
    panels = np.tensordot(rate, grid.weights, axes=(1, 0))  # (p, ...)
    before = np.concatenate([np.asarray(start)[None], np.asarray(start) + np.cumsum(panels, axis=0)])
    field: Array = before[:-1, None] + np.einsum("ij,pj...->pi...", grid.inner, rate)
    return field, before[-1]


def solve(grid: Grid, A: Array, b: Array, start: Array) -> tuple[Array, Array]:
    """Solve x' = A x + b from X = 0 by collocation: x (p, m, d) at all points, and x (d,) at the tail.

    A is (p, m, d, d), b (p, m, d). Each panel gives x = homogeneous . x(start) + particular; the panels follow each other.
    """
    p, m, d = b.shape
    slope = grid.slope
    operator = np.eye(m * d) - np.einsum("ij,pj,pjab->piajb", grid.inner, slope, A).reshape(p, m * d, m * d)
    right = np.zeros((p, m, d, d + 1))
    right[..., :d] = np.eye(d)
    right[..., d] = np.einsum("ij,pj,pja->pia", grid.inner, slope, b)
    parts = np.linalg.solve(operator, right.reshape(p, m * d, d + 1)).reshape(p, m, d, d + 1)
    x, field = np.asarray(start, dtype=float), np.empty((p, m, d))
    for k in range(p):
        field[k] = parts[k, :, :, :d] @ x + parts[k, :, :, d]
        x = x + np.einsum("j,j,ja->a", grid.weights, slope[k], (A[k] @ field[k][..., None])[..., 0] + b[k])
    return field, x


# Inertia and water of a section ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sections:
    """Numbers of the sections at the points, each (p, m) or (p, m, 3), in section axes.

    Attributes:
        area: rho A [kg/m].
        inertia: rho (J1, J2, J3) [kg m].
        drag: (C_ld1, C_ld2, C_ld3) [kg/m^2].
        drag_turn: C_ad1 [kg].
        added: (0, C_lm2, C_lm3) [kg/m].
        added_turn: C_am1 [kg m].

    """

    area: Array
    inertia: Array
    drag: Array
    drag_turn: Array
    added: Array
    added_turn: Array


def sections(body: Body, water: Water, grid: Grid) -> Sections:
    """Inertia (6) and coefficients of IX.A; b and c being semi-axes, C_ld1 uses the perimeter pi (b + c)."""
    flat = body.semi_axes(grid.X.ravel())
    b, c = (x.reshape(grid.X.shape) for x in flat)
    rho, C = water.density, water.C
    J2, J3 = np.pi * b * c**3 / 4, np.pi * b**3 * c / 4  # t2 along the small axis b
    return Sections(
        area=body.density * np.pi * b * c,
        inertia=body.density * np.stack([J2 + J3, J2, J3], axis=-1),
        drag=0.5 * rho * np.stack([C[0] * np.pi * (b + c), C[1] * 2 * c, C[2] * 2 * b], axis=-1),
        drag_turn=0.5 * rho * C[3] * (b**2 - c**2) ** 2,
        added=rho * np.pi * np.stack([np.zeros_like(b), C[4] * c**2, C[5] * b**2], axis=-1),
        added_turn=rho * np.pi / 8 * C[6] * (c**2 - b**2) ** 2,
    )


def drag(own: Sections, V: Array, spin: Array) -> tuple[Array, Array]:
    """Density of drag (14) in section axes: force (p, m, 3) [N/m] and moment (p, m, 3) [N].

    V (p, m, 3) is the velocity [m/s] and spin (p, m) the angular velocity about t1 [rad/s], both in section axes.
    """
    normal = np.linalg.norm(V[..., 1:], axis=-1)
    speed = np.stack([np.abs(V[..., 0]), normal, normal], axis=-1)
    moment = np.zeros_like(V)
    moment[..., 0] = -own.drag_turn * np.abs(spin) * spin
    return -own.drag * speed * V, moment
