"""What students and users of other programs write first: each is answered by a sentence with the argument and what was meant.

Three kinds: calls that are refused, calls that are let through with a warning, and robot files and commands.
"""

import pickle

import numpy as np
import pytest

import anguilla as ag
from anguilla.cli import main
from anguilla.describe.paths import number_at
from anguilla.files import FileError, read_text_file

RUBBER = ag.Material(young=1e6, density=1000.0, poisson=0.45)


def robot():
    made = ag.Robot("arm")
    arm = made.add(rod(), at=made.ground, name="arm")
    made.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    return made


def rod(**other):
    given = {"length": 0.3, "section": ag.Circle(0.01), "material": RUBBER, "strains": ag.planar(2)}
    return ag.Rod(**(given | other))


def arm():
    return robot().parts[0]


def bare(**other):
    made = ag.Robot("bare")
    made.add(rod(**other), at=made.ground, name="arm")
    return made


def swing(made):
    return ag.simulate(made, duration=0.02, dt=0.01)


def model_with(efforts):
    made = robot()
    return ag.control.RodModel(made, {"tip": made.parts[0].tip}, efforts=efforts)


def finger():
    made = bare()
    return made.add(ag.RigidBody.box((0.02, 0.01, 0.01), mass=0.01), at=made.parts[0].tip, name="finger")


def water_twice():
    made = bare()
    for _ in range(2):
        made.load(ag.Buoyancy(made.parts[0], density=1000.0))


