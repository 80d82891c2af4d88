"""A continuum Stewart-Gough robot: how long must its six rods be? And a rod that is let go, in real time.

Till, Aloi and Rucker 2019 simulate soft robots in real time by shooting; their tutorial examples give all data of two cases:

- six steel rods of 2 mm, clamped in a base and free to turn about themselves in a platform of 100 g, hold it 0.4 m above
  the base, tilted by 10 degrees. The unknowns are the six lengths. The boundary value problem (36 unknowns, the six rods
  integrated at once) was solved apart by shooting, which gave LENGTHS and TENSIONS;
- a steel rod of 0.4 m, bent by 200 g at its tip, is let go; they step by 2 ms.

What agrees: the lengths, to a hundredth of a millimetre, the force in each rod, to a thousandth, and the period of the rod
with Euler's and Bernoulli's, to a thousandth. What does not: with steps of 2 ms the rod is 2.4 % of its length from where
shorter steps and more modes bring it after half a second, and the library says so.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
from scipy.optimize import root

import anguilla as ag
from anguilla.lie import pose
from anguilla.view.style import COLOURS, figure, figure_style

STEEL = ag.Material(young=200e9, shear=80e9, density=8000.0)
CIRCLE, SPREAD = 0.087, np.radians(100.0)  # radius of the holes, and the larger angle between two of them
TILT, HEIGHT, MASS = np.radians(10.0), 0.4, 0.1
LENGTHS = np.array([0.39732639, 0.39732639, 0.39972010, 0.42162401, 0.42162401, 0.39972010])  # by shooting [m]
TENSIONS = np.array([-4.495002, -4.495002, 10.702563, -6.998527, -6.998527, 10.702563])  # at the base, by shooting [N]
UP = np.array([[0.0, 0, -1], [0, 1, 0], [1, 0, 0]])  # a rod goes along its x: turn it to z


@dataclass
class Result:
    eq: ag.Equilibrium
    legs: list[ag.RodHandle]
    lengths: np.ndarray  # of the six rods (6,) [m]
    tensions: np.ndarray  # at the base (6,) [N]
    calls: int  # equilibria that finding the lengths took
    run: ag.Trajectory
    rod: ag.RodHandle
    period: float  # of the rod's swing [s]
    settled: float  # how far shorter steps and more modes move its tip, over the length
    speed: float  # simulated time over processor time
    said: str  # what the library said of the steps of 2 ms


def holes() -> tuple[np.ndarray, np.ndarray]:
    """Places of the holes in the base and in the platform (6, 3) [m]."""
    i = np.arange(1, 7)
    near = np.radians(120.0) - SPREAD
    base = (-near + (i - i % 2) * near + (i - 1 - (i - 1) % 2) * SPREAD) / 2
    top = (-SPREAD + (i - i % 2) * SPREAD + (i - 1 - (i - 1) % 2) * near) / 2
    ring = lambda angles: CIRCLE * np.stack([np.cos(angles), np.sin(angles), np.zeros(6)], axis=1)
    return ring(base), ring(top)


def build(lengths: np.ndarray, modes: int = 5):
    """The robot with rods of the lengths, its legs and its platform."""
    base, top = holes()
    top = top @ UP  # in the axes of the platform, whose x is its normal
    robot = ag.Robot("stewart", gravity=(0, 0, -9.81))
    spin = ag.Revolute((1, 0, 0))
    legs = []
    for k, (place, length) in enumerate(zip(base, lengths, strict=True)):
        rod = ag.Rod(
            float(length), ag.Circle(1e-3), STEEL, ag.extensible_kirchhoff(modes, twist_modes=1, stretch_modes=2)
        )
        legs.append(robot.add(rod, at=robot.ground, pose=pose(UP, place), name=f"leg_{k + 1}"))
    # The joint is at the hole of the first leg; the frame of the platform is there, its centre elsewhere.
    body = ag.RigidBody(MASS, com=-top[0])
    platform = robot.add(body, at=legs[0].tip, joint=spin, name="platform")
    for leg, hole in zip(legs[1:], top[1:], strict=True):
        robot.close(leg.tip, platform.at(hole - top[0]), joint=spin)
    return robot, legs, platform.at(-top[0])


def place_of(matrix: np.ndarray) -> np.ndarray:
    """How far a pose of the platform is from the wanted one (6,): place [m], and the turn between them [rad]."""
    wanted = np.array([[np.cos(TILT), 0, np.sin(TILT)], [0, 1, 0], [-np.sin(TILT), 0, np.cos(TILT)]]) @ UP
    turned = wanted.T @ matrix[:3, :3]
    turn = np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]]) / 2
    return np.concatenate([matrix[:3, 3] - (0, 0, HEIGHT), 0.1 * turn])


def parallel_robot():
    """Equilibrium of the robot with rods as long as they must be, its legs, their lengths, and the equilibria it took."""
    solved = {}  # by lengths, for the root finder asks some of them twice

    def solve(lengths):
        key = lengths.tobytes()
        if key not in solved:
            robot, legs, centre = build(lengths)
            near = next(reversed(solved.values()))[0].q if solved else None
            eq = ag.statics(robot, start=near)
            solved[key] = eq, legs, place_of(eq.pose(centre))
        return solved[key]

    found = root(lambda lengths: solve(lengths)[2], np.full(6, HEIGHT * 1.01), method="hybr", tol=1e-12)
    eq, legs, _ = solve(found.x)
    return eq, legs, found.x, len(solved)


def swing(modes: int = 5, dt: float = 2e-3, duration: float = 0.5):
    """Motion of the rod after its weight is cut off, its handle, and the seconds of a warm run."""
    steel = ag.Material(young=207e9, poisson=0.3, density=8000.0)

    def build_rod():
        robot = ag.Robot("cantilever", gravity=(0, -9.81, 0))
        return robot, robot.add(ag.Rod(0.4, ag.Circle(1.2e-3), steel, ag.planar(modes)), at=robot.ground, name="rod")

    robot, rod = build_rod()
    robot.load(ag.TipWrench(rod, force=(0, -0.2 * 9.81, 0)))
    held = ag.statics(robot)
    robot, rod = build_rod()
    ag.simulate(robot, duration=dt, dt=dt, start=held.q)
    began = process_time()
    run = ag.simulate(robot, duration=duration, dt=dt, start=held.q)
    return run, rod, process_time() - began


def main():
    eq, legs, lengths, calls = parallel_robot()
    tensions = np.array([eq.wrench(leg, 0.0)[0, 3] for leg in legs])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ag.AnguillaWarning)
        run, rod, seconds = swing()
    told = " ".join(dict.fromkeys(str(one.message) for one in said))
    fine, same, _ = swing(8, 2.5e-4)
    tip, exact = run.position(rod.tip)[:, 1], fine.position(same.tip)[::8, 1]
    level = exact - exact.mean()
    ups = np.flatnonzero((level[:-1] < 0) & (level[1:] >= 0))
    crossed = run.t[ups] - level[ups] * (run.t[1] - run.t[0]) / (level[ups + 1] - level[ups])
    period = float(np.diff(crossed).mean())
    settled = float(np.abs(tip - exact).max() / 0.4)
    return Result(eq, legs, lengths, tensions, calls, run, rod, period, settled, float(run.t[-1]) / seconds, told)


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.8)
        left, right = fig.subplots(1, 2)
        for k, leg in enumerate(result.legs):
            line = np.array([result.eq.position(leg.section(x)) for x in np.linspace(0, result.lengths[k], 40)])
            left.plot(line[:, 0], line[:, 2], color=COLOURS[0], lw=1.5)
        tips = np.array([result.eq.position(leg.tip) for leg in (*result.legs, result.legs[0])])
        left.plot(tips[:, 0], tips[:, 2], color=COLOURS[1], lw=3)
        left.set(xlabel="x [m]", ylabel="z [m]", title="Six rods hold a platform tilted by 10 degrees")
        left.set_aspect("equal")
        right.plot(result.run.t, result.run.position(result.rod.tip)[:, 1], color=COLOURS[0])
        right.set(xlabel="t [s]", ylabel="tip [m]", title="A rod is let go, steps of 2 ms")
        fig.savefig(Path(folder) / "till2019_parallel_robot.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print("lengths [mm]         ", (1e3 * result.lengths).round(3))
    print("by shooting [mm]     ", (1e3 * LENGTHS).round(3))
    print("tensions [N]         ", result.tensions.round(3), "by shooting", TENSIONS.round(3))
    print(f"{result.calls} equilibria; the rod's period is {result.period:.4f} s, {result.speed:.0f} times real time")
    print(f"steps of 2 ms are {result.settled:.2%} of the length from settled ones: {result.said}")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
