"""Paper 000, test 2 (figures 4 and 5): a clamped beam bent by a force that stays normal to its tip.

The paper raises the follower force from 0 to 130 kN with five monomials for the curvature and compares with finite
elements. The tip first climbs, then the beam curls over until its tip passes below the clamp.

This problem has an exact solution that needs no iteration: seen from the tip, where moment and angle vanish, the angle
of the sections obeys the equation of a pendulum, so one integration from the tip to the clamp gives the whole shape.
Here the five monomials and 8, 10 and 14 Legendre modes are compared with it. The printed diameter 0.57 m is used as a
radius (errata): EI = 3.3e7 N m^2 is the value of this classical test.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from scipy.integrate import solve_ivp

import anguilla as ag
from anguilla.view.style import COLOURS, INK, TIME_MAP, figure, figure_style

LENGTH, RADIUS, YOUNG = 100.0, 0.57, 4.015e8  # [m], [m] (errata), [Pa]
EI = YOUNG * np.pi * RADIUS**4 / 4  # [N m^2]
FORCES = np.linspace(0.0, 130e3, 27)  # [N], steps of 5 kN
DRAWN = (0, 2, 4, 7, 10, 14, 18, 22, 26)  # forces of figure 4: 0, 10, 20, 35, 50, 70, 90, 110, 130 kN
BASES = {"5 monomials": ag.Monomial(5)} | {f"{n} modes": ag.Legendre(n) for n in (8, 10, 14)}
INTERVALS = 120


@dataclass
class Result:
    tips: dict[str, np.ndarray]  # (forces, 2) by basis: x, y of the tip [m]
    shapes: dict[str, np.ndarray]  # (len(DRAWN), points, 2) by basis [m]
    exact: np.ndarray  # (forces, 2) tip of the pendulum solution [m]

    def error(self, name):
        """Distances (forces,) of the tip from the exact one, in lengths of the beam."""
        return np.linalg.norm(self.tips[name] - self.exact, axis=1) / LENGTH


def exact_tip(force):
    """Tip (2,) [m] of the exact solution.

    With s the distance from the tip and phi the angle from the tip section: EI phi'' = -F cos(phi), phi = phi' = 0 at
    the tip. (x, y) goes from the clamp to the tip in the axes of the tip, turned by -phi(LENGTH) from the clamp's.
    """

    def rates(s, state):
        phi, slope, _, _ = state
        return slope, -force / EI * np.cos(phi), np.cos(phi), np.sin(phi)

    phi, _, x, y = solve_ivp(rates, (0.0, LENGTH), np.zeros(4), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    c, s = np.cos(-phi), np.sin(-phi)
    return np.array([c * x - s * y, s * x + c * y])


def load_up(basis):
    """Equilibria under the growing force: tips (forces, 2) and the drawn shapes."""
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), ag.Material(YOUNG, 1000), ag.Strains(bend_z=basis), intervals=INTERVALS)
    beam = robot.add(rod, at=robot.ground)
    load = robot.load(ag.TipWrench(beam, follower=True))
    equilibrium, tips, shapes = None, [], []
    for k, force in enumerate(FORCES):
        load.force = (0.0, force, 0.0)
        equilibrium = ag.statics(robot, start=equilibrium)
        tips.append(equilibrium.position(beam.tip)[:2])
        if k in DRAWN:
            shapes.append(equilibrium.centerline(beam)[:, :2])
    return np.array(tips), np.array(shapes)


def main():
    computed = {name: load_up(basis) for name, basis in BASES.items()}
    tips = {name: tips for name, (tips, _) in computed.items()}
    shapes = {name: shapes for name, (_, shapes) in computed.items()}
    return Result(tips, shapes, np.array([exact_tip(force) for force in FORCES]))


def figures(folder, result=None):
    result = result or main()
    few, many = "5 monomials", "14 modes"
    kilo, fine = FORCES / 1e3, np.linspace(0.0, 130.0, 261)
    path = np.array([exact_tip(1e3 * force) for force in fine])
    beside = [(5, 4)] * 4 + [(-4, -14), (-16, -9), (-17, -3), (7, -10), (-32, -3)]  # where the names of the shapes go
    with figure_style():
        fig = figure(9.6, 5.0)
        grid = fig.add_gridspec(2, 2, width_ratios=(1.1, 1.0), height_ratios=(1.6, 1.0))
        ax = fig.add_subplot(grid[:, 0], xlabel="x [m]", ylabel="y [m]", aspect="equal")
        ax.plot(*path.T, ":", color=INK, lw=1.0)
        for k, index in enumerate(DRAWN):
            colour, tip = colormaps[TIME_MAP](0.85 * index / DRAWN[-1]), result.exact[index]
            ax.plot(*result.shapes[many][k].T, color=colour, lw=2.4)
            ax.plot(*result.shapes[few][k].T, "--", color=INK, lw=0.9)
            ax.plot(*tip, "o", color=colour, ms=5)
            ax.annotate(f"{kilo[index]:.0f}", tip, xytext=beside[k], textcoords="offset points", color=colour)
        ax.set_title("Figure 4: equilibria by force in kN (dashed: 5 monomials)")

        ax = fig.add_subplot(grid[0, 1], ylabel="tip [m]", title="Figure 5: exact (lines), 5 monomials (dots)")
        for k, name in enumerate("xy"):
            ax.plot(fine, path[:, k], color=COLOURS[k])
            ax.plot(kilo, result.tips[few][:, k], "o", color=COLOURS[k], ms=3.5)
            ax.annotate(name, (130.0, path[-1, k]), xytext=(7, -3), textcoords="offset points", color=COLOURS[k])
        ax = fig.add_subplot(grid[1, 1], xlabel="force [kN]", yscale="log", ylim=(1e-10, 0.1))
        ax.set_title("distance of the tip from the exact one / length")
        for k, name in enumerate(BASES):
            error = result.error(name)[1:]
            ax.plot(kilo[1:], error, color=COLOURS[k])
            ax.annotate(name, (130.0, error[-1]), xytext=(5, -3), textcoords="offset points", color=COLOURS[k])
        fig.savefig(Path(folder) / "test2_follower.png", dpi=105)


if __name__ == "__main__":
    result = main()
    print(f"tip under 130 kN: {result.exact[-1].round(4)} m")
    for name in BASES:
        print(f"{name:12s} at most {result.error(name).max():.1e} L from the exact tip")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
