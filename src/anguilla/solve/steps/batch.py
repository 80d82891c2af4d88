"""Many motions of one robot, on all cores: kernels hold no interpreter lock, so threads run them side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public, refuse_unknown
from anguilla.describe import Robot
from anguilla.describe.volumes import solvers_of
from anguilla.errors import DescriptionError, as_count, refuse
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, Model
from anguilla.results.states import Trajectory
from anguilla.solve.newton.progress import progress_bar, stopped_by
from anguilla.solve.steps.dynamics import simulate, simulate_model
from anguilla.solve.steps.motion import Start

__all__ = ["simulate_batch"]


@public
def simulate_batch(
    robot: Robot | Model | Callable[[Any], Robot], *, duration: float, dt: float,
    inputs: Sequence[Inputs | None] | None = None,
    starts: Sequence[Start] | None = None, parameters: Sequence[Any] | None = None, count: int | None = None,
    threads: int | None = None, progress: bool | None = None, **options: Any,
) -> list[Trajectory]:  # fmt: skip
    """Simulate many copies of a robot with different inputs, starts or parameters.

    Args:
        robot: the robot, or its model; with `parameters`, a function of one of them returning a robot.
        duration: simulated time [s].
        dt: time step [s].
        inputs: inputs of each copy, as in `simulate`.
        starts: start of each copy, as in `simulate`.
        parameters: one for each copy.
        count: number of copies, if none of the lists above says it.
        threads: how many run at once; all cores by default.
        progress: show a progress bar; by default when the run takes long, on a terminal or in a notebook.
        options: further keywords of `simulate`, the same for all.

    Returns:
        One Trajectory for each copy, in order. A copy that fails has `status.success` False, the others go on. Ctrl-C ends
        all of them within a fraction of a second.

    """
    refuse_unknown("simulate_batch", options, simulate)
    lists = {"inputs": inputs, "starts": starts, "parameters": parameters}
    for name, given in lists.items():
        if given is not None and (isinstance(given, (str, Mapping)) or not hasattr(given, "__len__")):
            raise refuse(f"simulate_batch {name}", "a list with one entry for each copy", given)
    sizes = {name: len(given) for name, given in lists.items() if given is not None}
    if count is not None:
        sizes["count"] = as_count(count, "count")
    if not sizes or len(set(sizes.values())) != 1:
        told = ", ".join(f"{name} has {size}" for name, size in sizes.items()) or "nothing says it"
        raise DescriptionError(f"simulate_batch needs one number of copies; {told}.")
    size = next(iter(sizes.values()))
    if not size:
        raise DescriptionError(f"simulate_batch {next(iter(sizes))} must have one entry for each copy; it is empty.")
    compiled: Model | None = None
    volumes = solvers_of(robot) if parameters is None else None
    own = threading.local()  # the model of a robot with volumes serves one thread at a time
    if parameters is None:
        compiled = None if volumes is not None else model_of(robot)  # type: ignore[arg-type]
    elif not callable(robot):
        raise DescriptionError("with parameters, robot must be a function of one of them that returns a Robot.")
    workers = os.cpu_count() or 1 if threads is None else as_count(threads, "threads")

    def one(k: int) -> Trajectory:
        given: dict[str, Any] = {"raise_on_failure": False, "progress": False, **options}
        if inputs is not None:
            given["inputs"] = inputs[k]
        if starts is not None:
            given["start"] = starts[k]
        system, other = compiled, None
        if parameters is not None and callable(robot):
            made = robot(parameters[k])
            other, system = (made, None) if solvers_of(made) is not None else (None, model_of(made))
        elif volumes is not None:
            if not hasattr(own, "model"):
                own.model = volumes.Model(getattr(robot, "source", robot))
            other = own.model
        if other is not None:
            with stopped_by(stop):
                return simulate(other, duration=duration, dt=dt, **given)
        assert system is not None
        with stopped_by(stop):
            return simulate_model(system, duration=duration, dt=dt, **given)

    stop = threading.Event()
    results: list[Trajectory] = []
    with progress_bar("simulating a batch", size, progress) as tick, ThreadPoolExecutor(workers) as pool:
        try:
            for result in pool.map(one, range(size)):
                results.append(result)
                tick(len(results))
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results


def stack(results: Sequence[Trajectory], read: Callable[[Trajectory], ArrayLike]) -> np.ndarray:
    """One array of something read from every motion of a batch, such as ``lambda run: run.position(tip)``."""
    return np.array([read(result) for result in results])
