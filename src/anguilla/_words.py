"""What was meant by a name that is not known: words of textbooks, other programs and habits, then spelling."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache

__all__ = ["did_you_mean", "is_another_word", "meant", "numbered", "plain"]

# Names of this library and other words for them, in small letters without "_". A word may stand for several names: the first
# one in this order that is known where the word was used is meant.
WORDS = {
    # materials and sections
    "young": "e ey emod elasticity elasticmodulus modulus youngmodulus youngsmodulus",
    "poisson": "nu v poissonratio poissonsratio",
    "density": "rho ro",
    "gravity": "g addgravity setgravity gravityforces",
    "shear": "g shearmodulus",
    "friction": "mu mus coulomb frictioncoefficient",
    "damping": "eta c mu dissipation dampingconstant dampingcoefficient rayleigh",
    "loss": "lossfactor",
    "phase": "angle theta",
    "rest": "restlength restshape initialshape angle theta naturallength l0",
    "length": "l len lx baselength restlength l0",
    "routing": "path route offset",
    "y": "offset distance x",
    "radius": "r rad baseradius diameter d dia distance",
    "outer": "r diameter router routerradius outerradius outerdiameter",
    "inner": "rinner innerradius innerdiameter",
    "size_y": "width w b",
    "size_z": "height h",
    "size": "width height dimensions dims",
    "semi_y": "a",
    "semi_z": "b",
    "area": "a volume",
    "section": "crosssection profile geometry",
    "centre": "center",
    "axis": "direction normal",
    # rods
    "modes": "n order degree dof dofs nmodes numberofmodes eigenfrequencies eigenmodes frequencies modal modalanalysis",
    "copies": "n nenvs numenvs batch batchsize",
    "num_envs": "nenvs copies batchsize",
    "count": "n nsamples samples",
    "n": "order degree modes",
    "intervals": "nelem nelems nelements elements nodes segments sections resolution ngauss",
    "strains": "basisfunctions dofstrains xi",
    "bend_y": "curvature kappa kappay ky bending",
    "bend_z": "curvature kappa kappaz kz",
    "twist": "kx torsion",
    "stretch": "extension elongation axial",
    "stiffness": "elasticitymatrix k springconstant kp",
    # robots
    "Rod": "beam cosseratrod cosseratbeam softlink softrod sorosimlink link segment backbone beamelement straightrod",
    "RigidBody": "link rigidlink body rigid",
    "Robot": "sorosimlinkage linkage system assembly",
    "at": "parent base to on attach attachto attachedto frame parentframe",
    "where": "frame location",
    "frame": "at where",
    "pose": "transform orientation placement origin rotation rotationmatrix euler eulerangles quaternion attitude direction "
    "normal rpy",
    "Revolute": "hinge pin revolutejoint hingejoint",
    "Prismatic": "slider slide prismaticjoint",
    "Spherical": "ball balljoint sphericaljoint",
    "Fixed": "weld clamp clamped rigidjoint fixedjoint",
    "Free": "freejoint floating sixdof",
    "tip": "end endpoint distal endeffector",
    "root": "base proximal begin",
    "parts": "links bodies rods",
    "strain": "curvature curvatures kappa bending strainfield",
    "to_xarray": "topandas todataframe dataframe",
    "position": "pos xyz tipposition coords",
    "velocity": "vel",
    "add": "addrod addlink addbody addbeam attachrod append",
    "load": "addload addforce applyload applyforce addforcing addcontact",
    "loads": "forces",
    "name": "robot label id title",
    "closures": "loops closedloops joints",
    "actuate": "addtendon addcable addactuator addactuation",
    "sense": "addsensor",
    "input": "addinput",
    "constrain": "addconstraint",
    "close": "addconstraint addclosure connect",
    # actuators and loads
    "Tendon": "cable wire string rope thread cableactuator cableconstraint tendonactuator",
    "Chamber": "pneumatic pneu bellow bellows cavity pressurechamber surfacepressureconstraint",
    "actuators": "cables tendons actuator",
    "part": "body cable rod beam arm",
    "TipWrench": "tipforce tipload pointforce pointload endpointforces force",
    "Wrench": "torque",
    "DistributedWrench": "distributedforce distributedload",
    "moment": "torque couple m",
    "mass": "m",
    "force": "f",
    "follower": "follow local bodyframe",
    "point": "location",
    "HalfSpace": "plane floor ground wall table",
    "Box": "cuboid",
    "Morison": "drag hydrodynamics water",
    "ResistiveForce": "drag slenderbodytheory rft",
    "offset": "bias height",
    # solving
    "statics": "solve solvestatics equilibrium solveequilibrium static staticsolve",
    "simulate": "simulation dynamics run integrate solvedynamics simulator ode",
    "linearise": "linearisation linearization",
    "trace": "buckling continuation",
    "control": "ik inverse",
    "inverse": "ik kinematics",
    "view": "show visualise visualize",
    "animate": "render",
    "plot": "draw show",
    "read_robot": "read loadrobot fromfile",
    "read_urdf": "fromurdf loadurdf",
    "write_robot": "save saverobot",
    "optimise_motion": "optimize optimise",
    "sweep": "parametersweep",
    "identify": "fit",
    "inputs": "u input tension tensions pressure pressures tau actuation control controls action commands signals",
    "duration": "tend tf tfinal t t1 tmax tspan time finaltime stoptime endtime totaltime",
    "t": "time",
    "dt": "h ts timestep step stepsize deltat sampletime samplingtime maxstep",
    "period": "dt ts sampletime samplingtime frequency freq rate",
    "rate": "frequency freq hz",
    "start": "x x0 q0 y0 q state initial initialstate initialcondition initialguess guess",
    "method": "solver integrator scheme algorithm",
    "tolerance": "tol rtol atol abstol reltol eps",
    "error": "rtol atol",
    "iterations": "maxiter maxiterations niter",
    "progress": "verbose display",
    "every": "saveevery stride skip decimation",
    "workers": "njobs processes cores nproc",
    "goal": "target setpoint reference desired ref",
    "targets": "target goal goals",
    "path": "filename file fname output",
    "kp": "p gain",
    "ki": "i",
    "kd": "d",
    "state_weight": "q qweight",
    "input_weight": "r rweight",
    "noise": "std sigma",
    "envelope": "amplitude amp",
    "wavelength": "lambda",
    "parameters": "params",
    "vertices": "points",
    "faces": "triangles",
}
# What to do with a value that was given under another name.
NOTES = {
    ("diameter", "radius"): "half the diameter",
    ("diameter", "outer"): "half the diameter",
    ("d", "radius"): "half the diameter",
    ("dia", "radius"): "half the diameter",
    ("outerdiameter", "outer"): "half the diameter",
    ("innerdiameter", "inner"): "half the diameter",
    ("frequency", "period"): "one over the frequency",
    ("freq", "period"): "one over the frequency",
    ("eta", "damping"): "a time: the viscosity [Pa s] over young [Pa]",
}
# Arguments that other programs have, and where the same is said here.
ELSEWHERE = {
    "tension": "a tension is an input, given by the name of the actuator to statics, simulate and Stepper.step",
    "pressure": "a pressure is an input, given by the name of the actuator to statics, simulate and Stepper.step",
    "gravity": "gravity belongs to the robot: Robot(name, gravity=(0, 0, -9.81))",
    "damping": "damping belongs to the material: Material(damping=...) is a time [s], Material(loss=...) has no unit",
    "force": "a force is a load of the robot: robot.load(ag.TipWrench(rod, force=(0, 0, 1)))",
    "torque": "a moment is a load of the robot: robot.load(ag.TipWrench(rod, moment=(0, 0, 1)))",
    "units": "all units are those of the SI: m, kg, s, N, Pa, rad",
    "unit": "all units are those of the SI: m, kg, s, N, Pa, rad",
}
# Names that people expect of the package, attributes and arguments that they expect of a class or of one derived from it, and
# what there is instead.
EXPECTED = {
    "anguilla": {
        "gravity": "gravity belongs to the robot, Robot(name, gravity=(0, 0, -9.81))",
        "damper dashpot": "dampers are arguments, Material(damping=..) [s], Revolute(axis, damping=..), "
        "Spring(.., damping=..)",
        "ik": "inverse kinematics is anguilla.control.inverse_kinematics(model, {'tip': (x, y, z)})",
        "friction": "friction is an argument of what touches, such as Contact(.., friction=0.5)",
        "motor servo": "a motor that moves a joint as it is told is its motion, Revolute(axis, motion=..); one that gives a "
        "torque is a UserForce",
        "moment couple": "a moment is an argument, TipWrench(rod, moment=(0, 0, 1)) or Wrench(frame, moment=(0, 0, 1))",
        "pressure": "a pressure is the input of a Chamber",
        "tension": "a tension is the input of a Tendon",
        "steel aluminium aluminum silicone rubber nitinol ecoflex dragonskin": "materials are described, "
        "Material(young=.., density=..)",
    },
    "BodyHandle": {
        "tip end point section": "a rigid body has its frame, body.frame, and others at places on it [m], body.at((x, y, z))",
        "position pose place": "where it is, is asked of a result: result.position(body.frame), result.pose(body.frame)",
        "mass inertia com shape": "what it is made of is in .body, such as .body.mass",
    },
    "Robot": {
        "remove delete pop clear discard": "parts and loads stay: make the robot again without it, in a function of your own",
        "mass weight": "the mass of all is result.mass [kg], of what ag.statics or ag.simulate returns",
        "fix clamp anchor weld hold": "close a frame with the ground to hold it: robot.close(robot.ground, rod.tip, pose=..)",
        "solve statics static equilibrium": "its equilibrium is anguilla.statics(robot, inputs={...})",
        "simulate run step dynamics integrate": "its motion is anguilla.simulate(robot, duration=.., dt=..), step by step "
        "anguilla.Stepper(robot, dt=..)",
        "view show plot draw animate": "anguilla.view(robot) shows it with sliders; anguilla.plot draws what "
        "anguilla.statics or anguilla.simulate returned",
        "save write to_yaml to_file": "anguilla.write_robot(robot, 'arm.yaml') writes it to a file",
        "dof dofs ndof ndofs n nq nv": "the number of its coordinates is .size",
        "tip root end base frame frames": "frames are those of its parts: robot.part('arm').tip, or arm.tip of "
        "arm = robot.add(...)",
    },
    "RodHandle": {
        "material strains radius young density damping stiffness rest shape intervals modes": "what it is made of is in "
        ".rod, such as .rod.material.young and .rod.section.radius",
        "position pose place": "where it is, is asked of a result: result.position(arm.tip), result.pose(arm.tip)",
        "point node at frame": "a frame in it, at an arc length [m], is .section(0.1); its ends are .root and .tip",
    },
    "Stepper": {
        "state x y": "it is in .q (coordinates), .v (rates) and .t",
        "run history results": "the present state is .result(); Stepper(..., history=True).trajectory() is the motion since "
        "the start",
    },
    "Sweep": {
        "save write export": "a table is written by .to_csv('table.csv'); sweep(..., file='folder') keeps all runs",
        "to_pandas topandas dataframe to_dataframe df": "a table of columns is .to_xarray().to_dataframe()",
    },
    "Joint": {
        "limits limit range stops lower upper": "joints have no stops; let the parts that would meet touch (PartContact), "
        "or give the joint a stiffness",
    },
    "_States": {
        "tip tips end endpoint": "the place of a tip is .position(arm.tip) [m]",
        "shape backbone curve": "points along a rod are .centerline(arm) [m]",
        "plot draw": "a figure is made by anguilla.plot(result)",
        "show view": "anguilla.view(result) shows it in the browser, anguilla.plot(result) draws a figure",
        "animate movie video film render": "a page or a film is made by anguilla.animate(result, 'run.html')",
        "times time": "the times [s] are .t",
        "force forces internal_force internal_forces internal_moment moment moments stress": "the moment and the force in a "
        "rod are .wrench(arm, X), at arc lengths X [m]; what contact or water exerts is .exerted(load)",
        "state": "it is in .q (coordinates) and .v (rates)",
        "stable stability is_stable": "anguilla.stability(robot, at=result) tells",
        "residual residuals": "how well it is solved is in .status",
        "velocity velocities vel speed speeds": "that of a frame is .twist(arm.tip): angular [rad/s], then linear [m/s], in "
        "its own axes",
        "to_csv tocsv write_csv to_excel": "a table is written by .save('run.csv')",
        "quality error_estimate error accuracy": "how far to trust it is .quality of a motion, .error_estimate of an "
        "equilibrium",
        "to_vtk tovtk write_vtk save_vtk to_paraview": "files for ParaView are written by anguilla.view.export.export(run, "
        "'run.pvd')",
        "converged success ok": "it is in .status: success, message, counters",
        "deflection displacement disp": "the place of a frame is .position(arm.tip) [m]; subtract that of another result",
        "topandas to_pandas dataframe to_dataframe": "a table of one quantity is .to_xarray()['q'].to_pandas(), a file "
        ".save('run.csv')",
        "tensions": "that of one actuator is .tension(name) [N]; what was given is .inputs",
    },
}
SURE, NEAR = 0.8, 0.6  # how alike two spellings are


def plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


@cache
def _names() -> dict[str, list[str]]:
    """Names that a word may stand for, without "_"."""
    found: dict[str, list[str]] = {}
    for name, words in WORDS.items():
        for word in words.split():
            found.setdefault(word, []).append(plain(name))
    return found


def meant(name: str, names: Iterable[str], near: float = NEAR) -> str | None:
    """The known name that stands for a wrong one, or None.

    The same but for its case, a synonym, a spelling that is near, or the beginning of a longer one.
    """
    known = {plain(other): other for other in sorted(names, key=WORDS.__contains__) if not other.startswith("_")}
    word = plain(name)
    found = [word, *_names().get(word, ())]
    found += difflib.get_close_matches(word, known, n=1, cutoff=max(SURE, near))
    found += sorted((other for other in known if len(other) > 3 and other in word), key=len, reverse=True)
    found += sorted((other for other in known if len(word) > 2 and other.startswith(word)), key=len)
    found += difflib.get_close_matches(word, known, n=1, cutoff=near)
    return next((known[other] for other in found if other in known), None)


def is_another_word(name: str) -> bool:
    """Whether it is a word that other programs or textbooks have for a name of this library."""
    return plain(name) in _names()


def instead(kind: type | None, name: str) -> str:
    """What a class offers instead of a name that it does not have and that people expect, or nothing."""
    return offered([each.__name__ for each in getattr(kind, "__mro__", ())], name)


def offered(places: Iterable[str], name: str) -> str:
    """What the first of some classes or packages that knows a name offers instead of it, or nothing."""
    known = [EXPECTED.get(place, {}) for place in places]
    return next((text for offers in known for words, text in offers.items() if name in words.split()), "")


def numbered(count: int, thing: str) -> str:
    """So many things, in words: "1 mode", "2 modes"."""
    return f"{count} {thing}{'s' * (count != 1)}"


def note(name: str, found: str) -> str:
    """What to do with the value that was given under the other name, or nothing."""
    return NOTES.get((plain(name), found), "")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" if one of the names is close, or another word for it; else an empty text."""
    found = meant(name, names)
    if found is None:
        return ""
    more = note(name, found)
    return f" (did you mean {found!r}{', ' + more if more else ''}?)"
