"""A viewer in the browser (viser): play a result, or drive a robot by sliders in real time.

It listens on this machine only unless told otherwise, and asks nothing of the network.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from anguilla._doors import public
from anguilla.describe import Robot
from anguilla.errors import as_positive, refuse
from anguilla.files import RobotFile, read_file
from anguilla.model.door import model_of
from anguilla.results.lines import cable_length
from anguilla.results.states import Equilibrium, Trajectory
from anguilla.results_io import load
from anguilla.solve.statics.statics import statics
from anguilla.solve.steps.stepper import Stepper
from anguilla.view.browser import is_interactive, open_page
from anguilla.view.driver import Driver
from anguilla.view.player import Player
from anguilla.view.scene import as_computed
from anguilla.view.shown import Shown
from anguilla.view.stage import suggested_limits

if TYPE_CHECKING:
    from anguilla.view.soft import SoftDriver, SoftShown

__all__ = ["Shown", "drive", "play", "show"]


@public
def show(
    what: Trajectory | Equilibrium | Robot | str | os.PathLike[str] | Any,
    *,
    wait: bool | None = None,
    browser: bool | None = None,
    **options: Any,
) -> Shown | SoftShown | SoftDriver:
    """Open the viewer; also ``anguilla.view(...)``.

    Args:
        what: a result to play, of rods or of a soft volume; a robot to drive by sliders, or a SoftBody, of which the
            equilibrium is found at each move; or a file of a result or a robot (.nc, .yaml).
        wait: whether to wait until the page is closed or Ctrl-C; by default in a script, which would end with its page,
            but not at a prompt or in a notebook.
        browser: whether to open the browser; by default when there is a screen.
        **options: of `play`, `drive`, `play_soft` or `drive_soft`, such as ``port``.

    Returns:
        The page.

    """
    if isinstance(what, (str, os.PathLike)):
        path = os.fspath(what)
        what = read_file(path) if path.lower().endswith((".yaml", ".yml", ".urdf")) else load(path)
    shown: Shown | SoftShown | SoftDriver
    if isinstance(what, RobotFile):
        own = {"dt", "host", "port"}
        shown = drive_file(what, **options) if set(options) <= own else drive(what.robot, **options)
    elif isinstance(what, Robot):
        shown = drive(what, **options)
    elif isinstance(what, (Trajectory, Equilibrium)):
        shown = play(what, **options)
    else:
        from anguilla.fem.body import SoftBody
        from anguilla.view.soft import drive_soft, play_soft
        from anguilla.view.volumes import is_soft

        if not is_soft(what):
            raise refuse("view", "a result, a robot, a soft body, or a file of one (.nc, .yaml)", what)
        shown = drive_soft(what, **options) if isinstance(what, SoftBody) else play_soft(what, **options)
    waits = not is_interactive() if wait is None else wait
    print(f"open {shown.address}" + ("   (stop with Ctrl-C)" if waits else ""))
    open_page(shown.address, browser)
    if waits:
        try:
            shown.wait()
        except KeyboardInterrupt:
            pass
        finally:
            shown.close()
    return shown


def play(result: Trajectory | Equilibrium, *, host: str = "127.0.0.1", port: int = 8080) -> Player:
    """Show a result in the browser, with a timeline.

    Args:
        result: a Trajectory or an Equilibrium.
        host: address to listen on; the default is this machine only.
        port: port to listen on; the next free one if it is taken.

    Returns:
        The page; it stays until `close`.

    """
    from anguilla.view.mixed import is_mixed

    if is_mixed(result):
        from anguilla.view.mixed_live import MixedPlayer

        return MixedPlayer(result, host, port)
    return Player(as_computed(result), host, port)


def drive(
    robot: Robot,
    *,
    dt: float = 0.01,
    inputs: Mapping[str, Any] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    start: Any = None,
    presets: Mapping[str, Mapping[str, float]] | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
) -> Driver:
    """Simulate a robot in real time in the browser; sliders drive its inputs.

    Args:
        robot: the robot.
        dt: time step [s].
        inputs: where the sliders begin: numbers, or functions of t [s] of which the value at 0 counts.
        limits: range of each slider, (lowest, highest); chosen from the stiffness of the rods if not given.
        start: an Equilibrium, coordinates q, or (q, v); the rest shape at rest if not given.
        presets: values of inputs to choose from, by name: {"curl": {"t1": 5.0}}.
        host: address to listen on; the default is this machine only.
        port: port to listen on; the next free one if it is taken.

    Returns:
        The page; it runs until `close`.

    """
    as_positive(dt, "dt", "s")
    begin = {name: float(value(0.0)) if callable(value) else float(value) for name, value in (inputs or {}).items()}
    ranges = suggested_limits(robot)
    if robot.volumes:
        from anguilla.view.mixed_live import MixedDriver, suggested_for_volumes

        ranges |= suggested_for_volumes(robot)
    for name, length in _lines_by_length(robot).items():  # a tendon whose input is a length begins at the one it has
        begin.setdefault(name, length)
        ranges[name] = (0.7 * length, 1.1 * length)
    for name, drive in robot.drives.items():  # as far as it goes; -1 to 1 where nobody says how far
        low, high = ranges.get(name, (-1.0, 1.0))
        ranges[name] = (drive.low if np.isfinite(drive.low) else low, drive.high if np.isfinite(drive.high) else high)
    ranges |= dict(limits or {})
    for name, values in (presets or {}).items():
        for one in values:
            if one not in robot.inputs:
                raise refuse(f"presets[{name!r}]", f"values of inputs, of {', '.join(robot.inputs) or 'none'}", one)
    kind = MixedDriver if robot.volumes else Driver
    return kind(Stepper(robot, dt=dt, inputs=begin, start=start), begin, ranges, host, port, presets)


def drive_file(file: RobotFile, *, dt: float | None = None, host: str = "127.0.0.1", port: int = 8080) -> Driver:
    """Drive the robot of a file, with its inputs, time step and start.

    Args:
        file: the file, as `anguilla.files.read_file` returns it.
        dt: time step [s]; that of the file if not given, or 0.01 s.
        host: address to listen on; the default is this machine only.
        port: port to listen on; the next free one if it is taken.

    Returns:
        The page; it runs until `close`.

    """
    begin, start = file.simulate.get("start", "rest"), None
    if begin != "rest":
        held = {name: value(0.0) if callable(value) else value for name, value in file.inputs.items()}
        start = statics(file.robot, inputs=held if begin == "held" else None)
    step = float(file.simulate.get("dt", 0.01)) if dt is None else dt
    return drive(file.robot, dt=step, inputs=file.inputs, start=start, host=host, port=port)


def _lines_by_length(robot: Robot) -> dict[str, float]:
    """Lengths [m] at rest of the tendons whose input is their length."""
    names = [name for name, actuator in robot.actuators.items() if actuator.slack is not None]
    if not names:
        return {}
    system = model_of(robot)
    return {name: float(cable_length(system, name, np.zeros((1, system.size)))[0][0]) for name in names}
