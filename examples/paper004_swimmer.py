"""Paper 004, X.D (figures 15 and 16): a fish of a rigid head, a rod bent by two tendons and a passive elastic tail.

The tendons pull with T0 + T1 sin(w t +- pi/2) (70), T0 = T1 = 20 N, w = 5 pi rad/s, 0.05 m from the axis; water is that of
Lighthill's theory. Bending stiffness 4.9 N m^2 and 0.049 N m^2; five Chebyshev polynomials per curvature, 10 s. The paper
takes steps of 10 ms: they are off by a tenth of the length at the end. Steps of 2.5 ms, as here, by 0.5 %.

Not printed in the paper (errata): the profile of 003 with the lateral axis along t2, 1 m long; head up to X = 0.3 m, tendon
rod up to 0.7 m; damping time 1 ms; no ramp. The plane of the swim is x, y. Head to tail is +x: swimming forward goes to -x.
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.view.style import COLOURS, INK, figure, figure_style, label_ends

NECK, WAIST, END = 0.3, 0.7, 1.0  # [m]
STIFF = {"body": 4.9, "tail": 4.9e-2}  # [N m^2]
OFFSET, T0, T1, RATE = 0.05, 20.0, 20.0, 5.0 * np.pi  # [m], [N], [N], [rad/s]
DURATION, DT = 10.0, 2.5e-3  # [s]
PERIOD = 2.0 * np.pi / RATE  # 0.4 s


@dataclass
class Result:
    run: ag.Trajectory  # five polynomials, 2.5 ms
    speed: float  # mean over 10 s [m/s]
    finer: dict[str, float]  # mean speed with more polynomials, with half the step

    def torques(self):
        """Control torque D (T+ - T-) and elastic torque at the root of the tail (time, 2) [N m]."""
        t, tail = self.run.t, self.run.robot.part("tail")
        control = OFFSET * (tension(+1.0)(t) - tension(-1.0)(t))
        return np.stack([control, STIFF["tail"] * self.run.strain(tail, [0.0])[:, 0, 2]], axis=1)


def half_width(X):
    return 0.05 * np.sqrt(np.maximum(1.0 - ((X - 0.505) / 0.505) ** 2, 0.0))


def half_height(X):
    return 0.08 * np.sqrt(np.maximum(1.0 - ((X - 0.7) / 0.7) ** 2, 0.0))


def outline(start):
    """The part of the profile that begins at X = start [m]."""
    return ag.EllipticProfile(lambda X: half_width(start + X), lambda X: half_height(start + X))


def tension(sign):
    """(70) [N]."""
    return lambda t: T0 + T1 * np.sin(RATE * t + sign * np.pi / 2)


def head():
    """The rigid head: mass, centre and inertia of the profile up to the neck, at the density of water."""
    x, w = np.polynomial.legendre.leggauss(40)
    angle = 0.5 * np.pi * (1.0 + x)
    X, w = NECK * 0.5 * (1.0 - np.cos(angle)), NECK * 0.25 * np.pi * np.sin(angle) * w
    p = outline(0.0).at(X)
    mass = 1000.0 * float(w @ p.area)
    centre = 1000.0 * float(w @ (p.area * X)) / mass
    spread = 1000.0 * float(w @ (p.area * (X - centre) ** 2))
    about = [1000.0 * float(w @ s) for s in (p.polar, p.second_y, p.second_z)]
    drawn = ag.Shape("box", (2.0 * (0.3 - centre), 0.08, 0.12))
    return ag.RigidBody(mass, (about[0], about[1] + spread, about[2] + spread), (centre, 0.0, 0.0), shape=drawn)


@cache
def robot_of(modes=5, intervals=None):
    robot = ag.Robot("swimmer", gravity=(0, 0, 0))
    material = ag.Material(1.0, 1000.0, damping=1e-3)
    front = robot.add(head(), at=robot.ground, joint=ag.Free(), name="head")
    place, parts = front.at((NECK, 0.0, 0.0)), {}
    for name, start, stop in (("body", NECK, WAIST), ("tail", WAIST, END)):
        rod = ag.Rod(
            stop - start, outline(start), material, ag.Strains(bend_z=ag.Chebyshev(modes)), intervals=intervals,
            stiffness=(STIFF[name],) * 3 + (1e3,) * 3,
        )  # fmt: skip
        parts[name] = robot.add(rod, at=place, name=name)
        place = parts[name].tip
    robot.load(ag.Lighthill(front, section=outline(0.0), span=(0.0, NECK), name="head_water"))
    robot.load(ag.Lighthill(parts["body"], tail=False, name="body_water"))
    robot.load(ag.Lighthill(parts["tail"], name="tail_water"))
    robot.actuate("left", ag.Tendon(parts["body"], ag.parallel(y=OFFSET)))
    robot.actuate("right", ag.Tendon(parts["body"], ag.parallel(y=-OFFSET)))
    return robot


def swim(modes=5, dt=DT, duration=DURATION, **options):
    inputs = {"left": tension(+1.0), "right": tension(-1.0)}
    return ag.simulate(robot_of(modes, **options), duration=duration, dt=dt, inputs=inputs)


def mean_speed(run):
    """Distance of the nose over the time [m/s]."""
    way = run.position(run.robot.part("head").frame)
    return float(np.linalg.norm(way[-1] - way[0]) / run.t[-1])


def main(duration=DURATION):
    run = swim(duration=duration)
    finer = {"modes": mean_speed(swim(8, duration=duration)), "dt": mean_speed(swim(dt=DT / 2, duration=duration))}
    return Result(run, mean_speed(run), finer)


def figures(folder, result=None):
    result = result or main()
    run = result.run
    nose = run.position(run.robot.part("head").frame)
    lines = [run.centerline(run.robot.part(name), 24) for name in ("body", "tail")]
    with figure_style():
        fig = figure(9.6, 2.6)
        ax = fig.subplots()
        for k in range(0, len(run.t), round(1.65 / DT)):
            neck = lines[0][k, 0]
            ax.plot(*np.stack([nose[k], neck])[:, :2].T, color=INK, lw=3)
            for line, colour in zip(lines, COLOURS, strict=False):
                ax.plot(*line[k, :, :2].T, color=colour, lw=2)
        ax.plot(nose[:, 0], nose[:, 1], color=COLOURS[2], lw=0.7)
        ax.set(title="Figure 15: every 1.65 s; head, tendon rod, passive tail; path of the nose", xlabel="x [m]",
               ylabel="y [m]", aspect="equal")  # fmt: skip
        fig.savefig(Path(folder) / "swimmer_snapshots.png", dpi=100)

        fig = figure(7.0, 2.8)
        ax = fig.subplots()
        early = run.t <= 3.0
        torques = result.torques()[early]
        for k, colour in enumerate(COLOURS[:2]):
            ax.plot(run.t[early], torques[:, k] * (1.0 if k == 0 else 10.0), color=colour)
        ax.set(title="Figure 16: torque of the tendons, elastic torque at the root of the tail (x 10)", xlabel="time [s]",
               ylabel="[N m]")  # fmt: skip
        label_ends(
            ax, [("tendons", torques[:, 0], COLOURS[0]), ("tail x 10", 10 * torques[:, 1], COLOURS[1])], run.t[early]
        )
        fig.savefig(Path(folder) / "swimmer_torques.png", dpi=100)


if __name__ == "__main__":
    result = main()
    print(
        f"mean speed over {DURATION:g} s: {result.speed:.4f} m/s; 8 polynomials {result.finer['modes']:.4f}, ", end=""
    )
    print(f"1.25 ms {result.finer['dt']:.4f}; {result.run.status.seconds / DURATION:.3f} of real time")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    figures(folder, result)
    ag.animate(result.run, folder / "swimmer.html")
