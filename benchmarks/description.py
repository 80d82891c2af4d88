"""Time and memory from a description to the arrays that are computed with, and how they grow with the robot. One thread.

    python benchmarks/description.py
    python benchmarks/description.py --large     # 1,000 bodies and 200 rods: to their equilibrium, each in a process of its own

*Describe* is the Python of the user: `Robot.add`, `actuate`, `load` with all their checks. *Model* is `ag.Model(robot)`, best
of many. *Memory* is the most that is allocated at once on the way to the model, and *kept* what it holds. *Desk* is the
scratch memory of the first evaluation, on top: the columns of the dense tangent, which grow with the square of the depth.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import gc
import json
import resource
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import tendon
from measure import exponent, rounded, show, timed

import anguilla as ag
from anguilla.mechanics.tree import workspace

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import three_section_arm

RODS = (1, 2, 5, 10, 20, 50, 100, 200)  # of a chain
BODIES = (30, 100, 300, 1000)  # of a chain and of a tree with two children to each
TENDONS = (1, 3, 10, 30, 100)  # on three rods
GOALS = {"tendon arm": 2.0, "three_section_arm": 5.0}  # [ms]
MOST = 1.1  # power of the size with which time and memory may grow


@dataclass(frozen=True, slots=True)
class Cost:
    """What one robot takes: times [ms] and memory [MB]."""

    size: int
    describe: float
    model: float
    memory: float
    kept: float
    desk: float | None


def chain(rods: int) -> ag.Robot:
    """Equal rods end to end."""
    robot = ag.Robot()
    material = ag.Material(young=4e5, poisson=0.5, density=1070)
    frame = robot.ground
    for _ in range(rods):
        frame = robot.add(ag.Rod(0.2, ag.Circle(0.005), material, ag.kirchhoff(3)), at=frame).tip
    return robot


def bodies(count: int, children: int) -> ag.Robot:
    """Hinged bodies, so many on each."""
    robot = ag.Robot()
    made: list = []
    for k in range(count):
        at = made[(k - 1) // children].at((0.1, 0.0, 0.0)) if made else robot.ground
        made.append(robot.add(ag.RigidBody.sphere(0.03, mass=0.1), at=at, joint=ag.Revolute("y", damping=1e-3)))
    return robot


def tendons(count: int) -> ag.Robot:
    """Three rods with tendons through all of them, and a wrench at the place of each."""
    robot = chain(3)
    rods = [robot.part(name) for name in ("rod", "rod_2", "rod_3")]
    for k in range(count):
        robot.actuate(f"t{k}", ag.Tendon(rods, ag.helical(0.004, 0.5, phase=0.1 * k)))
        robot.load(ag.Wrench(rods[-1].tip, force=(0.0, 0.0, 1.0)))
    return robot


def cost(size: int, make: Callable[[], ag.Robot], *, seconds: float, desk: bool = True) -> Cost:
    """The cost of a robot: best times over about so many seconds each, then the memory of one more model."""
    robot, describe = timed(make)
    ag.Model(robot)
    first = timed(lambda: ag.Model(robot))[1]
    again = [timed(lambda: ag.Model(robot))[1] for _ in range(min(200, int(seconds / first)))]
    gc.collect()
    tracemalloc.start()
    model = ag.Model(robot)
    kept, most = tracemalloc.get_traced_memory()
    memory = workspace(model.tree) if desk else None
    scratch = tracemalloc.get_traced_memory()[0] - kept
    del memory
    tracemalloc.stop()
    digits = [rounded(1e3 * describe), rounded(1e3 * min([first, *again])), *(rounded(1e-6 * x) for x in (most, kept))]
    return Cost(size, *digits, rounded(1e-6 * scratch) if desk else None)


def pendulums(count: int) -> ag.Robot:
    """Pendulums of five bodies with a rod at the end of each."""
    robot, material = ag.Robot(), ag.Material(young=4e5, poisson=0.5, density=1070)
    for _ in range(count):
        at = robot.ground
        for _ in range(5):
            body = robot.add(ag.RigidBody.sphere(0.03, mass=0.1), at=at, joint=ag.Revolute("y", damping=1e-3))
            at = body.at((0.1, 0.0, 0.0))
        robot.add(ag.Rod(0.2, ag.Circle(0.005), material, ag.kirchhoff(3)), at=at)
    return robot


LARGE: dict[str, Callable[[], ag.Robot]] = {
    "chain of 1,000 bodies": lambda: bodies(1000, 1),
    "tree of 1,000 bodies": lambda: bodies(1000, 2),
    "chain of 200 rods": lambda: chain(200),
    "1,000 bodies and 200 rods": lambda: pendulums(200),
}


def settle(name: str) -> dict:
    """Model [s], equilibrium [s] (from level, held at one end) and memory of the process at most [MB] of a large robot."""
    robot = LARGE[name]()
    ag.Model(robot)  # fetches kernels
    model, seconds = timed(lambda: ag.Model(robot))
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ag.AnguillaWarning
        )  # nothing holds the last ball of a chain about its own centre
        eq, rest = timed(lambda: ag.statics(model))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "robot": name,
        "coordinates": model.size,
        "model": seconds,
        "statics": rest,
        "memory": most,
        "found": eq.status.message,
    }


def large() -> None:
    """Print what large robots take."""
    print("| robot | coordinates | model [s] | statics [s] | process, at most [MB] |\n|---|---:|---:|---:|---:|")
    for name in LARGE:
        text = f"import json, description; print(json.dumps(description.settle({name!r})))"
        done = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
        )
        row = json.loads(done.stdout.splitlines()[-1])
        print(
            f"| {name} | {row['coordinates']} | {row['model']:.2f} | {row['statics']:.2f} | {row['memory']:.0f} |",
            flush=True,
        )


def importing() -> float:
    """Best time [ms] of `import anguilla` in a new interpreter, without that of NumPy."""
    text = "import time, numpy; t = time.perf_counter(); import anguilla; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True) for _ in range(5)]
    return rounded(1e3 * min(float(run.stdout) for run in runs))


def report(seconds: float) -> dict:
    """All costs, the powers they grow with, and whether the goals are met."""
    arm = lambda: tendon.arm(ag.Strains(twist=1, bend_y=2, bend_z=2, stretch=1), 3)[0]
    three = lambda: three_section_arm.build(payload=0.01)[0]
    found: dict = {"import": importing()}
    found["robots"] = {
        "tendon arm": asdict(cost(2, arm, seconds=seconds)),
        "three_section_arm": asdict(cost(4, three, seconds=seconds)),
    }
    families: dict[str, tuple[tuple[int, ...], Callable[[int], ag.Robot]]] = {
        "chain of rods": (RODS, chain),
        "tree of bodies": (BODIES, lambda n: bodies(n, 2)),
        "chain of bodies": (BODIES, lambda n: bodies(n, 1)),
        "tendons and wrenches": (TENDONS, tendons),
    }
    found["families"], found["exponents"] = {}, {}
    for name, (sizes, make) in families.items():
        costs = [cost(n, lambda n=n, make=make: make(n), seconds=seconds, desk=n <= 300) for n in sizes]
        found["families"][name] = [asdict(each) for each in costs]
        found["exponents"][name] = {
            key: rounded(exponent(list(sizes), [getattr(each, key) for each in costs]))
            for key in ("model", "memory", "kept")
        } | {
            f"{key}, largest": rounded(exponent(list(sizes[-3:]), [getattr(each, key) for each in costs[-3:]]))
            for key in ("model", "memory", "kept")
        }
    slow = [name for name, goal in GOALS.items() if found["robots"][name]["model"] > goal]
    powers = found["exponents"]["chain of rods"]
    found["missed"] = slow + [f"chain of rods: {key}" for key in ("model", "memory") if powers[key] > MOST]
    return found


def table(found: dict) -> list[str]:
    """Markdown: one row for each robot."""
    lines = [
        f"`import anguilla`: {found['import']:.0f} ms.\n",
        "| robot | describe [ms] | model [ms] | memory [MB] | kept [MB] | desk [MB] |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    rows = list(found["robots"].items())
    rows += [(f"{name}, {each['size']}", each) for name, costs in found["families"].items() for each in costs]
    for name, each in rows:
        desk = "" if each["desk"] is None else f"{each['desk']:.3g}"
        numbers = " | ".join(f"{each[key]:.3g}" for key in ("describe", "model", "memory", "kept"))
        lines.append(f"| {name} | {numbers} | {desk} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="spent on each time")
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of a table")
    parser.add_argument("--large", action="store_true", help="large robots only, to their equilibrium")
    arguments = parser.parse_args()
    if arguments.large:
        large()
        return 0
    found = report(arguments.seconds)
    if arguments.json:
        show(found)
    else:
        print("\n".join(table(found)))
        for name, powers in found["exponents"].items():
            print(f"{name}: " + ", ".join(f"{key} {power:.2f}" for key, power in powers.items()))
        print("goals missed: " + (", ".join(found["missed"]) or "none"))
    return bool(found["missed"])


if __name__ == "__main__":
    sys.exit(main())
