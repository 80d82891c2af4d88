"""What a user writes: the robot, its rods (sections, materials, strains, rest shapes), bodies, joints and loads."""

from anguilla._doors import hang
from anguilla.describe.actuators import (
    Actuator,
    FunctionRouting,
    Routing,
    convergent,
    helical,
    parallel,
)
from anguilla.describe.basis import Basis, Chebyshev, FreeTip, Legendre, Monomial, make_basis
from anguilla.describe.bodies import RigidBody, Shape
from anguilla.describe.constraints import Closure, TwistConstraint, no_slip, rolling
from anguilla.describe.frames import BodyHandle, Frame, JointHandle, Part, RodHandle
from anguilla.describe.gaits import FadedGait, Gait, GaitSum, StrainOffset, StrainSteps, TravellingWave
from anguilla.describe.gridded import HeightField, Mesh
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
from anguilla.describe.load import FrameMotion, Load
from anguilla.describe.material import Material, Prony
from anguilla.describe.obstacles import Capsule, HalfSpace, Obstacle, Pillar, Sphere
from anguilla.describe.piecewise import FunctionBasis, PiecewiseConstant, PiecewisePolynomial
from anguilla.describe.ports import Drive
from anguilla.describe.rest import ConstantCurvature, Helix, RestFunction, RestShape, Straight
from anguilla.describe.robot import Robot
from anguilla.describe.rod import Rod
from anguilla.describe.section import Circle, CrossSection, Ellipse, Rectangle, SectionProperties, Tube
from anguilla.describe.shaping import ShapeFunction
from anguilla.describe.solids import Box, Cylinder
from anguilla.describe.strains import (
    STRAIN_NAMES,
    Strains,
    extensible_kirchhoff,
    extensible_spherical,
    kirchhoff,
    planar,
    reissner,
    spherical,
    stewart,
    universal,
)
from anguilla.describe.varying import EllipticProfile, GeneralSection, Tapered, taper

__all__ = [
    "STRAIN_NAMES",
    "Actuator",
    "Axis",
    "Ball",
    "Basis",
    "BodyHandle",
    "Box",
    "Capsule",
    "Chebyshev",
    "Circle",
    "Closure",
    "ConstantCurvature",
    "CrossSection",
    "Cylinder",
    "Cylindrical",
    "Drive",
    "Ellipse",
    "EllipticProfile",
    "FadedGait",
    "Fixed",
    "Frame",
    "FrameMotion",
    "Free",
    "FreeTip",
    "FunctionBasis",
    "FunctionRouting",
    "Gait",
    "GaitSum",
    "GeneralSection",
    "HalfSpace",
    "HeightField",
    "Helical",
    "Helix",
    "Joint",
    "JointHandle",
    "Legendre",
    "Load",
    "Material",
    "Mesh",
    "Monomial",
    "Obstacle",
    "Part",
    "PiecewiseConstant",
    "PiecewisePolynomial",
    "Pillar",
    "Planar",
    "Prismatic",
    "Prony",
    "Rectangle",
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
    "ShapeFunction",
    "Sphere",
    "Spherical",
    "Straight",
    "StrainOffset",
    "StrainSteps",
    "Strains",
    "Tapered",
    "TravellingWave",
    "Tube",
    "TwistConstraint",
    "Universal",
    "convergent",
    "extensible_kirchhoff",
    "extensible_spherical",
    "helical",
    "kirchhoff",
    "make_basis",
    "no_slip",
    "parallel",
    "planar",
    "reissner",
    "rolling",
    "spherical",
    "stewart",
    "taper",
    "universal",
]

hang(__all__, globals())
