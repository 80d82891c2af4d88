"""A silicone beam, let go without and with a weight (folder `beam`): equilibria give the stiffness, swings the damping."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

import anguilla as ag
from anguilla import fem

GRAVITY = 9.80709  # [m/s^2]
WEIGHT = {"gravity": 0.0, "load52": 0.51012, "load101": 1.00062}  # [N] on the upper edge of the end face
NAMES = ("tip1", "tip2", "tip3", "base1", "base2", "base3")
NOMINAL = np.array([(0.1, 0, 0.021), (0.1, -0.021, 0.009), (0.1, 0.021, -0.009),
                    (0.006, -0.025, -0.016), (0.006, 0.025, 0.0125), (0.006, 0.025, -0.015)])  # fmt: skip
BEAM_FROM_CAMERA = np.array([[0.0, 0, 1], [0, -1, 0], [1, 0, 0]])
STILL, SETTLED, SWING, STEP = 5, 50, 2.5, 0.02  # rows held, rows at rest [of 0.01 s]; [s] looked at; [s] between rows
BAND = (1.0, 20.0)  # [Hz] of the loss factor
CELLS = 20, 4, 4  # boxes of the mesh
MOVED = 1e-3  # [m] by which a tip marker has moved when the hand has let go


def beam(
    young: float, density: float = 1070.0, weight: float = 0.0, viscous: float = 0.0, loss: float = 0.0,
    length: float = 0.1, up_x: float = 0.0, up_y: float = 0.0, up_z: float = 1.0, poisson: float = 0.499, pull: float = 0.0,
) -> ag.Robot:  # fmt: skip
    """The beam in its own axes: stiffness at rest, a loss factor, Kelvin and Voigt's damping (viscous [s]), a pull down [N]."""
    robot = ag.Robot("beam", gravity=tuple(-GRAVITY * np.array([up_x, up_y, up_z])))
    material = ag.Material(young, density, poisson=poisson, damping=viscous, loss=loss, band=BAND)
    rod = robot.add(ag.Rod(length, ag.Rectangle(0.03, 0.03), material, ag.reissner(2)), at=robot.ground, name="beam")
    if weight:
        mass = weight / GRAVITY
        inertia = 1e-3 * mass * 0.03**2 * np.eye(3)
        robot.add(ag.RigidBody(mass, inertia), at=rod.tip, pose=(0.0, 0.0, 0.015), name="weight")
    if pull:
        robot.load(ag.Wrench(rod.tip, force=-pull * np.array([up_x, up_y, up_z])))
    return robot


def volume(
    young: float, weight: float = 0.0, up_x: float = 0.0, up_y: float = 0.0, up_z: float = 1.0,
    cells: tuple[int, int, int] = CELLS, poisson: float = 0.495,
) -> fem.SoftBody:  # fmt: skip
    """The same beam as a soft volume, neo-Hookean, with smaller boxes at the clamp and at the sides, where stresses are."""
    up = np.array([up_x, up_y, up_z])
    mesh, material = fem.block((0.1, 0.03, 0.03), cells), ag.Material(young, 1070.0, poisson=poisson)
    along, across = mesh.points[:, 0] / 0.1, 1.0 - np.abs(mesh.points[:, 1:]) / 0.015
    sides = np.sign(mesh.points[:, 1:]) * 0.015 * (1.0 - across * (0.6 + 0.4 * across))
    mesh = replace(mesh, points=np.column_stack([0.1 * along * (0.4 + 0.6 * along), sides]))
    body = fem.SoftBody("beam", mesh, material, law="neo_hookean", element="quadratic", gravity=-GRAVITY * up)
    body.fix("base")
    body.effector("tip", fem.Effector((0.1, 0.0, 0.0), orientation=True, radius=0.012))
    if weight:
        body.load(fem.PointForce((0.1, 0.0, 0.015), -weight * up))
    return body


def of_volume(data: ag.Measurements) -> ag.Measurements:
    """The same measurements, with markers on the effector of the volume."""
    markers = {name: ag.Marker("tip", marker.offset) for name, marker in data.markers.items()}
    return replace(data, markers=markers)


