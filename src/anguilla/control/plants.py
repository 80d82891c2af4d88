"""Linear models that regulators hold: of a robot of rods, or of a soft volume, about an equilibrium, over one period."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from anguilla.control.feedback import Limits, input_limits
from anguilla.describe import Load, Robot
from anguilla.describe.sensors import Sensor
from anguilla.errors import DescriptionError, as_array, as_count, as_vector, refuse
from anguilla.fem.body import SoftBody
from anguilla.fem.dynamics import mass_blocks, mass_matrix
from anguilla.fem.equilibrium import statics as soft_statics
from anguilla.fem.results import SoftEquilibrium
from anguilla.fem.sensing import SoftReader, SoftSeen
from anguilla.fem.system import SoftSystem
from anguilla.fem.vibrations import SoftLinearModel
from anguilla.fem.vibrations import linearise as soft_linearise
from anguilla.mechanics.tree import Floats
from anguilla.model.door import model_of
from anguilla.model.model import Inputs, Model
from anguilla.model.user import between
from anguilla.results.reading import Reader, Seen
from anguilla.solve.modes.linearise import LinearModel, linearise
from anguilla.solve.modes.local import At

__all__ = ["Held", "held", "over_period", "reading_at", "variances", "weights"]

MOVING = 1e-6  # [rad/s, rad/s^2] a state that drifts faster is no equilibrium
Soft = SoftBody | SoftSystem | SoftEquilibrium | SoftLinearModel


@dataclass
class Held:
    """A linear model about an equilibrium: x(k+1) = A x(k) + B u(k), y = C x + D u, all as changes from there.

    Attributes:
        model: the linear model that it comes from.
        A, B, C, D: (s, s), (s, k), (r, s), (r, k).
        names: of the inputs (k,).
        rest: (k,) inputs at the equilibrium.
        zero: (r,) what the sensors show there, if these were asked for.
        low, high: (k,) limits of the inputs.
        change: of a state that a stepper has, x (s,).
        sensors: by name.
        unit: (s,) what a weight of the state that is a number multiplies.

    """

    model: LinearModel | SoftLinearModel
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    names: list[str]
    rest: Floats
    zero: Floats
    low: Floats
    high: Floats
    change: Callable[[ArrayLike], Floats]
    sensors: Mapping[str, Sensor]
    unit: Floats


def held(
    robot: Robot | Model | Soft, at: Any, *, period: float, inputs: Inputs | None, limits: Limits, reading: bool,
    modes: int, who: str,
) -> Held:  # fmt: skip
    """The linear model of a robot or of a soft volume that a regulator holds; its outputs are the sensors, if `reading`."""
    if isinstance(robot, Soft):
        return _soft(robot, at, period, inputs, limits, reading, modes, who)
    return _rods(robot, at, period, inputs, limits, reading, who)


def over_period(A: Floats, B: Floats, period: float) -> tuple[Floats, Floats]:
    """A and B of one period, of x' = A x + B u with inputs that are held."""
    s, k = B.shape
    whole = np.zeros((s + k, s + k))
    whole[:s, :s], whole[:s, s:] = A, B
    ahead = expm(period * whole)
    return ahead[:s, :s], ahead[:s, s:]


def weights(value: ArrayLike, size: int, name: str, unit: Floats | None = None, *, positive: bool = False) -> Floats:
    """A matrix (size, size) of weights from a number, which multiplies the diagonal `unit`, its diagonal or itself.

    It is symmetric, and no eigenvalue is below zero; none is zero where all must be `positive`.
    """
    found = _weights(value, size, name, unit)
    least, slack = np.linalg.eigvalsh(found).min(initial=np.inf), 1e-9 * np.abs(found).max(initial=0.0)
    if np.any(np.abs(found - found.T) > slack):
        raise refuse(name, "a symmetric matrix", value)
    if positive and least <= 0.0:
        raise refuse(name, "positive (a matrix: positive definite)", value)
    if least < -slack:
        raise refuse(name, "zero or positive (a matrix: positive semidefinite)", value)
    return found


def _weights(value: ArrayLike, size: int, name: str, unit: Floats | None) -> Floats:
    array = as_array(value, name, f"a number, {size} numbers or a matrix ({size}, {size})")
    if array.ndim == 0:
        return float(array) * np.diag(np.ones(size) if unit is None else unit)
    if array.shape == (size,):
        return np.diag(array)
    if array.shape != (size, size):
        raise refuse(name, f"a number, {size} numbers or a matrix ({size}, {size})", value)
    return array


def variances(sensors: Mapping[str, Sensor], period: float, who: str) -> Floats:
    """Variances (r,) of what sensors show."""
    out = []
    for name, sensor in sensors.items():
        variance = sensor.noise**2 + sensor.resolution**2 / 12.0
        if variance == 0.0:
            raise DescriptionError(f"{who} weighs sensors by their noise, and {name!r} has none: give it noise=...")
        if sensor.delay > 0.5 * period or (sensor.rate is not None and sensor.rate * period < 1.0 - 1e-9):
            raise DescriptionError(
                f"{who} takes what sensors show as of now, and {name!r} shows what is older than a period of {period:g} s."
            )
        out += [variance] * sensor.size
    return np.array(out)


# Rods -------------------------------------------------------------------------------------------------------------------


