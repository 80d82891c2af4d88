"""Throughput of `simulate_batch` on all cores against single runs of the same arm, in robot-steps per second.

    python benchmarks/batch.py                       # 256 tendon arms, 400 steps each
    python benchmarks/batch.py --arms 64 --steps 100
    python benchmarks/batch.py --growth --peer PYTHON   # 2 to 4,096 copies, memory, beside MuJoCo run by that Python

Four ways in turns, several times over: one `simulate` after the other; one long motion, in which nothing but the time loop
counts; the batch, with its judge and results; copies by `BatchStepper`, as environments for learning step them. Each is timed by the clock on the wall and by the processor: on a
machine that others use, compare the processor times. The goal is 0.8 x cores x the long motion.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import subprocess
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from measure import exponent, rounded, show
from tendon import arm

import anguilla as ag

DT = 0.005  # [s]


def robot_and_inputs(arms: int) -> tuple[ag.Robot, list[dict[str, float]]]:
    """The tendon arm with twelve coordinates, and tensions drawn for every copy [N]."""
    low, high = ag.Legendre(1), ag.Legendre(2)
    robot, inputs, _ = arm(ag.Strains(twist=low, bend_y=high, bend_z=high, stretch=low), 3)
    random = np.random.default_rng(0)
    return robot, [{name: 5.0 * random.random() for name in inputs} for _ in range(arms)]


def timed(work: Callable[[], object], steps: int) -> dict[str, float]:
    """Robot-steps per second by the wall clock and by the processor, and how many cores were at work."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return {"wall": steps / wall, "processor": steps / processor, "cores": processor / wall}


def report(arms: int = 256, steps: int = 400, repeat: int = 7, threads: int | None = None) -> dict:
    """Best and median throughputs of the three ways, and their ratios."""
    robot, inputs = robot_and_inputs(arms)
    duration, cores = steps * DT, os.cpu_count() or 1 if threads is None else threads
    few = max(1, min(arms, 16))
    ways = {
        "single runs": (lambda: [ag.simulate(robot, duration=duration, dt=DT, inputs=x) for x in inputs[:few]], few),
        "long run": (lambda: ag.simulate(robot, duration=few * duration, dt=DT, inputs=inputs[0]), few),
        "batch": (
            lambda: ag.simulate_batch(robot, duration=duration, dt=DT, inputs=inputs, threads=threads, progress=False),
            arms,
        ),
        "copies": (lambda: copies.step(tensions, steps), arms),
    }
    copies = ag.BatchStepper(robot, arms, dt=DT, threads=threads)
    tensions = np.array([[x[name] for name in copies.names] for x in inputs])
    for work, _ in ways.values():
        work()
    records: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(repeat):
        for name, (work, count) in ways.items():
            copies.reset()
            records[name].append(timed(work, count * steps))
    if copies.failed.any():
        raise SystemExit(f"{copies.failed.sum()} copies failed")
    summary = {
        name: {
            "best": rounded(max(r["wall"] for r in found)),
            "median": rounded(median(r["wall"] for r in found)),
            "processor, median": rounded(median(r["processor"] for r in found)),
            "cores, median": rounded(median(r["cores"] for r in found)),
        }
        for name, found in records.items()
    }
    ratios = {}
    for other in ("single runs", "long run"):
        ratios[other] = {
            which: rounded(summary["batch"][which] / (cores * summary[other][which])) for which in ("best", "median")
        }
        ratios[other]["processor"] = rounded(
            summary["batch"]["processor, median"] / summary[other]["processor, median"]
        )
    return {"arms": arms, "steps": steps, "cores": cores, "load": os.getloadavg()[0], **summary, "ratios": ratios}


SIZES = (2, 8, 32, 128, 512, 2048, 4096)
STEPS = 400  # of each copy, whatever their number: the first steps after a sudden pull take more work than later ones
WORK = 102_400  # robot-steps of each measurement, at least


