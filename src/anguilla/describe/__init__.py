"""What a user writes: the robot, its rods, their sections, materials, strains and rest shapes, and the loads."""

from anguilla.describe.basis import Basis, Chebyshev, FreeTip, Legendre, Monomial, make_basis
from anguilla.describe.frames import Frame, Part, RodHandle
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
    "Basis",
    "Chebyshev",
    "Circle",
    "ConstantCurvature",
    "CrossSection",
    "DistributedWrench",
    "Ellipse",
    "Frame",
    "FreeTip",
    "FunctionBasis",
    "GeneralSection",
    "Helix",
    "Legendre",
    "Load",
    "Material",
    "Monomial",
    "Part",
    "PiecewiseConstant",
    "PiecewisePolynomial",
    "Rectangle",
    "RestFunction",
    "RestShape",
    "Robot",
    "Rod",
    "RodHandle",
    "SectionProperties",
    "Straight",
    "Strains",
    "Tapered",
    "TipWrench",
    "Tube",
    "Wrench",
    "extensible_kirchhoff",
    "kirchhoff",
    "make_basis",
    "planar",
    "reissner",
    "taper",
]
