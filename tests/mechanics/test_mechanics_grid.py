"""Where a rod is cut: quadrature, attachments, inertia at jumps."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.mechanics.grid import gauss_points, lobatto, nodal_inertia, rod_grid

MATERIAL = ag.Material(young=1e5, poisson=0.4, density=1000.0)


def rod(section=None, strains=None, **options):
    return ag.Rod(0.8, section or ag.Circle(0.03), MATERIAL, strains or ag.kirchhoff(3), **options)


@pytest.mark.parametrize("intervals", [1, 2, 3, 8, 40, 128])
def test_lobatto_quadrature_is_exact_to_its_degree(intervals):
    x, w = lobatto(intervals)
    assert x[0] == 0.0 and x[-1] == 1.0 and np.all(np.diff(x) > 0.0)
    for degree in {0, 1, intervals, 2 * intervals - 1}:
        legendre = np.polynomial.legendre.Legendre.basis(degree)(2.0 * x - 1.0)
        assert w @ legendre == pytest.approx(1.0 if degree == 0 else 0.0, abs=1e-13)


def test_lobatto_quadrature_is_not_exact_beyond_its_degree():
    x, w = lobatto(5)
    assert abs(w @ x**10 - 1.0 / 11.0) > 1e-6


def test_gauss_points_integrate_cubics_on_every_interval():
    X = np.array([0.0, 0.1, 0.5, 0.8])
    points = gauss_points(X)
    for k in range(3):
        exact = (X[k + 1] ** 4 - X[k] ** 4) / 4.0
        assert np.mean(points[k] ** 3) * (X[k + 1] - X[k]) == pytest.approx(exact, rel=1e-14)


def test_attachments_become_nodes_without_weight():
    plain, cut = rod_grid(rod(), []), rod_grid(rod(), [0.33, 0.8, 0.0])
    assert len(cut.X) == len(plain.X) + 1
    at = int(np.flatnonzero(cut.X == 0.33)[0])
    assert cut.weights[at] == 0.0
    assert np.array_equal(np.delete(cut.weights, at), plain.weights)


def test_breakpoints_are_nodes():
    strains = ag.Strains(bend_z=ag.PiecewiseConstant((0.25, 0.7)), twist=ag.PiecewiseConstant(2))
    grid = rod_grid(rod(strains=strains), [])
    for X in (0.2, 0.4, 0.56):
        assert np.min(np.abs(grid.X - X)) < 1e-14
    assert grid.weights.sum() == pytest.approx(0.8, rel=1e-14)


def test_nodal_masses_of_a_stepped_rod_sum_to_each_side_of_the_jump():
    stepped = ag.Tapered(lambda X: ag.Circle(0.04 if X < 0.3 else 0.01), breakpoints=(0.3,))
    grid = rod_grid(rod(stepped), [])
    mass = nodal_inertia(rod(stepped), grid)[:, 3]
    thick, thin = 1000.0 * np.pi * 0.04**2, 1000.0 * np.pi * 0.01**2
    assert mass.sum() == pytest.approx(thick * 0.3 + thin * 0.5, rel=1e-12)
    centre = thick * 0.3 * 0.15 + thin * 0.5 * 0.55
    assert mass @ grid.X == pytest.approx(centre, rel=1e-12)


def test_nodal_inertia_of_a_taper_integrates_its_polar_moment():
    section = ag.taper(ag.Circle(0.04), ag.Circle(0.02), 0.8)
    inertia = nodal_inertia(rod(section), rod_grid(rod(section), []))
    # integral of rho pi r^4 / 2 with r linear from 0.04 to 0.02
    exact = 1000.0 * np.pi / 2.0 * 0.8 * (0.04**5 - 0.02**5) / (5.0 * 0.02)
    assert inertia[:, 0].sum() == pytest.approx(exact, rel=1e-8)
    assert inertia[:, 1].sum() == pytest.approx(exact / 2.0, rel=1e-8)