def peer_rate(python: str, arms: int, repeat: int) -> dict:
    """Robot-steps per second of MuJoCo's rollout: best, median."""
    script = Path(__file__).resolve().parent / "peers" / "mujoco_batch.py"
    options = "--arms", str(arms), "--steps", str(STEPS), "--repeat", str(repeat * rounds(arms))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([python, script, *options], capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def grown(arms: int, repeat: int) -> tuple[list[float], int]:
    """Robot-steps per second of `BatchStepper` by the wall clock, and the bytes that its copies hold."""
    robot, inputs = robot_and_inputs(arms)
    ag.BatchStepper(robot, 1, dt=DT)  # what all copies share is not theirs
    tracemalloc.start()
    copies = ag.BatchStepper(robot, arms, dt=DT)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    tensions = np.array([[x[name] for name in copies.names] for x in inputs])
    copies.step(tensions, 1)
    rates = []
    for _ in range(repeat):
        seconds = 0.0
        for _ in range(rounds(arms)):
            copies.reset()
            began = time.perf_counter()
            copies.step(tensions, STEPS)
            seconds += time.perf_counter() - began
        rates.append(rounds(arms) * arms * STEPS / seconds)
    if copies.failed.any():
        raise SystemExit(f"{copies.failed.sum()} copies failed")
    return rates, held


def rounds(arms: int) -> int:
    """How often a measurement is repeated, so that it lasts long enough to be timed."""
    return max(1, WORK // (arms * STEPS))


def growth(python: str | None, sizes: tuple[int, ...], repeat: int) -> None:
    """Print robot-steps per second and memory over the number of copies; MuJoCo takes turns."""
    print(
        f"`BatchStepper` of the tendon arm (12 coordinates, {1e3 * DT:g} ms a step), {os.cpu_count()} threads, load {os.getloadavg()[0]:.2f};"
    )
    print(
        f"MuJoCo: its threaded rollout of an arm of four rigid links (12 coordinates, the same step). {STEPS} steps each. "
        "Ratios of medians.\n"
    )
    print("| copies | robot-steps/s, best | median | memory [kB a copy] | MuJoCo, best | median | Anguilla / MuJoCo |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    found = {}
    for arms in sizes:
        mine, theirs = [], []
        for _ in range(2):
            rates, held = grown(arms, repeat)
            mine += rates
            if python:
                theirs.append(peer_rate(python, arms, repeat))
        found[arms] = median(mine)
        cells = [f"{arms}", f"{max(mine):.0f}", f"{found[arms]:.0f}", f"{held / arms / 1e3:.1f}"]
        if theirs:
            other = median(each["median"] for each in theirs)
            cells += [f"{max(each['best'] for each in theirs):.0f}", f"{other:.0f}", f"{found[arms] / other:.2f}"]
        print("| " + " | ".join([*cells, *[""] * (7 - len(cells))]) + " |", flush=True)
    many = [arms for arms in sizes if arms >= 32]
    if len(many) > 1:
        print(
            f"\nTime grows with power {exponent(many, [arms / found[arms] for arms in many]):.2f} of the copies from {many[0]} on."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", type=int, default=256)
    parser.add_argument("--steps", type=int, default=400, help="time steps of each arm")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--threads", type=int, default=None, help="all cores if not given")
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of a table")
    parser.add_argument("--growth", action="store_true", help="2 to 4,096 copies, with their memory")
    parser.add_argument("--peer", help="with --growth: a Python that has MuJoCo")
    parser.add_argument("--quick", action="store_true", help="with --growth: up to 128 copies, once")
    given = parser.parse_args()
    if given.growth:
        return growth(given.peer, SIZES[:4] if given.quick else SIZES, 1 if given.quick else 3)
    result = report(given.arms, given.steps, given.repeat, given.threads)
    if given.json:
        show(result)
        return
    print(f"{result['arms']} arms, {result['steps']} steps each, {result['cores']} threads, load {result['load']:.2f}")
    print("robot-steps per second   best  median  by processor time  cores at work")
    for name in ("single runs", "long run", "batch", "copies"):
        r = result[name]
        print(
            f"{name:20} {r['best']:10.0f} {r['median']:8.0f} {r['processor, median']:12.0f} {r['cores, median']:12.2f}"
        )
    for name, r in result["ratios"].items():
        print(f"batch / (threads x {name}): best {r['best']:.2f}, median {r['median']:.2f}; "
              f"per processor second {r['processor']:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