# (call, words of the sentence: the argument first, what was meant next)
REFUSED = {
    # Matlab, SoRoSim
    "Material(E=, nu=, rho=)": (
        lambda: ag.Material(E=1e6, nu=0.3, rho=1000),
        ["'E'", "'young'", "'poisson'", "'density'"],
    ),
    "Material(E, nu)": (lambda: ag.Material(1e6, 0.3), ["density = 0.3", "Poisson's ratio", "poisson=0.3"]),
    "Material(E, nu, rho)": (lambda: ag.Material(1e6, 0.45, 1000), ["density = 0.45", "swapped", "density=1000"]),
    "Material(E, rho, Eta=)": (
        lambda: ag.Material(1e6, 1000, Eta=1e4),
        ["'Eta'", "'damping'", "viscosity [Pa s] over young"],
    ),
    "Material(youngs_modulus=)": (
        lambda: ag.Material(youngs_modulus=1e6, density=1000),
        ["'youngs_modulus'", "'young'"],
    ),
    "Material(Young=)": (lambda: ag.Material(Young=1e6, density=1000), ["'Young'", "'young'"]),
    "Material(G=)": (lambda: ag.Material(1e6, 1000, G=4e5), ["'G'", "'shear'"]),
    "Material(shear_modulus=)": (lambda: ag.Material(1e6, 1000, shear_modulus=4e5), ["'shear_modulus'", "'shear'"]),
    "Material(poisson_ratio=)": (lambda: ag.Material(1e6, 1000, poisson_ratio=0.4), ["'poisson_ratio'", "'poisson'"]),
    "Material(damping_constant=)": (
        lambda: ag.Material(1e6, 1000, damping_constant=0.1),
        ["'damping_constant'", "'damping'"],
    ),
    "Material without density": (lambda: ag.Material(young=1e6), ["density", "mass per unit volume"]),
    "Material()": (lambda: ag.Material(), ["young (Young's modulus [Pa])", "density"]),
    "Material of text": (lambda: ag.Material("1e6", 1000), ["Material.young", "number [Pa]"]),
    "Material with nu = 0.6": (lambda: ag.Material(1e6, 1000, poisson=0.6), ["Material.poisson", "at most 0.5"]),
    "Circle(diameter=)": (lambda: ag.Circle(diameter=0.02), ["'diameter'", "'radius'", "half the diameter"]),
    "Circle(r=)": (lambda: ag.Circle(r=0.01), ["'r'", "'radius'"]),
    "Circle(R=)": (lambda: ag.Circle(R=0.01), ["'R'", "'radius'"]),
    "Circle(-0.01)": (lambda: ag.Circle(-0.01), ["Circle.radius", "positive number [m]"]),
    "Circle()": (lambda: ag.Circle(), ["radius"]),
    "Circle(0.01, 0.02)": (lambda: ag.Circle(0.01, 0.02), ["1 argument by place (radius)", "0.02 is one too many"]),
    "Rectangle(width=, height=)": (lambda: ag.Rectangle(width=0.01, height=0.02), ["'width'", "'size_y'", "'size_z'"]),
    "Rectangle(w=, h=)": (lambda: ag.Rectangle(w=0.01, h=0.02), ["'w'", "'size_y'", "'size_z'"]),
    "Ellipse(a=, b=)": (lambda: ag.Ellipse(a=0.01, b=0.02), ["'a'", "'semi_y'", "'semi_z'"]),
    "Tube(outer_diameter=)": (lambda: ag.Tube(outer_diameter=0.02, inner=0.005), ["'outer'", "half the diameter"]),
    "Tube(inner, outer)": (lambda: ag.Tube(0.008, 0.01), ["Tube.inner", "smaller than Tube.outer"]),
    # PyElastica, SOFA
    "Rod(L=)": (lambda: rod(L=0.3), ["'L'", "its arguments are"]),
    "Rod(base_length=)": (
        lambda: ag.Rod(base_length=0.3, section=ag.Circle(0.01), material=RUBBER, strains=ag.planar(2)),
        ["'base_length'", "'length'"],
    ),
    "Rod(n_elements=)": (lambda: rod(n_elements=50), ["'n_elements'", "'intervals'"]),
    "Rod(cross_section=)": (
        lambda: ag.Rod(0.3, cross_section=ag.Circle(0.01), material=RUBBER, strains=ag.planar(2)),
        ["'cross_section'", "'section'"],
    ),
    "Rod(0.3, 0.01, ...)": (lambda: rod(section=0.01), ["Rod.section", "Circle(radius)"]),
    "Rod with modulus": (lambda: rod(material=1e6), ["Rod.material", "Material("]),
    "Rod with a number of modes": (lambda: rod(strains=4), ["Rod.strains", "kirchhoff(modes=4)"]),
    "Rod of no length": (lambda: rod(length=0), ["Rod.length", "positive number [m]"]),
    "Rod of NaN": (lambda: rod(length=float("nan")), ["Rod.length", "positive number [m]"]),
    "kirchhoff(n=)": (lambda: ag.kirchhoff(n=3), ["'n'", "'modes'"]),
    "kirchhoff(order=)": (lambda: ag.kirchhoff(order=3), ["'order'", "'modes'"]),
    "kirchhoff(3000)": (lambda: ag.kirchhoff(3000), ["modes", "at most 200"]),
    "Strains(kappa_y=)": (lambda: ag.Strains(kappa_y=3), ["'kappa_y'", "'bend_y'"]),
    "Strains(curvature=)": (lambda: ag.Strains(curvature=3), ["'curvature'", "'bend_y'"]),
    "Strains(torsion=)": (lambda: ag.Strains(torsion=3), ["'torsion'", "'twist'"]),
    "ConstantCurvature(kappa=)": (lambda: ag.ConstantCurvature(kappa=3), ["'kappa'", "'bend_y'"]),
    "Robot(g=)": (lambda: ag.Robot("r", g=(0, 0, -9.81)), ["'g'", "'gravity'"]),
    "Robot(gravity=9.81)": (
        lambda: ag.Robot("r", gravity=9.81),
        ["Robot.gravity", "3 finite numbers [m/s^2], (0, 0, -9.81)"],
    ),
    "add(parent=)": (lambda: robot().add(rod(), parent=None), ["'parent'", "'at'"]),
    "add without at": (lambda: robot().add(rod()), ["at (frame to attach to"]),
    "add(rod, ground)": (lambda: (lambda r: r.add(rod(), r.ground))(robot()), ["1 argument by place", "at="]),
    "add(transform=)": (
        lambda: (lambda r: r.add(rod(), at=r.ground, transform=np.eye(4)))(robot()),
        ["'transform'", "'pose'"],
    ),
    "add(at a part)": (lambda: (lambda r: r.add(rod(), at=r.parts[0]))(robot()), ["at", "frame"]),
    "add a section": (
        lambda: (lambda r: r.add(ag.Circle(0.01), at=r.ground))(robot()),
        ["Robot.add part", "a Rod, a RigidBody"],
    ),
    "Tendon(tension=)": (lambda: ag.Tendon(arm(), ag.parallel(y=0.01), tension=3), ["'tension'", "is an input"]),
    "Tendon(cable=)": (lambda: ag.Tendon(cable=arm(), routing=ag.parallel(y=0.01)), ["'cable'", "'part'"]),
    "Tendon(rod, 0.01)": (lambda: ag.Tendon(arm(), 0.01), ["Tendon.routing", "parallel(y=0.01)"]),
    "parallel(x=)": (lambda: ag.parallel(x=0.01), ["'x'", "'y'"]),
    "parallel(offset=)": (lambda: ag.parallel(offset=0.01), ["'offset'", "'y'"]),
    "helical(r=)": (lambda: ag.helical(r=0.01, pitch=0.1), ["'r'", "'radius'"]),
    "Chamber(pressure=)": (
        lambda: ag.Chamber(arm(), ag.parallel(y=0.004), pressure=1e4),
        ["'pressure'", "is an input"],
    ),
    "TipWrench(F=)": (lambda: ag.TipWrench(arm(), F=(0, 0, -1)), ["'F'", "'force'"]),
    "TipWrench(torque=)": (lambda: ag.TipWrench(arm(), torque=(0, 0, 1)), ["'torque'", "'moment'"]),
    "TipWrench of a number": (lambda: ag.TipWrench(arm(), force=1.0), ["force", "3 finite numbers"]),
    "TipWrench(local=)": (lambda: ag.TipWrench(arm(), force=(0, 0, 1), local=True), ["'local'", "'follower'"]),
    "Spring(k=)": (lambda: ag.Spring(arm().tip, arm().root, k=10.0), ["'k'", "'stiffness'"]),
    "Spring(L0=)": (lambda: ag.Spring(arm().tip, arm().root, 10.0, L0=0.1), ["'L0'", "'rest'"]),
    "Revolute(angle=)": (lambda: ag.Revolute((0, 0, 1), angle=1.0), ["'angle'", "'rest'"]),
    "Revolute('z')": (lambda: ag.Revolute("zz"), ["axis"]),
    "Revolute(limits=)": (lambda: ag.Revolute("y", limits=(0, 1)), ["'limits'", "no stops", "PartContact"]),
    "RigidBody(m=)": (lambda: ag.RigidBody(m=0.1), ["'m'", "'mass'"]),
    "HalfSpace(height=)": (lambda: ag.HalfSpace(height=0.0), ["'height'", "'offset'"]),
    "Sphere(center=)": (lambda: ag.Sphere(center=(0, 0, 0), radius=0.1), ["'center'", "'centre'"]),
    # odd little programs
    "simulate(inputs=array)": (
        lambda: ag.simulate(robot(), duration=0.1, dt=0.01, inputs=np.ones(3)),
        ["inputs", "dictionary by names"],
    ),
    "Stepper.step([1])": (lambda: ag.Stepper(robot(), dt=0.01).step([1.0]), ["Stepper.step", "inputs by name"]),
    "actuate without a name": (
        lambda: robot().actuate(ag.Tendon(arm(), ag.parallel(y=0.008))),
        ["actuator", "after its name, such as Tendon("],
    ),
    "Tendon through bodies": (
        lambda: ag.Tendon([finger()], ag.parallel(y=0.008)),
        ["Tendon.part", "of a body: body.at((x, y, z))"],
    ),
    "Robot(gravity=None)": (lambda: ag.Robot("r", gravity=None), ["Robot.gravity", "(0, 0, 0) for none"]),
    "load(3)": (lambda: ag.load(3), ["path", "name of a file"]),
    "read_robot(3)": (lambda: ag.read_robot(3), ["path", "name of a file"]),
    "write_robot(3)": (lambda: ag.write_robot(robot(), 3), ["path", "name of a file"]),
    "robot.part('am')": (lambda: robot().part("am"), ["'am'", "'arm'"]),
    "identify(None)": (lambda: ag.identify(robot(), None, ["arm.material.young"]), ["data", "Measurements"]),
    "RodModel([tip])": (lambda: ag.control.RodModel(robot(), [arm().tip]), ["effectors", "'tip'"]),
    # solvers
    "statics(tensions=)": (lambda: ag.statics(robot(), tensions={"pull": 1}), ["'tensions'", "'inputs'"]),
    "statics(u=)": (lambda: ag.statics(robot(), u={"pull": 1}), ["'u'", "'inputs'"]),
    "statics(q0=)": (lambda: ag.statics(robot(), q0=np.zeros(2)), ["'q0'", "'start'"]),
    "statics(tol=)": (lambda: ag.statics(robot(), tol=1e-6), ["'tol'", "'tolerance'"]),
    "statics(max_iter=)": (lambda: ag.statics(robot(), max_iter=9), ["'max_iter'", "'iterations'"]),
    "statics(inputs=[1])": (
        lambda: ag.statics(robot(), inputs=[1.0]),
        ["inputs", "dictionary from names of actuators"],
    ),
    "statics(pull=)": (lambda: ag.statics(robot(), pull=5), ["'pull'", "inputs={'pull': 5}"]),
    "inputs of a robot without": (
        lambda: ag.statics(bare(), inputs={"pull": 1.0}),
        ["'pull'", "it has: none", "robot.actuate(name"],
    ),
    "statics of a misspelt input": (lambda: ag.statics(robot(), inputs={"pul": 1.0}), ["'pul'", "'pull'"]),
    "statics that pushes": (
        lambda: ag.statics(robot(), inputs={"pull": -1.0}),
        ["'pull'", "cannot push", "pushes=True"],
    ),
    "statics of a rod": (lambda: ag.statics(rod()), ["robot must be a Robot"]),
    "statics()": (lambda: ag.statics(), ["robot"]),
    "simulate(t_end=)": (lambda: ag.simulate(robot(), t_end=1, dt=0.01), ["'t_end'", "'duration'"]),
    "simulate(T=)": (lambda: ag.simulate(robot(), T=1, dt=0.01), ["'T'", "'duration'"]),
    "simulate(tspan=)": (lambda: ag.simulate(robot(), tspan=(0, 1), dt=0.01), ["'tspan'", "'duration'"]),
    "simulate(robot, 1, 0.01)": (lambda: ag.simulate(robot(), 1, 0.01), ["duration=1", "dt=0.01"]),
    "simulate(time_step=)": (lambda: ag.simulate(robot(), duration=1, time_step=0.01), ["'time_step'", "'dt'"]),
    "simulate without dt": (lambda: ag.simulate(robot(), duration=1), ["dt (time step [s])"]),
    "simulate(solver=)": (lambda: ag.simulate(robot(), duration=1, dt=0.1, solver="newmark"), ["'solver'", "'method'"]),
    "simulate(method='rk4')": (lambda: ag.simulate(robot(), duration=1, dt=0.1, method="rk4"), ["method"]),
    "simulate(gravity=)": (
        lambda: ag.simulate(robot(), duration=1, dt=0.1, gravity=9.81),
        ["'gravity'", "belongs to the robot"],
    ),
    "simulate(verbose=)": (lambda: ag.simulate(robot(), duration=1, dt=0.1, verbose=True), ["'verbose'", "'progress'"]),
    "Stepper(Ts=)": (lambda: ag.Stepper(robot(), Ts=0.01), ["'Ts'", "'dt'"]),
    "Stepper.step(u=)": (lambda: ag.Stepper(robot(), dt=0.01).step(u={"pull": 1.0}), ["'u'", "'inputs'"]),
    "BatchStepper(n_envs=)": (lambda: ag.BatchStepper(robot(), n_envs=2, dt=0.01), ["'n_envs'", "'copies'"]),
    "modes(n=)": (lambda: ag.modes(robot(), n=3), ["'n'", "'count'"]),
    "load(filename=)": (lambda: ag.load(filename="run.nc"), ["'filename'", "'path'"]),
    "load of nothing": (lambda: ag.load("no_such_run.nc"), ["no_such_run.nc"]),
    "PID(Kp=)": (lambda: ag.control.PID(robot(), 0.0, Kp=1.0, period=0.01), ["'Kp'", "'kp'"]),
    "PID(dt=)": (lambda: ag.control.PID(robot(), 0.0, kp=1.0, dt=0.01), ["'dt'", "'period'"]),
    "LQR(Q=, R=)": (
        lambda: ag.control.LQR(robot(), Q=1.0, R=1.0, period=0.01),
        ["'Q'", "'state_weight'", "'input_weight'"],
    ),
    # the second day: other robots' states, formulas, shapes of numbers, files
    "add(pose=rotation)": (
        lambda: (lambda r: r.add(rod(), at=r.ground, pose=np.eye(3)))(robot()),
        ["Robot.add pose", "4x4", "pose[:3, :3] = R"],
    ),
    "start of another robot": (
        lambda: ag.statics(robot(), start=ag.statics(bare(strains=ag.Strains(bend_y=2)))),
        ["start", "other coordinates: arm.bend_y[0] where 'arm' has arm.bend_z[0]"],
    ),
    "start of a motion": (
        lambda: ag.simulate(robot(), duration=0.1, dt=0.1, start=swing(bare(strains=ag.Strains(bend_y=2)))),
        ["start", "the motion of a robot with other coordinates"],
    ),
    "statics(start=motion of another robot)": (
        lambda: ag.statics(robot(), start=swing(bare(strains=ag.Strains(bend_y=2)))),
        ["start", "the motion of a robot with other coordinates"],
    ),
    "statics(result)": (lambda: ag.statics(ag.statics(bare())), ["robot", ".robot"]),
    "an input of X": (
        lambda: ag.statics(robot(), inputs={"pull": ag.Expression("2 * X")}),
        ["'pull'", "time t alone", "uses X"],
    ),
    "Sampled([])": (lambda: ag.Sampled([], 0.1), ["Sampled.values", "one for each instant"]),
    "Sampled of a table": (lambda: ag.Sampled(np.ones((3, 2)), 0.1), ["Sampled.values", "one for each instant"]),
    "a motion that no memory holds": (
        lambda: ag.simulate(robot(), duration=1e9, dt=1e-3),
        ["duration", "more than the memory", "every="],
    ),
    "run['arm.bend_z']": (
        lambda: swing(robot())["arm.bend_z"],
        ["'arm.bend_z'", "did you mean 'arm.bend_z[", "there are"],
    ),
    "centerline(arm, X)": (
        lambda: (lambda r: ag.statics(r).centerline(r.parts[0], 0.1))(bare()),
        ["points", "integer"],
    ),
    "write_robot to nowhere": (
        lambda: ag.write_robot(bare(), "no/such/folder/arm.yaml"),
        ["path", "there is no folder 'no/such/folder'"],
    ),
    "read_robot(text)": (lambda: ag.read_robot("name: arm\nparts: {}"), ["is the text of a robot", "path of a file"]),
    "view()": (lambda: ag.view(), ["view needs one thing to show", "a robot"]),
    "Expression('np.sin(t)')": (lambda: ag.Expression("np.sin(t)"), ["'np.sin'", "'sin'"]),
    "Expression('lambda t: t')": (lambda: ag.Expression("lambda t: t"), ["lambda", "after its colon"]),
    "RodModel(efforts=(most, least))": (
        lambda: model_with({"pull": (20.0, 0.0)}),
        ["RodModel.efforts['pull']", "(least, most)"],
    ),
    "RodModel(efforts=number)": (lambda: model_with({"pull": 20.0}), ["RodModel.efforts['pull']", "(least, most)"]),
    "RodModel(efforts of another)": (lambda: model_with({"pul": (0.0, 1.0)}), ["'pul'", "'pull'"]),
    "BatchStepper of three inputs for two": (
        lambda: ag.BatchStepper(robot(), 2, dt=0.01).step({"pull": [1.0, 2.0, 3.0]}),
        ["'pull'", "one for each of the 2 copies"],
    ),
    "pickle of a Stepper": (lambda: pickle.dumps(ag.Stepper(bare(), dt=0.01)), ["Stepper", "start=(q, v)"]),
    "add(direction=)": (
        lambda: (lambda r: r.add(rod(), at=r.ground, direction=(0, 0, -1)))(robot()),
        ["'direction'", "'pose'"],
    ),
    "add(pose=rpy)": (
        lambda: (lambda r: r.add(rod(), at=r.ground, pose=(0, 0, 0, 0, 1.57, 0)))(robot()),
        ["Robot.add pose", "anguilla.lie.pose(anguilla.lie.rotation("],
    ),
    "add(joint=Revolute)": (
        lambda: (lambda r: r.add(rod(), at=r.ground, joint=ag.Revolute))(robot()),
        ["joint", "the class Revolute itself", "Revolute(...)"],
    ),
    "Rod(n_elem=)": (lambda: rod(n_elem=50), ["'n_elem'", "'intervals'"]),
    "write_robot(arm)": (lambda: ag.write_robot(arm(), "arm.yaml"), ["robot must be a Robot", ".robot"]),
    "statics('arm.yaml')": (lambda: ag.statics("arm.yaml"), ["robot must be a Robot", "ag.read_robot"]),
    "statics(inputs=text)": (
        lambda: ag.statics(robot(), inputs={"pull": "3 * sin(t)"}),
        ["'pull'", "lambda t", "ag.Expression('3 * sin(t)')"],
    ),
    "identify(['arm.young'])": (
        lambda: number_at(robot(), "arm.young"),
        ["'arm.young'", "did you mean 'arm.material.young'"],
    ),
    "identify(['E'])": (lambda: number_at(robot(), "E"), ["'E'", "did you mean 'arm.material.young'"]),
    "identify(['gravty[2]'])": (lambda: number_at(robot(), "gravty[2]"), ["'gravty[2]'", "did you mean 'gravity'"]),
    "run[3]": (lambda: swing(robot())[1], ["run[1]", "run[1:2], is the motion", "run.q[1]"]),
    "run[-1]": (lambda: swing(robot())[-1], ["run[-1:], is the motion"]),
    "run[0.01]": (lambda: swing(robot())[0.01], ["run[0.01]", "run.between(0.01, 0.01)"]),
    "run.save('run.pvd')": (lambda: swing(robot()).save("run.pvd"), ["path", ".nc", "export(result, 'run.pvd')"]),
    "run.save('run.png')": (lambda: swing(robot()).save("run.png"), ["path", ".nc", "anguilla.plot(result"]),
    "run.save('run.h5')": (lambda: swing(robot()).save("run.h5"), ["path", ".nc file is an HDF5 file"]),
    "fem.block(dimensions=)": (lambda: ag.fem.block(dimensions=(1, 1, 1), cells=(1, 1, 1)), ["'dimensions'", "'size'"]),
}
NO_NAME = {
    "Cable": "Tendon",
    "Beam": "Rod",
    "CosseratRod": "Rod",
    "SorosimLinkage": "Robot",
    "Hinge": "Revolute",
    "Slider": "Prismatic",
    "TipForce": "TipWrench",
    "PointForce": "TipWrench",
    "Plane": "HalfSpace",
    "Pneumatic": "Chamber",
    "solve_statics": "statics",
    "integrate": "simulate",
    "eigenfrequencies": "modes",
    "linearize": "linearise",
    "inverse_kinematics": "control.inverse_kinematics",
    "PID": "control.PID",
    "soft_body": "fem.SoftBody",
    "Kirchoff": "kirchhoff",
    "simulation": "simulate",
    "Tendons": "Tendon",
}
WARNED = {
    "radius in mm": (lambda: ag.Circle(10), ["Circle.radius = 10 m", "millimetres", "0.01 m"]),
    "width in mm": (lambda: ag.Rectangle(20, 0.01), ["Rectangle.size_y = 20 m", "millimetres"]),
    "length in mm": (lambda: rod(length=300), ["Rod.length = 300 m", "millimetres", "0.3 m"]),
    "section in mm, thin": (lambda: rod(section=ag.Circle(1.5)), ["section in millimetres"]),
    "young in MPa": (lambda: rod(material=ag.Material(1.0, 1000)), ["Material.young = 1 Pa", "MPa"]),
    "young of steel in GPa": (lambda: rod(material=ag.Material(210.0, 7850)), ["Material.young = 210 Pa", "GPa"]),
    "young of steel in MPa": (lambda: rod(material=ag.Material(2.1e5, 7850)), ["Material.young = 210000 Pa", "MPa"]),
    "young below all": (lambda: ag.Material(0.5, 1000), ["Material.young = 0.5 Pa", "pascals"]),
    "young beyond all": (lambda: ag.Material(2.1e14, 7850), ["Material.young = 2.1e+14 Pa", "pascals"]),
    "density in g/cm^3": (
        lambda: rod(material=ag.Material(1e6, 1.1)),
        ["Material.density = 1.1", "g/cm^3", "1100 kg/m^3"],
    ),
    "density in t/mm^3": (
        lambda: rod(material=ag.Material(2e11, 7.85e-9)),
        ["Material.density = 7.85e-09", "t/mm^3", "7850"],
    ),
    "density beyond all": (lambda: ag.Material(1e6, 1.1e6), ["Material.density = 1.1e+06", "kg/m^3"]),
    "viscosity as damping": (
        lambda: ag.Material(1e6, 1000, damping=1e4),
        ["Material.damping = 10000 s", "viscosity", "0.01 s"],
    ),
    "gravity in cm/s^2": (lambda: ag.Robot("r", gravity=(0, 0, -981)), ["Robot.gravity = 981", "cm/s^2"]),
    "gravity in mm/s^2": (lambda: ag.Robot("r", gravity=(0, 0, -9810)), ["Robot.gravity = 9810", "mm/s^2"]),
    "tendon in mm": (lambda: ag.Tendon(arm(), ag.parallel(y=7)), ["Tendon.routing", "7 m beside", "0.007 m"]),
    "chamber in mm^2": (lambda: ag.Chamber(arm(), ag.parallel(y=0.004), area=50.0), ["Chamber.area = 50 m^2", "mm^2"]),
    "phase in degrees": (lambda: ag.helical(0.01, 0.1, phase=120), ["phase = 120 rad", "degrees", "2.094 rad"]),
    "rest in degrees": (
        lambda: ag.Revolute((0, 0, 1), stiffness=1.0, rest=90),
        ["Revolute.rest = 90 rad", "degrees", "1.571"],
    ),
    "motion in degrees": (lambda: ag.Revolute("z", motion=90), ["Revolute.motion = 90 rad", "degrees", "1.571"]),
    "one motion of two in degrees": (
        lambda: ag.Universal("x", "y", motion=(None, 90)),
        ["Universal.motion = 90 rad", "degrees"],
    ),
    "block in mm": (
        lambda: ag.fem.block((100, 20, 20), (6, 2, 2)),
        ["fem.block is 100 m large", "millimetres", "0.1 m"],
    ),
    "cylinder in mm": (lambda: ag.fem.cylinder(60, 10, (4, 2)), ["fem.cylinder is 60 m large", "millimetres"]),
    "curvature in degrees": (
        lambda: rod(rest=ag.ConstantCurvature(bend_z=90)),
        ["ConstantCurvature = 90 rad/m", "degrees"],
    ),
    "water twice": (water_twice, ["Buoyancy on arm", "'bare' a second time", "both act"]),
    "place in mm": (
        lambda: (lambda r: r.add(rod(), at=r.ground, pose=(300, 0, 0)))(robot()),
        ["300 m from", "millimetres"],
    ),
    "water in g/cm^3": (lambda: ag.Buoyancy(arm(), density=1.0), ["Buoyancy.density = 1 kg/m^3", "g/cm^3", "1000"]),
    "target in mm": (
        lambda: ag.control.inverse_kinematics(model_with({"pull": (0.0, 1.0)}), {"tip": (290, 30, 0)}),
        ["target of 'tip'", "times the size of the robot", "millimetres"],
    ),
    "mass in grams": (lambda: ag.RigidBody.sphere(0.02, mass=20), ["RigidBody.mass = 20 kg", "grams", "0.02 kg"]),
}
FILE = """
name: arm
parts:
  arm:
    rod: {length: 0.3, section: {type: circle, radius: 0.01}, material: {young: 1e6, density: 1000},
          strains: {type: planar, modes: 2}}
    at: ground
actuators:
  pull: {type: tendon, part: arm, routing: {type: parallel, y: 0.008}}
"""
# (what is replaced, by what, words)
IN_FILES = {
    "cable": ("type: tendon", "type: cable", ["'cable'", "'tendon'"]),
    "beam": ("rod: {", "beam: {", ["beam", "'rod'"]),
    "links": ("parts:", "links:", ["links", "'parts'"]),
    "tendons": ("actuators:", "tendons:", ["tendons", "'actuators'"]),
    "E": ("young: 1e6", "E: 1e6", ["material.E", "'young'"]),
    "rho": ("density: 1000", "rho: 1000", ["material.rho", "'density'"]),
    "diameter": ("radius: 0.01", "diameter: 0.02", ["section.diameter", "'radius'", "half the diameter"]),
    "L": ("length: 0.3", "L: 0.3", ["rod.L", "'length'"]),
    "without material": (", material: {young: 1e6, density: 1000}", "", ["rod.material", "Give material, a material."]),
    "without section": (" section: {type: circle, radius: 0.01},", "", ["rod.section", "(circle,", "taper)."]),
    "n_modes": ("modes: 2", "n_modes: 2", ["strains.n_modes", "'modes'"]),
    "parent": ("at: ground", "parent: ground", ["parent", "'at'"]),
    "modes: 3000": ("modes: 2", "modes: 3000", ["strains.modes", "at most 200"]),
    "a tab": ("    at: ground", "\tat: ground", ["a tab", "spaces"]),
    "a line out of line": ("    at: ground", "   at: ground", ["indented differently"]),
    "a colon too few": ("parts:\n", "parts\n", ["colon", "line above"]),
    "a decimal comma": ("length: 0.3", "length: 0,3", ["rod.3", "decimal point"]),
    "np.sin": ("length: 0.3", "length: np.sin(1)", ["'np.sin'", "'sin'"]),
    "a number too large": ("length: 0.3", "length: 9 ** 9 ** 9", ["rod.length", "too large"]),
    "at itself": ("at: ground", "at: arm.tip", ["parts.arm.at", "attached to itself"]),
    "one load": (
        "actuators:",
        "loads: {type: tip_wrench, part: arm}\nactuators:",
        ["loads", "list", "[{type: tip_wrench"],
    ),
    "gravity: 9.81": ("actuators:", "gravity: 9.81\nactuators:", ["gravity", "[0, 0, -9.81]"]),
    "inputs of a list": ("actuators:", "inputs: {pull: [0, 1]}\nactuators:", ["inputs.pull", "values: [...]"]),
    "method: rk4": (
        "actuators:",
        "simulate: {duration: 1, dt: 0.01, method: rk4}\nactuators:",
        ["simulate.method", "newmark, hht"],
    ),
    "two robots": ("name: arm", "name: arm\n---\nname: other", ["second document", "---"]),
    "Grond": ("at: ground", "at: grond", ["grond", "'ground'"]),
}
COMMANDS = {
    "sim": (["sim", "{file}"], 2, ["'sim'", "'simulate'"]),
    "solve": (["solve", "{file}"], 2, ["'solve'", "'statics'"]),
    "ik": (["ik", "{file}"], 2, ["'ik'", "'inverse'"]),
    "statcs": (["statcs", "{file}"], 2, ["'statcs'", "'statics'"]),
    "--duraton": (["simulate", "{file}", "--duraton", "1"], 2, ["--duraton", "--duration"]),
    "--input pul=1": (["statics", "{file}", "--input", "pul=1"], 3, ["pul", "'pull'"]),
    "--input pull": (["statics", "{file}", "--input", "pull"], 3, ["--input", "pull=2"]),
    "--dt soon": (["simulate", "{file}", "--dt", "soon"], 2, ["--dt", "number"]),
    "-input": (["statics", "{file}", "-input", "pull=1"], 2, ["two dashes", "--input"]),
    "--input twice": (
        ["statics", "{file}", "-i", "pull=1", "-i", "pull=2"],
        3,
        ["--input pull", "twice", "'1' and '2'"],
    ),
    "--duration -1": (["simulate", "{file}", "--duration", "-1", "--dt", "0.1"], 3, ["--duration", "positive"]),
    "--dt 0": (["simulate", "{file}", "--duration", "1", "--dt", "0"], 3, ["--dt", "positive"]),
    "--set lenght": (
        ["statics", "{file}", "--set", "lenght=1"],
        3,
        ["parameters.lenght: the file has no such parameter"],
    ),
    "--target 1,2,3": (["inverse", "{file}", "--target", "1,2,3"], 3, ["FRAME=X,Y,Z", "arm.tip="]),
    "--folder none": (["--folder", "none", "check", "{file}"], 3, ["--folder", "'none'"]),
    "convert onto itself": (["convert", "{file}", "{file}"], 3, ["TO", "another file than FROM"]),
    "plot of a robot": (["plot", "{file}", "arm.png"], 3, ["is a robot, not a result", "anguilla statics"]),
    "no file": (["check", "none.yaml"], 3, ["none.yaml", "there is no such file"]),
    "--target arn.tip": (["inverse", "{file}", "--target", "arn.tip=0,0,0"], 3, ["arn.tip", "'arm'"]),
}


