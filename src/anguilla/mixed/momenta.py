"""Momenta of robots that nothing holds and nothing acts on: their steps keep them.

Schemes of the Newmark family keep the momenta of coordinates that turn only to second order in dt. After each step, a rigid
motion of the whole robot is added to the rates that makes up for it: it is of third order in dt, as what a step misses is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anguilla.describe.frames import Frame
from anguilla.describe.joints import Free
from anguilla.fem.mesh import Floats
from anguilla.fem.parts import Chamber, Tendon
from anguilla.mixed.dynamics import Moving
from anguilla.mixed.half import cross
from anguilla.mixed.model import MixedModel, kinematics
from anguilla.model.model import Model
from anguilla.results.acting import balances_of

__all__ = ["Momenta", "is_isolated"]


def is_isolated(model: MixedModel, carrier: Model) -> bool:
    """Whether a robot flies and nothing outside acts on it."""
    robot = carrier.robot
    roots = [part for part in robot.parts if part.parent.is_ground]
    if len(roots) != 1 or type(roots[0].joint) is not Free or roots[0].index != 0:
        return False
    if not robot.gravity_is_constant or np.any(robot.gravity_values([0.0])) or robot.closures or robot.constraints:
        return False
    touches = any(half.touching is not None for half in model.halves)
    outside = touches or len(robot.loads) > len(model.frames) or len(carrier.blank.driven)
    tied = any(frame.is_ground for actuator in robot.actuators.values() for frame in actuator.frames)
    return not (outside or tied) and all(_is_free(half.system.body, half.held_by_ground) for half in model.halves)


def _is_free(body: Any, held: bool) -> bool:
    """Whether nothing outside acts on a volume."""
    for part in body.actuators.values():
        if isinstance(part, Chamber) or (isinstance(part, Tendon) and part.origin is not None):
            return False
    return not (held or body.loads or body.tractions or body.springs or body.moves)


class Momenta:
    """Momentum and angular momentum about the origin of a robot, (6,) [N s, N m s], and how to keep them."""

    def __init__(self, model: MixedModel, carrier: Model) -> None:
        self.model, self.carrier = model, carrier
        root = Frame(carrier.robot, 0, carrier.robot.parts[0].root.place)
        self._seen = carrier.observing([root])
        self._node = self._seen.layout.node(root)

    def _along(self, now: Moving, v: Floats, nodes: list[Floats]) -> Floats:
        """Momenta (k, 6) for rates (k, n), and velocities (k, nodes, 3) of each volume."""
        q = np.repeat(now.q[None], len(v), axis=0)
        out = balances_of(self.carrier, np.zeros(len(v)), q, v)[:, 2:8].copy()
        for half, x, own in zip(self.model.halves, now.x, nodes, strict=True):
            for k, velocity in enumerate(own):
                p = half.matrix @ velocity
                out[k, :3] += p.sum(axis=0)
                out[k, 3:] += cross(x, p).sum(axis=0)
        return out

    def of(self, now: Moving) -> Floats:
        """Those of a state."""
        return self._along(now, now.v[None], [rates[0][None] for rates in now.dx])[0]

    def kept(self, now: Moving, wanted: Floats) -> Moving:
        """The state with a rigid motion added to its rates, so that its momenta are as wanted (6,)."""
        J, motion = kinematics(self._seen, self._node, now.q)
        unit = np.eye(6, self.carrier.size)
        rigid = [
            np.array([J[3:, i] + cross(J[:3, i], x - motion[9:]) for i in range(6)]) for x in now.x
        ]  # velocities of nodes for each of the rates of the base
        by_rate = self._along(now, unit, rigid)
        change = np.linalg.solve(by_rate.T, wanted - self.of(now))
        v = now.v.copy()
        v[:6] += change
        dx = [(rates[0] + np.tensordot(change, own, 1), *rates[1:]) for own, rates in zip(rigid, now.dx, strict=True)]
        return now._replace(v=v, dx=dx)
