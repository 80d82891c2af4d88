"""The gripper of benchmarks/grasping.py with MuJoCo, one thread: one line of JSON per setting.

    python benchmarks/peers/mujoco_gripper.py
    python benchmarks/peers/mujoco_gripper.py --path

A finger is a chain of rigid capsules on ball joints with the stiffness and the damping of bending (twist is as stiff as bending);
its tendon runs through points on both sides of every joint, at the distance of the routing. The palm is driven by a stiff servo. Friction cones are elliptic.
Lines hold the way of the ball: the script that reads them knows the reference.
"""

import json
import math
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import grasping as case
from measure import parser_of, show, timed, whole_call

SAMPLES = 220


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation of one run."""

    pieces: int  # of a finger
    step: float  # [s]
    ratio: float = 10.0  # of the stiffness of friction to that of the normal force


QUOTED = (Setting(4, 1e-3), Setting(8, 2e-3), Setting(8, 1e-3))
PATH = tuple(Setting(pieces, step) for pieces in (4, 6, 8, 12) for step in (0.01, 4e-3, 2e-3, 1e-3))


def finger(k: int, pieces: int) -> tuple[str, list[str]]:
    """MJCF of a finger along its x, and the sites of its tendon. Joints are in the middle of what they bend."""
    size, bending = case.FINGER / pieces, case.YOUNG * math.pi * case.THICK**4 / 4
    stiff, angle = bending / size, 2 * math.pi * k / 3
    out = np.array([math.cos(angle), math.sin(angle), 0.0])
    text = (f'<body pos="{case.APART * out[0]:.9g} {case.APART * out[1]:.9g} 0" '
            f'xyaxes="0 0 -1 {-out[0]:.9g} {-out[1]:.9g} 0">')  # fmt: skip
    sites: list[str] = []

    def piece(length: float, number: int) -> str:
        mass = case.DENSITY * math.pi * case.THICK**2 * length
        along, across = mass * case.THICK**2 / 2, mass * (case.THICK**2 / 4 + length**2 / 12)
        ends = []
        for name, x in (("a", 0.1 * size), ("b", length - 0.1 * size)):
            if (name == "a" and number == 0) or (name == "b" and number == pieces):
                continue
            ends.append(f'<site name="f{k}_{number}{name}" pos="{x:.9g} {case.OFFSET} 0"/>')
            sites.append(f"f{k}_{number}{name}")
        return (f'<inertial pos="{length / 2:.9g} 0 0" mass="{mass:.9g}" diaginertia="{along:.9g} {across:.9g} {across:.9g}"/>'
                f'<geom type="capsule" size="{case.THICK}" fromto="0 0 0 {length:.9g} 0 0" contype="1" conaffinity="2" '
                f'friction="{case.FRICTION} 0.005 0.0001"/>' + "".join(ends))  # fmt: skip

    text += piece(size / 2, 0)
    for number in range(1, pieces + 1):
        before, length = (size / 2 if number == 1 else size), (size / 2 if number == pieces else size)
        text += (f'<body pos="{before:.9g} 0 0"><joint type="ball" stiffness="{stiff:.9g}" '
                 f'damping="{case.DAMPING * stiff:.9g}"/>' + piece(length, number))  # fmt: skip
    return text + "</body>" * (pieces + 1), sites


def build(setting: Setting) -> mujoco.MjModel:
    """The gripper above the ball on its table."""
    fingers = [finger(k, setting.pieces) for k in range(3)]
    tendons = "".join(
        f'<spatial name="t{k}">' + "".join(f'<site site="{s}"/>' for s in sites) + "</spatial>"
        for k, (_, sites) in enumerate(fingers)
    )
    motors = "".join(f'<motor tendon="t{k}" gear="-1"/>' for k in range(3))
    inertia = 0.4 * case.MASS * case.BALL**2
    return mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="{setting.step}" integrator="implicitfast"
  gravity="0 0 -9.81" cone="elliptic" impratio="{setting.ratio}"/>
<worldbody>
  <geom type="plane" size="1 1 0.1" contype="4" conaffinity="2" friction="{case.TABLE} 0.005 0.0001" priority="1"/>
  <body pos="0 0 {case.BALL}"><freejoint/><inertial pos="0 0 0" mass="{case.MASS}" diaginertia="{inertia} {inertia} {inertia}"/>
    <geom type="sphere" size="{case.BALL}" contype="2" conaffinity="1" friction="0.1 0.005 0.0001"/><site name="ball"/></body>
  <body pos="0 0 {case.PALM}"><joint name="up" type="slide" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="0.3" diaginertia="1e-3 1e-3 1e-3"/>{"".join(text for text, _ in fingers)}</body>
</worldbody><tendon>{tendons}</tendon>
<actuator>{motors}<position joint="up" kp="2e4" dampratio="1"/></actuator></mujoco>""")


def run(setting: Setting) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s], middle of the ball (m, 3) [m] and the seconds of the loop."""
    model = build(setting)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    steps = round(case.DURATION / setting.step)
    every = max(1, steps // SAMPLES)
    t, places = [0.0], [data.qpos[:3].copy()]

    def loop() -> None:
        for k in range(steps):
            now = data.time + setting.step
            data.ctrl[:3] = case.PULL * case.smoothly(now, case.GRASP)
            data.ctrl[3] = case.LIFT * case.smoothly(now, case.RAISE)
            mujoco.mj_step(model, data)
            if (k + 1) % every == 0 or k == steps - 1:
                t.append(data.time)
                places.append(data.qpos[:3].copy())

    _, seconds = timed(loop)
    if any(warning.number for warning in data.warning):
        raise RuntimeError("MuJoCo warned of an unstable motion")
    return np.array(t), np.array(places), seconds


def main() -> None:
    parser = parser_of(__doc__, repeat=1)
    parser.add_argument("--path", action="store_true", help="settings from coarse to fine, one line each")
    parser.add_argument("--settings", type=json.loads, help="these, as a JSON list")
    arguments = parser.parse_args()
    for setting in [Setting(**v) for v in arguments.settings or ()] or (PATH if arguments.path else QUOTED):
        label = {"peer": "mujoco", "version": mujoco.__version__, "case": "gripper", "settings": asdict(setting)}
        try:
            calls = [whole_call(partial(run, setting)) for _ in range(arguments.repeat)]
        except (RuntimeError, ValueError) as failure:
            show({**label, "failure": str(failure)})
            continue
        t, places, _ = calls[0][0]
        show({**label, "seconds": [took for (_, _, took), _ in calls], "whole_seconds": min(whole for _, whole in calls),
              "t": t.tolist(), "followed": places.tolist()})  # fmt: skip


if __name__ == "__main__":
    main()
