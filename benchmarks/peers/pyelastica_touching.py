"""The snake, the coil, the knot and the plectoneme of benchmarks/touching.py with PyElastica, one thread, explicit steps: lines of JSON.

    PYTHON benchmarks/peers/pyelastica_touching.py snake --repeat 1

Steps are the longest found that stay stable. The time is that of the stepping loop with its reading, after a first step that
compiles. Lines hold what was followed: the script that reads them knows the reference.
"""

import json
import sys
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import elastica
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measure import aside, parser_of, show, whole_call
from pyelastica_common import march
from touching import COIL, GRAVITY, KNOT, PLECTONEME, SNAKE

SAMPLES = 100


@dataclass(frozen=True, slots=True)
class Setting:
    """Discretisation of one run."""

    elements: int
    step: float  # [s]


PATHS = {
    "snake": (Setting(50, 1e-4), Setting(100, 5e-5)),
    "coil": (Setting(60, 2e-5), Setting(120, 2e-5)),
    "knot": (Setting(50, 1e-4), Setting(60, 1e-4), Setting(100, 1e-4)),
    "plectoneme": (Setting(100, 1e-4),),
}


class Simulator(
    elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing, elastica.Damping, elastica.Contact
):
    """What the cases need of PyElastica."""


class Wave(elastica.MuscleTorques):
    """The wave of the snake, whose amplitude is not a spline."""

    def __init__(self, **options):
        super().__init__(b_coeff=np.zeros(0), phase_shift=0.0, with_spline=False, **options)
        self.my_spline = 4.0 * SNAKE.moment * self.s * (1.0 - self.s)


