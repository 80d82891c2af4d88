"""A soft volume as a part of a robot."""

from __future__ import annotations

from typing import Any, ClassVar

from anguilla.describe.material import Material
from anguilla.fem.body import SoftBody
from anguilla.fem.hyperelastic import Rubber
from anguilla.fem.mesh import TetMesh

__all__ = ["Volume"]


class Volume(SoftBody):
    """A soft volume, to be added to a robot beside rods and rigid bodies.

    It is described like a `fem.SoftBody`, with tendons, chambers, effectors and point forces of its own, in the axes of the
    mesh (but for the `origin` of a tendon and the `port` of a chamber, which are places of the world). Frames of the robot
    hold it, and gravity is that of the robot. Its inputs are inputs of the robot: "finger.pull".

    Attributes:
        name: its name.
        mesh: its tetrahedra at rest [m].
        material: its material; Poisson's ratio below 0.5.
        law: "corotational", "st_venant", "neo_hookean", ... as those of `fem.SoftBody`.
        element: "linear", "averaged" or "quadratic".

    Example:
        >>> import anguilla as ag
        >>> silicone = ag.Material(young=2e5, poisson=0.45, density=1070)
        >>> robot = ag.Robot("arm")
        >>> steel = ag.Material(young=200e9, poisson=0.3, density=7800)
        >>> arm = robot.add(ag.Rod(0.3, ag.Circle(radius=0.001), steel, strains=ag.kirchhoff(4)), at=robot.ground)
        >>> pad = ag.Volume(ag.fem.block((0.05, 0.02, 0.02), (5, 2, 2)), silicone)
        >>> finger = robot.add(pad, at=arm.tip, patch="base")
        >>> plate = finger.frame("plate", "tip")
        >>> _ = robot.load(ag.Wrench(plate, force=(0, 0, -0.1)))
        >>> ag.statics(robot).position(plate)

    """

    is_part: ClassVar[bool] = True

    def __init__(
        self, mesh: TetMesh, material: Material, *, name: str = "volume", law: str | Rubber = "corotational",
        element: str = "linear",
    ) -> None:  # fmt: skip
        super().__init__(name, mesh, material, law=law, element=element)

    @property
    def solvers(self) -> Any:
        """What solves robots with such parts."""
        from anguilla.mixed import doors

        return doors