def laid_on(seen: np.ndarray, nominal: np.ndarray) -> np.ndarray:
    """Rotation that lays points on others, by least squares."""
    U, _, V = np.linalg.svd((nominal - nominal.mean(axis=0)).T @ (seen - seen.mean(axis=0)))
    return U @ np.diag([1.0, 1.0, np.linalg.det(U @ V)]) @ V


def read(folder: Path, name: str) -> tuple[ag.Measurements, ag.Measurements]:
    """(equilibrium, motion) of a run, both as the nominal places plus what the markers moved from where they were held."""
    table = np.genfromtxt(folder / f"{name}.csv", delimiter=",", skip_header=1)
    t, seen = table[:, 0], table[:, 1:].reshape(-1, 6, 3)
    held = seen[:STILL].mean(axis=0)
    turn = laid_on(held, NOMINAL)
    moved = (seen - held) @ turn.T
    places = NOMINAL + moved
    up = turn @ np.array([1.0, 0.0, 0.0])
    given = {
        "weight": WEIGHT[name.split("_")[0]],
        **{f"up_{axis}": float(u) for axis, u in zip("xyz", up, strict=True)},
    }
    markers = {n: ag.Marker("beam.tip", NOMINAL[k] - (0.1, 0, 0)) for k, n in enumerate(NAMES[:3])}
    last = places[-SETTLED:].mean(axis=0)
    rest = ag.Measurements(
        positions={n: last[None, k] for k, n in enumerate(NAMES[:3])},
        markers=markers,
        given=given,
        name=f"{name} at rest",
    )
    first = int(np.argmax(np.linalg.norm(moved[:, :3], axis=2).max(axis=1) > MOVED)) - 1
    rows = first + np.arange(0, int(SWING / 0.01), int(STEP / 0.01))
    rows = rows[rows < len(t)]
    swing = ag.Measurements(
        positions={n: places[rows, k] for k, n in enumerate(NAMES[:3])}, t=t[rows] - t[rows[0]], motion=True, held=None,
        markers=markers, given=given, dt=0.005, name=f"{name} swings",
    )  # fmt: skip
    return rest, swing


def from_lowest(rest: ag.Measurements, swing: ag.Measurements) -> ag.Measurements:
    """A swing from its first lowest point on, where the hand is off: it starts at rest, pulled down to there by a force.

    As much of the beam's weight acts at the tip as would hold it straight, 3/8; the pull is to that as the overshoot is to
    the way down.
    """
    depth, down = (np.mean([x[:, 2] for x in one.positions.values()], axis=0) for one in (swing, rest))
    lowest = int(np.argmin(depth[: int(0.25 / STEP)]))
    overshoot = float((depth[lowest] - down[0]) / (down[0] - depth[0]))
    hanging = float(swing.given["weight"]) + 0.375 * 1070.0 * 0.1 * 0.03**2 * GRAVITY
    t = np.asarray(swing.t)[lowest:]
    return replace(
        swing, positions={name: x[lowest:] for name, x in swing.positions.items()}, t=t - t[0],
        held={"pull": overshoot * hanging}, name=f"{swing.name} from the lowest point",
    )  # fmt: skip


def decay(swing: ag.Measurements, rest: ag.Measurements) -> tuple[float, float]:
    """Frequency [Hz] and damping ratio of a free decay, fitted to the mean depth of the markers alone: no model of a beam."""
    low = from_lowest(rest, swing)
    t, depth = np.asarray(low.t), np.mean([x[:, 2] for x in low.positions.values()], axis=0)
    t, depth = t[t < 1.2], depth[t < 1.2]

    def missed(p: np.ndarray) -> np.ndarray:
        return p[0] * np.exp(-p[1] * t) * np.cos(p[2] * t + p[3]) + p[4] - depth

    starts = [(-0.005, 2.0, 2.0 * np.pi * f, 0.0, depth[-1]) for f in (3.0, 4.0, 6.0, 8.0)]
    best = min((least_squares(missed, start) for start in starts), key=lambda one: one.cost).x
    whole = float(np.hypot(best[1], best[2]))
    return whole / (2.0 * np.pi), float(best[1]) / whole
