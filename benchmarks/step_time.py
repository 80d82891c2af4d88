"""Time of one time step of Anguilla, of its parts, and how they grow with the robot. One thread.

    python benchmarks/step_time.py
    python benchmarks/step_time.py --profile    # where the time of motions goes, and the least that it could be

A step is predict, then three Newton iterations of residual, exact tangent, factorisation and solve, called from Python
once per step. `run` with tolerance 0 never accepts: it does three iterations from each of its two predictions and leaves
the state unchanged, so that every call repeats the same work. The step is the cost of an empty call, which does no step,
plus three sixths of the rest. Residual and tangent alone are timed inside a compiled loop, without the cost of a call.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import flying
import numba
import numpy as np
import settings
import tendon
from cases import CANTILEVERS
from measure import exponent, rounded, show

import anguilla as ag
from anguilla.compiler.distant import entry
from anguilla.model.evaluate import residual, tangent
from anguilla.solve.newton.linear import factorise
from anguilla.solve.newton.newton import FACTORISATIONS, HALVINGS, ITERATIONS, Goal, scratch
from anguilla.solve.steps.stepping import Span, State, run, runner, stored

DT = 0.002  # [s]
NEWTON = 3  # iterations of a step
ROBOTS = ((1, 3), (2, 5))  # rods, modes of each strain: 9 and 30 coordinates
MODES = (1, 2, 3, 4, 6, 8, 12, 16)
CHAIN = (1, 2, 4, 8, 16, 32, 64)
INTERVALS = (5, 10, 20, 40, 80)  # of one rod
BATCH = (8, 16, 32, 64, 128)  # arms


@dataclass(frozen=True, slots=True)
class Timing:
    """Best times [microseconds] of one robot."""

    rods: int
    coordinates: int
    intervals: int  # of each rod
    step: float | None  # from Python, with the call
    call: float | None  # of which the call
    residual: float
    tangent: float
    solve: float  # dense factorisation of the tangent


def chain(rods: int, modes: int, intervals: int) -> ag.Model:
    """Equal rods end to end, each with `modes` of twist and of the two bendings."""
    robot = ag.Robot()
    material = ag.Material(young=4e5, poisson=0.5, density=1070)
    frame = robot.ground
    for _ in range(rods):
        rod = ag.Rod(0.2, ag.Circle(0.005), material, ag.kirchhoff(modes), intervals=intervals)
        frame = robot.add(rod, at=frame).tip
    return ag.Model(robot, linear="dense")


def state(system: ag.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A bent, moving state: coordinates, rates, and no accelerations yet."""
    random = np.random.default_rng(0)
    size = system.tree.scale * np.sqrt(system.size)
    return 0.3 * random.normal(size=system.size) / size, random.normal(size=system.size) / size, np.zeros(system.size)


@entry(residual)
def _residuals(count, tree, ws, loads, q, v, a, lam, out):
    for _ in range(count):
        residual(tree, ws, loads, q, v, a, lam, out)


@entry(tangent)
def _tangents(count, tree, ws, loads, lam, out):
    for _ in range(count):
        tangent(tree, ws, loads, 2.0 / DT, 4.0 / DT**2, lam, out)


@numba.njit
def _factorisations(count, matrix, work, pivot):
    for _ in range(count):
        work[:] = matrix
        factorise(work, pivot)


def best(work: Callable[[], object], seconds: float) -> float:
    """Shortest of many calls [s], over about `seconds`."""
    clock, shortest, end = time.perf_counter, np.inf, time.perf_counter() + seconds
    while clock() < end:
        began = clock()
        work()
        shortest = min(shortest, clock() - began)
    return float(shortest)


def step_time(system: ag.Model, seconds: float) -> tuple[float, float]:
    """Best times [s] of a step called from Python, and of an empty call."""
    q, v, a = state(system)
    loads, memory, out = system.loads(0.0), scratch(system), stored(1, system.size, 0)
    table, now = (loads.loads, loads.column, loads.table), State(q, v, a, np.zeros(system.size), np.zeros(0))
    scheme = tuple(ag.GeneralisedAlpha(0.9).coefficients)

    def call(steps: int, begin: bool = False):
        span, goal = tuple(Span(0.0, DT, 0, steps, 2)), tuple(Goal(0.0, 0.0, NEWTON, chord=False))
        return system.tree, system.workspace, memory, *table, scheme, span, begin, now, goal, out

    run(*call(0, begin=True))
    memory.counters[:] = 0
    run(*call(1))
    if memory.counters[FACTORISATIONS] != 2 * NEWTON or memory.counters[HALVINGS]:
        raise RuntimeError(f"the timed step did not do {2 * NEWTON} full iterations: {memory.counters}")
    iterations = int(memory.counters[ITERATIONS])
    one, none, step = call(1), call(0), runner(system)  # as motions call it
    work, empty = np.inf, np.inf
    for _ in range(5):  # interleaved, so that both see the same machine
        work = min(work, best(lambda: step(*one), seconds / 8))
        empty = min(empty, best(lambda: step(*none), seconds / 40))
    return empty + NEWTON * (work - empty) / iterations, empty


