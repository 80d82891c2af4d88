"""Results of other papers, remade: what agrees, and what does not."""

import numpy as np
import pytest


@pytest.mark.xdist_group("gazzola2018_localised_buckling")
def test_a_twisted_rod_buckles_into_the_wave_of_the_closed_form(example):
    ran = example("gazzola2018_localised_buckling")
    result, (moment, tension, tilt) = ran.result, ran.module.theory()
    # Gazzola's own numbers are dimensionless: M L / B and T L^2 / B.
    assert moment * ran.module.LENGTH / ran.module.BEND == pytest.approx(98.541496, rel=1e-6)
    assert tension * ran.module.LENGTH**2 / ran.module.BEND == pytest.approx(2900.9932, rel=1e-6)
    assert result.moment == pytest.approx(moment, rel=1e-5)
    assert result.tension == pytest.approx(tension, rel=2e-5)
    assert result.tilt == pytest.approx(tilt, rel=2e-5)
    top = np.cos(tilt)
    np.testing.assert_allclose(result.envelope, (np.cos(ran.module.wave(result.s)) - top) / (1 - top), atol=2e-4)


@pytest.mark.slow
@pytest.mark.xdist_group("renda2020_strain_modes")
def test_four_modes_do_for_the_benchmarks_of_beams(example):
    result = example("renda2020_strain_modes").result
    assert max(result.circle) < 1e-12
    four = result.modes.index(4)
    assert all(errors[four] < 1e-4 and errors[0] > 0.05 for errors in result.bow.values())
    assert all(0.001 < gap < 0.003 for gap in result.published.values())  # eight linear elements
    assert result.strip[four] < 1e-4 < result.strip[0]
    assert result.told[0] > 0 and not any(result.told[four:])


@pytest.mark.slow
@pytest.mark.xdist_group("bretl2014_elastic_rod")
def test_rods_are_stable_where_no_point_is_conjugate_to_their_root(example):
    result = example("bretl2014_elastic_rod").result
    assert result.agreed == len(result.samples) == 40
    assert sum(sample.conjugate is not None for sample in result.samples) == 17
    assert result.moved < 1e-4 and result.load_error < 3e-4


@pytest.mark.slow
@pytest.mark.xdist_group("rao2021_tendon_models")
def test_one_arc_for_a_section_fails_under_a_load_and_rods_do_not(example):
    result = example("rao2021_tendon_models").result
    unloaded = [error[0] for error in result.errors.values()]
    np.testing.assert_allclose(unloaded, unloaded[0], rtol=0.05)
    assert unloaded[0] < 0.004
    assert result.errors["VC"].max() < 0.004 and result.errors["CCsub"].max() < 0.007
    assert np.all(np.diff(result.errors["CC"]) > 0) and 0.03 < result.errors["CC"][-1] < 0.05


@pytest.mark.slow
@pytest.mark.xdist_group("till2019_parallel_robot")
def test_rods_of_the_platform_are_as_long_as_shooting_says(example):
    ran = example("till2019_parallel_robot")
    result = ran.result
    np.testing.assert_allclose(result.lengths, ran.module.LENGTHS, atol=1.5e-5)
    np.testing.assert_allclose(result.tensions, ran.module.TENSIONS, rtol=2e-3)
    linear = 2 * np.pi / (1.8751041**2 * np.sqrt(207e9 * (1.2e-3) ** 2 / 4 / 8000) / 0.16)
    assert result.period == pytest.approx(linear, rel=5e-3)
    assert 0.01 < result.settled < 0.04 and "time steps" in result.said
