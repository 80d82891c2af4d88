"""What a user writes: the robot, its rods (sections, materials, strains, rest shapes), bodies, joints and loads."""

from anguilla.describe.basis import Basis, Chebyshev, FreeTip, Legendre, Monomial, make_basis
from anguilla.describe.bodies import RigidBody, Shape
from anguilla.describe.frames import BodyHandle, Frame, Part, RodHandle
from anguilla.describe.joints import Axis, Cylindrical, Fixed, Helical, Joint, Planar, Prismatic, Revolute, Universal
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
    "Axis",
    "Basis",
    "BodyHandle",
    "Chebyshev",
    "Circle",
    "ConstantCurvature",
    "CrossSection",
    "Cylindrical",
    "DistributedWrench",
    "Ellipse",
    "Fixed",
    "Frame",
    "FreeTip",
    "FunctionBasis",
    "GeneralSection",
    "Helical",
    "Helix",
    "Joint",
    "Legendre",
    "Load",
    "Material",
    "Monomial",
    "Part",
    "PiecewiseConstant",
    "PiecewisePolynomial",
    "Planar",
    "Prismatic",
    "Rectangle",
    "RestFunction",
    "RestShape",
    "Revolute",
    "RigidBody",
    "Robot",
    "Rod",
    "RodHandle",
    "SectionProperties",
    "Shape",
    "Straight",
    "Strains",
    "Tapered",
    "TipWrench",
    "Tube",
    "Universal",
    "Wrench",
    "extensible_kirchhoff",
    "kirchhoff",
    "make_basis",
    "planar",
    "reissner",
    "taper",
]
