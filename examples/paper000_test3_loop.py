"""Paper 000, test 3 (figure 6): a clamped rod is twisted by one turn, then its ends are pushed together: it makes a loop.

The tip is held by the constraint g(l) = g1 (000 (50)): first turned about the rod in 18 increments of 20 degrees, then moved
in 15 increments from x1 = l to x1 = -l / 2. On its way the twist becomes a loop in space, which falls into its plane and
loses all torsion at x1 = 0.325 l (a pitchfork).

Both methods of the paper are used, with its basis of 3, 5, 5 and 2 Chebyshev polynomials for twist, bendings and stretch:
Newton on the closed robot, and the projective flow (55)-(58). Newton's robot has one more closure, a plate on which the
middle of the rod slides: a round rod between coaxial clamps may be turned about their axis, and without the plate Newton's
tangent would be singular. The plate carries nothing. A refined basis is compared with a solution by shooting, which shares
nothing with the library. From the errata: Poisson's ratio 0.3, no gravity; the feedback (58) shrinks the error.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import anguilla as ag
from anguilla.view.style import COLOURS, INK, TIME_MAP, figure, figure_style

LENGTH, RADIUS, YOUNG, POISSON = 20.0, 0.0088, 2.1e11, 0.3  # SI; Poisson's ratio: errata
EI = YOUNG * np.pi * RADIUS**4 / 4  # [N m^2]
GJ, EA = EI / (1.0 + POISSON), YOUNG * np.pi * RADIUS**2  # [N m^2], [N]
TURNS = np.arange(19) / 18  # of the tip, phase 1
PLACES = 1.0 - 0.1 * np.arange(16)  # x1 / l, phase 2
DRAWN = (0, 2, 4, 6, 7, 10, 13, 15)  # of PLACES
PAPER = {"twist": 3, "bend_y": 5, "bend_z": 5, "stretch": 2}
FINE = {"twist": 4, "bend_y": 14, "bend_z": 14, "stretch": 3}


@dataclass
class Branch:
    """Equilibria along the second phase."""

    rod: ag.RodHandle
    equilibria: list[ag.Equilibrium]
    guide: ag.Closure | None
    grip: ag.Closure

    def energies(self):
        """Torsional and bending energy (places, 2) [J]."""
        X = np.linspace(0.0, LENGTH, 401)
        K = np.array([eq.strain(self.rod, X)[:, :3] for eq in self.equilibria])
        square = np.trapezoid(K**2, X, axis=1)
        return 0.5 * np.stack([GJ * square[:, 0], EI * (square[:, 1] + square[:, 2])], axis=1)

    def invariants(self):
        """What does not depend on the turn about the axis: middle's x and distance, M1, F1, mean K1 (places, 5)."""
        rows = []
        for eq in self.equilibria:
            x, y, z = eq.position(self.rod.section(LENGTH / 2))
            moment_and_force = eq.reaction(self.grip)
            rows.append([x, np.hypot(y, z), *moment_and_force[[0, 3]], eq.strain(self.rod)[:, 0].mean()])
        return np.array(rows)


@dataclass
class Result:
    paper: Branch  # Newton, basis of the paper
    flow: Branch  # projective flow, same basis
    fine: Branch  # Newton, refined basis
    exact: dict[int, np.ndarray]  # by number of the place: the five invariants by shooting
    phase1: np.ndarray  # torque at the tip (turns,) [N m] by Newton


