"""A motion as a function of arrays, with its vector-Jacobian product."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from anguilla.describe import Frame, Robot, RodHandle
from anguilla.errors import DescriptionError, as_array, as_positive, refuse
from anguilla.lie import dexp3
from anguilla.mechanics.tree import Floats
from anguilla.results.observe import S_X
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.solve.gradients.adjoint import gradient
from anguilla.solve.gradients.costs import Cost, Sampled, Terms, position_slope
from anguilla.solve.steps.dynamics import DEFAULT_METHOD, simulate
from anguilla.solve.steps.schemes import Scheme

__all__ = ["Motion", "Slopes"]

KEPT = 4  # motions remembered between a call and its product


class Slopes(NamedTuple):
    """Vector-Jacobian products: with respect to inputs (nt, inputs), q, v (n,) of the start, design (k,)."""

    inputs: Floats
    q: Floats
    v: Floats
    design: Floats


@dataclass(frozen=True)
class _Pulled(Cost):
    """Sum of by_q . q + by_v . v + by_x . x: by_q with respect to small changes of q; x the positions of frames."""

    by_q: Floats
    by_v: Floats
    by_x: Floats  # (nt, frames, 3)
    frames: tuple[Frame, ...]

    def terms(self, result: Trajectory | Equilibrium) -> Terms:
        """Value (up to a constant) and derivatives."""
        value, by_q = 0.0, self.by_q.copy()
        for k, frame in enumerate(self.frames):
            motion = result.motion([frame])[:, 0]
            value += float(np.sum(motion[:, S_X : S_X + 3] * self.by_x[:, k]))
            by_q += position_slope(result, frame, motion, np.ascontiguousarray(self.by_x[:, k]))
        return value, by_q, self.by_v

    def on(self, robot: Robot) -> Cost:
        """The same on another robot of the same parts."""
        return _Pulled(self.by_q, self.by_v, self.by_x, _moved(self.frames, robot))


def _moved(frames: Sequence[Frame], robot: Robot) -> tuple[Frame, ...]:
    return tuple(Frame(robot, frame.part_index, frame.place, frame.offset) for frame in frames)


class Motion:
    """The motion of a robot as a function of its inputs, its start and its design.

    Args:
        robot: the robot, or a function of design parameters (k,) that returns it.
        duration: simulated time [s].
        dt: time step [s].
        frames: frames whose positions are outputs; of any robot with the same parts.
        method: the integrator.
        tolerance: of Newton, as in `simulate`: it limits the accuracy of the derivatives.

    """

    def __init__(
        self, robot: Robot | Callable[[Floats], Robot], *, duration: float, dt: float, frames: Sequence[Frame] = (),
        method: Scheme | str = DEFAULT_METHOD, tolerance: float = 1e-10,
    ) -> None:  # fmt: skip
        if not isinstance(robot, Robot) and not callable(robot):
            raise refuse("robot", "a Robot, or a function of design parameters that returns one", robot)
        self.robot, self.frames, self.method, self.tolerance = robot, tuple(frames), method, tolerance
        self.duration, self.dt = as_positive(duration, "duration", "s"), as_positive(dt, "dt", "s")
        self.instants = round(self.duration / self.dt) + 1
        self._kept: OrderedDict[bytes, Trajectory] = OrderedDict()

    def sizes(self, design: ArrayLike | None = None) -> tuple[int, int]:
        """(coordinates, inputs)."""
        robot = self._made(design)
        return robot.size, len(robot.inputs)

    def _made(self, design: ArrayLike | None) -> Robot:
        if isinstance(self.robot, Robot):
            if design is not None and np.size(design):
                raise DescriptionError("design parameters need a function that makes the robot: Motion(make, ...).")
            return self.robot
        if design is None:
            raise DescriptionError("the robot of this Motion is a function of design parameters: give them.")
        return self.robot(np.array(design, dtype=np.float64))

    def run(self, inputs: ArrayLike, q: ArrayLike, v: ArrayLike, design: ArrayLike | None = None) -> Trajectory:
        """Simulate; the last few motions are remembered.

        Args:
            inputs: (nt, inputs) values at t = 0, dt, ...; straight lines in between.
            q: (n,) coordinates at the start.
            v: (n,) rates at the start.
            design: (k,) parameters, if the robot is a function of them.

        """
        listed = {"inputs": inputs, "q": q, "v": v, "design": np.zeros(0) if design is None else design}
        given = [np.ascontiguousarray(as_array(x, name, "finite numbers"), np.float64) for name, x in listed.items()]
        key = b"|".join(x.tobytes() for x in given)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        robot = self._made(design)
        names = list(robot.inputs)
        if given[0].shape != (self.instants, len(names)):
            raise DescriptionError(
                f"inputs must have the shape ({self.instants}, {len(names)}), instants and inputs; got {given[0].shape}."
            )
        sampled = {name: Sampled(given[0][:, k].copy(), self.dt) for k, name in enumerate(names)}
        run = simulate(
            robot, duration=self.duration, dt=self.dt, inputs=sampled, start=(given[1], given[2]), method=self.method,
            tolerance=self.tolerance, smooth_start=_is_open(robot), progress=False,
        )  # fmt: skip
        self._kept[key] = run
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return run

    def outputs(self, run: Trajectory) -> tuple[Floats, Floats, Floats]:
        """(q (nt, n), v (nt, n), positions (nt, frames, 3))."""
        frames = _moved(self.frames, run.robot)
        x = np.stack([run.position(frame) for frame in frames], axis=1) if frames else np.zeros((len(run.t), 0, 3))
        return run.q, run.v, x

    def pull(
        self, run: Trajectory, by_q: Floats, by_v: Floats, by_x: Floats, design: ArrayLike | None = None
    ) -> Slopes:
        """Vector-Jacobian product: by_q, by_v (nt, n) and by_x (nt, frames, 3) weigh the outputs."""
        tree = run.system.tree
        small = np.array(by_q, dtype=np.float64)
        for k in tree.ball[:, 0]:  # from rotation vectors to small rotations: dtheta = T dq
            for t in range(len(small)):
                turn = dexp3(run.q[t, k : k + 3], side="right")
                small[t, k : k + 3] = np.linalg.solve(turn.T, small[t, k : k + 3])
        frames = _moved(self.frames, run.robot)
        cost = _Pulled(small, np.array(by_v, dtype=np.float64), np.array(by_x, dtype=np.float64), frames)
        wanted = None if isinstance(self.robot, Robot) or design is None else (self.robot, design)
        found = gradient(run, cost, method=self.method, design=wanted)
        q = found.q.copy()
        for k in tree.ball[:, 0]:
            q[k : k + 3] = dexp3(run.q[0, k : k + 3], side="right").T @ q[k : k + 3]
        inputs = np.array([found.inputs[name] for name in run.robot.inputs]).reshape(-1, len(run.t)).T
        return Slopes(np.ascontiguousarray(inputs), q, found.v, found.design)


def _is_open(robot: Robot) -> bool:
    """Whether nothing constrains a robot: gradients go through an eased start then."""
    held = any(actuator.slack is not None for actuator in robot.actuators.values())
    moved = any(motion is not None for part in robot.parts for motion in part.joint.motions)
    shaped = any(isinstance(part, RodHandle) and part.rod.shape is not None for part in robot.parts)
    return not (robot.closures or robot.constraints or held or moved or shaped)
