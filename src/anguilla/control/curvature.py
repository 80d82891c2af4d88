"""Geometric models of trunks to compare with: constant curvature (002 (16)-(18)) and serial vertebrae (002 (19))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.errors import DescriptionError, SolverError, as_array, as_count, as_positive, refuse

__all__ = ["ArcModel", "VertebraModel", "arc_pose", "fit_model", "vertebra_pose"]

Floats = NDArray[np.float64]
ANGLES = 2.0 * np.pi / 3.0 * np.arange(3)  # of the three actuators of a section, from x


def _three(lengths: ArrayLike, name: str) -> Floats:
    values = as_array(lengths, name, "3 positive lengths [m]")
    if values.shape != (3,) or np.any(values <= 0.0):
        raise refuse(name, "3 positive lengths [m]", lengths)
    return values


@public
def arc_pose(lengths: ArrayLike, radius: float) -> Floats:
    """End pose (4, 4) of a section that bends to a circular arc, from the lengths of its actuators (002 (16)-(18)).

    The section leaves the origin along z; actuators sit at `radius` [m] from its axis, at 0, 120 and 240 degrees from x.
    Straight and nearly straight sections are regular. Errata 4: phi and the meaning of d.

    Args:
        lengths: (3,) lengths of the actuators [m].
        radius: where they sit [m].

    """
    l1, l2, l3 = _three(lengths, "lengths")
    d = as_positive(radius, "radius", "m")
    mean = (l1 + l2 + l3) / 3.0
    # theta (cos phi, sin phi): how much shorter each side is than the middle, over d
    u = np.array([l2 + l3 - 2.0 * l1, np.sqrt(3.0) * (l3 - l2)]) / (3.0 * d)
    theta = float(np.hypot(*u))
    half = np.sinc(theta / (2.0 * np.pi)) ** 2 / 2.0  # (1 - cos) / theta^2
    sine = np.sinc(theta / np.pi)  # sin / theta
    pose = np.eye(4)
    pose[:2, :2] -= half * np.outer(u, u)
    pose[:2, 2], pose[2, :2] = sine * u, -sine * u
    pose[2, 2] = np.cos(theta)
    pose[:2, 3], pose[2, 3] = mean * half * u, mean * sine
    return pose


@public
def vertebra_pose(lengths: ArrayLike, below: float, above: float) -> Floats:
    """Pose (4, 4) of a vertebra on the one below, joined by three legs and a central one (3UPS-1UP, 002 (19)).

    Args:
        lengths: (3,) lengths of the legs [m].
        below: radius at which the legs are attached to the lower vertebra [m].
        above: the same on the upper one [m].

    """
    goal = _three(lengths, "lengths")
    feet = below * np.stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(3)])
    heads = above * np.stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(3)])
    state = np.array([0.0, 0.0, float(np.mean(goal))])

    for _ in range(50):
        t, p, z = state
        ct, st, cp, sp = np.cos(t), np.sin(t), np.cos(p), np.sin(p)
        R = np.array([[ct, st * sp, st * cp], [0.0, cp, -sp], [-st, sp * ct, ct * cp]])
        legs = R @ heads - feet
        legs[2] += z
        found = np.sqrt(np.einsum("ik,ik->k", legs, legs))
        miss = found - goal
        if np.abs(miss).max() < 1e-14 + 1e-13 * goal.max():
            return _vertebra(state)
        turn = np.array([[-st, ct * sp, ct * cp], [0.0, 0.0, 0.0], [-ct, -sp * st, -st * cp]])
        roll = np.array([[0.0, st * cp, -st * sp], [0.0, -sp, -cp], [0.0, cp * ct, -ct * sp]])
        J = np.stack(
            [np.einsum("ik,ik->k", legs, turn @ heads), np.einsum("ik,ik->k", legs, roll @ heads), legs[2]], axis=1
        )
        step = np.linalg.solve(J / found[:, None], miss)
        state = state - step * min(1.0, 0.5 / max(float(np.abs(step[:2]).max()), 1e-300))
        if np.abs(step).max() < 1e-15:
            break
    if np.abs(miss).max() < 1e-9:
        return _vertebra(state)
    raise SolverError(
        f"No pose of a vertebra gives the leg lengths {goal.tolist()} m.", advice="Are the lengths in metres?"
    )


def _vertebra(state: Floats) -> Floats:
    """The matrix of 002 (19) for pitch, roll and height."""
    t, p, z = state
    ct, st, cp, sp = np.cos(t), np.sin(t), np.cos(p), np.sin(p)
    return np.array([[ct, st * sp, st * cp, 0.0], [0.0, cp, -sp, 0.0], [-st, sp * ct, ct * cp, z], [0, 0, 0, 1.0]])


@dataclass(frozen=True)
class ArcModel:
    """Sections of constant curvature in series.

    Attributes:
        radii: radius [m] of each section.
        scales: factor on the measured lengths of each section (1 if the strings run beside the actuators).
        gaps: rigid length [m] added at the end of each section.

    """

    radii: tuple[float, ...]
    scales: tuple[float, ...]
    gaps: tuple[float, ...]

    @classmethod
    def of(cls, radii: Sequence[float]) -> ArcModel:
        """A model with these radii [m]."""
        return cls(tuple(radii), (1.0,) * len(radii), (0.0,) * len(radii))

    def pose(self, lengths: ArrayLike) -> Floats:
        """Tip pose (4, 4) from the lengths (3 sections,) [m]."""
        rows = _by_section(lengths, len(self.radii))
        pose = np.eye(4)
        for row, radius, scale, gap in zip(rows, self.radii, self.scales, self.gaps, strict=True):
            pose = pose @ arc_pose(scale * row, radius)
            pose[:3, 3] += gap * pose[:3, 2]
        return pose

    def parameters(self) -> Floats:
        """Numbers that a fit may change."""
        return np.array([*self.radii, *self.gaps])

    def with_parameters(self, values: Floats) -> ArcModel:
        """The same model with other numbers."""
        n = len(self.radii)
        return replace(self, radii=tuple(np.abs(values[:n]).tolist()), gaps=tuple(values[n:].tolist()))


@dataclass(frozen=True)
class VertebraModel:
    """Vertebrae in series, each a small parallel robot on the one below; lengths are shared out among them.

    Attributes:
        radii: radii [m] at the root, after each section, and so at the tip: sections + 1 numbers.
        joints: inter-vertebrae per section; two sections of 8 make the 17 vertebrae of the paper.
        taper: how much the first inter-vertebra of a section is longer than the last, as a part of the mean.

    """

    radii: tuple[float, ...]
    joints: int = 8
    taper: float = 0.0

    def __post_init__(self) -> None:
        as_count(self.joints, "VertebraModel.joints")
        if len(self.radii) < 2:
            raise refuse("VertebraModel.radii", "sections + 1 radii [m]", self.radii)

    def pose(self, lengths: ArrayLike) -> Floats:
        """Tip pose (4, 4) from the lengths (3 sections,) [m]."""
        sections = len(self.radii) - 1
        share = (1.0 + self.taper * np.linspace(0.5, -0.5, self.joints)) / self.joints
        pose = np.eye(4)
        for k, row in enumerate(_by_section(lengths, sections)):
            radius = np.linspace(self.radii[k], self.radii[k + 1], self.joints + 1)
            for j in range(self.joints):
                pose = pose @ vertebra_pose(share[j] * row, float(radius[j]), float(radius[j + 1]))
        return pose

    def parameters(self) -> Floats:
        """Numbers that a fit may change."""
        return np.array([*self.radii, self.taper])

    def with_parameters(self, values: Floats) -> VertebraModel:
        """The same model with other numbers."""
        return replace(self, radii=tuple(np.abs(values[:-1]).tolist()), taper=float(np.clip(values[-1], -1.0, 1.0)))


def _by_section(lengths: ArrayLike, sections: int) -> Floats:
    values = as_array(lengths, "lengths", f"{3 * sections} positive lengths [m]")
    if values.shape != (3 * sections,):
        raise refuse("lengths", f"{3 * sections} positive lengths [m]", lengths)
    return values.reshape(sections, 3)


@public
def fit_model(model: Any, lengths: ArrayLike, positions: ArrayLike) -> tuple[Any, float]:
    """Fit a geometric model to measured tips by least squares: (model, RMS distance [m]).

    Args:
        model: an ArcModel or a VertebraModel to start from.
        lengths: (k, 3 sections) measured lengths [m].
        positions: (k, 3) measured tips [m], in the frame of the root.

    """
    from scipy.optimize import least_squares

    rows, tips = (
        as_array(lengths, "lengths", "lengths (k, m) [m]"),
        as_array(positions, "positions", "positions (k, 3) [m]"),
    )
    if rows.ndim != 2 or tips.shape != (len(rows), 3):
        raise DescriptionError(f"lengths (k, m) and positions (k, 3) must match; got {rows.shape} and {tips.shape}.")

    def miss(values: Floats) -> Floats:
        trial = model.with_parameters(values)
        return np.concatenate([trial.pose(row)[:3, 3] - tip for row, tip in zip(rows, tips, strict=True)])

    start = model.parameters()
    best = least_squares(miss, start, x_scale=np.maximum(np.abs(start), 1e-2), diff_step=1e-5)
    return model.with_parameters(best.x), float(np.sqrt(2.0 * best.cost / len(rows)))
