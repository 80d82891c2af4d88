"""Gaits: the laws of 001 IX written out, exact time derivatives, composition, bases that hold them, errors."""

from itertools import pairwise

import numpy as np
import pytest

import anguilla as ag
from anguilla.describe.profiles import Profile, ProfileBasis, quintic, start
from anguilla.errors import DescriptionError

X = np.linspace(0.0, 2.0, 9)
BEND_Y, BEND_Z = 1, 2


def ramp(t):
    """001 (68), corrected."""
    x = min(max(t, 0.0), 1.0)
    return x - np.sin(2 * np.pi * x) / (2 * np.pi)


def wave(t):
    """001 (67)-(69)."""
    return (X**2 - 0.75 * X + 1.0) * ramp(t) * np.sin(2 * np.pi * (X - t))


def dive(t):
    """001 IX.D: P(t_i, t_j, f_i, f_j) through a polynomial fitted to its six conditions."""
    for t0, t1, f0, f1 in ((4, 6, 0, 0.5), (6, 8, 0.5, 0), (10, 12, 0, -0.5), (12, 14, -0.5, 0)):
        if t0 <= t < t1:
            rows = []
            for end in (t0, t1):
                for k in range(3):
                    rows.append([np.prod(np.arange(p, p - k, -1)) * (end - t0) ** max(p - k, 0) * (p >= k)
                                 for p in range(6)])  # fmt: skip
            c = np.linalg.solve(np.array(rows, dtype=float), [f0, 0, 0, f1, 0, 0])
            return np.polynomial.polynomial.polyval(t - t0, c)
    return 0.0


@pytest.mark.parametrize("t", [0.0, 0.37, 1.0, 2.9, 4.7, 7.2, 9.0, 11.1, 13.6, 15.0])
def test_the_four_gaits_are_those_of_the_paper(t):
    expected = {
        "forward": (0.0 * X, wave(t)),
        "turning": (0.0 * X, wave(t) + 0.5 * ramp(t)),
        "submergence": (dive(t) + 0.0 * X, wave(t)),
        "spiral": (0.5 * ramp(t) + 0.0 * X, wave(t) + 0.5 * ramp(t)),
    }
    for name, (K2, K3) in expected.items():
        K = getattr(ag.gaits, name)().jets(X, t)[0, :, :, 0]
        assert K[:, BEND_Y] == pytest.approx(K2, abs=1e-12), name
        assert K[:, BEND_Z] == pytest.approx(K3, abs=1e-12), name
        assert not np.any(K[:, [0, 3, 4, 5]])


def composed():
    """One of everything."""
    swim = ag.TravellingWave((0.5, 0.2), wavelength=-1.3, period=0.7, phase=0.4, strain="bend_y", ramp=(0.2, 0.9))
    steps = ag.StrainSteps((0.5, 1.0, 2.0), (0.1, -0.3, 0.2), strain="twist", envelope=(1.0, 0.5))
    user = ag.ShapeFunction(lambda X, t: np.exp(-X) * np.sin(3 * t), "stretch")
    return 2.0 * swim.fade(begin=(0.1, 0.6), end=(1.2, 2.2)) + steps + (-user) + ag.StrainOffset(0.3, "shear_y")


@pytest.mark.parametrize("t", [0.15, 0.5, 0.77, 1.0, 1.31, 2.0, 2.5])
def test_time_derivatives_are_exact(t):
    """Against differences with two steps, extrapolated."""
    gait = composed()
    now = gait.jets(X, t)[0]
    first, second = [], []
    for h in (2e-3, 1e-3):
        low, middle, high = gait.jets(X, [t - h, t, t + h])[..., 0]
        first.append((high - low) / (2 * h))
        second.append((high - 2 * middle + low) / h**2)
    kink = 5e-3 if t in (0.5, 1.0, 2.0) else 1e-6  # the third derivative of the steps jumps there
    assert (4 * first[1] - first[0]) / 3 == pytest.approx(now[..., 1], abs=kink)
    assert (4 * second[1] - second[0]) / 3 == pytest.approx(now[..., 2], abs=100 * kink)


def test_a_wave_travels_from_head_to_tail():
    gait = ag.TravellingWave(1.0, wavelength=0.8, period=0.5, ramp=None)
    now, later = gait.jets(X, [3.0, 3.1])[:, :, BEND_Z, 0]
    moved = gait.jets(X - 0.8 * 0.1 / 0.5, 3.0)[0, :, BEND_Z, 0]
    assert later == pytest.approx(moved, abs=1e-12)
    assert not np.allclose(now, later)


def test_sequence_of_two_gaits():
    a, b = ag.StrainOffset(1.0, ramp=None), ag.StrainOffset(-2.0, ramp=None)
    both = a.fade(end=(1.0, 2.0)) + b.fade(begin=(1.0, 2.0))
    values = both.jets(0.5, [0.0, 1.0, 1.5, 2.0, 3.0])[:, 0, BEND_Z, 0]
    assert values == pytest.approx([1.0, 1.0, -0.5, -2.0, -2.0])


def test_steps_of_time_are_smooth():
    for law in (start, quintic):
        assert law([-1.0, 0.0, 1.0, 2.0]) == pytest.approx(np.array([[0, 0, 0]] * 2 + [[1, 0, 0]] * 2), abs=1e-12)
        assert law(0.5)[0] == pytest.approx([0.5, law(0.5)[0, 1], 0.0], abs=1e-12)


