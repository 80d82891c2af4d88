"""Inverse kinematics of the parallel soft robot of about 1,630 nodes, reduced: how fast, and how far from the whole body.

Times are those of the processor in this thread. The error is the distance of the effector of the whole body, under the efforts
that the reduced one found, from a target that moves on a circle of 2 mm.
"""

import sys
import time
from pathlib import Path

import numpy as np

from anguilla import control, fem

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))


def main(coordinates=20, tolerance=5e-3, steps=300, along=22):
    from fem_speed import build

    body = build(along)
    began = time.process_time()
    ranges = {name: (0.0, 0.3) for name in body.actuators}
    model = fem.reduce(body, inputs=ranges, samples=30, held_out=8, coordinates=coordinates, tolerance=tolerance)
    made = time.process_time() - began
    inverse = control.InverseKinematics(model, reuse=10)
    centre, times, off, start = model.positions()[0] + [0, 0, 0.01], [], 0.0, None
    for k in range(steps):
        goal = centre + 2e-3 * np.array([np.cos(0.1 * k), np.sin(0.1 * k), 0.0])
        before = time.thread_time()
        inverse.step({"top": goal})
        times.append(time.thread_time() - before)
        if k > 20 and k % 40 == 0:
            found = dict(zip(model.actuators, np.maximum(model.efforts, 0.0).tolist(), strict=True))
            start = fem.statics(model.system, inputs=found, start=start)
            off = max(off, float(np.linalg.norm(start.position("top") - goal)))
    return {
        "nodes": len(model.x0), "coordinates": len(model.q), "tetrahedra": len(model.elements), "made_s": made,
        "best_hz": 1.0 / min(times[5:]), "median_hz": 1.0 / float(np.median(times[5:])),
        "held_out_mm": 1e3 * model.quality.nodes, "motion_mm": 1e3 * model.quality.motion, "effector_off_mm": 1e3 * off,
    }  # fmt: skip


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{name:16s} {value:.4g}")
