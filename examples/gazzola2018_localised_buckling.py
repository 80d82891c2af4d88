"""A long rod is twisted by 27 turns and let slack: the twist leaves the straight shape and gathers in one wave.

Gazzola, Dudte, McCormick and Mahadevan 2018 validate their simulation on it: 100 units long, bending stiffness 1.345,
twisting stiffness 0.789, ends brought together by 3. Of an infinitely long rod the wave is known in closed form (Coyne 1990;
van der Heijden and Thompson 2000): with half = M / (2 sqrt(B T)), the tangent is tilted from the axis by theta,
sin(theta / 2) = sqrt(1 - half^2) sech(s sqrt(T / B) sqrt(1 - half^2)), and turns about it by M / (B (1 + cos theta)).

The solver starts from that wave and finds the equilibrium of the finite, clamped rod. A whole rod would let the wave wander
along itself at no cost; but turned by half a turn about a line across its middle, the wave is the same, so half a rod on a
cylindrical joint, which turns about that line and slides on it, has the same equilibrium and nothing wanders. A rod of equal
bending stiffnesses does not know how its sections are turned: its rest shape is twisted by as much as makes curvatures vary
slowly, so that few modes do.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import cumulative_simpson
from scipy.optimize import fsolve

import anguilla as ag
from anguilla.lie import pose, rotation
from anguilla.view.style import COLOURS, figure, figure_style

BEND, TWIST = 1.345, 0.789  # stiffnesses [N m^2]
LENGTH, SLACK, TURNS = 100.0, 3.0, 27.0


@dataclass
class Result:
    eq: ag.Equilibrium
    half: ag.RodHandle
    moment: float  # about the axis, at the clamp [N m]
    tension: float  # [N]
    tilt: float  # largest angle between tangent and axis [rad]
    s: np.ndarray  # arc length from the middle (points,)
    envelope: np.ndarray  # (cos(tilt) - cos(largest)) / (1 - cos(largest)) (points,)


def theory() -> tuple[float, float, float]:
    """Moment [N m], tension [N] and largest tilt [rad] of an infinitely long rod with this slack and this many turns."""

    def gaps(loads):
        moment, tension = loads
        half = moment / (2 * np.sqrt(BEND * tension))
        slack = 4 * np.sqrt(BEND / tension) * np.sqrt(1 - half**2)
        return [slack - SLACK, moment * LENGTH / TWIST + 4 * np.arccos(half) - 2 * np.pi * TURNS]

    moment, tension = fsolve(gaps, [1.3, 0.4], xtol=1e-13)
    return float(moment), float(tension), float(np.arccos(moment**2 / (2 * BEND * tension) - 1))


def wave(s: np.ndarray) -> np.ndarray:
    """Tilt of the closed form at arc lengths from the middle (points,) [rad]."""
    moment, tension, _ = theory()
    rest = np.sqrt(1 - moment**2 / (4 * BEND * tension))
    return 2 * np.arcsin(rest / np.cosh(s * np.sqrt(tension / BEND) * rest))


def start_shape(points: int = 1001) -> tuple[np.ndarray, np.ndarray, float]:
    """Arc lengths from the middle, bend_y and bend_z (points, 2) of sections that turn with M / 2B, offset of the middle."""
    moment, _, largest = theory()
    x = np.linspace(0.0, LENGTH / 2, points)
    tilt = wave(x)
    turned = cumulative_simpson(moment / BEND / (1 + np.cos(tilt)), x=x, initial=0.0)
    along = np.column_stack([np.cos(tilt), np.sin(tilt) * np.cos(turned), np.sin(tilt) * np.sin(turned)])
    bent = np.gradient(along, x, axis=0)
    side = np.array(
        [-np.sin(largest), np.cos(largest), 0.0]
    )  # of a section that does not twist, carried along the curve
    found = np.empty((points, 2))
    for k in range(points):
        side = side - along[k] * (side @ along[k])
        side /= np.linalg.norm(side)
        angle = moment / (2 * BEND) * x[k]
        own = np.cos(angle) * side + np.sin(angle) * np.cross(along[k], side)
        curl = np.cross(along[k], bent[k])
        found[k] = curl @ own, curl @ np.cross(along[k], own)
    return x, found, -float(cumulative_simpson(along[:, 2], x=x)[-1])


def build(modes: int = 28):
    """The robot, and the coordinates of the closed form that the solver starts from."""
    moment, _, largest = theory()
    turn = moment / (2 * BEND)  # of the sections, instead of moment / TWIST
    untwist = turn - moment / TWIST
    rod = ag.Rod(
        LENGTH / 2, ag.Circle(0.35), ag.Material(young=1e6, density=1000.0),
        ag.Strains(twist=1, bend_y=modes, bend_z=modes), intervals=120, rest=ag.ConstantCurvature(twist=untwist),
        stiffness=[TWIST, BEND, BEND, 1e5, 1e5, 1e5],
    )  # fmt: skip
    robot = ag.Robot("localised_buckling", gravity=(0, 0, 0))
    half = robot.add(rod, at=robot.ground, joint=ag.Cylindrical((0, 0, 1)), name="half")
    end = pose(rotation((1, 0, 0), (2 * np.pi * TURNS + untwist * LENGTH) / 2), ((LENGTH - SLACK) / 2, 0, 0))
    clamp = robot.close(robot.ground, half.tip, pose=end, name="clamp")
    x, bends, offset = start_shape()
    fitted = np.linalg.lstsq(ag.Legendre(modes)(2 * x / LENGTH), bends, rcond=None)[0]
    return robot, half, clamp, np.concatenate([[offset, largest, turn - untwist], fitted[:, 0], fitted[:, 1]])


def main(modes: int = 28):
    robot, half, clamp, start = build(modes)
    eq = ag.statics(robot, start=start)
    wrench = eq.reaction(clamp)
    s = np.linspace(0.0, LENGTH / 2, 101)
    tilt = np.array([np.arccos(np.clip(eq.pose(half.section(x))[0, 0], -1, 1)) for x in s])
    top = np.cos(tilt[0])
    return Result(
        eq, half, abs(float(wrench[0])), abs(float(wrench[3])), float(tilt[0]), s, (np.cos(tilt) - top) / (1 - top)
    )


def figures(folder, result=None):
    result = result or main()
    line = np.array([result.eq.position(result.half.section(x)) for x in result.s])
    line = np.vstack([line[:0:-1] * (-1, -1, 1), line])  # the other half, turned about z
    s = np.concatenate([-result.s[:0:-1], result.s])
    top = np.cos(theory()[2])
    with figure_style():
        fig = figure(9.0, 3.4)
        left, right = fig.subplots(1, 2, width_ratios=(1.3, 1))
        left.plot(line[:, 0], line[:, 1], color=COLOURS[0], label="y")
        left.plot(line[:, 0], line[:, 2], color=COLOURS[1], label="z")
        left.set(xlabel="x", ylabel="across", title="One wave holds the slack")
        left.legend(frameon=False)
        right.plot(
            s, np.concatenate([result.envelope[:0:-1], result.envelope]), color=COLOURS[0], lw=2.5, label="clamped rod"
        )
        right.plot(s, (np.cos(wave(s)) - top) / (1 - top), "k--", lw=1, label="closed form")
        right.set(xlabel="arc length from the middle", title="Envelope of the tilt", xlim=(-30, 30))
        right.legend(frameon=False)
        fig.savefig(Path(folder) / "gazzola2018_localised_buckling.png", dpi=110)


if __name__ == "__main__":
    result, known = main(), theory()
    for name, value, want in zip(
        ("moment", "tension", "tilt"), (result.moment, result.tension, result.tilt), known, strict=True
    ):
        print(f"{name:8s} {value:.5f}, closed form {want:.5f}")
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
