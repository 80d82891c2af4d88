"""Strain bases made of pieces, and bases of the user's own functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander
from numpy.typing import ArrayLike

from anguilla.describe.basis import MOST_MODES, MOST_PIECES, Array, Basis
from anguilla.describe.description import as_breakpoints, as_points
from anguilla.errors import DescriptionError, as_count, refuse, show


def _cuts(pieces: object, name: str) -> tuple[float, ...]:
    """Return the interior breakpoints from a number of equal pieces or from the breakpoints themselves."""
    if isinstance(pieces, (int, np.integer)):
        count = as_count(pieces, name, maximum=MOST_PIECES)
        return tuple(i / count for i in range(1, count))
    cuts = as_breakpoints(pieces, name, upper=1.0)
    as_count(len(cuts) + 1, f"The number of pieces of {name}", maximum=MOST_PIECES)
    return cuts


@dataclass(frozen=True)
class _Pieces(Basis):
    """Base class of the bases on pieces.

    Attributes:
        pieces: a number of equal pieces, or the interior breakpoints in (0, 1), increasing.

    """

    pieces: int | Sequence[float]
    _breakpoints: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_breakpoints", _cuts(self.pieces, f"{type(self).__name__}.pieces"))
        if not isinstance(self.pieces, (int, np.integer)):
            object.__setattr__(self, "pieces", self._breakpoints)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Interior points of (0, 1), increasing, at which a function jumps or kinks."""
        return self._breakpoints

    def _locate(self, x: ArrayLike) -> tuple[Array, np.ndarray, Array]:
        """Return the points x (m,), the piece of each (m,), and the ends of the pieces (pieces + 1,)."""
        points = as_points(x)
        piece = np.searchsorted(self._breakpoints, points, side="right")
        return points, piece, np.array([0.0, *self._breakpoints, 1.0])


@dataclass(frozen=True)
class PiecewiseConstant(_Pieces):
    """One function per piece: 1 on it, 0 elsewhere ("piecewise constant strain")."""

    @property
    def size(self) -> int:
        """Number of functions, one per piece."""
        return len(self._breakpoints) + 1

    @property
    def degree(self) -> int:
        """Polynomial degree of a piece: 0."""
        return 0

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (m, size) of the functions at the points x (m,) of [0, 1]."""
        _, piece, _ = self._locate(x)
        return np.eye(self.size)[piece]


@dataclass(frozen=True)
class PiecewisePolynomial(_Pieces):
    """Continuous piecewise polynomials: one hat function per end of a piece, then bubbles piece by piece.

    The hats add up to 1 and the first pieces + 1 coordinates are the values at the ends of the pieces. The bubbles of
    a piece vanish at its ends; they are integrated Legendre polynomials of degree 2, 3, ...

    Attributes:
        pieces: a number of equal pieces, or the interior breakpoints in (0, 1), increasing.
        degree: degree on every piece, at least 1.

    """

    degree: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", as_count(self.degree, "PiecewisePolynomial.degree", maximum=MOST_MODES))

    @property
    def size(self) -> int:
        """Number of functions: pieces * degree + 1."""
        return (len(self._breakpoints) + 1) * self.degree + 1

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (m, size) of the functions at the points x (m,) of [0, 1]."""
        points, piece, ends = self._locate(x)
        rows = np.arange(points.size)
        s = (points - ends[piece]) / (ends[piece + 1] - ends[piece])
        values = np.zeros((points.size, self.size))
        values[rows, piece] = 1.0 - s
        values[rows, piece + 1] = s
        legendre = legvander(2.0 * s - 1.0, self.degree)
        first = ends.size + piece * (self.degree - 1)
        for k in range(2, self.degree + 1):
            bubble = (legendre[:, k] - legendre[:, k - 2]) / np.sqrt(2.0 * (2.0 * k - 1.0))
            values[rows, first + k - 2] = bubble
        return values


class FunctionBasis(Basis):
    """A basis of the user's own functions.

    Args:
        functions: linearly independent functions of one number x in [0, 1], each returning one number.
        breakpoints: interior points of (0, 1), increasing, at which a function jumps or kinks.
        degree: degree of the polynomials that describe the functions well on each piece; it guides the number of
            integration intervals. 2 size + 2 if not given.

    """

    def __init__(
        self,
        functions: Sequence[Callable[[float], float]],
        breakpoints: Sequence[float] = (),
        degree: int | None = None,
    ) -> None:
        given = tuple(functions) if isinstance(functions, Iterable) else ()
        if not given or not all(map(callable, given)):
            raise refuse("FunctionBasis.functions", "a sequence of at least one function of x", functions)
        self.functions = given
        self._breakpoints = as_breakpoints(breakpoints, "FunctionBasis.breakpoints", upper=1.0)
        self._degree = 2 * self.size + 2 if degree is None else as_count(degree, "FunctionBasis.degree", minimum=0)
        self._check_independence()

    def __repr__(self) -> str:
        return f"FunctionBasis({self.size} functions, breakpoints={self._breakpoints}, degree={self._degree})"

    @property
    def size(self) -> int:
        """Number of functions."""
        return len(self.functions)

    @property
    def degree(self) -> int:
        """Degree of the polynomials that describe the functions well on each piece."""
        return self._degree

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Interior points of (0, 1), increasing, at which a function jumps or kinks."""
        return self._breakpoints

    def __call__(self, x: ArrayLike) -> Array:
        """Return the values (m, size) of the functions at the points x (m,) of [0, 1]."""
        points = as_points(x)
        return np.array([[self._value(k, xi) for k in range(self.size)] for xi in points.tolist()]).reshape(
            points.size, self.size
        )

    def _value(self, k: int, x: float) -> float:
        value = self.functions[k](x)
        array = np.asarray(value)
        if array.size != 1 or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise DescriptionError(
                f"FunctionBasis.functions[{k}] must return one finite number; got {show(value)} at x = {x:g}."
            )
        return float(array.reshape(()))

    def _check_independence(self) -> None:
        nodes, weights = leggauss(max(32, 2 * self.size))
        ends = np.array([0.0, *self._breakpoints, 1.0])
        half = np.diff(ends)[:, None] / 2.0
        x = (ends[:-1, None] + half * (1.0 + nodes)).ravel()
        table = self(x) * np.sqrt(half * weights).ravel()[:, None]
        norms = np.linalg.norm(table, axis=0)
        if np.any(norms == 0.0) or np.linalg.matrix_rank(table / norms, tol=1e-10) < self.size:
            raise DescriptionError(
                f"FunctionBasis.functions must be linearly independent on [0, 1]; one of the {self.size} functions "
                "is zero or a combination of the others."
            )
