"""Paper 004, X.B (figures 8 and 9): two drones carry a box on two soft rods.

The drones control their velocities by a body wrench kP e + kI (integral of e) (68), with the velocities (0, 0, sin(pi t)) and
(0, 0, sin(pi t / 2)) wanted of the first and the last one. The rods have 1 m, a diameter of 0.07 m, E = 0.25 MPa, 950 kg/m^3,
and three Chebyshev polynomials for each curvature and the twist; no gravity. Steps of 10 ms over 10 s.

Not printed in the paper (errata): drones of 2 kg with inertia diag(0.03, 0.03, 0.05) kg m^2, rods fixed at their centres; a
box of 0.5 kg, 0.2 x 0.1 x 0.1 m, between the rods; all straight along x at first; no damping; gains 20 and 2.5.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import cumulative_trapezoid

import anguilla as ag
from anguilla.view.style import COLOURS, FAINT, INK, figure, figure_style, label_ends

GAIN, INTEGRAL = 20.0, 2.5  # kP [N m s, N s/m], kI [N m, N/m]
BOX = (0.2, 0.1, 0.1)  # [m]
DURATION, DT = 10.0, 0.01  # [s]
SHOWN = (1.68, 4.22, 9.44)  # [s], of figure 8
BODIES = ("first drone", "box", "second drone")


def wanted(body, t):
    """Wanted velocity (3,) of a drone [m/s]."""
    return np.array([0.0, 0.0, np.sin(np.pi * t if body == 0 else 0.5 * np.pi * t)])


@dataclass
class Result:
    run: ag.Trajectory  # three modes, steps of 10 ms

    @property
    def frames(self):
        """Frames of the first drone, of the centre of the box, of the second drone."""
        part = self.run.robot.part
        return part("first").frame, part("box").at((BOX[0] / 2, 0, 0)), part("second").frame

    def places(self):
        """Positions (3, time, 3) of the three bodies [m]."""
        return np.array([self.run.position(frame) for frame in self.frames])

    def thrust(self, body):
        """Moment and force (time, 6) of a drone, world axes, from its law (68) and the motion alone."""
        frame = self.frames[body]
        rotation, twist = self.run.pose(frame)[:, :3, :3], self.run.twist(frame)
        goal = np.array([wanted(body, t) for t in self.run.t])
        error = -twist
        error[:, 3:] += np.einsum("tji,tj->ti", rotation, goal)
        control = GAIN * error + INTEGRAL * cumulative_trapezoid(error, self.run.t, axis=0, initial=0.0)
        return np.concatenate([np.einsum("tij,tj->ti", rotation, control[:, k : k + 3]) for k in (0, 3)], axis=1)


def robot_of(modes=3):
    """Drone, rod, box, rod, drone."""
    robot = ag.Robot("drones", gravity=(0, 0, 0))
    strains = ag.Strains(**{name: ag.Chebyshev(modes) for name in ("twist", "bend_y", "bend_z")})
    rod = ag.Rod(1.0, ag.Circle(0.035), ag.Material(0.25e6, 950.0), strains)
    drone = ag.RigidBody(2.0, (0.03, 0.03, 0.05))
    first = robot.add(drone, at=robot.ground, joint=ag.Free(), name="first")
    left = robot.add(rod, at=first.frame, name="left")
    box = robot.add(ag.RigidBody.box(BOX, mass=0.5, com=(BOX[0] / 2, 0, 0)), at=left.tip, name="box")
    right = robot.add(rod, at=box.at((BOX[0], 0, 0)), name="right")
    second = robot.add(drone, at=right.tip, name="second")
    for k, body in ((0, first), (2, second)):
        robot.load(ag.Thruster(body.frame, kp=GAIN, ki=INTEGRAL, velocity=lambda t, k=k: tuple(wanted(k, t))))
    return robot


def carry(modes=3, dt=DT, duration=DURATION):
    """Simulate the flight; a state is kept at every step."""
    return ag.simulate(robot_of(modes), duration=duration, dt=dt)


def main():
    return Result(carry())


def figures(folder, result=None):
    result = result or main()
    run, places = result.run, result.places()
    lines = [run.centerline(run.robot.part(name), 30) for name in ("left", "right")]
    with figure_style():
        fig = figure(9.6, 3.4)
        for ax, until in zip(fig.subplots(1, 3, sharex=True, sharey=True), SHOWN, strict=True):
            last = round(until / DT)
            for k in range(0, last, 28):
                for line in lines:
                    ax.plot(line[k, :, 0], line[k, :, 2], color=FAINT, lw=0.8)
            for body, colour in zip(places, COLOURS, strict=False):
                ax.plot(body[: last + 1, 0], body[: last + 1, 2], color=colour, lw=1.2)
                ax.plot(*body[last, [0, 2]], "o", color=colour, ms=6)
            for line in lines:
                ax.plot(line[last, :, 0], line[last, :, 2], color=INK, lw=3)
            ax.set(title=f"Figure 8: 0 to {until} s", xlabel="x [m]", aspect="equal")
        fig.axes[0].set_ylabel("z [m]")
        fig.savefig(Path(folder) / "drones_snapshots.png", dpi=100)

        fig = figure(9.6, 4.6)
        for ax, (k, name) in zip(fig.subplots(3, 1, sharex=True), enumerate("xyz"), strict=True):
            moved = places[:, :, k] - places[:, :1, k]
            for body, colour in zip(moved, COLOURS, strict=False):
                ax.plot(run.t, body, color=colour)
            ax.set_ylabel(f"{name} [m]")
            if k == 1:
                ax.set_ylim(-0.1, 0.1)
            else:
                label_ends(ax, [(n, m, c) for n, m, c in zip(BODIES, moved, COLOURS, strict=False)], run.t)
        fig.axes[0].set_title("Figure 9: displacements of the drones and the box")
        fig.axes[2].set_xlabel("time [s]")
        fig.savefig(Path(folder) / "drones_displacements.png", dpi=100)


if __name__ == "__main__":
    result = main()
    counters = result.run.status.counters
    part = result.run.status.seconds / DURATION
    print(f"{counters['iterations'] / counters['steps']:.1f} iterations a step, {part:.4f} of real time")
    box = result.places()[1]
    print("box moves in x by", np.ptp(box[:, 0]).round(3), "m, in z by", np.ptp(box[:, 2]).round(3), "m")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
