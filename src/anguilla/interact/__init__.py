"""What acts on a robot: loads and actuators, each in one file, which answers all that solvers, results and viewer ask.

Their kernels stand beside them, in `kernels/`; nothing of these is imported before a robot is compiled.
"""

from anguilla._doors import hang
from anguilla.interact.chamber import Chamber
from anguilla.interact.contact import Contact
from anguilla.interact.distributed import DistributedWrench
from anguilla.interact.fluids import Buoyancy, Fluid, Lighthill, Morison, ResistiveForce
from anguilla.interact.hull import Hull
from anguilla.interact.magnet import Magnet
from anguilla.interact.muscle import Muscle
from anguilla.interact.part_contact import PartContact, SelfContact, contacts
from anguilla.interact.spring import Spring
from anguilla.interact.tendon import Tendon
from anguilla.interact.thruster import Thruster
from anguilla.interact.user import UserForce, UserLoad
from anguilla.interact.world_spring import WorldSpring
from anguilla.interact.wrench import TipWrench, Wrench

__all__ = [
    "Buoyancy",
    "Chamber",
    "Contact",
    "DistributedWrench",
    "Fluid",
    "Hull",
    "Lighthill",
    "Magnet",
    "Morison",
    "Muscle",
    "PartContact",
    "ResistiveForce",
    "SelfContact",
    "Spring",
    "Tendon",
    "Thruster",
    "TipWrench",
    "UserForce",
    "UserLoad",
    "WorldSpring",
    "Wrench",
    "contacts",
]

hang(__all__, globals())
