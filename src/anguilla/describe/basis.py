"""Function bases for strains, on the normalised arc length x = X / length in [0, 1].

Every basis is called with points x (m,) and returns values (m, size). At a breakpoint it gives the value beyond it
(right-continuous); at x = 1 the value before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.polynomial.chebyshev import chebvander
from numpy.polynomial.legendre import legvander
from numpy.polynomial.polynomial import polyvander
from numpy.typing import ArrayLike, NDArray

from anguilla._doors import public
from anguilla.describe.description import as_points, did_you_mean
from anguilla.errors import DescriptionError, as_count, refuse

Array = NDArray[np.float64]
MOST_MODES = 200  # functions of one strain on a whole rod; a tenth of it is a lot
MOST_PIECES = 2000


class Basis:
    """Base class of strain bases. A basis never changes once made."""

    @property
    def size(self) -> int:
        """Number of functions."""
        raise NotImplementedError

    @property
    def degree(self) -> int:
        """Highest polynomial degree on any piece."""
        raise NotImplementedError

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Interior points of (0, 1), increasing, at which a function jumps or kinks."""
        return ()

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (m, size) of the functions at the points x (m,) of [0, 1]."""
        raise NotImplementedError

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self


@dataclass(frozen=True)
class Polynomial(Basis):
    """Base class of the bases made of n polynomials on the whole rod.

    Attributes:
        n: number of functions.

    """

    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_count(self.n, f"{type(self).__name__}.n", maximum=MOST_MODES))

    @property
    def size(self) -> int:
        """Number of functions."""
        return self.n

    @property
    def degree(self) -> int:
        """Highest polynomial degree."""
        return self.n - 1


@dataclass(frozen=True)
class Monomial(Polynomial):
    """1, x, x^2, ...: easy to read, badly conditioned beyond about 8 functions."""

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (m, size) of the functions at the points x (m,) of [0, 1]."""
        return np.asarray(polyvander(as_points(x), self.n - 1), dtype=np.float64)


@dataclass(frozen=True)
class Chebyshev(Polynomial):
    """Chebyshev polynomials of the first kind, T_k(2x - 1): every function stays within -1 and 1."""

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (m, size) of the functions at the points x (m,) of [0, 1]."""
        return np.asarray(chebvander(2.0 * as_points(x) - 1.0, self.n - 1), dtype=np.float64)


@dataclass(frozen=True)
class Legendre(Polynomial):
    """Legendre polynomials made orthonormal on [0, 1]: sqrt(2k + 1) P_k(2x - 1)."""

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (m, size) of the functions at the points x (m,) of [0, 1]."""
        return legvander(2.0 * as_points(x) - 1.0, self.n - 1) * np.sqrt(2.0 * np.arange(self.n) + 1.0)


@dataclass(frozen=True)
class FreeTip(Polynomial):
    """Polynomials orthonormal on [0, 1] that all vanish at x = 1.

    They suit a strain whose stress vanishes at a free tip: sqrt(2j + 3) (1 - x) P_j^(2,0)(2x - 1), with the Jacobi
    polynomials orthogonal for the weight (1 - x)^2.
    """

    @property
    def degree(self) -> int:
        """Highest polynomial degree."""
        return self.n

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (m, size) of the functions at the points x (m,) of [0, 1]."""
        points = as_points(x)
        scale = np.sqrt(2.0 * np.arange(self.n) + 3.0)
        return (1.0 - points)[:, None] * _jacobi20(2.0 * points - 1.0, self.n) * scale


def _jacobi20(y: Array, n: int) -> Array:
    """Return the Jacobi polynomials P_j^(2,0)(y), j < n, as (m, n), by their three-term recurrence."""
    table = np.ones((y.size, n))
    if n > 1:
        table[:, 1] = 2.0 * y + 1.0
    for j in range(2, n):
        c = 2.0 * j + 2.0  # 2j + alpha + beta, with alpha = 2 and beta = 0
        linear = (c - 1.0) * (c * (c - 2.0) * y + 4.0)
        before = 2.0 * (j + 1.0) * (j - 1.0) * c
        table[:, j] = (linear * table[:, j - 1] - before * table[:, j - 2]) / (2.0 * j * (j + 2.0) * (c - 2.0))
    return table


def _kinds() -> dict[str, Callable[[int], Basis]]:
    from anguilla.describe.piecewise import PiecewiseConstant

    return {
        "legendre": Legendre,
        "chebyshev": Chebyshev,
        "monomial": Monomial,
        "free_tip": FreeTip,
        "piecewise_constant": PiecewiseConstant,
    }


@public
def make_basis(kind: str | Callable[[int], Basis], n: int) -> Basis:
    """Return the basis of n functions of a kind.

    Args:
        kind: "legendre", "chebyshev", "monomial", "free_tip" or "piecewise_constant"; or a function n -> Basis, such
            as one of the classes.
        n: number of functions, at least 1.

    """
    n = as_count(n, "The number of modes", maximum=MOST_PIECES if kind == "piecewise_constant" else MOST_MODES)
    if isinstance(kind, str):
        kinds = _kinds()
        if kind not in kinds:
            raise DescriptionError(
                f"The basis must be one of {', '.join(map(repr, kinds))}; got {kind!r}{did_you_mean(kind, kinds)}."
            )
        return kinds[kind](n)
    basis = kind(n) if callable(kind) and not isinstance(kind, Basis) else None
    if not isinstance(basis, Basis) or basis.size != n:
        raise refuse("The basis", f"a name such as 'legendre' or a function n -> Basis of size n = {n}", kind)
    return basis
