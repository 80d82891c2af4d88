"""What acts on a robot: loads, each in one file, which answers all that solvers, results, viewer and files ask of it.

Their kernels stand beside them, in `kernels/`; nothing of these is imported before a robot is compiled.
"""

from anguilla.interact.contact import Contact
from anguilla.interact.distributed import DistributedWrench
from anguilla.interact.fluids import Buoyancy, Fluid, Lighthill, Morison, ResistiveForce
from anguilla.interact.hull import Hull
from anguilla.interact.magnet import Magnet
from anguilla.interact.muscle import Muscle
from anguilla.interact.spring import Spring
from anguilla.interact.thruster import Thruster
from anguilla.interact.user import UserForce, UserLoad
from anguilla.interact.world_spring import WorldSpring
from anguilla.interact.wrench import TipWrench, Wrench

__all__ = [
    "Buoyancy",
    "Contact",
    "DistributedWrench",
    "Fluid",
    "Hull",
    "Lighthill",
    "Magnet",
    "Morison",
    "Muscle",
    "ResistiveForce",
    "Spring",
    "Thruster",
    "TipWrench",
    "UserForce",
    "UserLoad",
    "WorldSpring",
    "Wrench",
]
