"""What a second process does to compile the kernels of equilibria and motions: it moves a small robot."""

from __future__ import annotations

from anguilla.describe import Circle, Material, Robot, Rod, planar
from anguilla.solve.steps.dynamics import simulate

__all__ = ["compile_all"]


def compile_all() -> None:
    """Compile the time loop and all that it calls, but for what other processes are compiling."""
    robot = Robot()
    robot.add(Rod(0.3, Circle(0.01), Material(young=1e6, density=1000.0), planar(1)), at=robot.ground)
    simulate(robot, duration=0.002, dt=0.001, progress=False)
