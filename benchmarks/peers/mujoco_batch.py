"""256 tendon arms at once with MuJoCo's threaded rollout: one line of JSON.

The arm of benchmarks/tendon.py as a chain of rigid links: two per section on ball joints, twelve coordinates, with the bending
stiffness of the rod and its damping time; the tendons run through points of the links. It is a coarser model than a rod (no
stretch, twist as stiff as bending) and stands for what this program does well: many cheap robots.
"""

import math
import os
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measure import parser_of, rounded, show
from tendon import ANGLES, DAMPING, DENSITY, LENGTH, OFFSET, RADIUS, YOUNG

LINKS = 2  # of each section
STEP = 0.005  # [s]


def arm() -> str:
    """The arm hanging along -z, as MJCF."""
    size = LENGTH / LINKS
    bending = YOUNG * math.pi * RADIUS**4 / 4 / size
    mass = DENSITY * math.pi * RADIUS**2 * size
    across = mass * (RADIUS**2 / 4 + size**2 / 12)
    along = mass * RADIUS**2 / 2
    sites: list[list[str]] = [[] for _ in range(6)]
    body, closing = "", ""
    for k in range(2 * LINKS):
        # The joint of a link has the bend of half its neighbour and of half of itself.
        place = "0 0 0" if k == 0 else f"0 0 {-size}"
        body += f'<body pos="{place}"><joint type="ball" stiffness="{bending}" damping="{DAMPING * bending}"/>'
        body += f'<inertial pos="0 0 {-size / 2}" mass="{mass}" diaginertia="{across} {across} {along}"/>'
        for tendon in range(6):
            if tendon >= 3 or k < LINKS:
                angle = ANGLES[tendon % 3]
                name = f"s{k}_{tendon}"
                x, y = OFFSET * math.cos(angle), OFFSET * math.sin(angle)
                body += f'<site name="{name}" pos="{x} {y} {-size}"/>'
                sites[tendon].append(name)
        closing += "</body>"
    start = "".join(
        f'<site name="s_{k}" pos="{OFFSET * math.cos(ANGLES[k % 3])} {OFFSET * math.sin(ANGLES[k % 3])} 0"/>'
        for k in range(6)
    )
    tendons = "".join(
        f'<spatial name="t{k}"><site site="s_{k}"/>' + "".join(f'<site site="{s}"/>' for s in sites[k]) + "</spatial>"
        for k in range(6)
    )
    motors = "".join(f'<motor tendon="t{k}" gear="-1"/>' for k in range(6))
    return f"""<mujoco><option timestep="{STEP}" integrator="implicitfast" gravity="0 0 -9.81">
<flag contact="disable"/></option><worldbody>{start}{body}{closing}</worldbody>
<tendon>{tendons}</tendon><actuator>{motors}</actuator></mujoco>"""


def main() -> None:
    parser = parser_of(__doc__, repeat=5)
    parser.add_argument("--arms", type=int, default=256)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    model = mujoco.MjModel.from_xml_string(arm())
    data = [mujoco.MjData(model) for _ in range(given.threads)]
    random = np.random.default_rng(0)
    control = np.repeat(5.0 * random.random((given.arms, 1, model.nu)), given.steps, axis=1)
    state = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data[0], state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    walls, states = [], np.zeros(0)
    with rollout.Rollout(nthread=given.threads) as pool:
        for _ in range(given.repeat + 1):
            began = time.perf_counter()
            states, _ = pool.rollout(model, data, np.tile(state, (given.arms, 1)), control)
            walls.append(time.perf_counter() - began)
    if not np.isfinite(states).all():
        raise SystemExit("MuJoCo: the motion is not finite")
    steps = given.arms * given.steps
    show({
        "peer": "mujoco", "version": mujoco.__version__, "case": "batch", "arms": given.arms, "coordinates": int(model.nv),
        "step": STEP, "threads": given.threads, "best": rounded(steps / min(walls[1:])),
        "median": rounded(steps / float(np.median(walls[1:]))),
    })  # fmt: skip


if __name__ == "__main__":
    main()
