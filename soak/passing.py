"""Whether parts have passed through each other, by places alone: nothing of the library's contact is asked.

Between two stored states things are taken to move along straight lines. Two things have passed, or are about to, where the
middle of one is much deeper in the other than it may sink: of round ones the distance of the middles is less than `DEEP` of
both radii, and what is in a box or a can is deeper than the same part of its least half width.
"""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np

from anguilla.model.model import Model
from anguilla.results.kinematics import motion_of

DEEP = 0.3  # of both radii: middles that are nearer to each other have passed, or are about to
POINTS = 61  # along a rod
FINEST = 24  # pieces between two states


@numba.njit(cache=True)
def _apart(p, q, same, out):
    """Least distances (nt,) of polylines (nt, a, 3) and (nt, b, 3), or points; of segments at least `same` apart."""
    for t in range(len(out)):
        best = np.inf
        for i in range(max(p.shape[1] - 1, 1)):
            for j in range(max(q.shape[1] - 1, 1)):
                if abs(i - j) < same:
                    continue
                a = b = c = f = g = 0.0
                for x in range(3):
                    d = p[t, min(i + 1, p.shape[1] - 1), x] - p[t, i, x]
                    e = q[t, min(j + 1, q.shape[1] - 1), x] - q[t, j, x]
                    r = p[t, i, x] - q[t, j, x]
                    a, b, c, f, g = a + d * d, b + d * e, c + e * e, f + d * r, g + e * r
                det = a * c - b * b
                u = min(max((b * g - c * f) / det, 0.0), 1.0) if det > 1e-12 * a * c else 0.5
                v = min(max((b * u + g) / c, 0.0), 1.0) if c > 0.0 else 0.0
                u = min(max((b * v - f) / a, 0.0), 1.0) if a > 0.0 else 0.0
                square = 0.0
                for x in range(3):
                    d = p[t, min(i + 1, p.shape[1] - 1), x] - p[t, i, x]
                    e = q[t, min(j + 1, q.shape[1] - 1), x] - q[t, j, x]
                    square += (p[t, i, x] - q[t, j, x] + u * d - v * e) ** 2
                best = min(best, square)
        out[t] = math.sqrt(best)


def apart(p: np.ndarray, q: np.ndarray, same: int = 0) -> np.ndarray:
    """Least distances (nt,) of the segments of polylines (nt, k, 3), or of single points; `same` leaves out neighbours."""
    out = np.zeros(len(p))
    _apart(np.ascontiguousarray(p), np.ascontiguousarray(q), same, out)
    return out


