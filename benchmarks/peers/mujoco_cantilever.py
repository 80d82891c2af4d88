"""Release of a cantilever (benchmarks/cases.py) with MuJoCo, one thread: a one-dimensional flex.

    python benchmarks/peers/mujoco_cantilever.py soft --repeat 3
    python benchmarks/peers/mujoco_cantilever.py soft --sweep

Prints one line of JSON per setting; the time is that of the stepping loop with its reading of the tip. The world's z is up.
A very short edge above the wall, held at both ends, makes the bend at the wall twice as stiff as an inner one: the wall
then holds the first element by half its length.
"""

import itertools
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cases import CANTILEVERS, GRAVITY, Cantilever, tip_error
from chain import equilibrium
from measure import aside, attempt, parser_of, show, timed

SAMPLES = 600  # of the tip until the last check time


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation of one run."""

    elements: int
    step: float  # [s]
    integrator: str = "discrete"  # implicit, edges of fixed length; or "RK4", edges that are springs


# The fastest of the sweep with an error of at most 1 % of the length, or the nearest to it.
FASTEST = {
    "soft": Setting(28, 5e-3),
    "stiff": Setting(100, 8e-6, "RK4"),
    "stiff200": Setting(28, 2.5e-5),
}


def sweep(case: Cantilever) -> Iterator[Setting]:
    """Meshes and steps tried for `case`."""
    elements, steps = {
        "soft": ((16, 20, 24, 32, 48), (0.02, 0.01, 5e-3, 2.5e-3)),
        "stiff": ((48, 64, 80, 100), (2e-4, 1e-4, 5e-5)),
        "stiff200": ((16, 20, 24, 32), (2e-4, 1e-4, 5e-5, 2.5e-5)),
    }[case.name]
    for count, step in itertools.product(elements, steps):
        yield Setting(count, step)
    if case.name == "stiff":  # its stretch counts: with edges of fixed length the error stays above 2.5 %
        for count, step in ((64, 1.2e-5), (72, 1e-5), (100, 8e-6)):
            yield Setting(count, step, "RK4")


def build(case: Cantilever, setting: Setting) -> mujoco.MjModel:
    """The hanging rod: its vertices are 0 (ghost), 1 (wall) to n + 1 (tip)."""
    n, size = setting.elements, case.length / setting.elements
    points = f"0 0 {1e-3 * size:.12g} " + " ".join(f"0 0 {-i * size:.12g}" for i in range(n + 1))
    edge = f'<edge equality="true" solref="{2 * setting.step} 1" solimp="0.9999 0.9999 0.001"/>'
    if setting.integrator == "RK4":
        edge = f'<edge stiffness="{case.axial_stiffness / size:.9g}" damping="0"/>'
    edges = " ".join(f"{i} {i + 1}" for i in range(n + 1))
    model = mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option timestep="{setting.step}" integrator="{setting.integrator}" gravity="0 0 {-GRAVITY}" tolerance="1e-10"
    iterations="50"><flag contact="disable"/></option>
  <size memory="64M"/>
  <worldbody>
    <flexcomp name="rod" type="direct" dim="1" point="{points}" element="{edges}" radius="{case.diameter / 2}"
      mass="{case.mass_per_length * size * (n + 2):.12g}">
      <pin id="0 1"/>
      {edge}
      <elasticity young="{case.young}" poisson="0.4999" damping="0" section="circle"/>
      <contact selfcollide="none"/>
    </flexcomp>
  </worldbody>
</mujoco>""")
    tip = model.flex_vertbodyid[n + 1]
    model.body_mass[tip] *= 0.5  # every vertex got the mass of an element
    model.body_inertia[tip] *= 0.5
    return model


def run(case: Cantilever, setting: Setting, until: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Times (m,) [s] and tip (m, 2) [m] of the release, and the seconds it took."""
    model = build(case, setting)
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)
    vertices, _ = aside(lambda: equilibrium(case, setting.elements))
    bodies, size = model.flex_vertbodyid, case.length / setting.elements
    for i in range(1, setting.elements + 1):
        first = model.jnt_qposadr[model.body_jntadr[bodies[i + 1]]]
        data.qpos[first : first + 3] = vertices[i, 0], 0.0, vertices[i, 1] + i * size
    mujoco.mj_forward(model, data)
    steps = round(until / setting.step)
    every, tip = max(1, steps // SAMPLES), bodies[setting.elements + 1]
    t, place = [0.0], [data.xpos[tip, ::2].copy()]

    def loop() -> None:
        for k in range(steps):
            mujoco.mj_step(model, data)
            if (k + 1) % every == 0 or k == steps - 1:
                t.append(data.time)
                place.append(data.xpos[tip, ::2].copy())

    _, seconds = timed(loop)
    if any(warning.number for warning in data.warning):
        raise RuntimeError("MuJoCo warned of an unstable motion")
    return np.array(t), np.array(place), seconds


def measure(case: Cantilever, setting: Setting, *, until: float, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    label = {"peer": "mujoco", "version": mujoco.__version__, "case": case.name, "settings": asdict(setting)}
    return attempt(
        label,
        lambda: run(case, setting, until),
        lambda t, tip: tip_error(case, t, tip),
        repeat=repeat,
        simulated=until,
        failures=(RuntimeError, ValueError),
    )


def main() -> None:
    parser = parser_of(__doc__, repeat=3)
    parser.add_argument("case", choices=sorted(CANTILEVERS))
    parser.add_argument("--sweep", action="store_true", help="every setting tried, one line each")
    arguments = parser.parse_args()
    case = CANTILEVERS[arguments.case]
    for setting in sweep(case) if arguments.sweep else [FASTEST[case.name]]:
        show(measure(case, setting, until=case.last_check, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
