"""Strain bases: size, breakpoints, orthonormality by quadrature, continuity, partition of unity."""

from itertools import pairwise

import numpy as np
import pytest

from anguilla.describe import (
    Basis,
    Chebyshev,
    FreeTip,
    FunctionBasis,
    Legendre,
    Monomial,
    PiecewiseConstant,
    PiecewisePolynomial,
    make_basis,
)
from anguilla.errors import DescriptionError

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2

BASES = [
    Monomial(4),
    Chebyshev(4),
    Legendre(4),
    FreeTip(4),
    PiecewiseConstant(3),
    PiecewisePolynomial(3, 1),
    PiecewisePolynomial((0.2, 0.5), 3),
    FunctionBasis([np.sin, np.cos], degree=8),
]


def gram(basis):
    values = basis(NODES)
    return values.T @ (WEIGHTS[:, None] * values)


@pytest.mark.parametrize("basis", BASES, ids=repr)
def test_every_basis_has_the_same_interface(basis):
    assert isinstance(basis, Basis)
    x = np.linspace(0, 1, 11)
    assert basis(x).shape == (11, basis.size)
    assert basis(0.5).shape == (1, basis.size)
    assert basis([]).shape == (0, basis.size)
    assert basis(x).dtype == np.float64
    assert isinstance(basis.breakpoints, tuple)
    assert all(0 < b < 1 for b in basis.breakpoints)
    assert np.all(np.isfinite(basis([0.0, 1.0])))


@pytest.mark.parametrize("basis", BASES[:-1], ids=repr)
def test_degree_is_the_degree_on_every_piece(basis):
    ends = [0.0, *basis.breakpoints, 1.0]
    for a, b in pairwise(ends):
        x = a + (b - a) * (0.5 + 0.49 * np.cos(np.pi * np.arange(12) / 11))
        coefficients = np.polynomial.polynomial.polyfit(2 * (x - a) / (b - a) - 1, basis(x), 9)
        assert np.max(np.abs(coefficients[basis.degree + 1 :])) < 1e-9
    assert np.max(np.abs(coefficients[basis.degree])) > 1e-3


def test_monomials_and_chebyshev_by_hand():
    x = np.linspace(0, 1, 7)
    np.testing.assert_allclose(Monomial(3)(x), np.stack([x**0, x, x**2], axis=1))
    y = 2 * x - 1
    np.testing.assert_allclose(Chebyshev(4)(x), np.stack([y**0, y, 2 * y**2 - 1, 4 * y**3 - 3 * y], axis=1))


