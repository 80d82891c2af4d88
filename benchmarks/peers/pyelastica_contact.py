"""The two rods of benchmarks/contact.py with PyElastica, one thread, explicit steps: one line of JSON per setting.

The wall is in the middle of the first element, which is clamped, so that the free length is that of the rods. The time is that
of the stepping loop with its reading of the tips, after a first step that compiles. Lines hold the tips: the script that reads
them knows the reference.
"""

import sys
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import elastica
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import contact
from measure import aside, parser_of, show, whole_call
from pyelastica_common import march

SAMPLES = 150
STIFFNESS = 2e4  # [N/m] of a pair of elements; ten times as much moves the tips by less than the grid does


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation of one run."""

    elements: int
    step: float  # [s]


PATH = (Setting(12, 2e-4), Setting(20, 1e-4), Setting(40, 5e-5), Setting(80, 2.5e-5))


class Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing, elastica.Contact):
    """What the rods need of PyElastica."""


def build(setting: Setting) -> tuple[Simulator, list[elastica.CosseratRod]]:
    """Both rods, straight."""
    simulator, rods = Simulator(), []
    size = contact.LENGTH / (setting.elements - 0.5)
    for root, along in ((contact.LOWER, [1.0, 0.0, 0.0]), (contact.UPPER, [0.0, 1.0, 0.0])):
        way = np.array(along)
        rod = elastica.CosseratRod.straight_rod(
            setting.elements, root - 0.5 * size * way, way, np.array([0.0, 0.0, 1.0]), size * setting.elements,
            contact.RADIUS, contact.DENSITY, youngs_modulus=contact.YOUNG,
            shear_modulus=contact.YOUNG / (2.0 * (1.0 + contact.POISSON)),
        )  # fmt: skip
        simulator.append(rod)
        simulator.constrain(rod).using(
            elastica.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
        )
        simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array([0.0, 0.0, -contact.GRAVITY]))
        rods.append(rod)
    simulator.detect_contact_between(*rods).using(elastica.RodRodContact, k=STIFFNESS, nu=0.0)
    simulator.finalize()
    return simulator, rods


def run(setting: Setting) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Times (m,) [s], tips (m, 2, 3) [m], the seconds of the loop and those of the first step, which compiles."""
    simulator, rods = aside(lambda: build(setting))  # it compiles in the first call of a process
    read = lambda: np.array([rod.position_collection[:, -1] for rod in rods])
    return march(simulator, read, until=contact.DURATION, step=setting.step, samples=SAMPLES, first=1e-12)


def main() -> None:
    arguments = parser_of(__doc__, repeat=2).parse_args()
    for setting in PATH:
        try:
            calls = [whole_call(partial(run, setting)) for _ in range(arguments.repeat)]
        except RuntimeError as failure:
            print(setting, failure, file=sys.stderr)
            continue
        t, tips, *_ = calls[-1][0]
        show({
            "peer": "pyelastica", "version": version("pyelastica"), "case": "crossing", "settings": asdict(setting),
            "seconds": [took for (_, _, took, _), _ in calls], "whole_seconds": min(taken for _, taken in calls), "t": t.tolist(), "tips": tips.tolist(),
        })  # fmt: skip


if __name__ == "__main__":
    main()
