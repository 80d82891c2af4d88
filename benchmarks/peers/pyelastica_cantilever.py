"""Release of a cantilever (benchmarks/cases.py) with PyElastica, one thread, explicit steps.

    python benchmarks/peers/pyelastica_cantilever.py stiff --repeat 1

Prints one line of JSON; the time is that of the stepping loop with its reading of the tip, after a first step that compiles.
The clamp of PyElastica holds the direction of the first element: the wall is put in the middle of it.
"""

import sys
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path

import elastica
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cases import CANTILEVERS, GRAVITY, Cantilever, tip_error
from chain import equilibrium
from measure import aside, attempt, parser_of, show
from pyelastica_common import march

SAMPLES = 600  # of the tip until the last check time


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation of one run."""

    elements: int
    step: float  # [s], close to the largest that is stable


SETTINGS = {
    "soft": Setting(40, 2.2e-6),
    "stiff": Setting(60, 3e-6),
    "stiff200": Setting(40, 3e-7),
}


class Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):
    """What the rod needs of PyElastica."""


def build(case: Cantilever, setting: Setting) -> tuple[Simulator, elastica.CosseratRod]:
    """The rod at rest under the tip force, with half an element above the wall."""
    n = setting.elements
    size = case.length / (n - 0.5)
    longer = replace(case, length=n * size)
    above = np.array([0.0, size / 2, 0.0])
    rod = elastica.CosseratRod.straight_rod(
        n, above, np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0]), longer.length, case.diameter / 2,
        case.density, youngs_modulus=case.young, shear_modulus=case.shear,
    )  # fmt: skip
    vertices, angles = aside(lambda: equilibrium(longer, n, held=True))
    rod.position_collection[:2] = vertices.T + above[:2, None]
    zero, one = np.zeros(n), np.ones(n)
    tangent, normal = np.stack([np.cos(angles), np.sin(angles), zero]), np.stack([zero, zero, one])
    rod.director_collection[0] = normal
    rod.director_collection[1] = np.cross(tangent, normal, axis=0)
    rod.director_collection[2] = tangent
    simulator = Simulator()
    simulator.append(rod)
    clamp = simulator.constrain(rod)
    clamp.using(elastica.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
    simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array([0.0, -GRAVITY, 0.0]))
    aside(simulator.finalize)  # compiles in its first call of a process
    return simulator, rod


def run(case: Cantilever, setting: Setting, until: float) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Times (m,) [s] and tip (m, 2) [m] of the release, the seconds it took and those of the first step."""
    simulator, rod = build(case, setting)
    return march(
        simulator,
        lambda: rod.position_collection[:2, -1].copy(),
        until=until,
        step=setting.step,
        samples=SAMPLES,
        first=1e-9 * setting.step,
    )


def measure(case: Cantilever, setting: Setting, *, until: float, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    label = {"peer": "pyelastica", "version": version("pyelastica"), "case": case.name, "settings": asdict(setting)}
    reached = tuple(time for time in case.check_times if time <= until + 1e-9)
    return attempt(
        label,
        lambda: run(case, setting, until),
        lambda t, tip: tip_error(replace(case, check_times=reached), t, tip),
        repeat=repeat,
        simulated=until,
        **({} if reached == case.check_times else {"judged_until": reached[-1]}),
    )


def main() -> None:
    parser = parser_of(__doc__, repeat=1)
    parser.add_argument("case", choices=sorted(CANTILEVERS))
    parser.add_argument("--until", type=float, help="simulated time [s], by default the last check time")
    parser.add_argument("--elements", type=int)
    parser.add_argument("--step", type=float, help="[s]")
    arguments = parser.parse_args()
    case = CANTILEVERS[arguments.case]
    changes = {name: getattr(arguments, name) for name in ("elements", "step") if getattr(arguments, name)}
    setting = replace(SETTINGS[case.name], **changes)
    show(measure(case, setting, until=arguments.until or case.last_check, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
