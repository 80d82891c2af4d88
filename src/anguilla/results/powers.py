"""Where the power goes in a motion: of all that acts, into energies and damping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla.describe import Load, RodHandle
from anguilla.describe.load import Seat
from anguilla.errors import refuse
from anguilla.interact.kernels.table import INPUT, NODE, TIME, WRENCH, Loads
from anguilla.mechanics.tree import N_A, N_AL, N_R, N_V, N_W
from anguilla.model.model import Model
from anguilla.results.fields import seat_motion, strain_field
from anguilla.results.reactions import evaluate, stream_power
from anguilla.results.states import Trajectory

Array = NDArray[np.float64]

__all__ = ["Powers", "powers"]


@dataclass(frozen=True)
class Powers:
    """Where the power goes, at each instant (time,) [W]: motors + water + others = kinetic + stored + dissipated.

    Attributes:
        t: times [s].
        motors: of imposed motions, shapes, poses and rates, efforts of joints, tendons (after their friction), chambers,
            muscles and thrusters.
        water: of fluids on the robot, buoyancy included; negative takes energy away.
        others: of given wrenches, on frames and along rods, magnets, contact with obstacles and user-written loads.
        kinetic: rate of the kinetic energy of the robot.
        stored: rate of the elastic energy of rods, joints and springs between frames, and of that in gravity.
        dissipated: in the damping of rods, joints and springs.

    """

    t: Array
    motors: Array
    water: Array
    others: Array
    kinetic: Array
    stored: Array
    dissipated: Array

    def __repr__(self) -> str:
        means = ", ".join(
            f"{name} {float(np.mean(getattr(self, name))):.4g}" for name in ("motors", "water", "dissipated")
        )
        return f"<powers at {len(self.t)} instants, means in W: {means}>"

    @property
    def imbalance(self) -> Array:
        """What is missing (time,) [W]: zero but for round-off and the tolerance of the solver."""
        return self.motors + self.water + self.others - self.kinetic - self.stored - self.dissipated


def as_trajectory(run: object) -> Trajectory:
    """Check that a function got a motion."""
    if not isinstance(run, Trajectory):
        raise refuse("run", "a Trajectory, as simulate returns it", run)
    return run


def powers(run: Trajectory) -> Powers:
    """Return the power of motors and water, the rates of the energies, and what is dissipated, at every stored state.

    Args:
        run: a motion.

    """
    run = as_trajectory(run)
    system, q, v = run.system, run.q, run.v
    rest = np.zeros(system.size)
    for layout in system.layout.parts:
        rest[layout.joint] = layout.part.joint.rest_values
    K, total = system.elastic_stiffness(), Powers(run.t, *(np.zeros(len(run.t)) for _ in range(6)))
    total.stored[:] = np.einsum("ti,ij,tj->t", v, K, q - rest)
    total.dissipated[:] = np.einsum("ti,ij,tj->t", v, _damping(system, K), v)
    total.motors[:] = _joints(run)
    for load, seat in zip(system.robot.loads, system.tables.seats, strict=True):
        if load.account == "stored":
            motion = seat_motion(system, seat, q, v)
            total.stored[:] += load.stored_power(seat, motion)
            total.dissipated[:] += load.lost_power(seat, motion)
        elif load.stress_on is not None:
            getattr(total, load.account)[:] += _strain_power(run, load, seat)
    gravity, driven = system.robot.gravity_values(run.t), system.blank.driven
    owners = np.array([system.robot.loads[k].account for k in system.tables.frame_loads])
    motors, water, others = (np.flatnonzero(owners == account) for account in ("motors", "water", "others"))
    for k, loads, residual in run._evaluations():
        node = system.workspace.node
        total.kinetic[k] = _kinetic(system, node)
        total.stored[k] -= gravity[k] @ (system.tree.mass @ node[:, N_V : N_V + 3])
        total.water[k] += _frames(loads, node, water) + stream_power(system, loads)
        total.others[k] += _given(loads, node) + _frames(loads, node, others) + _user(system, loads, q[k], v[k])
        total.motors[k] += residual[driven] @ v[k, driven] + _frames(loads, node, motors)
        if len(loads.tension) or system.rows:  # evaluates anew
            total.motors[k] += _lines_and_constraints(run, k, loads, residual)
    return total


def _damping(system: Model, K: Array) -> Array:
    """D (n, n) of rods and joints."""
    D = np.zeros_like(K)
    for layout in system.layout.parts:
        D[layout.joint, layout.joint] = np.diag(layout.part.joint.damping_values)
        if isinstance(layout.part, RodHandle):
            own = layout.coordinates
            D[own, own] = layout.part.rod.material.damping * K[own, own]
    return D


def _joints(run: Trajectory) -> Array:
    """Power (nt,) of efforts of joints."""
    total = np.zeros(len(run.t))
    for layout in run.system.layout.parts:
        total += np.sum(layout.part.joint.effort_values(run.t) * run.v[:, layout.joint], axis=1)
    return total


def _strain_power(run: Trajectory, load: Load, seat: Seat) -> Array:
    """Minus the active stress (nt,) [W] times the rate of the strains, at the points at which the solver takes it."""
    rod = load.stress_on
    assert rod is not None
    strain = strain_field(run.system, rod, seat.X, run.q)
    rate = strain_field(run.system, rod, seat.X, run.v) - rod.rod.rest.strain(seat.X)
    return -np.einsum("m,tmk,tmk->t", seat.weights, load.stress(seat.X, run.t, strain), rate)


def _kinetic(system: Model, node: Array) -> float:
    """Rate of the kinetic energy in the state of the last evaluation."""
    rotation = node[:, N_R : N_R + 9].reshape(-1, 3, 3)
    speed, spin, push, turn = (node[:, c : c + 3] for c in (N_V, N_W, N_A, N_AL))
    w, al = (np.einsum("nji,nj->ni", rotation, x) for x in (spin, turn))
    tree = system.tree
    return float(np.sum(tree.mass[:, None] * speed * push) + np.sum(tree.inertia * w * al))


def _work(node: Array, nodes: NDArray[np.int64], wrench: Array) -> float:
    """Power of wrenches (m, 6), world axes, on nodes (m,)."""
    return float(np.sum(wrench[:, :3] * node[nodes, N_W : N_W + 3] + wrench[:, 3:] * node[nodes, N_V : N_V + 3]))


def _given(loads: Loads, node: Array) -> float:
    """Power of given wrenches."""
    nodes, follower = loads.wrench[:, 0], loads.wrench[:, 1] == 1
    at = int(loads.at[WRENCH])
    wrench = loads.row[at : at + 6 * len(nodes)].reshape(-1, 2, 3).copy()
    rotation = node[nodes[follower], N_R : N_R + 9].reshape(-1, 3, 3)
    wrench[follower] = np.einsum("nij,nkj->nki", rotation, wrench[follower])
    return _work(node, nodes, wrench.reshape(-1, 6))


def _frames(loads: Loads, node: Array, mine: NDArray[np.int64]) -> float:
    """Power of some frame loads."""
    return _work(node, loads.frames.table[mine, NODE], loads.frames.wrench[mine])


def _user(system: Model, loads: Loads, q: Array, v: Array) -> float:
    """Power of user-written forces on the coordinates."""
    t = float(loads.row[TIME])
    return float(sum(system.user._force(force, q, v, t) @ v for force in system.user.forces))


def _lines_and_constraints(run: Trajectory, k: int, loads: Loads, residual: Array) -> float:
    """Power of tendons, chambers, moving closures and given rates: what the balance loses without them."""
    system, lam = run.system, run._lam[k]
    given = loads.constraints.input_row < 0
    at = int(loads.at[INPUT])
    inputs = loads.row[at : at + len(given)]
    kept = inputs.copy()
    inputs[given] = 0.0
    without = evaluate(system, loads, run.q[k], run.v[k], run.a[k], np.zeros_like(lam))
    inputs[:] = kept
    return float((without - residual)[: system.size] @ run.v[k])
