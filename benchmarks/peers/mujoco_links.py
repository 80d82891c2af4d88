"""The chain of benchmarks/links.py with MuJoCo, one thread: one line of JSON per setting.

    python benchmarks/peers/mujoco_links.py --links 64
    python benchmarks/peers/mujoco_links.py --links 64 --path

A link is `pieces` rigid capsules on ball joints with the stiffness of bending; links meet in ball joints without. With two pieces no step was found that is stable for 64 links, so that links are rigid. They do not
stretch, and twist is as stiff as bending. The step is the longest found whose motion is near the settled one of these pieces.
"""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import links as case
from measure import attempt, parser_of, show, timed

SAMPLES = 200


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation of one run."""

    pieces: int  # of each link
    step: float  # [s]
    integrator: str = "implicitfast"


QUOTED = (Setting(1, 6.25e-3), Setting(1, 5e-3), Setting(1, 0.01, "RK4"))
PATH = (
    *(Setting(1, step, kind) for step in (0.02, 0.01, 5e-3, 2.5e-3) for kind in ("implicitfast", "RK4")),
    *(Setting(2, step) for step in (0.01, 5e-3, 2.5e-3)),
)  # fmt: skip


def build(count: int, setting: Setting) -> mujoco.MjModel:
    """The straight chain with its weight."""
    size = case.LENGTH / setting.pieces
    mass = case.DENSITY * case.AREA * size
    along, across = mass * case.RADIUS**2 / 2, mass * (case.RADIUS**2 / 4 + size**2 / 12)
    bending = case.YOUNG * case.SECOND / size
    body, watched = (
        "",
        {count_of * setting.pieces + setting.pieces - 1: k for k, count_of in enumerate(case.watched(count))},
    )
    for k in range(count * setting.pieces):
        stiff = bending if k % setting.pieces else 0.0
        body += f'<body pos="{size if k else 0.0} 0 0"><joint type="ball" stiffness="{stiff:.9g}"/>'
        body += (
            f'<inertial pos="{size / 2} 0 0" mass="{mass:.9g}" diaginertia="{along:.9g} {across:.9g} {across:.9g}"/>'
        )
        if k in watched:
            body += f'<site name="end_{watched[k]}" pos="{size} 0 0"/>'
    body += "</body>" * (count * setting.pieces)
    down = " ".join(f"{g:.9g}" for g in case.GRAVITY)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{setting.step}" integrator="{setting.integrator}" gravity="{down}">'
        f'<flag contact="disable"/></option><worldbody>{body}</worldbody></mujoco>'
    )


def run(count: int, setting: Setting) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s], ends (m, 4, 3) [m] and the seconds of the loop."""
    model = build(count, setting)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    ends = [model.site(f"end_{k}").id for k in range(4)]
    steps = round(case.DURATION / setting.step)
    every = max(1, steps // SAMPLES)
    t, places = [0.0], [data.site_xpos[ends].copy()]

    def loop() -> None:
        for k in range(steps):
            mujoco.mj_step(model, data)
            if (k + 1) % every == 0 or k == steps - 1:
                mujoco.mj_kinematics(model, data)  # a step leaves the places of its beginning
                t.append(data.time)
                places.append(data.site_xpos[ends].copy())

    _, seconds = timed(loop)
    if any(warning.number for warning in data.warning):
        raise RuntimeError("MuJoCo warned of an unstable motion")
    return np.array(t), np.array(places), seconds


def measure(count: int, setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    label = {"peer": "mujoco", "version": mujoco.__version__, "case": f"links {count}", "settings": asdict(setting)}
    judge = lambda t, ends: case.error(count, t, ends)
    return attempt(label, lambda: run(count, setting), judge, repeat=repeat, simulated=case.DURATION,
                   failures=(RuntimeError, ValueError))  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__, repeat=1)
    parser.add_argument("--links", type=int, default=64)
    parser.add_argument("--path", action="store_true", help="settings from coarse to fine, one line each")
    parser.add_argument("--settings", type=json.loads, help="these, as a JSON list")
    arguments = parser.parse_args()
    given = [Setting(**values) for values in arguments.settings or ()] or (PATH if arguments.path else QUOTED)
    for setting in given:
        show(measure(arguments.links, setting, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