def measure(rods: int, modes: int, intervals: int = 10, *, seconds: float = 0.5, stepping: bool = True) -> Timing:
    """Best times of a chain of rods."""
    system = chain(rods, modes, intervals)
    q, v, a = state(system)
    loads, lam = system.loads(0.0).loads, np.zeros(0)
    out, matrix = np.zeros(system.size), np.zeros((system.size, system.size))
    robot = system.tree, system.workspace, loads
    _residuals(1, *robot, q, v, a, lam, out)
    _tangents(1, *robot, lam, matrix)
    count = max(1, 400 // system.size)
    r = best(lambda: _residuals(count, *robot, q, v, a, lam, out), seconds / 2) / count
    k = best(lambda: _tangents(count, *robot, lam, matrix), seconds / 2) / count
    work, pivot = np.zeros_like(matrix), np.zeros(system.size, np.int64)
    _factorisations(1, matrix, work, pivot)
    lu = best(lambda: _factorisations(count, matrix, work, pivot), seconds / 2) / count
    step, call = step_time(system, seconds) if stepping else (None, None)
    times = [None if value is None else rounded(1e6 * value) for value in (step, call, r, k, lu)]
    return Timing(rods, system.size, intervals, *times)


def report(*, seconds: float = 0.5) -> dict:
    """Timings of the two robots, of one rod with more and more modes and of longer and longer chains; exponents."""
    robots = [measure(*robot, seconds=2 * seconds) for robot in ROBOTS]
    modes = [measure(1, m, 2 * m + 4, seconds=seconds, stepping=False) for m in MODES]
    fixed = [measure(1, m, 20, seconds=seconds, stepping=False) for m in MODES]
    rods = [measure(n, 3, seconds=seconds, stepping=False) for n in CHAIN]
    cuts = [measure(1, 3, n, seconds=seconds, stepping=False) for n in INTERVALS]
    batch = batches()
    exponents = {"batch": {"time": rounded(exponent(list(BATCH), [row["seconds"] for row in batch]))}}
    for name, timings in (("modes", modes), ("modes, 20 intervals", fixed), ("rods", rods), ("intervals", cuts)):
        size = [float(t.intervals if name == "intervals" else t.coordinates) for t in timings]
        exponents[name] = {
            "residual": rounded(exponent(size, [t.residual for t in timings])),
            "tangent": rounded(exponent(size, [t.tangent for t in timings])),
            "residual, largest": rounded(exponent(size[-3:], [t.residual for t in timings[-3:]])),
            "tangent, largest": rounded(exponent(size[-3:], [t.tangent for t in timings[-3:]])),
        }
    groups = {"robots": robots, "modes": modes, "modes, 20 intervals": fixed, "rods": rods, "intervals": cuts}
    lists = {name: [asdict(timing) for timing in timings] for name, timings in groups.items()}
    return {**lists, "batch": batch, "profile": profiles(seconds), "exponents": exponents}


def batches() -> list[dict]:
    """Best times [s] of batches of the tendon arm on all cores."""
    robot, inputs, _ = tendon.arm(ag.Strains(twist=1, bend_y=2, bend_z=2, stretch=1), 3)
    found = []
    for arms in BATCH:
        several = [inputs] * arms
        seconds = best(
            lambda several=several: ag.simulate_batch(robot, duration=0.5, dt=0.005, inputs=several, progress=False),
            0.5,
        )
        found.append({"arms": arms, "seconds": rounded(seconds)})
    return found


def profiles(seconds: float) -> list[dict]:
    """Shares of residual, tangent, factorisation and the rest in the time of some motions at their quoted settings."""
    case = CANTILEVERS["soft"]
    robots, beam = settings.robots, flying.QUOTED
    found = []
    for name in ("soft", "stiff200", "stiff"):
        case, setting = CANTILEVERS[name], settings.SETTINGS[name]
        free, held = robots(case, setting)
        start = ag.statics(held)
        found.append(profile(name, lambda c=case, s=setting, f=free, q=start: settings.swing(c, s, f, q), seconds))
    found.append(profile("flying", lambda: flying.fly(beam)[0], seconds))
    arm, inputs, _ = tendon.arm(ag.Strains(twist=1, bend_y=2, bend_z=2, stretch=1), 3)
    options = {"duration": 1.0, "dt": 0.02, "inputs": inputs, "method": ag.GeneralisedAlpha(0.9), "tolerance": 1e-6}
    found.append(profile("tendon arm", lambda: ag.simulate(arm, **options), seconds))
    return found


def profile(name: str, move: Callable[[], ag.Trajectory], seconds: float) -> dict:
    """The shares of one motion: its counters times what each part takes alone.

    Its floor [us] is the time of one residual for each step, and of nothing else: no implicit scheme takes less.
    """
    runs = [move() for _ in range(15)]
    whole = best(move, seconds)
    run, motion = runs[0], min(run.status.seconds for run in runs)
    system, counters = run.system, run.status.counters
    n = system.size
    q, v, a, lam = run.q[len(run.q) // 2].copy(), np.zeros(n), np.zeros(n), np.zeros(0)
    out, matrix, loads = np.zeros(n), np.zeros((n, n)), system.loads(0.0).at(0)
    work, pivot, count = np.zeros((n, n)), np.zeros(n, np.int64), 20
    _residuals(1, system.tree, system.workspace, loads, q, v, a, lam, out)
    _tangents(1, system.tree, system.workspace, loads, lam, matrix)
    _factorisations(1, matrix, work, pivot)
    r = best(lambda: _residuals(count, system.tree, system.workspace, loads, q, v, a, lam, out), seconds) / count
    k = best(lambda: _tangents(count, system.tree, system.workspace, loads, lam, matrix), seconds) / count
    lu = best(lambda: _factorisations(count, matrix, work, pivot), seconds) / count
    steps, residuals, factored = counters["steps"], counters["iterations"], counters["factorisations"]
    parts = {"residual": residuals * r / motion, "tangent": factored * k / motion, "solve": factored * lu / motion}
    return {
        "name": name, "steps": steps, "iterations": residuals / steps, "factorisations": factored / steps,
        "step": rounded(1e6 * motion / steps), **{key: rounded(share) for key, share in parts.items()},
        "rest": rounded(1.0 - sum(parts.values())), "description": rounded(1e3 * (whole - motion)),
        "floor": rounded(1e6 * steps * r),
    }  # fmt: skip


def told(row: dict) -> str:
    """A line on where the time of one motion goes, and on what is the least."""
    shares = ", ".join(f"{name} {100 * row[name]:.0f} %" for name in ("residual", "tangent", "solve", "rest"))
    loop = row["steps"] * row["step"]
    return (
        f"{row['name']}: {row['steps']} steps of {row['step']:.3g} us, {row['iterations']:.2f} residuals and "
        f"{row['factorisations']:.2f} tangents each; {shares}; floor (one residual for each step, nothing else) "
        f"{row['floor']:.3g} us, {loop / row['floor']:.1f} times less than the loop of {loop:.4g} us"
    )


def three(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(result: dict) -> list[str]:
    """Markdown: the timings of every robot, one row each."""
    lines = [
        "| robot | coordinates | step of 3 iterations [us] | of which the call [us] | residual [us] | tangent [us] | LU [us] |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    groups = (("robots", ""), ("modes", ", more modes"), ("rods", ", chain"))
    for group, remark in groups:
        for t in result[group]:
            rods = "1 rod" if t["rods"] == 1 else f"{t['rods']} rods"
            step, call = (("" if t[key] is None else f"{t[key]:.1f}") for key in ("step", "call"))
            lines.append(
                f"| {rods}, {t['intervals']} intervals each{remark} | {t['coordinates']} | {step} | {call} "
                f"| {three(t['residual'])} | {three(t['tangent'])} | {three(t['solve'])} |"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="spent on each time")
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of a table")
    parser.add_argument(
        "--profile", action="store_true", help="only where the time of some motions goes, and its floor"
    )
    arguments = parser.parse_args()
    if arguments.profile:
        print("\n".join(map(told, profiles(arguments.seconds))))
        return
    result = report(seconds=arguments.seconds)
    if arguments.json:
        show(result)
        return
    print("\n".join(table(result)))
    for name, powers in result["exponents"].items():
        print(f"growth with {name}: " + ", ".join(f"{what} ~ n^{power:.2f}" for what, power in powers.items()))


if __name__ == "__main__":
    main()
