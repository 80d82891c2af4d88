"""Paper 004, X.C (figures 11 to 13): a planar parallel robot of two flexible legs, driven by torques at its bases.

Two steel legs of 1 m turn on motors 0.8 m apart and are hinged together at their tips; five Chebyshev polynomials for each
curvature, damping time 0.1 ms, steps of 10 ms. The torques of Table II rise from 1 to 2 s, are held to 4 s, the first one
oscillates three times until 7 s, and both are held to 10 s. The loop is closed by a revolute joint: in the plane it holds two
coordinates, and the library leaves its three other constraints out, with a warning, as they follow.

From the errata: a round section of radius 1 mm (the printed I does not fit the area), the ramp k (t - 1), no gravity, leg 1
above; and k_s = 0.07 N m: the printed 7 N m are 42 times EI / L and wind the legs up by hundreds of turns (`literal()`).
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import anguilla as ag
from anguilla.view.style import COLOURS, TIME_MAP, figure, figure_style, label_ends

LENGTH, HALF, RADIUS, YOUNG, DENSITY, MU = 1.0, 0.4, 1e-3, 2.1e11, 7800.0, 1e-4  # SI; HALF of the distance of the bases
EI = YOUNG * np.pi * RADIUS**4 / 4  # [N m^2]
TILT = np.arcsin(HALF / LENGTH)  # [rad] of the legs at rest
RAMP, HOLD, SWING, CYCLES = 0.5, 0.5, 0.07, 3  # [N m/s], [N m], [N m] (errata), number
DURATION, DT = 10.0, 0.01  # [s]


@dataclass
class Result:
    run: ag.Trajectory

    @property
    def legs(self):
        return self.run.robot.part("leg1"), self.run.robot.part("leg2")

    def tip(self):
        """Position (time, 2) of the passive hinge [m]."""
        return self.run.position(self.legs[0].tip)[:, :2]

    def gap(self):
        """Largest distance of the two tips [m]."""
        one, two = (self.run.position(leg.tip) for leg in self.legs)
        return np.linalg.norm(one - two, axis=1).max()

    def multipliers(self):
        """Force (time, 2) of the hinge on leg 2, world axes [N]."""
        force = self.run.reaction(self.run.robot.closures["hinge"])[:, 3:]
        return np.einsum("tij,tj->ti", self.run.pose(self.legs[1].tip)[:, :3, :3], force)[:, :2]

    def angles(self):
        """Angles of the two motors (time, 2) [rad]."""
        return np.stack([self.run["leg1.angle"], self.run["leg2.angle"]], axis=1)


def torques(t, swing=SWING):
    """Table II: torques of the two motors [N m]."""
    hold = RAMP * min(max(t - 1.0, 0.0), 1.0)
    turn = 2.0 * np.pi * CYCLES * (t - 4.0) / 3.0
    return hold + (swing * (1.0 - np.cos(turn)) if 4.0 < t < 7.0 else 0.0), -hold


def robot_of(modes=5, swing=SWING, intervals=None):
    """The robot with its motors, closed at its tip."""
    robot = ag.Robot("parallel", gravity=(0, 0, 0))
    material = ag.Material(YOUNG, DENSITY, damping=MU)
    strains = ag.Strains(bend_z=ag.Chebyshev(modes))
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), material, strains, intervals=intervals)
    legs = []
    for k, side in enumerate((1.0, -1.0)):
        base = np.eye(4)
        c, s = np.cos(TILT), -side * np.sin(TILT)
        base[:2, :2], base[1, 3] = [[c, -s], [s, c]], side * HALF
        motor = ag.Revolute((0, 0, 1), effort=lambda t, k=k: torques(t, swing)[k])
        legs.append(robot.add(rod, at=robot.ground, joint=motor, pose=base, name=f"leg{k + 1}"))
    robot.close(legs[0].tip, legs[1].tip, joint=ag.Revolute((0, 0, 1)), name="hinge")
    return robot


def quietly(solve, *args, **options):
    """Call a solver without its warning on the constraints that a planar robot does not need."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*redundant", category=ag.AnguillaWarning)
        return solve(*args, **options)


