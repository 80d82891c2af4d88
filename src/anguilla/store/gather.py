"""What a result is worth keeping: its states, and what most people want to read from them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe.frames import Frame, RodHandle
from anguilla.describe.robot import Robot
from anguilla.errors import AnguillaError, DescriptionError
from anguilla.files import robot_document
from anguilla.files.write import to_yaml
from anguilla.store.facts import facts_of
from anguilla.store.inputs import add_inputs
from anguilla.store.record import Record

__all__ = ["gather", "robot_file", "size_of"]

ENERGIES = 4  # kinds
SECTIONS = 5  # frames along a rod, ends included
TWIST = ("omega_x", "omega_y", "omega_z", "v_x", "v_y", "v_z")

Array = NDArray[np.float64]


def gather(states: Any) -> Record:
    """Return the record of a Trajectory or an Equilibrium.

    Coordinates, rates and accelerations with their labels; poses and twists of the ends of the parts and of sections
    between; strains and internal forces at these sections; energies, inputs, lengths and tensions of tendons; the robot as a
    robot file.
    """
    robot, record = states.system.robot, Record()
    t, q, v, lam = states.stored
    record.add("time", ("time",), t, "s", "time")
    record.add(
        "coordinate", ("coordinate",), np.array(states.coordinates, dtype=object), "", "labels of the coordinates"
    )
    record.add(
        "coordinate_unit", ("coordinate",), np.array(_units(robot), dtype=object), "", "units of the coordinates"
    )
    record.add("q", ("time", "coordinate"), q, "", "coordinates")
    record.add("v", ("time", "coordinate"), v, "", "rates of the coordinates")
    try:
        record.add("a", ("time", "coordinate"), states.states.a, "", "accelerations of the coordinates")
    except AnguillaError as error:
        record.facts["no_accelerations"] = str(error)
    record.add("multipliers", ("time", "multiplier"), lam, "", "multipliers of the constraints")
    if noted := states.noted:
        record.add("noted", ("noted",), np.array(list(noted)), "", "states at which it is told what forces remember")
        memory = np.array([memory.flat for memory in noted.values()])
        record.add("memory", ("noted", "remembered"), memory, "", "integrals, friction and relaxing material there")
    _add_frames(record, states, robot)
    _add_fields(record, states, robot)
    for name, value in states.energy.items():
        record.add(f"energy_{name}", ("time",), np.atleast_1d(value), "J", f"{name} energy")
    _add_inputs(record, states, robot)
    record.add("robot_file", (), robot_file(robot, t, record), "", "the robot, as a robot file")
    kind = type(states).__name__
    record.facts |= facts_of(kind.lower(), f"{kind} of {robot.name}", states.status) | {"robot": robot.name}
    return record


def size_of(states: Any) -> int:
    """About how many bytes `gather` finds, without soft volumes. A file is smaller where packing gains, as in a plane."""
    robot, (t, q, _, lam) = states.system.robot, states.stored
    rods = sum(isinstance(part, RodHandle) for part in robot.parts)
    motion = 3 * q.shape[1] + lam.shape[1] + (3 + 9 + 6) * len(_frames(robot))
    numbers = motion + 12 * SECTIONS * rods + ENERGIES + 3 * len(robot.actuators) + len(robot.ports)
    return 8 * len(t) * int(1 + numbers)


def _units(robot: Robot) -> list[str]:
    """Unit of each coordinate."""
    units: list[str] = []
    for part in robot.parts:
        units += ["rad" if turns else "m" for turns in part.joint.turns]
        if isinstance(part, RodHandle):
            for name, basis in part.rod.strains.items():
                units += ["rad/m" if name in ("twist", "bend_y", "bend_z") else "1"] * basis.size
    return units


def _frames(robot: Robot) -> list[Frame]:
    frames: list[Frame] = []
    for part in robot.parts:
        if isinstance(part, RodHandle):
            frames += [part.section(float(X)) for X in np.linspace(0.0, part.length, SECTIONS)]
        else:
            frames.append(part.root)
    return frames


def _add_frames(record: Record, states: Any, robot: Robot) -> None:
    frames = _frames(robot)
    place, rotation, twist = states.placed(frames)
    record.add("frame", ("frame",), np.array([f.label for f in frames], dtype=object), "", "labels of the frames")
    record.add("axis", ("axis",), np.array(list("xyz"), dtype=object))
    record.add("component", ("component",), np.array(TWIST, dtype=object))
    record.add("position", ("time", "frame", "axis"), place, "m", "origins of the frames, world axes")
    record.add(
        "rotation", ("time", "frame", "axis", "column"), rotation, "1", "axes of the frames in world axes, as columns"
    )
    record.add("twist", ("time", "frame", "component"), twist, "rad/s, m/s", "twists of the frames in their own axes")


def _add_fields(record: Record, states: Any, robot: Robot) -> None:
    """Strains and internal forces of the rods at some sections, in section axes."""
    rods = [part for part in robot.parts if isinstance(part, RodHandle)]
    if not rods:
        return
    places = [np.linspace(0.0, rod.length, SECTIONS) for rod in rods]
    labels = [rod.section(float(X)).label for rod, along in zip(rods, places, strict=True) for X in along]
    record.add("section", ("section",), np.array(labels, dtype=object), "", "labels of the sections of the rods")
    record.add("section_place", ("section",), np.concatenate(places), "m", "rest arc lengths of the sections")

    shape = len(states.stored.t), len(labels), 3
    dimensions, (bent, stretched) = ("time", "section", "axis"), np.empty((2, *shape))
    for k, (rod, along) in enumerate(zip(rods, places, strict=True)):
        strain, own = np.reshape(states.strain(rod, along), (-1, SECTIONS, 6)), slice(k * SECTIONS, (k + 1) * SECTIONS)
        bent[:, own], stretched[:, own] = strain[..., :3], strain[..., 3:]
    record.add("curvature", dimensions, bent, "rad/m", "twist and bending of the rods, section axes")
    record.add("stretch", dimensions, stretched, "1", "stretch (1 at rest) and shear of the rods, section axes")
    try:
        wrenches = states.wrenches(rods, places)
    except AnguillaError as error:
        record.facts["no_internal_forces"] = str(error)
        return
    moment, force = np.empty((2, *shape))
    for k, wrench in enumerate(wrenches):
        own = slice(k * SECTIONS, (k + 1) * SECTIONS)
        moment[:, own], force[:, own] = wrench[..., :3], wrench[..., 3:]
    record.add("internal_moment", dimensions, moment, "N m", "internal moment of the rods, section axes")
    record.add("internal_force", dimensions, force, "N", "internal force of the rods, section axes")


def _add_inputs(record: Record, states: Any, robot: Robot) -> None:
    names, t = list(robot.actuators), states.stored.t
    add_inputs(record, states.inputs_at_states, names, t)
    add_inputs(record, states.inputs_at_states, list(robot.ports), t, "port", "inputs made by Robot.input")
    lengths = np.reshape(states.lengths, (len(t), len(names)))
    record.add("line_length", ("time", "actuator"), lengths, "m", "length of the line of the actuator in the rods")
    try:
        pulls = [np.broadcast_to(states.tension(name), len(t)) for name in names]
        tensions = np.array(pulls, dtype=float).reshape(len(names), len(t)).T
        record.add(
            "tension", ("time", "actuator"), tensions, "N", "tension of the line of the actuator, negative: it pushes"
        )
    except AnguillaError as error:
        record.facts["no_tensions"] = str(error)
    units = {"actuator": [robot.inputs[name] for name in names], "port": [robot.inputs[name] for name in robot.ports]}
    for kind, texts in units.items():
        if texts:
            record.add(f"{kind}_unit", (kind,), np.array(texts, dtype=object), "", "units of the inputs")


def robot_file(robot: Robot, t: Array, record: Record) -> NDArray[Any]:
    """The text of the robot file; functions in Python become tables at the stored times; empty if there is no way."""
    try:
        try:
            text = to_yaml(robot_document(robot)[0])
        except DescriptionError:
            document, sampled = robot_document(robot, times=t)
            text = json.dumps(document)  # tables may be long, and JSON is quick to read
            record.facts["sampled"] = ", ".join(sampled)
    except DescriptionError as error:
        text, record.facts["no_robot_file"] = "", str(error)
    return np.array(text, dtype=object)
