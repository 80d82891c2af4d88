"""Motions of soft volumes are cut in time like those of robots."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import DescriptionError
from anguilla.results import blocks


def test_a_part_of_a_motion_reads_like_the_whole(monkeypatch):
    body = fem.SoftBody("block", fem.block((0.1, 0.02, 0.02), (4, 1, 1)), ag.Material(young=1e5, density=1000))
    body.fix("base")
    run = fem.simulate(body, duration=0.02, dt=0.002)
    energy = run.kinetic_energy
    assert energy[-1] > 0.0
    monkeypatch.setattr(blocks, "BYTES", 1)
    np.testing.assert_allclose(run.kinetic_energy, energy, rtol=1e-12)
    np.testing.assert_allclose(run[2:5].kinetic_energy, energy[2:5], rtol=1e-12)
    np.testing.assert_array_equal(run.between(0.004, 0.008).x, run.x[2:5])
    np.testing.assert_array_equal(run.every(5).t, run.t[::5])
    with pytest.raises(DescriptionError, match="no numbered items"):
        run[3]
