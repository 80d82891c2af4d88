"""A twisted rod buckles, throws a loop that closes, and winds up to a plectoneme as its ends come nearer.

The ends are clamped on one axis. First one of them is turned. With a twisting moment M and a tension T a straight rod becomes
unstable where w = a + b X + c exp(i p X) + d exp(i q X), p and q the roots of k^2 - M k / B + T / B = 0, can satisfy
w = w' = 0 at both ends (A. G. Greenhill, 1883); for a long rod M = 2 sqrt(B T). The rod has a little slack, so that it
is just beyond that point, and tension and moment are a pair of those.

Then the ends come nearer. The buckle becomes a loop, its strands touch, and wind around each other. In a long plectoneme they
do so along helices of the angle beta on a cylinder of radius r, half of the distance of their centrelines. Let a length l of
the rod be in it. Its curvature is sin^2(beta) / r, and it takes l sin(2 beta) / (2 r) of the turn of the ends, so that

    energy = l (B sin^4(beta) / (2 r^2) + T) + M^2 L / (2 C),    turn = M L / C + l sin(2 beta) / (2 r).

Equilibrium in l and beta at a given turn asks for

    M = 2 B sin^3(beta) cos(beta) / (r cos(2 beta)),    T = B sin^4(beta) (1/2 + 1 / cos(2 beta)) / r^2

(N. Clauvelin, B. Audoly, S. Neukirch, Elasticity and electrostatics of plectonemic DNA, 2009, without the electrostatics).
The moment and the angle are compared with those that the tension asks for. With 16, 24 and 32 pieces the moment is 2.5, 1.0
and 0.95 % above, and the tension of the buckle, with 1 % of slack, 1.6 % above Greenhill's.
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import anguilla as ag
from anguilla.lie import pose, rotation
from anguilla.view.panels import draw_solid
from anguilla.view.scene import scene
from anguilla.view.style import COLOURS, figure, figure_style

LENGTH, RADIUS, YOUNG, POISSON = 1.0, 0.01, 2.5e6, 0.5  # [m], [m], [Pa], -
BENDING = YOUNG * np.pi / 4 * RADIUS**4  # B [N m^2]
TORSION = BENDING / (1 + POISSON)  # C [N m^2]
LITTLE, SLACK, TURN = 0.01, 0.55, 50.0  # slack before and after [m], turn [rad]
TURNED, PULLED, NEAR, HELD = 1.5, 4.0, 7.0, 10.0  # end of the turn, slack is given from, to; end of the motion [s]
STIFFNESS = 8e6  # of the contact [N/m^2]
HONEY = 5.0  # drag per length and speed [N s/m^2]
STEP = 0.02  # [s]


@dataclass
class Result:
    run: ag.Trajectory
    rod: ag.RodHandle
    lines: np.ndarray  # centrelines (time, 501, 3) [m]
    tension: np.ndarray  # (time,) [N]
    moment: np.ndarray  # (time,) [N m]

    def at(self, t):
        """Number of the state at an instant."""
        return int(np.argmin(np.abs(self.run.t - t)))


def smooth(x):
    """From 0 to 1 with rates and accelerations that are zero at both ends."""
    x = np.clip(x, 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def hand(t):
    """Pose of the end, which is turned and comes nearer."""
    slack = LITTLE + (SLACK - LITTLE) * smooth((t - PULLED) / (NEAR - PULLED))
    return pose(rotation((1, 0, 0), TURN * smooth(t / TURNED)), (LENGTH - slack, 0.0, 0.0))


def build(pieces=24):
    robot = ag.Robot("plectoneme", gravity=(0, 0, 0))
    rubber = ag.Material(young=YOUNG, poisson=POISSON, density=1000.0, damping=0.01)
    bend, twist = ag.PiecewisePolynomial(pieces, 2), ag.PiecewisePolynomial(pieces // 4, 1)
    strains = ag.Strains(twist=twist, bend_y=bend, bend_z=bend)
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), rubber, strains, intervals=5 * pieces)
    rod = robot.add(rod, at=robot.ground, name="rod")
    robot.close(robot.ground, rod.tip, pose=hand, name="hand")
    robot.load(ag.SelfContact(rod, STIFFNESS, damping=3.0, spacing=0.4 * RADIUS, name="itself"))
    for axis in np.eye(3):
        robot.load(ag.WorldSpring(rod, 0.0, axis, damping=HONEY))
    return robot, rod


def main(pieces=24, duration=HELD):
    robot, rod = build(pieces)
    start = np.zeros(robot.size)
    start[[name.startswith("rod.bend_z") for name in robot.coordinates()]] = 0.3
    with warnings.catch_warnings():  # the loop is thrown faster than these steps follow; what is compared is at rest
        warnings.filterwarnings("ignore", "The time steps of", ag.AnguillaWarning)
        run = ag.simulate(robot, duration=duration, dt=STEP, start=start)
    turned, force = run.pose(rod.tip)[:, :3, :3], run.reaction(robot.closures["hand"])
    moment, tension = (np.einsum("tij,tj->ti", turned, force[:, at])[:, 0] for at in (slice(0, 3), slice(3, 6)))
    return Result(run, rod, run.centerline(rod, 501), tension, moment)


def greenhill(moment):
    """Tension [N] at which a straight rod that is clamped at both ends leaves its axis by a twisting moment [N m].

    With p, q = (h +- x) / L the four conditions leave (h^2 - x^2) sin x = 2 x (cos x - cos h), h = M L / (2 B), and
    T = B (h^2 - x^2) / L^2. The smallest x has the highest tension; x = 0 and x = h are no shapes.
    """
    h = 0.5 * moment * LENGTH / BENDING
    left = lambda x: ((h * h - x * x) * np.sin(x) - 2.0 * x * (np.cos(x) - np.cos(h))) / x
    x = np.linspace(0.01, 2.01 * np.pi, 500)
    first = np.flatnonzero(left(x[:-1]) * left(x[1:]) < 0.0)[0]  # h is a double root, without a change of sign
    return BENDING * (h * h - brentq(left, x[first], x[first + 1]) ** 2) / LENGTH**2


def wound(line):
    """Angle of the strands to the axis of a plectoneme [rad], radius of its cylinder [m], and its length [m] along the rod.

    The axis goes through the middles between both strands of the centreline (n, 3). All are nan if there is no plectoneme.
    """
    step = LENGTH / (len(line) - 1)
    apart = np.linalg.norm(line[:, None] - line[None], axis=2)
    along = np.arange(len(line)) * step
    apart[np.abs(along[:, None] - along[None]) < 8.0 * RADIUS] = np.inf
    other = np.argmin(apart, axis=1)
    near = apart[np.arange(len(line)), other]
    close = np.flatnonzero((near < 2.1 * RADIUS) & (other > np.arange(len(line))))
    length = 2.0 * len(close) * step
    if length < 24.0 * RADIUS:
        return np.nan, np.nan, np.nan
    close = close[len(close) // 6 : -(len(close) // 6)]  # not where the strands meet, nor where the loop begins
    middle = 0.5 * (line[close] + line[other[close]])
    axis = np.polyfit(along[close], middle, 1)[0]
    return float(np.arccos(np.clip(np.linalg.norm(axis), 0.0, 1.0))), 0.5 * float(np.mean(near[close])), length


def theory(angle, radius):
    """Tension [N] and moment [N m] of a long plectoneme."""
    s, c = np.sin(angle), np.cos(2.0 * angle)
    return BENDING * s**4 * (0.5 + 1.0 / c) / radius**2, 2.0 * BENDING * s**3 * np.cos(angle) / (radius * c)


def inverse(tension, radius):
    """Angle [rad] that a tension [N] asks for."""
    return brentq(lambda angle: theory(angle, radius)[0] - tension, 1e-3, 0.78)


def compared(result, t=HELD):
    """Angle [rad] and moment [N m] of the plectoneme at an instant, and by theory, which knows its tension and radius."""
    k = result.at(t)
    angle, radius, _ = wound(result.lines[k])
    known = inverse(result.tension[k], radius)
    return (angle, result.moment[k]), (known, theory(known, radius)[1])


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.5, 5.4)
        grid = fig.add_gridspec(2, 3)
        for k, when in enumerate((PULLED, 5.6, 6.4, HELD)):
            stage = fig.add_subplot(grid[k // 2, k % 2], projection="3d")
            draw_solid(stage, scene(result.run.picked([result.at(when)]), sections=240, around=16), [])
            stage.set_axis_off()
            stage.set_title(f"{when:g} s")
        t, late = result.run.t, np.flatnonzero(result.run.t >= 0.5 * (PULLED + NEAR))[::5]
        found = np.array([(t[k], *wound(result.lines[k])[:2]) for k in late])
        found = found[np.isfinite(found[:, 1])]
        known = np.array([inverse(result.tension[result.at(when)], r) for when, _, r in found])
        moments = fig.add_subplot(grid[0, 2])
        moments.plot(t, result.moment, color=COLOURS[0], label="rod")
        moments.plot(found[:, 0], theory(known, found[:, 2])[1], "--", color=COLOURS[1], label="plectoneme, by tension")
        at = result.at(PULLED)
        green = np.linspace(0.2, 0.8, 61)
        moments.plot(
            t[at], np.interp(result.tension[at], [greenhill(m) for m in green], green), "ko", label="Greenhill"
        )
        moments.set(xlabel="t [s]", ylabel="M [N m]", ylim=(0.0, None))
        moments.legend(frameon=False)
        angles = fig.add_subplot(grid[1, 2])
        angles.plot(found[:, 0], np.degrees(found[:, 1]), color=COLOURS[0], label="rod")
        angles.plot(found[:, 0], np.degrees(known), "--", color=COLOURS[1], label="by tension")
        angles.set(xlabel="t [s]", ylabel="β [degrees]", xlim=moments.get_xlim(), ylim=(0.0, 30.0))
        angles.legend(frameon=False)
        fig.savefig(Path(folder) / "plectoneme.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(result.run)
    k = result.at(PULLED)
    print(f"buckled: tension {result.tension[k]:.3f} N, by Greenhill {greenhill(result.moment[k]):.3f} N")
    (angle, moment), (known, by_theory) = compared(result)
    print(f"plectoneme: tension {result.tension[-1]:.3f} N")
    print(f"angle {np.degrees(angle):.2f} degrees, by theory {np.degrees(known):.2f}")
    print(f"moment {moment:.4f} N m, by theory {by_theory:.4f}")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
