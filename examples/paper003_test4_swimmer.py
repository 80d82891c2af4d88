"""Paper 003, test 4 (figures 6 and 7): a fish that swims by a travelling wave of muscle torque, in Lighthill's theory.

Forward dynamics: the active law (92) with a stiffness of 50 N m^2 drives the curvature K2 towards the wave (93)-(95);
shooting solves the free rod with its added mass (90)-(91), steps of 10 ms. Inverse dynamics: the wave is imposed
exactly, the acceleration of the head follows from the Riccati equations (84)-(85) (or from two passes) and is
integrated in time. As the errata say (003.6 to 003.10): bending about t2 only, height along t2, lateral axis t3; the
geometry is that of 003.10; the speed still rises after 2 s. t1 points from head to tail: swimming forward is V1 < 0.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla import lie
from anguilla.solve import shooting
from anguilla.view.style import COLOURS, FAINT, figure, figure_style

LENGTH, WATER = 1.0, 1000.0
ENVELOPE, WAVE, PERIOD, RAMP = (1.0, 0.5, 2.0), 1.0, 1.0, 1.0
STIFFNESS = 50.0  # of the control law [N m^2]
DURATION = 2.0


@dataclass
class Result:
    t: np.ndarray  # [s]
    forward: dict[float, np.ndarray]  # by stiffness [N m^2]: V1 of the head by shooting [m/s]
    inverse_t: np.ndarray
    inverse: dict[str, np.ndarray]  # by algorithm: V1 of the head with the imposed wave [m/s]
    shapes: np.ndarray  # (snapshots, points, 2) of the forward run every 0.2 s: x and z [m]
    tracking: dict[float, float]  # by stiffness: largest error of K2 in the last period over its amplitude


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


def fish(stiffness=STIFFNESS):
    robot = ag.Robot("fish", gravity=(0, 0, 0))
    young = 1e12  # so stiff a material that the section of the control law has no inertia of its own
    rod = ag.Rod(LENGTH, Body(stiffness, young), ag.Material(young, WATER), ag.Strains(bend_y=4))
    handle = robot.add(rod, at=robot.ground, joint=ag.Free())
    return robot, handle


def forward(stiffness):
    robot, handle = fish(stiffness)
    torque = {handle: lambda X, t: -stiffness * (strain(X, t) - [0, 0, 0, 1, 0, 0])}  # (92)
    motion = shooting.simulate(
        robot, duration=DURATION, dt=0.01, stress=torque, added={handle: added}, shoots=4, intervals=24, tolerance=1e-7
    )
    X = np.linspace(0, LENGTH, 21)
    last = motion.t > DURATION - PERIOD
    error = max(
        float(np.max(np.abs(motion.strain(handle, X)[k, :, 1] - wave(X, motion.t[k])))) for k in np.flatnonzero(last)
    )
    return motion, handle, error / sum(ENVELOPE)


def inverse(method, dt=0.04):
    """Head motion (time, V1) with the imposed wave, by classical Runge-Kutta on (85)."""
    robot, handle = fish()

    def acceleration(t, g, eta):
        fields = [{handle: lambda X, k=k: strain(X, t, k)} for k in range(3)]
        answer = shooting.inverse_dynamics(
            robot, *fields, root=(g, eta), t=t, method=method, intervals=16, added={handle: added}
        )
        return answer.root_acceleration[handle.name]

    g, eta, rows = np.eye(4), np.zeros(6), [0.0]
    for k in range(round(DURATION / dt)):
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
    result = Result(np.zeros(0), {}, np.zeros(0), {}, np.zeros(0), {})
    for stiffness in (STIFFNESS, 4 * STIFFNESS):
        motion, handle, result.tracking[stiffness] = forward(stiffness)
        result.forward[stiffness] = motion.twist(handle.root)[:, 3]
        if stiffness == STIFFNESS:
            result.shapes = motion.centerline(handle, 40)[::20][:, :, [0, 2]]
    result.t = motion.t
    result.inverse_t, result.inverse["riccati"] = inverse("riccati")
    short = inverse("two-pass", dt=0.1)
    result.inverse["riccati, 0.1 s"], result.inverse["two-pass, 0.1 s"] = inverse("riccati", dt=0.1)[1], short[1]
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
    same = np.interp(result.t, result.inverse_t, result.inverse["riccati"])
    for stiffness, speed in result.forward.items():
        last = result.t > DURATION - PERIOD
        print(
            f"{stiffness:g} N m^2: mean V1 in the last period {speed[last].mean():.4f} m/s, "
            f"inverse {same[last].mean():.4f} m/s, "
            f"error of K2 {100 * result.tracking[stiffness]:.1f} %"
        )
    gap = np.abs(result.inverse["riccati, 0.1 s"] - result.inverse["two-pass, 0.1 s"])
    print("Riccati and two passes differ by", gap.max(), "m/s")
    figures(sys.argv[1] if len(sys.argv) > 1 else ".", result)