def test_there_are_more_than_a_hundred():
    assert len(REFUSED) + len(NO_NAME) + len(WARNED) + len(IN_FILES) + len(COMMANDS) >= 100


def told(text, words):
    assert "\n" not in text.strip() and text.strip().endswith((".", "?")), text
    assert not [word for word in words if word not in text], text


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_call_is_refused_with_a_sentence(call, words):
    with pytest.raises(ag.DescriptionError) as caught:
        call()
    told(str(caught.value), words)


@pytest.mark.parametrize(("wrong", "right"), NO_NAME.items(), ids=NO_NAME)
def test_a_name_of_another_program_is_translated(wrong, right):
    with pytest.raises(AttributeError, match=rf"'{wrong}'; did you mean '{right}'\?"):
        getattr(ag, wrong)


@pytest.mark.parametrize(("call", "words"), WARNED.values(), ids=WARNED)
def test_a_slip_of_units_is_noticed(call, words):
    with pytest.warns(ag.AnguillaWarning) as caught:
        call()
    told(str(caught[-1].message), words)


@pytest.mark.parametrize(("old", "new", "words"), IN_FILES.values(), ids=IN_FILES)
def test_a_robot_file_is_told_the_same(old, new, words):
    assert read_text_file(FILE).robot.size == 2 and FILE.count(old) == 1
    with pytest.raises(FileError) as caught:
        read_text_file(FILE.replace(old, new))
    text = " ".join(str(problem) for problem in caught.value.problems)
    assert not [word for word in words if word not in text], text


