"""Paper 003, test 4 (figures 6 and 7): a fish that swims by a travelling wave of muscle torque, in Lighthill's theory.

Forward dynamics: the active law (92) with a stiffness of 50 N m^2 drives the curvature K2 towards the wave (93)-(95);
shooting solves the free rod with its added mass (90)-(91), steps of 10 ms over 10 s; stiffer laws track better. Inverse
dynamics: the wave is prescribed exactly, the acceleration of the head follows from the Riccati equations (84)-(85) (or from
two passes) and is integrated in time. As the errata say (003.6 to 003.10): bending about t2 only, height along t2, lateral
axis t3; the geometry is that of 003.10; the speed still rises after 10 s. t1 points from head to tail: swimming forward is
V1 < 0.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

import anguilla as ag
from anguilla import lie, shooting
from anguilla.view.style import COLOURS, FAINT, figure, figure_style

LENGTH, WATER = 1.0, 1000.0
ENVELOPE, WAVE, PERIOD, RAMP = (1.0, 0.5, 2.0), 1.0, 1.0, 1.0
STIFFNESS = (50.0, 200.0, 800.0)  # of the control law [N m^2]; the paper has the first
DURATION, DT = 10.0, 0.01  # [s]


@dataclass
class Result:
    t: np.ndarray  # [s]
    forward: dict[float, np.ndarray]  # by stiffness [N m^2]: V1 of the head by shooting [m/s]
    inverse_t: np.ndarray
    inverse: dict[str, np.ndarray]  # by algorithm: V1 of the head with the prescribed wave [m/s]
    shapes: np.ndarray  # (snapshots, points, 2) of the forward run every 0.2 s: x and z [m]
    tracking: dict[float, float]  # by stiffness: largest error of K2 in the last period over its amplitude
    seconds: dict[float, float]  # by stiffness: computing time of the whole swim [s]
    apart: dict[float, float]  # by stiffness: mean distance of V1 from the inverse one from 1 s on, over its mean


def half_width(X):
    return 0.05 * np.sqrt(np.maximum(1 - ((X - 0.505) / 0.505) ** 2, 1e-6))


def half_height(X):
    return 0.08 * np.sqrt(np.maximum(1 - ((X - 0.7) / 0.7) ** 2, 1e-6))


def wave(X, t, order=0):
    """K2 of the gait (93)-(95), or its first or second time derivative."""
    s = min(t / RAMP, 1.0)
    w = 2 * np.pi / PERIOD
    a = 2 * np.pi
    ramp = [s - np.sin(a * s) / a, (1 - np.cos(a * s)) / RAMP, a * np.sin(a * s) / RAMP**2]
    ramp = ramp if t < RAMP else [1.0, 0.0, 0.0]
    phase = 2 * np.pi * X / WAVE - w * t
    wave = [np.sin(phase), -w * np.cos(phase), -(w**2) * np.sin(phase)]
    time = [
        ramp[0] * wave[0],
        ramp[1] * wave[0] + ramp[0] * wave[1],
        ramp[2] * wave[0] + 2 * ramp[1] * wave[1] + ramp[0] * wave[2],
    ]
    return (ENVELOPE[0] + ENVELOPE[1] * X + ENVELOPE[2] * X**2) * time[order]


def strain(X, t, order=0):
    out = np.zeros((len(X), 6))
    out[:, 1] = wave(X, t, order)
    out[:, 3] = 1.0 if order == 0 else 0.0
    return out


class Body(ag.CrossSection):
    """Neutrally buoyant ellipses with a bending stiffness of their own: that of the control law, the same everywhere."""

    def __init__(self, stiffness, young):
        self.second = stiffness / young

    def at(self, X):
        X = np.atleast_1d(np.asarray(X, dtype=float))
        area = np.pi * half_width(X) * half_height(X)
        second = np.full(X.shape, self.second)
        return ag.SectionProperties(area, second, second, second, 2 * second, np.ones_like(X), np.ones_like(X))

    def thickness(self, X):
        return 2 * half_height(np.atleast_1d(np.asarray(X, dtype=float)))


def added(X):
    """Rotary inertia of the body, which the section above leaves out, and the water that moves along (90)."""
    w, h = half_width(X), half_height(X)
    inside = X < LENGTH  # what the tail sheds is water only (91)
    about_t2 = inside * WATER * np.pi * h * w**3 / 4
    roll = WATER * np.pi * (h**2 - w**2) ** 2 / 8
    return np.stack([roll, about_t2, 0 * X, 0 * X, WATER * np.pi * w**2, WATER * np.pi * h**2], axis=1)


def fish(stiffness=STIFFNESS[0]):
    robot = ag.Robot("fish", gravity=(0, 0, 0))
    young = 1e12  # so stiff a material that the section of the control law has no inertia of its own
    rod = ag.Rod(LENGTH, Body(stiffness, young), ag.Material(young, WATER), ag.Strains(bend_y=4))
    handle = robot.add(rod, at=robot.ground, joint=ag.Free())
    return robot, handle


def forward(stiffness):
    robot, handle = fish(stiffness)
    torque = {handle: lambda X, t: -stiffness * (strain(X, t) - [0, 0, 0, 1, 0, 0])}  # (92)
    began = time.process_time()
    motion = shooting.simulate(
        robot, duration=DURATION, dt=DT, stress=torque, added={handle: added}, shoots=2, intervals=12, tolerance=1e-9
    )
    seconds = time.process_time() - began
    X = np.linspace(0, LENGTH, 21)
    last = motion.t > DURATION - PERIOD
    error = max(
        float(np.max(np.abs(motion.strain(handle, X)[k, :, 1] - wave(X, motion.t[k])))) for k in np.flatnonzero(last)
    )
    return motion, handle, error / sum(ENVELOPE), seconds


def distance(t, speed, other_t, other):
    """Mean distance of two V1(t) from 1 s on over the mean of the second: for any two methods, with their own times."""
    late = (t >= RAMP) & (t <= other_t[-1] + 1e-9)
    same = CubicSpline(other_t, other)(t[late])
    return float(np.mean(np.abs(speed[late] - same)) / np.mean(np.abs(same)))


def inverse(method, dt=0.04, duration=DURATION):
    """Head motion (time, V1) with the prescribed wave, by classical Runge-Kutta on (85)."""
    robot, handle = fish()

    def acceleration(t, g, eta):
        fields = [{handle: lambda X, k=k: strain(X, t, k)} for k in range(3)]
        answer = shooting.inverse_dynamics(
            robot, *fields, root=(g, eta), t=t, method=method, intervals=16, added={handle: added}
        )
        return answer.root_acceleration[handle.name]

    g, eta, rows = np.eye(4), np.zeros(6), [0.0]
    for k in range(round(duration / dt)):
        t = k * dt
        a1 = acceleration(t, g, eta)
        a2 = acceleration(t + dt / 2, g, eta + dt / 2 * a1)  # no force depends on the pose of the fish
        a3 = acceleration(t + dt / 2, g, eta + dt / 2 * a2)
        a4 = acceleration(t + dt, g, eta + dt * a3)
        g = g @ lie.exp6(dt * (eta + dt / 6 * (a1 + a2 + a3)))
        eta = eta + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        rows.append(eta[3])
    return dt * np.arange(len(rows)), np.array(rows)


def main():
    result = Result(np.zeros(0), {}, np.zeros(0), {}, np.zeros(0), {}, {}, {})
    result.inverse_t, result.inverse["riccati"] = inverse("riccati")
    for stiffness in STIFFNESS:
        motion, handle, result.tracking[stiffness], result.seconds[stiffness] = forward(stiffness)
        speed = motion.twist(handle.root)[:, 3]
        result.forward[stiffness], result.t = speed, motion.t
        result.apart[stiffness] = distance(motion.t, speed, result.inverse_t, result.inverse["riccati"])
        if stiffness == STIFFNESS[0]:
            result.shapes = motion.centerline(handle, 40)[:201:20][:, :, [0, 2]]
    for method in ("riccati", "two-pass"):
        result.inverse[f"{method}, 0.1 s"] = inverse(method, dt=0.1, duration=2.0)[1]
    return result


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.6, 3.6)
        left, right = fig.subplots(1, 2)
        left.plot(result.inverse_t, result.inverse["riccati"], color=COLOURS[0], label="inverse")
        for (stiffness, speed), colour in zip(result.forward.items(), COLOURS[1:], strict=False):
            left.plot(result.t, speed, "--", color=colour, label=f"forward, {stiffness:g} N m^2")
        left.set(title="Figure 6 (b): axial velocity of the head", xlabel="time [s]", ylabel="V1 [m/s]")
        left.legend(frameon=False, fontsize=8, loc="lower left")
        left.grid(color=FAINT)
        for k, shape in enumerate(result.shapes):
            right.plot(shape[:, 0], shape[:, 1] - 0.25 * k, color=COLOURS[0], lw=1.6)
            right.plot(*(shape[0] - [0, 0.25 * k]), "o", color=COLOURS[1], ms=4)
        right.set(title="Figure 7: every 0.2 s, shifted down", xlabel="x [m]", ylabel="z [m]", aspect="equal")
        fig.savefig(Path(folder) / "test4_swimmer.png", dpi=110)


if __name__ == "__main__":
    result = main()
    same = CubicSpline(result.inverse_t, result.inverse["riccati"])(result.t)
    for stiffness, speed in result.forward.items():
        for first in (1.0, DURATION - PERIOD):
            period = (result.t > first) & (result.t <= first + PERIOD)
            means = speed[period].mean(), same[period].mean()
            print(
                f"{stiffness:g} N m^2: mean V1 from {first:g} s, one period: {means[0]:.4f}, inverse {means[1]:.4f} m/s"
            )
        print(
            f"  V1 from the inverse one {100 * result.apart[stiffness]:.2f} %, "
            f"error of K2 {100 * result.tracking[stiffness]:.2f} %, "
            f"{result.seconds[stiffness] / DURATION:.2f} of real time"
        )
    gap = np.abs(result.inverse["riccati, 0.1 s"] - result.inverse["two-pass, 0.1 s"])
    print("Riccati and two passes differ by", gap.max(), "m/s")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
