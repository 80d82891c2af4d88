"""From measurements to a robot: read them, find parameters from them, and say how well these are known."""

from anguilla.identification.fit import identify
from anguilla.identification.measurements import Marker, Measurements
from anguilla.identification.observer import Observer
from anguilla.identification.parameters import Unknown
from anguilla.identification.result import Identified

__all__ = ["Identified", "Marker", "Measurements", "Observer", "Unknown", "identify"]