@pytest.mark.parametrize(("arguments", "code", "words"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_is_told_the_same(arguments, code, words, tmp_path, capsys):
    (tmp_path / "arm.yaml").write_text(FILE)
    assert main([word.replace("{file}", str(tmp_path / "arm.yaml")) for word in arguments]) == code
    text = capsys.readouterr().err
    assert not [word for word in words if word not in text], text


VOLUME = """
volumes:
  pad:
    mesh: {type: block, size: [100, 20, 20], cells: [6, 2, 2]}
    material: {young: 1.0e+6, poisson: 0.4, density: 1000}
    at: ground
    patch: base
"""
# (file, words of the note)
NOTED = {
    "radius in mm": (FILE.replace("radius: 0.01", "radius: 10"), ["10 mm are 0.01 m", ":5:"]),
    "angle in degrees": (
        FILE.replace("at: ground", "at: ground\n    pose: {axis: [0, 0, 1], angle: 90}"),
        [":8:", "parts.arm.pose", "angle = 90 rad", "degrees"],
    ),
    "rpy in degrees": (
        FILE.replace("at: ground", "at: ground\n    pose: {rpy: [0, 0, -180]}"),
        [":8:", "parts.arm.pose", "rpy = 180 rad", "degrees"],
    ),
    "motion in degrees": (
        FILE.replace("at: ground", "at: ground\n    joint: {type: revolute, axis: z, motion: 90}"),
        [":8:", "Revolute.motion = 90 rad", "degrees"],
    ),
    "block in mm": (VOLUME, [":4:", "volumes.pad", "100 m large", "millimetres"]),
}


@pytest.mark.parametrize(("text", "words"), NOTED.values(), ids=NOTED)
def test_slips_in_robot_files_are_notes(text, words):
    notes = read_text_file(text).notes
    assert any(all(word in note for word in words) for note in notes), notes
