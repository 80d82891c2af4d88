"""Which strains of a rod may vary, and in which basis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from anguilla._doors import public
from anguilla.describe.basis import Basis, Legendre, make_basis
from anguilla.describe.description import did_you_mean
from anguilla.errors import DescriptionError, as_count, refuse

__all__ = [
    "STRAIN_NAMES",
    "Strains",
    "extensible_kirchhoff",
    "extensible_spherical",
    "kirchhoff",
    "planar",
    "reissner",
    "spherical",
    "stewart",
    "universal",
]

STRAIN_NAMES = ("twist", "bend_y", "bend_z", "stretch", "shear_y", "shear_z")
"""The six strains xi = (K1, K2, K3, Gamma1, Gamma2, Gamma3) in their order everywhere."""

BasisKind = str | Callable[[int], Basis]


class Strains:
    """The active strains of a rod and their bases; strains that are not named keep their rest value.

    ``Strains(bend_z=Legendre(4), twist=2)``: every argument is one of the six names with a Basis, or with a number of
    Legendre modes (0 = not active). The strain at X is its rest value plus basis(X / length) @ coordinates; curvatures
    and twist in [rad/m], stretch and shear without unit.
    """

    def __init__(self, **bases: Basis | int) -> None:
        for name in bases:
            if name not in STRAIN_NAMES:
                raise DescriptionError(
                    f"Strains has no strain {name!r}{did_you_mean(name, STRAIN_NAMES)}; "
                    f"the six strains are {', '.join(STRAIN_NAMES)}."
                )
        self._bases: dict[str, Basis] = {}
        for name in STRAIN_NAMES:
            basis = _as_basis(bases.get(name, 0), name)
            if basis is not None:
                self._bases[name] = basis
        if not self._bases:
            raise DescriptionError(
                f"Strains needs at least one strain with one mode; the six strains are {', '.join(STRAIN_NAMES)}."
            )
        self._size = sum(basis.size for basis in self._bases.values())

    def __repr__(self) -> str:
        return f"Strains({', '.join(f'{name}={basis!r}' for name, basis in self.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strains) and self._bases == other._bases

    __hash__ = None  # type: ignore[assignment]

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self  # it never changes

    def __contains__(self, name: object) -> bool:
        return name in self._bases

    def __getitem__(self, name: str) -> Basis:
        """Return the basis of an active strain."""
        if name not in self._bases:
            raise DescriptionError(f"Strain {name!r} is not active; the active strains are {', '.join(self.names)}.")
        return self._bases[name]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the active strains, in the order of STRAIN_NAMES."""
        return tuple(self._bases)

    def items(self) -> list[tuple[str, Basis]]:
        """Return the pairs (name, basis) of the active strains, in the order of STRAIN_NAMES."""
        return list(self._bases.items())

    @property
    def numbered(self) -> list[tuple[int, Basis]]:
        """Pairs (number, basis) of the active strains: their places in STRAIN_NAMES, in order."""
        return [(STRAIN_NAMES.index(name), basis) for name, basis in self._bases.items()]

    @property
    def size(self) -> int:
        """Number of coordinates of the rod."""
        return self._size

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Normalised breakpoints of all bases, in (0, 1), increasing."""
        return tuple(sorted({x for basis in self._bases.values() for x in basis.breakpoints}))


def _as_basis(value: object, name: str) -> Basis | None:
    """Return the basis of one strain, or None when the strain is not active."""
    if isinstance(value, Basis):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise refuse(f"Strains.{name}", "a Basis or a number of Legendre modes", value)
    return Legendre(int(value)) if value else None


def _strains(basis: BasisKind, modes: dict[str, int]) -> Strains:
    return Strains(**{name: make_basis(basis, n) for name, n in modes.items() if n})


def _modes(value: int | None, name: str, default: int) -> int:
    return default if value is None else as_count(value, name, minimum=0)


def _first_modes(value: int, name: str) -> int:
    if isinstance(value, Basis):
        raise DescriptionError(
            f"{name} modes must be an integer of at least 1; got a basis. A basis of your own goes to the strains by name: "
            "Strains(bend_y=basis, bend_z=basis, ...)."
        )
    return as_count(value, f"{name} modes")


@public
def kirchhoff(modes: int, basis: BasisKind = "legendre", *, twist_modes: int | None = None) -> Strains:
    """Return the strains of an inextensible, unshearable rod: twist, bend_y, bend_z.

    Args:
        modes: number of functions for each bending, and for the twist unless given, at least 1.
        basis: kind of basis, see :func:`make_basis`.
        twist_modes: number of functions for the twist; 0 = the rod does not twist.

    """
    n = _first_modes(modes, "kirchhoff")
    return _strains(basis, {"twist": _modes(twist_modes, "kirchhoff twist_modes", n), "bend_y": n, "bend_z": n})


@public
def extensible_kirchhoff(
    modes: int,
    basis: BasisKind = "legendre",
    *,
    twist_modes: int | None = None,
    stretch_modes: int | None = None,
) -> Strains:
    """Return the strains of an extensible, unshearable rod: twist, bend_y, bend_z, stretch.

    Args:
        modes: number of functions for each strain unless given below, at least 1.
        basis: kind of basis, see :func:`make_basis`.
        twist_modes: number of functions for the twist; 0 = none.
        stretch_modes: number of functions for the stretch; 0 = none.

    """
    n = _first_modes(modes, "extensible_kirchhoff")
    twist = _modes(twist_modes, "extensible_kirchhoff twist_modes", n)
    stretch = _modes(stretch_modes, "extensible_kirchhoff stretch_modes", n)
    return _strains(basis, {"twist": twist, "bend_y": n, "bend_z": n, "stretch": stretch})


@public
def reissner(
    modes: int,
    basis: BasisKind = "legendre",
    *,
    twist_modes: int | None = None,
    stretch_modes: int | None = None,
    shear_modes: int | None = None,
) -> Strains:
    """Return all six strains (Simo-Reissner or Cosserat rod).

    Args:
        modes: number of functions for each strain unless given below, at least 1.
        basis: kind of basis, see :func:`make_basis`.
        twist_modes: number of functions for the twist; 0 = none.
        stretch_modes: number of functions for the stretch; 0 = none.
        shear_modes: number of functions for each of the two shears; 0 = none.

    """
    n = _first_modes(modes, "reissner")
    twist = _modes(twist_modes, "reissner twist_modes", n)
    stretch = _modes(stretch_modes, "reissner stretch_modes", n)
    shear = _modes(shear_modes, "reissner shear_modes", n)
    counts = {"twist": twist, "bend_y": n, "bend_z": n, "stretch": stretch, "shear_y": shear, "shear_z": shear}
    return _strains(basis, counts)


@public
def planar(modes: int, basis: BasisKind = "legendre", *, stretch_modes: int = 0, shear_modes: int = 0) -> Strains:
    """Return the strains of a rod that moves in the plane (t1, t2): bend_z, and stretch and shear_y if asked for.

    In a rod along x of the world that is the plane x-y. The default gravity, along -z, acts across it and bends nothing; a
    rod that should sag needs ``Robot(gravity=(0, -9.81, 0))``, or ``Strains(bend_y=modes)``.

    Args:
        modes: number of functions for the bending, at least 1.
        basis: kind of basis, see :func:`make_basis`.
        stretch_modes: number of functions for the stretch; 0 = none.
        shear_modes: number of functions for the shear; 0 = none.

    """
    n = _first_modes(modes, "planar")
    stretch = as_count(stretch_modes, "planar stretch_modes", minimum=0)
    shear = as_count(shear_modes, "planar shear_modes", minimum=0)
    return _strains(basis, {"bend_z": n, "stretch": stretch, "shear_y": shear})


# The platforms of a hyper-redundant robot (001 II), by the strains that they let vary.


@public
def stewart(modes: int, basis: BasisKind = "legendre") -> Strains:
    """Return the strains of a stack of Gough-Stewart platforms: all six, as many functions for each."""
    return reissner(_first_modes(modes, "stewart"), basis)


@public
def extensible_spherical(modes: int, basis: BasisKind = "legendre") -> Strains:
    """Return the strains of a stack of spherical platforms that also stretch: twist, bend_y, bend_z, stretch."""
    return extensible_kirchhoff(_first_modes(modes, "extensible_spherical"), basis)


@public
def spherical(modes: int, basis: BasisKind = "legendre") -> Strains:
    """Return the strains of a stack of spherical platforms: twist, bend_y, bend_z."""
    return kirchhoff(_first_modes(modes, "spherical"), basis)


@public
def universal(modes: int, basis: BasisKind = "legendre") -> Strains:
    """Return the strains of a stack of universal joints, which do not twist: bend_y, bend_z."""
    return kirchhoff(_first_modes(modes, "universal"), basis, twist_modes=0)
