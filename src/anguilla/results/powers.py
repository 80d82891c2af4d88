"""Where the power goes in a motion: of all that acts, into energies and damping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anguilla._doors import public
from anguilla.describe import Load, RodHandle
from anguilla.describe.load import Seat
from anguilla.describe.volumes import refuse_volumes
from anguilla.errors import refuse
from anguilla.interact.kernels.table import NODE, WRENCH
from anguilla.mechanics.tree import N_A, N_AL, N_R, N_V, N_W
from anguilla.model.model import Model
from anguilla.results.blocks import Block, States
from anguilla.results.fields import strain_field
from anguilla.results.reactions import relaxes, stream_power, work
from anguilla.results.states import Trajectory

Array = NDArray[np.float64]

__all__ = ["Powers", "powers"]


@dataclass(frozen=True)
class Powers:
    """Where the power goes, at each instant (time,) [W]: motors + water + others = kinetic + stored + dissipated.

    Attributes:
        t: times [s].
        motors: of prescribed motions, shapes, poses and rates, efforts of joints, tendons (after their friction), chambers,
            muscles and thrusters.
        water: of fluids on the robot, buoyancy included; negative takes energy away.
        others: of given wrenches, on frames and along rods, magnets, contact with obstacles and user-written loads.
        kinetic: rate of the kinetic energy of the robot.
        stored: rate of the elastic energy of rods, joints and springs between frames, and of that in gravity.
        dissipated: in the damping and the relaxation of rods, in joints and springs.

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
    refuse_volumes(run.robot.volumes, run.robot.name)
    return run


@public
def powers(run: Trajectory) -> Powers:
    """Return the power of motors and water, the rates of the energies, and what is dissipated, at every stored state.

    Args:
        run: a motion.

    """
    with as_trajectory(run).acting():
        return _powers(run)


def _powers(run: Trajectory) -> Powers:
    """The same, where inputs in the description have their values."""
    system, q, v = run.system, run.q, run.v
    rest = np.zeros(system.size)
    for layout in system.layout.parts:
        rest[layout.joint] = layout.part.joint.rest_values
    K, total = system.elastic_stiffness(), Powers(run.t, *(np.zeros(len(run.t)) for _ in range(6)))
    total.stored[:] = np.sum((v @ K) * (q - rest), axis=1)
    total.dissipated[:] = np.sum((v @ _damping(system, K)) * v, axis=1)
    if relaxes(system.blank):
        z, weight, time = run.evaluations.inside()
        total.stored[:] += np.einsum("tpn,pn,nm,tpm->t", z, weight, K, v[:, None] - z / time)
        total.dissipated[:] += np.einsum("tpn,pn,nm,tpm->t", z, weight / time, K, z)
    lines = bool(system.robot.actuators) or system.rows > 0
    for layout in system.layout.parts:
        total.motors[:] += np.sum(layout.part.joint.effort_values(run.t) * v[:, layout.joint], axis=1)
    for block in run.evaluations.blocks():
        at, driven = block.at, block.loads.driven
        total.kinetic[at] = _kinetic(system, block.node)
        weight = np.einsum("n,tni->ti", system.tree.mass, block.node[:, :, N_V : N_V + 3])
        total.stored[at] -= np.sum(system.robot.gravity_values(block.states.t) * weight, axis=1)
        total.water[at] += stream_power(system, block)
        total.others[at] += _given(block) + _user(system, block)
        total.motors[at] += np.sum(block.residual[:, driven] * v[at, driven], axis=1)
        total.motors[at] -= np.sum(block.residual[:, : system.size] * v[at], axis=1) if lines else 0.0
        _add_loads(system, block, total)
    if lines:  # tendons, chambers, moving closures and given rates: what the balance loses without them
        for block in run.evaluations.blocks(np.zeros(0, np.int64), idle=True):
            total.motors[block.at] += np.sum(block.residual[:, : system.size] * v[block.at], axis=1)
    return total


def _add_loads(system: Model, block: Block, total: Powers) -> None:
    """Add the powers of loads on frames, on strains, and of those that keep or take energy only."""
    at, owners = block.at, np.array(system.tables.frame_loads, dtype=np.int64)
    for number, (load, seat) in enumerate(zip(system.robot.loads, system.tables.seats, strict=True)):
        if load.account == "stored":
            motion = block.motion(seat.nodes)
            total.stored[at] += load.stored_power(seat, motion)
            total.dissipated[at] += load.lost_power(seat, motion)
            continue
        mine, account = np.flatnonzero(owners == number), getattr(total, load.account)
        account[at] += work(block.node[:, block.loads.frames.table[mine, NODE]], block.wrench[:, mine])
        account[at] += block.told[:, np.array(system.tables.touch_loads, np.int64) == number, 0].sum(axis=1)
        if load.stress_on is not None:
            account[at] += _strain_power(system, load, seat, block.states)


def _damping(system: Model, K: Array) -> Array:
    """D (n, n) of rods and joints."""
    D = np.zeros_like(K)
    for layout in system.layout.parts:
        D[layout.joint, layout.joint] = np.diag(layout.part.joint.damping_values)
        if isinstance(layout.part, RodHandle):
            own = layout.coordinates
            D[own, own] = layout.part.rod.material.damping * K[own, own]
    return D


def _strain_power(system: Model, load: Load, seat: Seat, states: States) -> Array:
    """Minus the active stress (nt,) [W] times the rate of the strains, at the points at which the solver takes it."""
    rod = load.stress_on
    assert rod is not None
    strain = strain_field(system, rod, seat.X, states.q)
    rate = strain_field(system, rod, seat.X, states.v) - rod.rod.rest.strain(seat.X)
    return -np.einsum("m,tmk,tmk->t", seat.weights, load.stress(seat.X, states.t, strain), rate)


def _kinetic(system: Model, node: Array) -> Array:
    """Rate of the kinetic energy (nb,)."""
    rotation = node[:, :, N_R : N_R + 9].reshape(*node.shape[:2], 3, 3)
    speed, spin, push, turn = (node[:, :, c : c + 3] for c in (N_V, N_W, N_A, N_AL))
    heavy = np.flatnonzero(np.any(system.tree.inertia, axis=1))
    w, al = (np.einsum("tnji,tnj->tni", rotation[:, heavy], x[:, heavy]) for x in (spin, turn))
    moving = np.einsum("n,tni,tni->t", system.tree.mass, speed, push)
    return moving + np.einsum("ni,tni,tni->t", system.tree.inertia[heavy], w, al)


def _given(block: Block) -> Array:
    """Power of given wrenches."""
    nodes, follower = block.loads.wrench[:, 0], block.loads.wrench[:, 1] == 1
    at, node = int(block.loads.at[WRENCH]), block.node[:, nodes]
    wrench = block.row[:, at : at + 6 * len(nodes)].reshape(len(node), len(nodes), 2, 3).copy()
    rotation = node[:, follower, N_R : N_R + 9].reshape(len(node), np.sum(follower), 3, 3)
    wrench[:, follower] = np.einsum("tnij,tnkj->tnki", rotation, wrench[:, follower])
    return work(node, wrench.reshape(len(node), len(nodes), 6))


def _user(system: Model, block: Block) -> Array:
    """Power of user-written forces on the coordinates."""
    out = np.zeros(len(block.states.t))
    for force in system.user.forces:
        for k, (t, q, v) in enumerate(zip(*block.states[:3], strict=True)):
            out[k] += system.user.force(force, q, v, float(t)) @ v
    return out
