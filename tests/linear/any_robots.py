"""Random robots of every kind for the ways of linear algebra: `made(index)` is always the same robot."""

from types import SimpleNamespace

import numpy as np

import anguilla as ag
from anguilla.lie import exp6
from anguilla.results.kinematics import motion_of
from anguilla.results.lines import cable_length

# Every so many robots stay in the plane x-y; have nothing that joins distant parts; have parts that nothing holds.
FLAT, OPEN, LOOSE = 5, 3, 4
LENGTH = 0.3  # [m] of a rod
SOFT = ag.Material(young=4e5, poisson=0.4, density=1100.0, damping=0.02)


def made(index):
    """`robot`, `inputs`, `rests` (an equilibrium can be asked for), `kinds` (what it has)."""
    found = _Maker(index)
    found.parts()
    for kind in ("close", "actuate", "load", "water", "touch"):
        getattr(found, kind)()
    return SimpleNamespace(robot=found.robot, inputs=found.inputs, rests=found.rests, kinds=found.kinds)


class _Maker:
    def __init__(self, index):
        self.rng, self.flat = np.random.default_rng([19, index]), index % FLAT == 0
        self.open, self.loose = index % OPEN == 0, index % LOOSE == 2
        gravity = (2.0, -9.0, 0.0) if self.flat else (1.0, 2.0, -9.0)
        self.robot = ag.Robot(f"any_{index}", gravity=gravity)
        self.inputs, self.rests, self.kinds, self.rods, self.bodies = {}, True, set(), [], []
        self.ends, self.spare = {}, []

    def chance(self, p):
        return self.rng.random() < p

    def of(self, items):
        return items[int(self.rng.integers(len(items)))]

    def vector(self, size):
        x = self.rng.normal(size=3)
        if self.flat:
            x[2] = 0.0
        return tuple(size * x / np.linalg.norm(x))

    def turn(self, size):
        """A moment or a rotation."""
        return (0.0, 0.0, float(size * self.rng.normal())) if self.flat else self.vector(size)

    # Parts ------------------------------------------------------------------------------------------------------------

    def parts(self):
        robot = self.robot
        if self.chance(0.4):  # a body fixed to the ground carries others
            self.keep(robot.add(ag.RigidBody.sphere(0.05, mass=0.2), at=robot.ground, pose=(0.1, 0.2, 0.0)))
            self.kinds.add("fixed")
        for _ in range(int(self.rng.integers(4, 15 if self.open else 10))):
            ground = not self.ends or self.chance(0.15)
            at = robot.ground if ground else self.ends[self.of(list(self.ends)[-2:])]
            if not ground and self.rods and self.chance(0.15):
                at = self.of(self.rods).section(0.4 * LENGTH)
            pose = exp6(np.array([*self.turn(0.4), *(self.vector(0.05) if self.chance(0.3) else (0.0, 0.0, 0.0))]))
            body = self.chance(0.4)
            what = self.body() if body else self.rod()
            self.keep(robot.add(what, at=at, joint=self.joint(ground, body), pose=pose))

    def keep(self, part):
        if hasattr(part, "tip"):
            self.rods.append(part)
            self.ends[part.name] = part.tip
        else:
            self.bodies.append(part)
            self.ends[part.name] = part.at((0.08, 0.02, 0.0))

    def body(self):
        size = (0.1, 0.06, 0.04)
        com = (0.03, 0.01, 0.0 if self.flat else 0.02)
        return ag.RigidBody.box(size, mass=float(self.rng.uniform(0.05, 0.2)), com=com)

    def rod(self):
        more = {"intervals": int(self.rng.integers(2, 5))}
        if self.flat:
            strains = self.of([ag.Strains(bend_z=2), ag.Strains(bend_z=3, stretch=1)])
        else:
            choices = [ag.kirchhoff(1), ag.kirchhoff(2), ag.extensible_kirchhoff(2), ag.reissner(1), ag.planar(3)]
            strains = self.of([*choices, ag.Strains(bend_y=ag.PiecewisePolynomial(2, 1), twist=1)])
        if self.chance(0.2):
            more["rest"] = ag.ConstantCurvature(bend_z=1.0)
        if self.chance(0.12):
            self.kinds.add("shape")
            names = "bend_z" if self.flat else "bend_y"
            gait = ag.gaits.TravellingWave(1.0, wavelength=0.3, period=1.0, strain=names)
            return ag.Rod(LENGTH, ag.Circle(0.02), SOFT, shape=gait, intervals=4)
        section = self.of(
            [ag.Circle(0.02), ag.Ellipse(0.02, 0.03), ag.taper(ag.Circle(0.025), ag.Circle(0.015), LENGTH)]
        )
        return ag.Rod(LENGTH, section, SOFT, strains, **more)

    def joint(self, ground, body):
        if self.chance(0.25 if body else 0.5) and not (body and ground):
            return ag.Fixed()
        stiff, damping = float(self.rng.uniform(3.0, 10.0)), float(self.rng.uniform(0.0, 0.05))
        held = {"stiffness": stiff, "damping": damping}
        if self.flat:
            axes = [ag.Revolute("z", **held), ag.Prismatic("x", stiffness=300.0, damping=0.5)]
        else:
            axes = [
                ag.Revolute(self.vector(1.0), **held),
                ag.Prismatic(self.vector(1.0), stiffness=300.0),
                ag.Universal("y", "z", stiffness=(stiff, 2 * stiff), rest=(0.1, -0.1)),
                ag.Cylindrical(self.vector(1.0), stiffness=(300.0, stiff)),
                ag.Helical(self.vector(1.0), pitch=0.05, **held),
                ag.Planar(self.vector(1.0), stiffness=(300.0, 300.0, stiff)),
            ]
            if self.loose and self.chance(0.25):
                self.kinds.add("ball")
                self.rests = False
                return ag.Spherical(damping=(0.02, 0.02, 0.02))
            if ground and self.loose and self.chance(0.7):
                self.kinds.add("free")
                self.rests = False
                return ag.Free()
        if self.chance(0.12):
            self.kinds.add("motion")
            size = float(self.rng.uniform(0.1, 0.4))
            axis = "z" if self.flat else self.vector(1.0)
            return ag.Revolute(axis, motion=lambda t: size * (1.0 - np.cos(3.0 * t)))
        return self.of(axes)

    # What holds and drives them ---------------------------------------------------------------------------------------

    def end(self):
        return self.ends[self.of(list(self.ends))]

    def poses(self, *frames):
        model = ag.Model(self.robot)
        zero = np.zeros((1, model.size))
        found = motion_of(model, list(frames), zero, zero, zero)[0]
        poses = [np.eye(4) for _ in frames]
        for pose, row in zip(poses, found, strict=True):
            pose[:3, :3], pose[:3, 3] = row[:9].reshape(3, 3), row[9:12]
        return poses

    def close(self):
        """Loops, closed where the rest shape has them; few rows, so that something is left to move."""
        if self.open or not self.chance(0.6) or self.robot.size < 6:
            return
        self.kinds.add("loop")
        for _ in range(int(self.rng.integers(1, 3))):
            names = list(self.ends)
            b = names[-1 if self.chance(0.6) else int(self.rng.integers(len(names)))]
            if self.robot.part(b).size == 0 or b in self.spare:
                continue
            self.spare.append(b)
            a = self.robot.ground if self.chance(0.5) or names[0] == b else self.ends[names[0]]
            here, there = self.poses(a, self.ends[b])
            joint = ag.Revolute("z") if self.flat else self.of([ag.Spherical(), ag.Planar(self.vector(1.0))])
            self.robot.close(a, self.ends[b], joint=joint, pose=np.linalg.inv(here) @ there)
        if self.loose and self.chance(0.8) and self.robot.size > 12:
            self.kinds.add("rolling")
            self.rests = False
            self.robot.constrain(ag.TwistConstraint(self.end(), (0, 0, 0.05, 0, 1, 0), rate=0.0))

    def actuate(self):
        z = {} if self.flat else {"z": 0.01}
        for k, rod in enumerate(self.rods[:2]):
            if not self.chance(0.4):
                continue
            self.kinds.add("tendon")
            routing = ag.parallel(y=0.012) if self.flat or self.chance(0.5) else ag.helical(0.012, 0.3)
            friction = 0.2 if self.chance(0.2) else 0.0
            self.robot.actuate(f"along_{k}", ag.Tendon(rod, routing, friction=friction))
            self.inputs[f"along_{k}"] = lambda t: 1.0 + 0.5 * np.sin(4.0 * t)
        if self.chance(0.25) and self.rods:
            self.kinds.add("chamber")
            self.robot.actuate("air", ag.Chamber(self.rods[-1], ag.parallel(y=0.01), area=1e-4))
            self.inputs["air"] = 5e3
        if self.open:
            return
        if self.rods and self.chance(0.2):
            self.line("inside", [self.rods[-1]], ag.parallel(y=0.01))
        if len(self.rods) > 1 and self.chance(0.5):
            self.line("across", [self.rods[0], self.rods[-1]], ag.parallel(y=-0.01, **z))
        if len(self.bodies) > 1 and self.chance(0.5):
            path = [self.bodies[0].at((0.0, 0.03, 0.0)), self.bodies[1].at((0.05, 0.03, 0.0))]
            path += [self.rods[0]] if self.rods and self.chance(0.3) else [self.bodies[-1].at((0.08, -0.03, 0.0))]
            self.line("over", path, ag.parallel(y=0.01))

    def line(self, name, path, routing):
        """A line along rods and through the air, by tension or by length."""
        kind = self.of(["tension", "tension", "length", "stretchy"])
        self.kinds.add(f"line by {kind}")
        if kind == "tension":
            self.robot.actuate(name, ag.Tendon(path, routing))
            self.inputs[name] = 0.8
            return
        more = {"compliance": 1e-3} if kind == "stretchy" else {}
        self.robot.actuate(name, ag.Tendon(path, routing, by="length", **more))
        model = ag.Model(self.robot)
        rest = float(cable_length(model, name, np.zeros((1, model.size)))[0][0])
        self.inputs[name] = rest - 2e-3 if more else lambda t: rest - 0.1 * t**2

    def load(self):
        robot = self.robot
        if self.chance(0.6):
            robot.load(ag.Wrench(self.end(), force=self.vector(0.4), moment=self.turn(0.02), follower=self.chance(0.5)))
        if self.rods and self.chance(0.3):
            force = np.array(self.vector(0.5))
            robot.load(ag.DistributedWrench(self.of(self.rods), force=lambda X, t: force * X))
        if self.rods and self.chance(0.2):
            self.kinds.add("muscle")
            robot.load(ag.Muscle(self.of(self.rods), moment=(0.0, 0.0, 0.01), gain=(0, 0, 0.01, 0, 0, 0)))
        for _ in range(2):
            if len(self.ends) > 1 and self.chance(0.4) and not self.open:
                self.kinds.add("spring")
                a, b = self.rng.permutation(list(self.ends))[:2]
                robot.load(ag.Spring(self.ends[str(a)], self.ends[str(b)], 5.0, rest=0.1, damping=0.1))
        if self.chance(0.2) and not self.open:
            robot.load(ag.Spring(robot.ground.offset_by((0.3, 0.4, 0.0)), self.end(), 5.0, rest=0.2))
        if self.chance(0.25) and not self.flat:
            self.kinds.add("magnet")
            where = self.of(self.rods) if self.rods and self.chance(0.5) else self.end()
            robot.load(ag.Magnet(where, (0.2, 0.1, 0.0), field=(0.02, 0.0, 0.05), gradient=np.diag([0.3, 0.2, -0.5])))
        if self.loose and self.chance(0.9) and not self.flat:
            self.kinds.add("thruster")
            self.rests = False
            robot.load(ag.Thruster(self.end(), kp=(0.01,) * 3 + (0.2,) * 3, ki=0.1, velocity=(0.1, 0.0, 0.05)))

    def water(self):
        if not self.chance(0.35):
            return
        self.kinds.add("water")
        current = self.vector(0.1)
        for part in self.rods:
            kind = self.of(["morison", "resistive", "stream"][: 2 if self.open else 3])
            if kind == "stream":
                self.kinds.add("stream")
                self.robot.load(ag.Lighthill(part, 1000.0, current=current))
            elif kind == "morison":
                self.robot.load(ag.Morison(part, 1000.0, current=current))
                self.robot.load(ag.Buoyancy(part, 1000.0))
            else:
                self.robot.load(ag.ResistiveForce(part, tangential=0.5, normal=1.0))
        for part in self.bodies:
            drag, added = (1.0, 2.0, 2.0), (0.05, 0.05, 0.05)
            self.robot.load(ag.Hull(part.frame, drag=drag, added=added, displaced=0.05, current=current))

    def touch(self):
        if not self.chance(0.35):
            return
        self.kinds.add("contact")
        frame = self.end()
        (pose,) = self.poses(frame)
        down = np.array([0.0, -1.0, 0.0]) if self.flat else np.array([0.0, 0.0, -1.0])
        floor = ag.HalfSpace(tuple(-down), -float(down @ pose[:3, 3]) - 0.02)
        more = {"friction": 0.4, "slip": 0.01} if self.chance(0.5) else {}
        self.robot.load(ag.Contact(frame, floor, 200.0, radius=0.01, smooth=5e-3, damping=0.5, **more))
        if self.rods and self.chance(0.4):
            self.robot.load(ag.Contact(self.of(self.rods), floor, 500.0, smooth=5e-3))
