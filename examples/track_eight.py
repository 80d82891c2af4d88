"""A tendon arm of two sections draws a figure of eight, with a payload that its controllers do not know of.

Six tendons bend the arm, three of them along both sections. The controllers have the model of the arm without the payload
of 20 g at its tip. Compared are: feed-forward (the tensions that inverse kinematics finds along the path), PID of the tip,
both together, and model-predictive control at 50 Hz. It is no even match: model-predictive control is given the whole state,
PID the tip alone. The gains of PID are those of eighteen that serve best together with feed-forward, on this path; horizon
and trust of model-predictive control were chosen on the same path with half of the payload.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla import control, sensors
from anguilla.view.style import COLOURS, INK, figure, figure_style

DT, PERIOD, DURATION = 0.005, 0.02, 5.0  # [s]
BEAT, WIDE, HIGH = 4.0, 0.05, 0.03  # [s], [m]
MOST, HOLD = 12.0, 3.0  # [N]
PAYLOAD = 0.02  # [kg]


@dataclass
class Result:
    wanted: np.ndarray  # (nt, 3) [m]
    loops: dict[str, control.ClosedLoop]
    errors: dict[str, tuple[float, float]]  # root mean square and largest, after the first second [m]
    rate: float  # of the updates of MPC [Hz]


def build(payload=0.0, young=6e5):
    robot = ag.Robot("arm", gravity=(9.81, 0, 0))  # it hangs
    rubber = ag.Material(young=young, poisson=0.45, density=1000, damping=0.03)
    rod = ag.Rod(0.15, ag.Circle(0.012), rubber, ag.kirchhoff(1, twist_modes=1), intervals=3)
    near = robot.add(rod, at=robot.ground, name="near")
    far = robot.add(rod, at=near.tip, name="far")
    for k in range(3):
        for parts, name, turn in (((near,), "short", 0.0), ((near, far), "long", np.pi / 3)):
            angle = 2 * np.pi * k / 3 + turn
            side = ag.parallel(y=0.01 * np.cos(angle), z=0.01 * np.sin(angle))
            robot.actuate(f"{name}{k}", ag.Tendon(parts, side))
            robot.drive(f"{name}{k}", ag.Drive(low=0.0, high=MOST, rate=60.0))
    robot.sense("tip", sensors.Position(far.tip))
    if payload:
        robot.add(ag.RigidBody(payload, (1e-7,) * 3), at=far.tip, name="payload")
    return robot, far.tip


def eight(t, rest):
    """The place wanted at time t; the first second leads to it."""
    s = np.clip(t, 0.0, 1.0)
    grow = s**3 * (10 - 15 * s + 6 * s**2)
    phase = 2 * np.pi * t / BEAT
    y, z = WIDE * np.sin(phase), HIGH * np.sin(2 * phase)
    return rest + grow * np.array([-(y**2 + z**2) / 0.3, y, z])


def feed_of(robot, tip, rest, count=41):
    """Tensions along the path that hold the tip there, by inverse kinematics, as a function of t."""
    limits = {name: (0.0, MOST) for name in robot.inputs}
    model = control.RodModel(robot, {"tip": tip}, efforts=limits)
    t = np.linspace(0.0, DURATION, count)
    solver = control.InverseKinematics(model)
    table = [list(solver.solve({"tip": eight(x, rest)}).inputs.values()) for x in t]
    return lambda x: np.array([np.interp(x, t, column) for column in np.array(table).T])


def main(duration=DURATION):
    model, tip = build()
    robot, end = build(PAYLOAD)
    hold = dict.fromkeys(model.inputs, HOLD)
    rest = ag.statics(model, inputs=hold).position(tip)
    start = ag.statics(robot, inputs=hold)
    goal = lambda t: eight(t, rest)
    feed = feed_of(model, tip, rest)
    gain = np.linalg.pinv(control.steady_gain(ag.statics(model, inputs=hold), tip)[1:])
    state = control.full_state
    side = lambda reading: reading[1:3]
    pid = {"kp": 1.5, "ki": 10.0, "kd": 0.1, "period": PERIOD, "measure": side, "allocation": gain, "lag": 0.02}
    cases = {
        "feed-forward": (control.FeedForward({
            name: lambda t, k=k: feed(t)[k] for k, name in enumerate(model.inputs)}), None),
        "PID": (control.PID(model, lambda t: goal(t)[1:], **pid, feed=HOLD * np.ones(6)), None),
        "PID and feed-forward": (control.PID(model, lambda t: goal(t)[1:], **pid, feed=feed), None),
        "MPC": (control.MPC(
            model, tip, goal, period=PERIOD, horizon=12, moves=4, goal_weight=[0.1, 1.0, 1.0], change_weight=1e-8,
            input_weight=1e-9, inputs=hold), state),
    }  # fmt: skip
    loops, errors = {}, {}
    for name, (controller, observe) in cases.items():
        stepper = ag.Stepper(robot, dt=DT, start=start, inputs=hold, history=True)
        loop = loops[name] = control.run(stepper, controller, duration=duration, period=PERIOD, observe=observe)
        run = loop.run
        miss = np.linalg.norm(run.position(end)[:, 1:] - np.array([goal(t)[1:] for t in run.t]), axis=1)[run.t >= 1.0]
        errors[name] = float(np.sqrt(np.mean(miss**2))), float(np.max(miss))
    wanted = np.array([goal(t) for t in run.t])
    return Result(wanted, loops, errors, loops["MPC"].rate)


def report(result):
    rows = [f"{'controller':<22}{'rms [mm]':>10}{'largest [mm]':>14}"]
    rows += [f"{name:<22}{1e3 * a:>10.2f}{1e3 * b:>14.2f}" for name, (a, b) in result.errors.items()]
    return "\n".join([*rows, f"MPC: {result.rate:.0f} updates per second of computing"])


def figures(folder, result=None):
    result = result or main()
    with figure_style():
        fig = figure(9.0, 3.2)
        for k, (ax, (name, loop)) in enumerate(zip(fig.subplots(1, 4), result.loops.items(), strict=True)):
            place = loop.run.position(loop.run.robot.part("far").tip)
            ax.plot(1e3 * result.wanted[:, 1], 1e3 * result.wanted[:, 2], color=INK, lw=0.8, ls=":")
            ax.plot(1e3 * place[:, 1], 1e3 * place[:, 2], color=COLOURS[k])
            ax.set(title=name, xlabel="y [mm]", aspect="equal")
        fig.savefig(Path(folder) / "track_eight.png", dpi=110)


if __name__ == "__main__":
    result = main()
    print(report(result))
    figures(Path(sys.argv[1] if len(sys.argv) > 1 else "."), result)
