"""All equilibria of a planar elastic rod held at both ends, by three numbers each, and which of them are stable.

Bretl and McCarthy 2014 showed that the equilibria of an inextensible rod clamped at its two ends are one smooth family with
three coordinates in the plane (six in space): the force and the moment a = (a1, a2, a3) at its root. From a follow the
internal force and moment m along the rod (u = m3 is the curvature, for unit stiffness and length),

    m1' = u m2,  m2' = -u m1,  m3' = -m2,

and with them its shape. The equilibrium is stable if and only if no point of the rod is conjugate to its root: the Jacobian
of the pose with respect to a must not become singular before the tip.

Here 40 random a are integrated apart. The library is given nothing but the two ends and, as a start, the shape; it finds the
equilibrium, the force and moment at the root and whether it is stable, and agrees on all of them.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import anguilla as ag
from anguilla.lie import pose, rotation
from anguilla.view.style import COLOURS, figure, figure_style

COUNT, SEED = 40, 2014
LOW, HIGH = (-140.0, -50.0, -15.0), (20.0, 50.0, 15.0)  # of a
MODES = 24


@dataclass
class Sample:
    a: np.ndarray  # force and moment at the root (3,)
    line: np.ndarray  # of the rod (points, 2)
    conjugate: float | None  # where the first point conjugate to the root is; None if there is none
    moved: float  # of the library's rod from it, at most, over the length
    root: np.ndarray  # force and moment at the root that the library found (3,)
    stable: bool  # by the library


@dataclass
class Result:
    samples: list[Sample]
    agreed: int  # samples on whose stability both agree
    moved: float  # largest distance of the library's rods from those of the theory / length
    load_error: float  # largest difference of the loads at the root over their size


def rates(_, y):
    """Of m, the pose (x, y, angle), and their derivatives by a."""
    m, angle = y[:3], y[5]
    M, J = y[6:15].reshape(3, 3), y[15:].reshape(3, 3)
    u = m[2]
    F = np.array([[0, u, m[1]], [-u, 0, -m[0]], [0, -1, 0]])
    H = np.array([[0, u, 0], [-u, 0, 1], [0, 0, 0]])  # poses are moved in the axes of the section
    J_rate = H @ J
    J_rate[2] += M[2]
    return np.concatenate([
        [u * m[1], -u * m[0], -m[1], np.cos(angle), np.sin(angle), u], (F @ M).ravel(), J_rate.ravel(),
    ])  # fmt: skip


def family(a: np.ndarray, points: int = 401):
    """Arc lengths, curvatures, the curve (points, 3) with its angle, and the first conjugate point, of the rod of a."""
    start = np.concatenate([a, np.zeros(3), np.eye(3).ravel(), np.zeros(9)])
    found = solve_ivp(rates, (0, 1), start, "DOP853", np.linspace(0, 1, points), rtol=1e-10, atol=1e-12)
    dets = np.array([np.linalg.det(column.reshape(3, 3)) for column in found.y[15:].T])
    late = found.t > 0.05  # the determinant starts as t^4 / 12 and has no root near zero
    signs = np.sign(dets[late])
    turns = np.flatnonzero(signs != signs[0])
    conjugate = float(found.t[late][turns[0]]) if len(turns) else None
    return found.t, found.y[2], found.y[3:6].T, conjugate


def solve(a: np.ndarray) -> Sample:
    """One rod, by the theory and by the library."""
    t, curvature, line, conjugate = family(a)
    section = ag.GeneralSection(1.0, 1.0, 1.0, 1.0, width=0.02)  # E I = 1
    robot = ag.Robot("rod", gravity=(0, 0, 0))
    rod = ag.Rod(1.0, section, ag.Material(young=1.0, poisson=0.0, density=1000.0), ag.planar(MODES), intervals=64)
    part = robot.add(rod, at=robot.ground, name="rod")
    robot.close(robot.ground, part.tip, pose=pose(rotation((0, 0, 1), line[-1, 2]), (*line[-1, :2], 0)), name="clamp")
    start = np.linalg.lstsq(ag.Legendre(MODES)(t), curvature, rcond=None)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)  # an unstable equilibrium says so
        eq = ag.statics(robot, start=start)
    places = np.array([eq.position(part.section(x))[:2] for x in t[::40]])
    (wrench,) = eq.wrench(part, 0.0)
    root = np.array([wrench[3], wrench[4], wrench[2]])
    stable = bool(ag.stability(robot, eq).stable)
    return Sample(a, line[:, :2], conjugate, float(np.abs(places - line[::40, :2]).max()), root, stable)


def main(count: int = COUNT):
    drawn = np.random.default_rng(SEED).uniform(LOW, HIGH, (count, 3))
    samples = [solve(a) for a in drawn]
    agreed = sum(sample.stable == (sample.conjugate is None) for sample in samples)
    errors = [np.abs(s.root - s.a).max() / np.linalg.norm(s.a) for s in samples]
    return Result(samples, agreed, max(sample.moved for sample in samples), float(max(errors)))


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.8)
        left, right = fig.subplots(1, 2)
        for sample in result.samples:
            left.plot(*sample.line.T, color=COLOURS[0] if sample.stable else COLOURS[1], lw=0.8)
        left.set(xlabel="x", ylabel="y", title="Blue: stable; the other colour: unstable")
        left.set_aspect("equal")
        loads = np.array([sample.a for sample in result.samples])
        stable = np.array([sample.stable for sample in result.samples])
        free = np.array([sample.conjugate is None for sample in result.samples])
        right.plot(*loads[free][:, :2].T, "ko", ms=8, mfc="none", label="no conjugate point")
        right.plot(*loads[stable][:, :2].T, ".", color=COLOURS[0], label="stable, by the library")
        right.plot(*loads[~stable][:, :2].T, "x", color=COLOURS[1], label="unstable, by the library")
        right.set(xlabel="force along the root, a1", ylabel="force across it, a2", title="Theory and library agree")
        right.legend(frameon=False, fontsize=8)
        fig.savefig(Path(folder) / "bretl2014_elastic_rod.png", dpi=110)


if __name__ == "__main__":
    result = main()
    unstable = sum(sample.conjugate is not None for sample in result.samples)
    print(f"{len(result.samples)} rods, {unstable} with a conjugate point; stability agrees on {result.agreed}")
    print(f"shapes to {result.moved:.1e} of the length, loads at the root to {result.load_error:.1e} of their size")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
