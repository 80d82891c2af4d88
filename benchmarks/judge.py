"""What the judge costs: motions and equilibria with it, and the same calls without. One thread.

    python benchmarks/judge.py [--repeat 15]

`run.quality` and the warnings of motions come from one function, the balance, stability and resolution of equilibria from a
few; without the judge these are replaced by functions that find nothing wrong. Both calls take turns, one right after the
other, and the median of the ratios of all rounds counts: a busy machine slows down both. A motion whose steps look too long
is computed once more with shorter ones before the judge says a word, which costs more than the motion itself: those are marked.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import contextlib
import itertools
import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from measure import parser_of, timed

import anguilla as ag
from anguilla.solve.statics import finding, statics
from anguilla.solve.steps import dynamics, trust

SOFT = ag.Material(young=4e5, poisson=0.5, density=1070, damping=0.03)
FILES = Path(__file__).parents[1] / "examples" / "robots"
Ask = Callable[[], Any]
MOTION, EQUILIBRIUM = 10.0, 30.0  # [%] that the judge may cost
SECONDS = 1.0  # for which rounds of short calls go on


class Cost(NamedTuple):
    """Median time [s] of a call without the judge, and that with it by the median of the ratios."""

    without: float
    judged: float
    again: bool  # whether the motion was computed once more with shorter steps

    @property
    def share(self) -> float:
        """What the judge costs [% of the rest]."""
        return 100.0 * (self.judged / self.without - 1.0)


@contextlib.contextmanager
def without_judge() -> Iterator[None]:
    """Nobody judges motions and equilibria."""
    fine = {
        "balanced": lambda *_: True,
        "contradiction": lambda *_: "",
        "restlessness": lambda *_: "",
        "doubtful": lambda *_: np.zeros(1),
    }
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(dynamics, "judge", lambda *_, **__: (None, "")))
        for name, nothing in fine.items():
            for module in (statics, finding):
                if hasattr(module, name):
                    stack.enter_context(mock.patch.object(module, name, nothing))
        yield


def cost(ask: Ask, rounds: int) -> Cost:
    """What a call costs with the judge and without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)  # wrong ones are in the table too
        with mock.patch.object(trust, "finer", side_effect=trust.finer) as again:
            ask()
        pairs, until = [], time.perf_counter() + SECONDS
        while len(pairs) < rounds or time.perf_counter() < until:
            with without_judge():
                plain = timed(ask)[1]
            pairs.append((plain, timed(ask)[1] / plain))
    plain = statistics.median(plain for plain, _ in pairs)
    return Cost(plain, plain * statistics.median(ratio for _, ratio in pairs), again.called)


# Robots ---------------------------------------------------------------------------------------------------------------


def arm(name: str, modes: int = 4, **given: Any) -> tuple[ag.Robot, ag.RodHandle]:
    """A soft arm, 40 cm long, 24 mm thick."""
    robot = ag.Robot(name, **given)
    rod = ag.Rod(length=0.4, section=ag.Circle(radius=0.012), material=SOFT, strains=ag.kirchhoff(modes=modes))
    return robot, robot.add(rod, at=robot.ground)


def readme() -> ag.Robot:
    """The example of the README."""
    robot, rod = arm("arm")
    robot.load(ag.TipWrench(rod, force=lambda t: (0, 0.3, 0.6) if t < 0.5 else (0, 0, 0)))
    return robot


def pulled(by: str = "tension") -> ag.Robot:
    """An arm with three tendons, the first of them driven as told."""
    robot, rod = arm("pulled", 3)
    for k in range(3):
        angle = 2.0 * math.pi * k / 3.0
        path = ag.parallel(y=0.01 * math.cos(angle), z=0.01 * math.sin(angle))
        robot.actuate(f"line{k}", ag.Tendon(rod, path, by=by if k == 0 else "tension"))
    return robot


def flat() -> ag.Robot:
    """An arm that bends in a plane."""
    robot = ag.Robot("flat", gravity=(0, -9.81, 0))
    robot.add(ag.Rod(0.4, ag.Circle(0.012), SOFT, ag.planar(modes=4)), at=robot.ground)
    return robot


def fingers() -> ag.Robot:
    """A palm in free flight with two soft fingers and a heavy body on a ball joint."""
    robot = ag.Robot("fingers", gravity=(0, 0, 0))
    palm = robot.add(ag.RigidBody.box((0.1, 0.1, 0.05), mass=0.5), at=robot.ground, joint=ag.Free())
    for side in (-0.05, 0.05):
        rod = ag.Rod(0.2, ag.Circle(0.01), SOFT, ag.kirchhoff(modes=2))
        robot.add(rod, at=palm.at((0.0, side, 0.0)))
    robot.add(ag.RigidBody.sphere(0.04, mass=0.2), at=palm.at((0.0, 0.0, 0.1)), joint=ag.Spherical())
    return robot


def bodies() -> ag.Robot:
    """A chain of four rigid bars on hinges."""
    robot = ag.Robot("bodies")
    frame = robot.ground
    for k in range(4):
        bar = ag.RigidBody.box((0.2, 0.02, 0.03), mass=0.3, com=(0.1, 0.0, 0.0))
        body = robot.add(bar, at=frame, joint=ag.Revolute((0, 1, 0) if k % 2 else (0, 0, 1), damping=1e-4))
        frame = body.at((0.2, 0.0, 0.0))
    return robot