def grip_at(t):
    """The prescribed pose of the tip: t from 0 to 1 turns it once, from 1 to 2 moves it from l to -l / 2."""
    angle, x = 2.0 * np.pi * min(t, 1.0), LENGTH * (1.0 - 1.5 * max(t - 1.0, 0.0))
    pose = np.eye(4)
    pose[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    pose[0, 3] = x
    return pose


def cable(modes, basis, *, guided, intervals=None):
    """The robot, its rod, and the closures that hold its tip and guide its middle."""
    robot = ag.Robot("cable", gravity=(0, 0, 0))
    strains = ag.Strains(**{name: basis(n) for name, n in modes.items()})
    material = ag.Material(YOUNG, 7800, poisson=POISSON)
    rod = robot.add(
        ag.Rod(LENGTH, ag.Circle(RADIUS), material, strains, intervals=intervals), at=robot.ground, name="rod"
    )
    grip = robot.close(robot.ground, rod.tip, pose=grip_at, name="grip")
    guide = None
    if guided:
        sliding = ag.Planar(normal=(0, 0, 1), motion=(None, None, 0.0))
        plate = robot.add(ag.RigidBody(1.0, (1.0, 1.0, 1.0)), at=robot.ground, joint=sliding, name="plate")
        guide = robot.close(plate.frame, rod.section(LENGTH / 2), joint=ag.Spherical(), name="guide")
    return robot, rod, grip, guide


def follow(modes, basis, *, method="newton", turns=TURNS, intervals=None):
    """Both phases: the torques of the first one and the branch of the second one."""
    robot, rod, grip, guide = cable(modes, basis, guided=method == "newton", intervals=intervals)
    eq, torques, found = None, [], []
    for turn in turns:
        eq = ag.statics(robot, start=eq, t=turn, method=method)
        torques.append(eq.reaction(grip)[0])
    found.append(eq)
    start = eq.q.copy()  # a straight rod has no reason to bend: the first push starts a little bent
    start[robot.coordinates().index("rod.bend_z[2]")] -= 0.02
    for place in PLACES[1:]:
        eq = ag.statics(robot, start=start, t=1.0 + (1.0 - place) / 1.5, method=method)
        found.append(eq)
        start = eq
    return np.array(torques), Branch(rod, found, guide, grip)


def shoot(x1, moment, force):
    """The same invariants by shooting, from a guess of the moment at the root and the force, world axes.

    Strong form: the force n is constant, m' = -r' x n, K = R^T m / (GJ, EI, EI), r' = R t1 (1 + n . t1 / EA).
    """
    scale = np.array([300.0] * 3 + [100.0] * 3)

    def rates(s, y):
        R, m, n = y[3:12].reshape(3, 3), y[12:15], y[15:18]
        K = R.T @ m / (GJ, EI, EI)
        tangent = R[:, 0] * (1.0 + n @ R[:, 0] / EA)
        hat = np.array([[0.0, -K[2], K[1]], [K[2], 0.0, -K[0]], [-K[1], K[0], 0.0]])
        return np.concatenate([tangent, (R @ hat).ravel(), -np.cross(tangent, n), np.zeros(3)])

    def path(guess):
        y = np.concatenate([np.zeros(3), np.eye(3).ravel(), guess * scale])
        ends = solve_ivp(rates, (0.0, LENGTH), y, "DOP853", [LENGTH / 2, LENGTH], rtol=1e-10, atol=1e-10)
        return ends.y.T

    def miss(guess):
        middle, end = path(guess)
        R = end[3:12].reshape(3, 3)
        turn = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return np.concatenate([end[:3] - (x1 * LENGTH, 0.0, 0.0), turn, middle[2:3]])

    found = least_squares(miss, np.concatenate([moment, force]) / scale, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    if np.abs(found.fun).max() > 1e-7:
        raise RuntimeError(f"shooting misses by {np.abs(found.fun).max():.1e} at x1 = {x1} l")
    middle, end = path(found.x)
    tangential = end[3:12].reshape(3, 3).T @ end[12:15]
    return np.array([middle[0], np.hypot(*middle[1:3]), end[12], end[15], tangential[0] / GJ])


def main():
    torques, paper = follow(PAPER, ag.Chebyshev)
    _, flow = follow(PAPER, ag.Chebyshev, method=ag.ProjectiveFlow(), turns=TURNS[::3])
    _, fine = follow(FINE, ag.Legendre, turns=TURNS[::3], intervals=60)
    exact = {}
    for k in (1, 4, 6, 7, 10, 15):
        root = fine.equilibria[k].wrench(fine.rod, [0.0])[0]  # a guess only
        exact[k] = shoot(PLACES[k], root[:3], root[3:])
    return Result(paper, flow, fine, exact, torques)


def figures(folder, result=None):
    result = result or main()
    hue = colormaps[TIME_MAP]
    with figure_style():
        fig = figure(9.6, 5.2)
        grid = fig.add_gridspec(3, 2, width_ratios=(1.0, 1.15), height_ratios=(1.0, 0.15, 0.85))
        space = fig.add_subplot(grid[:2, 0], projection="3d")
        planes = [fig.add_subplot(grid[k]) for k in ((0, 1), (slice(1, 3), 1), (2, 0))]
        for k in DRAWN:
            line = result.fine.equilibria[k].centerline(result.fine.rod, 120)
            colour = hue(0.92 * k / 15)
            space.plot(*line.T, color=colour)
            for ax, (i, j) in zip(planes, ((0, 1), (0, 2), (1, 2)), strict=True):
                ax.plot(line[:, i], line[:, j], color=colour, label=f"{PLACES[k]:.1f}")
        space.set(
            xlabel="x [m]", ylabel="y [m]", title="Figure 6: equilibria in space", yticks=(0, 5), zticks=(-2, 0, 2)
        )
        space.set_box_aspect((30, 9, 9), zoom=1.25)
        for ax, (a, b) in zip(planes, ("xy", "xz", "yz"), strict=True):
            ax.set(xlabel=f"{a} [m]", ylabel=f"{b} [m]", aspect="equal", title=f"plane {a}, {b}")
        planes[1].legend(title="x1 / l", frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.75))
        fig.savefig(Path(folder) / "test3_loop.png", dpi=95)

        fig = figure(9.6, 3.2)
        energy, twist, places = fig.subplots(1, 3)
        parts = result.fine.energies()
        for k, name in enumerate(("torsion", "bending")):
            energy.plot(PLACES, parts[:, k], color=COLOURS[k])
            energy.annotate(name, (PLACES[9], parts[9, k]), xytext=(0, 7), textcoords="offset points", color=COLOURS[k])
        energy.set(xlabel="x1 / l", ylabel="energy [J]", title="torsion becomes bending")
        newton, flow, fine = (b.invariants() for b in (result.paper, result.flow, result.fine))
        at = list(result.exact)
        for ax, j, name in ((twist, 4, "mean twist K1 [rad/m]"), (places, 1, "middle of the rod from the axis [m]")):
            ax.plot(PLACES, fine[:, j], color=COLOURS[0], label="4, 14, 14, 3 modes")
            ax.plot(PLACES, newton[:, j], "x", color=COLOURS[1], ms=5, label="3, 5, 5, 2, Newton")
            ax.plot(PLACES, flow[:, j], "+", color=COLOURS[2], ms=7, label="3, 5, 5, 2, flow (57)")
            ax.plot(PLACES[at], [result.exact[k][j] for k in at], "o", mfc="none", color=INK, ms=8, label="shooting")
            ax.set(xlabel="x1 / l", title=name)
        places.legend(frameon=False, fontsize=8)
        for ax in fig.axes:
            ax.set_xticks((1.0, 0.5, 0.0, -0.5))
            ax.invert_xaxis()
            ax.axvline(0.3251, color=INK, lw=0.7, ls=":")
        fig.savefig(Path(folder) / "test3_energy.png", dpi=110)


if __name__ == "__main__":
    result = main()
    newton, flow, fine = (b.invariants() for b in (result.paper, result.flow, result.fine))
    print(
        "x1/l   middle x, distance [m], M1 [N m], F1 [N], K1 [rad/m]: refined | shooting - refined | paper's - refined"
    )
    for k, x in enumerate(PLACES):
        off = "" if k not in result.exact else np.array2string(np.abs(result.exact[k] - fine[k]), precision=1)
        print(f"{x:5.1f}", fine[k].round(5), off, np.abs(newton[k] - fine[k]).round(4))
    print(f"Newton and flow differ by {np.abs(newton - flow).max():.1e} at most")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
