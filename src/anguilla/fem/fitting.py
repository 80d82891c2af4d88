"""Find material parameters from measured deflections under known loads (002 II)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anguilla._doors import public
from anguilla.describe.material import Material
from anguilla.errors import DescriptionError, as_vector
from anguilla.fem.body import SoftBody, as_body
from anguilla.fem.equilibrium import statics
from anguilla.fem.mesh import Floats
from anguilla.fem.parts import PointForce
from anguilla.fem.system import SoftSystem

__all__ = ["Fit", "Measurement", "fit_material"]

PARAMETERS = ("young", "poisson", "density")


@dataclass
class Measurement:
    """What was done to the body, and where its effectors were then.

    Attributes:
        positions: measured position (3,) [m] by effector.
        inputs: tensions [N] and pressures [Pa] by actuator.
        loads: forces.

    """

    positions: dict[str, ArrayLike]
    inputs: dict[str, float] = field(default_factory=dict)
    loads: Sequence[PointForce] = ()


@dataclass(frozen=True)
class Fit:
    """Fitted parameters.

    Attributes:
        values: parameter by name, SI.
        deviation: standard deviation by name, from the residuals.
        rms: root mean square of the distances left [m].
        body: the body with the fitted material.

    """

    values: dict[str, float]
    deviation: dict[str, float]
    rms: float
    body: SoftBody


@public
def fit_material(body: SoftBody, measurements: Sequence[Measurement], parameters: Sequence[str] = ("young",)) -> Fit:
    """Fit material parameters by least squares on the distances of all effectors.

    Args:
        body: the body, with a first guess as its material.
        measurements: what was measured.
        parameters: which of "young", "poisson", "density" to find. Young's modulus and the density scale against each other
            if gravity is the only load: then fit one of them.

    """
    from scipy.optimize import least_squares

    as_body(body)
    names = list(parameters)
    unknown = [name for name in names if name not in PARAMETERS]
    if not names or unknown:
        raise DescriptionError(f"parameters must be some of {', '.join(PARAMETERS)}; got {parameters!r}.")
    goals = _goals(body, measurements)
    starts: list[Any] = [None] * len(measurements)

    def miss(x: Floats) -> Floats:
        return _places(_changed(body, names, x), measurements, starts) - np.concatenate(goals)

    first = np.array([_poisson(body.material) if n == "poisson" else 0.0 for n in names])
    bounds = np.array([(-1e-3, 0.4998) if n == "poisson" else (-7.0, 7.0) for n in names]).T
    best = least_squares(
        miss, np.clip(first, *bounds), bounds=bounds, diff_step=1e-5, x_scale=0.3, xtol=1e-10, ftol=1e-12, gtol=1e-14
    )
    nothing = 1e-7 * float(np.ptp(body.mesh.points, axis=0).max())  # less than any measurement shows
    rank = np.linalg.matrix_rank(best.jac, tol=max(1e-6 * np.abs(best.jac).max(), nothing))
    if rank < len(names):
        raise DescriptionError(
            f"the measurements do not tell {', '.join(names)} apart: fit fewer parameters or load the body otherwise."
        )
    return _fit(_changed(body, names, best.x), names, best, len(goals))


def _goals(body: SoftBody, measurements: Sequence[Measurement]) -> list[Floats]:
    """Measured positions (3,) [m], in order."""
    if not measurements:
        raise DescriptionError("fit_material needs at least one measurement.")
    goals: list[Floats] = []
    for k, measurement in enumerate(measurements):
        for name, place in measurement.positions.items():
            if name not in body.effectors:
                raise DescriptionError(f"measurement {k}: body {body.name!r} has no effector {name!r}.")
            goals.append(as_vector(place, 3, f"measurement {k}: the position of {name!r}", "m"))
    if not goals:
        raise DescriptionError("the measurements hold no positions.")
    return goals


def _poisson(material: Material) -> float:
    return material.young / (2.0 * material.shear_modulus) - 1.0


def _values(material: Material) -> dict[str, float]:
    """The parameters of a material, SI."""
    return {"young": material.young, "poisson": _poisson(material), "density": material.density}


def _changed(body: SoftBody, names: Sequence[str], x: Floats) -> SoftBody:
    """A copy of the body with other parameters: Poisson's ratio itself, the logarithm of the factor of the others."""
    new = copy.deepcopy(body)
    values = _values(new.material)
    for name, value in zip(names, x, strict=True):
        values[name] = float(value if name == "poisson" else values[name] * np.exp(value))
    new.material = replace(new.material, **values, shear=None)  # type: ignore[arg-type]
    return new


def _places(trial: SoftBody, measurements: Sequence[Measurement], starts: list[Any]) -> Floats:
    """Positions of the effectors, all in one row [m]; `starts` keeps the states from which the next trial begins."""
    out: list[Floats] = []
    for k, measurement in enumerate(measurements):
        loaded = copy.copy(trial)
        loaded.loads = [*trial.loads, *measurement.loads]
        eq = statics(SoftSystem(loaded), inputs=measurement.inputs, start=starts[k])
        starts[k] = eq.state
        out += [eq.position(name) for name in measurement.positions]
    return np.concatenate(out)


def _fit(fitted: SoftBody, names: Sequence[str], best: Any, count: int) -> Fit:
    """The parameters with their deviations, from the least squares over `count` positions."""
    spread = 2.0 * best.cost / max(1, len(best.fun) - len(names))
    deviation = np.sqrt(np.diag(np.linalg.inv(best.jac.T @ best.jac)) * spread)
    values = _values(fitted.material)
    return Fit(
        {n: values[n] for n in names},
        {n: float(d * (1.0 if n == "poisson" else values[n])) for n, d in zip(names, deviation, strict=True)},
        float(np.sqrt(2.0 * best.cost / count)), fitted,
    )  # fmt: skip
