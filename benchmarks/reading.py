"""Time and memory of reading long motions, against those of simulating them. One thread, a process for each case.

    python benchmarks/reading.py

The cases: the internal wrench at one section of an eel that swims for 60 s; where the power goes in an arm with 18
tendons; 10,000 steps of it into a file, and 10,000 of a single rod, which are quickly simulated. Times are those of the processor, so that other work on the machine does not
count; kernels are compiled before, on a short motion. Memory is the largest that reading takes beyond what was there.
"""

import os

# Read when the numerical libraries start, hence before the imports.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import anguilla as ag

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))


def eel(part: float) -> tuple[ag.Trajectory, Callable[[], object]]:
    """The wrench in the middle of the eel of paper 001, over 60 s."""
    from paper001_eel import robot_of

    run = ag.simulate(robot_of("forward"), duration=60.0 * part, dt=0.01)
    body = run.robot.part("eel")
    return run, lambda: run.wrench(body, [0.5 * body.length])


def _sections(duration: float) -> ag.Trajectory:
    """A motion of an arm of six sections with three tendons each, in steps of 1 ms."""
    robot, frame, inputs = ag.Robot("arm"), None, {}
    rubber, rods = ag.Material(young=2e6, poisson=0.49, density=1000, damping=0.02), []
    for k in range(6):
        rod = ag.Rod(0.1, ag.Circle(0.008), rubber, ag.kirchhoff(2), intervals=4)
        rods.append(robot.add(rod, at=frame or robot.ground, name=f"section_{k + 1}"))
        frame = rods[-1].tip
        for j, angle in enumerate(np.radians([20 * k, 20 * k + 120, 20 * k + 240])):
            line = ag.parallel(y=0.015 * float(np.cos(angle)), z=0.015 * float(np.sin(angle)))
            robot.actuate(f"t{k}{j}", ag.Tendon(rods, line))
            inputs[f"t{k}{j}"] = _pull(0.2 + 0.05 * j, 1.0 + 0.3 * k)
    return ag.simulate(robot, duration=duration, dt=0.001, inputs=inputs)


def _pull(size: float, frequency: float) -> Callable[[float], float]:
    return lambda t: size * float(np.sin(frequency * t)) ** 2


def tendons(part: float) -> tuple[ag.Trajectory, Callable[[], object]]:
    """Where the power goes in the arm of six sections, over 2 s."""
    run = _sections(2.0 * part)
    return run, lambda: ag.powers(run)


def saving_sections(part: float) -> tuple[ag.Trajectory, Callable[[], object]]:
    """10,000 steps of the arm of six sections, saved with its frames, energies, lengths and inputs."""
    run, folder = _sections(10.0 * part), tempfile.mkdtemp()
    return run, lambda: run.save(Path(folder, "run.nc"))


def saving(part: float) -> tuple[ag.Trajectory, Callable[[], object]]:
    """10,000 steps of one rod with two tendons, of which each takes hardly longer than its numbers take to be written."""
    robot = ag.Robot("arm")
    soft = ag.Material(young=1e6, poisson=0.5, density=1100, damping=0.01)
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), soft, ag.kirchhoff(4), intervals=10), at=robot.ground, name="arm")
    for name, y in (("left", 0.008), ("right", -0.008)):
        robot.actuate(name, ag.Tendon(arm, ag.parallel(y=y)))
    run = ag.simulate(robot, duration=20.0 * part, dt=0.002, inputs={"left": _pull(0.5, 2.0), "right": 0.1})
    folder = tempfile.mkdtemp()
    return run, lambda: run.save(Path(folder, "run.nc"))


CASES = {
    "wrench of the eel": eel,
    "powers, 18 tendons": tendons,
    "save, 18 tendons": saving_sections,
    "save, one rod": saving,
}


def _memory(name: str) -> float:
    """VmRSS or VmHWM of this process [MB]."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name)) / 1024.0


def measure(case: str) -> dict[str, float]:
    """Seconds to simulate and to read, and the memory that reading takes [MB]."""
    CASES[case](0.02)[1]()  # compiles
    began = time.process_time()
    run, read = CASES[case](1.0)
    middle = time.process_time()
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark of the memory begins anew
    before = _memory("VmRSS")
    start = time.process_time()
    read()
    reading = time.process_time() - start
    return {
        "states": len(run.t), "simulate": middle - began, "read": reading, "memory": _memory("VmHWM") - before
    }  # fmt: skip


def main() -> None:
    """Measure all cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=CASES, help="this one only, as JSON")
    case = parser.parse_args().case
    if case:
        print(json.dumps(measure(case)))
        return
    print(f"{'case':22} {'states':>7} {'simulate':>9} {'read':>9} {'ratio':>7} {'memory':>9}")
    for name in CASES:
        done = subprocess.run([sys.executable, __file__, "--case", name], capture_output=True, text=True, check=True)
        m = json.loads(done.stdout.splitlines()[-1])
        times = f"{m['simulate']:7.2f} s {m['read']:7.2f} s {m['read'] / m['simulate']:7.2f}"
        print(f"{name:22} {m['states']:7} {times} {m['memory']:6.0f} MB")


if __name__ == "__main__":
    main()