def snake(setting: Setting, start: Path):
    """The simulator, and what reads head, middle and tail."""
    simulator, n, up = Simulator(), setting.elements, np.array([0.0, 0.0, 1.0])
    rod = elastica.CosseratRod.straight_rod(
        n, np.zeros(3), np.array([1.0, 0.0, 0.0]), up, SNAKE.length, SNAKE.radius, SNAKE.density,
        youngs_modulus=SNAKE.young, shear_modulus=SNAKE.shear,
    )  # fmt: skip
    ground = elastica.Plane(plane_origin=-SNAKE.radius * up, plane_normal=up)
    simulator.append(rod)
    simulator.append(ground)
    simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=-GRAVITY * up)
    simulator.add_forcing_to(rod).using(
        Wave, base_length=SNAKE.length, period=SNAKE.period, wave_number=2 * np.pi, rest_lengths=rod.rest_lengths,
        ramp_up_time=SNAKE.period, direction=up,
    )  # fmt: skip
    simulator.detect_contact_between(rod, ground).using(
        elastica.RodPlaneContactWithAnisotropicFriction, k=1.0, nu=1e-6, slip_velocity_tol=1e-8,
        static_mu_array=np.zeros(3), kinetic_mu_array=np.array(SNAKE.friction),
    )  # fmt: skip
    return simulator, lambda: rod.position_collection[:, [0, n // 2, n]].T.copy()


class Held(elastica.ConstraintBase):
    """Both ends of a rod: the first is clamped, the last goes a way and is clamped too, turned about x, or only held."""

    def __init__(self, *fixed, way, clamped, angle, **options):
        super().__init__(**options)
        self.way, self.clamped, self.angle = way, clamped, angle
        self.places, self.axes = (fixed[0].copy(), fixed[1].copy()), (fixed[2].copy(), fixed[3].copy())

    def constrain_values(self, system, time):
        system.position_collection[..., 0] = self.places[0]
        system.position_collection[..., -1] = self.places[1] + self.way(time)
        system.director_collection[..., 0] = self.axes[0]
        if self.clamped:
            c, s = np.cos(self.angle(time)), np.sin(self.angle(time))
            turned = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
            system.director_collection[..., -1] = self.axes[1] @ turned.T

    def constrain_rates(self, system, time):
        system.velocity_collection[..., 0] = 0.0
        system.velocity_collection[..., -1] = (self.way(time + 1e-6) - self.way(time - 1e-6)) / 2e-6
        system.omega_collection[..., 0] = 0.0
        if self.clamped:
            rate = (self.angle(time + 1e-6) - self.angle(time - 1e-6)) / 2e-6
            system.omega_collection[..., -1] = rate * system.director_collection[:, 0, -1]


def bent(case, n: int, places: np.ndarray, axes: np.ndarray, *, is_rest: bool) -> elastica.CosseratRod:
    """A rod with nodes at places (n + 1, 3), whose elements have about the second of the axes (n, 3, 3), in columns."""
    chord = np.diff(places, axis=0)
    tangent = chord / np.linalg.norm(chord, axis=1)[:, None]
    normal = axes[:, :, 1] - np.sum(axes[:, :, 1] * tangent, axis=1)[:, None] * tangent
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    directors = np.stack([normal, np.cross(tangent, normal), tangent]).transpose(0, 2, 1)
    rod = elastica.CosseratRod.straight_rod(
        n, places[0], tangent[0], normal[0], case.length, case.radius, case.density,
        youngs_modulus=case.young, shear_modulus=case.shear, position=places.T.copy(), directors=directors.copy(),
    )  # fmt: skip
    if is_rest:
        rod.rest_kappa[:] = rod.kappa
        rod.rest_sigma[:] = rod.sigma
    return rod


def held(
    rod: elastica.CosseratRod, way, *, clamped: bool, stiffness: float, damping: float, drag: float, step: float,
    angle=lambda t: 0.0,
):  # fmt: skip
    """The simulator of a rod that may touch itself."""
    simulator = Simulator()
    simulator.append(rod)
    simulator.constrain(rod).using(
        Held, constrained_position_idx=(0, -1), constrained_director_idx=(0, -1), way=way, clamped=clamped, angle=angle
    )
    simulator.detect_contact_between(rod, rod).using(elastica.RodSelfContact, k=stiffness, nu=damping)
    simulator.dampen(rod).using(elastica.AnalyticalLinearDamper, uniform_damping_constant=drag, time_step=step)
    return simulator


def coil(setting: Setting, start: Path):
    """The simulator, and what reads the wire at its quarters. The wall is in the middle of the first and last element."""
    n = setting.elements
    s = (np.arange(n + 1) - 0.5) / (n - 1)
    places, axes = COIL.shape(s)[0], COIL.shape((np.arange(n)) / (n - 1))[1]
    rod = bent(COIL, n, places, axes, is_rest=True)
    way = lambda t: np.array([0.0, 0.0, -COIL.pressed(t)])
    simulator = held(rod, way, clamped=True, stiffness=20.0, damping=1e-3, drag=COIL.drag, step=setting.step)

    def read():
        return np.array([[np.interp(k, s, row) for row in rod.position_collection] for k in (0.25, 0.5, 0.75)])

    return simulator, read


def knot(setting: Setting, start: Path):
    """The simulator, and what reads the radius of a circle with the same energy of bending."""
    n, known = setting.elements, np.load(start)
    at = np.linspace(0, len(known["places"]) - 1, 2 * n + 1).round().astype(int)
    rod = bent(KNOT, n, known["places"][at[::2]], known["axes"][at[1::2]], is_rest=False)
    way = lambda t: np.array([KNOT.pull(t), 0.0, 0.0])
    drag = KNOT.drag / (KNOT.density * np.pi * KNOT.radius**2)
    simulator = held(rod, way, clamped=False, stiffness=400.0, damping=1e-2, drag=drag, step=setting.step)

    def read():
        energy = np.sum(rod.kappa[:2] ** 2 * rod.rest_voronoi_lengths)
        return np.array([[2.0 * np.pi / energy]])

    return simulator, read


def plectoneme(setting: Setting, start: Path):
    """The simulator, and what reads tension and moment at the last element."""
    n, case = setting.elements, PLECTONEME
    x = np.linspace(0.0, 1.0, 4001)  # an arch, clamped at both ends, with the slack
    high = np.sqrt(case.slack[0] * (case.length - case.slack[0])) / np.pi
    for _ in range(20):
        line = np.stack([(case.length - case.slack[0]) * x, 0.5 * high * (1.0 - np.cos(2 * np.pi * x))], axis=1)
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
        high *= np.sqrt(case.slack[0] / (along[-1] - case.length + case.slack[0]))
    s = np.linspace(0.0, along[-1], n + 1)
    places = np.stack([np.interp(s, along, line[:, 0]), np.interp(s, along, line[:, 1]), 0.0 * s], axis=1)
    rod = bent(case, n, places, np.tile(np.eye(3)[:, [0, 2, 1]], (n, 1, 1)), is_rest=False)
    for end in (0, -1):  # clamped along x
        rod.director_collection[..., end] = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
    drag = case.drag / (case.density * np.pi * case.radius**2)
    way, size = (lambda t: np.array([-case.way(t), 0.0, 0.0])), case.length / n
    simulator = held(
        rod, way, clamped=True, stiffness=4e5 * size, damping=1e-2, drag=drag, step=setting.step, angle=case.angle
    )

    def read():
        axes = rod.director_collection
        force = axes[:, 0, -1] @ rod.internal_stress[:, -1]
        moment = 0.5 * (axes[:, 0, -1] + axes[:, 0, -2]) @ rod.internal_couple[:, -1]
        return np.array([[force / case.tension, moment / case.moment]])

    return simulator, read


def run(build, case, setting: Setting, start: Path):
    """Times (m,) [s], what was followed, the seconds of the loop and those of the first step, which compiles."""
    simulator, read = build(setting, start)
    aside(simulator.finalize)  # compiles in its first call of a process
    return march(simulator, read, until=case.check[-1], step=setting.step, samples=SAMPLES, first=1e-12)


def main() -> None:
    parser = parser_of(__doc__, repeat=1)
    parser.add_argument("case", choices=PATHS)
    parser.add_argument("--start", type=Path, help="the rope with its knot")
    parser.add_argument("--settings", type=json.loads, help="these, as a JSON list")
    arguments = parser.parse_args()
    build = globals()[arguments.case]
    case = {"snake": SNAKE, "coil": COIL, "knot": KNOT, "plectoneme": PLECTONEME}[arguments.case]
    for setting in [Setting(**values) for values in arguments.settings or ()] or PATHS[arguments.case]:
        label = {"peer": "pyelastica", "version": version("pyelastica"), "case": arguments.case,
                 "settings": asdict(setting)}  # fmt: skip
        try:
            calls = [whole_call(partial(run, build, case, setting, arguments.start)) for _ in range(arguments.repeat)]
        except RuntimeError as failure:
            show({**label, "failure": str(failure)})
            continue
        t, followed, *_ = calls[-1][0]
        show({**label, "seconds": [took for (_, _, took, _), _ in calls], "whole_seconds": min(whole for _, whole in calls),
              "t": t.tolist(), "followed": followed.tolist()})  # fmt: skip


if __name__ == "__main__":
    main()
