"""Magnitudes that are valid but unlikely, and the slip of units they speak for. All of them only warn.

The limits are ratios where there is something to compare with (a tendon with the rod it runs along, a thickness with a
length, a rotation with full turns); the others are far from everything that robots are made of, and near to what a usual slip
gives: millimetres for metres, MPa for Pa, g/cm^3 for kg/m^3, degrees for radians.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe.rest import ConstantCurvature
from anguilla.errors import warn

if TYPE_CHECKING:
    from anguilla.describe.rod import Rod

__all__ = [
    "check_angle",
    "check_area",
    "check_body",
    "check_fluid",
    "check_gravity",
    "check_length",
    "check_offset",
    "check_place",
    "check_rod",
    "check_target",
    "check_volume",
    "check_width",
]

WIDEST = 2.0  # [m] half width of a section, or thickness of a rod
LONG = 20.0  # lengths of a robot that a tendon may be given, or a target be away
LARGEST = 10.0  # [m] side of a soft volume
SOFTEST = 100.0  # [Pa] Young's modulus; gels that hold their shape have 1 kPa
METAL, METAL_YOUNG = 4500.0, 1e8  # [kg/m^3], [Pa]: nothing as heavy is as soft
GRAMS = (0.5, 25.0)  # densities of solids in g/cm^3; as kg/m^3 they are between those of air and of foam
TONNES = (1e-10, 1e-7)  # in t/mm^3
LONGEST, SLENDEST = 50.0, 2000.0  # [m] length of a rod, if it is this many times its thickness
TURNS = 4.0 * math.pi  # [rad] two full turns
FAR_OFF = 100.0  # half widths of a rod that a tendon may run beside it, and one length of the rod
FAR_AWAY = (20.0, 100.0)  # [m], and lengths of a part, from the frame it is attached to
GRAVITY = {"cm/s^2": 981.0, "mm/s^2": 9810.0, "ft/s^2": 32.2, "in/s^2": 386.0}
WATER = (0.99, 1.04)  # densities of fresh and of salt water in g/cm^3
HEAVIEST = 3e4  # [kg/m^3] beyond all solids
TOO_HEAVY = 10.0  # times that: small balls may stand for large masses


def check_width(name: str, half: float, given: float) -> None:
    """Half width [m] of a section, and the number that was given for it."""
    if half > WIDEST:
        warn(f"{name} = {given:g} m is large for a rod: is it in millimetres? {given:g} mm are {1e-3 * given:g} m.")


def check_rod(rod: Rod, slenderness: float) -> None:
    """A rod, and its length over its thickness."""
    length, material = f"Rod.length = {rod.length:g} m", rod.material
    if slenderness < (0.5 if rod.section.may_be_flat else 2.0):
        thick = rod.length / slenderness
        question = f"is the section in millimetres, not in metres ({thick:g} m thick)?" if slenderness < 0.2 else ""
        _rod(length, slenderness, question or "is the length in metres?")
    elif slenderness > 1e5:
        _rod(length, slenderness, "are both the length and the section in metres?")
    elif rod.length / slenderness > WIDEST:
        _rod(length, slenderness, "are they in metres, not in millimetres?")
    elif rod.length > LONGEST and slenderness > SLENDEST:
        _rod(length, slenderness, f"is it in millimetres? {rod.length:g} mm are {1e-3 * rod.length:g} m.")
    _check_rest(rod)
    if rod.section.is_plain and rod.stiffness is None and rod.shape is None:
        _check_stiffness(material.young, material.density)
    if rod.section.is_plain:
        _check_density(material.density)


def _check_rest(rod: Rod) -> None:
    """A rest shape that is an arc, which would wind over itself."""
    if not isinstance(rod.rest, ConstantCurvature):
        return
    bends = rod.rest.bend_y, rod.rest.bend_z
    turn = math.hypot(*bends) * rod.length
    if rod.rest.twist == 0.0 and turn > TURNS:
        told = f"the arc of {rod.length:g} m bends by {turn / (2.0 * math.pi):.3g} turns"
        warn(f"ConstantCurvature = {math.hypot(*bends):g} rad/m: {told}; is it in degrees, or a radius?")


def _rod(length: str, slenderness: float, question: str) -> None:
    warn(f"{length} is {slenderness:.3g} times the thickness of its section: {question}")


def _check_stiffness(young: float, density: float) -> None:
    told = f"Material.young = {young:g} Pa"
    if 1.0 <= young < SOFTEST:  # below, the material itself has said so
        warn(f"{told} is softer than any gel: is it in MPa or GPa? {young:g} MPa are {young:g}e6 Pa.")
    elif density > METAL and young < METAL_YOUNG:
        warn(f"{told} with a density of {density:g} kg/m^3 is a metal softer than rubber: is young in MPa or GPa?")


def _check_density(density: float) -> None:
    told = f"Material.density = {density:g} kg/m^3"
    if GRAMS[0] <= density <= GRAMS[1]:
        warn(f"{told} is lighter than foam: is it in g/cm^3? {density:g} g/cm^3 are {1e3 * density:g} kg/m^3.")
    elif TONNES[0] <= density <= TONNES[1]:
        warn(f"{told} is next to nothing: is it in t/mm^3? Then it is {1e12 * density:g} kg/m^3.")


def check_gravity(value: Any) -> None:
    """Gravity, a vector [m/s^2]."""
    size = float(np.linalg.norm(value))
    for unit, usual in GRAVITY.items():
        if abs(size - usual) < 0.02 * usual:
            warn(f"Robot.gravity = {size:g} m/s^2: is it in {unit}? On earth it is 9.81 m/s^2.")


def check_angle(name: str, angle: float) -> None:
    """An angle [rad]."""
    if abs(angle) > TURNS:
        turns = abs(angle) / (2.0 * math.pi)
        right = f"{angle:g} degrees are {math.radians(angle):.4g} rad"
        warn(f"{name} = {angle:g} rad is {turns:.3g} turns: is it in degrees? {right}.")


def check_volume(name: str, size: float) -> None:
    """The largest side [m] of the box around a soft volume."""
    if size > LARGEST:
        warn(f"{name} is {size:g} m large: are its sizes in millimetres? {size:g} mm are {1e-3 * size:g} m.")


def check_offset(name: str, offset: NDArray[np.float64], half: float, length: float) -> None:
    """Offsets (m, 3) [m] of a line from the centre of a rod with this half width and length [m]."""
    far = float(np.abs(offset).max()) if len(offset) else 0.0
    if far > max(FAR_OFF * half, length):
        warn(
            f"{name} runs {far:g} m beside a rod of {length:g} m that is {2.0 * half:g} m thick: is it in millimetres? "
            f"{far:g} mm are {1e-3 * far:g} m."
        )


def check_length(name: str, given: float, robot: float) -> bool:
    """Length [m] that a tendon is given, and that of its robot [m]; returns whether it was told of."""
    if given <= LONG * robot:
        return False
    warn(
        f"The input of the tendon {name!r} is a length of {given:g} m in a robot that is {robot:.3g} m long, and leaves it "
        f"slack: is it in millimetres? {given:g} mm are {1e-3 * given:g} m."
    )
    return True


def check_target(name: str, way: float, size: float) -> None:
    """How far [m] a target is from what is to reach it, on a robot of this size [m]."""
    if way > LONG * size:
        warn(
            f"The target of {name!r} is {way:.4g} m away from it, {way / size:.3g} times the size of the robot: is it in "
            "millimetres? 100 mm are 0.1 m."
        )


def check_area(name: str, area: float, half: float, length: float) -> None:
    """Area [m^2] of a chamber in a rod with this half width and length [m]."""
    if area > 10.0 * (2.0 * half) ** 2 and area > length * half:
        warn(
            f"{name} = {area:g} m^2 is {area / (math.pi * half**2):.3g} times the section of its rod: is it in mm^2 or cm^2? "
            f"{area:g} mm^2 are {1e-6 * area:g} m^2."
        )


def check_fluid(name: str, density: float) -> None:
    """Density of a fluid [kg/m^3]."""
    if WATER[0] <= density <= WATER[1]:
        warn(f"{name} = {density:g} kg/m^3: is it in g/cm^3? Water has 1000 kg/m^3; air has 1.2 kg/m^3.")


def check_place(name: str, place: NDArray[np.float64], size: float) -> None:
    """Where a part of this size [m] is attached to a frame, (3,) [m]."""
    far = float(np.abs(place).max())
    if far > FAR_AWAY[0] and far > FAR_AWAY[1] * size > 0.0:
        warn(
            f"{name} is attached {far:g} m from its frame, {far / size:.3g} times its own size: is the pose in millimetres? "
            f"{far:g} mm are {1e-3 * far:g} m."
        )


def check_body(mass: float, volume: float) -> None:
    """Mass [kg] of a body with this volume [m^3]."""
    if mass > TOO_HEAVY * HEAVIEST * volume:
        warn(
            f"RigidBody.mass = {mass:g} kg in {volume:.3g} m^3 is heavier than any known solid: is it in grams? "
            f"{mass:g} g are {1e-3 * mass:g} kg."
        )
