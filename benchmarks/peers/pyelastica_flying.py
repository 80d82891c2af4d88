"""The flying beam of benchmarks/flying.py with PyElastica, one thread, explicit steps: one line of JSON per setting.

The rod gets the stiffness and the inertia of the beam as they are given. The time is that of the stepping loop with its
reading of the ends, after a first step that compiles.
"""

import sys
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import elastica
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import flying
from measure import aside, attempt, parser_of, show
from pyelastica_common import march

SAMPLES = 250


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation of one run."""

    elements: int
    step: float  # [s]


QUOTED = Setting(14, 2.5e-3)  # the fastest within 1 % of the length that keeps within it with half the step
PATH = (Setting(10, 5e-3), Setting(14, 5e-3), QUOTED, Setting(14, 1.25e-3), Setting(20, 1e-3), Setting(40, 5e-4))


class Simulator(elastica.BaseSystemCollection, elastica.Forcing):
    """What the beam needs of PyElastica."""


class Push(elastica.NoForces):
    """Force and moment on the first end, fixed in space."""

    def apply_forces(self, system, time=0.0):
        system.external_forces[..., 0] += flying.force(time)

    def apply_torques(self, system, time=0.0):
        system.external_torques[..., 0] += system.director_collection[..., 0] @ np.array(flying.moment(time))


def build(setting: Setting) -> tuple[Simulator, elastica.CosseratRod]:
    """The beam at rest."""
    size, axes = flying.LENGTH / setting.elements, flying.axes()
    radius = 0.05  # any: what follows from it is replaced
    area = np.pi * radius**2
    rod = elastica.CosseratRod.straight_rod(
        setting.elements, flying.FIRST, axes[:, 0], axes[:, 2], flying.LENGTH, radius, flying.MASS / area,
        youngs_modulus=flying.EA / area, shear_modulus=flying.GA / area,
    )  # fmt: skip
    for matrix, values in (
        (rod.shear_matrix, (flying.GA, flying.GA, flying.EA)),
        (rod.bend_matrix, (flying.EI, flying.EI, flying.GJ)),
        (rod.mass_second_moment_of_inertia, 3 * (flying.INERTIA * size,)),
        (rod.inv_mass_second_moment_of_inertia, 3 * (1 / (flying.INERTIA * size),)),
    ):
        matrix[:] = np.diag(values)[:, :, None]
    simulator = Simulator()
    simulator.append(rod)
    simulator.add_forcing_to(rod).using(Push)
    aside(simulator.finalize)  # compiles in its first call of a process
    return simulator, rod


def run(setting: Setting) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Times (m,) [s], ends (m, 2, 3) [m], the seconds it took and those of the first step."""
    simulator, rod = build(setting)
    return march(
        simulator,
        lambda: rod.position_collection[:, [0, -1]].T.copy(),
        until=flying.DURATION,
        step=setting.step,
        samples=SAMPLES,
        first=1e-12,
    )


def measure(setting: Setting, *, repeat: int) -> dict:
    """The record of `setting`, or one that says why it failed."""
    label = {"peer": "pyelastica", "version": version("pyelastica"), "case": "flying", "settings": asdict(setting)}
    return attempt(label, lambda: run(setting), flying.error, repeat=repeat, simulated=flying.DURATION)


def main() -> None:
    parser = parser_of(__doc__, repeat=2)
    parser.add_argument("--path", action="store_true", help="settings from too coarse to fine, one line each")
    arguments = parser.parse_args()
    for setting in PATH if arguments.path else [QUOTED]:
        show(measure(setting, repeat=arguments.repeat))


if __name__ == "__main__":
    main()
