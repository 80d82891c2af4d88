"""Paper 000, test 1 (figures 1 to 3): a clamped beam rolled up by a torque at its tip.

The paper turns the static balance (44) into the damped flow (45), mu K q' = -(K q + Q_c), and lets it settle for 0.02 s
(20 times mu) after each of five increments of a torque about the tilted axis (0, 1, 1) / sqrt(2). K2 and K3 have five
monomials each. The solution is Euler's: a circle of curvature C / EI in the plane normal to the torque.

Here the flow is integrated by Runge-Kutta, so that its rates can be drawn, and compared with Newton and the circle.
The printed diameter 0.01 m is used as a radius (errata): 5 N m then make one turn, otherwise they would make sixteen.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps

import anguilla as ag
from anguilla.results.states import Status
from anguilla.view.style import COLOURS, INK, TIME_MAP, figure, figure_style

LENGTH, RADIUS, YOUNG = 1.0, 0.01, 1e8  # [m], [m] (errata), [Pa]
EI = YOUNG * np.pi * RADIUS**4 / 4  # [N m^2]
AXIS = np.array([0.0, 1.0, 1.0]) / np.sqrt(2.0)
TORQUES = np.linspace(1.0, 5.0, 5)  # [N m]
MU, PAUSE = 1e-3, 0.02  # damping time of the flow, fictitious time between two increments of the torque [s]
INNER = 100  # Runge-Kutta steps in a pause
# The stiffness is integrated exactly, the work of the torque by two points an interval: for nine digits of C / EI with
# modes of degree four the intervals must be short. The 8 intervals taken by default give four digits of the tip.
INTERVALS = 400


@dataclass
class Result:
    equilibria: list[ag.Equilibrium]  # by Newton, at the five torques
    flow: ag.Trajectory  # all steps of the flow; its rates v are q' of (45)
    beam: ag.RodHandle

    @property
    def settled(self):
        """Tip (5, 3) [m] at the end of each pause of the flow."""
        return self.flow.position(self.beam.tip)[INNER :: INNER + 1]


def build():
    """Return the robot and its beam. The torque turns with the tip, as F_1 of the paper does."""
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    material = ag.Material(young=YOUNG, density=1000)
    strains = ag.Strains(bend_y=ag.Monomial(5), bend_z=ag.Monomial(5))
    rod = ag.Rod(LENGTH, ag.Circle(RADIUS), material, strains, intervals=INTERVALS)
    beam = robot.add(rod, at=robot.ground, name="beam")

    def staircase(t):
        return TORQUES[min(int(t / PAUSE), len(TORQUES) - 1)] * AXIS

    robot.load(ag.TipWrench(beam, moment=staircase, follower=True))
    return robot, beam


def euler(torque, X):
    """Positions (m, 3) [m] of the exact circle of curvature torque / EI at the arc lengths X (m,)."""
    K, aside = torque / EI, np.cross(AXIS, [1.0, 0.0, 0.0])
    return (np.outer(np.sin(K * X), [1.0, 0.0, 0.0]) + np.outer(1.0 - np.cos(K * X), aside)) / K


def follow_flow(system):
    """Integrate (45) from the straight beam; both sides of an increment of the torque are kept."""
    h = PAUSE / INNER
    damping = MU * system.elastic_stiffness()
    q, t, states, rates = np.zeros(system.size), [], [], []
    for step in range(len(TORQUES)):

        def rate(q, now=(step + 0.5) * PAUSE):  # the torque is constant in a pause
            return -np.linalg.solve(damping, system.residual(q, t=now))

        for k in range(INNER + 1):
            k1 = rate(q)
            t.append(step * PAUSE + k * h)
            states.append(q)
            rates.append(k1)
            if k < INNER:
                k2 = rate(q + h / 2 * k1)
                k3 = rate(q + h / 2 * k2)
                k4 = rate(q + h * k3)
                q = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    q, v = np.array(states), np.array(rates)
    return ag.Trajectory(system.source, system, Status(True, "followed the flow"), np.array(t), q, v, 0 * q)


def main():
    robot, beam = build()
    model = ag.Model(robot)
    equilibria = [ag.statics(model, t=(step + 0.5) * PAUSE) for step in range(len(TORQUES))]
    return Result(equilibria, follow_flow(model), beam)


def figures(folder, result=None):
    result = result or main()
    torques = np.linspace(1e-6, TORQUES[-1], 200)
    path = np.array([euler(C, np.array([LENGTH]))[0] for C in torques])
    shapes = [euler(1e-6, np.linspace(0, LENGTH, 120)), *(eq.centerline(result.beam, 120) for eq in result.equilibria)]
    colours = colormaps[TIME_MAP](np.linspace(0.0, 0.82, 6))
    with figure_style():
        fig = figure(9.6, 3.9)
        grid = fig.add_gridspec(1, 2, width_ratios=(1.0, 1.3))
        space = fig.add_subplot(grid[0], projection="3d", elev=28, azim=55)
        plane = fig.add_subplot(grid[1], xlabel="x [m]", ylabel="along (0, 1, -1) [m]", title="the same, in its plane")
        plane.plot(path[:, 0], (path[:, 1] - path[:, 2]) / np.sqrt(2), ":", color=INK, lw=1.0)
        for k, (shape, colour) in enumerate(zip(shapes, colours, strict=True)):
            flat = np.stack([shape[:, 0], (shape[:, 1] - shape[:, 2]) / np.sqrt(2)])
            space.plot(*shape.T, color=colour, lw=2.0)
            plane.plot(*flat, color=colour, lw=2.0)
            plane.plot(*flat[:, -1], "o", color=colour, ms=4)
            where = (6, 4) if k < 3 else (-36, 2) if k < 5 else (-19, 24)
            plane.annotate(f"{k} N m", flat[:, -1], xytext=where, textcoords="offset points", color=colour)
        plane.set_xlim(-0.38, 1.12)
        plane.text(0.40, 0.57, "path of the tip")
        space.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title="Figure 1: equilibria")
        space.set(yticks=(0.0, 0.2, 0.4), zticks=(-0.4, -0.2, 0.0))
        space.set_aspect("equal")
        plane.set_aspect("equal")
        fig.savefig(Path(folder) / "test1_shapes.png", dpi=120)

        fig = figure(9.0, 3.2)
        left, right = fig.subplots(1, 2)
        rates = result.flow.v.reshape(-1, 2, 5) @ ag.Monomial(5)([0.5])[0]
        left.plot(result.flow.t, rates[:, 0], color=COLOURS[4], lw=4.0)
        left.plot(result.flow.t, rates[:, 1], color=COLOURS[1], lw=1.0)
        left.text(0.001, 1010, "rate of K2 (wide)", color=COLOURS[0])
        left.text(0.042, 1010, "rate of K3 (thin), at mid-length", color=COLOURS[1])
        left.set(xlabel="fictitious time [s]", ylabel="[rad/m/s]", ylim=(-30, 1100))
        left.set_title("Figure 2: the flow settles after each increment")
        for k, (name, place) in enumerate({"x": (0.6, 0.93), "y": (2.1, 0.54), "z": (1.5, -0.46)}.items()):
            right.plot(torques, path[:, k], color=COLOURS[k])
            right.plot(TORQUES, result.settled[:, k], "o", color=COLOURS[k], ms=6)
            right.plot(TORQUES, [eq.position(result.beam.tip)[k] for eq in result.equilibria], "x", color="white", ms=3)
            right.text(*place, name, color=COLOURS[k])
        right.set(xlabel="torque [N m]", ylabel="tip [m]")
        right.set_title("Figure 3: circle (lines), flow (dots), Newton (crosses)")
        fig.savefig(Path(folder) / "test1_flow.png", dpi=120)


if __name__ == "__main__":
    result = main()
    for C, eq, flow in zip(TORQUES, result.equilibria, result.settled, strict=True):
        exact = euler(C, np.array([LENGTH]))[0]
        newton = eq.position(result.beam.tip)
        print(f"{C:.0f} N m: tip {newton.round(6)} m", end="; off the circle by")
        print(f" {np.linalg.norm(newton - exact):.1e} m (Newton), {np.linalg.norm(flow - exact):.1e} m (flow)")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
