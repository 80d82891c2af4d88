"""The chain of benchmarks/links.py with PyElastica: one line of JSON per setting.

    python benchmarks/peers/pyelastica_links.py --links 64

Links of `elements` elements, held together by FreeJoint: a spring and a damper between their ends, as stiff as an element and
damped at a tenth of what is critical for the two half elements that meet. The first link hangs on its first node.
"""

import json
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import elastica
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import links as case
from measure import aside, attempt, parser_of, show
from pyelastica_common import march

SAMPLES = 100


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation of one run."""

    elements: int  # of each link
    step: float  # [s]
    joint: float = 1.0  # stiffness of a joint, over that of an element


QUOTED = Setting(2, 3e-5)
PATH = (Setting(2, 4e-5), QUOTED, Setting(2, 2e-5), Setting(4, 2e-5), Setting(2, 2e-5, 10.0))


class Simulator(
    elastica.BaseSystemCollection, elastica.Constraints, elastica.Connections, elastica.Forcing, elastica.Damping
):
    """What the chain needs of PyElastica."""


class Hanging(elastica.ConstraintBase):
    """Holds the first node where it is."""

    def __init__(self, place, **kwargs):
        super().__init__(**kwargs)
        self.place = np.array(place)

    def constrain_values(self, system, time):
        system.position_collection[..., 0] = self.place

    def constrain_rates(self, system, time):
        system.velocity_collection[..., 0] = 0.0


def build(links: int, setting: Setting) -> tuple[Simulator, list[elastica.CosseratRod]]:
    """The straight chain with its weight."""
    simulator, rods = Simulator(), []
    shear = case.YOUNG / (2 * (1 + case.POISSON))
    for link in range(links):
        rod = elastica.CosseratRod.straight_rod(
            setting.elements, np.array([link * case.LENGTH, 0, 0]), np.array([1.0, 0, 0]), np.array([0, 0, 1.0]),
            case.LENGTH, case.RADIUS, case.DENSITY, youngs_modulus=case.YOUNG, shear_modulus=shear,
        )  # fmt: skip
        simulator.append(rod)
        simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array(case.GRAVITY))
        rods.append(rod)
    simulator.constrain(rods[0]).using(Hanging, constrained_position_idx=(0,))
    size = case.LENGTH / setting.elements
    stiffness = setting.joint * case.YOUNG * case.AREA / size
    damping = 0.2 * np.sqrt(stiffness * case.DENSITY * case.AREA * size / 4)
    for first, second in pairwise(rods):
        joint = simulator.connect(first, second, first_connect_idx=-1, second_connect_idx=0)
        joint.using(elastica.FreeJoint, k=stiffness, nu=damping)
    aside(simulator.finalize)  # compiles in its first call of a process
    return simulator, rods


def run(links: int, setting: Setting) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Times (m,) [s], ends (m, 4, 3) [m], the seconds it took and those of the first step."""
    simulator, rods = build(links, setting)
    ends = [rods[k] for k in case.watched(links)]
    read = lambda: np.array([rod.position_collection[:, -1] for rod in ends])
    return march(simulator, read, until=case.DURATION, step=setting.step, samples=SAMPLES, first=1e-12)


def measure(links: int, setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    label = {
        "peer": "pyelastica",
        "version": version("pyelastica"),
        "case": f"links {links}",
        "settings": asdict(setting),
    }
    judge = lambda t, ends: case.error(links, t, ends)
    return attempt(label, lambda: run(links, setting), judge, repeat=repeat, simulated=case.DURATION)


def main() -> None:
    parser = parser_of(__doc__, repeat=1)
    parser.add_argument("--links", type=int, nargs="+", default=[64])
    parser.add_argument("--path", action="store_true", help="settings from too coarse to fine, one line each")
    parser.add_argument("--settings", type=json.loads, help="these, as a JSON list")
    arguments = parser.parse_args()
    chosen = [Setting(**values) for values in arguments.settings or ()] or (PATH if arguments.path else [QUOTED])
    for links in arguments.links:
        for setting in chosen:
            show(measure(links, setting, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
