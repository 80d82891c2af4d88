"""Paper 000, section VII.B (table I, figure 7): a clamped beam bent by one cable along five routings.

The beam is that of test 1, a hundred times softer: L = 1 m, E = 1e6 Pa, and R_b = 0.01 m is used as a radius (errata).
Nothing else loads it. The paper lets the damped balance (59) settle; here Newton solves K q = L(q) T at once, for
T = 1, 2, 3, 4, 5 N. The spiral of table I is given the amplitude R_b / 2 (errata: printed without one, 1 m).

The parallel cable bends the beam to a circle of curvature T R_b / (2 EI), as in figure 1. Where a cable ends inside the
beam, the curvature jumps: polynomials over the whole beam follow slowly, a basis with a breakpoint there at once.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps

import anguilla as ag
from anguilla.view.style import INK, TIME_MAP, figure, figure_style

LENGTH, RADIUS, YOUNG, POISSON = 1.0, 0.01, 1e6, 0.3  # [m], [m] (errata), [Pa], [-]
EI = YOUNG * np.pi * RADIUS**4 / 4  # [N m^2]
TENSIONS = (1.0, 2.0, 3.0, 4.0, 5.0)  # [N]
SIDE = RADIUS / 2
DIAGONAL = np.sqrt(2) * RADIUS / 4
ROUTINGS = {  # table I; the spiral is (sin, cos): it starts on z and turns towards y
    "parallel": (ag.parallel(y=DIAGONAL, z=DIAGONAL), None),
    "convergent": (ag.convergent((SIDE, 0), (0, 0), LENGTH), None),
    "cross": (ag.convergent((SIDE, 0), (-SIDE, 0), LENGTH), None),
    "spiral": (ag.helical(SIDE, pitch=-LENGTH, phase=np.pi / 2), None),
    "truncated": (ag.parallel(y=SIDE), (0.0, LENGTH / 2)),
}
INTERVALS = 64
CUT = ag.PiecewiseConstant((0.5,))


@dataclass
class Result:
    equilibria: dict[tuple[str, str], list[ag.Equilibrium]]  # by routing and basis, at the five tensions

    def tips(self, routing, basis="5 modes"):
        """Tip (5, 3) [m] at the five tensions."""
        return np.array([eq.position(eq.robot.part("beam").tip) for eq in self.equilibria[routing, basis]])

    def shapes(self, routing, basis="5 modes", points=120):
        """Centrelines (5, points, 3) [m]."""
        return np.array([eq.centerline(eq.robot.part("beam"), points) for eq in self.equilibria[routing, basis]])


def build(routing, strains, intervals=INTERVALS):
    """Return the beam with one cable, "cable"."""
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, poisson=POISSON, density=1000)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), material, strains, intervals=intervals)
    beam = robot.add(rod, at=robot.ground, name="beam")
    path, span = ROUTINGS[routing]
    robot.actuate("cable", ag.Tendon(beam, path, span=span))
    return robot


def bend(routing, strains, intervals=INTERVALS):
    """Return the equilibria at the five tensions, each from the one before."""
    robot, found = build(routing, strains, intervals), []
    for tension in TENSIONS:
        found.append(ag.statics(robot, inputs={"cable": tension}, start=found[-1] if found else None))
    return found


def main():
    bases = {f"{n} modes": ag.kirchhoff(n) for n in (5, 10)} | {"cut": ag.Strains(twist=CUT, bend_y=CUT, bend_z=CUT)}
    wanted = [(routing, basis) for routing in ROUTINGS for basis in bases if basis != "cut" or routing == "truncated"]
    return Result({(routing, basis): bend(routing, bases[basis]) for routing, basis in wanted})


def figures(folder, result=None):
    result = result or main()
    colours = colormaps[TIME_MAP](np.linspace(0.1, 0.85, len(TENSIONS)))
    titles = {"convergent": "a: convergent", "cross": "b: cross", "spiral": "c: spiral", "truncated": "d: truncated"}
    with figure_style():
        fig = figure(9.6, 6.4)
        grid = fig.add_gridspec(2, 2)
        for place, (name, title) in zip(grid, titles.items(), strict=True):
            solid = name == "spiral"
            ax = fig.add_subplot(place, projection="3d" if solid else None)
            ax.plot(*np.zeros((3 if solid else 2, 1)), "s", color=INK, ms=5)
            for k, (shape, colour) in enumerate(zip(result.shapes(name, "10 modes"), colours, strict=True)):
                line = shape.T if solid else shape[:, :2].T
                ax.plot(*line, color=colour, lw=2.0, label=f"{TENSIONS[k]:.0f} N")
                if not solid:
                    ax.plot(*line[:, -1], "o", color=colour, ms=4)
            if name == "truncated":
                for shape in result.shapes(name, "5 modes"):
                    ax.plot(*shape[:, :2].T, ":", color=INK, lw=1.0)
                ax.text(0.03, 0.86, "dotted: 5 modes\nlines: 10 modes", transform=ax.transAxes)
            ax.set(xlabel="x [m]", ylabel="y [m]")
            ax.set_title(title, loc="left")
            if solid:
                ax.set(zlabel="z [m]", xticks=(0.0, 0.5, 1.0), yticks=(0.0, 0.2, 0.4), zticks=(-0.1, 0.0, 0.1))
                ax.view_init(26, -62)
                ax.set_aspect("equal")
                ax.xaxis.labelpad, ax.zaxis.labelpad = 12, 1
            else:
                ax.set_aspect("equal", adjustable="datalim")
            if name == "convergent":
                ax.legend(loc="upper left", frameon=False)
        fig.savefig(Path(folder) / "tendons.png", dpi=110)


if __name__ == "__main__":
    result = main()
    for name in ROUTINGS:
        gap = np.linalg.norm(result.tips(name) - result.tips(name, "10 modes"), axis=1).max()
        print(f"{name}: tip at 5 N {result.tips(name, '10 modes')[-1].round(4)} m; 5 modes are off by {gap:.1e} m")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
