"""What a user writes: the robot, its rods (sections, materials, strains, rest shapes), bodies, joints and loads."""

from anguilla.describe.actuators import (
    Actuator,
    Chamber,
    FunctionRouting,
    Routing,
    Tendon,
    convergent,
    helical,
    parallel,
)
from anguilla.describe.basis import Basis, Chebyshev, FreeTip, Legendre, Monomial, make_basis
from anguilla.describe.bodies import RigidBody, Shape
from anguilla.describe.constraints import Closure, TwistConstraint, no_slip, rolling
from anguilla.describe.fluids import Buoyancy, Fluid, Hull, Lighthill, Morison, ResistiveForce
from anguilla.describe.forces import FrameMotion, Magnet, Muscle, Spring, Thruster, UserForce, UserLoad
from anguilla.describe.frames import BodyHandle, Frame, JointHandle, Part, RodHandle
from anguilla.describe.joints import (
    Axis,
    Ball,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from anguilla.describe.loads import DistributedWrench, Load, TipWrench, Wrench
from anguilla.describe.material import Material
from anguilla.describe.piecewise import FunctionBasis, PiecewiseConstant, PiecewisePolynomial
from anguilla.describe.rest import ConstantCurvature, Helix, RestFunction, RestShape, Straight
from anguilla.describe.robot import Robot
from anguilla.describe.rod import Rod
from anguilla.describe.section import Circle, CrossSection, Ellipse, Rectangle, SectionProperties, Tube
from anguilla.describe.strains import STRAIN_NAMES, Strains, extensible_kirchhoff, kirchhoff, planar, reissner
from anguilla.describe.varying import GeneralSection, Tapered, taper

__all__ = [
    "STRAIN_NAMES",
    "Actuator",
    "Axis",
    "Ball",
    "Basis",
    "BodyHandle",
    "Buoyancy",
    "Chamber",
    "Chebyshev",
    "Circle",
    "Closure",
    "ConstantCurvature",
    "CrossSection",
    "Cylindrical",
    "DistributedWrench",
    "Ellipse",
    "Fixed",
    "Fluid",
    "Frame",
    "FrameMotion",
    "Free",
    "FreeTip",
    "FunctionBasis",
    "FunctionRouting",
    "GeneralSection",
    "Helical",
    "Helix",
    "Hull",
    "Joint",
    "JointHandle",
    "Legendre",
    "Lighthill",
    "Load",
    "Magnet",
    "Material",
    "Monomial",
    "Morison",
    "Muscle",
    "Part",
    "PiecewiseConstant",
    "PiecewisePolynomial",
    "Planar",
    "Prismatic",
    "Rectangle",
    "ResistiveForce",
    "RestFunction",
    "RestShape",
    "Revolute",
    "RigidBody",
    "Robot",
    "Rod",
    "RodHandle",
    "Routing",
    "SectionProperties",
    "Shape",
    "Spherical",
    "Spring",
    "Straight",
    "Strains",
    "Tapered",
    "Tendon",
    "Thruster",
    "TipWrench",
    "Tube",
    "TwistConstraint",
    "Universal",
    "UserForce",
    "UserLoad",
    "Wrench",
    "convergent",
    "extensible_kirchhoff",
    "helical",
    "kirchhoff",
    "make_basis",
    "no_slip",
    "parallel",
    "planar",
    "reissner",
    "rolling",
    "taper",
]
