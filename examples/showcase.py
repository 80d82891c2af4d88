"""Small robots to start from: each is also a file in examples/robots, and a card in the showcase of the documentation.

`ROBOTS` has a function for each; `main` finds the equilibrium or a short motion of every one. Functions of time and of arc
length are written as `Expression`s, as in a file, so that `write_robot` can write these robots.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.files import Expression

RUBBER = ag.Material(young=1e6, poisson=0.49, density=1000, damping=0.01)
SILICONE = ag.Material(young=4e5, poisson=0.5, density=1070, damping=0.03)
STEEL = ag.Material(young=207e9, poisson=0.3, density=7800, damping=2e-4)
DOWN = np.array([[0.0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]])  # turns x, the axis of a rod, to -z
UP = np.array([[0.0, 0, -1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])  # turns x to z


def cantilever():
    """A steel strip, clamped at one end, with a weight on the other."""
    robot = ag.Robot("cantilever")
    strip = ag.Rod(0.5, ag.Rectangle(0.02, 0.001), STEEL, ag.kirchhoff(4))
    beam = robot.add(strip, at=robot.ground, name="beam")
    robot.add(ag.RigidBody.sphere(0.01, mass=0.03), at=beam.tip, name="weight")
    return robot


def octopus_arm():
    """A tapered arm with three straight tendons and one that winds around it."""
    length = 0.4
    robot = ag.Robot("octopus_arm")
    section = ag.taper(ag.Circle(0.02), ag.Circle(0.004), length)
    arm = robot.add(
        ag.Rod(length, section, SILICONE, ag.kirchhoff(5, twist_modes=3)), at=robot.ground, pose=DOWN, name="arm"
    )
    for k in range(3):
        angle = np.radians(120 * k)
        line = ag.convergent((0.014 * np.cos(angle), 0.014 * np.sin(angle)), (0, 0), length)
        robot.actuate(f"straight_{k + 1}", ag.Tendon(arm, line))
    winding = ["(0.014 - 0.028 * X) * cos(15 * X)", "(0.014 - 0.028 * X) * sin(15 * X)"]
    robot.actuate("winding", ag.Tendon(arm, ag.FunctionRouting(function=_list(winding, "X"))))
    return robot


def trunk():
    """A trunk of two segments, bent and lengthened by three pressure chambers in each."""
    robot = ag.Robot("trunk", gravity=(9.81, 0, 0))
    rod = ag.Rod(0.15, ag.Circle(0.025), SILICONE, ag.extensible_kirchhoff(3, twist_modes=1, stretch_modes=2))
    low = robot.add(rod, at=robot.ground, name="low")
    high = robot.add(rod, at=low.tip, name="high")
    for name, part, turn in (("low", low, 0), ("high", high, 60)):
        for k in range(3):
            angle = np.radians(turn + 120 * k)
            line = ag.parallel(y=0.014 * np.cos(angle), z=0.014 * np.sin(angle))
            robot.actuate(f"{name}_{k + 1}", ag.Chamber(part, line, area=1.2e-4))
    return robot


def eel():
    """A floating body bent by a travelling wave of muscle torque (without water it wriggles on the spot)."""
    robot = ag.Robot("eel", gravity=(0, 0, 0))
    section = ag.taper(ag.Ellipse(0.02, 0.03), ag.Ellipse(0.004, 0.008), 0.6)
    body = robot.add(ag.Rod(0.6, section, RUBBER, ag.planar(6)), at=robot.ground, joint=ag.Free(), name="body")
    wave = ["0", "0", "min(4 * t, 1) * 0.06 * (1 - X / 0.6) * sin(12 * X - 8 * t)"]
    robot.load(ag.Muscle(body, moment=_list(wave, "X, t"), name="wave"))
    return robot


def swimmer():
    """An eel that swims: its bending is prescribed, the water answers, and the motion of the body follows."""
    robot = ag.Robot("swimmer", gravity=(0, 0, 0))
    gait = ag.TravellingWave(envelope=(2.0, 6.0), wavelength=0.6, period=0.8)
    skin = ag.Material(young=2e4, density=1000, damping=0.01)
    rod = ag.Rod(0.6, ag.Ellipse(0.015, 0.03), skin, shape=gait, intervals=24)
    eel = robot.add(rod, at=robot.ground, joint=ag.Free(), name="eel")
    robot.load(ag.Morison(eel, name="water"))
    return robot


def pendulum_string():
    """A soft string with a ball at its end, swinging."""
    robot = ag.Robot("pendulum_string")
    string = ag.Rod(0.5, ag.Circle(0.002), RUBBER, ag.kirchhoff(4, twist_modes=1))
    line = robot.add(string, at=robot.ground, joint=ag.Spherical(), pose=DOWN, name="string")
    robot.add(ag.RigidBody.sphere(0.015, mass=0.05), at=line.tip, name="ball")
    robot.load(
        ag.Wrench(line.tip, force=_list(["0.3 if t < 0.2 else 0", "0.1 if t < 0.1 else 0", "0"], "t"), name="push")
    )
    return robot


def helix_spring():
    """A coil spring of wire, hanging, with a weight on its end."""
    robot = ag.Robot("helix_spring")
    rest = ag.Helix(radius=0.02, pitch=0.008)
    length = 5 * float(np.hypot(2 * np.pi * 0.02, 0.008))
    strains = ag.Strains(twist=12, bend_y=12, bend_z=12)
    wire = robot.add(
        ag.Rod(length, ag.Circle(0.001), STEEL, strains, rest=rest), at=robot.ground, pose=_along_helix(), name="wire"
    )
    robot.load(ag.TipWrench(wire, force=(0, 0, -1.0), name="weight"))
    return robot


def _along_helix():
    """Frame at the root of a helix that hangs along -z: x along the thread, y to the axis."""
    slope = np.arctan2(0.008, 2 * np.pi * 0.02)
    x = np.array([0.0, -np.cos(slope), -np.sin(slope)])
    y = np.array([-1.0, 0.0, 0.0])
    pose = np.eye(4)
    pose[:3, :3] = np.stack([x, y, np.cross(x, y)], axis=1)
    pose[:3, 3] = 0.02, 0.0, 0.0
    return pose


def tripod():
    """A plate on three soft legs: two loops."""
    robot = ag.Robot("tripod")
    rod = ag.Rod(0.3, ag.Circle(0.01), ag.Material(5e6, 1000, poisson=0.45, damping=0.01), ag.kirchhoff(4))
    feet = 0.1 * np.array([[np.cos(a), np.sin(a), 0] for a in np.radians([0, 120, 240])])
    legs = [
        robot.add(rod, at=robot.ground.offset_by(foot), pose=UP, name=f"leg_{k + 1}") for k, foot in enumerate(feet)
    ]
    corners = feet @ UP[:3, :3]
    plate = robot.add(ag.RigidBody.cylinder(0.12, 0.01, mass=0.1), at=legs[0].tip.offset_by(-corners[0]), name="plate")
    for k in (1, 2):
        robot.close(legs[k].tip, plate.at(corners[k]), name=f"foot_{k + 1}")
    robot.load(ag.Wrench(plate.frame, force=(0.3, 0, 0), name="push"))
    return robot


def whip():
    """A whip on a shoulder whose motion is prescribed."""
    robot = ag.Robot("whip")
    section = ag.taper(ag.Circle(0.006), ag.Circle(0.0015), 0.8)
    shoulder = ag.Revolute((0, 0, 1), motion=Expression("0.9 * sin(5 * t)"))
    robot.add(
        ag.Rod(0.8, section, ag.Material(5e6, 1100, poisson=0.48, damping=0.01), ag.planar(7)),
        at=robot.ground, joint=shoulder, pose=DOWN, name="whip",
    )  # fmt: skip
    return robot


def bow():
    """A wooden bow, bent by a string that runs through the air from end to end."""
    robot = ag.Robot("bow", gravity=(0, 0, 0))
    wood = ag.Material(young=1.1e10, poisson=0.3, density=700, damping=1e-3)
    limb = ag.Rod(0.6, ag.taper(ag.Rectangle(0.03, 0.012), ag.Rectangle(0.02, 0.007), 0.6), wood, ag.kirchhoff(4))
    handle = robot.add(ag.RigidBody.box((0.1, 0.035, 0.03), mass=0.2), at=robot.ground, name="handle")
    tilt = np.radians(10)
    ends = []
    for name, turn in (("upper", tilt), ("lower", np.pi - tilt)):
        pose = np.eye(4)
        c, s = np.cos(turn), np.sin(turn)
        pose[:3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
        pose[:3, 3] = 0.05 * np.sign(c), 0, 0
        ends.append(robot.add(limb, at=handle.at(pose), name=name).tip)
    robot.actuate("string", ag.Tendon(ends, ag.parallel()))
    return robot


def flying_gripper():
    """A drone that carries four soft fingers, each closed by a tendon."""
    robot = ag.Robot("flying_gripper")
    drone = robot.add(
        ag.RigidBody.cylinder(0.08, 0.03, mass=0.8), at=robot.ground, joint=ag.Free(), pose=DOWN, name="drone"
    )
    finger = ag.Rod(0.14, ag.taper(ag.Circle(0.01), ag.Circle(0.005), 0.14), SILICONE, ag.kirchhoff(3, twist_modes=1))
    for k in range(4):
        angle = np.pi * k / 2
        c, s = np.cos(angle), np.sin(angle)
        pose = np.eye(4)  # y of a finger points away from the middle
        pose[1:3, 1:3] = [[c, -s], [s, c]]
        pose[:3, 3] = 0.015, 0.05 * c, 0.05 * s
        part = robot.add(finger, at=drone.at(pose), name=f"finger_{k + 1}")
        robot.actuate(f"pull_{k + 1}", ag.Tendon(part, ag.parallel(y=-0.004)))
    robot.load(ag.Wrench(drone.frame, force=(0, 0, 8.925), name="lift"))  # its weight
    robot.load(ag.Thruster(drone.frame, kp=(2, 2, 2, 15, 15, 15), ki=(4, 4, 4, 20, 20, 20), name="hover"))
    return robot


ROBOTS = {
    build.__name__: build
    for build in (
        cantilever,
        octopus_arm,
        trunk,
        eel,
        swimmer,
        pendulum_string,
        helix_spring,
        tripod,
        whip,
        bow,
        flying_gripper,
    )
}
INPUTS = {
    "octopus_arm": {"straight_1": 3.0, "winding": 2.0},
    "trunk": {"low_1": 1.5e5, "high_2": 2e5},
    "bow": {"string": 60.0},
    "flying_gripper": {f"pull_{k + 1}": 1.0 for k in range(4)},
}
MOVING = {
    "eel": 0.6,
    "swimmer": 2.4,
    "pendulum_string": 0.5,
    "whip": 0.6,
    "flying_gripper": 0.5,
}  # [s]; of the others, the equilibrium


def _list(texts, arguments):
    """A vector of formulas as one function of its arguments."""
    return Expression("(" + ", ".join(texts) + ")", arguments=tuple(a.strip() for a in arguments.split(",")))


@dataclass
class Result:
    found: dict  # Equilibrium or Trajectory by name


def main(names=tuple(ROBOTS)):
    found = {}
    for name in names:
        robot, inputs = ROBOTS[name](), INPUTS.get(name)
        if name in MOVING:
            found[name] = ag.simulate(robot, duration=MOVING[name], dt=0.01, inputs=inputs)
        else:
            found[name] = ag.statics(robot, inputs=inputs)
    return Result(found)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for result in main().found.values():
        print(result)
        print(ag.animate(result, folder / f"{result.robot.name}.html"))
