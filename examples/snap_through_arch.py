"""A shallow elastic arch on two hinges is pushed down at its top until it snaps through, and further.

The branch of symmetric shapes is traced through the two points where the load turns back, and the points where crooked
shapes leave it are found on the way. The crooked branch is followed too: under a dead load the arch leaves the symmetric
shape there, before the load reaches its maximum. The limit loads are compared with an independent solution of half the
arch, an extensible elastica with boundary conditions at both ends.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import minimize_scalar

import anguilla as ag
from anguilla.lie import pose, rotation
from anguilla.view.style import COLOURS, figure, figure_style

SPAN, ANGLE = 1.0, np.radians(7.0)  # between the hinges [m]; slope of the arch there
RADIUS, YOUNG = 1e-2, 1e7  # of the cross-section [m]; [Pa]
EI, EA = YOUNG * np.pi * RADIUS**4 / 4, YOUNG * np.pi * RADIUS**2
BEND = SPAN / 2 / np.sin(ANGLE)  # radius of the arch [m]
HALF = BEND * ANGLE  # length of half the arch [m]
UNIT = EI / SPAN**2  # loads are given in this unit [N]


@dataclass
class Result:
    symmetric: ag.Branch
    crooked: ag.Branch
    top: ag.Frame
    limits: np.ndarray  # loads of the two limit points [UNIT]
    bvp: np.ndarray  # the same from the boundary-value problem


def build(modes=8, intervals=24):
    """Return the arch, pushed down at its top by t x UNIT, and the frame of its top."""
    robot = ag.Robot("arch", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, poisson=0.3, density=1000.0)
    rest = ag.ConstantCurvature(bend_z=-1 / BEND)
    half = ag.Rod(HALF, ag.Circle(RADIUS), material, ag.planar(modes, stretch_modes=3), rest=rest, intervals=intervals)
    hinge = ag.Revolute((0, 0, 1))
    left = robot.add(half, at=robot.ground, joint=hinge, pose=pose(rotation((0, 0, 1), ANGLE)), name="left")
    right = robot.add(half, at=left.tip, name="right")
    robot.close(robot.ground, right.tip, joint=ag.Revolute((0, 0, 1)), pose=pose(p=(SPAN, 0, 0)))
    robot.load(ag.Wrench(left.tip, force=lambda t: (0, -t * UNIT, 0)))
    return robot, left.tip


def load_by_bvp(height, guess=None):
    """Load [UNIT] that holds the top of a symmetric arch at a height, and the solution.

    Half the arch is an elastica; with moment and force over EI, x' = g cos(a), y' = g sin(a), a' + 1 / BEND = m and
    m' = g (sin(a) Fx - cos(a) Fy), with the stretch g = 1 + (Fx cos(a) + Fy sin(a)) EI / EA. It has a hinge (m = 0) at its
    start, and its end is level, at (SPAN / 2, height).
    """
    s = np.linspace(0.0, HALF, 101)

    def rates(_, y, force):
        c, s = np.cos(y[2]), np.sin(y[2])
        g = 1.0 + (force[0] * c + force[1] * s) * EI / EA
        return np.array([g * c, g * s, y[3] - 1 / BEND, g * (s * force[0] - c * force[1])])

    def ends(a, b, force):
        return np.array([a[0], a[1], a[3], b[0] - SPAN / 2, b[1] - height, b[2]])

    if guess is None:
        a = ANGLE - s / BEND
        guess = (
            s,
            np.array([BEND * (np.sin(ANGLE) - np.sin(a)), BEND * (np.cos(a) - np.cos(ANGLE)), a, 0 * s]),
            [0.0, 0.0],
        )
    found = solve_bvp(rates, ends, guess[0], guess[1], guess[2], tol=1e-7, max_nodes=5000)
    assert found.success, found.message
    return -2.0 * found.p[1] * EI / UNIT, (s, found.sol(s), found.p)


def limits_by_bvp(count=28):
    """The largest and the smallest load of the symmetric arch on its way through [UNIT]."""
    heights = BEND * (1 - np.cos(ANGLE)) * np.linspace(0.99, -1.0, count)
    loads, states, guess = [], [], None
    for height in heights:
        load, guess = load_by_bvp(height, guess)
        loads.append(load)
        states.append(guess)
    found = []
    for sign, k in (
        (-1.0, int(np.argmax(loads[: count // 2]))),
        (1.0, count // 2 + int(np.argmin(loads[count // 2 :]))),
    ):
        bracket = heights[k + 1], heights[k - 1]
        best = minimize_scalar(
            lambda h, sign=sign, k=k: sign * load_by_bvp(h, states[k])[0],
            bounds=bracket, method="bounded", options={"xatol": 1e-6},
        )  # fmt: skip
        found.append(sign * best.fun)
    return np.array(found)


def main(modes=8, intervals=24):
    robot, top = build(modes, intervals)
    with warnings.catch_warnings():
        # a plane loop closed by a joint in space: the rows out of the plane are redundant
        warnings.simplefilter("ignore", ag.AnguillaWarning)
        options = {"factors": (0.0, 10.0), "limits": (-10.0, 10.0), "largest_step": 0.1}
        symmetric = ag.trace(robot, **options)
        crooked = ag.trace(robot, **options, start=symmetric.bifurcations[0])
    limits = np.array([point.factor for point in symmetric.limits])
    return Result(symmetric, crooked, top, limits, limits_by_bvp())


def heights(branch, top):
    return np.array([eq.position(top)[1] for eq in branch.equilibria])


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.6)
        left, right = fig.subplots(1, 2)
        for branch, colour, label in (
            (result.symmetric, COLOURS[0], "symmetric"),
            (result.crooked, COLOURS[1], "crooked"),
        ):
            y = heights(branch, result.top)
            left.plot(-1e3 * y, branch.factors, color=colour, lw=0.9, ls=":")
            stable = np.where(branch.stable, branch.factors, np.nan)
            left.plot(-1e3 * y, stable, color=colour, lw=2.0, label=label)
        for point in result.symmetric.special:
            eq = ag.Equilibrium(
                result.symmetric.robot, result.symmetric.system, result.symmetric.status, np.zeros(1), point.q[None],
                0 * point.q[None],
            )  # fmt: skip
            mark = "o" if point.kind == "limit" else "s"
            left.plot(-1e3 * eq.position(result.top)[1], point.factor, mark, color="k", ms=4)
        left.set(xlabel="way of the top below the hinges [mm]", ylabel="load  P l² / EI", title="Full: stable")
        left.legend(frameon=False)
        for branch, colour in ((result.symmetric, COLOURS[0]), (result.crooked, COLOURS[1])):
            for k in np.linspace(0, len(branch) - 1, 6).astype(int):
                eq = branch.equilibrium(int(k))
                parts = branch.robot.parts
                line = np.vstack([eq.centerline(part) for part in parts])
                right.plot(line[:, 0], line[:, 1], color=colour, lw=1.1)
        right.set(xlabel="x [m]", ylabel="y [m]", title="Shapes (height stretched)")
        fig.savefig(Path(folder) / "snap_through_arch.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.symmetric)
    print(f"limit loads [EI/l^2]: {result.limits}, by the boundary-value problem {result.bvp}")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