def drive(modes=5, dt=DT, **options):
    """Simulate the robot; a state is kept every 10 ms."""
    return Result(quietly(ag.simulate, robot_of(modes), duration=DURATION, dt=dt, every=round(DT / dt), **options))


def literal(dt):
    """The law as printed, with 7 N m: how far it gets."""
    robot = robot_of(8, swing=7.0, intervals=60)
    return quietly(ag.simulate, robot, duration=DURATION, dt=dt, raise_on_failure=False)


def held():
    """Tip x [m], motor angle [rad] and hinge force [N] at rest under the held torques, by shooting.

    In the plane theta' = M / EI, M' = n x r'; by symmetry the hinge force is along y and the tip is on the axis.
    """

    def leg(angle, force):  # leg 1: M(0) = -torque of the motor on the leg; force of leg 2 on leg 1
        def rates(s, y):
            return np.cos(y[2]), np.sin(y[2]), y[3] / EI, -force * np.cos(y[2])

        start = [0.0, HALF, angle - TILT, -HOLD]
        return solve_ivp(rates, (0.0, LENGTH), start, "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]

    def miss(guess):
        _, y, _, moment = leg(*guess)
        return y, moment

    angle, force = fsolve(miss, (0.9, -0.6), xtol=1e-12)
    return leg(angle, force)[0], angle, force


def main():
    return drive()


def figures(folder, result=None):
    result = result or main()
    run = result.run
    tau = np.array([torques(t) for t in run.t])
    with figure_style():
        fig = figure(9.6, 5.0)
        panels = fig.subplots(2, 2, sharex=True).ravel()
        curves = (
            ("Figure 11 a: torques [N m]", tau, ("motor 1", "motor 2")),
            ("Figure 11 b: angles of the motors [rad]", result.angles(), ("motor 1", "motor 2")),
            ("Figure 12 a: multipliers [N]", result.multipliers(), ("x", "y")),
            ("Figure 12 b: tip [m]", result.tip(), ("x", "y")),
        )
        for ax, (title, values, names) in zip(panels, curves, strict=True):
            for k in range(2):
                ax.plot(run.t, values[:, k], color=COLOURS[k], lw=1.1)
            ax.set_title(title)
            label_ends(ax, [(names[k], values[:, k], COLOURS[k]) for k in range(2)], run.t)
        for ax in panels[2:]:
            ax.set_xlabel("time [s]")
        fig.savefig(Path(folder) / "parallel_time.png", dpi=100)

        fig = figure(9.6, 3.6)
        lines = [run.centerline(leg, 40) for leg in result.legs]
        for ax, (name, low, high) in zip(
            fig.subplots(1, 2, sharey=True), (("a", 1.0, 2.0), ("b", 4.0, 7.0)), strict=True
        ):
            times = np.arange(low, high + 0.01, 0.5)
            for t in times:
                colour = colormaps[TIME_MAP](0.92 * (t - low) / (high - low))
                k = round(t / DT)
                for line, look in zip(lines, ("-", "--"), strict=True):
                    label = f"{t:g} s" if look == "-" else None
                    ax.plot(line[k, :, 0], line[k, :, 1], look, color=colour, lw=1.3, label=label)
                ax.plot(*result.tip()[k], "o", color=colour, ms=4)
            ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
            ax.set(xlabel="x [m]", aspect="equal", title=f"Figure 13 {name}: every 0.5 s from {low:g} to {high:g} s")
        fig.axes[0].set_ylabel("y [m]")
        fig.savefig(Path(folder) / "parallel_snapshots.png", dpi=100)


if __name__ == "__main__":
    result = main()
    print(f"tips apart by {result.gap():.1e} m; {result.run.status.seconds / DURATION:.4f} of real time")
    print("under the held torques (shooting): tip x = {:.5f} m, angle {:.5f} rad, force {:.5f} N".format(*held()))
    for dt in (5e-3, 1e-3) if "--literal" in sys.argv else ():
        run = literal(dt)
        turned = np.abs(run["leg1.angle"]).max()
        print(f"7 N m, steps of {1e3 * dt:g} ms: {run.status.message}; motor 1 turned by {turned:.0f} rad")
    folders = [name for name in sys.argv[1:] if not name.startswith("-")]
    figures(folders[0] if folders else ".", result)