@pytest.mark.parametrize("n", [1, 2, 3, 12, 25])
@pytest.mark.parametrize("kind", [Legendre, FreeTip])
def test_orthonormal_on_the_unit_interval(kind, n):
    np.testing.assert_allclose(gram(kind(n)), np.eye(n), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_free_tip_vanishes_at_the_tip_and_spans_all_such_polynomials(n):
    basis = FreeTip(n)
    np.testing.assert_array_equal(basis(1.0), 0.0)
    x = np.linspace(0, 1, 60)
    target = (1 - x) * x ** (n - 1)
    fit = np.linalg.lstsq(basis(x), target, rcond=None)[0]
    np.testing.assert_allclose(basis(x) @ fit, target, atol=1e-12)


def test_piecewise_constant_is_right_continuous_with_the_left_value_at_one():
    basis = PiecewiseConstant(4)
    assert basis.size == 4 and basis.degree == 0
    assert basis.breakpoints == (0.25, 0.5, 0.75)
    np.testing.assert_array_equal(np.argmax(basis([0.0, 0.2499, 0.25, 0.5, 1.0]), axis=1), [0, 0, 1, 2, 3])
    np.testing.assert_array_equal(basis(np.linspace(0, 1, 50)).sum(axis=1), 1.0)
    assert PiecewiseConstant([0.1, 0.7]).breakpoints == (0.1, 0.7)
    assert PiecewiseConstant(1).breakpoints == () and PiecewiseConstant(()).size == 1


@pytest.mark.parametrize("degree", [1, 2, 4])
@pytest.mark.parametrize("pieces", [1, 3, (0.15, 0.6)])
def test_piecewise_polynomials(pieces, degree):
    basis = PiecewisePolynomial(pieces, degree)
    ends = np.array([0.0, *basis.breakpoints, 1.0])
    count = ends.size - 1
    assert basis.size == count * degree + 1
    # continuous at the breakpoints
    for b in basis.breakpoints:
        np.testing.assert_allclose(basis(b - 1e-12), basis(b), atol=1e-9)
    # the hats are nodal values and add up to one, the bubbles vanish at the ends
    np.testing.assert_allclose(basis(ends)[:, : count + 1], np.eye(count + 1), atol=1e-15)
    np.testing.assert_allclose(basis(ends)[:, count + 1 :], 0.0, atol=1e-15)
    np.testing.assert_allclose(basis(NODES)[:, : count + 1].sum(axis=1), 1.0)
    # every polynomial of that degree is in the span, and the functions are independent
    x = np.linspace(0, 1, 80)
    fit = np.linalg.lstsq(basis(x), x**degree, rcond=None)[0]
    np.testing.assert_allclose(basis(x) @ fit, x**degree, atol=1e-12)
    assert np.linalg.matrix_rank(basis(x)) == basis.size


def test_function_basis():
    basis = FunctionBasis([lambda x: 1.0, lambda x: np.exp(-x)], breakpoints=[0.5])
    np.testing.assert_allclose(basis([0.0, 1.0]), [[1, 1], [1, np.exp(-1)]])
    assert basis.size == 2 and basis.degree == 6 and basis.breakpoints == (0.5,)
    assert FunctionBasis([np.sin], degree=7).degree == 7


def test_bases_compare_and_hash_by_content():
    assert Legendre(3) == Legendre(3) != Chebyshev(3)
    assert PiecewiseConstant([0.5, 0.7]) == PiecewiseConstant((0.5, 0.7))
    assert len({FreeTip(2), FreeTip(2), PiecewisePolynomial(2, 2)}) == 2


def test_make_basis():
    assert make_basis("legendre", 3) == Legendre(3)
    assert make_basis("chebyshev", 3) == Chebyshev(3)
    assert make_basis("monomial", 3) == Monomial(3)
    assert make_basis("free_tip", 3) == FreeTip(3)
    assert make_basis("piecewise_constant", 3) == PiecewiseConstant(3)
    assert make_basis(FreeTip, 3) == FreeTip(3)
    assert make_basis(lambda n: PiecewisePolynomial(n - 1), 3) == PiecewisePolynomial(2)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Legendre(0), "Legendre.n must be an integer of at least 1; got 0."),
        (lambda: Chebyshev(2.0), "Chebyshev.n must be an integer of at least 1; got 2.0."),
        (lambda: FreeTip(True), "FreeTip.n must be"),
        (lambda: Monomial("3"), "Monomial.n must be"),
        (lambda: PiecewiseConstant(0), "PiecewiseConstant.pieces must be an integer of at least 1; got 0."),
        (lambda: PiecewiseConstant(True), "PiecewiseConstant.pieces must be"),
        (lambda: PiecewiseConstant([0.0, 0.5]), "PiecewiseConstant.pieces must be a sequence of strictly increasing"),
        (lambda: PiecewiseConstant([0.5, 1.0]), "between 0 and 1, both excluded"),
        (lambda: PiecewiseConstant([0.6, 0.5]), "PiecewiseConstant.pieces"),
        (lambda: PiecewiseConstant("half"), "PiecewiseConstant.pieces"),
        (lambda: PiecewisePolynomial(2.5, 1), "PiecewisePolynomial.pieces"),
        (lambda: PiecewisePolynomial(2, 0), "PiecewisePolynomial.degree must be an integer of at least 1; got 0."),
        (lambda: FunctionBasis([]), "FunctionBasis.functions must be a sequence of at least one function"),
        (lambda: FunctionBasis(np.sin), "FunctionBasis.functions"),
        (lambda: FunctionBasis([1.0]), "FunctionBasis.functions"),
        (lambda: FunctionBasis([np.sin], degree=-1), "FunctionBasis.degree"),
        (lambda: FunctionBasis([np.sin], breakpoints=(2,)), "FunctionBasis.breakpoints"),
        (lambda: FunctionBasis([np.sin, lambda x: float("nan")]), "FunctionBasis.functions[1] must return one finite"),
        (lambda: FunctionBasis([lambda x: (x, x)]), "FunctionBasis.functions[0] must return one finite number"),
        (lambda: FunctionBasis([lambda x: None]), "got None at x ="),
        (lambda: FunctionBasis([np.sin, np.cos, lambda x: np.sin(x + 1)]), "must be linearly independent"),
        (lambda: FunctionBasis([lambda x: 0.0]), "must be linearly independent"),
        (lambda: make_basis("legendr", 3), "got 'legendr' (did you mean 'legendre'?)."),
        (lambda: make_basis("fourier", 3), "must be one of 'legendre', 'chebyshev'"),
        (lambda: make_basis("legendre", 0), "The number of modes must be an integer of at least 1; got 0."),
        (lambda: make_basis(Legendre(3), 3), "The basis must be a name"),
        (lambda: make_basis(3, 3), "The basis must be a name"),
        (lambda: make_basis(PiecewisePolynomial, 3), "a function n -> Basis of size n = 3"),
    ],
)
def test_bad_bases(make, text):
    with pytest.raises(DescriptionError) as caught:
        make()
    assert text in str(caught.value)
