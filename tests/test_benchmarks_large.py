"""The net and the chain of the benchmarks: the same robots as in the examples, references without error, fair choices."""

import sys
from pathlib import Path

import numpy as np
import pytest
import script_modules

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not (BENCHMARKS / "large.py").exists():
    pytest.skip("the benchmarks are not shipped with the tests", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import large  # noqa: E402
import links  # noqa: E402
import net  # noqa: E402


def test_the_net_is_that_of_the_example():
    example = script_modules.load("hanging_net")
    for name in ("SIDE", "RADIUS", "YOUNG", "DENSITY", "CLAMP"):
        assert getattr(net, name) == getattr(example, name)
    robot = net.build(2, net.QUOTED).robot
    body = robot.part("knot_1_1").body
    assert body.inertia[0] == pytest.approx(0.4 * net.CLAMP * net.CLAMP_RADIUS**2)
    rod = robot.part("rod_0_0_1_0").rod
    shear = rod.material.shear_modulus
    assert shear == pytest.approx(net.YOUNG / (2 * (1 + net.POISSON)))
    across, bending = net.SHEAR * shear * net.AREA, net.YOUNG * net.SECOND
    wanted = [2 * shear * net.SECOND, bending, bending, net.YOUNG * net.AREA, across, across]
    np.testing.assert_allclose(rod.hooke([0.0])[0], wanted, rtol=1e-12)


def test_the_references_have_no_error_and_an_offset_is_its_share():
    t = np.array([0.0, *net.CHECK])
    for cells in (5, 10):
        falling = net.reference(cells)["falling"]
        knots = np.concatenate([falling[:1], falling])
        assert net.error(cells, t, knots) < 1e-12
        assert net.error(cells, t, knots + np.array([0, 0, 0.01 * net.SIDE])) == pytest.approx(0.01)
        assert net.static_error(cells, net.reference(cells)["hanging"]) == 0.0
    swinging = links.reference(4)
    ends = np.concatenate([swinging[:1], swinging])
    assert links.error(4, t, ends + np.array([0.02 * 4 * links.LENGTH, 0, 0])) == pytest.approx(0.02)


def test_the_chain_has_the_error_that_its_setting_says():
    rough, fine = (links.measure(4, links.Setting(step=step))["error"] for step in (0.01, 0.005))
    assert fine < 0.5 * rough < 0.005


def test_the_fastest_setting_within_the_error_is_chosen():
    lines = [
        {"error": 0.02, "seconds": [0.1]},
        {"error": 0.009, "seconds": [0.5, 0.4]},
        {"error": 0.001, "seconds": [2.0]},
    ]
    assert large.fastest([*lines, {"failure": "stopped"}]) is lines[1]
    assert large.fastest(lines[:1]) is None