def test_a_gait_brings_the_basis_that_holds_it():
    gait = ag.gaits.spiral()
    strains = gait.strains(2.0)
    assert {name: basis.size for name, basis in strains.items()} == {"bend_y": 1, "bend_z": 3}
    rod = ag.Rod(2.0, ag.Circle(0.05), ag.Material(1e5, 1000.0), shape=gait)
    shape = rod.projection()
    assert shape.error(np.linspace(0, 3, 40)) < 1e-14
    q = shape.coordinates([0.4, 2.3])
    exact = gait.jets(X, [0.4, 2.3])
    values = np.einsum("mk,tkj->tmj", strains["bend_z"](X / 2.0), q[:, 1:])
    assert values == pytest.approx(exact[:, :, BEND_Z], abs=1e-10)


def test_projection_on_a_basis_of_the_rod_converges_spectrally():
    gait = ag.gaits.forward()
    errors = []
    for modes in (6, 10, 14, 18):
        rod = ag.Rod(2.0, ag.Circle(0.05), ag.Material(1e5, 1000.0), ag.planar(modes), shape=gait)
        errors.append(rod.projection().error(np.linspace(1.0, 2.0, 20)))
    assert errors[0] > 0.1 and errors[-1] < 1e-4
    assert all(b < 0.25 * a for a, b in pairwise(errors))
    assert errors[3] / errors[2] < 0.1 * errors[1] / errors[0]  # faster and faster


def test_an_own_basis_that_misses_the_shape_is_told():
    robot = ag.Robot("eel", gravity=(0, 0, 0))
    rod = ag.Rod(2.0, ag.Circle(0.05), ag.Material(1e5, 1000.0), ag.planar(8), shape=ag.gaits.forward())
    robot.add(rod, at=robot.ground, joint=ag.Free())
    with pytest.warns(ag.AnguillaWarning, match="miss its prescribed shape"):
        ag.simulate(robot, duration=0.1, dt=0.05)


def test_basis_of_profiles_drops_what_follows_from_others():
    one, two = Profile((1.0, 2.0)), Profile((2.0, 4.0))
    basis = ProfileBasis((one, two, Profile((1.0,), 3.0, True)), 1.5)
    assert basis.size == 2
    x, w = np.polynomial.legendre.leggauss(20)
    phi = basis(0.5 * (1 + x))
    assert phi.T @ (phi * 0.5 * w[:, None]) == pytest.approx(np.eye(2), abs=1e-12)


def test_strains_of_a_rod_follow_its_length():
    rod = ag.Rod(2.0, ag.Circle(0.05), ag.Material(1e5, 1000.0), shape=ag.gaits.forward())
    rod.length = 3.0
    assert rod.projection().error([0.7]) < 1e-14


def test_platforms():
    """001 II."""
    names = {kind.__name__: kind(2).names for kind in (ag.stewart, ag.extensible_spherical, ag.spherical, ag.universal)}
    assert names == {
        "stewart": ag.STRAIN_NAMES,
        "extensible_spherical": ("twist", "bend_y", "bend_z", "stretch"),
        "spherical": ("twist", "bend_y", "bend_z"),
        "universal": ("bend_y", "bend_z"),
    }
    assert ag.planar(2).names == ("bend_z",)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ag.TravellingWave(1.0, wavelength=0.0), "TravellingWave.wavelength must be a length other than zero"),
        (lambda: ag.TravellingWave(1.0, period=-1.0), "TravellingWave.period"),
        (lambda: ag.TravellingWave(1.0, strain="bend"), "must be one of twist, bend_y"),
        (lambda: ag.TravellingWave(1.0, ramp=(1.0, 0.0)), "two increasing times"),
        (lambda: ag.StrainSteps((0.0, 1.0), (0.0,)), "2 numbers, one for each time"),
        (lambda: ag.StrainSteps((1.0, 0.0), (0.0, 1.0)), "increasing times"),
        (lambda: ag.StrainOffset(1.0).fade((0, 2), (1, 3)), "before it has faded in"),
        (lambda: ag.GaitSum([1.0]), "GaitSum.gaits must be a list of gaits"),
        (lambda: ag.ShapeFunction(lambda t: t), "a function of \\(X, t\\)"),
        (lambda: ag.ShapeFunction(lambda X, t: t, rate=lambda X, t: 1.0), "both rate and acceleration"),
        (lambda: ag.ShapeFunction(lambda X, t: t).strains(1.0), "give Rod.strains"),
        (lambda: ag.Rod(1.0, ag.Circle(0.01), ag.Material(1e5, 1e3), shape=1.0), "Rod.shape must be a gait"),
        (lambda: ag.Rod(1.0, ag.Circle(0.01), ag.Material(1e5, 1e3)), "Rod.strains must be a Strains"),
        (
            lambda: ag.Rod(1.0, ag.Circle(0.01), ag.Material(1e5, 1e3), ag.planar(3), shape=ag.gaits.spiral()),
            "Rod.shape bends bend_y, which the rod does not have",
        ),
    ],
)
def test_mistakes_are_told(make, text):
    with pytest.raises(DescriptionError, match=text):
        make()


def test_gaits_in_robot_files(tmp_path):
    from anguilla.files import read_robot, write_robot

    robot = ag.Robot("eel", gravity=(0, 0, 0))
    gait = 0.5 * ag.gaits.spiral() + ag.StrainSteps((1.0, 2.0), (0.0, 0.3))
    robot.add(ag.Rod(2.0, ag.Circle(0.05), ag.Material(1e5, 1000.0), shape=gait), at=robot.ground, joint=ag.Free())
    write_robot(robot, tmp_path / "eel.yaml")
    again = read_robot(tmp_path / "eel.yaml")
    assert "strains" not in (tmp_path / "eel.yaml").read_text()
    rod = again.parts[0].rod
    assert rod.shape.jets(X, 1.3) == pytest.approx(gait.jets(X, 1.3), abs=1e-14)
    assert rod.strains == robot.parts[0].rod.strains
