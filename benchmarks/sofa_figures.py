"""Our times for the two sizes of meshes for which paper 002 publishes times of SOFA, on the same kind of robot.

The parallel robot is made anew from its outer size, 180 x 180 x 130 mm; its drawing is not published. Times are those of the
processor in this thread.
"""

import sys
import time
from pathlib import Path

import numpy as np

from anguilla import fem

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))


def step_time(body, dt=0.01, steps=60):
    """Best and median time [s] of one implicit step of a motion under a tension that swings."""
    stepper = fem.Stepper(body, dt=dt, inputs=dict.fromkeys(body.actuators, 0.1))
    stepper.step(5)
    times = []
    for k in range(steps):
        before = time.thread_time()
        stepper.step({"east": 0.1 + 0.05 * np.sin(0.2 * k)})
        times.append(time.thread_time() - before)
    return min(times), float(np.median(times))


def main():
    from fem_speed import build, measure

    rows = []
    for along, published in ((13, "1,000 nodes: 60 Hz"), (22, "1,628 nodes: projection alone 50 ms, 15 ms on a GPU")):
        inverse, (best, median) = measure(along, steps=100), step_time(build(along))
        rows.append((inverse.nodes, inverse.tetrahedra, published, inverse.best, inverse.median, best, median))
    return rows


if __name__ == "__main__":
    for nodes, tets, published, best, median, step, middle in main():
        print(f"{nodes} nodes, {tets} tetrahedra (SOFA, {published})")
        print(
            f"  inverse kinematics, one step: best {1e3 * best:.1f} ms, median {1e3 * median:.1f} ms, {1 / median:.0f} Hz"
        )
        print(
            f"  motion, one step:             best {1e3 * step:.1f} ms, median {1e3 * middle:.1f} ms, {1 / middle:.0f} Hz"
        )
