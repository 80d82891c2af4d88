"""Anguilla as a solver of cosseratbench (`pip install cosseratbench`), a benchmark suite for ropes and rods.

    python validation/peers/cosserat.py                       # catenary, cantilever, pendulum, twist, crossing
    python validation/peers/cosserat.py catenary --elements 25 --vary span=0.95

prints the metrics of its experiments as JSON, one line each. With the entry point
`[project.entry-points."cosseratbench.solvers"] anguilla = "cosserat:AnguillaSolver"` of a package of one's own, its command line
and its viewer know the solver too.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from time import process_time

import numpy as np
from cosseratbench.experiments.cantilever import cantilever
from cosseratbench.experiments.capstan import capstan
from cosseratbench.experiments.catenary import catenary
from cosseratbench.experiments.crossing import crossing
from cosseratbench.experiments.pendulum import pendulum
from cosseratbench.experiments.pile import pile
from cosseratbench.experiments.twist import twist
from cosseratbench.scenario import Cylinder, End, EndCondition, Plane, Rod, Scenario
from cosseratbench.solver import Capability, Diverged
from cosseratbench.trajectory import Trajectory
from scipy.interpolate import CubicSpline

import anguilla as ag
from anguilla.lie import pose

EXPERIMENTS = {one.name: one for one in (catenary, cantilever, pendulum, twist, crossing, capstan, pile)}
USUAL = ("catenary", "cantilever", "pendulum", "twist", "crossing")
STEP = 0.01  # s, at most


class AnguillaSolver:
    """The adapter: rods of strain modes, implicit steps."""

    name = "anguilla"
    capabilities = frozenset(Capability)
    backend_version = "anguilla"

    def __init__(self, time_step_scale: float = 1.0) -> None:
        self.scale = time_step_scale

    def settings(self, scenario: Scenario, *, n_elements: int, n_frames: int) -> dict:
        """Numerical choices, for the records."""
        return {
            "step": self._step(scenario, n_frames),
            "modes": basis_of(scenario, n_elements).size,
            "intervals": n_elements,
        }

    def _step(self, scenario: Scenario, n_frames: int) -> float:
        frame = scenario.duration / (n_frames - 1)
        return frame / max(1, int(np.ceil(frame / (STEP * self.scale))))

    def run(self, scenario: Scenario, *, n_elements: int, n_frames: int) -> Trajectory:
        """Simulate a scenario."""
        robot = ag.Robot("cosseratbench", gravity=scenario.gravity)
        parts, start = [], []
        for k, rod in enumerate(scenario.rods):
            part, q = add(robot, rod, scenario, n_elements, f"rod_{k}")
            parts.append(part)
            start.append(q)
        touch(robot, scenario, parts)
        step = self._step(scenario, n_frames)
        every = round(scenario.duration / (n_frames - 1) / step)
        method = ag.GeneralisedAlpha(0.5 if scenario.quasi_static else 0.99)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ag.AnguillaWarning)  # the benchmark has its own way to judge
                run = ag.simulate(
                    robot, duration=scenario.duration, dt=step, every=every, start=np.concatenate(start), method=method
                )
        except ag.SolverError as error:
            raise Diverged(str(error)) from error
        return trajectory(run, scenario, parts, n_elements)


def basis_of(scenario: Scenario, n_elements: int) -> ag.Basis:
    """Of each strain: hats on every second element where rods lie on obstacles and are kinked by them, else few polynomials."""
    if scenario.obstacles:
        return ag.PiecewisePolynomial(max(2, n_elements // 2))
    return ag.Legendre(int(np.clip(n_elements // 3, 4, 16)))


def frame_of(rod: Rod) -> np.ndarray:
    """Pose of the first section: x along the rod, y along its director."""
    points = np.asarray(rod.centerline, float)
    along = points[1] - points[0]
    along /= np.linalg.norm(along)
    side = np.asarray(rod.normal, float) - along * np.dot(rod.normal, along)
    side /= np.linalg.norm(side)
    return pose(np.column_stack([along, side, np.cross(along, side)]), points[0])


def strains_of(rod: Rod, basis: ag.Basis) -> np.ndarray:
    """Coordinates of bend_y, bend_z, stretch that give the centreline at the start, without twist."""
    points, X = np.asarray(rod.centerline, float), np.asarray(rod._arc())
    fine = np.linspace(0.0, X[-1], 801)
    if len(points) < 5:
        line = np.stack([np.interp(fine, X, points[:, k]) for k in range(3)], axis=1)
        slope = np.gradient(line, fine, axis=0)
    else:
        slope = CubicSpline(X, points, axis=0)(fine, 1)
    size = np.linalg.norm(slope, axis=1)
    along = slope / size[:, None]
    bent = np.gradient(along, fine, axis=0)
    side = frame_of(rod)[:3, 1]
    bends = np.empty((len(fine), 2))
    for k, t in enumerate(along):
        side = side - t * (side @ t)
        side /= np.linalg.norm(side)
        curl = np.cross(t, bent[k])
        bends[k] = curl @ side, curl @ np.cross(t, side)
    fitted = np.linalg.lstsq(basis(fine / fine[-1]), np.column_stack([bends, size - 1.0]), rcond=None)[0]
    return fitted.T.ravel()


def add(robot: ag.Robot, rod: Rod, scenario: Scenario, n_elements: int, name: str):
    """Put a rod into the robot; returns its handle and its coordinates at the start."""
    basis = basis_of(scenario, n_elements)
    material = ag.Material(
        young=rod.material.youngs_modulus, shear=rod.material.shear_modulus, density=rod.material.density
    )
    description = ag.Rod(
        rod.length,
        ag.Circle(rod.radius),
        material,
        ag.Strains(twist=basis, bend_y=basis, bend_z=basis, stretch=basis),
        intervals=max(n_elements, 2 * basis.size),
    )
    if rod.start is EndCondition.FREE and rod.end is not EndCondition.FREE:
        raise NotImplementedError("a rod that is held at its end only")
    driven = rod.start_motion is not None  # then a free rod whose root is held where it should be
    start = EndCondition.FREE if driven else rod.start
    joint, own = {
        EndCondition.FREE: (ag.Free(), 6),
        EndCondition.PINNED: (ag.Spherical(), 3),
        EndCondition.CLAMPED: (ag.Fixed(), 0),
    }[start]
    part = robot.add(description, at=robot.ground, pose=frame_of(rod), joint=joint, name=name)
    if driven:
        robot.close(robot.ground, part.root, pose=driving(rod.start_motion, frame_of(rod)))
    close(robot, rod, part)
    for load in rod.loads:
        robot.load(ag.Wrench(part.tip if load.at is End.END else part.root, force=load.force))
    if scenario.quasi_static:
        rate = 2.0 * scenario.slowest_frequency() * rod.material.density * rod.area
        for direction in np.eye(3):
            robot.load(ag.WorldSpring(part, 0.0, direction, damping=rate))
    return part, np.concatenate([np.zeros(own + basis.size), strains_of(rod, basis)])


def driving(motion, start: np.ndarray):
    """Pose of a driven end in time."""

    def held(t: float) -> np.ndarray:
        moved, turn = motion.pose(t)
        return pose(turn @ start[:3, :3], start[:3, 3] + moved)

    return held


def close(robot: ag.Robot, rod: Rod, part: ag.RodHandle) -> None:
    """Hold the end of a rod as it should be."""
    if rod.end is EndCondition.FREE:
        return
    points = np.asarray(rod.centerline, float)
    if rod.end is EndCondition.PINNED:
        robot.close(robot.ground, part.tip, joint=ag.Spherical(), pose=points[-1])
        return
    along = points[-1] - points[-2]
    along /= np.linalg.norm(along)
    side = rod.directors(400)[-1]
    side = side - along * (side @ along)
    side /= np.linalg.norm(side)
    turned = np.column_stack([along, side, np.cross(along, side)])
    motion = rod.end_motion
    if motion is None:
        robot.close(robot.ground, part.tip, pose=pose(turned, points[-1]))
        return

    joint = ag.Fixed() if motion.slides_along is None else ag.Prismatic(turned.T @ motion.axis)
    robot.close(robot.ground, part.tip, joint=joint, pose=driving(motion, pose(turned, points[-1])))


def touch(robot: ag.Robot, scenario: Scenario, parts: list[ag.RodHandle]) -> None:
    """Contacts of rods with obstacles, with each other and with themselves."""
    for rod, part in zip(scenario.rods, parts, strict=True):
        stiffness = rod.material.youngs_modulus
        damping = 0.1 * np.sqrt(stiffness * rod.material.density) * rod.radius
        for obstacle in scenario.obstacles:
            friction = max(obstacle.friction, rod.friction)
            if isinstance(obstacle, Cylinder):
                solid = ag.Pillar(obstacle.center, axis=obstacle.axis, radius=obstacle.radius)
            elif isinstance(obstacle, Plane):
                solid = ag.HalfSpace(obstacle.unit_normal, offset=float(obstacle.unit_normal @ obstacle.point))
            robot.load(ag.Contact(part, solid, stiffness, damping=damping, friction=friction))
        if scenario.self_contact and len(scenario.rods) == 1:
            robot.load(ag.SelfContact(part, friction=rod.friction, damping=damping))
    if len(parts) == 2:
        rub = max(rod.friction for rod in scenario.rods)
        robot.load(ag.Contact(parts[0], parts[1], friction=rub, damping=1.0))


def trajectory(run: ag.Trajectory, scenario: Scenario, parts, n_elements: int) -> Trajectory:
    """Nodes and directors in the form of the benchmark."""
    places, sides = [], []
    for rod, part in zip(scenario.rods, parts, strict=True):
        X = np.linspace(0.0, rod.length, n_elements + 1)
        places.append(np.stack([run.position(part.section(x)) for x in X], axis=1))
        sides.append(np.stack([run.pose(part.section(x))[:, :3, 1] for x in (X[1:] + X[:-1]) / 2], axis=1))
    return Trajectory(np.asarray(run.t), tuple(places), tuple(sides))


def measure(name: str, elements: int | None, changes: dict[str, float]) -> dict:
    """Metrics of an experiment, and the processor time of a second run."""
    experiment = EXPERIMENTS[name]
    scenario = experiment.scenario_for(**changes)
    solver, count = AnguillaSolver(), elements or experiment.n_elements
    began = process_time()
    found = solver.run(scenario, n_elements=count, n_frames=experiment.n_frames)
    seconds = process_time() - began
    metrics = {key: float(metric(scenario, found)) for key, metric in experiment.metrics.items()}
    return {"experiment": name, **changes, "elements": count, **metrics, "seconds": round(seconds, 3)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiments", nargs="*", choices=[*EXPERIMENTS, []], default=list(USUAL))
    parser.add_argument("--elements", type=int)
    parser.add_argument("--vary", nargs="*", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    changes = {name: float(value) for name, _, value in (text.partition("=") for text in arguments.vary)}
    for name in arguments.experiments:
        print(json.dumps(measure(name, arguments.elements, changes)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
