"""Inverse kinematics of a silicone finger of 1,620 nodes on a tendon arm: how fast one step is, and how far from the target.

Times are those of the processor in this thread. Targets of the fingertip and of the tip of the arm move on circles; the error
is the distance of the fingertip from its target in the equilibrium of the whole robot under the efforts found.
"""

import time

import numpy as np

import anguilla as ag
from anguilla import control, fem
from anguilla.mixed import MixedRobotModel


def build(cells=(44, 5, 5)):
    """A tendon arm with a soft finger of three tendons at its tip."""
    robot = ag.Robot("arm")
    firm = ag.Material(young=5e7, poisson=0.3, density=1200.0)
    up = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    rod = ag.Rod(0.2, ag.Circle(radius=0.004), firm, strains=ag.kirchhoff(2))
    arm = robot.add(rod, at=robot.ground, pose=up, name="arm")
    silicone = ag.Material(young=3e5, poisson=0.4, density=1070.0)
    finger = ag.Volume(fem.block((0.1, 0.02, 0.02), cells), silicone, name="finger")
    for k in range(3):
        y, z = 0.01 * np.cos(2.0 * np.pi * k / 3.0), 0.01 * np.sin(2.0 * np.pi * k / 3.0)
        robot.actuate(f"t{k}", ag.Tendon(arm, ag.parallel(y=y, z=z)))
        finger.actuate(f"p{k}", fem.Tendon([(x, 0.8 * y, 0.8 * z) for x in np.linspace(0.0, 0.1, 11)]))
    finger.effector("tip", fem.Effector((0.098, 0.0, 0.0)))
    robot.add(finger, at=arm.tip, patch="base")
    return robot, arm


def main(steps=200, reuse=0):
    robot, arm = build()
    model = MixedRobotModel(robot, {"wrist": arm.tip, "tip": "finger.tip"})
    model.efforts[:] = [2.0, 2.0, 2.0, 0.2, 0.2, 0.2]
    model.relax()
    inverse = control.InverseKinematics(model, reuse=reuse)
    wrist, tip = (place.copy() for place in model.positions())
    times, found = [], []
    for k in range(steps):
        circle = np.array([np.cos(0.1 * k), np.sin(0.1 * k), 0.0])
        goals = {"wrist": wrist + 1e-3 * circle, "tip": tip + 3e-3 * circle}
        before = time.thread_time()
        inverse.step(goals)
        times.append(time.thread_time() - before)
        if k > 20 and k % 7 == 0:
            found.append((goals["tip"], model.inputs))
    off, start = 0.0, None
    for goal, inputs in found:  # afterwards: statics of the same robot would make the factors anew
        start = ag.statics(robot, inputs=inputs, start=start)
        off = max(off, float(np.linalg.norm(start.volume("finger").position("tip") - goal)))
    return {
        "nodes": len(model.model.halves[0].system.rest.x), "coordinates": model.carrier.size,
        "best_hz": 1.0 / min(times[5:]), "median_hz": 1.0 / float(np.median(times[5:])), "tip_off_mm": 1e3 * off,
    }  # fmt: skip


if __name__ == "__main__":
    for reuse in (0, 10):
        print(f"factors kept for {reuse} steps" if reuse else "factors made anew at each step")
        for name, value in main(reuse=reuse).items():
            print(f"  {name:12s} {value:.4g}")
