"""Results of soft volumes in files: what is kept, and how it is read back."""

from __future__ import annotations

import numpy as np

from anguilla.errors import DescriptionError
from anguilla.fem.body import SoftBody
from anguilla.fem.body_file import add_body, read_body
from anguilla.fem.dynamics import SoftTrajectory
from anguilla.fem.inertia import mass_blocks
from anguilla.fem.results import SoftEquilibrium, Status
from anguilla.fem.system import SoftState, SoftSystem
from anguilla.store.facts import facts_of, status_of
from anguilla.store.inputs import add_inputs, read_inputs
from anguilla.store.record import Record

__all__ = ["EQUILIBRIUM", "MOTION", "gather", "restore"]

EQUILIBRIUM, MOTION = "soft_equilibrium", "soft_trajectory"


def gather(result: SoftEquilibrium | SoftTrajectory) -> Record:
    """Return the record of a result.

    Positions and velocities of the nodes, inputs and strokes of the actuators, effectors and strings over time (one instant
    for an equilibrium); the boundary, for drawing; the body.
    """
    system, record = result.system, Record()
    if isinstance(result, SoftTrajectory):
        kind, what, t = MOTION, "Motion", result.t
        states = [SoftState(x, system.rest.rotations) for x in result.x]
    else:
        kind, what, t = EQUILIBRIUM, "Equilibrium", np.zeros(1)
        states = [result.state]
    record.add("time", ("time",), t, "s", "time")
    record.add("axis", ("axis",), np.array(list("xyz"), dtype=object))
    record.add("rest", ("node", "axis"), system.grid.points, "m", "positions of the nodes at rest")
    record.add("x", ("time", "node", "axis"), [state.x for state in states], "m", "positions of the nodes")
    if isinstance(result, SoftTrajectory):
        record.add("v", ("time", "node", "axis"), result.v, "m/s", "velocities of the nodes")
    if system.unknowns.parts and kind == EQUILIBRIUM:
        turned = [state.rotations for state in states]
        record.add(
            "rotation", ("time", "rigid", "axis", "column"), turned, "1", "rotations of the rigid parts since rest"
        )
    surface = system.grid.refine(result.body.mesh.boundary)
    record.add("surface", ("triangle", "side"), surface, "", "triangles of the boundary through all nodes")
    _add_readings(record, system, states)
    add_inputs(record, result.inputs, system.names, record["time"])
    add_body(record, result.body)
    name = result.body.name
    record.facts |= facts_of(kind, f"{what} of the soft body {name}", result.status) | {"robot": name}
    return record


def _add_readings(record: Record, system: SoftSystem, states: list[SoftState]) -> None:
    """What is driven, followed and measured, over time."""
    frames = system.frames
    places = [[frames.position(state.x, k) for k in range(len(frames.names))] for state in states]
    record.add("effector", ("effector",), np.array(frames.names, dtype=object), "", "names of the effectors")
    shape = (len(states), len(frames.names), 3)
    record.add("position", ("time", "effector", "axis"), np.reshape(places, shape), "m", "positions of the effectors")
    record.add("sensor", ("sensor",), np.array(system.sensors, dtype=object), "", "names of the strings")
    record.add(
        "length", ("time", "sensor"), [system.readings(state) for state in states], "m", "lengths of the strings"
    )
    strokes = [system.strokes(state) for state in states]
    record.add(
        "stroke", ("time", "actuator"), strokes, "", "shortening [m] of tendons, gain of volume [m^3] of chambers"
    )


def restore(record: Record, body: SoftBody | None = None) -> SoftEquilibrium | SoftTrajectory:
    """Return the result of a record, with its own body or with one that is given."""
    system = SoftSystem(read_body(record) if body is None else body, free=True)
    t, x = record.times(), record.floats("x", 3)
    if x.shape != (len(t), *system.rest.x.shape) or not np.array_equal(record["rest"], system.rest.x):
        raise DescriptionError("its nodes are not those of the body.")
    status = Status(**status_of(record.facts))
    if record.facts["kind"] == MOTION:
        v, mass = record.floats("v", 3), mass_blocks(system)
        return SoftTrajectory(system.body, system, t, x, v, mass, status, read_inputs(record))
    rotations = record.floats("rotation", 4)[0] if "rotation" in record else system.rest.rotations
    if rotations.shape != system.rest.rotations.shape:
        raise DescriptionError("its rigid parts are not those of the body.")
    efforts = system.efforts(read_inputs(record))
    return SoftEquilibrium(system.body, system, SoftState(x[0], rotations), efforts, status)
