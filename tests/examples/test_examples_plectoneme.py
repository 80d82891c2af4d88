"""The plectoneme: its closed forms by themselves, and the rod against them."""

import numpy as np
import pytest
import script_modules
from scipy.optimize import minimize

p = script_modules.load("plectoneme")


def test_greenhill_knows_euler_and_the_untensioned_rod():
    """Without a moment, the clamped column; without tension, tan x = x at x = M L / 2B. Long rods: M = 2 sqrt(B T)."""
    assert p.greenhill(1e-9) == pytest.approx(-4 * np.pi**2 * p.BENDING / p.LENGTH**2, rel=1e-9)
    assert p.greenhill(2 * 4.493409457909064 * p.BENDING / p.LENGTH) == pytest.approx(0.0, abs=1e-5)  # a triple root
    moment = 400.0 * p.BENDING / p.LENGTH
    assert moment == pytest.approx(2 * np.sqrt(p.BENDING * p.greenhill(moment)), rel=1e-3)


def test_theory_is_the_least_energy_of_a_plectoneme():
    """Of bending, torsion and tension, over its length and its angle at a given turn."""
    r, angle = p.RADIUS, 0.4
    tension, moment = p.theory(angle, r)
    turn = moment * p.LENGTH / p.TORSION + 0.5 * np.sin(2 * angle) / (2 * r)

    def energy(x):
        twist = turn - x[0] * np.sin(2 * x[1]) / (2 * r)
        return x[0] * (p.BENDING * np.sin(x[1]) ** 4 / (2 * r**2) + tension) + p.TORSION * twist**2 / (2 * p.LENGTH)

    least = minimize(energy, (0.4, 0.35), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12})
    np.testing.assert_allclose(least.x, (0.5, angle), rtol=1e-4)
    assert p.inverse(tension, r) == pytest.approx(angle, rel=1e-9)


def test_angle_and_radius_of_a_double_helix():
    """Two helices, with a loop and ends that are far away."""
    angle, r = 0.4, 0.99 * p.RADIUS
    s = np.arange(150) * 0.002
    around = s * np.sin(angle) / r
    helix = np.stack([s * np.cos(angle), r * np.cos(around), r * np.sin(around)], axis=1)
    away = lambda x, many: np.array([x, 0.0, 0.0]) + np.arange(many)[:, None] * (0.0, 0.0, 0.05)
    line = np.concatenate([away(10, 50), helix, away(20, 101), helix[::-1] * (1, -1, -1), away(30, 50)])
    assert p.wound(line) == pytest.approx((angle, r, 0.6), rel=1e-3)


@pytest.mark.slow
@pytest.mark.xdist_group("plectoneme")
def test_a_twisted_rod_buckles_and_winds_up_as_theory_says(example, tmp_path):
    ran = example("plectoneme")
    result = ran.result
    k = result.at(p.PULLED)
    assert result.tension[k] == pytest.approx(p.greenhill(result.moment[k]), rel=0.02)  # 1 % of slack
    measured, known = p.compared(result)
    assert measured == pytest.approx(known, rel=0.02)
    assert measured == pytest.approx(p.compared(result, p.HELD - 0.5)[0], rel=2e-3)  # at rest
    ran.module.figures(tmp_path, result)
    assert (tmp_path / "plectoneme.png").stat().st_size < 150_000