def _rods(
    robot: Robot | Model, at: At, period: float, inputs: Inputs | None, limits: Limits, reading: bool, who: str
) -> Held:
    shown = reading_at(model_of(robot)) if reading else None
    model = linearise(robot, at, inputs=inputs, dt=period, outputs=shown)
    local, system = model.local, model.local.system
    if np.linalg.norm(local.a * system.tree.scale) > MOVING or np.any(local.v):
        raise DescriptionError(
            f"{who} holds an equilibrium, and {system.robot.name!r} is not at rest in this state: "
            "take one from statics, or inputs that hold it."
        )
    if not model.inputs:
        if not model.held:
            raise DescriptionError(
                f"{who} needs inputs, and {system.robot.name!r} has none: add tendons or chambers with robot.actuate."
            )
        raise DescriptionError(f"{who} needs inputs that are forces; {', '.join(model.held)} are held.")
    n = system.size

    def change(state: ArrayLike) -> Floats:
        whole = as_vector(state, 2 * n, "the state (q, v) in the reading")
        place = local.place_inverse @ between(system.tree, local.q, whole[:n])
        return np.concatenate([place, local.rate_inverse @ whole[n:]])

    rest = np.array([_number(local.result.inputs.get(name, 0.0), local.result.t) for name in model.inputs])
    low, high = input_limits(system.robot, limits)
    where = [list(system.robot.inputs).index(name) for name in model.inputs]
    zero, s = np.zeros(0) if shown is None else shown(local.q, local.v), len(model.A)
    D = np.zeros((len(zero), len(where)))
    return Held(
        model, model.A, model.B, model.C, D, model.inputs, rest, zero, low[where], high[where], change,
        system.robot.sensors, np.ones(s),
    )  # fmt: skip


def _number(value: object, t: float) -> float:
    return float(value(t) if callable(value) else value)  # type: ignore[arg-type]


def reading_at(model: Model) -> Callable[[Floats, Floats], Floats]:
    """What the sensors of a robot show without noise, as a function of (q, v); refuses those of forces, accelerations."""
    reader = model.once(Reader)
    if not reader.size:
        raise DescriptionError(f"{model.robot.name!r} has no sensors: add them with robot.sense(name, sensor).")

    def efforts() -> Floats:
        raise DescriptionError("a filter of places and rates does not support sensors of efforts.")

    def contacts(load: Load) -> Floats:
        raise DescriptionError("a filter of places and rates does not support sensors of contact forces.")

    def shown(q: Floats, v: Floats) -> Floats:
        unknown = np.full((1, model.size), np.nan)
        found = reader.true(Seen(reader, np.zeros(1), q[None], v[None], unknown, efforts, contacts))[0]
        if not np.all(np.isfinite(found)):
            bad = reader.labels[int(np.argmin(np.isfinite(found)))]
            raise DescriptionError(f"a filter of places and rates does not support {bad!r}, which shows accelerations.")
        return found

    return shown


# Volumes ----------------------------------------------------------------------------------------------------------------


def _soft(
    body: Soft, at: Any, period: float, inputs: Inputs | None, limits: Limits, reading: bool, modes: int, who: str
) -> Held:
    if isinstance(body, SoftLinearModel):
        model = body
    else:
        eq = body if isinstance(body, SoftEquilibrium) else at
        if eq is None:
            eq = soft_statics(body, inputs=inputs)  # type: ignore[arg-type]
        if not isinstance(eq, SoftEquilibrium):
            raise refuse("at", "an equilibrium that fem.statics returned", at)
        model = soft_linearise(eq, count=as_count(modes, "modes"), sensors=reading)
    eq = model.modes.equilibrium
    reader = SoftReader(eq.system)
    if reading and not reader.labels:
        raise DescriptionError(f"{eq.body.name!r} has no sensors: add them with body.sense(name, sensor).")
    if reading and model.outputs != reader.labels:
        raise DescriptionError(f"{who} reads the sensors: give it the model of fem.linearise(..., sensors=True).")
    if not model.inputs:
        raise DescriptionError(f"{who} needs inputs, and {eq.body.name!r} has no actuators.")
    A, B = over_period(model.A, model.B, period)
    low, high = input_limits(eq.body, limits)
    seen = SoftSeen(eq.system, eq.x[None], 0.0 * eq.x[None], eq.efforts[None])
    zero = reader.true(seen)[0] if reading else np.zeros(0)
    unit = np.concatenate([(2.0 * np.pi * model.modes.frequencies) ** 2, np.ones(len(model.modes))])
    return Held(
        model, A, B, model.C, model.D, model.inputs, eq.efforts.copy(), zero, low, high, _amplitudes(model),
        reader.sensors, unit,
    )  # fmt: skip


def _amplitudes(model: SoftLinearModel) -> Callable[[ArrayLike], Floats]:
    """Amplitudes of the modes and their rates (2 k,) from a state (x, v) of the nodes (6 n,)."""
    eq, shapes = model.modes.equilibrium, model.modes.shapes
    mass = mass_matrix(eq.system, mass_blocks(eq.system))
    along = np.array([mass @ shape for shape in shapes]).reshape(len(shapes), -1)
    n = eq.x.size

    def change(state: ArrayLike) -> Floats:
        whole = as_vector(state, 2 * n, "the state (x, v) of the nodes in the reading")
        return np.concatenate([along @ (whole[:n] - eq.x.ravel()), along @ whole[n:]])

    return change