def bridge() -> ag.Robot:
    """Two soft legs that carry a plate between them: a loop."""
    robot = ag.Robot("bridge")
    rod = ag.Rod(0.3, ag.Circle(0.01), SOFT, ag.kirchhoff(modes=3))
    first = robot.add(rod, at=robot.ground)
    plate = robot.add(ag.RigidBody.box((0.1, 0.05, 0.01), mass=0.05), at=first.tip)
    second = robot.add(rod, at=robot.ground.offset_by((0.0, 0.1, 0.0)))
    robot.close(plate.at((0.0, 0.1, 0.0)), second.tip, joint=ag.Spherical())
    return robot


def ball() -> ag.Robot:
    """A ball that falls on the ground."""
    robot = ag.Robot("ball")
    body = robot.add(ag.RigidBody.sphere(0.05, mass=0.1), at=robot.ground.offset_by((0, 0, 0.15)), joint=ag.Free())
    robot.load(ag.Contact(body, ag.HalfSpace(), stiffness=2e3, damping=1.0, friction=0.3))
    return robot


def from_file(name: str) -> ag.Robot:
    """A robot of the examples."""
    return ag.read_robot(FILES / f"{name}.yaml")


def moments(count: int) -> ag.Robot:
    """Some soft rods in series under a moment in space, which has no potential."""
    robot = ag.Robot("moments")
    frame = robot.ground
    for _ in range(count):
        frame = robot.add(ag.Rod(0.15, ag.Circle(0.012), SOFT, ag.kirchhoff(modes=3)), at=frame).tip
    robot.load(ag.Wrench(frame, moment=(0.015 / count, 0.03 / count, 0.06 / count)))
    return robot


def follower() -> ag.Robot:
    """An arm under a force that turns with its tip."""
    robot, rod = arm("follower")
    robot.load(ag.Wrench(rod.tip, force=(0.0, 0.2, 0.1), follower=True))
    return robot


# Questions ------------------------------------------------------------------------------------------------------------


def motions() -> dict[str, Ask]:
    """Motions by name, from the shortest kind to the longest."""

    def move(robot: ag.Robot, duration: float, dt: float, **given: Any) -> Ask:
        return lambda: ag.simulate(robot, duration=duration, dt=dt, progress=False, **given)

    bar, swing = bodies(), {"line0": lambda t: 2.0 * math.sin(6.0 * t) ** 2}
    spin = np.zeros(fingers().size), np.concatenate([[1.0, 2.0, 3.0], np.zeros(fingers().size - 3)])
    arm_of_readme = readme()
    return {
        "arm, README": move(arm_of_readme, 2.0, 0.01, start=ag.statics(arm_of_readme)),
        "arm falls, 50 steps": move(arm("falls")[0], 0.25, 0.005),
        "arm falls, 200 steps": move(arm("falls")[0], 1.0, 0.005),
        "flat arm": move(flat(), 0.5, 0.005),
        "tendon arm": move(pulled(), 1.0, 0.005, inputs=swing),
        "tendon by length": move(pulled("length"), 0.5, 0.005, inputs={"line0": lambda t: 0.4 - 0.02 * t}),
        "loop": move(bridge(), 0.3, 0.002),
        "swimmer": move(from_file("swimmer"), 1.0, 0.02),
        "swimmer, 4 s": move(from_file("swimmer"), 4.0, 0.02),
        "snake on the ground": move(from_file("snake_on_the_ground"), 2.0, 0.01),
        "ball on the ground": move(ball(), 0.3, 0.001),
        "free bodies": move(fingers(), 0.3, 0.003, start=spin),
        "chain of bars": move(bar, 0.5, 0.0025),
        "octopus arm": move(from_file("octopus_arm"), 0.5, 0.005),
    }


def equilibria() -> dict[str, Ask]:
    """Equilibria by name."""
    robots = {
        "arm, README": readme(),
        "tendon arm": pulled(),
        "loop": bridge(),
        "flat arm": flat(),
        "moment in space, 3 rods": moments(3),
        "moment in space, 8 rods": moments(8),
        "follower force": follower(),
        "octopus arm": from_file("octopus_arm"),
    }
    instants = itertools.cycle((0.4, 0.41))  # what was found out of the same question before is not used again

    def rest(robot: ag.Robot) -> Ask:
        return lambda: ag.statics(robot, inputs=_inputs(robot), t=next(instants))

    return {name: rest(robot) for name, robot in robots.items()}


def _inputs(robot: ag.Robot) -> dict[str, float]:
    return {name: 2.0 if k == 0 else 0.0 for k, name in enumerate(robot.actuators)}


def table(costs: dict[str, Cost], limit: float) -> list[str]:
    """Lines of a table in Markdown, and what all of them take together."""
    lines = ["| | without [ms] | judge [ms] | share |", "|---|---|---|---|"]
    for name, one in costs.items():
        words = ", again with shorter steps" if one.again else "" if one.share < limit else ", too much"
        extra = 1e3 * (one.judged - one.without)
        lines.append(f"| {name} | {1e3 * one.without:.2f} | {extra:.3f} | {one.share:.1f} %{words} |")
    return lines


def main() -> None:
    """Print both tables."""
    options = parser_of(__doc__, repeat=15).parse_args()
    for title, asked, limit in (("motion", motions(), MOTION), ("equilibrium", equilibria(), EQUILIBRIUM)):
        print(f"\n{title}: the judge may cost {limit:g} %\n")
        print("\n".join(table({name: cost(ask, options.repeat) for name, ask in asked.items()}, limit)), flush=True)


if __name__ == "__main__":
    main()
