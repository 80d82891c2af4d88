"""Paper 000, test 5 (figures 11 to 13): a string with a mass at its tip, whose root is moved round a circle.

The string (7.85e-5 kg/m, 1 m, no bending stiffness, inextensible) is clamped to a base that moves on a circle of 0.15 m once
a second, in the horizontal plane (y, z); gravity is along +x. A mass of 0.03 kg hangs on it. At t = 0 the string is straight
along x and moves with its base; the paper does not say how it starts.

A string without stiffness kinks at a clamp, and smooth curvatures cannot (errata). So the example has two models: the clamped
one of the paper, with three Chebyshev polynomials for each curvature, and more of them; and a string on a universal joint,
which is what the clamped one tends to. The latter is compared with a chain of rigid links, integrated explicitly in
Cartesian coordinates. The root is moved by a joint with prescribed motion.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from scipy.integrate import solve_ivp

import anguilla as ag
from anguilla.view.style import COLOURS, FAINT, INK, TIME_MAP, figure, figure_style

LINE, LENGTH, BOB, GRAVITY = 7.85e-5, 1.0, 0.03, 9.81  # [kg/m], [m], [kg], [m/s^2] along +x
AMPLITUDE, OMEGA = 0.15, 2.0 * np.pi  # [m], [rad/s]
DENSITY = 7850.0  # [kg/m^3]; only DENSITY x area = LINE matters
RADIUS = np.sqrt(LINE / DENSITY / np.pi)
BENDING = np.pi * RADIUS**4 / 4  # [N m^2] of 1 Pa: 8e-18, a string
DURATION, DT, KEPT = 3.0, 1e-3, 0.01  # [s]
CLAMPED = (3, 5, 8, 12)  # modes of each curvature


@dataclass
class Result:
    clamped: dict[int, ag.Trajectory]  # by number of modes
    hinged: ag.Trajectory  # three modes on a universal joint
    exact: np.ndarray  # (time, 3) tip of the chain, extrapolated to infinitely many links [m]
    links: np.ndarray  # how far the extrapolation went (time,) [m]

    @property
    def t(self):
        return self.hinged.t

    def tip(self, run):
        """Tip (time, 3) [m]."""
        return run.position(run.robot.part("string").tip)

    def off(self, run):
        """Distances (time,) of the tip from that of the chain [m]."""
        return np.linalg.norm(self.tip(run) - self.exact, axis=1)


def circle(phase):
    """One coordinate of the base with its rate and acceleration, as functions of t."""
    return (
        lambda t: AMPLITUDE * np.sin(OMEGA * t + phase),
        lambda t: AMPLITUDE * OMEGA * np.cos(OMEGA * t + phase),
        lambda t: -AMPLITUDE * OMEGA**2 * np.sin(OMEGA * t + phase),
    )


Y, Z = circle(0.0), circle(np.pi / 2)


def swing(modes, *, hinged, dt=DT):
    """Simulate the pendulum."""
    robot = ag.Robot("pendulum", gravity=(GRAVITY, 0, 0))
    strains = ag.Strains(bend_y=ag.Chebyshev(modes), bend_z=ag.Chebyshev(modes))
    limp = (BENDING,) * 3 + (1.0,) * 3
    string = ag.Rod(LENGTH, ag.Circle(RADIUS), ag.Material(1e6, DENSITY), strains, stiffness=limp)
    moved = ag.Planar(normal=(1, 0, 0), along=(0, 1, 0), motion=(Y, Z, 0.0))
    if hinged:
        base = robot.add(ag.RigidBody(1.0, (1.0, 1.0, 1.0)), at=robot.ground, joint=moved, name="base")
        hung = robot.add(string, at=base.frame, joint=ag.Universal((0, 1, 0), (0, 0, 1)), name="string")
    else:
        hung = robot.add(string, at=robot.ground, joint=moved, name="string")
    robot.add(ag.RigidBody(BOB, (1e-12, 1e-12, 1e-12)), at=hung.tip, name="bob")
    return ag.simulate(robot, duration=DURATION, dt=dt, every=round(KEPT / dt))


def chain(links, times):
    """Tip (times, 3) [m] of a chain of equal rigid links without inertia between point masses.

    Masses m_i at x_i, directions d_i of the links, tensions T_i: m_i a_i = m_i g + T_(i+1) d_(i+1) - T_i d_i, and the
    lengths stay: d_i . (a_i - a_(i-1)) = -|v_i - v_(i-1)|^2 / h.
    """
    h = LENGTH / links
    inverse = 1.0 / np.append(np.full(links - 1, LINE * h), BOB + 0.5 * LINE * h)
    gravity = np.array([GRAVITY, 0.0, 0.0])
    k = np.arange(links - 1)

    def rates(t, state):
        x, v = state.reshape(2, links, 3)
        base = [np.array([0.0, Y[j](t), Z[j](t)]) for j in range(3)]
        d, dv = (np.diff(u, axis=0, prepend=root[None, :]) for u, root in ((x, base[0]), (v, base[1])))
        d = d / h
        matrix = np.diag(inverse)
        matrix[k + 1, k + 1] += inverse[:-1]
        matrix[k, k + 1] = matrix[k + 1, k] = -inverse[:-1] * np.einsum("ij,ij->i", d[1:], d[:-1])
        right = np.einsum("ij,ij->i", dv, dv) / h
        right[0] += d[0] @ (gravity - base[2])
        pull = np.linalg.solve(matrix, right)[:, None] * d
        force = -pull
        force[:-1] += pull[1:]
        return np.concatenate([v, gravity + inverse[:, None] * force]).ravel()

    place = np.stack([h * np.arange(1, links + 1), np.zeros(links), np.full(links, AMPLITUDE)], axis=1)
    speed = np.tile([0.0, AMPLITUDE * OMEGA, 0.0], (links, 1))
    start = np.concatenate([place, speed]).ravel()
    path = solve_ivp(rates, (0.0, times[-1]), start, "DOP853", times, rtol=1e-9, atol=1e-10)
    return path.y.T.reshape(-1, 2, links, 3)[:, 0, -1]


def main():
    clamped = {n: swing(n, hinged=False) for n in CLAMPED}
    hinged = swing(3, hinged=True)
    few, many = (chain(n, hinged.t) for n in (3, 6))
    exact = many + (many - few) / 3.0  # the error of a chain is of second order in its links
    return Result(clamped, hinged, exact, np.linalg.norm(exact - many, axis=1))


def figures(folder, result=None):
    result = result or main()
    paper, string = result.clamped[3], result.hinged
    with figure_style():
        fig = figure(9.6, 4.4)
        space = fig.add_subplot(1, 2, 1, projection="3d")
        for run, look in ((paper, "-"), (string, ":")):
            lines = run.centerline(run.robot.part("string"), 40)[::15]
            for j, line in enumerate(lines):
                colour = colormaps[TIME_MAP](0.92 * j / (len(lines) - 1))
                space.plot(line[:, 1], line[:, 2], -line[:, 0], look, color=colour, lw=1.2)
                space.plot(*line[-1:, 1:].T, -line[-1:, 0], "o", color=colour, ms=4)
        space.set(xlabel="y [m]", ylabel="z [m]", zlabel="-x [m]", xticks=(-0.4, 0, 0.4), yticks=(-0.3, 0, 0.3))
        space.set_title("Figure 11: every 0.15 s, 3 modes (lines), string (dots)")
        space.set_box_aspect((1, 1, 0.9))
        ax = fig.add_subplot(1, 2, 2, xlabel="y [m]", ylabel="z [m]", aspect="equal", title="Figure 12: the two ends")
        turn = np.linspace(0.0, 2.0 * np.pi, 200)
        ax.plot(AMPLITUDE * np.sin(turn), AMPLITUDE * np.cos(turn), color=FAINT, lw=3)
        ax.plot(*result.exact[:, 1:].T, color=INK, lw=3.5, alpha=0.25, label="tip of the chain")
        ax.plot(*result.tip(string)[:, 1:].T, color=COLOURS[0], lw=1.0, label="string on a hinge")
        ax.plot(*result.tip(paper)[:, 1:].T, color=COLOURS[1], lw=1.0, label="clamped, 3 modes")
        ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        fig.savefig(Path(folder) / "test5_paths.png", dpi=100)

        fig = figure(9.6, 3.0)
        over, error = fig.subplots(1, 2)
        for j, name in enumerate("xyz"):
            over.plot(result.t, result.exact[:, j], color=COLOURS[j], lw=3.5, alpha=0.3)
            over.plot(result.t, result.tip(string)[:, j], color=COLOURS[j], lw=1.0)
            over.plot(result.t, result.tip(paper)[:, j], "--", color=COLOURS[j], lw=1.0)
            over.annotate(
                name, (DURATION, result.exact[-1, j]), xytext=(5, -3), textcoords="offset points", color=COLOURS[j]
            )
        over.set(xlabel="time [s]", ylabel="tip [m]", title="Figure 13: chain (wide), hinge, 3 modes (dashed)")
        for j, (n, run) in enumerate(result.clamped.items()):
            error.plot(result.t[1:], result.off(run)[1:], color=COLOURS[j + 1], label=f"clamped, {n} modes")
        error.plot(result.t[1:], result.off(string)[1:], color=COLOURS[0], label="on a hinge, 3 modes")
        error.set(
            xlabel="time [s]", yscale="log", title="distance of the tip from that of the chain [m]", ylim=(1e-7, 1.0)
        )
        error.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        fig.savefig(Path(folder) / "test5_tip.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(f"hinged, 3 modes: tip at most {result.off(result.hinged).max():.1e} m from that of the chain")
    print(f"(the chain was extrapolated by {result.links.max():.1e} m)")
    for n, run in result.clamped.items():
        print(f"clamped, {n:2d} modes: {result.off(run).max():.3f} m")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
