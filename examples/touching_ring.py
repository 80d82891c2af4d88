"""A twisted ring leaves its plane at Michell's turn, and is followed until it touches itself, and beyond.

The turn falls along the branch that leaves the plane (`twisted_ring.py`), towards a figure of eight. A ring of some
thickness touches itself before it gets there, and from there on the turn rises again: a ring that is turned slowly snaps from
its plane to this branch, which is stable.

Theory: t' = m x t / B, m' = F x t for the tangent t, the moment m and the force F of a thin rod with GJ = EI = B; F jumps
where the two strands press each other. The ring has three axes of symmetry, so that a quarter of it is enough: it starts on
the first axis, across it, with m and F across it too; and ends on the second one, across it, with m across it. There the
strands touch, two radii apart, and the component of F along that axis is half of the force P between them (B. D. Coleman,
D. Swigon, Theory of supercoiled elastic rings with self-contact, 2000). The turn is M L / GJ + 2 pi writhe, with the twisting
moment M = m . t.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root
from twisted_ring import CRITICAL, LENGTH, YOUNG, height

import anguilla as ag
from anguilla.lie import pose, rotation
from anguilla.view.panels import draw_solid
from anguilla.view.scene import scene
from anguilla.view.style import COLOURS, figure, figure_style

RADIUS, STIFFNESS = 0.045, 2e10  # [m], of the contact [N/m^2]: the strands sink into each other by a hundredth
BENDING = YOUNG * np.pi / 4 * RADIUS**4  # [N m^2]
TURNS = (0.8, 0.88, 1.0)  # [CRITICAL]
FREE = np.array((0.1958, 0.08, 16.844, 0.816, -86.088))  # a ring near the figure of eight: start of the theory


@dataclass
class Result:
    branch: ag.Branch  # that leaves the plane
    touching: list[ag.Equilibrium]  # at TURNS
    rod: ag.RodHandle
    onset: float  # least turn on the branch, where it touches [CRITICAL]
    moments: np.ndarray  # twisting moments at TURNS [BENDING / LENGTH]
    forces: np.ndarray  # between the strands [BENDING / LENGTH^2]


def build(modes=16, intervals=48):
    robot = ag.Robot("ring", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, poisson=0.0, density=1000.0)
    strains = ag.kirchhoff(modes, twist_modes=3)
    rod = robot.add(ag.Rod(LENGTH, ag.Circle(RADIUS), material, strains, intervals=intervals), at=robot.ground)
    robot.close(robot.ground, rod.tip, pose=lambda t: pose(rotation((1, 0, 0), t * CRITICAL)), name="ends")
    robot.load(ag.SelfContact(rod, STIFFNESS, spacing=0.1 * RADIUS, name="itself"))
    return robot, rod


def main():
    robot, rod = build()
    model = ag.Model(robot)
    bent = np.zeros(robot.size)
    bent[robot.coordinates().index(f"{rod.name}.bend_z[0]")] = 2 * np.pi / LENGTH
    plane = ag.trace(model, factors=(0.0, 1.05), start=bent, neutral=1e-7, largest_step=1.0)
    (point,) = plane.bifurcations
    start = {"start": point, "direction": (1, 0, 0), "neutral": 1e-6, "largest_step": 0.3}
    branch = ag.trace(model, factors=(0.0, 1.05), points=97, **start)
    touching, eq = [], branch.equilibrium(len(branch) - 1)
    with warnings.catch_warnings():  # the ring may roll in itself, and slide along itself
        warnings.filterwarnings("ignore", "The equilibrium of 'ring' is not unique", ag.AnguillaWarning)
        for turn in TURNS:
            eq = ag.statics(model, start=eq.q, t=turn)
            touching.append(eq)
    moments = [eq.reaction(robot.closures["ends"])[0] for eq in touching]
    forces = [np.sum(np.linalg.norm(eq.contact_points(robot.loads[0]).force, axis=-1)) for eq in touching]
    scale = BENDING / LENGTH
    return Result(
        branch, touching, rod, branch.factors.min(), np.array(moments) / scale, np.array(forces) / scale * LENGTH
    )


def quarter(unknown, press=0.0, s=None):
    """Solution (r, t, m) along a quarter of a ring of length and B one, by x, slope, curvature, M, F and half of P."""
    x, slope, curvature, moment, force = unknown
    t = np.array([0.0, np.cos(slope), np.sin(slope)])
    m, F = np.cross(t, (-curvature, 0.0, 0.0)) + moment * t, np.array([0.0, force, press])
    rate = lambda s, y: np.concatenate([y[3:6], np.cross(y[6:], y[3:6]), np.cross(F, y[3:6])])
    return solve_ivp(rate, (0.0, 0.25), [x, 0.0, 0.0, *t, *m], rtol=1e-9, atol=1e-11, t_eval=s).y


def solved(guess, radius=None, press=0.0, slope=None):
    """Unknowns of a ring whose strands are two radii apart (over the length), or one with a given slope."""

    def left(unknown):
        end = quarter(unknown, press)[:, -1]
        return [*end[:2], end[5], end[8], end[2] - radius if slope is None else unknown[1] - slope]

    found = root(left, guess, tol=1e-10)
    assert found.success, found.message
    return found.x


def turn_of(unknown, press=0.0, points=60):
    """Turn of the ends [rad] of a ring with GJ = EI: twist and writhe."""
    y = quarter(unknown, press, np.linspace(0.0, 0.25, points + 1))[:3].T
    half = np.concatenate([(y * (1, -1, -1))[:0:-1], y])
    return float(unknown[3] + 2 * np.pi * writhe(np.concatenate([half[:-1], (half * (-1, -1, 1))[:0:-1]])))


def writhe(line):
    """Of a closed polygon (n, 3): areas on the sphere of directions in which two of its edges cross, over 4 pi."""
    ahead, total = np.roll(line, -1, axis=0), 0.0
    for i in range(len(line) - 2):
        j = np.arange(i + 2, len(line) - (i == 0))
        a, b, c, d = line[j] - line[i], ahead[j] - line[i], line[j] - ahead[i], ahead[j] - ahead[i]
        sides = [np.cross(u, v) for u, v in ((a, b), (b, d), (d, c), (c, a))]
        sides = [side / np.linalg.norm(side, axis=1)[:, None] for side in sides]
        area = sum(np.arcsin(np.clip(np.sum(sides[k] * sides[k - 1], axis=1), -1.0, 1.0)) for k in range(4))
        total += np.sum(area * np.sign(np.sum(np.cross(ahead[j] - line[j], ahead[i] - line[i]) * a, axis=1)))
    return total / (2 * np.pi)


def theory(radius=RADIUS / LENGTH, presses=(0.0, 5.0, 10.0, 20.0, 30.0, 35.0)):
    """Turns [CRITICAL], twisting moments and forces P of a ring that touches itself, from P = 0 on."""
    at, rows = FREE, []
    for slope in np.linspace(0.12, 0.48, 10):
        at = solved(at, slope=slope)
    for press in presses:
        at = solved(at, radius, press)
        rows.append((turn_of(at, press) / CRITICAL, at[3], 2.0 * press))
    return np.array(rows).T


def figures(folder, result=None):
    result = result or main()
    turns, moments, _ = theory()
    with figure_style():
        fig = figure(9.0, 3.6)
        left, right = fig.add_subplot(1, 2, 1), fig.add_subplot(1, 2, 2, projection="3d")
        free = [eq.strain(result.rod, [0.3 * LENGTH])[0, 0] * LENGTH for eq in result.branch.equilibria]
        left.plot(result.branch.factors, free, color=COLOURS[0], label="leaves its plane")
        left.plot(turns, moments, "--", color=COLOURS[1], label="touches itself, theory")
        left.plot(TURNS, result.moments, "o", color=COLOURS[1], label="touches itself")
        left.set(xlabel="turn / Michell's turn", ylabel="twisting moment L / EI", xlim=(0.75, 1.05), ylim=(0.0, None))
        left.legend(frameon=False)
        draw_solid(right, scene(result.touching[-1], sections=160, around=20), [])
        right.set_axis_off()
        fig.savefig(Path(folder) / "touching_ring.png", dpi=110)


if __name__ == "__main__":
    result = main()
    turns, moments, forces = theory()
    print(f"touches itself at {result.onset:.4f} of Michell's turn, by theory {turns[0]:.4f}")
    for turn, moment, force in zip(TURNS, result.moments, result.forces, strict=True):
        known = np.interp(turn, turns, moments), np.interp(turn, turns, forces)
        print(
            f"turn {turn}: moment {moment:.3f}, by theory {known[0]:.3f}; force {force:.2f}, by theory {known[1]:.2f}"
        )
    print(f"height {height(result.touching[-1], result.rod):.3f}")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