def in_shape(shape: list, pose: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Distance (..., k) of points x (..., k, 3) from the surface of a box or a can, poses (..., 4, 4); negative inside."""
    local = np.einsum("...ji,...kj->...ki", pose[..., :3, :3], x - pose[..., None, :3, 3])
    if shape[0] == "box":
        out = np.abs(local) - 0.5 * np.asarray(shape[1])
    else:
        out = np.stack(
            [np.hypot(local[..., 1], local[..., 2]) - shape[1], np.abs(local[..., 0]) - 0.5 * shape[2]], axis=-1
        )
    return np.linalg.norm(np.maximum(out, 0.0), axis=-1) + np.minimum(np.max(out, axis=-1), 0.0)


def _half(shape: list) -> float:
    return 0.5 * min(shape[1]) if shape[0] == "box" else min(shape[1], 0.5 * shape[2])


class Things:
    """Rods and bodies of a motion: middles (nt, k, 3), radii, and of boxes and cans their poses."""

    def __init__(self, made: SimpleNamespace, result: Any) -> None:
        spec = made.spec
        self.names = [part["name"] for part in spec["parts"]]
        self.middle, self.radius, self.shape, self.pose = {}, {}, {}, {}
        for name in self.names:
            part = made.robot.part(name)
            if name in spec["radii"]:
                self.middle[name], self.radius[name] = result.centerline(part, POINTS), spec["radii"][name]
            else:
                shape = spec["shapes"][name]
                self.pose[name] = result.pose(part.frame)
                self.middle[name] = self.pose[name][:, None, :3, 3]
                self.radius[name] = shape[1] if shape[0] == "sphere" else 0.0
                if shape[0] != "sphere":
                    self.shape[name] = shape

    def at(self, name: str, k: int, pieces: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Middles and poses in so many pieces between state k and the next."""
        s = np.arange(1, pieces)[:, None, None] / pieces
        line = lambda x: (1.0 - s) * x[k] + s * x[k + 1]
        return line(self.middle[name]), line(self.pose[name]) if name in self.pose else None

    def closeness(self, a: str, b: str, at: Any) -> np.ndarray:
        """(nt,) 1 where middles touch what they may at most, 0 where they meet; `at` gives middles and poses."""
        if a in self.shape:
            a, b = b, a
        x, y = at(a), at(b)
        if b in self.shape:
            inside = np.min(in_shape(self.shape[b], y[1], x[0]), axis=-1)
            return 1.0 + np.minimum(inside, 0.0) / _half(self.shape[b])
        if a == b:
            arc = np.linalg.norm(np.diff(self.middle[a][0], axis=0), axis=1).sum() / (POINTS - 1)
            return apart(x[0], x[0], math.ceil(2.0 * np.pi * self.radius[a] / arc)) / (2.0 * self.radius[a])
        return apart(x[0], y[0]) / (self.radius[a] + self.radius[b])


def _pairs(made: SimpleNamespace, things: Things) -> list[tuple[str, str]]:
    """Names of what may touch."""
    given = [load["args"] for load in made.spec["loads"] if load["call"] in ("Contact", "SelfContact")]
    names = [[x["code"] for x in args if isinstance(x, dict) and x.get("code") in things.names] for args in given]
    own = [load["call"] == "SelfContact" for load in made.spec["loads"] if load["call"] in ("Contact", "SelfContact")]
    return [(n[0], n[-1]) for n, alone in zip(names, own, strict=True) if len(n) == 2 or alone]


def deepest(made: SimpleNamespace, result: Any) -> tuple[float, str]:
    """The least closeness of two parts in a motion, between its states too, and which parts and when."""
    things, worst = Things(made, result), (math.inf, "")
    for a, b in _pairs(made, things):
        near = things.closeness(a, b, lambda name: (things.middle[name], things.pose.get(name)))
        size = 0.5 * (things.radius[a] + things.radius[b]) or 1.0
        for name in {a, b} & set(things.shape):
            size = _half(things.shape[name])
        k = int(np.argmin(near))
        worst = min(worst, (float(near[k]), f"{a} and {b} at {result.t[k]:g} s"))
        moved = sum(np.max(np.linalg.norm(np.diff(things.middle[x], axis=0), axis=-1), axis=-1) for x in (a, b)) / size
        for k in np.flatnonzero((moved > 0.5) & (np.minimum(near[1:], near[:-1]) < 1.0 + moved)).tolist():
            pieces = min(FINEST, 2 + int(4.0 * moved[k]))
            between = things.closeness(a, b, lambda name: things.at(name, k, pieces))  # noqa: B023
            worst = min(worst, (float(np.min(between)), f"{a} and {b} after {result.t[k]:g} s"))
    return worst


class _Still:
    """The robot at rest, asked like a motion of one state."""

    def __init__(self, made: SimpleNamespace) -> None:
        self.model = Model(made.robot)

    def motion(self, frames: list) -> np.ndarray:
        zero = np.zeros((1, self.model.size))
        return motion_of(self.model, frames, zero, zero, zero)

    def centerline(self, rod: Any, points: int) -> np.ndarray:
        return self.motion([rod.section(x) for x in np.linspace(0.0, rod.length, points)])[:, :, 9:12]

    def pose(self, frame: Any) -> np.ndarray:
        found, out = self.motion([frame])[:, 0], np.eye(4)[None].copy()
        out[:, :3, :3], out[:, :3, 3] = found[:, :9].reshape(-1, 3, 3), found[:, 9:12]
        return out


def overlaps(made: SimpleNamespace) -> bool:
    """Whether parts overlap at the start."""
    things = Things(made, _Still(made))
    for a, b in combinations(things.names, 2):
        x = {name: (things.middle[name], things.pose.get(name)) for name in (a, b)}
        r = things.radius[a] + things.radius[b]
        solid = [name for name in (a, b) if name in things.shape]
        if len(solid) == 2:
            if np.linalg.norm(things.middle[a] - things.middle[b]) < 2.0 * max(
                np.max(things.shape[n][1]) for n in solid
            ):
                return True
        elif solid:
            other = a if solid[0] == b else b
            if np.min(in_shape(things.shape[solid[0]], x[solid[0]][1], x[other][0])) < 1.05 * r:
                return True
        elif apart(x[a][0], x[b][0])[0] < 1.05 * r:
            return True
    return False
