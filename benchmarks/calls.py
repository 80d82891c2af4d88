"""What a single call costs in a loop: an equilibrium from the last one, matrices, tensions, a point of inverse kinematics.

With a robot and, where there is one, with its model. Run it on two trees to compare them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

import anguilla as ag

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))


def small_arm() -> ag.Robot:
    """One rod with four tendons."""
    robot = ag.Robot("arm")
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.01)
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.kirchhoff(3)), at=robot.ground, name="arm")
    for k, (y, z) in enumerate(((0.007, 0.0), (0.0, 0.007), (-0.007, 0.0), (0.0, -0.007))):
        robot.actuate(f"t{k}", ag.Tendon(rod, ag.parallel(y=y, z=z)))
    return robot


def tutorial_arm() -> tuple[ag.Robot, ag.Frame]:
    """The arm of the tutorial: two sections, six tendons, a hand."""
    robot = ag.Robot("arm")
    silicone = ag.Material(young=3e6, poisson=0.49, density=1070, damping=0.02)
    arm = robot.add(ag.Rod(0.2, ag.Circle(0.01), silicone, ag.kirchhoff(3)), at=robot.ground, name="arm")
    for name, angle in (("top", 90), ("left", 210), ("right", 330)):
        line = ag.parallel(y=0.007 * np.cos(np.radians(angle)), z=0.007 * np.sin(np.radians(angle)))
        robot.actuate(name, ag.Tendon(arm, line))
    far = robot.add(ag.Rod(0.15, ag.Circle(0.008), silicone, ag.kirchhoff(3)), at=arm.tip, name="far")
    hand = robot.add(ag.RigidBody.sphere(0.012, mass=0.005), at=far.tip, joint=ag.Fixed(), name="hand")
    for k, angle in enumerate(np.radians([30, 150, 270])):
        line = ag.parallel(y=0.006 * np.cos(angle), z=0.006 * np.sin(angle))
        robot.actuate(f"far_{k + 1}", ag.Tendon([arm, far], line))
    return robot, hand.frame


def each(call: Callable[[int], object], count: int) -> float:
    """Seconds of one core per call: the least of five means."""
    call(0)
    times = []
    for part in range(5):
        began = process_time()
        for k in range(max(1, count // 5)):
            call(part * count // 5 + k)
        times.append((process_time() - began) / max(1, count // 5))
    return min(times)


def loop(what: object, pulls: Callable[[int], dict[str, float]]) -> Callable[[int], object]:
    """Equilibria with new inputs, each from the last one."""
    last = [ag.statics(what, inputs=pulls(0))]

    def call(k: int) -> None:
        last[0] = ag.statics(what, inputs=pulls(k), start=last[0])

    return call


def inverse() -> tuple[float, float]:
    """Seconds per point of a path there and back, the best of five (wall clock: BLAS spins beside), and the largest miss [m]."""
    robot, hand = tutorial_arm()
    model = ag.control.RodModel(robot, {"hand": hand}, efforts={name: (0, 20) for name in robot.actuators})
    solver = ag.control.InverseKinematics(model)
    path = np.linspace((0.28, -0.1, 0.0), (0.285, -0.09, 0.0), 21)
    solver.solve({"hand": path[0]})
    seconds, found = [], []
    for _ in range(5):
        began = perf_counter()
        found += solver.follow("hand", np.concatenate([path[1:], path[-2::-1]]))
        seconds.append(perf_counter() - began)
    return min(seconds) / 40, max(reach.distance for reach in found)


def report(count: int) -> dict[str, float]:
    """Milliseconds per call."""
    import three_section_arm

    out = {}
    arm = small_arm()
    big, _ = three_section_arm.build(payload=0.01, gravity=(9.81, 0.0, 0.0))
    goals = three_section_arm.GOALS
    cases = {
        "small arm": (arm, lambda k: {"t0": 1.0 + 0.5 * np.sin(0.01 * k), "t1": 0.5 + 0.5 * np.cos(0.013 * k)}),
        "three sections": (big, lambda k: three_section_arm.lengths((0.5 + 0.01 * np.sin(0.01 * k)) * goals)),
    }
    kinds = {"robot": lambda robot: robot} | ({"model": ag.Model} if hasattr(ag, "Model") else {})
    for name, (robot, pulls) in cases.items():
        held = ag.statics(robot, inputs=pulls(0))
        actuator = next(iter(robot.actuators))
        for kind, make in kinds.items():
            what = make(robot)
            out[f"statics, {name}, {kind}"] = 1e3 * each(loop(what, pulls), count)
            out[f"actuation_matrix, {name}, {kind}"] = 1e3 * each(
                lambda k, what=what, held=held: ag.actuation_matrix(what, held.q, inputs=held.inputs), count
            )
        stepper = ag.Stepper(robot, dt=0.002, inputs=pulls(0), start=held)
        stepper.step()
        out[f"Stepper.result().tension, {name}"] = 1e3 * each(
            lambda k, stepper=stepper, actuator=actuator: stepper.result().tension(actuator), count
        )
    seconds, miss = inverse()
    return out | {"point of inverse kinematics": 1e3 * seconds, "its largest miss [mm]": 1e3 * miss}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300, help="calls of each kind")
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of a table")
    given = parser.parse_args()
    found = report(given.count)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{value:10.4f} ms  {name}")


if __name__ == "__main__":
    main()
